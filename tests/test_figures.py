"""Figures are computed values first: the tests look at those, and that each can be drawn."""

from itertools import pairwise

import numpy as np
import pytest

from elect.bench import render, tables, words
from elect.bench.figures import CriticalDifferenceInfo, IntervalsInfo, ParetoInfo
from elect.bench.methods import ELECT, METHODS, methods_named
from elect.bench.pages import Report, write_page, write_run
from elect.bench.run import bench_of
from elect.bench.studies import SimilarityInfo, ablations_of, run_ablations, trace_of
from elect.history.pieces import Pieces
from elect.support.meter import Meter
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


def test_trace_ends_with_the_pick_of_the_method(bed):
    info = trace_of(bed, "task5")
    assert [step.iteration for step in info.steps] == list(range(len(info.steps)))
    assert all(0 <= step.matched <= 5 for step in info.steps)
    assert info.steps[-1].similarity <= info.best_similarity + 1e-9
    assert len(tables.trace_table(info).rows) == len(info.shown)


def test_tables_are_rectangular_and_put_the_best_first(result):
    for table in (tables.methods_table(result), tables.pairwise_table(result), tables.tasks_table(result)):
        assert all(len(row) == len(table.header) for row in table.rows)
        assert table.markdown().count("\n") == len(table.rows) + 1
        assert table.csv().count("\n") == len(table.rows) + 1
    ranks = [float(row[1]) for row in tables.methods_table(result).rows]
    assert ranks == sorted(ranks)


def test_verdicts_follow_the_test_and_the_side(result):
    elect = result[ELECT]
    for m in result.methods:
        verdict = tables.verdict_of(elect, m)
        if verdict == "better":
            assert m.p_value < 0.05
            assert elect.ranks.mean() < m.ranks.mean()


def test_sentences_say_worse_when_it_is_worse(result):
    assert "better than the paper's" in words.rank_sentence(result)
    assert words.listed(["a", "b"]) == "a and b"


def test_every_figure_can_be_drawn(bed, result, tmp_path):
    ablations = ablations_of(run_ablations(bed, "strict", 0, Pieces.at(tmp_path / "work")))
    drawn = {
        "cd": render.draw_critical_difference(CriticalDifferenceInfo.of(result)),
        "pareto": render.draw_pareto(ParetoInfo.of(result)),
        "intervals": render.draw_intervals(IntervalsInfo.of([result, result], 90.0)),
        "similarities": render.draw_similarities([SimilarityInfo.of(bed)]),
        "ablations": render.draw_ablations("toy", ablations),
        "trace": render.draw_trace(trace_of(bed, "task5")),
    }
    for name, figure in drawn.items():
        svg, png = render.save(figure, tmp_path, name)
        assert svg.read_text(encoding="utf-8").lstrip().startswith("<?xml")
        assert png.read_bytes().startswith(b"\x89PNG")


def test_equal_figures_give_equal_files(result, tmp_path):
    for folder in ("a", "b"):
        render.save(render.draw_pareto(ParetoInfo.of(result)), tmp_path / folder, "pareto")
    for name in ("pareto.svg", "pareto.png"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()


def test_a_run_writes_its_page_with_every_file_it_shows(bed, result, tmp_path):
    write_run(tmp_path / "out", bed, result, Pieces.at(tmp_path / "work"), Meter())
    text = (tmp_path / "out" / "results.md").read_text(encoding="utf-8")
    assert (tmp_path / "out" / "bench.json").is_file()
    shown = [line.split("](")[1].rstrip(")") for line in text.splitlines() if line.startswith("![")]
    assert len(shown) >= 4
    for path in shown:
        assert (tmp_path / "out" / path).is_file()
        assert (tmp_path / "out" / path).with_suffix(".png").is_file()
    for method in METHODS:
        assert method.name in text
    assert "nan" not in text.lower().split()


def test_a_page_of_several_runs_compares_them(bed, result, tmp_path):
    loo = bench_of(bed, methods_named(["GB", "AS"]), "loo", repetitions=1)
    report = Report((result, loo), (SimilarityInfo.of(bed),), (), (result,), (), "test")
    write_page(tmp_path, report)
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    assert "Mean rank of every method in every run" in text
    assert "What was examined" in text
    assert np.isfinite(result[ELECT].mean_rank.estimate)
