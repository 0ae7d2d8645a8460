"""A fitted detector in a file: the model, its column treatment, its threshold and how it was elected.

The file is a checksummed zip of JSON and plain arrays, and loading it executes nothing. A detector class of the user's
own can only be pickled, and a pickle can run anything: both ways are refused unless asked for with ``trust``.
"""

import pickle
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from os import PathLike
from typing import Any, Literal, TypeVar

import numpy as np

from elect.answers.model import AnswerModel
from elect.committee.committee import FittedCommittee
from elect.committee.storing import PlainCommittee, committee_from_plain, committee_to_plain
from elect.core import Candidate, Neighbor, RankInterval, SearchStep, Selection
from elect.core.models import ModelSpec
from elect.detect.detection import Detection
from elect.detect.explaining import Explainer
from elect.detect.options import Options
from elect.detect.scorers import TableScorer
from elect.errors import ElectError, StoreError
from elect.pool.detectors import PlainDetector, new_detector
from elect.pool.families import FAMILIES
from elect.pool.standardize import Standardizer
from elect.storage import archive
from elect.storage.stored import Stored, is_number
from elect.support.arrays import FloatArray
from elect.support.threads import n_threads
from elect.tables import ColumnTreatment
from elect.tables.profile import TableProfile

KIND = archive.Kind("elect-detector", version=1, max_bytes=2 * 2**30, remedy="Get the file again, or make a new one.")
MOST_SCORES = 1_000_000
"""Of longer tables evenly spaced order statistics of the training scores are kept: enough for probabilities."""


@dataclass(frozen=True, eq=False)
class SavedDetector:
    """What a file holds, and what new rows are scored with: the fitted detector, what is done with the columns (None:
    it takes arrays), the threshold, how it was elected, the scores of the rows it was made from, what reasons for new
    rows are made from (None: saved without), the committee (None: the detector alone scores rows), the answers that
    were given, and how the columns were spread (None: saved without)."""

    selection: Selection
    detector: Any
    treatment: ColumnTreatment | None
    contamination: float | Literal["auto"]
    threshold: float
    scores: FloatArray
    mean_score: float
    spread_of_scores: float
    explainer: Explainer | None = None
    committee: FittedCommittee | None = None
    answers: AnswerModel | None = None
    profile: TableProfile | None = None

    @property
    def scorer(self) -> TableScorer:
        """What scores new rows."""
        return TableScorer(self.detector, self.treatment, self.committee, self.answers)


def kept(detection: Detection, explainer: Explainer | None = None, *, profiled: bool = True) -> SavedDetector:
    """What of a detection is of use for new rows. How columns are spread takes a moment, and can be left out."""
    return SavedDetector(
        selection=detection.selection,
        detector=detection.detector,
        treatment=detection.treatment,
        contamination=detection.options.contamination,
        threshold=detection.threshold,
        scores=detection.scores,
        mean_score=float(np.mean(detection.scores)),
        spread_of_scores=float(np.std(detection.scores)),
        explainer=explainer,
        committee=detection.scorer.committee,
        answers=detection.scorer.answers,
        profile=detection.profile if profiled else None,
    )


def saved_bytes(saved: SavedDetector, *, trust: bool = False) -> bytes:
    """The bytes of the file of a fitted detector."""
    return archive.pack(_archive(saved, trust), KIND)


def load_saved(path: str | PathLike[str], *, trust: bool = False, n_jobs: int | None = None) -> SavedDetector:
    """What a file holds. Nothing is executed."""
    data = archive.read(path, KIND)
    with archive.refusing(str(path), KIND):
        found = archive.unpack(data, KIND)
    if found.raw and not trust:
        raise StoreError(
            f"{path} holds a pickle, which can run anything when loaded. If you made it yourself, "
            "pass --trust (trust=True)."
        )
    with archive.refusing(str(path), KIND):
        try:
            return _restore(found, n_threads(n_jobs))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, ElectError):
                raise
            raise StoreError(f"It is incomplete ({type(error).__name__}).") from None


# Writing


