"""What the paper reports, to stand beside what is computed here.

Source: Zhao, Zhang and Akoglu, "Toward Unsupervised Outlier Model Selection", ICDM 2022. The average ranks of most
methods are only in its figures, as pictures, and so are missing here.
"""

from dataclasses import dataclass

MEAN_RANK = {
    "wild": {"ELECT": 90.0, "MetaOD": 99.0},
    "controlled": {"ELECT": 55.0},
}
"""Section V-B1, V-B2. Of the controlled testbed the text adds that all meta-feature baselines are above 130."""

CONTROLLED_OTHERS_ABOVE = 130.0

P_VALUES = {
    "wild": {
        "iForest": 0.0008,
        "LOF": 0.0004,
        "ME": 0.0188,
        "MC": 0.137,
        "SELECT": 0.0484,
        "HITS": 0.2142,
        "GB": 0.0,
        "ISAC": 0.0,
        "AS": 0.0147,
        "ALORS": 0.0002,
        "MetaOD": 0.2766,
        "SS": 0.0128,
        "IPM_SS": 0.0019,
    },
    "controlled": {"ISAC": 0.0012, "AS": 0.003, "ALORS": 0.0001, "MetaOD": 0.0016, "SS": 0.0007},
}
"""Table II. The paper tested only the meta-feature methods on the controlled testbed."""

QTH_BEST = {"wild": 55, "controlled": 32}
"""Table II: the best rival that ELECT does not differ from."""

SECONDS = {"ELECT": 47.10}
"""Section V-B1, mean a task on its machine with plain PyOD."""

SIMILARITY_MEDIAN = {"wild": 0.1035, "controlled": 0.2688}
"""Figure 3."""


@dataclass(frozen=True)
class PaperAblation:
    """A variant against ELECT: medians of the AP-rank, and the one-sided p-value."""

    elect_median: float
    variant_median: float
    p_value: float


ABLATIONS = {
    "random init": PaperAblation(87.5, 133.0, 0.0204),
    "greedy": PaperAblation(87.5, 105.0, 0.0203),
}
"""Section V-D, figures 7 and 8."""


@dataclass(frozen=True)
class PaperStep:
    """A row of the case study."""

    iteration: int
    similarity: float
    matched: int
    pick: str
    rank: float


CASE_TASK = "dami/Waveform"
CASE_STUDY = (
    PaperStep(1, 0.2776, 1, "LOF(metric=manhattan, n_neighbors=5)", 77.0),
    PaperStep(2, 0.2876, 1, "COF(n_neighbors=10)", 70.0),
    PaperStep(11, 0.3304, 2, "LOF(metric=manhattan, n_neighbors=10)", 76.0),
    PaperStep(12, 0.3493, 3, "LOF(metric=euclidean, n_neighbors=20)", 71.5),
    PaperStep(21, 0.4351, 4, "kNN(method=mean, n_neighbors=5)", 50.0),
    PaperStep(22, 0.4351, 4, "kNN(method=mean, n_neighbors=5)", 50.0),
    PaperStep(31, 0.2960, 4, "kNN(method=mean, n_neighbors=15)", 38.0),
    PaperStep(32, 0.4351, 4, "kNN(method=mean, n_neighbors=5)", 50.0),
    PaperStep(49, 0.3504, 4, "kNN(method=mean, n_neighbors=15)", 38.0),
    PaperStep(50, 0.3504, 4, "kNN(method=mean, n_neighbors=15)", 38.0),
)
"""Table III."""
