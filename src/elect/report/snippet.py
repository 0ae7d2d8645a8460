"""The same run in Python."""

from pathlib import Path


def code(path: Path, saved_as: Path | None) -> str:
    """Lines that score the table again."""
    if saved_as is not None:
        return "\n".join(
            [
                "from elect import load_detector",
                "",
                f"detector = load_detector({str(saved_as)!r})",
                "detector.decision_function(table)  # higher is more outlying",
                "detector.predict(table)            # 1 for an outlier",
            ]
        )
    return "\n".join(
        [
            "import pandas",
            "from elect import ElectDetector",
            "",
            f"table = pandas.read_csv({path.name!r})",
            'detector = ElectDetector("auto").fit(table)',
            "detector.decision_scores_          # higher is more outlying",
            "detector.selection_.explain()",
        ]
    )
