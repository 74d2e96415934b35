"""The funnel as a section of a project's overview."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.urls import NoReverseMatch, reverse

from annotation.selectors.funnel import Part, funnel
from projects.models import Project

#: The page from which queries come in.
IMPORT = "annotation:import_new"
_WORDS = {
    "screening": ("Accepted in screening", "through-screening", "waiting", "tied", "excluded"),
    "curation": ("Curated", "through-curation", "accepted", "disputed", "unanswerable"),
    "distillation": ("Distilled: all answers in", "answered", "curated", "", ""),
}
_UNDECIDED = {"screening": "tied", "curation": "disputed"}
_OUT = {"screening": "excluded", "curation": "unanswerable"}


@dataclass(frozen=True, slots=True)
class Number:
    """A count of queries with the list that it opens, and where its bar lies: x and width of 100."""

    name: str
    words: str
    count: int
    address: str
    x: float
    width: float


@dataclass(frozen=True, slots=True)
class Row:
    """A part of the pipeline as it is drawn; `numbers` begin with those that came through."""

    label: str
    entered: int
    numbers: tuple[Number, ...]

    @property
    def passed(self) -> Number:
        """Those that came through."""
        return self.numbers[0]


def section(project: Project) -> Mapping[str, Any]:
    """Context of `annotation/funnel.html`."""
    found = funnel(project)
    everything = reverse("annotation:queries", args=[project.slug])
    if found is None:
        return {"funnel": None, "import_address": _import_address(project)}
    scale = 100 / found.total if found.total else 0.0
    return {
        "funnel": found,
        "import_address": _import_address(project),
        "everything": everything,
        "rows": [_row(part, everything, scale) for part in found.parts],
        "attention": [(each.sentence, _place(project, each.filters, everything)) for each in found.attention],
    }


def _place(project: Project, filters: Mapping[str, str], everything: str) -> str:
    """Where a person does what waits: the queue of undecided queries, else the list of the queries."""
    if filters.get("status") in _UNDECIDED.values():
        return reverse("annotation:adjudication", args=[project.slug])
    return f"{everything}?{urlencode(filters)}" if filters else ""


def _import_address(project: Project) -> str:
    try:
        return reverse(IMPORT, args=[project.slug])
    except NoReverseMatch:
        return ""


def _row(part: Part, everything: str, scale: float) -> Row:
    label, through, waiting, undecided, out = _WORDS[part.kind]
    counts = (
        ("passed", "came through", part.passed, through),
        ("waiting", "waiting", part.waiting, waiting),
        ("undecided", _UNDECIDED.get(part.kind, ""), part.undecided, undecided),
        ("out", _OUT.get(part.kind, ""), part.out, out),
        ("withdrawn", "taken out", part.withdrawn, f"taken-out-{part.kind}"),
    )
    numbers, x = [], 0.0
    for name, words, count, status in counts:
        width = round(count * scale, 3)
        address = f"{everything}?{urlencode({'status': status})}" if status else ""
        numbers.append(Number(name, words, count, address, round(x, 3), width))
        x += width
    return Row(label, part.entered, tuple(numbers))
