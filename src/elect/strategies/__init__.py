"""Ways to elect a model, behind one protocol: a database and a source of scores in, search steps out. A file each.

- ``committee``: the quick models are scored, and the one that ranks the rows most as the committee does is the pick.
- ``fixed``: nothing is scored. The model with the best mean rank over the history is the pick.
- ``elect``: the paper's procedure. Few models are evaluated, similar historical tasks found, and the best model on them
  is the pick.
"""

from elect.core import Selection
from elect.core.sources import ScoreSource
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.strategies._base import Strategy
from elect.strategies.committee import committee_steps
from elect.strategies.elect import elect_steps
from elect.strategies.fixed import fixed_steps

DEFAULT = "committee"

STRATEGIES: dict[str, Strategy] = {
    "committee": committee_steps,
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
    return Selection.from_steps(steps, database.pool, strategy=strategy, metric=database.settings.metric)


__all__ = ["DEFAULT", "STRATEGIES", "Strategy", "check_strategy", "select"]
