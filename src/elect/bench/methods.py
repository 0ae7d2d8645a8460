"""Every method that the benchmark compares, by name: the baselines, ELECT, and its variants."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from elect.bench.baselines import BASELINES, PAPER_BASELINES, Selector
from elect.bench.elect_method import ElectSelector
from elect.errors import InvalidInput
from elect.paper.predictor_training import PredictorParams

ELECT = "ELECT"


@dataclass(frozen=True)
class Method:
    """A way to select, as the runner needs it.

    ``reference`` is what internal measures are taken against, where the source offers a choice.
    """

    name: str
    title: str
    make: Callable[[int], Selector]
    is_random: bool = False
    needs_scores: bool = False
    needs_meta_features: bool = False
    is_meta_learning: bool = False
    reference: str = "all"

    def key(self, seed: int) -> str:
        """What decides its choices, besides the bed and the fold."""
        return f"{self.reference} {self.make(seed)!r}"


def _elect(
    name: str, title: str, selector: ElectSelector, reference: str = "selected", *, repeated: bool = True
) -> Method:
    return Method(
        name,
        title,
        lambda seed: replace(selector, seed=seed),
        is_random=repeated,
        is_meta_learning=True,
        reference=reference,
    )


ELECT_METHOD = _elect(ELECT, "ELECT: coverage, expected improvement, t = 5, 50 models", ElectSelector())

METHODS: tuple[Method, ...] = (
    *(
        Method(b.name, b.title, b.make, b.is_random, b.needs_scores, b.needs_meta_features, b.is_meta_learning)
        for b in BASELINES
    ),
    ELECT_METHOD,
)

ABLATIONS: tuple[Method, ...] = (
    _elect("random init", "initial models at random", ElectSelector(init="random")),
    _elect("greedy", "the best model on the neighbours is added next", ElectSelector(acquisition="greedy")),
)

EXAMINED: tuple[Method, ...] = (
    _elect("t = 3", "3 neighbours", ElectSelector(n_neighbor_tasks=3)),
    _elect("t = 8", "8 neighbours", ElectSelector(n_neighbor_tasks=8)),
    _elect("t = 12", "12 neighbours", ElectSelector(n_neighbor_tasks=12)),
    _elect(
        "t by cross-validation",
        "t of 3, 5 or 8 by cross-validation inside the fold",
        ElectSelector(n_neighbor_tasks=None),
        repeated=False,
    ),
    _elect("gaps scaled", "gaps divided by the largest of their task", ElectSelector(scale_gaps=True)),
    _elect("all 297 models", "similarity over all models, no search", ElectSelector(search_all=True)),
    _elect(
        "mean rank, t = 20",
        "elected by the mean rank over 20 neighbours",
        ElectSelector(n_neighbor_tasks=20, average="rank"),
    ),
    _elect("pairs: 500 a task", "fewer sampled pairs", ElectSelector(pairs_per_task=500)),
    _elect("pairs: 8,000 a task", "more sampled pairs", ElectSelector(pairs_per_task=8_000), repeated=False),
    _elect("pairs: clear ones only", "trained on pairs with a gap of at least 0.05", ElectSelector(min_gap=0.05)),
    _elect(
        "predictor: LightGBM's defaults",
        "31 leaves, 100 rounds, learning rate 0.1",
        ElectSelector(params=PredictorParams(31, 100, 0.1, 0.0005)),
        repeated=False,
    ),
    _elect(
        "predictor: smaller",
        "4 leaves, 10 rounds, learning rate 0.05",
        ElectSelector(params=PredictorParams(4, 10, 0.05, 0.01)),
    ),
    _elect("Eq. 6", "mean plus variance instead of expected improvement", ElectSelector(acquisition="mean+variance")),
)
"""What was tried because ELECT's rank here is not the paper's, on any source."""

EXAMINED_COMPUTED: tuple[Method, ...] = (
    _elect("anchors: all models", "measured against all 297 models", ElectSelector(), reference="all"),
    _elect(
        "measures: published convention",
        "ascending ranks, all models as reference, as in the published files",
        ElectSelector(),
        reference="ascending",
    ),
)
"""The same, where scores exist and measures can be taken in more than one way."""

CONTROLLED_IN_PAPER = ("ISAC", "AS", "ALORS", "MetaOD", "SS")


def methods_named(names: Sequence[str] | None = None) -> tuple[Method, ...]:
    """The methods of these names (any case), in the paper's order; all of them without names. ELECT is always there.

    >>> [method.name for method in methods_named(["lof", "MC"])]
    ['LOF', 'MC', 'ELECT']
    """
    if names is None:
        return METHODS
    wanted = {name.lower() for name in names} | {ELECT.lower()}
    unknown = wanted - {method.name.lower() for method in METHODS}
    if unknown:
        known = ", ".join(method.name for method in METHODS)
        raise InvalidInput(f"Unknown method {sorted(unknown)[0]!r}: it must be one of {known}.")
    return tuple(method for method in METHODS if method.name.lower() in wanted)


__all__ = [
    "ABLATIONS",
    "CONTROLLED_IN_PAPER",
    "ELECT",
    "ELECT_METHOD",
    "EXAMINED",
    "EXAMINED_COMPUTED",
    "METHODS",
    "PAPER_BASELINES",
    "Method",
    "methods_named",
]
