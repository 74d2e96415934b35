"""Blacking out what the privacy check found and a person decided to hide."""

from collections import defaultdict
from typing import Any

from core.projects.models import Project
from releases.models import PrivacyFinding

BLACK = "\u2588"


class Redactions:
    """The spans to black out, by the text that they are in.

    A text is named by its subject and field: `answer:17` and `text`, `query:3` and `text`, `context.0.text`,
    `context.0.answer` or `references.1`, `passage:5` and `text` or `title`, `candidate:8` and `text`. A span
    keeps its length, so that other spans of the same text still fit.
    """

    def __init__(self, project: Project, using: str) -> None:
        found = PrivacyFinding.objects.using(using).filter(
            project=project, state=PrivacyFinding.State.REDACTED, end__gt=0
        )
        self._spans: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for subject, field, start, end in found.values_list("subject", "field", "start", "end"):
            self._spans[subject, field].append((start, end))

    def __bool__(self) -> bool:
        return bool(self._spans)

    def __len__(self) -> int:
        return sum(map(len, self._spans.values()))

    def of(self, subject: str, field: str, text: str) -> str:
        """The text as it is published."""
        spans = self._spans.get((subject, field))
        if not spans:
            return text
        for start, upto in spans:
            end = min(upto, len(text))
            if start < end:
                text = f"{text[:start]}{BLACK * (end - start)}{text[end:]}"
        return text


def fit(text: Any) -> str:
    """A text out of a JSON column as one that every file can hold: no lone surrogates, no NUL."""
    if not isinstance(text, str):
        return ""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
