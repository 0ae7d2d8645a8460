"""From the user's table to a clean numeric matrix, and back to the user's rows and columns.

read_table, iter_batches  ->  Table  ->  ColumnTreatment  ->  matrix, features, summary
"""

from elect.tables.data import is_frame
from elect.tables.errors import (
    DuplicateColumns,
    MissingExtra,
    NoUsableColumn,
    RaggedRows,
    TableError,
    TooFewRows,
    UnknownColumn,
    UnreadableFile,
)
from elect.tables.features import ColumnSummary, Feature
from elect.tables.labels import Labels, read_labels
from elect.tables.read import iter_batches, read_table
from elect.tables.reading import Reading
from elect.tables.table import Table
from elect.tables.treatment import ColumnTreatment

__all__ = [
    "ColumnSummary",
    "ColumnTreatment",
    "DuplicateColumns",
    "Feature",
    "Labels",
    "MissingExtra",
    "NoUsableColumn",
    "RaggedRows",
    "Reading",
    "Table",
    "TableError",
    "TooFewRows",
    "UnknownColumn",
    "UnreadableFile",
    "is_frame",
    "iter_batches",
    "read_labels",
    "read_table",
]
