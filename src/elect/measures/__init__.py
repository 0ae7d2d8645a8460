"""Internal measures: what a model's scores say about its quality without labels, relative to a set of anchors."""

from elect.core.ranks import rank
from elect.measures.base import Measure, Reference
from elect.measures.centrality import Centrality
from elect.measures.hits import Hits
from elect.measures.published import published_centrality, published_hits, published_select
from elect.measures.registry import PAPER_MEASURES, get, names, register
from elect.measures.select import Select
from elect.measures.table import References, measure_table

__all__ = [
    "PAPER_MEASURES",
    "Centrality",
    "Hits",
    "Measure",
    "Reference",
    "References",
    "Select",
    "get",
    "measure_table",
    "names",
    "published_centrality",
    "published_hits",
    "published_select",
    "rank",
    "register",
]