def _archive(saved: SavedDetector, trust: bool) -> archive.Archive:
    inner = saved.detector
    spec: ModelSpec = inner._spec()
    numbers: dict[str, Any] = {}
    arrays: dict[str, Any] = {}
    raw: dict[str, bytes] = {}
    if isinstance(inner, PlainDetector):
        if not trust:
            raise StoreError(
                f"{spec.id} is not a detector of the engine: it can only be saved as a pickle, which runs code when "
                "loaded. Pass --trust (trust=True) to save and to load it so."
            )
        raw["detector"] = pickle.dumps(inner.fitted_)
    else:
        numbers, arrays = inner.fitted_.plain()
    scores = np.asarray(saved.scores, dtype=np.float64)
    if len(scores) > MOST_SCORES:
        scores = np.sort(scores)[np.linspace(0, len(scores) - 1, MOST_SCORES).astype(np.intp)]
    arrays = {f"model_{name}": values for name, values in arrays.items()}
    arrays |= {
        "center": inner.standardizer_.center,
        "scale": inner.standardizer_.scale,
        "fitted_scores": np.asarray(inner.decision_scores_, dtype=np.float64),
        "scores": scores,
    }
    explainer, treatment = saved.explainer, saved.treatment
    if explainer is not None:
        arrays["typical"] = explainer.typical
    content = {
        "detector": spec.detector,
        "params": dict(spec.params),
        "seed": inner.seed,
        "trials": inner.trials,
        "numbers": numbers,
        "contamination": saved.contamination,
        "threshold": saved.threshold,
        "mean_score": saved.mean_score,
        "spread_of_scores": saved.spread_of_scores,
        "n_features": len(inner.standardizer_.center),
        "ordinary_score": None if explainer is None else explainer.ordinary,
        "treatment": None if treatment is None else treatment.to_json(),
        "selection": asdict(saved.selection),
    }
    if saved.profile is not None:
        content["profile"] = saved.profile.to_plain()
    texts: Mapping[str, str] = {}
    if saved.committee is not None:
        plain = committee_to_plain(saved.committee)
        content["committee"] = plain.content
        arrays |= {f"committee_{name}": values for name, values in plain.arrays.items()}
        texts = plain.texts
    if saved.answers is not None:
        arrays |= {f"answers_{name}": values for name, values in saved.answers.to_arrays().items()}
    return archive.Archive(content, arrays, texts, raw=raw)


# Reading


def _restore(found: archive.Archive, n_jobs: int) -> SavedDetector:
    content = found.content
    spec = ModelSpec.of(_text(content["detector"]), **_params(content["params"]))
    n_features = content["n_features"]
    if type(n_features) is not int or n_features < 1:
        raise StoreError("It must say how many features it takes.")
    model_arrays = {name.removeprefix("model_"): a for name, a in found.arrays.items() if name.startswith("model_")}
    stored = Stored(content["numbers"], model_arrays, n_features, n_jobs)
    frame = Stored({}, found.arrays, n_features, n_jobs)
    scale = frame.array("scale", (n_features,))
    if not bool((scale > 0).all()):
        raise StoreError("The scale of every feature must be positive.")
    contamination = Options(contamination=content["contamination"], n_jobs=1).contamination
    share = contamination if isinstance(contamination, float) else 0.1
    if found.raw:
        inner, model = PlainDetector(spec, contamination=share), pickle.loads(found.raw["detector"])
    else:
        if spec.detector not in FAMILIES:
            raise StoreError(f"It names an unknown family of detectors, {spec.detector[:50]!r}.")
        model = FAMILIES[spec.detector].restore(stored)
        inner = new_detector(
            spec,
            contamination=share,
            seed=stored_count(content["seed"], 0),
            trials=stored_count(content["trials"], 1),
            n_jobs=n_jobs,
        )
    inner._set_n_classes(None)
    inner.standardizer_ = Standardizer(frame.array("center", (n_features,)), scale)
    inner.fitted_ = model
    inner.decision_scores_ = frame.array("fitted_scores", (None,))
    inner.n_features_in_ = n_features
    inner._process_decision_scores()
    text = content["treatment"]
    treatment = None if text is None else ColumnTreatment.from_json(_text(text))
    if treatment is not None and len(treatment.features) != n_features:
        raise StoreError("Its column treatment gives another number of features than its detector takes.")
    numbers = Stored(content, {}, n_features, n_jobs)
    return SavedDetector(
        selection=selection_from(content["selection"]),
        detector=inner,
        treatment=treatment,
        contamination=contamination,
        threshold=numbers.number("threshold"),
        scores=frame.array("scores", (None,)),
        mean_score=numbers.number("mean_score"),
        spread_of_scores=numbers.number("spread_of_scores"),
        explainer=_explainer(inner, treatment, frame, content["ordinary_score"]),
        committee=_committee(found, n_features, n_jobs),
        answers=_answers(found),
        profile=_profile(content.get("profile"), treatment),
    )


