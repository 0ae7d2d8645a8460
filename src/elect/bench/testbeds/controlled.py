"""The controlled testbed: ten mothersets x three kinds of injected outliers, 30 tasks.

Each motherset is a task of the wild testbed, at most one of a group of siblings. Its inliers are standardised, a
mixture is fitted to them, and the normal points are drawn from the mixture; the three tasks of a motherset share these
normal points and differ in the outliers alone. Everything follows from one seed and the name of the motherset.

Limits, and why:

- a motherset has at most ``MAX_COLUMNS`` columns: a few hundred points say little about a mixture in more dimensions,
  and its outliers are found by every model alike;
- it has at least ``MIN_INLIERS`` inliers to fit a mixture to;
- at most ``MAX_NORMAL`` normal points are drawn (and as many inliers used for the fit): the shape of the data is in the
  mixture, more points would add only cost;
- ``OUTLIER_SHARE`` of a task are outliers whatever the motherset had, so that the kind is all that differs, but no
  fewer than ``MIN_OUTLIERS``, below which average precision is noise.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from zlib import crc32

import numpy as np

from elect.bench.testbeds.injection import KINDS, fit_mixture, inject, standardize
from elect.bench.testbeds.wild import TaskEntry, load_task, wild_entries
from elect.core import LabeledTask
from elect.errors import InvalidInput

N_MOTHERSETS = 10
MAX_COLUMNS = 64
MIN_INLIERS = 100
MAX_NORMAL = 2000
OUTLIER_SHARE = 0.05
MIN_OUTLIERS = 10

MOTHERSETS = (
    "dami/ALOI",
    "dami/Cardiotocography",
    "dami/HeartDisease",
    "dami/PageBlocks",
    "dami/Wilt",
    "odds/ionosphere",
    "odds/letter",
    "odds/optdigits",
    "odds/pima",
    "odds/vowels",
)
"""What ``choose_mothersets`` draws from the wild testbed with seed 0; listed so that the testbed can be read here."""


def choose_mothersets(entries: Iterable[TaskEntry], seed: int = 0, n: int = N_MOTHERSETS) -> tuple[str, ...]:
    """The names of ``n`` mothersets drawn at random, no two of one group, in alphabetical order.

    >>> twins = [TaskEntry(name, "twins", 500, 5, 4.0, "x.npz", "") for name in ("a", "b")]
    >>> other = TaskEntry("c", "other", 500, 5, 4.0, "x.npz", "")
    >>> wide = TaskEntry("d", "wide", 500, 999, 4.0, "x.npz", "")
    >>> len(choose_mothersets([*twins, other, wide], n=2))
    2
    >>> "c" in choose_mothersets([*twins, other, wide], n=2)
    True
    """
    siblings: defaultdict[str, list[str]] = defaultdict(list)
    for entry in entries:
        inliers = entry.n * (1 - entry.outlier_percent / 100)
        if entry.available and entry.d <= MAX_COLUMNS and inliers >= MIN_INLIERS:
            siblings[entry.group].append(entry.name)
    if len(siblings) < n:
        raise InvalidInput(
            f"{n} mothersets of different groups were asked for, but only {len(siblings)} groups have a table of at "
            f"most {MAX_COLUMNS} columns and at least {MIN_INLIERS} inliers: ask for fewer."
        )
    rng = np.random.default_rng(seed)
    groups = rng.choice(sorted(siblings), size=n, replace=False)
    return tuple(sorted(str(rng.choice(sorted(siblings[group]))) for group in groups))


def load_controlled(
    home: Path | None = None, seed: int = 0, mothersets: Sequence[str] = MOTHERSETS
) -> tuple[LabeledTask, ...]:
    """The controlled testbed: for each motherset its global, local and clustered task, in that order."""
    entries = {entry.name: entry for entry in wild_entries(home)}
    unknown = [name for name in mothersets if name not in entries]
    if unknown:
        raise InvalidInput(f"Mothersets must be tasks of the wild testbed; {', '.join(unknown)} are not.")
    return tuple(task for name in mothersets for task in controlled_tasks(load_task(entries[name], home), seed))


def controlled_tasks(motherset: LabeledTask, seed: int = 0) -> tuple[LabeledTask, ...]:
    """The three tasks of a motherset, named ``<motherset>+<kind>``.

    Their group is the motherset's own, so that a history that also holds the wild testbed leaves them out together.
    Mothersets come from different groups, hence within the testbed the group names the motherset. Rows are shuffled.
    """
    from threadpoolctl import threadpool_limits

    # One thread: a sum over a different number of threads is a different sum in its last bits.
    with threadpool_limits(limits=1):
        stream = [seed, crc32(motherset.name.encode())]
        rng = np.random.default_rng(stream)
        inliers = motherset.X[motherset.y == 0]
        if len(inliers) > MAX_NORMAL:
            inliers = inliers[np.sort(rng.choice(len(inliers), MAX_NORMAL, replace=False))]
        mixture = fit_mixture(standardize(inliers), seed)
        normal, _ = mixture.sample(len(inliers), rng)
        n_outliers = max(MIN_OUTLIERS, round(OUTLIER_SHARE / (1 - OUTLIER_SHARE) * len(normal)))
        tasks = []
        for position, kind in enumerate(KINDS):
            # A stream a kind: changing how one kind is made leaves the others as they were.
            rng = np.random.default_rng([*stream, position])
            X = np.vstack([normal, inject(mixture, normal, kind, n_outliers, rng)])
            y = np.repeat(np.array([0, 1], dtype=np.int8), [len(normal), n_outliers])
            order = rng.permutation(len(X))
            tasks.append(LabeledTask(f"{motherset.name}+{kind}", motherset.group, X[order], y[order]))
    return tuple(tasks)
