"""The database that comes with the package: trained on public tasks, loaded on first need."""

from functools import cache
from importlib.resources import as_file, files
from os import PathLike

from elect.committee.scorer import RowScorer
from elect.committee.voices import FAMILIES
from elect.errors import InvalidInput
from elect.history.database import MetaDatabase
from elect.pool import default_pool

NAME = "shipped.elect"


@cache
def shipped_database() -> MetaDatabase:
    """The pretrained database inside the package. ``elect info`` says what it was made from."""
    resource = files("elect.history") / "data" / NAME
    if not resource.is_file():
        raise InvalidInput("This copy of elect has no pretrained database: pass one, or make one with elect train.")
    with as_file(resource) as path:
        return MetaDatabase.load(path, default_pool())


def load_database(path: str | PathLike[str] | None = None) -> MetaDatabase:
    """The database in a file, or without one the database that comes with the package.

    >>> load_database()
    MetaDatabase(... tasks of ... groups, 297 models, ap)
    """
    return shipped_database() if path is None else MetaDatabase.load(path)


def row_scorer_of(database: MetaDatabase) -> RowScorer:
    """What the committee ranks rows by: the database's own, or the one that comes with the package.

    That of an earlier version listened to other models; it cannot be asked any more.
    """
    own = database.row_scorer
    found = own if own is not None and own.families == FAMILIES else shipped_database().row_scorer
    if found is None:
        raise InvalidInput("This copy of elect has no row scorer: use scorer='model', or train a database with one.")
    return found