def _profile(plain: Any, treatment: ColumnTreatment | None) -> TableProfile | None:
    if plain is None:
        return None
    profile = TableProfile.from_plain(plain)
    if len(set(profile.names)) != len(profile.names) or (
        treatment and not set(profile.names) <= set(treatment.sources)
    ):
        raise StoreError("It tells of columns that it does not use.")
    return profile


def _answers(found: archive.Archive) -> AnswerModel | None:
    arrays = {n.removeprefix("answers_"): a for n, a in found.arrays.items() if n.startswith("answers_")}
    return AnswerModel.from_arrays(arrays) if arrays else None


def _committee(found: archive.Archive, n_features: int, n_jobs: int) -> FittedCommittee | None:
    if "committee" not in found.content:
        return None
    arrays = {n.removeprefix("committee_"): a for n, a in found.arrays.items() if n.startswith("committee_")}
    return committee_from_plain(PlainCommittee(found.content["committee"], arrays, found.texts), n_features, n_jobs)


def _explainer(inner: Any, treatment: ColumnTreatment | None, frame: Stored, ordinary: Any) -> Explainer | None:
    if "typical" not in frame.arrays or treatment is None:
        return None
    typical: FloatArray = frame.array("typical", (None, frame.n_features))
    if not isinstance(ordinary, float):
        raise StoreError("It must tell the score of an ordinary row.")
    return Explainer(inner.decision_function, typical, ordinary, treatment)


def selection_from(plain: Any) -> Selection:
    """A selection from its plain values."""
    steps = tuple(
        _plain(
            SearchStep,
            {
                **step,
                "neighbors": _neighbors(step["neighbors"]),
                "pick": _candidate(step["pick"]),
                "runners_up": tuple(_candidate(candidate) for candidate in step["runners_up"]),
                "expected_rank": _interval(step.get("expected_rank")),
            },
        )
        for step in plain["steps"]
    )
    return _plain(
        Selection,
        {
            **plain,
            "pick": _candidate(plain["pick"]),
            "params": tuple(_params(dict(plain["params"])).items()),
            "neighbors": _neighbors(plain["neighbors"]),
            "runners_up": tuple(_candidate(candidate) for candidate in plain["runners_up"]),
            "evaluated": tuple(_text(model_id) for model_id in plain["evaluated"]),
            "failures": tuple((str(model_id), str(why)) for model_id, why in plain["failures"]),
            "steps": steps,
            "expected_rank": _interval(plain["expected_rank"]),
            "notes": tuple(_text(note) for note in plain["notes"]),
        },
    )


Record = TypeVar("Record")


def _plain(kind: type[Record], values: Any) -> Record:
    """A record of these values, its texts and numbers checked: they are shown, and reckoned with, later."""
    for field in fields(kind):  # type: ignore[arg-type]
        value = values.get(field.name)
        if field.type in (str, int, float) or value is not None:
            if field.type in (str, str | None):
                _text(value)
            elif field.type in (int, float, float | None) and not is_number(value):
                raise StoreError(f"It holds something else where a number is expected ({field.name}).")
    return kind(**values)


def _interval(plain: Any) -> RankInterval | None:
    return None if plain is None else _plain(RankInterval, {"level": 0.9, **plain})


def _candidate(plain: Any) -> Candidate:
    told = tuple(plain["on_neighbors"])
    if not all(map(is_number, told)):
        raise StoreError("It holds something else where a performance is expected.")
    return _plain(Candidate, {**plain, "on_neighbors": told})


def _neighbors(plain: Any) -> tuple[Neighbor, ...]:
    return tuple(_plain(Neighbor, neighbor) for neighbor in plain)


def _params(plain: Any) -> dict[str, Any]:
    if not isinstance(plain, dict) or not all(v is None or isinstance(v, str | int | float) for v in plain.values()):
        raise StoreError("The parameters of its detector must be plain values.")
    return plain


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise StoreError("It holds something else where a text is expected.")
    return value


def stored_count(value: Any, low: int) -> int:
    if type(value) is not int or value < low:
        raise StoreError(f"It holds something else where a whole number of at least {low} is expected.")
    return value
