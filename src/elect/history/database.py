"""What meta-training leaves behind: all that a search needs to know of the history."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from elect.committee.scorer import RowScorer
from elect.core import ModelPool, PerformanceMatrix
from elect.errors import InvalidInput, PoolMismatch
from elect.paper.predictor import PairwisePredictor
from elect.paper.settings import SearchSettings
from elect.support import wording
from elect.support.arrays import FloatArray, read_only

if TYPE_CHECKING:
    from elect.pool.pools import PoolLike

LARGEST_VALUE = 1e100
"""Of a performance or a measure, in magnitude: differences and sums of such numbers stay finite."""

LONGEST_NAME = 1_000

_DEPTH = 32


@dataclass(frozen=True, eq=False, repr=False)
class MetaDatabase:
    """A trained history: how every model of a pool did on every task, and what was learned from that.

    ``measures`` (tasks x models x measures) are those of every model against the ``anchors``; ``groups`` names the
    siblings of each task. ``provenance`` says what the database was made from and with, as plain JSON values: for each
    task its ``name``, ``group``, ``n``, ``d``, ``outlier_share`` and ``sha256`` (a list under ``"tasks"``), versions of
    libraries, seed, trials. ``calibration`` is what was learned about its answers: ``curves`` from the rank of a row to
    its chance (``elect.committee.curves``), ``held_out_ranks`` of the search's picks on tasks left out, and
    ``committee_ranks`` of those after the committee. ``row_scorer`` is what the committee ranks rows by; None for the
    one that comes with the package.
    """

    pool: ModelPool
    performance: PerformanceMatrix
    groups: tuple[str, ...]
    measure_names: tuple[str, ...]
    measures: FloatArray
    anchors: tuple[str, ...]
    initial_models: tuple[str, ...]
    predictor: PairwisePredictor
    settings: SearchSettings = field(default_factory=SearchSettings)
    provenance: Mapping[str, Any] = field(default_factory=dict)
    calibration: Mapping[str, Any] | None = None
    row_scorer: RowScorer | None = None

    def __post_init__(self) -> None:
        for name in ("groups", "measure_names", "anchors", "initial_models"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "measures", read_only(self.measures, order="C"))
        object.__setattr__(self, "provenance", frozen_json(self.provenance, "provenance"))
        if self.calibration is not None:
            object.__setattr__(self, "calibration", frozen_json(self.calibration, "calibration"))
        self._check_names()
        self._check_matrices()
        self._check_models()
        self._check_provenance()

    def __reduce__(self) -> Any:
        # A mapping proxy cannot be pickled, and workers of a cluster, joblib and scikit-learn's clone copy databases.
        calibration = None if self.calibration is None else plain_json(self.calibration)
        values = (self.pool, self.performance, self.groups, self.measure_names, self.measures, self.anchors)
        learned = (self.initial_models, self.predictor, self.settings, plain_json(self.provenance), calibration)
        return (MetaDatabase, (*values, *learned, self.row_scorer))

    def __repr__(self) -> str:
        tasks, groups = wording.count(len(self.tasks), "task"), wording.count(len(set(self.groups)), "group")
        return f"MetaDatabase({tasks} of {groups}, {wording.count(len(self.pool), 'model')}, {self.settings.metric})"

    @property
    def tasks(self) -> tuple[str, ...]:
        """The names of the tasks of the history."""
        return self.performance.tasks

    def save(self, path: str | PathLike[str]) -> None:
        """Write the database to a file (by custom ``*.elect``): whole or not at all."""
        from elect.history import store

        store.save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str], pool: "PoolLike | None" = None) -> "MetaDatabase":
        """Read a database. Nothing in the file is executed, and every index in it is checked.

        With ``pool``, or the name of one, the file must have been made with that very pool; the database then holds
        it, classes and all.
        """
        from elect.history import store
        from elect.pool import resolve_pool

        return store.load(path, None if pool is None else resolve_pool(pool))

    def _check_names(self) -> None:
        lists = (self.pool.ids, self.tasks, self.groups, self.measure_names, (self.settings.metric,))
        for name in (name for names in lists for name in names):
            # Names end up in tables, pages and terminals.
            if not isinstance(name, str) or not name.isprintable() or not 1 <= len(name) <= LONGEST_NAME:
                raise InvalidInput(
                    f"Names of models, tasks, groups and measures must be printable text of 1 to {LONGEST_NAME} "
                    f"characters, got {str(name)[:50]!r}."
                )

    def _check_matrices(self) -> None:
        if self.performance.model_ids != self.pool.ids:
            raise PoolMismatch(
                f"The performance matrix must have the {len(self.pool)} models of the pool, in its order; "
                f"got {len(self.performance.model_ids)} models of another."
            )
        n_tasks = len(self.tasks)
        if n_tasks < 1:
            raise InvalidInput("A meta-database must hold at least one task, got none.")
        if len(self.groups) != n_tasks:
            raise InvalidInput(f"groups must name a group for each of {n_tasks} tasks, got {len(self.groups)}.")
        expected = (n_tasks, len(self.pool), len(self.measure_names))
        if self.measures.shape != expected or not self.measure_names:
            raise InvalidInput(
                f"measures must be tasks x models x measures, {expected}, with at least one measure; "
                f"got shape {self.measures.shape}."
            )
        if len(set(self.measure_names)) != len(self.measure_names):
            raise InvalidInput("Each measure may appear once in a meta-database; some name is there twice.")
        for name, values in (("Performances", self.performance.values), ("Measures", self.measures)):
            # A comparison with NaN is false.
            if not (np.abs(values) <= LARGEST_VALUE).all():
                raise InvalidInput(f"{name} must be finite and at most {LARGEST_VALUE:g} in magnitude; some are not.")

    def _check_models(self) -> None:
        for name, ids in (("anchors", self.anchors), ("initial_models", self.initial_models)):
            for model_id in ids:
                self.pool.index(model_id)
            if not ids or len(set(ids)) != len(ids):
                raise InvalidInput(f"{name} must hold at least one model, and each once; got {len(ids)}.")
        if self.predictor.measure_names != self.measure_names:
            raise InvalidInput(
                f"The predictor must be trained on the measures {', '.join(self.measure_names)}, "
                f"got one on {', '.join(self.predictor.measure_names)}."
            )
        if self.settings.metric != self.performance.metric:
            raise InvalidInput(
                f"The metric of the settings must be that of the performances, {self.performance.metric!r}, "
                f"got {self.settings.metric!r}."
            )

    def _check_provenance(self) -> None:
        if "tasks" not in self.provenance:
            return
        entries = self.provenance["tasks"]
        if not isinstance(entries, tuple) or not all(isinstance(entry, Mapping) for entry in entries):
            raise InvalidInput("The tasks of the provenance must be a list of objects, one for each task.")
        told = [(entry.get("name"), entry.get("group")) for entry in entries]
        if told != list(zip(self.tasks, self.groups, strict=True)):
            raise InvalidInput("The provenance must tell of the tasks of the database in its order, by name and group.")


def frozen_json(value: Any, name: str) -> Any:
    """A read-only copy of a JSON value: mappings and tuples instead of dicts and lists.

    >>> frozen_json({"versions": {"numpy": "2.0"}, "seeds": [1, 2]}, "provenance")["seeds"]
    (1, 2)
    """
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{name} must be a mapping, got {type(value).__name__}.")
    return _frozen(value, name, _DEPTH)


def _frozen(value: Any, name: str, depth: int) -> Any:
    if depth == 0:
        raise InvalidInput(f"{name} must not be nested deeper than {_DEPTH} levels.")
    if isinstance(value, Mapping):
        return MappingProxyType({_text(key, name): _frozen(item, name, depth - 1) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(_frozen(item, name, depth - 1) for item in value)
    if isinstance(value, str):
        return _text(value, name)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and abs(value) < 2**63:
        return int(value)
    if isinstance(value, float) and math.isfinite(value):
        return float(value)
    raise InvalidInput(
        f"{name} must hold JSON values only (texts, finite numbers, booleans, None, lists and mappings of them), "
        f"got {type(value).__name__}."
    )


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must have texts as keys, got {type(value).__name__}.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise InvalidInput(f"{name} must hold texts that can be written as UTF-8; one cannot.") from None
    return str(value)


def plain_json(value: Any) -> Any:
    """The same as ordinary dicts and lists, for ``json.dumps``.

    >>> plain_json(frozen_json({"seeds": [1, 2]}, "provenance"))
    {'seeds': [1, 2]}
    """
    if isinstance(value, Mapping):
        return {key: plain_json(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [plain_json(item) for item in value]
    return value
