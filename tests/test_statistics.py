"""The statistics against hand-computed values, scipy, and their own definitions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from elect.bench.statistics import (
    RankComparison,
    bootstrap_interval,
    compare_ranks,
    model_rank,
    qth_best,
    value_rank,
    wilcoxon_p,
)
from elect.errors import InvalidInput

rows = st.lists(st.integers(0, 5).map(lambda v: v / 5), min_size=1, max_size=30)


class TestModelRank:
    @given(rows)
    def test_agrees_with_mean_ranks(self, row: list[float]) -> None:
        expected = stats.rankdata(-np.array(row))
        assert [model_rank(row, i) for i in range(len(row))] == expected.tolist()

    @given(rows, st.integers(0, 5).map(lambda v: v / 5))
    def test_an_outsider_ranks_as_if_it_were_one_of_the_models(self, row: list[float], value: float) -> None:
        assert value_rank(row, value) == model_rank([*row, value], len(row))

    def test_direction(self) -> None:
        assert model_rank([0.1, 0.9], 1) == 1.0
        assert model_rank([0.1, 0.9], 0) == 2.0

    @pytest.mark.parametrize("chosen", [-1, 2])
    def test_an_unknown_position_is_refused(self, chosen: int) -> None:
        with pytest.raises(InvalidInput, match="one of the 2 models"):
            model_rank([0.1, 0.9], chosen)


class TestWilcoxon:
    def test_agrees_with_scipy(self) -> None:
        rng = np.random.default_rng(0)
        a, b = rng.normal(size=39), rng.normal(0.3, size=39)
        for alternative in ("two-sided", "less", "greater"):
            expected = stats.wilcoxon(a, b, alternative=alternative).pvalue
            assert wilcoxon_p(a, b, alternative) == pytest.approx(expected)  # type: ignore[arg-type]

    def test_direction(self) -> None:
        low, high = np.arange(12.0), np.arange(12.0) * 1.1 + 0.5
        assert wilcoxon_p(low, high, "less") < 0.001
        assert wilcoxon_p(low, high, "greater") > 0.999
        assert wilcoxon_p(high, low, "greater") < 0.001

    @pytest.mark.parametrize("alternative", ["two-sided", "less", "greater"])
    def test_all_equal_is_no_difference(self, alternative: str) -> None:
        assert wilcoxon_p([0.1, 0.2], [0.1, 0.2], alternative) == 1.0  # type: ignore[arg-type]
        assert wilcoxon_p([], [], alternative) == 1.0  # type: ignore[arg-type]

    def test_differences_equal_but_for_rounding_tie(self) -> None:
        tens = np.random.default_rng(0).integers(0, 10, size=(2, 30))
        assert len(set((tens[0] / 10 - tens[1] / 10).tolist())) > len(set((tens[0] - tens[1]).tolist()))
        assert wilcoxon_p(tens[0] / 10, tens[1] / 10) == wilcoxon_p(tens[0], tens[1])
        assert wilcoxon_p([0.1 + 0.2] * 8, [0.3] * 8) == 1.0

    @given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=25))
    @settings(deadline=None)
    def test_always_a_probability_and_symmetric(self, pairs: list[tuple[int, int]]) -> None:
        a, b = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        p = wilcoxon_p(a, b)
        assert 0 <= p <= 1
        assert wilcoxon_p(b, a) == pytest.approx(p)

    def test_what_cannot_be_compared_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="as many values"):
            wilcoxon_p([1.0], [1.0, 2.0])
        with pytest.raises(InvalidInput, match="finite"):
            wilcoxon_p([np.nan], [1.0])
        with pytest.raises(InvalidInput, match="alternative"):
            wilcoxon_p([1.0], [1.0], "worse")  # type: ignore[arg-type]


class TestQthBest:
    @pytest.fixture
    def performance(self) -> np.ndarray:
        return np.random.default_rng(0).uniform(size=(40, 100))

    @pytest.mark.parametrize("rank", [1, 30, 100])
    def test_always_picking_the_qth_best_is_found(self, performance: np.ndarray, rank: int) -> None:
        achieved = -np.sort(-performance, axis=1)[:, rank - 1]
        found = qth_best(achieved, performance)
        assert found.position == rank
        assert found.percent == pytest.approx(rank)
        assert found.p_value == 1.0

    def test_by_definition(self, performance: np.ndarray) -> None:
        """The rival found is not significantly better; every one before it is."""
        rng = np.random.default_rng(1)
        chosen = np.minimum(rng.geometric(1 / 25, size=40), 100) - 1
        best_first = -np.sort(-performance, axis=1)
        achieved = best_first[np.arange(40), chosen]
        found = qth_best(achieved, performance)
        assert found.position is not None
        assert 1 < found.position < 60
        p_values = [wilcoxon_p(achieved, best_first[:, q]) for q in range(found.position)]
        assert max(p_values[:-1]) < 0.05 <= p_values[-1] == found.p_value

    def test_a_better_method_has_a_smaller_q(self, performance: np.ndarray) -> None:
        best_first = -np.sort(-performance, axis=1)
        rng = np.random.default_rng(2)
        spread = rng.integers(0, 30, size=40)
        better, worse = (qth_best(best_first[np.arange(40), spread + shift], performance) for shift in (0, 40))
        assert better.position is not None
        assert worse.position is not None
        assert better.position < worse.position

    def test_one_sided_rejects_more_easily(self, performance: np.ndarray) -> None:
        achieved = performance[:, 0]
        two, one = qth_best(achieved, performance), qth_best(achieved, performance, alternative="less")
        assert two.position is not None
        assert one.position is not None
        assert one.position >= two.position

    def test_better_than_every_model_and_worse_than_every_model(self, performance: np.ndarray) -> None:
        assert qth_best(performance.max(axis=1) + 1, performance).position == 1
        found = qth_best(performance.min(axis=1) - 1, performance)
        assert (found.position, found.percent) == (None, None)
        assert found.p_value < 0.05

    def test_a_gap_is_jumped(self) -> None:
        """Significantly worse than one rival and significantly better than the next: the next is the answer."""
        assert qth_best([0.5] * 10, [[0.9, 0.1, 0.0]] * 10).position == 2

    def test_what_does_not_fit_is_refused(self, performance: np.ndarray) -> None:
        with pytest.raises(InvalidInput, match="39 tasks x models"):
            qth_best(performance[:39, 0], performance)
        with pytest.raises(InvalidInput, match="bound from above"):
            qth_best(performance[:, 0], performance, alternative="greater")


class TestBootstrap:
    def test_close_to_the_textbook_interval_of_a_mean(self) -> None:
        values = np.random.default_rng(0).normal(10, 2, size=400)
        interval = bootstrap_interval(values, np.mean, seed=1)
        half = 1.96 * values.std() / 20
        assert interval.estimate == pytest.approx(values.mean())
        assert interval.low == pytest.approx(values.mean() - half, abs=0.05)
        assert interval.high == pytest.approx(values.mean() + half, abs=0.05)

    def test_seed_and_level(self) -> None:
        values = np.random.default_rng(0).normal(size=30)
        first = bootstrap_interval(values, np.median, seed=1, n=500)
        assert first == bootstrap_interval(values, np.median, seed=1, n=500)
        assert first != bootstrap_interval(values, np.median, seed=2, n=500)
        narrow = bootstrap_interval(values, np.median, seed=1, n=500, level=0.5)
        assert first.low < narrow.low <= narrow.high < first.high

    def test_copies_of_a_value_are_not_evidence(self) -> None:
        """Ten copies of each of eight values: by group the interval is that of the eight."""
        eight = np.random.default_rng(0).normal(size=8)
        values, groups = np.repeat(eight, 10), np.repeat(np.arange(8), 10).tolist()
        alone = bootstrap_interval(values, np.mean, seed=0)
        by_group = bootstrap_interval(values, np.mean, seed=0, groups=groups)
        of_eight = bootstrap_interval(eight, np.mean, seed=0)
        assert (by_group.low, by_group.high) == pytest.approx((of_eight.low, of_eight.high))
        assert by_group.high - by_group.low > 2 * (alone.high - alone.low)

    def test_whole_groups_are_drawn(self) -> None:
        seen: list[tuple[float, ...]] = []

        def record(drawn: np.ndarray) -> float:
            seen.append(tuple(drawn))
            return 0.0

        bootstrap_interval([1, 2, 10], record, seed=0, n=50, groups=["a", "a", "b"])
        assert len({len(drawn) for drawn in seen}) > 1
        for drawn in seen:
            assert drawn.count(1.0) == drawn.count(2.0)

    def test_one_value(self) -> None:
        interval = bootstrap_interval([3.0], np.mean, seed=0, n=10)
        assert (interval.low, interval.high) == (3.0, 3.0)

    @pytest.mark.parametrize(
        ("values", "options"),
        [([], {}), ([1.0], {"n": 0}), ([1.0], {"level": 1.0}), ([1.0, 2.0], {"groups": ["a"]}), ([np.nan], {})],
    )
    def test_what_cannot_be_resampled_is_refused(self, values: list[float], options: dict[str, object]) -> None:
        with pytest.raises(InvalidInput):
            bootstrap_interval(values, np.mean, seed=0, **options)  # type: ignore[arg-type]


class TestCompareRanks:
    @settings(deadline=None)
    @given(st.integers(0, 2**32 - 1), st.integers(3, 8), st.integers(3, 30), st.booleans())
    def test_friedman_agrees_with_scipy(self, seed: int, k: int, n: int, ties: bool) -> None:
        values = np.random.default_rng(seed).integers(0, 4 if ties else 10**6, size=(n, k)).astype(float)
        if all(len(set(row)) == 1 for row in values):
            return
        expected = stats.friedmanchisquare(*values.T)
        found = compare_ranks(values, [str(i) for i in range(k)])
        assert found.chi_square == pytest.approx(expected.statistic)
        assert found.p_value == pytest.approx(expected.pvalue)
        assert found.mean_ranks.sum() == pytest.approx(k * (k + 1) / 2)

    @pytest.mark.parametrize(("k", "q"), [(2, 1.960), (5, 2.728), (10, 3.164)])
    def test_critical_difference_of_demsars_table(self, k: int, q: float) -> None:
        values = np.random.default_rng(0).normal(size=(30, k))
        found = compare_ranks(values, [str(i) for i in range(k)])
        assert found.critical_difference == pytest.approx(q * np.sqrt(k * (k + 1) / (6 * 30)), rel=1e-3)

    def test_all_tied(self) -> None:
        found = compare_ranks(np.ones((5, 3)), ["a", "b", "c"])
        assert (found.chi_square, found.p_value) == (0.0, 1.0)
        assert found.cliques == (("a", "b", "c"),)

    def test_best_first(self) -> None:
        found = compare_ranks([[0.1, 0.9, 0.5]] * 3, ["poor", "good", "fair"])
        assert found.ordered == (("good", 1.0), ("fair", 2.0), ("poor", 3.0))
        with pytest.raises(ValueError):
            found.mean_ranks[0] = 0.0

    def test_cliques(self) -> None:
        def bars(ranks: list[float]) -> tuple[tuple[str, ...], ...]:
            names = tuple("abcdef"[: len(ranks)])
            return RankComparison(names, np.array(ranks), 10, 0.0, 1.0, 1.0, 0.05).cliques

        # d is out of reach of b but not of c, so that the bars overlap.
        assert bars([1.0, 1.9, 2.8, 3.0]) == (("a", "b"), ("b", "c"), ("c", "d"))
        # What lies inside a longer bar gets none.
        assert bars([1.0, 1.2, 1.9]) == (("a", "b", "c"),)
        assert bars([1.0, 3.0, 5.0]) == ()
        assert bars([3.0, 1.0, 3.5]) == (("a", "c"),)

    def test_what_does_not_fit_is_refused(self) -> None:
        with pytest.raises(InvalidInput, match="at least 2 methods"):
            compare_ranks([[1.0]], ["a"])
        with pytest.raises(InvalidInput, match="finite"):
            compare_ranks([[1.0, np.nan]], ["a", "b"])
