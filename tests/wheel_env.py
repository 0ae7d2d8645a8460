"""Environments that hold the wheel and what it asks for, and nothing else: made in a second, without downloads.

The packages are those of this environment, linked: what the wheel does not ask for cannot be imported there.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parent.parent


def build(kind: str, folder: Path) -> Path:
    """The wheel or the source archive."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl" if kind == "wheel" else "*.tar.gz"))


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def closure(wanted: Iterable[str]) -> set[str]:
    """The names of all packages that these ask for, extras such as ``elect[excel]`` included."""
    seen: set[tuple[str, str]] = set()
    waiting = [Requirement(text) for text in wanted]
    while waiting:
        asked = waiting.pop()
        for extra in ("", *asked.extras):
            key = normal(asked.name), extra
            if key in seen:
                continue
            seen.add(key)
            try:
                needs = distribution(asked.name).requires or ()
            except PackageNotFoundError:
                continue  # of another platform or another Python
            for text in needs:
                need = Requirement(text)
                if need.marker is None or need.marker.evaluate({"extra": extra}):
                    waiting.append(need)
    return {name for name, _ in seen}


def make(folder: Path, wheel: Path, needs: Iterable[str] = ()) -> Path:
    """An environment with the wheel in it; its Python."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    site = next((folder / "lib").glob("python*")) / "site-packages"
    for name in closure(["elect", *needs]) - {"elect"}:
        try:
            files = distribution(name).files or ()
        except PackageNotFoundError:
            continue
        for top in {file.parts[0] for file in files if file.parts[0] not in ("..", "__pycache__")}:
            found = Path(str(distribution(name).locate_file(top)))
            if found.exists() and not (site / top).exists():
                (site / top).symlink_to(found)
    with zipfile.ZipFile(wheel) as stored:
        stored.extractall(site)
    _take_kernels(site / "elect")
    (folder / "bin" / "elect").write_text(f"#!{python}\nimport sys\nfrom elect.cli import main\nsys.exit(main())\n")
    (folder / "bin" / "elect").chmod(0o755)
    return python


def _take_kernels(package: Path) -> None:
    """Compiled kernels of the source tree serve where the source is the same; elsewhere they are made again."""
    source = ROOT / "src" / "elect"
    for path in package.rglob("*.py"):
        twin = source / path.relative_to(package)
        if not twin.is_file() or twin.read_bytes() != path.read_bytes():
            continue
        shutil.copystat(twin, path)
        for kept in twin.parent.glob(f"__pycache__/{twin.stem}.*.nb*"):
            target = path.parent / "__pycache__" / kept.name
            target.parent.mkdir(exist_ok=True)
            shutil.copy2(kept, target)


def environment(home: Path) -> dict[str, str]:
    """Variables for commands there: nothing of this environment, and no network behind a proxy that fails."""
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    return {**kept, "HOME": str(home), "ALL_PROXY": "http://127.0.0.1:9", "PYTHONWARNINGS": "ignore"}
