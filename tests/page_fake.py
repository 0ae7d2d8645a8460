"""A product that the page can be driven with: small mathematics, no training, and a search that waits when told to."""

import threading
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from elect.core import Candidate, ModelPool, ModelSpec, Neighbor, SearchStep, Selection
from elect.detect.agreement import FamilyAgreement
from elect.page._base import (
    Aim,
    ColumnFacts,
    Download,
    DownloadKind,
    Placed,
    Progress,
    Ranking,
    Reason,
)
from elect.support.arrays import FloatArray

POOL = ModelPool.of([ModelSpec.of("kNN", method="mean", n_neighbors=20), ModelSpec.of("IForest", n_estimators=100)])
FAMILIES = ("IForest", "kNN", "LOF", "HBOS", "LODA", "ABOD", "COF", "OCSVM")
KINDS = ("", "wrong value", "unusual combination", "far from all others")
N_STEPS = 24


def payments(n: int = 2000, seed: int = 0, extra: int = 0) -> pl.DataFrame:
    """A table a person would have: payments, with a few wrong values."""
    rng = np.random.default_rng(seed)
    amount = np.round(rng.lognormal(4.2, 0.7, n), 2)
    fee = np.round(amount * 0.015 + 0.3, 2)
    hour = rng.choice(24, n, p=np.r_[np.full(7, 0.01), np.full(12, 0.07), np.full(5, 0.018)])
    country = rng.choice(["DE", "FR", "NL", "AT", "PL", "IT"], n, p=[0.45, 0.2, 0.14, 0.1, 0.07, 0.04])
    method = rng.choice(["card", "transfer", "invoice"], n, p=[0.7, 0.2, 0.1])
    items = rng.poisson(2.2, n) + 1
    wrong = rng.choice(n, max(4, n // 100), replace=False)
    amount[wrong[::3]] = np.round(amount[wrong[::3]] * 100, 2)
    fee[wrong[1::3]] = -fee[wrong[1::3]]
    items[wrong[2::3]] = 999
    columns: dict[str, object] = {
        "payment": [f"P-{100000 + i}" for i in range(n)],
        "amount": amount,
        "fee": fee,
        "hour": hour,
        "items": items,
        "country": country,
        "method": method,
    }
    for place in range(extra):
        columns[f"measure_{place + 1:02d}"] = np.round(rng.normal(10 * place, 1 + place, n), 3)
    return pl.DataFrame(columns)


class FakeProduct:
    """``hold`` set to an event makes every search wait for it after a few steps; ``pause`` is seconds a step takes."""

    strategy = "elect"

    def __init__(
        self,
        frame: pl.DataFrame,
        name: str = "payments.csv",
        id: str | None = "payment",
        hold: threading.Event | None = None,
        pause: float = 0.0,
        broken: str | None = None,
    ) -> None:
        self.frame = frame
        self.name = name
        self.hold = hold
        self.pause = pause
        self.broken = broken
        self.searches: list[tuple[str, ...]] = []
        self.row_ids = frame[id] if id in frame.columns else pl.int_range(frame.height, eager=True).alias("row")
        self.numbers: Mapping[str, FloatArray] = {
            name: frame[name].cast(pl.Float64).fill_null(float("nan")).to_numpy()
            for name, kind in frame.schema.items()
            if kind.is_numeric()
        }

    def written(self, column: str, number: float) -> str:
        return f"{number:.4g}"

    def search(self, left_out: Sequence[str], strategy: str) -> "FakeSearch":
        self.searches.append(tuple(left_out))
        return FakeSearch(self, tuple(left_out))


class FakeSearch:
    def __init__(self, product: FakeProduct, left_out: tuple[str, ...]) -> None:
        self.product = product
        used = [name for name in product.numbers if name not in left_out]
        if not used:
            used = list(product.numbers)[:1]
        values = np.column_stack([product.numbers[name] for name in used])
        values = np.where(np.isfinite(values), values, np.nanmedian(values, axis=0))
        middle = np.median(values, axis=0)
        spread = np.percentile(np.abs(values - middle), 90, axis=0)
        self.used, self.left_out = used, left_out
        self.middle = middle
        self.z = (values - middle) / np.where(spread > 0, spread, 1.0)
        self.trace: list[SearchStep] = []

    def steps(self) -> Iterator[Progress]:
        if self.product.broken is not None:
            raise RuntimeError(self.product.broken)
        for index in range(N_STEPS):
            if self.product.pause:
                threading.Event().wait(self.product.pause)
            if self.product.hold is not None and index == 6:
                self.product.hold.wait()
            self.trace.append(self._step(index))
            early = FakeFound(self, self.found().selection) if index == 0 else None
            yield Progress(index + 1, N_STEPS, "evaluating models", self.trace[-1], early)

    def _step(self, index: int) -> SearchStep:
        family = FAMILIES[index % len(FAMILIES)]
        pick = Candidate("kNN(method=mean, n_neighbors=20)" if index > 8 else "IForest(n_estimators=100)", 0.52, 0.1)
        neighbors = tuple(Neighbor(f"task {t}", 0.4 + 0.02 * index - 0.05 * t) for t in range(5))
        return SearchStep(
            index,
            "anchor" if index < 3 else "initial" if index < 8 else "adaptive",
            f"{family}(n_neighbors={5 + index})",
            0.4 * np.exp(-index / 6) if index >= 8 else None,
            neighbors,
            pick,
            (),
            0.1 * index,
        )

    def found(self, stopped_because: str | None = None) -> "FakeFound":
        steps = self.trace or [self._step(0)]
        return FakeFound(self, Selection.from_steps(steps, POOL, stopped_because=stopped_because or "patience ran out"))


def ranking_of(z: FloatArray, pick: str) -> Ranking:
    far = np.abs(z)
    top = far.max(axis=1)
    chance = 1 / (1 + np.exp(-(top - 6.0)))
    kind = np.where(top > 2.5 * np.sort(far, axis=1)[:, -2 if far.shape[1] > 1 else -1], 1, 2)
    kind[top > 60] = 3
    kind[top < 3] = 0
    return Ranking(np.clip(chance, 0.001, 0.999), kind.astype(np.int8), KINDS, 0.5, pick)


class FakeFound:
    def __init__(self, search: FakeSearch, selection: Selection) -> None:
        self.search, self.selection = search, selection
        product, used = search.product, search.used
        self.columns = [
            ColumnFacts(
                name,
                "feature" if name in used else "dropped" if name in search.left_out else "id",
                "number" if name in product.numbers else "words",
                "standardised" if name in used else "left out",
                "it holds numbers" if name in used else "as asked",
                product.frame[name].null_count() / product.frame.height,
            )
            for name in product.frame.columns
        ]
        near = np.abs(np.subtract.outer(np.arange(8), np.arange(8)))
        self.agreement = FamilyAgreement(FAMILIES, np.round(1 - 0.13 * near, 2))
        self.notes = ["the labels played no part"]
        self.told: list[tuple[int, bool | None]] = []

    def ranking(self) -> Ranking:
        plain = ranking_of(self.search.z, self.selection.model_id)
        odds = np.log(plain.chance / (1 - plain.chance))
        squeezed = np.tanh(self.search.z / 20)
        for position, said in self.told:
            if said is not None:
                like = np.exp(-((squeezed - squeezed[position]) ** 2).sum(axis=1) / 0.05)
                odds += (3.0 if said else -3.0) * like
        chance = 1 / (1 + np.exp(-odds))
        for position, said in self.told:
            if said is not None:
                chance[position] = 0.99 if said else 0.01
        return Ranking(chance, plain.kind, plain.kinds, 0.5, plain.pick)

    def reasons(self, positions: Sequence[int]) -> list[list[Reason]]:
        found = []
        for position in positions:
            far = np.abs(self.search.z[position])
            order = [int(place) for place in np.argsort(-far)[:3] if far[place] > 2.5]
            total = float(far.sum()) or 1.0
            found.append(
                [
                    Reason(
                        self.search.used[i],
                        str(self.search.product.frame[self.search.used[i]][position]),
                        f"median {self.search.middle[i]:,.6g}",
                        float(far[i]) / total,
                    )
                    for i in order
                ]
            )
        return found

    def placed(self) -> Placed:
        z = np.clip(self.search.z, -3, 3)
        chance = self.ranking().chance
        rest = np.random.default_rng(0).permutation(len(z))[:1500]
        positions = np.unique(np.concatenate([np.argsort(-chance)[:100], rest]))
        _, _, directions = np.linalg.svd(z - z.mean(axis=0), full_matrices=False)
        plane = z @ directions[:2].T if z.shape[1] > 1 else np.column_stack([z, z])
        low, high = plane.min(axis=0), plane.max(axis=0)
        note = f"{len(positions):,} of {len(z):,} rows along the two directions in which the table varies most."
        return Placed(positions, ((plane - low) / np.where(high > low, high - low, 1))[positions], note)

    def ordinary_like(self, position: int) -> int | None:
        ordinary = np.flatnonzero(self.ranking().chance < 0.1)
        if len(ordinary) == 0:
            return None
        away = ((np.tanh(self.search.z[ordinary]) - np.tanh(self.search.z[position])) ** 2).sum(axis=1)
        return int(ordinary[np.argmin(away)])

    def model_scores(self, model_id: str) -> FloatArray:
        return np.abs(self.search.z) @ np.random.default_rng(len(model_id)).random(self.search.z.shape[1])

    def ask(self, aim: Aim) -> int | None:
        chance = self.ranking().chance
        wanted = chance if aim == "find" else -np.abs(chance - 0.5)
        wanted = wanted.copy()
        wanted[[position for position, _ in self.told]] = -np.inf
        best = int(np.argmax(wanted))
        return best if np.isfinite(wanted[best]) else None

    def tell(self, position: int, said: bool | None) -> str:
        assert position not in [told for told, _ in self.told], "a row is told once"
        self.told.append((position, said))
        return ""

    def undo(self) -> None:
        self.told.pop()

    def download(self, kind: DownloadKind, ranking: Ranking, threshold: float) -> Download:
        product = self.search.product
        stem = product.name.rsplit(".", 1)[0]
        if kind == "csv":
            table = product.frame.with_columns(
                elect_chance=pl.Series(ranking.chance),
                elect_outlier=pl.Series(ranking.chance >= threshold).cast(pl.Int8),
            )
            return Download(f"{stem}.outliers.csv", "text/csv", table.write_csv().encode())
        return Download(f"{stem}.{kind}", "application/octet-stream", kind.encode())

    def snippet(self, threshold: float) -> str:
        return f"from elect import ElectDetector\n\ndetector = ElectDetector().fit(table)  # {threshold:.2f}"
