"""Tasks: a table to find outliers in, with or without the truth about it."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, read_only, unmasked


@dataclass(frozen=True, eq=False)
class Task:
    """A numeric table without labels.

    ``group`` names siblings: tasks cut from the same source share it, and are left out together.

    >>> Task("odds/wine", "wine", [[0.0, 1.0], [2.0, 3.0]]).X.shape
    (2, 2)
    """

    name: str
    group: str
    X: FloatArray

    def __post_init__(self) -> None:
        try:
            X = read_only(self.X)
        except (TypeError, ValueError) as error:
            reason = str(error).partition("\n")[0][:200].rstrip(".")
            raise InvalidInput(f"X of task {self.name!r} must be a table of numbers ({reason}).") from None
        if X.ndim != 2:
            raise InvalidInput(f"X of task {self.name!r} must have two dimensions (rows x columns), got {X.ndim}.")
        object.__setattr__(self, "X", X)

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1])


@dataclass(frozen=True, eq=False)
class LabeledTask(Task):
    """A task whose outliers are known (``y`` is 1 for an outlier, 0 otherwise). Only training and benchmark see one."""

    y: NDArray[np.int8] = field(default_factory=lambda: np.zeros(0, dtype=np.int8))

    def __post_init__(self) -> None:
        super().__post_init__()
        y = np.asarray(unmasked(self.y))
        if y.shape != (self.n_rows,):
            raise InvalidInput(
                f"y of task {self.name!r} must hold one label for each of the {self.n_rows} rows, got shape {y.shape}."
            )
        if not np.isin(y, (0, 1)).all():
            raise InvalidInput(f"y of task {self.name!r} must hold 0 (normal) and 1 (outlier) only.")
        object.__setattr__(self, "y", read_only(y, dtype=np.int8))
