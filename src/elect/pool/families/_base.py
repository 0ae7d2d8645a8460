"""What a family of detectors is: the whole contract of a file in this folder.

A file holds one subclass of ``Family`` and the fitted model it gives, and ends with ``FAMILY = ...()``. It takes part
in everything once its name is in the list of ``elect.pool.families``: in pools, in the engine, as a PyOD detector, in
saved files, in reasons, and in the tests that run over all families.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from elect.core.models import ModelPool, ModelSpec, ParamValue
from elect.errors import InvalidInput
from elect.storage.stored import Arrays, Numbers, Stored
from elect.support.arrays import FloatArray

if TYPE_CHECKING:
    from elect.pool.work import SharedWork

Params = Mapping[str, Any]
"""The parameters of a model, defaults filled in."""


class FittedModel(Protocol):
    """A model that can score rows it has not seen. Everything it knows is in plain numbers and arrays.

    A row's score depends on the row and on what was fitted, never on the rows it comes with.
    """

    def scores(self, Z: FloatArray) -> FloatArray:
        """Scores of standardised rows; higher is more outlying."""
        ...

    def plain(self) -> tuple[Numbers, Arrays]:
        """What ``Family.restore`` makes the same model from."""
        ...


@dataclass(frozen=True)
class Cost:
    """CPU seconds of a piece of work, as a sum of powers of the table's size.

    The coefficients are fitted by ``benchmarks/costs.py`` on generated tables; only their proportions matter.
    """

    constant: float = 0.0
    rows: float = 0.0
    cells: float = 0.0
    pairs: float = 0.0
    pair_columns: float = 0.0
    most_rows: int | None = None  # no more rows than these are paired
    each_trial: bool = False

    def seconds(self, n: int, d: int, trials: int) -> float:
        """The predicted seconds on n rows and d columns.

        >>> Cost(rows=0.5, each_trial=True).seconds(10, 3, trials=2)
        10.0
        """
        paired = float((n if self.most_rows is None else min(n, self.most_rows)) ** 2)
        once = self.constant + self.rows * n + self.cells * n * d + self.pairs * paired + self.pair_columns * paired * d
        return once * (trials if self.each_trial else 1)


@dataclass(frozen=True)
class Piece:
    """A piece of work that models may share: who needs it again finds it built, and pays nothing."""

    kind: str
    key: Any  # tells it from others of its kind
    cost: Cost


class Family(ABC):
    """A family of detectors with a shared-work implementation."""

    name: ClassVar[str]
    defaults: ClassVar[Mapping[str, ParamValue]]
    """Every parameter the engine knows, with PyOD's default."""
    grid: ClassVar[Mapping[str, tuple[ParamValue, ...]]]
    """The values that pools vary; the first parameter varies slowest."""
    in_paper: ClassVar[bool] = False
    """Whether the grid is part of the paper's pool."""
    is_random: ClassVar[bool] = False
    """Whether scores are the mean of several trials, drawn from the seed."""
    looks_at_neighbors: ClassVar[bool] = False
    """Whether new rows are compared with the fitted ones: a fitted row, moved a little, would be its own nearest one,
    so reasons for it need a model that was fitted without it."""

    @abstractmethod
    def supports(self, params: Params) -> bool:
        """Whether these parameter values are implemented; others are left to PyOD."""

    def group(self, params: Params, n_rows: int) -> tuple[Any, ...]:
        """Models with the same group are scored in one go on a table of so many rows; by default each by itself."""
        return tuple(params.items())

    @abstractmethod
    def scores(self, work: "SharedWork", params: Sequence[Params]) -> FloatArray:
        """Training scores (rows, models) of models of one group; higher is more outlying."""

    @abstractmethod
    def fit(self, work: "SharedWork", params: Params) -> FittedModel:
        """The model, ready for new rows."""

    @abstractmethod
    def restore(self, stored: Stored) -> FittedModel:
        """The model that was stored as ``FittedModel.plain``; it scores exactly the same.

        A file may be damaged or hostile: every size and index is checked here, since compiled kernels check nothing.
        """

    @abstractmethod
    def pieces(self, params: Params) -> tuple[Piece, ...]:
        """The pieces of work that a model needs."""

    @abstractmethod
    def pyod_class(self) -> type:
        """PyOD's class of this family. Imported here and not above: PyOD takes a second to import."""

    def note(self, work: "SharedWork", params: Params) -> str | None:
        """What a reader of the scores must know, if anything."""
        return None

    def pool(self) -> ModelPool:
        """The models of the grid."""
        return ModelPool.grid(self.name, **self.grid)

    def params_of(self, spec: ModelSpec) -> dict[str, Any]:
        """A spec's parameters, defaults filled in."""
        return {**self.defaults, **dict(spec.params)}


def is_count(value: Any, low: int = 1, high: int = 2**31) -> bool:
    """Whether a parameter is a whole number in a range."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def is_share(value: Any) -> bool:
    """Whether a parameter is a float above 0 and at most 1."""
    return isinstance(value, float) and 0 < value <= 1


@cache
def own_class(family: Family, must: str) -> type:
    """A class after PyOD's contract for a family that PyOD does not have; the engine fits it and scores with it.

    ``must`` says what parameters must be: one that the engine does not know is left to this class, which refuses it.
    """
    from pyod.models.base import BaseDetector

    class Own(BaseDetector):  # type: ignore[misc]
        def __init__(self, contamination: float = 0.1, **params: Any) -> None:
            super().__init__(contamination=contamination)
            for name, value in {**family.defaults, **params}.items():
                setattr(self, name, value)

        def fit(self, X: Any, y: Any = None) -> Any:
            got = ", ".join(f"{name}={getattr(self, name)!r}" for name in family.defaults)
            raise InvalidInput(f"{must}, got {got}.")

        def decision_function(self, X: Any) -> Any:
            raise InvalidInput(f"This {family.name} is not fitted yet: call fit first.")

    # scikit-learn and PyOD read the parameters of a detector off the signature of its constructor.
    plain = signature(Own.__init__)
    named = [Parameter(name, Parameter.KEYWORD_ONLY, default=value) for name, value in family.defaults.items()]
    kept = [parameter for parameter in plain.parameters.values() if parameter.kind is not Parameter.VAR_KEYWORD]
    Own.__init__.__signature__ = plain.replace(parameters=[*kept, *named])  # type: ignore[attr-defined]
    Own.__name__ = Own.__qualname__ = family.name
    return Own
