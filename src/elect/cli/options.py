"""Options that several commands share."""

from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on standard output, and nothing else there.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress on standard error.")]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Equal seeds give equal results.")]
