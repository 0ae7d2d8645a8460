"""A fitted committee as plain numbers, arrays and texts, and back. Going back everything is checked before use."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elect.committee.committee import Committee, FittedCommittee
from elect.committee.features import RowTable
from elect.committee.scorer import RowScorer
from elect.committee.voices import FAMILIES, Voices
from elect.errors import StoreError
from elect.storage.stored import Stored
from elect.tables.cells import NAMES, CellJudge
from elect.tables.cells.given import GivenJudge
from elect.tables.cells.numbers import MOST_DECIMALS, NumberJudge, Scale
from elect.tables.cells.words import WordColumn, WordJudge


@dataclass(frozen=True)
class PlainCommittee:
    """What a file holds of a committee."""

    content: Mapping[str, Any]
    arrays: Mapping[str, NDArray[Any]]
    texts: Mapping[str, str]


_SCALES = ("scale", "log_scale")


def committee_to_plain(fitted: FittedCommittee) -> PlainCommittee:
    """A committee with its voices."""
    committee = fitted.committee
    scorer, judge, table = committee.scorer, committee.judge, committee.table
    numbers, arrays = fitted.voices.plain()
    held: dict[str, Any] = {f"voices_{name}": array for name, array in arrays.items()}
    for field in fields(NumberJudge):
        value = getattr(judge.numbers, field.name)
        if field.name in _SCALES:
            held |= {f"numbers_{field.name}_{part}": array for part, array in vars(value).items()}
        else:
            held[f"numbers_{field.name}"] = value
    held |= {f"given_{f.name}": getattr(judge.given, f.name) for f in fields(GivenJudge) if f.name != "levels"}
    held |= {f"table_{f.name}": getattr(table, f.name) for f in fields(RowTable) if f.name != "families"}
    held |= {"calibration": scorer.calibration, "reliability": scorer.reliability}
    held = {name: _narrow(array) for name, array in held.items()}
    content: dict[str, Any] = {
        "families": list(scorer.families),
        "voices": numbers,
        "levels": [list(levels) for levels in judge.given.levels],
        "words": [asdict(column) for column in judge.words.columns],
    }
    texts = {"wrong": scorer.wrong, "unusual": scorer.unusual}
    if scorer.own:
        texts["own"], content["own_weight"] = scorer.own, scorer.own_weight
    return PlainCommittee(content, held, texts)


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    """Files hold no 64-bit integers and no truth values; row counts and places fit 32 bits."""
    return array.astype(np.int32) if array.dtype.kind in "bi" else array


def committee_from_plain(plain: PlainCommittee, n_features: int, n_jobs: int) -> FittedCommittee:
    """The committee that was stored; it judges rows exactly the same."""
    content = plain.content
    if tuple(content["families"]) != FAMILIES:
        raise StoreError("Its committee listens to other models than this version of elect: fit and save it again.")
    stored = Stored(content["voices"], plain.arrays, n_features, n_jobs)
    scorer = RowScorer(
        FAMILIES,
        plain.texts["wrong"],
        plain.texts["unusual"],
        stored.array("calibration", (4,)),
        np.asarray(plain.arrays["reliability"], dtype=np.float64),
        plain.texts.get("own", ""),
        float(content.get("own_weight", 0.0)),
    )
    voices = Voices.restore(Stored(content["voices"], stored.part("voices_").arrays, n_features, n_jobs))
    levels = tuple(tuple(_text(word) for word in known) for known in content["levels"])
    words = tuple(_word_column(column) for column in content["words"])
    if len(levels) != len(words):
        raise StoreError("Its committee has levels for other columns than those of words.")
    numbers = _numbers(stored.part("numbers_"))
    judge = CellJudge(numbers, WordJudge(words), _given(stored.part("given_"), levels, len(numbers.counts)))
    return FittedCommittee.of(Committee(scorer, judge, _table(stored.part("table_"))), voices)


def _array(stored: Stored, name: str, shape: tuple[int | None, ...], dtype: Any = np.float64) -> Any:
    """An array of this type and shape, which may be empty."""
    found = stored.arrays.get(name)
    kept = np.float64 if dtype is np.float64 else np.int32
    if found is None or found.dtype != kept or found.ndim != len(shape):
        raise StoreError(f"Its array {name!r} is missing or of another type or shape than expected.")
    if any(wanted is not None and size != wanted for size, wanted in zip(found.shape, shape, strict=True)):
        raise StoreError(f"Its array {name!r} has another size than expected.")
    if found.dtype.kind == "f" and not np.isfinite(found).all():
        raise StoreError(f"Its array {name!r} must hold finite numbers.")
    return found.astype(dtype, copy=False)


def _numbers(stored: Stored) -> NumberJudge:
    counts = _array(stored, "counts", (None,), np.int64)
    k = len(counts)
    plain, logs = (_scale(stored, name, k) for name in _SCALES)
    starts, distinct = _array(stored, "starts", (k + 1,), np.int64), _array(stored, "distinct", (None,))
    if starts[0] != 0 or starts[-1] != len(distinct) or bool((np.diff(starts) < 0).any()):
        raise StoreError("It points outside of its own arrays.")
    return NumberJudge(
        plain,
        logs,
        _array(stored, "positive", (k,), np.bool_),
        starts,
        distinct,
        _array(stored, "at_most", (len(distinct),), np.int64),
        _array(stored, "stretch", (len(distinct),)),
        counts,
        _array(stored, "decimals", (k, MOST_DECIMALS + 1)),
        _array(stored, "missing", (k,)),
        _array(stored, "negative", (k,)),
        _array(stored, "zero", (k,)),
        _array(stored, "is_time", (k,), np.bool_),
    )


def _scale(stored: Stored, name: str, k: int) -> Scale:
    scale = Scale(*(_array(stored, f"{name}_{part}", (k,)) for part in ("middle", "up", "down")))
    if not bool((scale.up > 0).all() and (scale.down > 0).all()):
        raise StoreError("The spreads of its columns must be positive.")
    return scale


def _given(stored: Stored, levels: tuple[tuple[str, ...], ...], k: int) -> GivenJudge:
    kept = _array(stored, "number_kept", (2, k), np.bool_)
    p = int(kept.sum()) + sum(map(len, levels))
    pairs = _array(stored, "pairs", (None, 2), np.int64)
    if bool(((pairs < 0) | (pairs >= k)).any()):
        raise StoreError("It points outside of its own arrays.")
    return GivenJudge(
        levels,
        kept,
        _array(stored, "mean", (p,)),
        _array(stored, "spread", (p,)),
        _array(stored, "forecast", (p, p)),
        _array(stored, "noise", (p,)),
        pairs,
        _array(stored, "broken", (len(pairs),)),
    )


def _table(stored: Stored) -> RowTable:
    m = len(FAMILIES)
    names = 3 + 3 * len(NAMES) + 2 * len(set(FAMILIES))
    return RowTable(
        FAMILIES,
        stored.array("scores", (m, None)),
        stored.array("middle", (m,)),
        stored.array("spread", (m,)),
        stored.array("tops", (len(NAMES), None)),
        stored.array("context", (names,)),
    )


def _word_column(plain: Mapping[str, Any]) -> WordColumn:
    signals = {_text(word): tuple(map(float, told)) for word, told in plain["words"].items()}
    if not all(len(told) == 3 for told in signals.values()):
        raise StoreError("The signals of its words must be three numbers each.")
    return WordColumn(
        signals,  # type: ignore[arg-type]
        {_text(word): int(count) for word, count in plain["counts"].items()},
        {_text(form): float(value) for form, value in plain["forms"].items()},
        {_text(part): (_text(hit[0]), int(hit[1])) for part, hit in plain["near"].items()},
        float(plain["apart"]),
        float(plain["unseen"]),
        float(plain["unseen_form"]),
        float(plain["missing"]),
        int(plain["rows"]),
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise StoreError("Its committee holds something else where a text is expected.")
    return value
