"""Figures are computed values first: the tests look at those, and that each can be drawn."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from elect.bench.methods import ELECT, METHODS, methods_named
from elect.bench.run import bench_of
from elect.bench.statistics import Interval
from elect.history.pieces import Pieces
from results_page import paper_numbers, render, tables, words
from results_page.figures import CriticalDifferenceInfo, IntervalsInfo, ParetoInfo
from results_page.page import Contents, write_page
from results_page.rows_page import PAGE, write_rows
from results_page.studies import SimilarityInfo, ablations_of, case_of, run_ablations
from test_benchmark import toy_bed


@pytest.fixture(scope="module")
def bed():
    return toy_bed()


@pytest.fixture(scope="module")
def result(bed):
    return bench_of(bed, METHODS, "strict", repetitions=1)


def test_critical_difference_holds_every_complete_method(result):
    info = CriticalDifferenceInfo.of(result)
    names = [name for name, _ in info.comparison.ordered]
    assert set(names) == {m.name for m in METHODS} - {"random"}
    assert info.left_out == ("random",)
    assert info.mean_ap_ranks[ELECT] == result[ELECT].mean_rank.estimate


def test_pareto_frontier_is_not_beaten(result):
    info = ParetoInfo.of(result)
    frontier = info.frontier
    assert frontier[-1].mean_rank == min(p.mean_rank for p in info.points)
    for a, b in pairwise(frontier):
        assert a.seconds <= b.seconds
        assert a.mean_rank >= b.mean_rank
    for p in info.points:
        beaten = any(q.seconds < p.seconds and q.mean_rank < p.mean_rank for q in info.points)
        assert not (p.on_frontier and beaten)


def test_similarities_are_of_every_two_tasks(bed):
    info = SimilarityInfo.of(bed)
    assert len(info.values) == len(bed.tasks) * (len(bed.tasks) - 1) // 2
    assert ((info.values >= -1) & (info.values <= 1)).all()


def test_the_case_ends_with_the_pick_of_the_method(bed):
    info = case_of(bed, "task5")
    assert [step.iteration for step in info.steps] == list(range(len(info.steps)))
    assert all(0 <= step.matched <= 5 for step in info.steps)
    assert info.steps[-1].similarity <= info.best_similarity + 1e-9
    assert len(tables.case_table(info).rows) == len(info.shown)


def test_tables_are_rectangular_and_put_the_best_first(result):
    for table in (tables.methods_table(result), tables.pairwise_table(result), tables.tasks_table(result)):
        assert all(len(row) == len(table.header) for row in table.rows)
        assert table.markdown().count("\n") == len(table.rows) + 1
        assert table.csv().count("\n") == len(table.rows) + 1
    ranks = [float(row[1]) for row in tables.methods_table(result).rows]
    assert ranks == sorted(ranks)


def test_verdicts_follow_the_test_and_the_side(result):
    elect = result[ELECT]
    sure, higher = replace(result["GB"], p_value=0.01), elect.ranks + 1.0
    assert tables.verdict_of(elect, replace(sure, ranks=higher)) == "better"
    assert tables.verdict_of(elect, replace(sure, ranks=elect.ranks - 0.5)) == "worse"
    assert tables.verdict_of(elect, replace(sure, ranks=higher, p_value=0.05)) == "none"
    assert tables.verdict_of(elect, replace(sure, ranks=higher, p_value=None)) == "none"


def test_sentences_say_worse_when_it_is_worse(result, monkeypatch):
    fifth = replace(result[ELECT], mean_rank=Interval(5.0, 3.0, 7.0, 0.95, 2000))
    others = tuple(m for m in result.methods if m.name != ELECT)
    worse = replace(result, methods=(*others, fifth))
    for told, verdict in (
        (6.0, "which is as good as or better than the paper's 6"),
        (4.0, "1 places worse than the paper's 4, which still lies inside the interval"),
        (2.0, "3 places worse than the paper's 2, which lies outside the interval"),
    ):
        monkeypatch.setitem(paper_numbers.MEAN_RANK, "wild", {ELECT: told})
        assert verdict in words.rank_sentence(worse)


def test_a_p_value_is_said_once():
    assert tables.p_equation(0.00001) == "p < 0.0001"
    assert tables.p_equation(0.0123) == "p = 0.0123"


def test_every_figure_can_be_drawn(bed, result, tmp_path):
    ablations = ablations_of(run_ablations(bed, "strict", 0, Pieces.at(tmp_path / "work")))
    drawn = {
        "cd": render.draw_critical_difference(CriticalDifferenceInfo.of(result)),
        "pareto": render.draw_pareto(ParetoInfo.of(result)),
        "intervals": render.draw_intervals(IntervalsInfo.of([result, result], 90.0)),
        "similarities": render.draw_similarities([SimilarityInfo.of(bed)]),
        "ablations": render.draw_ablations("toy", ablations),
        "trace": render.draw_case(case_of(bed, "task5")),
    }
    for name, figure in drawn.items():
        path = render.save_svg(figure, tmp_path, name)
        assert path.read_text(encoding="utf-8").lstrip().startswith("<?xml")


def test_equal_figures_give_equal_files(result, tmp_path):
    for folder in ("a", "b"):
        render.save_svg(render.draw_pareto(ParetoInfo.of(result)), tmp_path / folder, "pareto")
    assert (tmp_path / "a" / "pareto.svg").read_bytes() == (tmp_path / "b" / "pareto.svg").read_bytes()


def test_a_page_comes_with_every_file_it_shows(bed, result, tmp_path):
    ablations = ablations_of(run_ablations(bed, "strict", 0, Pieces.at(tmp_path / "work")))
    infos = (("toy, strict", ablations),)
    write_page(tmp_path / "out", Contents((result,), (SimilarityInfo.of(bed),), infos, (), (), "test"))
    text = (tmp_path / "out" / "results.md").read_text(encoding="utf-8")
    shown = [line.split("](")[1].rstrip(")") for line in text.splitlines() if line.startswith("![")]
    assert len(shown) >= 4
    for path in shown:
        assert (tmp_path / "out" / path).is_file()
    for method in METHODS:
        assert method.name in text
    assert "nan" not in text.lower().split()


def test_a_page_of_several_runs_compares_them(bed, result, tmp_path):
    loo = bench_of(bed, methods_named(["GB", "AS"]), "loo", repetitions=1)
    report = Contents((result, loo), (SimilarityInfo.of(bed),), (), (result,), (), "test")
    write_page(tmp_path, report)
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert "Mean rank of every method in every run" in text
    assert "What was examined" in text
    assert np.isfinite(result[ELECT].mean_rank.estimate)


def test_the_page_about_rows_says_what_the_results_say(tmp_path: Path) -> None:
    root = Path(__file__).parents[1]
    write_rows(tmp_path, root / "benchmarks" / "results")
    told = "docs/results-rows.md is not what benchmarks/results says: python -m benchmarks.results_page rows docs"
    assert (tmp_path / PAGE).read_text() == (root / "docs" / PAGE).read_text(), told
    for figure in tmp_path.glob("figures/*.svg"):
        assert (root / "docs" / "figures" / figure.name).exists()


def test_the_figures_of_the_readme_are_those_of_the_results() -> None:
    root = Path(__file__).parent.parent
    found = {
        name: json.loads((root / f"benchmarks/results/{name}.json").read_text())
        for name in ("errors", "odd", "answers-odd")
    }
    mean = {bed: {row["name"]: row["mean_ap"] for row in found[bed]["methods"]} for bed in ("errors", "odd")}
    wild = next(kind for kind in found["odd"]["kinds"] if kind["kind"] == "wild")
    after = {
        (row["method"], row["n"]): row["mean_ap"] for row in found["answers-odd"]["answers"] if row["wrong"] == 0.0
    }
    expected = {
        "elect, the committee": [mean["errors"]["committee"], mean["odd"]["committee"], wild["committee"]],
        "PyOD KNN": [mean["errors"]["PyOD KNN"], mean["odd"]["PyOD KNN"]],
        "largest robust z-score of a row": [mean[bed]["largest robust z-score"] for bed in ("errors", "odd")],
        "isolation forest": [mean["errors"]["PyOD IForest"], mean["odd"]["PyOD IForest"], wild["iforest"]],
        "elect": [after["elect, learn", n] for n in (0, 5, 10, 20)],
        "coniferest PineForest": [after["PineForest", n] for n in (0, 5, 10, 20)],
        "coniferest AADForest": [after["AADForest", n] for n in (0, 5, 10, 20)],
        "best of 297 models in hindsight, one for each task": [found["answers-odd"]["best_model_in_hindsight"]],
    }
    shown = (root / "README.md").read_text().partition("<!-- figures")[2].partition("<!-- end of figures")[0]
    rows = [
        [cell.strip(" *") for cell in line.strip("| ").split("|")]
        for line in shown.splitlines()
        if "| ." in line or "**." in line
    ]
    told = {row[0].partition(" (")[0]: [float(cell) for cell in row[1:] if cell] for row in rows}
    assert told.keys() == expected.keys()
    for name, figures in expected.items():
        assert told[name] == pytest.approx(figures, abs=0.00051), name
