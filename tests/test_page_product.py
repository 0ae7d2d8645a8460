"""The page over the real product: what it shows is what the road of detection says."""

import io
import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import pytest

from elect.answers.kept import KeptAnswers
from elect.cli import main
from elect.committee.scorer import chance_of
from elect.detect import Options, open_table
from elect.errors import InvalidInput
from elect.page._base import ELECTED_BY
from elect.page.meanings import Numbers
from elect.page.product import TableProduct
from elect.page.rows import Query
from elect.page.state import PageState
from elect.strategies import STRATEGIES
from elect.tables import ColumnTreatment, read_table
from page_serving import ready, until

if TYPE_CHECKING:
    from elect.history.database import MetaDatabase


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Orders with a few wrong values, as a person keeps them."""
    rng = np.random.default_rng(0)
    n = 240
    amount = np.round(rng.lognormal(3, 0.4, n), 2)
    amount[[7, 80]] = [9999.0, 4321.5]
    frame = pl.DataFrame(
        {
            "order": [f"A{i}" for i in range(n)],
            "when": [f"2024-{1 + i % 12:02d}-{1 + i % 28:02d}" for i in range(n)],
            "amount": [f"{value:,.2f}" for value in amount],
            "size": rng.normal(10, 2, n).round(2),
            "number": np.arange(n),
            "city": rng.choice(["Rome", "Oslo", "=2+3"], n),
        }
    )
    found = tmp_path_factory.mktemp("page") / "orders.csv"
    frame.write_csv(found)
    return found


@pytest.fixture
def state(path: Path, small_database: "MetaDatabase") -> Iterator[PageState]:
    options = Options(id="order", n_jobs=1)
    product = TableProduct(path, open_table(read_table(path)), small_database, options)
    found = PageState(product, KeptAnswers(None, product.row_ids))
    found.search()
    until(lambda: found.moment.phase in ("ready", "failed"), 120)
    assert found.moment.failure is None
    ready(found)
    yield found
    found.close()


def test_rows_are_named_as_everywhere_else(path: Path, small_database: "MetaDatabase", tmp_path: Path) -> None:
    """By a column that is recognised as a name, as on the command line; where a name is missing, by the number."""

    def named(file: Path, **options: Any) -> pl.Series:
        return TableProduct(file, open_table(read_table(file)), small_database, Options(**options)).row_ids

    assert named(path).name == "order"
    assert named(path)[:2].to_list() == ["A0", "A1"]
    assert named(path, id="number").name == "number"
    assert named(path, drop=("order",)).name == "number"
    assert named(path, columns=("amount", "size")).name == "row"
    gaps = tmp_path / "gaps.csv"
    read_table(path).frame.with_columns(pl.when(pl.int_range(240) != 3).then("order")).write_csv(gaps)
    assert named(gaps)[2:5].to_list() == ["A2", "row 3", "A4"]
    treatment = ColumnTreatment.fit(read_table(gaps))
    assert treatment.named_by == "order"
    assert treatment.summary()[0].done == "shown as the name of the row"


def test_every_view_of_a_real_table(state: PageState) -> None:
    moment, reader = state.moment, state.reader
    json.dumps(state.document(), allow_nan=False)
    rows = reader.rows(moment, Query(), 0, 20)["rows"]
    assert {row["row"] for row in rows[:6]} >= {"A7", "A80"}
    top = next(row for row in rows if row["row"] == "A7")
    assert "amount" in [reason["column"] for reason in top["reasons"]]
    row = reader.row(moment, 7)
    assert row["ordinary"]["position"] not in (7, 80)
    by_name = {column["name"]: column for column in row["columns"]}
    assert by_name["amount"]["number"] == 9999.0
    assert by_name["amount"]["value"] == "9,999.00"
    assert by_name["when"]["bars"]["ends"][0].startswith("2024-01")
    placed = reader.map(moment)
    assert sorted(placed["positions"]) == list(range(240))
    assert placed["chance"] == sorted(placed["chance"])
    columns = {column["name"]: column for column in reader.columns(moment)["columns"]}
    assert columns["order"]["role"] == "id"
    models = reader.models(moment)
    families = models["agreement"]["families"]
    np.testing.assert_allclose(np.diag(models["agreement"]["correlation"]), 1.0)
    assert len(families) > 2
    evaluated = models["selection"]["evaluated"]
    sides = reader.compare(moment, evaluated[0], evaluated[-1])
    assert sides["both"]["count"] + sides["one"]["count"] == sides["count"]


def test_answers_move_the_rows_and_undo_brings_them_back(state: PageState) -> None:
    assert state.moment.ranking is not None
    before = state.moment.ranking.chance.copy()
    asked = state.moment.question
    assert asked is not None
    state.answer(asked, False)
    assert state.moment.ranking.chance[asked] <= 0.05
    assert state.moment.question != asked
    state.answer(asked, True)
    assert state.moment.ranking.chance[asked] >= 0.95
    state.undo()
    np.testing.assert_allclose(state.moment.ranking.chance, before)
    state.set_aim("find")
    assert state.moment.question == int(np.argmax(before))


def test_downloads_say_what_the_page_says(state: PageState, path: Path, tmp_path: Path) -> None:
    assert state.moment.ranking is not None
    state.set_threshold(float(np.sort(state.moment.ranking.chance)[-5]))
    csv = state.download("csv")
    assert csv.name == "orders.outliers.csv"
    table = pl.read_csv(io.BytesIO(csv.content))
    assert table.columns[:6] == read_table(path).frame.columns
    assert table.columns[6:] == ["elect_score", "elect_chance", "elect_outlier", "elect_kind", "elect_reasons"]
    assert table["elect_reasons"][7].startswith("amount = 9,999.00 (")  # as elect detect -o writes them
    assert table["elect_outlier"].sum() == state.document()["ranking"]["flagged"]["count"]
    # A spreadsheet would run what begins with an equals sign.
    assert set(table["city"]) == {"Rome", "Oslo", "'=2+3"}
    parquet = pl.read_parquet(io.BytesIO(state.download("parquet").content))
    assert set(parquet["city"]) == {"Rome", "Oslo", "=2+3"}
    np.testing.assert_allclose(parquet["elect_chance"], state.moment.ranking.chance)
    assert b"orders.csv" in state.download("report").content
    from elect import load_detector

    (tmp_path / "d.elect-detector").write_bytes(state.download("detector").content)
    scores = load_detector(tmp_path / "d.elect-detector").decision_function(read_table(path).frame)
    assert len(scores) == 240


def test_a_column_left_out_is_not_used(state: PageState) -> None:
    state.search(["amount"])
    until(lambda: state.moment.found_version == 4, 120)
    ready(state)
    columns = {column["name"]: column for column in state.reader.columns(state.moment)["columns"]}
    assert columns["amount"]["left_out"]
    assert columns["amount"]["role"] == "dropped"
    rows = state.reader.rows(state.moment, Query(), 0, 50)["rows"]
    assert all(reason["column"] != "amount" for row in rows for reason in row["reasons"])
    assert ".without('order', 'amount')" in state.document()["python"]


def test_the_lines_in_python_give_what_the_page_shows(state: PageState) -> None:
    state.set_threshold(0.3)
    assert state.moment.ranking is not None
    names: dict[str, Any] = {}
    exec(state.document()["python"], names)
    np.testing.assert_allclose(names["detector"].chance_, state.moment.ranking.chance, atol=1e-9)
    assert names["flagged"].sum() == state.document()["ranking"]["flagged"]["count"]


def test_the_lines_in_python_tell_the_answers_too(state: PageState, tmp_path: Path) -> None:
    assert state.moment.ranking is not None
    for position, said in ((80, False), (7, True), (3, None), (12, True)):
        state.answer(position, said)
    state.set_threshold(0.42)
    names: dict[str, Any] = {}
    exec(state.document()["python"], names)
    np.testing.assert_allclose(names["chance"], state.moment.ranking.chance, atol=1e-9)
    assert b"feedback.tell(row, odd)" in state.download("report").content
    assert names["flagged"].sum() == state.document()["ranking"]["flagged"]["count"]


def test_the_papers_search_can_be_chosen_and_is_told_step_by_step(state: PageState) -> None:
    assert set(ELECTED_BY) == set(STRATEGIES)
    assert state.document()["strategy"] == "committee"
    assert state.moment.ranking is not None
    before = state.moment.ranking.chance.copy()
    state.search(strategy="elect")
    until(lambda: state.moment.phase == "ready" and state.moment.steps[-1].phase != "pool", 120)
    ready(state)
    models = state.reader.models(state.moment)
    assert models["selection"]["strategy"] == "elect"
    assert {step["phase"] for step in models["steps"]} >= {"anchor", "initial"}
    assert models["neighbors"]
    np.testing.assert_allclose(state.moment.ranking.chance, before, err_msg="the rows are the committee's")
    assert "strategy='elect'" in state.document()["python"]
    with pytest.raises(InvalidInput, match="strategy"):
        state.search(strategy="best")


@pytest.mark.parametrize("stopped_after", [0, 1, 2, 3, 6])
def test_a_search_that_is_stopped_at_once_has_a_ranking(
    path: Path, small_database: "MetaDatabase", stopped_after: int
) -> None:
    product = TableProduct(path, open_table(read_table(path)), small_database, Options(n_jobs=1))
    search = product.search((), product.strategy)
    steps = search.steps()
    for _ in range(stopped_after):
        next(steps)
    found = search.found("it was stopped from the page")
    assert found.ranking().chance.shape == (240,)
    found.tell(3, True)
    assert found.ranking().chance[3] >= 0.95
    found.undo()
    assert found.ask("learn") is not None
    assert found.selection.stopped_because == "it was stopped from the page"


def test_a_long_table_is_ranked_piece_by_piece_and_can_be_stopped(
    path: Path, small_database: "MetaDatabase", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elect.detect.election.MAX_ROWS", 100)
    monkeypatch.setattr("elect.detect.election.PIECE", 60)
    product = TableProduct(path, open_table(read_table(path)), small_database, Options(n_jobs=1))

    def begun(steps: int) -> Any:
        search = product.search((), product.strategy)
        told = [progress for progress, _ in zip(search.steps(), range(steps), strict=False)]
        return search, [(progress.done, progress.total) for progress in told if "more row" in progress.doing]

    search, told = begun(6)
    assert told == [(0, 140), (60, 140), (120, 140), (140, 140)]
    whole = search.found()
    search, told = begun(4)
    assert told == [(0, 140), (60, 140)]
    found = search.found("it was stopped from the page")
    known = found._place >= 0
    np.testing.assert_allclose(found.ranking().chance[known], whole.ranking().chance[known])
    assert known.sum() == 100
    assert found.ranking().chance[~known].max() < 0.001
    assert next(iter(found.notes)).startswith("140 rows were not ranked, since it was stopped")
    unseen = int(np.flatnonzero(~known)[0])
    found.tell(unseen, True)
    ranking = found.ranking()
    scored = pl.read_csv(io.BytesIO(found.download("csv", ranking, 0.5).content))
    assert scored["elect_chance"].null_count() == scored["elect_outlier"].null_count() == 139
    assert scored["elect_outlier"][unseen] == 1
    assert b"orders.csv" in found.download("report", ranking, 0.5).content


def test_what_columns_hold(path: Path) -> None:
    numbers = Numbers(read_table(path))
    assert set(numbers) == {"when", "amount", "size", "number"}
    assert numbers["amount"][7] == 9999.0
    assert numbers.written("when", numbers["when"][0]) == "2024-01-01"
    assert numbers.written("amount", 9999.0) == "9999"


def test_answers_reach_rows_that_no_model_saw(
    path: Path, small_database: "MetaDatabase", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("elect.detect.election.MAX_ROWS", 100)
    monkeypatch.setattr("elect.detect.asked.MOST_OTHERS", 30)
    product = TableProduct(path, open_table(read_table(path)), small_database, Options(id="order", n_jobs=1))
    search = product.search((), product.strategy)
    early, found = (progress.found for progress in islice(search.steps(), 5) if progress.found is not None)
    known = early._place >= 0
    np.testing.assert_allclose(early.ranking().chance[known], found.ranking().chance[known])
    assert early.ranking().chance[~known].max() < 0.001
    assert found.ranking().chance.shape == (240,)
    assert {7, 80} <= set(np.argsort(-found.ranking().chance)[:6].tolist())
    assert found.ask("find") == int(found.ranking().chance.argmax())
    unseen = int(np.flatnonzero(found._place < 0)[0])
    before = found.ranking().chance
    assert found.tell(unseen, True) == ""
    assert found.ranking().chance[unseen] >= 0.95
    found.undo()
    np.testing.assert_allclose(found.ranking().chance, before)
    seen = int(found._election.positions[0])
    found.tell(seen, True)
    shift = found.ranking().chance - before
    others = np.setdiff1d(np.flatnonzero(found._place < 0), [seen])
    assert np.abs(shift[others]).max() > 1e-3
    found.undo()
    # The likely rows outside of the sample speak for others too, and the detector to keep hears them.
    beyond = found._beyond
    assert beyond is not None
    likely = int(beyond.positions[before[beyond.positions].argmax()])
    assert not known[likely]
    found.tell(likely, False)
    after = found.ranking().chance
    assert np.abs(after - before)[found._place >= 0].max() > 1e-3
    next(found._election.steps())
    heard = found._election.detect(found._election.selection(), found._feedback, beyond)
    assert heard.scores[likely] == heard.scores.min()
    asked = np.setdiff1d(found._asked, [likely])
    np.testing.assert_allclose(chance_of(heard.scores)[asked], after[asked], atol=1e-9)
    assert len(found.placed().positions) == 240
    assert found.ordinary_like(unseen) not in (None, unseen)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--id", "nothing"], "Unknown column 'nothing' in --id"),
        (["--label", "nothing"], "Unknown column 'nothing' in --label"),
        (["--drop", "nothing"], "Unknown column 'nothing' in --drop"),
        (["--answers", "no/such/folder.csv"], "there is no folder"),
        (["--answers", "orders.txt"], "--answers must name a file that ends in .csv"),
    ],
)
def test_a_mistake_is_said_before_anything_is_served(
    path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["open", str(path), "--no-browser", *arguments]) == 2
    error = capsys.readouterr().err
    assert said in error
    assert error.count("\n") == 1


def test_the_command_prints_its_address_and_ends_from_the_page(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "orders.csv"
    copy.write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "elect.cli", "open", "orders.csv", "--no-browser", "--json", "--n-jobs", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, env=dict(os.environ))
    try:
        assert process.stdout is not None
        text = b""
        while b"}" not in text:
            line = process.stdout.readline()
            assert line, "the command ended"
            text += line
        said = json.loads(text)
        assert said["answers"] == "orders.answers.csv"
        assert said["address"].startswith(f"http://127.0.0.1:{said['port']}/?token=")
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        assert opener.open(said["address"], timeout=60).status == 200
        origin = f"http://127.0.0.1:{said['port']}"
        headers = {"Origin": origin, "Content-Type": "application/json"}
        answer = urllib.request.Request(f"{origin}/api/answer", b'{"position": 7, "answer": true}', headers)
        assert opener.open(answer, timeout=60).status == 200
        assert opener.open(urllib.request.Request(f"{origin}/api/end", b"{}", headers), timeout=60).status == 200
        assert process.wait(60) == 0
        lines = (tmp_path / "orders.answers.csv").read_text().splitlines()
        assert lines[0] == "position,row,answer,cells"
        assert lines[1].startswith("7,A7,yes,")
    finally:
        process.kill()


def test_ctrl_c_ends_it_cleanly(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "orders.csv"
    copy.write_bytes(path.read_bytes())
    command = [sys.executable, "-m", "elect.cli", "open", "orders.csv", "--no-browser", "--n-jobs", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        assert process.stdout is not None
        line = process.stdout.readline().decode()
        assert line.startswith("elect: orders.csv is open at http://127.0.0.1:")
        address = line.split()[-1]
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        opener.open(address, timeout=60).read()
        # A page that listens must not keep the server from ending.
        events = opener.open(address.split("?")[0] + "api/events", timeout=60)
        assert events.readline().startswith(b"id:")
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert process.stdout.read() == b""
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()
    finally:
        process.kill()
