"""Texts of a usual length for campaigns in bulk, put together from the sentences of the sample passages."""

import json
import random
import re
from pathlib import Path

from distillery.settings import BASE_DIR

_SAMPLE = Path(BASE_DIR) / "annotation" / "sample" / "passages.jsonl"
_ASKED = ("what is", "how does one explain", "why do people study", "who first described", "when did")


class Texts:
    """Draws texts; the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(f"texts:{seed}")
        whole = [json.loads(line)["text"] for line in _SAMPLE.read_text(encoding="utf-8").splitlines()]
        found = (part.strip() for text in whole for part in re.split(r"(?<=[.?!])\s+", text))
        self._sentences = sorted({each for each in found if 30 <= len(each) <= 220})
        words = {word.lower() for each in self._sentences for word in re.findall(r"[A-Za-z]{5,12}", each)}
        self._words = sorted(words)

    def query(self, number: int) -> str:
        """A question that no other number has."""
        first, second, third = self._chance.choices(self._words, k=3)
        return f"{_ASKED[number % len(_ASKED)]} {first} {second} and {third} {number}"

    def answer(self) -> str:
        """One or two sentences, with the beginning in other words."""
        said = self._chance.choices(self._sentences, k=1 if self._chance.random() < 0.6 else 2)
        opening = " ".join(self._chance.choices(self._words, k=3))
        return f"{opening.capitalize()}: {' '.join(said)}"

    def passage(self) -> str:
        """Four to seven sentences."""
        return " ".join(self._chance.choices(self._sentences, k=self._chance.randrange(4, 8)))
