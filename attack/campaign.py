"""The campaign: batch after batch of cases, each batch from a seed of its own, so that it can go on after any stop."""

import hashlib
import importlib
import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from attack.verdict import Verdict
from attack.warm import Warm

ATTACKS = (
    "tables",
    "binary",
    "invocations",
    "artifacts",
    "corpora",
    "python_calls",
    "page",
    "killed_writing",
    "killed_training",
    "signals",
    "caches",
    "faults",
    "neighbours",
    "cluster",
)
FINDS = Path(__file__).parent / "finds"


class Found(Exception):
    """A case that broke the property."""


@dataclass
class Tally:
    """How far one attack is: batches done, cases by what came of them, the causes that are known."""

    batches: int = 0
    cases: int = 0
    tries: int = 0
    seconds: float = 0.0
    verdicts: dict[str, int] = field(default_factory=dict)
    known: list[str] = field(default_factory=list)


def module_of(attack: str) -> Any:
    return importlib.import_module(f"attack.{attack}")


def one_batch(attack: str, tally: Tally, base: int, warm: Warm, finds: Path, until: float | None = None) -> None:
    """Try one batch. A new find is made small by hypothesis and kept; others of its cause are counted."""
    module = module_of(attack)
    failing: list[tuple[Any, Verdict]] = []

    @seed(base * 1_000_003 + tally.batches)
    @settings(
        max_examples=module.BATCH,
        database=None,
        deadline=None,
        # A case that takes a process and seconds is small as it is.
        phases=(Phase.generate, Phase.shrink) if module.SECONDS < 300 else (Phase.generate,),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(module.cases())
    def batch(case: Any) -> None:
        if until is not None and not failing and time.monotonic() > until:
            return
        verdict = warm.verdict(attack, case, module.SECONDS)
        if not failing:
            tally.cases += 1
            tally.tries += verdict.tries
            tally.verdicts[verdict.word] = tally.verdicts.get(verdict.word, 0) + 1
        same = not failing or verdict.word == failing[0][1].word
        if not verdict.fine and verdict.signature not in tally.known and same:
            failing.append((case, verdict))
            raise Found(verdict.word)

    started = time.monotonic()
    try:
        batch()
    except Found:
        case, verdict = failing[-1]  # the smallest: hypothesis tries it last
        keep(attack, case, verdict, finds)
        tally.known.extend({found.signature for _, found in failing} - {*tally.known})
    tally.batches += 1
    tally.seconds += time.monotonic() - started


def keep(attack: str, case: Any, verdict: Verdict, finds: Path) -> Path:
    """Keep a find as a file that is a test from now on."""
    # The last line says it; those before it hold the paths of one machine.
    last = (verdict.why.strip().splitlines() or [""])[-1]
    text = json.dumps({"attack": attack, "case": case, "found": f"{verdict.word}: {last[:300]}"}, indent=1)
    finds.mkdir(parents=True, exist_ok=True)
    path = finds / f"{attack}-{hashlib.sha256(json.dumps(case).encode()).hexdigest()[:10]}.json"
    path.write_text(text + "\n")
    return path


def campaign(
    attacks: Sequence[str], seconds: float, base: int, state: Path, *, whole: bool = False, finds: Path = FINDS
) -> Iterator[tuple[str, Tally]]:
    """Attack in turn until the time is over, or with ``whole`` until each has as many tries as its goal; after every
    batch the state is kept, and a campaign of the same seed goes on from it."""
    tallies = _state(state, base)
    until = time.monotonic() + seconds
    with Warm() as warm:
        while time.monotonic() < until:
            left = [a for a in attacks if not whole or tallies.setdefault(a, Tally()).tries < module_of(a).GOAL]
            if not left:
                return
            # The one that is furthest from its goal is next.
            attack = min(left, key=lambda a: tallies.setdefault(a, Tally()).tries / module_of(a).GOAL)
            one_batch(attack, tallies[attack], base, warm, finds, until)
            state.parent.mkdir(parents=True, exist_ok=True)
            content = {"seed": base, "attacks": {name: vars(tally) for name, tally in tallies.items()}}
            state.with_suffix(".new").write_text(json.dumps(content, indent=1))
            state.with_suffix(".new").replace(state)
            yield attack, tallies[attack]


def _state(path: Path, base: int) -> dict[str, Tally]:
    try:
        found = json.loads(path.read_text())
    except FileNotFoundError:
        return {}
    return {name: Tally(**tally) for name, tally in found["attacks"].items()} if found["seed"] == base else {}
