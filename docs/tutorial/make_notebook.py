"""Make docs/tutorial/first-look.ipynb from first_look.py: run it top to bottom, and keep its outputs.

python docs/tutorial/make_notebook.py
"""

import re
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).with_name("first-look.ipynb")
SOURCE = Path(__file__).with_name("first_look.py")
PAGE = Path(__file__).with_name("notebook.md")
ROOT = NOTEBOOK.parents[2]


def sources() -> list[tuple[bool, str]]:
    """The cells: whether each is text, and what it holds."""
    parts = re.split(r"^# %%( \[markdown\])?\n", SOURCE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    found = []
    for is_text, body in zip(parts[::2], parts[1::2], strict=True):
        if is_text:
            body = re.sub(r"^# ?", "", body, flags=re.MULTILINE)
        found.append((bool(is_text), body.strip("\n")))
    return found


def run() -> Any:
    """The notebook with its outputs. Two runs differ in nothing but what was measured."""
    made = nbformat.v4.new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    for place, (is_text, body) in enumerate(sources()):
        cell = nbformat.v4.new_markdown_cell(body) if is_text else nbformat.v4.new_code_cell(body)
        cell["id"] = f"cell-{place}"
        made.cells.append(cell)
    NotebookClient(made, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    for cell in made.cells:
        cell["metadata"].pop("execution", None)  # the time of day
        if cell["cell_type"] == "code":
            # Progress is for who watches it.
            shown = [out for out in cell["outputs"] if out.get("name") != "stderr" and not _progress(out)]
            cell["outputs"] = _joined(shown)
    made.metadata.pop("language_info", None)
    return made


def _progress(out: Any) -> bool:
    return out["output_type"] == "display_data"


def _joined(outputs: list[Any]) -> list[Any]:
    """What is printed in one go may arrive in pieces."""
    found: list[Any] = []
    for out in outputs:
        if found and out["output_type"] == found[-1]["output_type"] == "stream":
            found[-1]["text"] += out["text"]
        else:
            found.append(out)
    return found


def page(made: Any) -> str:
    """The notebook as a page of the site."""
    parts = [
        "<!-- Made by docs/tutorial/make_notebook.py from first_look.py. -->",
        "*This page is a notebook, [first-look.ipynb](first-look.ipynb), run from top to bottom.*",
    ]
    for cell in made.cells:
        if cell["cell_type"] == "markdown":
            parts.append(cell["source"])
            continue
        parts.append(f"```python\n{cell['source']}\n```")
        for out in cell["outputs"]:
            if "text" in out:
                parts.append(f"```text\n{out['text'].rstrip()}\n```")
            elif "text/html" in out.get("data", {}):
                # A blank line would end the HTML, and indented lines would be code.
                shown = "\n".join(line.strip() for line in out["data"]["text/html"].splitlines() if line.strip())
                parts.append(f'<div class="notebook">{shown}</div>')
    title, *rest = parts[2:]
    return "\n\n".join([parts[0], title, parts[1], *rest]) + "\n"


def main() -> None:
    made = run()
    nbformat.write(made, NOTEBOOK)
    PAGE.write_text(page(made), encoding="utf-8")


if __name__ == "__main__":
    main()
