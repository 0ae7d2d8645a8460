"""The measures by name. A user's own measure becomes one of them with ``register``."""

from elect.errors import InvalidInput
from elect.measures.base import Measure
from elect.measures.centrality import Centrality
from elect.measures.hits import Hits
from elect.measures.select import Select

PAPER_MEASURES = ("mc", "select", "hits")
"""The measures of the paper, which are the default everywhere."""

_MEASURES: dict[str, Measure] = {measure.name: measure for measure in (Centrality(), Select(), Hits())}


def register(measure: Measure) -> None:
    """Make a measure available under its name. A name is given once; the same measure may be given again.

    >>> register(Centrality("mc-ascending", convention="ascending"))
    >>> get("mc-ascending").name
    'mc-ascending'
    """
    known = _MEASURES.setdefault(measure.name, measure)
    if known != measure:
        raise InvalidInput(f"A measure named {measure.name!r} is registered already; give yours another name.")


def get(name: str) -> Measure:
    """The measure of this name.

    >>> get("mc")
    Centrality(name='mc', convention='descending')
    """
    try:
        return _MEASURES[name]
    except KeyError:
        raise InvalidInput(f"Unknown measure {name!r}: it must be one of {', '.join(names())}.") from None


def names() -> tuple[str, ...]:
    """The names of all measures, in the order they were registered."""
    return tuple(_MEASURES)
