"""The standing attack: a short slice of each kind, everything it ever found, and whether it would see what is wrong."""

import json
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from attack import artifacts, audit, binary, campaign, corpora, grammar, invocations, page, python_calls
from attack.command import Ran, judged
from attack.verdict import REFUSED, RESULT, Verdict, wrong
from attack.warm import Warm

FINDS = sorted(campaign.FINDS.glob("*.json"))


@pytest.fixture(scope="module")
def warm() -> Iterator[Warm]:
    with Warm() as found:
        yield found


@pytest.mark.parametrize("path", FINDS, ids=lambda path: path.stem)
def test_what_was_found_stays_mended(path: Path, warm: Warm) -> None:
    find = json.loads(path.read_text())
    verdict = warm.verdict(find["attack"], find["case"], campaign.module_of(find["attack"]).SECONDS)
    assert verdict.fine, f"{find['found']}\nis back: {verdict.why}"


SLICES: dict[str, tuple[int, st.SearchStrategy[Any]]] = {
    "tables": (15, grammar.tables()),
    "binary": (15, binary.cases()),
    "artifacts": (60, artifacts.cases(("database", "kNN"))),
    "corpora": (40, corpora.cases()),
    "invocations": (20, invocations.cases().map(lambda case: {**case, "place": "here"})),
    "python_calls": (40, python_calls.cases()),
    "page": (60, page.cases()),
}


@pytest.mark.parametrize("attack", SLICES)
def test_a_slice_of_the_attack(attack: str, warm: Warm) -> None:
    count, cases = SLICES[attack]

    @settings(max_examples=count, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
    @given(cases)
    def holds(case: Any) -> None:
        verdict = warm.verdict(attack, case, 120)
        assert verdict.fine, f"{verdict.word}: {verdict.why}"

    holds()


# --- would it see? ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ran", "after", "expected"),
    [
        (Ran(0, "{}", ""), {"out.csv": "1"}, "result"),
        (Ran(2, "", "elect: no.\n"), {}, "refused"),
        (Ran(None, "", "Traceback (most recent call last):\n"), {}, "traceback"),
        (Ran(0, "{}", "thread panicked at src/lib.rs"), {"out.csv": "1"}, "traceback"),
        (Ran(1, "", "elect: no.\n"), {}, "wrong"),
        (Ran(2, "", "elect: no.\nelect: no.\n"), {}, "wrong"),
        (Ran(2, "", "elect: " + "x" * 9999 + "\n"), {}, "wrong"),
        (Ran(2, "", "elect: no.\n"), {"out.csv": "1"}, "wrong"),
        (Ran(2, "some", "elect: no.\n"), {}, "wrong"),
        (Ran(0, "{}", ""), {}, "wrong"),
        (Ran(0, "{}", ""), {"out.csv": "1", "other": "1"}, "wrong"),
        (Ran(0, "{}", ""), {"out.csv": "1", ".out.csv.x.part": "1"}, "wrong"),
        (Ran(0, '{"a": NaN}', ""), {"out.csv": "1"}, "wrong"),
        (Ran(0, "{}", "\x1b[2J"), {"out.csv": "1"}, "wrong"),
    ],
)
def test_a_command_that_breaks_the_property_is_seen(ran: Ran, after: dict[str, str], expected: str) -> None:
    assert judged(ran, {}, after, ["out.csv"], json_asked=True).word == expected


class Suspect:
    """A process that breaks for numbers above ten."""

    def __init__(self) -> None:
        self.tried: list[int] = []

    def verdict(self, attack: str, case: int, seconds: float) -> Verdict:
        self.tried.append(case)
        return wrong("above ten") if case > 10 else RESULT


def test_a_find_is_made_small_and_kept_and_the_campaign_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers = types.SimpleNamespace(GOAL=100, BATCH=20, SECONDS=1, cases=lambda: st.integers(0, 10**6))
    monkeypatch.setattr(campaign, "module_of", lambda attack: numbers)
    suspect, tally = Suspect(), campaign.Tally()
    campaign.one_batch("numbers", tally, 0, suspect, tmp_path)  # type: ignore[arg-type]
    (found,) = tmp_path.glob("*.json")
    assert json.loads(found.read_text())["case"] == 11
    assert tally.verdicts["wrong"] == 1
    campaign.one_batch("numbers", tally, 0, suspect, tmp_path)  # type: ignore[arg-type]
    assert len(list(tmp_path.glob("*.json"))) == 1, "one cause is one find"
    assert tally.batches == 2
    again = campaign.Tally(batches=1)
    other = Suspect()
    campaign.one_batch("numbers", again, 0, other, tmp_path / "b")  # type: ignore[arg-type]
    assert other.tried[0] in suspect.tried, "a batch depends on the seed and its number alone"


def test_the_state_of_a_campaign_is_of_its_seed(tmp_path: Path) -> None:
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"seed": 3, "attacks": {"tables": vars(campaign.Tally(batches=4, cases=9))}}))
    assert campaign._state(state, 3)["tables"].batches == 4
    assert campaign._state(state, 4) == {}
    assert campaign._state(tmp_path / "none.json", 0) == {}


def test_a_process_that_crashes_or_hangs_is_seen(warm: Warm) -> None:
    with Warm() as other:
        assert other.verdict("suspects", "crash", 60).word == "crash"
        assert other.verdict("suspects", "hang", 3).word == "hang"
        assert other.verdict("suspects", "fail", 60).word == "traceback"
        assert other.verdict("suspects", "fine", 60) == REFUSED


# --- the audit ----------------------------------------------------------------------------------------------------


def test_a_database_of_vulnerabilities_that_cannot_be_asked_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = tmp_path / "told.json"
    for content, answers in (
        (None, False),
        ("", False),
        ("[]", False),
        ("{}", False),
        ('{"vulnerabilities": []}', True),
    ):
        if content is not None:
            told.write_text(content)
        assert (audit.unreachable(told.as_uri()) is None) == answers
    monkeypatch.setattr(audit, "unreachable", lambda: "no\nnetwork")
    assert audit.main() == 1
    said = capsys.readouterr().err
    assert said.startswith("audit: nothing was audited, ")
    assert "(no network)" in said
    assert said.count("\n") == 1
    monkeypatch.setattr(audit, "unreachable", lambda: None)
    assert audit.main() == 0
