"""The folder that a run over many files writes to: it knows which run it belongs to, so that a run can go on."""

import hashlib
import io
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from elect.detect.judged import Known
from elect.detect.output import FORMATS
from elect.detect.scored_parts import DETECTOR, KNOWN, STATE, Job, done
from elect.errors import ElectError, InvalidInput
from elect.support.atomic import write_atomically

_RUN, _LEARNED = "run.json", "learned.json"
SUMMARY = "summary.json"


@dataclass(frozen=True)
class RunFolder:
    """``run`` is a digest of what is read and what is asked for; ``names`` are the files of results, by input;
    ``made`` are the folders that were not there before, the innermost first."""

    folder: Path
    run: str
    names: Mapping[str, str]
    made: tuple[Path, ...] = ()

    @classmethod
    def open(cls, folder: Path, files: Sequence[Path], asked: Mapping[str, Any]) -> "RunFolder":
        """Make the folder, or find it as the same run left it. That of another run, or of anybody, is not touched."""
        names = _names(files)
        _check(folder, files)
        read = [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]
        run = hashlib.sha256(json.dumps([read, asked], default=str, sort_keys=True).encode()).hexdigest()[:32]
        place, made = folder / STATE / _RUN, list[Path]()
        if place.exists():
            try:
                before = json.loads(place.read_text())["run"]
            except (OSError, ValueError, KeyError, TypeError):
                before = None
            if before != run:
                raise InvalidInput(
                    f"--output: {str(folder)!r} holds the results of another run (of other files or options): name "
                    "another folder, or remove this one."
                )
        else:
            taken = [name for name in names.values() if (folder / name).exists()]
            if taken:
                raise InvalidInput(
                    f"--output: {str(folder)!r} has a file {taken[0]!r} of no run that is known: name another folder."
                )
            made = [path for path in (place.parent, *place.parent.parents) if not path.exists()]
            try:
                (folder / STATE).mkdir(parents=True, exist_ok=True)
                write_atomically(place, json.dumps({"run": run}).encode())
            except OSError as error:
                raise InvalidInput(f"--output: {str(folder)!r} cannot be written to ({error.strerror}).") from None
        return cls(folder, run, names, tuple(made))

    @contextmanager
    def tried(self) -> Iterator[None]:
        """Leave nothing behind where files are refused before anything was learned from them: once they are mended,
        it is another run."""
        try:
            yield
        except ElectError:
            if self.made and self.learned is None:
                with suppress(OSError):
                    (self.folder / STATE / _RUN).unlink()
                    for path in self.made:
                        path.rmdir()
            raise

    @property
    def learned(self) -> dict[str, Any] | None:
        """What was told of what was learned, where this run has got so far."""
        try:
            found: dict[str, Any] = json.loads((self.folder / STATE / _LEARNED).read_text())
        except (OSError, ValueError):
            return None
        return found

    @property
    def detector(self) -> Path:
        return self.folder / STATE / DETECTOR

    def keep(self, detector: bytes, known: Known | None, told: Mapping[str, Any]) -> None:
        """Keep what was learned; from here on a run need not learn again."""
        write_atomically(self.detector, detector)
        if known is not None:
            buffer = io.BytesIO()
            heard = np.empty(0) if known.heard is None else known.heard
            np.savez(buffer, positions=known.positions, scores=known.scores, heard=heard)
            write_atomically(self.folder / STATE / KNOWN, buffer.getvalue())
        write_atomically(self.folder / STATE / _LEARNED, json.dumps(told).encode())

    def summarize(self, content: bytes) -> None:
        """Write what was found in all parts, and clear away what killed workers left half written."""
        write_atomically(self.folder / STATE / SUMMARY, content)
        for name in self.names.values():
            for left in self.folder.glob(f".{glob_safe(name)}.*.part"):
                left.unlink(missing_ok=True)

    def left(self, jobs: Sequence[Job]) -> list[Job]:
        """The jobs that are not done, the largest first: a long one at the end would leave other workers idle."""
        return sorted((job for job in jobs if done(job) is None), key=lambda job: (-job.part.rows, job.part.first))


def glob_safe(name: str) -> str:
    return "".join(f"[{c}]" if c in "*?[" else c for c in name)


def _names(files: Sequence[Path]) -> dict[str, str]:
    """A name for the results of each file: its own, with the folders in which it differs from the others."""
    resolved = [Path(os.path.abspath(file)) for file in files]
    common = Path(os.path.commonpath([file.parent for file in resolved]))
    names = {}
    for file, whole in zip(files, resolved, strict=True):
        own = whole.relative_to(common)
        name = "-".join(own.parts)
        names[str(file)] = name if own.suffix.lower() in FORMATS else f"{name}.parquet"
    if len(set(names.values())) < len(names):
        raise InvalidInput("Two of the files would have the same name among the results: rename one of them.")
    return names


def _check(folder: Path, files: Sequence[Path]) -> None:
    if folder.exists() and not folder.is_dir():
        raise InvalidInput(f"--output must name a folder for the results of many files, and {str(folder)!r} is a file.")
    if any(file.parent.resolve() == folder.resolve() for file in files):
        raise InvalidInput(f"--output: {str(folder)!r} is where the files are read from: name another folder.")
