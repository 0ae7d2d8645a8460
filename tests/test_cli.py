"""The command line: its contract from outside, and what its files hold."""

import json
import signal
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from elect.cli import main
from elect.cli.live import sentence
from elect.core import Candidate, Neighbor, SearchStep
from elect.detect import opened
from elect.history.database import MetaDatabase
from toys import corpus

FEW = ["--max-models", "8", "--n-jobs", "1"]
RESULTS = ["elect_score", "elect_chance", "elect_outlier", "elect_kind", "elect_reasons"]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Mixed types, missing values, a label; row 7 is odd in size and speed."""
    rng = np.random.default_rng(0)
    n = 150
    size, speed = rng.normal(10, 1, n), rng.normal(5, 1, n)
    size[7], speed[7] = 60.0, 30.0
    frame = pl.DataFrame(
        {
            "name": [f"N{i}" for i in range(n)],
            "size": size.round(3),
            "speed": [None if i % 20 == 0 else round(v, 3) for i, v in enumerate(speed)],
            "colour": rng.choice(["red", "blue", "green"], n),
            "bad": ["yes" if i == 7 else "no" for i in range(n)],
        }
    )
    path = tmp_path_factory.mktemp("tables") / "things.csv"
    frame.write_csv(path)
    return path


def run(*args: Any, capsys: pytest.CaptureFixture[str]) -> Any:
    """A command with --json in this process: its object, once exit status and streams are as promised."""
    capsys.readouterr()
    status = main([*map(str, args), "--json"])
    out, err = capsys.readouterr()
    assert status == 0, err
    return json.loads(out)


def command(*args: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    """The real command, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "elect.cli", *map(str, args)], capture_output=True, text=True, timeout=300, **options
    )


