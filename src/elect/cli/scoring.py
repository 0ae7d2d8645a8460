"""``elect score``: new rows with a saved detector."""

import sys
from pathlib import Path

from elect.cli import screen
from elect.support import wording


def score(
    model: Path,
    file: Path,
    *,
    output: Path | None,
    top: int,
    label: str | None,
    n_jobs: int,
    trust: bool,
    json: bool,
    quiet: bool,
) -> None:
    """Score a table batch by batch, and show its most outlying rows."""
    from elect.detect import output as files

    if output is not None:
        files.check_output(output, "--output", files.FORMATS)
        files.check_distinct([model, file], [output])
    from elect.detect.saving import load_saved
    from elect.detect.scoring import score_file

    saved = load_saved(model, trust=trust, n_jobs=n_jobs)
    if not quiet:
        print(f"elect: scoring {file} with {saved.selection.model_id}", file=sys.stderr, flush=True)
    found = score_file(saved, file, top=top, label=label)
    if output is not None:
        files.write_whole(output, files.table_bytes(files.scores_frame(found, found.top), output.suffix.lower()))
    from elect.cli import documents, render

    outliers, n = int(found.labels.sum()), len(found.scores)
    threshold = saved.threshold
    if json:
        chosen = saved.selection
        screen.print_json(
            {
                "model": {"id": chosen.model_id, "detector": chosen.detector, "params": dict(chosen.params)},
                "n_rows": n,
                "threshold": threshold,
                "n_outliers": outliers,
                "top": [documents.top_document(row) for row in found.top[:top]],
                "evaluation": documents.evaluation_document(found.evaluation),
                "notes": list(found.notes),
                "output": None if output is None else str(output),
            }
        )
        return
    console = screen.stdout()
    screen.pairs(
        console,
        [
            ("table", f"{file}, {wording.count(n, 'row')}"),
            ("detector", saved.selection.model_id),
            ("threshold", f"{wording.number(threshold)}; {render.above(outliers, n)}"),
            *render.evaluation_lines(found.evaluation),
            *([] if output is None else [("output", str(output))]),
        ],
    )
    console.print()
    render.top_rows(found.top[:top], found.row_ids.name)
    render.notes(found.notes)
