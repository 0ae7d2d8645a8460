"""A corpus: labelled tables in a folder, or listed in a manifest.

A folder holds one table a task: CSV, TSV, Parquet, Feather or Arrow with a label column, ``.npz`` or ``.mat`` with
arrays ``X`` and ``y``, or ``.arff``. The name of a task is its file's. Siblings, tasks cut from the same source, are
named in an optional ``groups.csv`` (columns ``file``, ``group``); other tasks are groups of their own.

A manifest is a JSON list of objects with ``name``, ``group`` and ``file`` (relative to the manifest); entries without a
file are passed over.
"""

import json
from os import PathLike
from os.path import isfile
from pathlib import Path
from typing import Any

import numpy as np

from elect.core import LabeledTask
from elect.errors import InvalidInput
from elect.tables import ColumnTreatment, foreign, read_table

LABEL_NAMES = ("label", "y", "outlier", "is_outlier", "anomaly", "is_anomaly", "target", "class")
_TEXT = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow")
_GROUPS = "groups.csv"


def read_corpus(path: str | PathLike[str], label: str | None = None) -> tuple[LabeledTask, ...]:
    """The labelled tasks of a folder or a manifest, in the order of their names (of the manifest)."""
    source = Path(path)
    if source.is_dir():
        entries = _folder(source)
    elif source.suffix == ".json" and source.is_file():
        entries = _manifest(source)
    else:
        raise InvalidInput(f"A corpus must be a folder of labelled tables or a .json manifest; {source} is neither.")
    return tuple(_read_task(name, group, file, label) for name, group, file in entries)


def _folder(folder: Path) -> list[tuple[str, str, Path]]:
    files = sorted(f for f in folder.iterdir() if f.suffix.lower() in (*_TEXT, ".npz", ".mat", ".arff"))
    files = [f for f in files if f.name != _GROUPS]
    if not files:
        raise InvalidInput(f"The folder {folder} must hold labelled tables (csv, parquet, npz, arff, mat), got none.")
    names = [f.stem for f in files]
    # Two files of one stem (a.csv, a.npz) keep their endings.
    names = [f.stem if names.count(f.stem) == 1 else f.name for f in files]
    groups = _groups(folder / _GROUPS, {f.name for f in files})
    return [(name, groups.get(f.name, name), f) for name, f in zip(names, files, strict=True)]


def _groups(path: Path, files: set[str]) -> dict[str, str]:
    if not path.exists():
        return {}
    table = read_table(path, header=True)  # in whatever encoding it is
    if not {"file", "group"} <= set(table.columns):
        raise InvalidInput(f"{path} must have the columns 'file' and 'group'.")
    groups = dict(table.frame.select("file", "group").iter_rows())
    unknown = sorted(set(groups) - files)
    if unknown:
        raise InvalidInput(f"{path} names {unknown[0]!r}, which is not a table of the folder.")
    return groups


def _manifest(path: Path) -> list[tuple[str, str, Path]]:
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))
        listed = [(str(e["name"]), str(e["group"]), path.parent / str(e["file"])) for e in entries if e.get("file")]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InvalidInput(
            f"{path} must be a JSON list of objects with 'name', 'group' and 'file' ({_why(error)})."
        ) from None
    if not listed:
        raise InvalidInput(f"{path} must list at least one task with a file, got none.")
    return listed


def _read_task(name: str, group: str, path: Path, label: str | None) -> LabeledTask:
    if not isfile(path):  # unlike Path's, it takes any name
        raise InvalidInput(f"The table of task {name!r} does not exist: {path}.")
    try:
        if path.suffix.lower() in (".npz", ".mat"):
            X, y = _arrays(path)
        elif path.suffix.lower() == ".arff":
            X, y = _table(_arff(path), label)
        else:
            X, y = _table(path, label)
        return LabeledTask(name, group, X, y)
    except InvalidInput as error:
        raise InvalidInput(f"Task {name!r} ({path.name}): {error}") from None


def _arrays(path: Path) -> tuple[Any, Any]:
    try:
        if path.suffix.lower() == ".npz":
            arrays = _npz(path)
        else:
            with foreign.converted(path, "matlab") as (clean, _):
                arrays = _npz(clean)
    except InvalidInput:
        raise
    except Exception as error:
        raise InvalidInput(f"the file could not be read ({_why(error)}).") from None
    if "X" not in arrays or "y" not in arrays:
        raise InvalidInput("the file must hold arrays named 'X' and 'y'.")
    X, y = np.asarray(arrays["X"]), np.asarray(arrays["y"]).ravel()
    if X.ndim != 2 or X.dtype.kind not in "fiub" or y.dtype.kind not in "fiub":
        raise InvalidInput("X must be a two-dimensional and y a one-dimensional array of numbers.")
    return X, y


def _npz(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as file:
        return {key: file[key] for key in file.files if key in ("X", "y")}


def _arff(path: Path) -> Any:
    from scipy.io import arff

    try:
        data, meta = arff.loadarff(path)
    except Exception as error:
        raise InvalidInput(f"the file could not be read as ARFF ({_why(error)}).") from None
    columns = {}
    for column in meta.names():
        values = data[column]
        columns[column] = [v.decode(errors="replace") for v in values] if values.dtype.kind == "S" else values
    return columns


def _why(error: Exception) -> str:
    """What another library says, in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())[:300]


def _table(data: Any, label: str | None) -> tuple[Any, Any]:
    table = read_table(data)
    name = label if label is not None else _label_of(table.columns)
    # The engine brings columns to one scale itself, here as on a new table.
    treatment, X = ColumnTreatment.fit_transform(table, label=name, scale=False)
    labels = treatment.labels(table)
    if labels is None or not labels.known.all():
        raise InvalidInput(f"the label column {name!r} must say of every row whether it is an outlier.")
    return X, labels.y


def _label_of(columns: tuple[str, ...]) -> str:
    for wanted in LABEL_NAMES:
        for column in columns:
            if column.lower() == wanted:
                return column
    raise InvalidInput(f"no label column: name one, or call it one of {', '.join(LABEL_NAMES)}.")
