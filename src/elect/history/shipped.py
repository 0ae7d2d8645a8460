"""The database that comes with the package: trained on public tasks, loaded on first need."""

from functools import cache
from importlib.resources import as_file, files

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
