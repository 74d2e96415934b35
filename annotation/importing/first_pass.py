"""The first pass: every record is normalised, screened, hashed and counted; the loop that speed depends on.

Most queries of a log are plain words and small numbers. A batch is made into one text, in which one
substitution blanks all others; so case, spaces, lengths and patterns cost no Python code per query. What is
left has only the word list to pass; what was blanked goes through all rules. The hash is that of
`records.identity`, keyed by the seed.
"""

import re
from collections import Counter
from hashlib import blake2b

import numpy as np

from annotation.importing.design import key_of
from annotation.importing.reader import Batch, Reader
from annotation.importing.records import folded, identity, normal
from annotation.importing.screening import LONGEST_EVER, Screen
from annotation.importing.tally import Tally
from core.files.refusals import Refusals

EXAMPLES = 20
_LONGEST_EXAMPLE = 200
_SPACES = re.compile(r"[ \t]{2,}|\t")
_NUMBERS = ("card", "national-id", "phone")
_SHOWN_DIGITS = 3
_ACCOUNT = re.compile("([^\\s@\uff20])[^\\s@\uff20]*\\s?[@\uff20]")


class FirstPass:
    """What the first pass finds."""

    def __init__(self, screen: Screen, tally: Tally, refusals: Refusals, seed: int) -> None:
        self._screen, self._tally, self._refusals = screen, tally, refusals
        self._key = key_of(seed)
        self._clean = frozenset(word.encode() for word in screen.first_words).isdisjoint
        most = screen.most if screen.most <= LONGEST_EVER else ""
        # Lines of more than letters, five digits and a question mark at the end, or too short or too long.
        self._odd = re.compile(
            rf"^(?!(?=.{{{max(1, screen.least)},{most}}}$)[a-z ]*+(?:[0-9][a-z ]*+){{0,5}}+\??$).+$",
            re.MULTILINE,
        )
        self.records = self.unreadable = 0
        self.dropped: Counter[str] = Counter()
        self.examples: dict[str, list[tuple[int, str]]] = {}

    def run(self, reader: Reader) -> None:
        """Count everything that the reader gives."""
        for batch in reader.batches(self._unread):
            self.records += len(batch.texts)
            if batch.contexts and any(batch.contexts):
                self._with_contexts(batch)
            else:
                self._alone(batch)
        self._tally.settle()

    def _unread(self, line: int, reason: str, /, field: str = "") -> None:
        """A line of which the reader makes no record."""
        self.unreadable += 1
        self._refusals(line, reason, field)

    def _alone(self, batch: Batch) -> None:
        lines = self._plain_lines(batch.texts)
        clean, key, hashed = self._clean, self._key, blake2b
        gone: list[int] = []
        for place in [at for at, line in enumerate(lines) if not line or not clean(line.split())]:
            whole = normal(batch.texts[place])
            if self._dropped(batch, place, whole, []):
                gone.append(place)
            else:
                lines[place] = folded(whole).encode()
        if gone:
            out = set(gone)
            lines = [line for at, line in enumerate(lines) if at not in out]
        self._add(batch, [hashed(key + line).digest() for line in lines], gone)

    def _plain_lines(self, texts: list[str]) -> list[bytes]:
        """Identities of queries that no rule but the word list can drop; the others' are empty."""
        text = "\n".join(texts).lower()
        if "  " in text or "\t" in text:
            text = _SPACES.sub(" ", text)
        if " \n" in text or "\n " in text or text[:1] == " " or text[-1:] == " ":
            text = text.replace(" \n", "\n").replace("\n ", "\n").strip(" ")
        lines = self._odd.sub("", text).encode().split(b"\n")
        # A query with a newline in it: none of the batch is where it should be.
        return lines if len(lines) == len(texts) else [b""] * len(texts)

    def _with_contexts(self, batch: Batch) -> None:
        digests: list[bytes] = []
        gone: list[int] = []
        for place, (text, context) in enumerate(zip(batch.texts, batch.contexts, strict=True)):
            whole, before = normal(text), [normal(each) for each in context]
            if self._dropped(batch, place, whole, before):
                gone.append(place)
                continue
            digests.append(blake2b(self._key + identity(whole, before).encode()).digest())
        self._add(batch, digests, gone)

    def _dropped(self, batch: Batch, place: int, text: str, context: list[str]) -> bool:
        """Whether a normalised query stays out: it is empty, or a rule drops it."""
        if not text:
            self._refusals(batch.lines[place], "The query has no text.")
            return True
        rule = self._screen.rule_for(text, context)
        if not rule:
            return False
        self.dropped[rule] += 1
        examples = self.examples.setdefault(rule, [])
        if len(examples) < EXAMPLES:
            examples.append((batch.lines[place], masked(rule, text)))
        return True

    def _add(self, batch: Batch, digests: list[bytes], gone: list[int]) -> None:
        ordinals = np.asarray(batch.ordinals, dtype=np.int64)
        counts = np.asarray(batch.counts, dtype=np.int64)
        ids, labels, brings = batch.ids, batch.labels, batch.brings
        if gone:
            out = set(gone)
            ordinals = np.delete(ordinals, gone)
            counts = np.delete(counts, gone) if len(counts) else counts
            ids = [each for place, each in enumerate(ids) if place not in out]
            labels = [each for place, each in enumerate(labels) if place not in out]
            brings = [each for place, each in enumerate(brings) if place not in out]
        self._tally.add(digests, ordinals, counts, ids, labels=labels, brings=brings)


def masked(rule: str, text: str) -> str:
    """A dropped query as an example: enough to judge the rule by, without the number or the address."""
    if rule == "email":
        text = _ACCOUNT.sub(r"\1…@", text)
    elif rule in _NUMBERS:
        digits = iter(range(len(text)))
        text = re.sub(r"\d", lambda found: found[0] if next(digits) < _SHOWN_DIGITS else "•", text)
    return text if len(text) <= _LONGEST_EXAMPLE else text[: _LONGEST_EXAMPLE - 1] + "…"
