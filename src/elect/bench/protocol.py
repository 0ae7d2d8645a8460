"""Which tasks a method may learn from before it is asked about others.

``loo`` leaves out the task alone, as the paper does. ``strict`` leaves out its whole group of siblings: tables cut from
the same source are nearly the same task, and a method that finds one of them has found the answer, not learned it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from elect.errors import InvalidInput

PROTOCOLS = ("loo", "strict")


@dataclass(frozen=True)
class Fold:
    """The tasks that are asked about, and those that may be learned from."""

    held_out: tuple[str, ...]
    history: tuple[str, ...]


def folds(tasks: Sequence[str], groups: Sequence[str], protocol: str) -> tuple[Fold, ...]:
    """The folds of a protocol, in the order of the tasks. Under ``strict`` the tasks of a group share one fold.

    >>> folds(("wine", "pima", "Pima"), ("wine", "pima", "pima"), "strict")[1]
    Fold(held_out=('pima', 'Pima'), history=('wine',))
    >>> folds(("wine", "pima", "Pima"), ("wine", "pima", "pima"), "loo")[1]
    Fold(held_out=('pima',), history=('wine', 'Pima'))
    """
    if protocol not in PROTOCOLS:
        raise InvalidInput(f"The protocol must be one of {', '.join(PROTOCOLS)}, got {protocol!r}.")
    if len(groups) != len(tasks):
        raise InvalidInput(f"groups must name one group for each of the {len(tasks)} tasks, got {len(groups)}.")
    labels = list(groups) if protocol == "strict" else list(range(len(tasks)))
    made = []
    for label in dict.fromkeys(labels):
        out = tuple(task for task, other in zip(tasks, labels, strict=True) if other == label)
        made.append(Fold(out, tuple(task for task in tasks if task not in out)))
    if any(not fold.history for fold in made):
        raise InvalidInput(
            "A testbed must hold tasks of at least two groups: otherwise there is nothing to learn from."
        )
    return tuple(made)