def test_select_keeps_its_contract(table: Path) -> None:
    done = command("select", table, *FEW, "--label", "bad", "--id", "name", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {"model", "strategy", "neighbors", "models_evaluated", "seconds", "stopped_because", "expected_rank"} <= set(
        found
    )
    assert set(found["model"]) == {"id", "detector", "params"}
    assert found["strategy"] == "elect"
    assert all(set(neighbor) == {"task", "similarity"} for neighbor in found["neighbors"])
    assert 1 <= found["models_evaluated"] <= 8
    assert found["evaluation"]["outliers"] == 1
    assert "models" in done.stderr  # progress goes there


def test_a_strategy_can_be_named(
    table: Path, tmp_path: Path, small_database: MetaDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    small_database.save(tmp_path / "small.elect")
    own = ("--database", tmp_path / "small.elect", "--trust", "--n-jobs", 1)
    for option, budget, strategy, evaluated in (
        ("auto", None, "committee", 12),
        ("auto", 5, "elect", 5),
        ("committee", None, "committee", 12),
        ("committee", 5, "committee", 5),
        ("elect", 3, "elect", 3),
    ):
        budgets = () if budget is None else ("--max-models", budget)
        found = run("select", table, *own, "--strategy", option, *budgets, "-q", capsys=capsys)
        assert (found["strategy"], found["models_evaluated"]) == (strategy, evaluated)
        assert found["why"]
        assert main(["detect", str(table), *map(str, own), "--strategy", option, *map(str, budgets)]) == 0
        out, err = capsys.readouterr()
        # Lines are wrapped to the width of the terminal.
        assert found["why"] in " ".join(out.split())
        assert f"{evaluated} models of at most {evaluated} tried" in err


def test_detect_writes_scores_labels_and_reasons(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out, report, saved = tmp_path / "scores.csv", tmp_path / "report.html", tmp_path / "model.elect-detector"
    found = run(
        *("detect", table, *FEW, "-o", out, "--report", report, "--save", saved, "--top", 3),
        *("--id", "name", "--label", "bad", "--drop", "colour", "-q"),
        capsys=capsys,
    )
    assert found["top"][0]["id"] == "N7"
    values = {reason["column"]: reason["value"] for reason in found["top"][0]["reasons"]}
    assert values == {"size": "60.0", "speed": "30.0"}
    assert len(found["top"]) == 3
    assert found["evaluation"]["ap"] == 1.0
    assert {c["column"]: c["role"] for c in found["columns"]}["bad"] == "label"
    scores = pl.read_csv(out)
    assert scores.columns == [*pl.read_csv(table).columns, *RESULTS]
    assert pl.read_csv(out, infer_schema=False).drop(RESULTS).equals(pl.read_csv(table, infer_schema=False))
    assert len(scores) == 150
    assert scores["name"][int(scores["elect_score"].arg_max() or 0)] == "N7"
    assert "size = 60.0" in scores["elect_reasons"][7]
    assert int(scores["elect_outlier"].sum()) == found["n_outliers"]
    assert "N7" in report.read_text()
    again = run("score", saved, table, "--top", 2, "-q", capsys=capsys)
    assert again["top"][0]["id"] == "N7"
    assert again["model"] == found["model"]
    assert again["threshold"] == found["threshold"]
    assert again["evaluation"]["ap"] == 1.0
    assert main(["score", str(saved), str(table), "--label", "nothing", "-q"]) == 2
    assert "Unknown column 'nothing'" in capsys.readouterr().err
    fewer = tmp_path / "fewer.csv"
    pl.read_csv(table).drop("name").with_columns(bad=pl.lit("no")).write_csv(fewer)
    assert run("score", saved, fewer, "-o", out, "-q", capsys=capsys)["evaluation"] is None
    assert pl.read_csv(out).columns == [*pl.read_csv(fewer).columns, *RESULTS]
    run("score", saved, fewer, "-o", out, "--scores-only", "-q", capsys=capsys)
    assert pl.read_csv(out).columns == ["row", *RESULTS]
    fewer.unlink()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.elect-detector", "report.html", "scores.csv"]


def test_the_format_follows_the_name(table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, read in (("a.parquet", pl.read_parquet), ("a.tsv", lambda path: pl.read_csv(path, separator="\t"))):
        run("detect", table, *FEW, "-o", tmp_path / name, "--scores-only", "-q", capsys=capsys)
        assert read(tmp_path / name).columns == ["name", *RESULTS]


def test_equal_seeds_give_equal_results(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, two = (run("detect", table, *FEW, "--seed", 3, "-q", capsys=capsys) for _ in range(2))
    assert {**one, "seconds": 0} == {**two, "seconds": 0}


def test_contamination_sets_the_share(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = run("detect", table, *FEW, "--contamination", "10%", "-q", capsys=capsys)
    assert found["contamination"] == 0.1
    assert found["n_outliers"] == 15


def test_people_get_words(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["detect", str(table), *FEW, "--id", "name", "--label", "bad"]) == 0
    out, err = capsys.readouterr()
    for word in ("pick", "why", "flagged", "a chance above", "N7", "size = 60.0", "average precision 1.000"):
        assert word in out
    assert "tried" in err
    assert main(["select", str(table), *FEW, "-q"]) == 0
    out, err = capsys.readouterr()
    assert "similar tasks" in out or "whole history" in out
    assert err == ""


def test_a_budget_of_time_ends_the_search(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = run("select", table, "--budget", "0ms", "-q", capsys=capsys)
    assert "budget of 0 s" in found["stopped_because"]
    assert found["models_evaluated"] == 0


def test_columns_can_be_named_with_commas(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = run("select", table, *FEW, "--columns", "size,speed", "-q", capsys=capsys)
    assert [c["column"] for c in found["columns"] if c["role"] == "feature"] == ["size", "speed"]


def test_a_long_file_is_scored_in_batches(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same file, once whole and once in batches of 40 rows of which 40 are fitted."""
    monkeypatch.setattr(opened, "LEARNED_ROWS", 40)
    monkeypatch.setattr(opened, "ROWS_AT_ONCE", 40)
    out = tmp_path / "scores.csv"
    args = ("--id", "name", "--label", "bad", "--drop", "colour", "-q")
    found = run("detect", table, *FEW, "-o", out, *args, "--save", tmp_path / "m", capsys=capsys)
    assert found["n_rows"] == 150
    assert found["top"][0]["id"] == "N7"
    assert found["evaluation"]["ap"] == 1.0
    assert any("sample of 40 of the 150 rows" in note for note in found["notes"])
    scores = pl.read_csv(out)
    assert scores["name"].to_list() == [f"N{i}" for i in range(150)]
    assert scores.columns == [*pl.read_csv(table).columns, *RESULTS]
    assert scores["elect_reasons"].is_not_null().sum() >= 1
    monkeypatch.undo()
    whole = run("score", tmp_path / "m", table, "--top", 1, "-q", capsys=capsys)
    assert whole["top"][0]["id"] == "N7"


def test_models_and_info(capsys: pytest.CaptureFixture[str]) -> None:
    found = run("models", capsys=capsys)
    assert found["count"] == 297
    assert len(run("models", "--family", "LOF", capsys=capsys)["models"]) == 36
    shipped = run("info", capsys=capsys)
    assert shipped["n_models"] == 297
    assert shipped["n_tasks"] == len(shipped["tasks"])
    for args in (["models"], ["models", "--family", "COF"], ["info"], ["--version"]):
        assert main(args) == 0
        assert capsys.readouterr().out


def test_train_writes_a_database_that_detect_uses(
    tmp_path: Path, table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    history, more = tmp_path / "history", tmp_path / "more"
    rng = np.random.default_rng(1)
    for folder, name in ((history, "a"), (history, "b"), (more, "c")):
        folder.mkdir(exist_ok=True)
        X = np.vstack([rng.normal(size=(50, 2)), rng.normal(size=(5, 2)) * 6])
        lines = [f"{a:.4f},{b:.4f},{int(i >= 50)}" for i, (a, b) in enumerate(X)]
        (folder / f"{name}.csv").write_text("u,v,label\n" + "\n".join(lines) + "\n")
    out = tmp_path / "ours.elect"
    args = ("train", history, more, "-o", out, "--work", tmp_path / "work", "--n-jobs", 1, "-q")
    found = run(*args, "--alone", capsys=capsys)
    assert (found["n_tasks"], found["n_models"], found["added"]) == (3, 297, None)
    assert main(["info", str(out)]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert f"made with elect {version('elect')}, lightgbm" in told
    assert f"numpy {np.__version__}" in told
    assert run("info", out, capsys=capsys)["n_tasks"] == 3
    chosen = run("select", table, *FEW, "--database", out, "-q", capsys=capsys)
    assert {neighbor["task"] for neighbor in chosen["neighbors"]} <= {"a", "b", "c"}
    # As usual the tables join the history that comes with elect, and what they add is told.
    shipped = run("info", capsys=capsys)["n_tasks"]
    joined = run(*args, capsys=capsys)
    assert joined["n_tasks"] == shipped + 3
    assert (joined["added"]["tasks"], joined["added"]["groups"]) == (3, 3)
    assert 0 <= joined["added"]["before"] <= 1
    assert joined["rows"]["tasks"] == 3
    assert main(["train", str(history), "-o", str(out), "-q"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "added 2 tables of 2 sources to the history that comes with elect" in said
    assert "on own tables that were left out: average precision" in said
    assert run("detect", table, *FEW, "--database", out, "-q", capsys=capsys)["n_outliers"] > 0
    assert main(["train", str(history), "-o", str(out), "--metric", "roc"]) == 2
    assert "--alone" in capsys.readouterr().err


def test_interrupting_the_search_returns_the_current_pick(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "large.csv"
    pl.DataFrame({f"x{c}": rng.normal(size=4000).round(5) for c in range(12)}).write_csv(path)
    process = subprocess.Popen(
        [sys.executable, "-m", "elect.cli", "select", str(path), "--max-models", "200", "--n-jobs", "1", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    lines = []
    for line in process.stderr:
        lines.append(line)
        if "0 models" in line:
            break
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 0, "".join(lines) + err
    assert "Traceback" not in err
    assert "interrupted" in json.loads(out)["stopped_because"]


def test_output_that_nobody_reads_is_no_error() -> None:
    shell = f"{sys.executable} -m elect.cli models --json | head -c 10"
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=120)
    assert done.stderr == ""


def test_help_loads_no_heavy_library() -> None:
    """What help costs is a matter of what it imports; the time itself is measured in benchmarks."""
    code = (
        "import sys; from elect.cli import main; main(['--help']); "
        "heavy = {'numpy', 'polars', 'pyarrow', 'numba', 'sklearn', 'pyod', 'scipy', 'lightgbm'} & set(sys.modules); "
        "sys.exit(f'loaded {heavy}' if heavy else 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    for name in ("select", "detect", "score", "train", "corpus", "bench", "models", "info"):
        assert name in done.stdout


def test_the_live_line_says_where_a_search_stands() -> None:
    step = SearchStep(1, "initial", "a", None, (Neighbor("wine", 0.9),), Candidate("LOF()", 0.5, 0.1), (), 2.0)
    assert sentence(step, 1, 50) == "1 model of at most 50 tried in 2.0 s; pick LOF(); similar to wine"


def test_a_spreadsheet_is_not_given_formulas(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What a spreadsheet would run is guarded; a negative number stays as it is."""
    path = tmp_path / "a.csv"
    rows = "\n".join(f"=cmd|{i},{90 if i == 3 else -(i % 7 + i * 0.01)}" for i in range(30))
    path.write_text(f"who,=x\n{rows}\n")
    run("detect", path, *FEW, "--id", "who", "-o", tmp_path / "out.csv", "-q", capsys=capsys)
    found = pl.read_csv(tmp_path / "out.csv", infer_schema=False)
    assert found["who"][0] == "'=cmd|0"
    assert found["'=x"][1] == "-1.01"
    assert found["elect_reasons"][3].startswith("'=x = 90")


def test_results_of_an_earlier_run_are_no_features_and_are_replaced(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once, twice = tmp_path / "once.csv", tmp_path / "twice.csv"
    run("detect", table, *FEW, "-o", once, "-q", capsys=capsys)
    found = run("detect", once, *FEW, "-o", twice, "-q", capsys=capsys)
    assert once.read_text() == twice.read_text()
    assert {c["column"]: c["role"] for c in found["columns"]}["elect_score"] == "dropped"
    assert any("elect_score" in note and "replace" in note for note in found["notes"])


def test_every_flagged_row_has_its_kind_and_reasons_up_to_a_limit_that_is_said(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from elect.detect import findings

    out = tmp_path / "out.parquet"
    args = ("detect", table, *FEW, "--contamination", "0.2", "--top", 1, "-o", out, "-q")
    found = run(*args, capsys=capsys)
    scores = pl.read_parquet(out)
    flagged = scores.filter(pl.col("elect_outlier") == 1)
    assert flagged.height == found["n_outliers"] == 30
    assert flagged["elect_kind"].null_count() == 0
    assert scores["elect_kind"].null_count() == 120
    assert found["notes"] == []
    assert 0 < found["false_alarms"] < 1
    assert np.isclose(found["false_alarms"], 1 - flagged["elect_chance"].mean())
    monkeypatch.setitem(findings.MOST_EXPLAINED, "committee", 20)
    found = run(*args, capsys=capsys)
    assert found["notes"] == ["reasons are given for the 20 most outlying of the 30 flagged rows"]
    assert pl.read_parquet(out)["elect_kind"].null_count() == 130


def test_rows_are_named_by_a_column_that_names_them(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = run("detect", table, *FEW, "-q", capsys=capsys)
    assert (found["top"][0]["id"], found["top"][0]["position"]) == ("N7", 7)
    assert set(found["top"][0]) >= {"position", "id", "score", "chance", "is_outlier", "kind", "reasons"}
    assert set(found["top"][0]["reasons"][0]) == {"column", "value", "usual", "share"}


def test_json_lists_the_models_evaluated_only_where_asked(table: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("select", "detect"):
        plain = run(name, table, *FEW, "-q", capsys=capsys)
        assert not {"evaluated", "trace"} & set(plain)
        traced = run(name, table, *FEW, "--trace", "-q", capsys=capsys)
        assert len(traced["evaluated"]) == traced["models_evaluated"] == plain["models_evaluated"]
        assert traced["trace"][-1]["pick"] == traced["model"]["id"]


def test_bench_prints_what_the_benchmark_says(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command is wiring; the numbers behind it are tested with the benchmark."""
    import elect.bench

    asked: dict[str, Any] = {}
    row = {"mean_rank": 40.0, "median_rank": 30.0, "mean_ap": 0.4, "p_value": None, "seconds": float("nan")}
    told = {"protocol": "strict", "n_models": 297, "methods": [{"name": "elect", **row}, {"name": "lof", **row}]}

    class Result:
        def to_json(self) -> dict[str, Any]:
            return told

    def run_bench(testbed: str, **options: Any) -> Result:
        asked.update(options, testbed=testbed)
        return Result()

    monkeypatch.setattr(elect.bench, "run_bench", run_bench)
    args = ("bench", "wild", "--source", "published", "--protocol", "strict", "--methods", "lof,iforest", "-q")
    found = run(*args, capsys=capsys)
    assert found["protocol"] == "strict"
    assert found["methods"][0]["seconds"] is None
    assert (asked["testbed"], asked["source"], asked["methods"]) == ("wild", "published", ["lof", "iforest"])
    assert main(list(args)) == 0
    assert "lof" in capsys.readouterr().out


def test_bench_union_prints_every_method_with_the_best_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import elect.bench.union

    def row(name: str, rank: float) -> dict[str, Any]:
        part = {"mean_rank": rank, "median_rank": rank, "mean_rank_groups": rank, "mean_ap": 0.4}
        part["against"] = {"fixed": {"p_value": 0.02}} if name != "fixed" else {}
        return {"name": name, **dict.fromkeys(("wild", "keel", "odd", "union", "errors"), part)}

    told = {
        "protocol": "strict",
        "methods": [row("fixed", 90.0), row("committee", 60.0)],
    }
    asked: list[Any] = []
    monkeypatch.setattr(elect.bench.union, "run_union", lambda *args, **options: asked.append((args, options)) or told)
    args = ("bench", "union", "--corpus", tmp_path / "a.json", "--corpus", tmp_path / "b.json", "--seed", 2, "-q")
    assert run(*args, capsys=capsys) == told
    (corpora,), options = asked[0]
    assert corpora == [tmp_path / "a.json", tmp_path / "b.json"]
    assert (options["seed"], options["progress"]) == (2, False)
    assert main([str(arg) for arg in args]) == 0
    out = capsys.readouterr().out
    assert out.index("committee") < out.index("fixed  ")
    assert main(["bench", "union", "--methods", "MC"]) == 2
    said = capsys.readouterr().err
    assert "No such option" in said  # what follows is worded otherwise by older versions
    assert "--methods" in said


def test_bench_answers_prints_what_the_simulation_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import elect.bench.answers

    heads = ("wrong", "n", "mean_ap", "low", "high", "mean_ap_unasked", "found", "worse", "mean_rank")
    told = {"protocol": "strict", "answers": [{"method": "elect, learn"} | dict.fromkeys(heads, 7)]}
    asked: list[Any] = []
    monkeypatch.setattr(
        elect.bench.answers, "run_answers", lambda *args, **options: asked.append((args, options)) or told
    )
    args = ("bench", "answers", "--counts", "0,3", "--work", tmp_path, "-q")
    assert run(*args, capsys=capsys) == told
    assert asked[0][0] == ("wild",)
    assert (asked[0][1]["counts"], asked[0][1]["protocol"], asked[0][1]["work_dir"]) == (
        [0, 3],
        "strict",
        str(tmp_path),
    )
    assert main([str(arg) for arg in args]) == 0
    assert "mean ap unasked" in capsys.readouterr().out


def test_corpus_writes_what_train_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which kinds there are is tested with them; here two stand for all."""
    from elect.bench.testbeds import history
    from elect.history import read_corpus

    monkeypatch.setattr(history, "USUAL_KINDS", ("odd", "even"))
    monkeypatch.setattr(history, "BUILDERS", {"odd": lambda seed: corpus(6)[1::2], "even": lambda seed: corpus(6)[::2]})
    found = run("corpus", tmp_path / "usual", "-q", capsys=capsys)
    assert (found["n_tasks"], found["n_groups"], found["kinds"]) == (6, 6, ["odd", "even"])
    read = read_corpus(Path(found["manifest"]))
    assert [task.name for task in read] == [task.name for task in (*corpus(6)[1::2], *corpus(6)[::2])]
    assert run("corpus", tmp_path / "one", "--kinds", "odd,odd", "-q", capsys=capsys)["n_tasks"] == 3
    assert main(["corpus", str(tmp_path / "said"), "--kinds", "even"]) == 0
    assert "3 tasks of 3 sources" in " ".join(capsys.readouterr().out.split())
