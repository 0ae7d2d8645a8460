"""The benchmark of the strategies: no task is judged by its kin, and the numbers are what they are called."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from elect.bench import judging, rows, union, union_ways
from elect.bench.statistics import model_rank
from elect.bench.union import UnionPicks, compared, coverage, heard_from, kind_of, nested_picks, similar_tasks
from elect.bench.union_ways import ANCHORS, BY_AP, CENTRAL, WHOLE, HeardScores, SeenTask, whole_pool_neighbors
from elect.committee.scorer import chance_of
from elect.core import PerformanceMatrix, ScoreMatrix
from elect.history.database import MetaDatabase
from elect.history.expectation import COMMITTEE_RANKS, expected_rank
from elect.history.learning import learn_without
from elect.history.records import MetaRecords, Recipe, measure_task, stored_scores, work_folder
from elect.history.row_training import RowTask
from elect.history.train import make_records
from elect.paper.folds import group_folds
from elect.paper.similarity import pairwise_gaps, task_similarities
from elect.pool import default_pool
from elect.strategies import STRATEGIES, select
from results_page.union_page import HEADING, union_section, write_union
from toys import SMALL_POOL, make_task

ELECT = "elect"
ROOT = Path(__file__).parents[1]

KINDS = {"odds": "wild", "dami": "wild", "keel": "keel", "simulated": "simulated"}
# The first groups have two tasks each, of two kinds; then come single tasks.
TASKS = tuple(
    replace(make_task(t, n=40), name=f"{list(KINDS)[t % 4]}/{t}", group=f"g{t // 2 if t < 8 else t}") for t in range(20)
)
GROUPS = tuple(task.group for task in TASKS)


@pytest.fixture(scope="module")
def scored() -> Iterator[Any]:
    with work_folder(None) as pieces:
        yield make_records(TASKS, Recipe(SMALL_POOL, trials=1), pieces), pieces


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four folds."""
    monkeypatch.setattr(union, "N_FOLDS", 4)


def heard(name: str) -> Any:
    """What a committee says: the rows far from the middle are odd."""
    task = next(task for task in TASKS if task.name == name)
    far = np.abs(task.X).max(axis=1)
    return far / (1.0 + far)


# What a fold learns from


