"""Read-only arrays, so that a value passed between stages stays the value it was."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


def read_only(values: ArrayLike, dtype: Any = np.float64, order: Any = "K") -> NDArray[Any]:
    """A read-only array with these values; copied only if the caller could still write to it.

    >>> frozen = read_only([1, 2])
    >>> frozen.flags.writeable
    False
    """
    values = unmasked(values)
    array = np.asarray(values, dtype=dtype, order=order)
    if array.flags.writeable and (array is values or array.base is not None):
        array = array.copy(order=order)
    array.flags.writeable = False
    return array


def unmasked(values: Any) -> Any:
    """The values; those that are masked are NaN. (``np.asarray`` would give what is behind the mask.)

    >>> unmasked(np.ma.masked_array([1, 2], mask=[False, True]))
    array([ 1., nan])
    """
    if not isinstance(values, np.ma.MaskedArray):
        return values
    return np.ma.filled(values.astype(np.float64), np.nan) if np.ma.is_masked(values) else values.data


def for_kernel(values: NDArray[Any]) -> NDArray[Any]:
    """The same values, in one piece and not to be written to: a kernel is compiled for one kind of array, then.

    >>> for_kernel(np.zeros((3, 2))[:, 0]).flags.writeable
    False
    """
    array = np.ascontiguousarray(values).view()
    array.flags.writeable = False
    return array
