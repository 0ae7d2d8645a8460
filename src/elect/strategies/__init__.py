"""Ways to elect a model, behind one protocol: a database and a source of scores in, search steps out.

- ``elect``: the paper's procedure. Few models are evaluated, similar historical tasks found, and the best model on them
  elected.
- ``consensus``: the whole pool is scored, and the model that fits the pool's common opinion best is elected. The
  history plays no part.
- ``fixed``: nothing is scored. The best model of the history by mean rank is elected, its performance averaged over
  neighbouring parameters first: the best of hundreds of noisy means is mostly lucky.
- ``learned``: the whole pool is scored, and every model's rank forecast from how the pool agrees. The best forecast is
  elected where the history says that this gains on the consensus, which is elected otherwise.
"""

from collections.abc import Iterator
from typing import Protocol

from elect.core import SearchStep, Selection
from elect.core.sources import ScoreSource
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.strategies.elect import elect_steps
from elect.strategies.whole_pool import consensus_steps, fixed_steps, learned_steps

DEFAULT = "learned"


class Strategy(Protocol):
    """Elects a model. The caller may stop after any step and has the pick so far; there is always at least one."""

    def __call__(
        self,
        database: MetaDatabase,
        source: ScoreSource,
        *,
        max_models: int | None = None,
        max_seconds: float | None = None,
        seed: int = 0,
    ) -> Iterator[SearchStep]: ...


STRATEGIES: dict[str, Strategy] = {
    "learned": learned_steps,
    "consensus": consensus_steps,
    "fixed": fixed_steps,
    "elect": elect_steps,
}


def check_strategy(name: object) -> str:
    """The name of a strategy, or an error that lists those there are."""
    if not isinstance(name, str) or name not in STRATEGIES:
        raise InvalidInput(f"strategy must be one of {', '.join(STRATEGIES)}, got {name!r}.")
    return name


def select(
    database: MetaDatabase,
    source: ScoreSource,
    *,
    strategy: str = DEFAULT,
    max_models: int | None = None,
    max_seconds: float | None = None,
    seed: int = 0,
) -> Selection:
    """The model a strategy elects, with everything that led to it."""
    run = STRATEGIES[check_strategy(strategy)]
    steps = run(database, source, max_models=max_models, max_seconds=max_seconds, seed=seed)
    return Selection.from_steps(steps, strategy=strategy, metric=database.settings.metric)


__all__ = ["DEFAULT", "STRATEGIES", "Strategy", "check_strategy", "consensus_steps", "elect_steps", "fixed_steps"]
__all__ += ["learned_steps", "select"]
