"""Every method that the benchmark compares, by name: the baselines and ELECT."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from elect.bench.baselines import BASELINES, Selector
from elect.bench.elect_method import ElectSelector
from elect.errors import InvalidInput
from elect.paper.settings import MAX_MODELS

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


ELECT_METHOD = Method(
    ELECT,
    f"ELECT: coverage, expected improvement, t = {ElectSelector().n_neighbor_tasks}, {MAX_MODELS} models",
    lambda seed: ElectSelector(seed=seed),
    is_random=True,
    is_meta_learning=True,
    reference="selected",
)

METHODS: tuple[Method, ...] = (
    *(
        Method(b.name, b.title, b.make, b.is_random, b.needs_scores, b.needs_meta_features, b.is_meta_learning)
        for b in BASELINES
    ),
    ELECT_METHOD,
)


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