def test_no_fold_learns_from_the_groups_it_is_judged_on(scored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    records, pieces = scored
    learned_from: list[frozenset[str]] = []

    def learn(*args: Any, **options: Any) -> Any:
        found = learn_without(*args, **options)
        learned_from.append(frozenset(found.groups))
        return found

    def elected(database: Any, source: Any, *, strategy: str) -> Any:
        assert frozenset(database.groups) == learned_from[-1]
        return select(database, source, strategy=strategy)

    monkeypatch.setattr(union_ways, "learn_without", learn)
    monkeypatch.setattr(union_ways, "select", elected)
    nested_picks(TASKS, records, pieces, heard)
    assert len(learned_from) == 8  # with a few anchors, and with all models as anchors
    assert learned_from[::2] == learned_from[1::2]
    # Every group is left out once, and only once.
    left_out = [set(GROUPS) - set(groups) for groups in learned_from[::2]]
    assert sorted(group for groups in left_out for group in groups) == sorted(set(GROUPS))


def test_tables_that_are_judged_only_are_in_no_history(scored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    records, pieces = scored
    only = {TASKS[0].name: "errors", TASKS[9].name: "errors"}
    learned_from: list[tuple[str, ...]] = []

    def learn(*args: Any, **options: Any) -> Any:
        found = learn_without(*args, **options)
        learned_from.append(found.tasks)
        return found

    monkeypatch.setattr(union_ways, "learn_without", learn)
    found = nested_picks(TASKS, records, pieces, heard, judged_only=only)
    assert not any(set(only) & set(names) for names in learned_from)
    assert [found.kinds[0], found.kinds[9]] == ["errors", "errors"]
    assert np.isfinite(found.ranks["committee"]).all()


def test_the_strategies_are_those_that_ship(scored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is judged is what a user gets from the same scores and chances with the same history."""
    records, pieces = scored
    # Of a long task, the rows that were described are seen.
    monkeypatch.setattr(rows, "MOST_ROWS", 30)
    monkeypatch.setattr(union, "drawn_rows", rows.drawn_rows)
    drawn = rows.drawn_rows(TASKS[0].n_rows)
    assert len(drawn) == 30
    found = nested_picks(TASKS, records, pieces, lambda name: heard(name)[drawn])
    assert list(found.ranks)[: len(STRATEGIES)] == [*STRATEGIES]
    fold = group_folds(GROUPS, 4)
    left_out = [task.name for task, place in zip(TASKS, fold, strict=True) if place == fold[0]]
    database = learn_without(left_out, records, pieces, pairs_per_task=union_ways.PAIRS_PER_TASK)
    scores = stored_scores(pieces, records.tasks[0], records.recipe)
    seen = SeenTask(ScoreMatrix(scores.values[drawn], scores.model_ids), heard(TASKS[0].name)[drawn], np.zeros((0, 3)))
    for name in STRATEGIES:
        shipped = select(database, HeardScores(seen), strategy=name)
        expected = model_rank(records.performance.values[0], SMALL_POOL.index(shipped.model_id))
        assert found.ranks[name][0] == expected
        assert found.shown.get(name, {}).get(0, frozenset()) == {near.task for near in shipped.neighbors}
    assert {ANCHORS, WHOLE, "committee", "elect"} == set(found.shown)


def test_the_chances_that_are_heard_change_the_pick_of_the_committee_alone(scored: Any) -> None:
    records, pieces = scored
    one = nested_picks(TASKS, records, pieces, heard)
    other = nested_picks(TASKS, records, pieces, lambda name: 1.0 - heard(name))
    changed = {name for name in one.ranks if (one.ranks[name] != other.ranks[name]).any()}
    assert changed == {"committee", union_ways.ALL_MODELS}


def test_chances_come_from_the_scorer_of_the_source() -> None:
    class Says:
        def __init__(self, log_odds: float) -> None:
            self.log_odds_said = log_odds

        def log_odds(self, features: Any) -> Any:
            return np.full(len(features), self.log_odds_said)

    tasks = [
        RowTask(f"task {place}", f"g{place}", "odd", np.zeros((3, 2), np.float32), np.zeros(3, np.int8))
        for place in range(2)
    ]
    told = heard_from(tasks, {"g0": Says(-1.0), "g1": Says(2.0)})  # type: ignore[dict-item]
    np.testing.assert_allclose(told("task 1"), chance_of(np.full(3, 2.0)))
    np.testing.assert_allclose(told("task 0"), chance_of(np.full(3, -1.0)))


def test_over_the_whole_pool_the_neighbours_are_those_of_all_predicted_gaps(scored: Any) -> None:
    records, pieces = scored
    learned = union_ways.Learned.without({TASKS[0].name, TASKS[1].name}, records, pieces)
    every = SMALL_POOL.ids
    assert learned.whole.anchors == every
    assert len(learned.database.anchors) < len(every)
    measures = measure_task(pieces, records.tasks[0], records.recipe, every)

    class Knows:
        """A predictor that is right about one task of the history."""

        def gaps(self, given: Any) -> Any:
            assert given is measures
            return pairwise_gaps(learned.whole.performance.values[4])

        def with_model(self, *given: Any) -> Any:
            return learned.whole.predictor.with_model(*given)

    known = replace(learned.whole)
    object.__setattr__(known, "predictor", Knows())
    near = whole_pool_neighbors(known, measures)
    truth = task_similarities(known.performance.values)[4]
    assert near.tasks[0] == 4
    np.testing.assert_allclose(near.similarities, np.sort(truth)[::-1][: len(near.tasks)])
    scores = stored_scores(pieces, records.tasks[0], records.recipe)
    ways = {
        name: (choice.model_ids, similar)
        for name, choice, similar in union_ways.every_choice(
            replace(learned, whole=known), SeenTask(scores, heard(TASKS[0].name), measures)
        )
    }
    best = known.performance.values[near.tasks].mean(axis=0).argmax()
    assert ways[WHOLE] == ((every[int(best)],), tuple(known.tasks[task] for task in near.tasks))
    assert ways[CENTRAL][0] == (every[int(measures[:, 0].argmax())],)


def models_picked(scored: Any, monkeypatch: pytest.MonkeyPatch, records: MetaRecords) -> UnionPicks:
    """The picks themselves: instead of its rank, the model."""
    with monkeypatch.context() as patch:
        patch.setattr(judging, "model_rank", lambda performance, model: float(model))
        return nested_picks(TASKS, records, scored[1], heard)


def test_the_truth_about_a_group_changes_no_pick_on_it(scored: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    records, _ = scored
    changed = replace(
        records,
        tasks=tuple(
            replace(record, performance=record.performance[::-1].copy()) if record.group == "g1" else record
            for record in records.tasks
        ),
    )
    one, other = (models_picked(scored, monkeypatch, known) for known in (records, changed))
    own = np.array(GROUPS) == "g1"
    for name in one.ranks:
        np.testing.assert_array_equal(one.ranks[name][own], other.ranks[name][own], err_msg=name)
    # The same change does matter where the group is part of the history.
    assert any((one.ranks[name][~own] != other.ranks[name][~own]).any() for name in one.ranks)


def test_every_method_has_an_answer_on_every_task(scored: Any) -> None:
    records, pieces = scored
    found = nested_picks(TASKS, records, pieces, heard)
    assert {*STRATEGIES, BY_AP, ANCHORS, WHOLE, CENTRAL} <= set(found.ranks)
    assert list(found.ranks) == list(found.values)
    for name in found.ranks:
        assert ((found.ranks[name] >= 1) & (found.ranks[name] <= len(SMALL_POOL) + 1)).all(), name
        assert ((found.values[name] > 0) & (found.values[name] <= 1)).all(), name
    assert found.kinds == tuple(KINDS[task.name.split("/")[0]] for task in TASKS)
    assert found.groups == GROUPS
    np.testing.assert_array_equal(found.folds, group_folds(GROUPS, 4))


# What the numbers are


def hand_made() -> UnionPicks:
    """Seven tasks of which the first two are siblings; a KEEL task is akin to a wild one."""
    kinds = ("wild", "wild", "wild", "keel", "odd", "simulated", "simulated")
    groups = ("a", "a", "b", "b", "c", "d", "e")
    ranks = {
        ELECT: np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]),
        "fixed": np.array([10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0]),
        "committee": np.array([1.0, 3.0, 5.0, 7.0, 9.0, 11.0, 13.0]),
    }
    values = {name: 1.0 - found / 100 for name, found in ranks.items()}
    return UnionPicks(kinds, groups, np.array([0, 0, 1, 1, 0, 1, 0]), ranks, values)


def test_judged_numbers() -> None:
    found = compared(hand_made())
    assert found["protocol"] == "strict, 2 folds of sources"
    assert found["n_tasks"] == {"wild": 3, "keel": 1, "odd": 1, "simulated": 2, "union": 5, "all": 7}
    assert found["n_groups"] == {"wild": 2, "keel": 1, "odd": 1, "simulated": 2, "union": 3, "all": 5}
    rows = {row["name"]: row for row in found["methods"]}
    assert list(rows) == [ELECT, "fixed", "committee"]
    wild = rows["committee"]["wild"]
    assert (wild["mean_rank"], wild["median_rank"], wild["mean_ap"]) == (3.0, 3.0, 0.97)
    # The siblings are one voice: (2 + 5) / 2.
    assert wild["mean_rank_groups"] == 3.5
    assert rows["committee"]["union"]["mean_rank"] == 5.0
    assert rows["committee"]["union"]["mean_rank_groups"] == round((2 + 6 + 9) / 3, 1)
    assert rows[ELECT]["all"]["mean_rank"] == 40.0
    assert rows[ELECT]["all"]["mean_ap"] == 0.6
    # By group committee has 2, 6, 9, 11, 13 and the others 15, 35, 50, 60, 70: five that differ the same way.
    assert set(rows["committee"]["all"]["against"]) == {ELECT, "fixed"}
    test = rows["committee"]["all"]["against"][ELECT]
    gaps = np.array([2, 6, 9, 11, 13]) - np.array([15, 35, 50, 60, 70])
    assert test["difference"] == round(gaps.mean(), 2)
    assert test["error"] == round(gaps.std(ddof=1) / np.sqrt(5), 2)
    assert test["p_value"] == 0.0625
    # A method does not differ from another that picks the same.
    assert rows[ELECT]["all"]["against"]["fixed"] == {"difference": 0.0, "error": 0.0, "p_value": 1.0}
    assert rows["committee"]["odd"]["against"][ELECT]["error"] is None  # there is one group
    assert found["expected_rank"] == {}  # too few tasks for an interval


def many(ranks: Any, kinds: Any = None) -> UnionPicks:
    n = len(ranks)
    groups = tuple(f"g{place}" for place in range(n))
    return UnionPicks(tuple(kinds or ["odd"] * n), groups, np.arange(n) % 2, {"committee": ranks}, {"committee": ranks})


def test_coverage_is_counted_outside_the_tasks_that_make_the_interval() -> None:
    rng = np.random.default_rng(0)
    told = coverage(many(rng.uniform(1, 297, 2000)), "committee")
    assert told is not None
    assert abs(told["coverage"]["union"] - 0.9) < 0.02
    assert (told["level"], abs(told["expected"] - 149) < 5) == (0.9, True)
    # The ranks of one fold say nothing about those of the other, and an interval of its own would hold them.
    apart = np.where(np.arange(200) % 2 == 0, rng.uniform(1, 50, 200), rng.uniform(200, 297, 200))
    found = coverage(many(apart), "committee")
    assert found is not None
    assert found["coverage"]["union"] == 0.0
    # Other kinds of tasks are judged by the interval and have no part in it.
    kinds = ["odd", "odd", "texts", "texts"] * 50
    other = np.where(np.array(kinds) == "odd", rng.uniform(1, 50, 200), 297.0)
    mixed = coverage(many(other, kinds), "committee")
    assert mixed is not None
    assert mixed["high"] < 51
    assert mixed["coverage"]["texts"] == 0.0
    assert mixed["coverage"]["odd"] > 0.8


def test_shown_tasks_are_compared_within_a_fold() -> None:
    found = many(np.ones(6))  # folds 0, 1, 0, 1, 0, 1
    same, other = frozenset("abc"), frozenset("ade")
    found.shown["elect"] = {0: same, 2: same, 4: other, 1: same, 3: frozenset("xyz")}
    assert similar_tasks(found, "elect") == {
        "tables": 5,
        "different_sets": 4,
        "largest_share_of_one_set": round(2 / 3, 3),
        "largest_share_of_one_task": 1.0,
    }


@pytest.mark.filterwarnings("error")
def test_a_history_of_one_kind_is_judged_too() -> None:
    found = hand_made()
    same = replace(found, kinds=("simulated",) * 7)
    judged = compared(same)
    assert set(judged["n_tasks"]) == {"simulated", "all"}
    assert judged["methods"][0]["all"] == judged["methods"][0]["simulated"]


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("odds/wine", "wild"),
        ("dami/Glass", "wild"),
        ("keel/yeast1", "keel"),
        ("keel/iris+largest-5%-scattered", "keel"),
        ("keel/iris+largest-5%-scattered+local", "injected"),
        ("keel/iris+global", "injected"),
        ("simulated/x", "simulated"),
        ("odd/AdPerformance", "odd"),
        ("mnist/3", "images"),
        ("optdigits/0", "images"),
        ("resnet18/cifar", "image features"),
        ("bible/genesis-vs-isaiah", "texts"),
    ],
)
def test_kinds_are_told_by_names(name: str, kind: str) -> None:
    assert kind_of(name) == kind


def test_the_stored_ranks_are_those_that_the_expected_rank_comes_from(small_database: MetaDatabase) -> None:
    """They are put into the database that ships, by ``benchmarks/row_scorer.py --union``."""
    stored = json.loads((ROOT / "benchmarks" / "results" / "union.json").read_text(encoding="utf-8"))
    ranks = stored[COMMITTEE_RANKS]
    assert len(ranks) == stored["n_tasks"]["union"] + stored["n_tasks"]["errors"]
    pool = default_pool()
    performance = PerformanceMatrix(np.ones((1, len(pool))), ("task",), pool.ids, "ap")
    # All that the calibration is checked by is the number of models.
    known = replace(
        small_database,
        pool=pool,
        performance=performance,
        groups=("group",),
        measures=np.zeros((1, len(pool), len(small_database.measure_names))),
        anchors=pool.ids[:1],
        initial_models=pool.ids[:1],
        provenance={},
        calibration={COMMITTEE_RANKS: ranks},
    )
    found, told = expected_rank(known, COMMITTEE_RANKS), stored["expected_rank"]["committee"]
    assert found is not None
    assert (round(found.expected, 1), found.low, found.high) == (told["expected"], told["low"], told["high"])


def test_the_section_is_written_anew_and_the_rest_of_the_page_stays(tmp_path: Path) -> None:
    stored = json.loads((ROOT / "benchmarks" / "results" / "union.json").read_text(encoding="utf-8"))
    page = tmp_path / "results.md"
    page.write_text(f"# Results\n\nbefore\n\n{HEADING}\n\nold\n\n## How this was made\n\nafter\n", encoding="utf-8")
    for _ in range(2):
        write_union(page, stored)
        section = "\n\n".join(union_section(stored))
        text = page.read_text(encoding="utf-8")
        assert text == f"# Results\n\nbefore\n\n{section}\n\n## How this was made\n\nafter\n"


def test_the_page_of_results_says_what_the_stored_run_found() -> None:
    """Regenerate: ``python -m benchmarks.results_page strategies docs --union benchmarks/results/union.json``."""
    stored = json.loads((ROOT / "benchmarks" / "results" / "union.json").read_text(encoding="utf-8"))
    section = "\n\n".join(union_section(stored))
    assert section in (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for row in stored["methods"]:
        assert section.count(row["name"]) >= 2  # a row of ranks and one of precision
