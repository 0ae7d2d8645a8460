"""Candidate models and pools of them."""

import hashlib
import importlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from elect.errors import InvalidInput, UnknownModel

ParamValue = str | int | float | bool | None


def _plain(name: str, value: Any) -> ParamValue:
    """A parameter as a plain Python value, so that 5 and numpy's 5 name the same model."""
    if hasattr(value, "item"):
        value = value.item()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    raise InvalidInput(
        f"Parameter {name!r} must be a string, a number, a boolean or None, got {type(value).__name__}: "
        "a model is addressed by its id, so its parameters must be plain values."
    )


@dataclass(frozen=True)
class ModelSpec:
    """A detector with its hyperparameters.

    ``detector`` is a family name (``"LOF"``) or, for a detector class of the user's, where it is imported from
    (``"package.module:Class"``).

    >>> ModelSpec.of("LOF", n_neighbors=20, metric="euclidean").id
    'LOF(metric=euclidean, n_neighbors=20)'
    """

    detector: str
    params: tuple[tuple[str, ParamValue], ...] = ()
    _class: type | None = field(default=None, compare=False, repr=False)

    @classmethod
    def of(cls, detector: "str | type", /, **params: Any) -> "ModelSpec":
        """The spec of a family by name, or of any PyOD-compatible detector class."""
        pairs = tuple(sorted((name, _plain(name, value)) for name, value in params.items()))
        if isinstance(detector, str):
            return cls(detector, pairs)
        for method in ("fit", "decision_function"):
            if not callable(getattr(detector, method, None)):
                raise InvalidInput(
                    f"A detector class must have a method {method!r} as PyOD's have; {detector.__name__} has none."
                )
        return cls(f"{detector.__module__}:{detector.__qualname__}", pairs, detector)

    @cached_property
    def id(self) -> str:
        """The canonical name: the detector, then its parameters in alphabetical order."""
        inside = ", ".join(f"{name}={value}" for name, value in self.params)
        return f"{self.detector}({inside})"

    def __getitem__(self, name: str) -> Any:
        return dict(self.params)[name]

    @property
    def detector_class(self) -> type:
        """The user's detector class. Only for specs made from one."""
        if self._class is not None:
            return self._class
        module, _, name = self.detector.partition(":")
        if not name:
            raise InvalidInput(f"{self.detector!r} names a family of the pool, not a class to import.")
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
        return found  # type: ignore[no-any-return]

    @property
    def is_custom(self) -> bool:
        return ":" in self.detector


@dataclass(frozen=True, repr=False)
class ModelPool:
    """An ordered set of models, addressed by id.

    >>> pool = ModelPool.grid("LOF", metric=["euclidean"], n_neighbors=[5, 10]) + ModelPool.grid("COF", n_neighbors=[5])
    >>> pool.ids
    ('LOF(metric=euclidean, n_neighbors=5)', 'LOF(metric=euclidean, n_neighbors=10)', 'COF(n_neighbors=5)')
    >>> pool.select("LOF", n_neighbors=10).ids
    ('LOF(metric=euclidean, n_neighbors=10)',)
    """

    specs: tuple[ModelSpec, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "specs", tuple(self.specs))
        if not self.specs:
            raise InvalidInput("A pool must hold at least one model, got none.")
        if len(self._positions) != len(self.specs):
            seen: set[str] = set()
            twice = next(spec.id for spec in self.specs if spec.id in seen or seen.add(spec.id))  # type: ignore[func-returns-value]
            raise InvalidInput(f"A pool must hold each model once; {twice!r} is there twice.")

    @classmethod
    def of(cls, specs: Iterable[ModelSpec]) -> "ModelPool":
        return cls(tuple(specs))

    @classmethod
    def grid(cls, detector: "str | type", /, **values: Iterable[Any]) -> "ModelPool":
        """Every combination of the listed values; the first parameter varies slowest."""
        names = list(values)
        for name, given in values.items():
            if isinstance(given, str | bytes) or not isinstance(given, Iterable) or getattr(given, "shape", (1,)) == ():
                raise InvalidInput(f"{name} must be a list of values, got {repr(given)[:100]}: write {name}=[...].")
        return cls(
            tuple(
                ModelSpec.of(detector, **dict(zip(names, combination, strict=True)))
                for combination in product(*(list(values[name]) for name in names))
            )
        )

    def __repr__(self) -> str:
        counts = Counter(spec.detector for spec in self.specs)
        families = ", ".join(f"{count} {name}" for name, count in counts.items())
        return f"ModelPool({families})"

    @cached_property
    def ids(self) -> tuple[str, ...]:
        return tuple(spec.id for spec in self.specs)

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {model_id: position for position, model_id in enumerate(self.ids)}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of every model in order: two pools with the same fingerprint are the same pool."""
        return hashlib.sha256("\n".join(("elect-pool-1", *self.ids)).encode()).hexdigest()

    def index(self, model_id: str) -> int:
        """The position of a model in the pool."""
        try:
            return self._positions[model_id]
        except (KeyError, TypeError):
            raise UnknownModel(_unknown(model_id, self.ids)) from None

    def subset(self, model_ids: Iterable[str]) -> "ModelPool":
        """The named models, in the order given."""
        return ModelPool(tuple(self[model_id] for model_id in model_ids))

    def select(self, detector: str | None = None, /, **params: ParamValue) -> "ModelPool":
        """The models of a family and/or with these parameter values."""
        wanted = set(params.items())
        return ModelPool(
            tuple(s for s in self.specs if (detector is None or s.detector == detector) and wanted <= set(s.params))
        )

    def __add__(self, other: "ModelPool") -> "ModelPool":
        return ModelPool(self.specs + other.specs)

    def __getitem__(self, model_id: str) -> ModelSpec:
        return self.specs[self.index(model_id)]

    def __contains__(self, model_id: object) -> bool:
        return model_id in self._positions

    def __iter__(self) -> Iterator[ModelSpec]:
        return iter(self.specs)

    def __len__(self) -> int:
        return len(self.specs)


def _unknown(model_id: str, known: tuple[str, ...]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(str(model_id), known, n=1, cutoff=0.3)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return f"Unknown model {model_id!r}: it must be one of the {len(known)} ids of the pool.{hint}"
