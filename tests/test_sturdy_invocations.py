"""Rare ways to call the command: a result, or one line and status 2."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import numba
import numpy as np
import polars as pl
import pytest

import elect.cli
from elect.cli import main
from elect.errors import StoreError
from elect.history import store
from elect.storage.archive import Archive, Kind, pack, refusing, unpack
from elect.support import compiled as compiling
from elect.support.atomic import write_atomically
from elect.support.threads import MOST, n_threads
from forging import with_manifest
from test_cli_errors import FEW, GOOD, refused
from toys import toy_database


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text(GOOD)
    return path


def test_a_link_that_leads_to_itself(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = table.with_name("loop.csv")
    loop.symlink_to(loop)
    assert "leads to no file" in refused(capsys, "detect", table, *FEW, "-o", loop)
    assert loop.is_symlink()


def test_an_output_that_is_a_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "far").mkdir()
    (tmp_path / "link.csv").symlink_to(tmp_path / "far" / "real.csv")
    write_atomically(tmp_path / "link.csv", b"whole")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "far" / "real.csv").read_bytes() == b"whole"
    assert stat.S_ISREG((tmp_path / "far" / "real.csv").stat().st_mode)


@pytest.mark.parametrize("share", ["5%x", "5%%", "%", "0.1 0.1"])
def test_a_share_with_something_behind_it(table: Path, share: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "--contamination must be" in refused(capsys, "detect", table, *FEW, "--contamination", share)


def test_more_threads_than_a_machine_can_start() -> None:
    assert n_threads(1_000_000) == MOST


def test_a_file_name_that_is_no_text(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = os.fsdecode(os.fsencode(table.parent) + b"/caf\xe9.csv")
    os.rename(table, odd)
    out = table.with_name("out.csv")
    assert main(["detect", odd, *FEW, "--json", "-o", str(out), "--report", str(table.with_name("r.html"))]) == 0
    assert json.loads(capsys.readouterr().out)["n_rows"] == 40
    assert pl.read_csv(out).height == 40


def test_no_file_name_orders_the_terminal_about(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    hostile = table.with_name("\x1b]0;owned\x07\x1b[2Jt.csv")
    table.rename(hostile)
    assert main(["detect", str(hostile), "--max-models", "3", "--n-jobs", "1"]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    assert main(["detect", str(hostile) + "x", *FEW]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_no_detector_orders_the_terminal_about(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = table.with_name("m.elect-detector")
    assert main(["detect", str(table), *FEW, "--scorer", "model", "--save", str(saved)]) == 0
    hostile = "\x1b]0;owned\x07\x1b[2J"
    saved.write_bytes(
        with_manifest(saved.read_bytes(), lambda m: m["content"]["selection"]["pick"].update(model_id=hostile))
    )
    capsys.readouterr()
    assert main(["score", str(saved), str(table)]) == 0
    said = capsys.readouterr()
    assert "owned" in said.out
    assert not {*said.out, *said.err} & {*"\x1b\x07"}


def test_a_message_is_not_as_long_as_what_it_quotes(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(refused(capsys, "select", table, *FEW, "--label", "x" * 100_000)) < 2200


def test_an_interrupt_while_modules_are_imported(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(args: Any) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(elect.cli, "_run", interrupted)
    assert main(["models"]) == 130
    assert capsys.readouterr().err == "elect: interrupted.\n"


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-", "| true"])
def test_closed_streams(tmp_path: Path, closed: str) -> None:
    """``info`` stands for all commands: what is tested is how a command begins and ends."""
    script = f'set -o pipefail; "{sys.executable}" -m elect.cli models {closed}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0
    assert done.stderr == ""


def test_outputs_are_written_though_nobody_reads_what_is_said(table: Path) -> None:
    script = f'set -o pipefail; "{sys.executable}" -m elect.cli detect t.csv {" ".join(FEW)} -o out.csv | true'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, timeout=300, cwd=table.parent)
    assert (done.returncode, done.stderr) == (0, "")
    assert pl.read_csv(table.with_name("out.csv")).height == 40


# --- kernels ------------------------------------------------------------------------------------------------------

COMPILING = "elect: compiling kernels, once on this machine; that takes some ten seconds ...\n"
SOURCE = "def twice(x):\n    return 2 * x\n\n\ndef thrice(x):\n    return 3 * x\n"


def kernel(folder: Path, name: str = "twice") -> Any:
    """A kernel as another process would find it: compiled from a file, cached beside it."""
    path = folder / "kernels.py"
    if not path.exists():
        path.write_text(SOURCE)
        os.utime(path, (1, 1))
    names: dict[str, Any] = {}
    exec(compile(SOURCE, str(path), "exec"), names)
    return compiling.compiled()(names[name])


def test_damaged_caches_heal(tmp_path: Path) -> None:
    first = kernel(tmp_path)
    assert first(3) == 6
    cached = sorted(p for p in (tmp_path / "__pycache__").iterdir() if p.suffix in (".nbi", ".nbc"))
    assert [p.suffix for p in cached] == [".nbc", ".nbi"] or len(cached) == 2
    assert kernel(tmp_path)._cache.load_overload is not None
    for path in cached:
        for damage in (b"", path.read_bytes()[:-20] + b"\xff" * 20, b"\x80\x04garbage", os.urandom(500)):
            path.write_bytes(damage)
            again = kernel(tmp_path)
            assert again(3) == 6
            assert sum(again.stats.cache_misses.values()) == 1
    again = kernel(tmp_path)
    assert again(3) == 6
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_cache_in_the_place_of_another_is_not_run(tmp_path: Path) -> None:
    assert (kernel(tmp_path)(3), kernel(tmp_path, "thrice")(3)) == (6, 9)
    cached = [p for p in (tmp_path / "__pycache__").iterdir() if p.suffix in (".nbi", ".nbc")]
    contents = {p: p.read_bytes() for p in cached}
    assert len(cached) == 4
    for one in cached:
        for other in cached:
            for path, content in contents.items():
                path.write_bytes(content)
            one.write_bytes(contents[other])
            other.write_bytes(contents[one])
            assert (kernel(tmp_path)(3), kernel(tmp_path, "thrice")(3)) == (6, 9)


def test_without_a_place_for_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = numba.njit

    def refusing_to_cache(*args: Any, **options: Any) -> Any:
        if options.get("cache"):
            raise RuntimeError("cannot cache function 'twice': no locator available for file")
        return real(*args, **options)

    monkeypatch.setattr(numba, "njit", refusing_to_cache)
    assert kernel(tmp_path)(3) == 6


def test_without_compilation(table: Path) -> None:
    for name, more in (("compiled.csv", {}), ("interpreted.csv", {"NUMBA_DISABLE_JIT": "1"})):
        args = [sys.executable, "-m", "elect.cli", "detect", "t.csv", *FEW, "-o", name]
        environment = {**os.environ, **more}
        done = subprocess.run(args, capture_output=True, text=True, timeout=300, cwd=table.parent, env=environment)
        assert (done.returncode, done.stderr.replace(COMPILING, "")) == (0, "")
    compiled, interpreted = (pl.read_csv(table.with_name(name)) for name in ("compiled.csv", "interpreted.csv"))
    # The last digit may be another, and with it the order of rows that are tied.
    assert np.allclose(compiled["elect_score"], interpreted["elect_score"], atol=0.05)
    assert compiled["elect_outlier"].equals(interpreted["elect_outlier"])


def test_a_full_disk_for_caches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*args: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiling._HealingCache, "_keep", full)
    assert kernel(tmp_path)(3) == 6


# --- artifacts ----------------------------------------------------------------------------------------------------

KIND = Kind("test", 1, 1 << 20, "Make it again.")


@pytest.mark.parametrize("shape", ["1 2", ",,", "4,,", "1, 4,", " 4,", "04x", "4", "9" * 40 + ","])
def test_a_malformed_shape_is_refused(shape: str) -> None:
    data = pack(Archive({}, {"a": np.zeros(4)}), KIND)
    assert unpack(data, KIND).arrays["a"].shape == (4,)
    from elect.storage import archive

    member = archive._npy("a", np.zeros(4)).replace(b"(4,)", f"({shape})".encode())
    with pytest.raises(StoreError):
        archive._parse_npy("a.npy", member)


@pytest.mark.parametrize(
    "calibration",
    [
        {"rank_shares": "many"},
        {"rank_shares": [[1.0], [2.0]]},
        {"rank_shares": [None]},
        {"held_out_ranks": {"a": 1}},
        {"held_out_ranks": [1, "2"]},
    ],
)
def test_a_calibration_of_nonsense_is_refused_when_it_is_loaded(calibration: dict[str, Any]) -> None:
    found = unpack(store.dumps(toy_database()), store.KIND)
    content = {**found.content, "calibration": calibration}
    with pytest.raises(StoreError):
        store.loads(pack(Archive(content, found.arrays, found.texts), store.KIND))


@pytest.mark.parametrize("hostile", [7, [], "own_weight", {"families": 3}, {"own_weight": []}])
def test_nonsense_of_any_type_is_one_line(hostile: Any) -> None:
    found = unpack(store.dumps(toy_database()), store.KIND)
    for key in set(found.content) - {"provenance", "calibration"}:  # which may be any object
        content = {**found.content, key: hostile}
        with pytest.raises(StoreError) as caught:
            store.loads(pack(Archive(content, found.arrays, found.texts), store.KIND))
        assert len(str(caught.value)) < 1000
    with pytest.raises(StoreError, match="cannot be loaded"), refusing("x", KIND):
        raise RecursionError


def test_numbers_no_float_can_hold() -> None:
    with pytest.raises(StoreError, match="too large"):
        unpack(pack(Archive({"n": 10**400}), KIND), KIND)
