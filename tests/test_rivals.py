"""The rivals on a table with wrong values, and how methods are judged there."""

from datetime import date, timedelta

import numpy as np
import polars as pl
import pytest

from elect.bench.rivals import RIVALS, cell_z_scores, largest_z_score, usual_preprocessing
from elect.bench.testbeds import ErrorTask, WrongCell
from elect.bench.wrongvalues import Judged, judge, summarize
from elect.errors import InvalidInput


def table(n: int = 300) -> pl.DataFrame:
    rng = np.random.default_rng(0)
    days = [date(2020, 1, 1) + timedelta(days=int(k)) for k in rng.integers(0, 900, n)]
    height: list[float | None] = rng.normal(170, 9, n).tolist()
    height[7], height[11] = 1700.0, None
    days[20] = date(1900, 1, 1)
    city = rng.choice(["Bern", "Basel", "Zurich"], n).tolist()
    city[30] = "Brn"
    return pl.DataFrame(
        {
            "height": height,
            "age": rng.integers(18, 80, n),
            "member": rng.integers(0, 2, n).astype(bool),
            "city": city,
            "code": [f"A{k}" for k in range(n)],
            "since": days,
        }
    )


def task() -> ErrorTask:
    cells = (
        WrongCell(7, "height", "decimal"),
        WrongCell(20, "since", "sentinel"),
        WrongCell(30, "city", "misspelling"),
    )
    y = np.zeros(300, dtype=np.int8)
    y[[7, 20, 30]] = 1
    return ErrorTask("toy+mixed-1", "toy", table(), y, cells)


def test_the_usual_preprocessing() -> None:
    X = usual_preprocessing(table())
    # height, age, member, four cities and the date; a code that is never the same twice has one frequency.
    assert X.shape == (300, 8)
    assert np.isfinite(X).all()
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(X.std(axis=0), 1)
    many = pl.DataFrame({"street": [f"s{k % 30}" for k in range(61)]})
    assert usual_preprocessing(many).shape == (61, 1)
    assert usual_preprocessing(pl.DataFrame({"same": ["x"] * 9})).tolist() == [[0.0]] * 9


@pytest.mark.parametrize("name", sorted(RIVALS))
def test_rivals_find_gross_errors(name: str) -> None:
    scores = RIVALS[name](table())
    assert scores.shape == (300,)
    assert np.isfinite(scores).all()
    assert 7 in np.argsort(-scores)[:15]
    np.testing.assert_array_equal(scores, RIVALS[name](table()))


def test_z_scores_name_the_cell() -> None:
    z = cell_z_scores(table())
    assert [int(z[row].argmax()) for row in (7, 20)] == [0, 5]
    assert z[30, 3] > 2.5 > z[31, 3]
    assert z[11, 0] == 0  # a missing value is not far out
    np.testing.assert_array_equal(largest_z_score(table()), z.max(axis=1))
    assert cell_z_scores(pl.DataFrame({"a": [0.0] * 8 + [5.0]}))[:, 0].argmax() == 8  # no median deviation


def test_a_ranking_and_the_cells_it_names_are_judged() -> None:
    perfect = task().y.astype(float)
    named = ["height" if row in (7, 30) else None for row in range(300)]
    assert judge(task(), perfect, named) == Judged("toy+mixed-1", "toy", 1.0, 3, 1)
    assert judge(task(), perfect).named is None
    assert judge(task(), -perfect).ap < 0.02
    assert judge(task(), -perfect, ["height"] * 300).found == 0
    with pytest.raises(InvalidInput, match="300 rows"):
        judge(task(), perfect[:5])


def test_standard_errors_are_by_group() -> None:
    rng = np.random.default_rng(1)
    ap = rng.random(20)
    single = summarize("m", [Judged(str(k), str(k), float(a)) for k, a in enumerate(ap)])
    assert single.standard_error == pytest.approx(ap.std(ddof=1) / np.sqrt(20))
    # The same task four times in a group is no more evidence than once.
    fourfold = summarize("m", [Judged(f"{k}{i}", str(k), float(a)) for k, a in enumerate(ap) for i in range(4)])
    assert fourfold.standard_error == pytest.approx(single.standard_error)
    assert (fourfold.tasks, fourfold.groups, fourfold.named_first) == (80, 20, None)
    assert np.isnan(summarize("m", [Judged("a", "g", 0.5)]).standard_error)
    with pytest.raises(InvalidInput, match="at least one task"):
        summarize("m", [])
