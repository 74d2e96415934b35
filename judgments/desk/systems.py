"""Pages of a project's systems: the table, one system with its candidates, its download, one answer."""

from collections.abc import Iterator
from itertools import islice
from operator import attrgetter
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from annotation.desk.columns import links_of_query
from annotation.models import HeldOutWorker
from core.files.cells import cell, csv_text
from judgments.models import Candidate, CandidateSource, System
from judgments.selectors import candidates as selectors
from judgments.selectors.candidates import AnswerScore, Filters, reference_texts
from judgments.services import candidates as services
from web.access import ProjectAccess, Role, on_project
from web.forms import LogReasonForm, read_form, run_action
from web.pages import show
from web.table_pages import respond
from web.tables import Choices, Column, Grid, GridRequest, Words

SYSTEMS = Grid(
    "systems",
    columns=(
        Column("system", "System", attrgetter("system.name"), by="name"),
        Column("kind", "Kind", attrgetter("system.kind"), on_page=False),
        Column("answers", "Answers", attrgetter("answers"), by="answers", down=True, number=True),
        Column("judge", "To judge", attrgetter("to_judge"), by="to_judge", down=True, number=True),
        Column("exact", "Same as a reference", attrgetter("exact"), by="exact", down=True, number=True),
        Column("empty", "No answer", attrgetter("empty"), by="empty", down=True, number=True),
        Column(
            "out", "Taken out", lambda row: row.withdrawn + row.query_out, by="out", down=True, number=True
        ),
        Column("judged", "Judged", attrgetter("judged"), by="judged", down=True, number=True),
        Column("judgments", "Judgments", attrgetter("judgments"), by="judgments", down=True, number=True),
        Column("mean", "Mean score", attrgetter("mean"), by="mean", down=True, number=True),
    ),
    order="system",
)
#: Its file has columns of its own, which are read without a model instance per row.
OF_SYSTEM = Grid(
    "answers",
    columns=(
        Column("text", "Answer", by="text"),
        Column("query", "Query", by="query__text"),
        Column("state", "State", by="aside"),
        Column("judged", "Judgments", by="judgment_count", down=True, number=True),
        Column("mean", "Mean score", by="mean_score", down=True, number=True, gaps=True),
        Column("number", "Number", by="pk", on_page=False),
    ),
    filters=(
        Words("q", "Words of the answer or the query, or its id"),
        Choices("state", "Which", selectors.STATES),
    ),
    order="number",
    aliases={"best": "mean", "worst": "-mean"},
)

FOLDER = "judgments"
_AT_ONCE = 1000
#: Columns of the download with the fields that they hold; what people said follows them.
_COLUMNS = {
    "query_id": "query__key", "query": "query__text", "system": "system__name", "answer": "text",
    "opinion": "opinion", "aside": "aside", "reason": "aside_reason", "file": "source__name", "line": "line",
}  # fmt: skip


class AnswerReasonForm(LogReasonForm):
    """A reason that stays with the answer."""

    help_text = "Stays with the answer and in the project's log."


def _system(access: ProjectAccess, pk: int) -> System:
    found: System = get_object_or_404(System, pk=pk, project=access.project)
    found.project = access.project
    return found


def _candidate(access: ProjectAccess, pk: int) -> Candidate:
    rows = Candidate.objects.select_related("query", "system", "source")
    found: Candidate = get_object_or_404(rows, pk=pk, system__project=access.project)
    found.system.project = access.project
    return found


@require_safe
@on_project()
def listing(request: HttpRequest, access: ProjectAccess) -> HttpResponseBase:
    """All systems with what became of their candidates."""
    sources = (
        CandidateSource.objects.filter(project=access.project).defer("report", "options").order_by("-pk")
    )
    return respond(
        request,
        access,
        SYSTEMS,
        lambda asked: selectors.systems(access.project),
        "systems.html",
        folder=FOLDER,
        file=f"{access.project.slug}-systems",
        rows_as="page",
        about=lambda rows: {"systems": rows},
        tab="systems",
        sources=sources[:10],
        held_out=HeldOutWorker.objects.filter(query__project=access.project).count(),
    )


