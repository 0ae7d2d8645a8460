"""From the columns of a table to the steps of a treatment: decide, encode, scale, leave out what repeats."""

from collections.abc import Collection, Sequence
from hashlib import blake2b

import numpy as np

from elect.support import wording
from elect.support.arrays import FloatArray
from elect.tables.decide import Decision, decide
from elect.tables.encoders import BooleanEncoder, NumberEncoder
from elect.tables.features import ColumnStep, ColumnSummary, Feature
from elect.tables.table import Table

SMALLEST_SPREAD = 1e-150  # a column that varies less is constant: squares of its differences are 0


class Learned:
    """The steps learned so far, with the features of the table they were learned from."""

    def __init__(self) -> None:
        self.steps: list[ColumnStep] = []
        self.summaries: list[ColumnSummary] = []
        self.blocks: list[FloatArray] = []
        self._holder: dict[str, str] = {}  # digest of what a column holds -> the first column that holds it

    def add(self, table: Table, name: str, scale: bool) -> None:
        """Learn one more column."""
        series = table.frame[name]
        decision = decide(name, series, table.decimal)
        if decision.encoder is None:
            return self._drop(name, decision, decision.why)
        encoded = decision.encoder.encode(series)
        kept = tuple(int(position) for position in np.flatnonzero(np.ptp(encoded, axis=0) > SMALLEST_SPREAD))
        if not kept:
            return self._drop(name, decision, f"the same value in every row{_constant(decision)}")
        encoded = np.ascontiguousarray(encoded[:, list(kept)])
        twin = self._holder.setdefault(blake2b(encoded.tobytes(), digest_size=16).hexdigest(), name)
        if twin != name:
            return self._drop(name, decision, f"it says the same as column {twin!r} in every row")
        step = ColumnStep(name, decision.encoder, kept, _features(name, decision, kept, encoded, scale))
        self.steps.append(step)
        self.blocks.append(step.scale(encoded))
        done, why = decision.done, decision.why
        if {feature.part for feature in step.features} == {"missing"}:
            done, why = "one 0/1 column says where it is missing", f"all other values are the same{_constant(decision)}"
        names = tuple(feature.name for feature in step.features)
        self.summaries.append(ColumnSummary(name, "feature", decision.kind, done, why, decision.missing, names))
        return None

    def _drop(self, name: str, decision: Decision, why: str) -> None:
        self.summaries.append(ColumnSummary(name, "dropped", decision.kind, "dropped", why, decision.missing))


def learn(table: Table, used: Collection[str], scale: bool) -> Learned:
    """Learn the used columns, in the order of the table."""
    learned = Learned()
    for name in table.columns:
        if name in used:
            learned.add(table, name, scale)
    return learned


def _constant(decision: Decision) -> str:
    encoder = decision.encoder
    if isinstance(encoder, NumberEncoder):
        return f": {wording.number(encoder.fill)}"
    if isinstance(encoder, BooleanEncoder):
        return f": {'true' if encoder.fill else 'false'}"
    return ""


def _features(
    name: str, decision: Decision, kept: Sequence[int], encoded: FloatArray, scale: bool
) -> tuple[Feature, ...]:
    assert decision.encoder is not None
    outputs = [decision.encoder.outputs[position] for position in kept]
    parts = [output.part for output in outputs]
    center, factor = standard(encoded, parts) if scale else (np.zeros(len(kept)), np.ones(len(kept)))
    return tuple(
        Feature(name + output.suffix, name, output.part, float(middle), float(by))
        for output, middle, by in zip(outputs, center, factor, strict=True)
    )


def standard(encoded: FloatArray, parts: Sequence[str]) -> tuple[FloatArray, FloatArray]:
    """Center and scale of each feature of one input column, which weighs 1 as a whole.

    Each part gets the same share of a variance of 1; the features of a part share one scale, so that any two categories
    are as far apart as any other two.

    >>> center, scale = standard(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]), ["category"] * 3)
    >>> float((np.square(scale) * 2 / 9).sum().round(12))  # each 0/1 column has variance 2/9
    1.0
    """
    center: FloatArray = encoded.mean(axis=0)
    variance = np.square(encoded - center).mean(axis=0)
    total = {part: sum(v for v, p in zip(variance, parts, strict=True) if p == part) for part in parts}
    return center, np.array([1.0 / np.sqrt(total[part] * len(total)) for part in parts])
