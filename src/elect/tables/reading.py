"""How a table was read, in one record: what was found out about the file is told, never silently assumed."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Reading:
    """``header`` is the line (of a sheet: the row) that names the columns, counted from 1; None where there is none.

    What a format has no word for is None: a Parquet file has no encoding, a text file no sheet.
    """

    format: str
    header: int | None = None
    encoding: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    sheet: str | None = None

    def __str__(self) -> str:
        """
        >>> print(Reading("text", 1, "utf-8", ";", ","))
        text, encoding utf-8, ';' between values, decimal commas, header in line 1
        """
        parts = [self.format]
        if self.sheet is not None:
            parts.append(f"sheet {self.sheet!r}")
        if self.encoding is not None:
            parts.append(f"encoding {self.encoding}")
        if self.delimiter is not None:
            parts.append(f"{self.delimiter!r} between values")
        if self.decimal == ",":
            parts.append("decimal commas")
        if self.format in ("text", "Excel"):
            place = "line" if self.format == "text" else "row"
            parts.append("no header" if self.header is None else f"header in {place} {self.header}")
        return ", ".join(parts)
