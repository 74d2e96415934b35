"""TREC's topics: <top> with <num>, <title>, <desc> and <narr>, whose closing tags may be missing."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from retrieval.evaluation.lines import Faults

_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z_-]+)[^>]*>")
_LABELS = re.compile(r"^\s*(?:number|title|topic|description|narrative)\s*:\s*", re.IGNORECASE)
_NAMES = {"number": "num", "description": "desc", "narrative": "narr"}


@dataclass
class Topic:
    """A topic, and the line on which it begins."""

    line: int
    id: str = ""
    fields: dict[str, str] = field(default_factory=dict)


def topics(numbered: Iterable[tuple[int, str]], faults: Faults) -> Iterator[Topic]:
    """The topics of a file; texts without their labels (“Number:”) and with single blanks."""
    now: Topic | None = None
    name, pieces = "", list[str]()

    def keep() -> None:
        if now is not None and name:
            now.fields[name] = " ".join(_LABELS.sub("", " ".join(pieces)).split())

    for number, line in numbered:
        at = 0
        for tag in _TAG.finditer(line):
            pieces.append(line[at : tag.start()])
            at = tag.end()
            keep()
            closing, name, pieces = bool(tag[1]), _NAMES.get(tag[2].lower(), tag[2].lower()), []
            if name == "top":
                name = ""
                if now is not None:
                    yield from _whole(now, faults)
                now = None if closing else Topic(number)
            elif closing:
                name = ""
        pieces.append(line[at:])
    if now is not None:
        keep()
        faults.add(now.line, "", "this <top> is never closed", "Close it with </top>.")


def _whole(topic: Topic, faults: Faults) -> Iterator[Topic]:
    topic.id = topic.fields.pop("num", "")
    if topic.id:
        yield topic
    else:
        faults.add(topic.line, "num", "the topic has no number", "Give it <num>.")
