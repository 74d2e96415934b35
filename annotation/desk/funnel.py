"""What this app says on a project's overview: queries in, screened, curated, distilled, and what waits."""

from collections.abc import Mapping
from urllib.parse import urlencode

from django.urls import reverse

from annotation.selectors.funnel import Funnel, Part, funnel
from core.projects.models import Project
from core.projects.selectors import last_event
from crowd.desk.overview import Attention, Count, Link, OverviewPart, Step
from crowd.selectors.stage_sizes import project_figures

_TEACH = (
    "Import queries from a query log or a public data set. Then people screen them, choose passages that "
    "answer them, and write the answers. What systems answer is judged against those."
)
_WORDS = {
    "screening": ("Accepted in screening", "through-screening", "waiting", "tied", "excluded"),
    "curation": ("Curated", "through-curation", "accepted", "disputed", "unanswerable"),
    "distillation": ("Distilled: all answers in", "answered", "curated", "", ""),
}
_UNDECIDED = {"screening": "tied", "curation": "disputed"}
_OUT = {"screening": "excluded", "curation": "unanswerable"}


def say(project: Project, _: int | None) -> OverviewPart:
    """The first steps of the funnel, and what needs a decision about queries and answers."""
    found = _funnel(project)
    imports = Link("Import queries", reverse("annotation:import_new", args=[project.slug]))
    if found is None:
        return OverviewPart(teach=_TEACH, teach_link=imports)
    everything = reverse("annotation:queries", args=[project.slug])
    steps = (_in(found, everything, imports), *(_step(part, everything) for part in found.parts))
    attention = tuple(
        Attention("soon", each.sentence, _place(project, each.filters, everything))
        for each in found.attention
    )
    return OverviewPart(steps, attention)


def _funnel(project: Project) -> Funnel | None:
    """Of a large project as it was some seconds ago, but for what people did to queries and answers."""

    def key() -> str:
        return f"funnel:{project.pk}:{last_event(project, 'quer')}:{last_event(project, 'answer')}"

    return project_figures(project, key, lambda: funnel(project))


def _in(found: Funnel, everything: str, imports: Link) -> Step:
    many = "import" if found.sources == 1 else "imports"
    passed = Count("passed", "", found.total, everything)
    return Step("Queries in", found.total, (passed,), f"from {found.sources:,} {many}", imports)


def _place(project: Project, filters: Mapping[str, str], everything: str) -> str:
    """Where a person does what waits: the queue of undecided queries, else the list of the queries."""
    if filters.get("status") in _UNDECIDED.values():
        return reverse("annotation:adjudication", args=[project.slug])
    return f"{everything}?{urlencode(filters)}" if filters else ""


def _step(part: Part, everything: str) -> Step:
    label, through, waiting, undecided, out = _WORDS[part.kind]
    counts = (
        ("passed", "came through", part.passed, through),
        ("waiting", "waiting", part.waiting, waiting),
        ("undecided", _UNDECIDED.get(part.kind, ""), part.undecided, undecided),
        ("out", _OUT.get(part.kind, ""), part.out, out),
        ("withdrawn", "taken out", part.withdrawn, f"taken-out-{part.kind}"),
    )
    return Step(
        label,
        part.entered,
        tuple(
            Count(name, words, count, f"{everything}?{urlencode({'status': status})}")
            for name, words, count, status in counts
            if status
        ),
    )