@require_POST
@on_project(Role.MANAGER)
def human(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Bring the candidates of the system `human` up to date."""

    def action() -> str:
        done = services.human_candidates(access.project, actor=access.user)
        parts = [
            (done.new, "new candidates"),
            (done.exact, "of them set aside as copies of a reference"),
            (done.back, "came back"),
            (done.withdrawn, "taken out: no longer held out"),
            (done.judged, "no longer held out, but judged already: they stay"),
        ]
        said = "; ".join(f"{count:,} {words}" for count, words in parts if count)
        return f"{said}." if said else "Nothing has changed: all answers that are held out are candidates."

    return run_action(request, action, "judgments:systems", access.project.slug)


@require_POST
@on_project(Role.MANAGER)
def refresh(request: HttpRequest, access: ProjectAccess) -> HttpResponse:
    """Look for copies of references that came after the import."""

    def action() -> str:
        count = services.refresh_exact(access.project, actor=access.user)
        if not count:
            return "No answer without judgments is the same as a reference."
        return f"{count:,} answer{'' if count == 1 else 's'} set aside: the same as a reference."

    return run_action(request, action, "judgments:systems", access.project.slug)


@require_safe
@on_project()
def system(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponseBase:
    """One system and its answers; filtered, sorted and paged by the address."""
    row = _system(access, pk)
    (counts,) = selectors.systems(access.project, row)

    def with_said(found: list[Candidate]) -> list[tuple[Candidate, AnswerScore]]:
        said = selectors.load_answer_scores(each.pk for each in found)
        return [(each, said.get(each.pk, AnswerScore())) for each in found]

    return respond(
        request,
        access,
        OF_SYSTEM,
        lambda asked: _rows(row, asked),
        "system.html",
        complete=with_said,
        folder=FOLDER,
        rows_as="page",
        file_at=reverse("judgments:system_csv", args=[access.project.slug, row.pk]),
        about=lambda rows: {"rows": rows},
        tab="systems",
        system=row,
        counts=counts,
        set_aside=counts.exact + counts.empty + counts.withdrawn + counts.query_out,
        out=selectors.OUT,
        why_form=AnswerReasonForm(),
    )


def _rows(row: System, asked: GridRequest) -> QuerySet[Candidate]:
    return selectors.rows(row, Filters(asked["state"], asked["q"], asked.column.name))


@require_safe
@on_project()
def download(request: HttpRequest, access: ProjectAccess, *, pk: int) -> StreamingHttpResponse:
    """What the table shows on all its pages, as CSV, a thousand rows in memory at a time."""
    row = _system(access, pk)
    asked = OF_SYSTEM.asked(request.GET)
    rows = asked.sort(_rows(row, asked))
    answer = StreamingHttpResponse(_lines(rows), content_type="text/csv; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{access.project.slug}-answers-{row.pk}.csv"'
    return answer


def _lines(rows: Any) -> Iterator[str]:
    yield csv_text([(*_COLUMNS, "judgments", "mean", "simulated")])
    found = rows.values_list("pk", *_COLUMNS.values()).iterator(chunk_size=_AT_ONCE)
    while some := list(islice(found, _AT_ONCE)):
        said = selectors.load_answer_scores(pk for pk, *_ in some)
        yield csv_text(_cells(values, said.get(pk, AnswerScore())) for pk, *values in some)


def _cells(values: list[Any], said: AnswerScore) -> Iterator[str | int | float | None]:
    for value in values:
        yield cell(value) if isinstance(value, str) else value
    yield said.judgments
    yield said.mean
    yield "true" if said.simulated else "false"


@require_POST
@on_project(Role.MANAGER)
def keep_copies(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Have all copies of references that a system gave judged."""
    row = _system(access, pk)

    def action() -> str:
        reason = read_form(AnswerReasonForm(request.POST))["reason"]
        count = services.put_back_copies(system=row, reason=reason, actor=access.user)
        return f"{count:,} answer{'' if count == 1 else 's'} put back: people judge them."

    return run_action(request, action, "judgments:system", access.project.slug, pk)


@require_safe
@on_project()
def candidate(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """One answer, the references beside it, and what became of it."""
    row = _candidate(access, pk)
    return show(
        request,
        "candidate.html",
        access,
        folder=FOLDER,
        tab="systems",
        candidate=row,
        query=row.query,
        system=row.system,
        references=reference_texts([row.query_id]).get(row.query_id, []),
        beside=links_of_query(access.project, row.query, {"candidate": row.pk}),
        said=selectors.load_answer_scores([pk]).get(pk, AnswerScore()),
        out=selectors.OUT,
        why_form=AnswerReasonForm(),
    )


@require_POST
@on_project(Role.MANAGER)
def take_out(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Take an answer out."""
    row = _candidate(access, pk)

    def action() -> str:
        reason = read_form(AnswerReasonForm(request.POST))["reason"]
        services.withdraw(candidate=row, reason=reason, actor=access.user)
        return "Taken out. No more judgments are asked for it; those already given stay."

    return run_action(request, action, "judgments:candidate", access.project.slug, pk)


@require_POST
@on_project(Role.MANAGER)
def back(request: HttpRequest, access: ProjectAccess, *, pk: int) -> HttpResponse:
    """Put an answer back."""
    row = _candidate(access, pk)

    def action() -> str:
        reason = read_form(AnswerReasonForm(request.POST))["reason"]
        services.put_back(candidate=row, reason=reason, actor=access.user)
        return "Put back: people judge it."

    return run_action(request, action, "judgments:candidate", access.project.slug, pk)
