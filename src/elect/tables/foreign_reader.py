"""The process that opens files of formats whose readers can crash or ask for any amount of memory.

Run as a script by ``elect.tables.foreign``; it knows nothing of elect. What it could read is written as a clean Arrow
file (arrays: as an .npz), what it could not is told as one JSON object on standard output. If it dies, the command that
asked lives on.
"""

import json
import sys
from contextlib import suppress
from typing import Any

TITLES = 20  # rows among which the header is looked for
SPARE = 4 << 30  # address space that libraries reserve without using it


class Refused(Exception):
    """What is wrong, and a word for it."""

    def __init__(self, word: str, reason: str) -> None:
        super().__init__(reason)
        self.word = word


def limit_memory() -> None:
    """Ask for no more than the machine has; be the first to go where it has no more."""
    with suppress(ImportError, OSError, ValueError):
        import os
        import resource

        limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") + SPARE
        soft, hard = resource.getrlimit(resource.RLIMIT_AS)
        given = [value for value in (soft, hard, limit) if value != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_AS, (min(given), hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:
        file.write("1000")


def write(table: Any, target: str) -> None:
    import pyarrow as pa

    table.validate(full=True)
    with pa.OSFile(target, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write(table)


def check_arrow(request: dict[str, Any]) -> dict[str, Any]:
    """Read every batch and check every value: what passes cannot mislead whoever reads it next."""
    import pyarrow as pa

    with pa.memory_map(request["path"]) as source:
        try:
            file = pa.ipc.open_file(source)
        except pa.ArrowInvalid:
            source.seek(0)
            file = pa.ipc.open_stream(source)
        count = getattr(file, "num_record_batches", None)
        for batch in file if count is None else map(file.get_batch, range(count)):
            batch.validate(full=True)
    return {}


def read_feather(request: dict[str, Any]) -> dict[str, Any]:
    import warnings

    from pyarrow import feather

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        write(feather.read_table(request["path"], memory_map=False), request["target"])
    return {}


def read_excel(request: dict[str, Any]) -> dict[str, Any]:
    """One sheet of a workbook; its header is the first row that is not empty, and no title of the table below it."""
    import fastexcel

    chosen = request["sheet"]
    try:
        book = fastexcel.read_excel(request["path"])
        names = book.sheet_names
        place = chosen if isinstance(chosen, str) else (chosen or 1) - 1
        if place not in names and not (isinstance(place, int) and 0 <= place < len(names)):
            raise Refused("sheet", json.dumps(names))
        # The header is read by itself: the reader would rename repeated columns, and drop rows without values.
        first = book.load_sheet(place, header_row=None, n_rows=TITLES, dtypes="string")
        rows = list(zip(*(column.to_pylist() for column in first.to_arrow().columns), strict=True))
        if not rows:
            raise Refused("empty", "")
        titles = header_among(rows)
        above = book.load_sheet(place, header_row=None, skip_rows=0, n_rows=1, dtypes="string").total_height
        above += titles - first.total_height
        body = book.load_sheet(
            place, header_row=None, skip_rows=above + 1, schema_sample_rows=None, skip_whitespace_tail_rows=True
        ).to_arrow()
    except fastexcel.FastExcelError as error:
        raise Refused("damaged", str(error)) from None
    write(body, request["target"])
    return {
        "names": [name or "" for name in rows[titles]],
        "titles": titles,
        "header_row": above + 1,
        "sheet": place if isinstance(place, str) else names[place],
        "sheets": len(names),
    }


def read_matlab(request: dict[str, Any]) -> dict[str, Any]:
    """The arrays X and y."""
    import numpy as np
    from scipy.io import loadmat

    try:
        found = loadmat(request["path"], variable_names=["X", "y"])
    except NotImplementedError:  # what scipy says of MATLAB 7.3
        raise Refused("version", "") from None
    if not {"X", "y"} <= set(found):
        raise Refused("damaged", "it must hold arrays named 'X' and 'y'")
    X, y = np.asarray(found["X"]), np.asarray(found["y"])
    if X.dtype.hasobject or y.dtype.hasobject:
        raise Refused("damaged", "X and y must be arrays of numbers")
    with open(request["target"], "wb") as file:
        np.savez(file, X=X, y=y)
    return {}


def header_among(rows: list[tuple[Any, ...]]) -> int:
    """The place of the header: the first row; or, where that is a title (one cell above a table of more columns), the
    first with more than one cell, if these are names and not numbers."""
    for place, row in enumerate(rows):
        filled = [cell for cell in row if cell is not None and cell.strip()]
        if len(filled) > 1:
            return 0 if any(map(is_number, filled)) else place
    return 0


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


READERS = {"arrow": check_arrow, "feather": read_feather, "excel": read_excel, "matlab": read_matlab}


def main(text: str) -> dict[str, Any]:
    request = json.loads(text)
    limit_memory()
    try:
        return READERS[request["kind"]](request)
    except Refused as error:
        return {"refused": error.word, "reason": str(error)}
    except MemoryError:
        return {"refused": "memory", "reason": ""}
    except BaseException as error:  # a panic of a library is no Exception
        word = "memory" if type(error).__name__ == "ArrowMemoryError" else "damaged"
        return {"refused": word, "reason": str(error) or type(error).__name__}


if __name__ == "__main__":
    sys.stdout.write(json.dumps(main(sys.argv[1])))
