"""Pages on which reviewers look at answers."""

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_safe

from annotation.desk.columns import ANSWERS, WRITERS
from annotation.desk.query_links import links_of_query
from annotation.desk.reviewforms import HoldOutForm
from annotation.flags.likeness import pairs
from annotation.flags.registry import FLAGS
from annotation.flags.shapes import FlaggedAnswer
from annotation.kinds.distillation_config import WRITING_KINDS, distillation_config
from annotation.models import Answer, HeldOutWorker, Query
from annotation.selectors import review
from annotation.selectors.material import material
from annotation.selectors.overlap import Lengths, lengths, overlap, stage_spread, texts_of
from crowd.desk.access import StageAccess, on_stage
from crowd.models import Stage, Worker
from web.pages import show
from web.table_pages import respond
from web.tables import page_of

#: Pairs of answers at least so alike stand in the table of a query, the likest first.
_ALIKE = 0.6
_MOST_PAIRS = 12


def writing_only(access: StageAccess) -> None:
    """Other kinds of stages have no answers."""
    if access.stage.kind not in WRITING_KINDS:
        raise Http404("Only stages in which people write have answers.")


def distillation_only(access: StageAccess) -> None:
    """Only answers to a query can be references or held out; continuations are candidates."""
    if access.stage.kind != "distillation":
        raise Http404("Only stages of distillation have answers to hold out.")


def query_of_stage(access: StageAccess, pk: int) -> Query:
    """A query of the project; those of other projects do not exist here."""
    writing_only(access)
    found: Query = get_object_or_404(Query, project=access.project, pk=pk)
    return found


@require_safe
@on_stage()
def listing(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """Queries with how many answers they have, are flagged, and wait for a decision."""
    writing_only(access)

    def with_figures(found: list[Query]) -> list[tuple[Query, Lengths | None, float | None]]:
        texts = texts_of(access.stage, [query.pk for query in found])
        figures = {pk: (lengths([len(text) for text in some]), overlap(some)) for pk, some in texts.items()}
        return [(query, *figures.get(query.pk, (None, None))) for query in found]

    held_out = HeldOutWorker.objects.filter(query__project=access.project)
    return respond(
        request,
        access,
        ANSWERS,
        lambda asked: review.queries(access.stage, asked["state"]),
        "review.html",
        complete=with_figures,
        folder="annotation",
        file=f"{access.stage.slug}-answers",
        rows_as="queries",
        tab="answers",
        any_answers=Answer.objects.filter(stage=access.stage).exists(),
        held_out=held_out.values("query").distinct().count(),
        holdout_form=_holdout_form(access.stage),
    )


def _holdout_form(stage: Stage) -> HoldOutForm | None:
    """None where nothing can be held out."""
    if stage.kind != "distillation":
        return None
    people = distillation_config(stage).hold_out or 1
    return HoldOutForm(initial={"people": people, "seed": stage.seed})


@require_safe
@on_stage()
def query(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """One query: its passages, and all answers side by side."""
    row = query_of_stage(access, pk)
    answers = review.of_query(access.stage, row)
    numbers = {shown.answer.pk: shown.number for shown in answers}
    written = [
        FlaggedAnswer(shown.answer.pk, shown.answer.worker_id, shown.answer.text)
        for shown in answers
        if shown.answer.state != Answer.State.EXCLUDED
    ]
    before, after = review.neighbours(access.stage, row)
    return show(
        request,
        "review_query.html",
        access,
        folder="annotation",
        tab="answers",
        query=row,
        material=material(row.pk),
        answers=answers,
        numbers=numbers,
        unflagged=sum(
            not shown.flags
            and shown.answer.state == Answer.State.UNDECIDED
            and shown.answer.checked_at is not None
            for shown in answers
        ),
        pairs=[
            (numbers[pair.a], numbers[pair.b], pair) for pair in pairs(written, least=_ALIKE)[:_MOST_PAIRS]
        ],
        lengths=lengths([len(answer.text) for answer in written]),
        overlap=overlap([answer.text for answer in written]),
        opinions=_opinions(answers) if row.yes_no else [],
        before=before,
        after=after,
        beside=links_of_query(access.project, row),
    )


def _opinions(answers: list[review.ShownAnswer]) -> list[tuple[str, int]]:
    given = [shown.answer.opinion for shown in answers if shown.answer.state in Answer.COUNTED]
    return [(str(label), given.count(value)) for value, label in Answer.Opinion.choices]


@require_safe
@on_stage()
def writers(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """Who wrote answers, those with most flags first unless the address says otherwise."""
    writing_only(access)
    return respond(
        request,
        access,
        WRITERS,
        lambda asked: review.writers(access.stage, asked["q"]),
        "review_workers.html",
        folder="annotation",
        file=f"{access.stage.slug}-writers",
        rows_as="workers",
        tab="answers",
    )


@require_safe
@on_stage()
def writer(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """All answers of one person."""
    writing_only(access)
    worker = get_object_or_404(Worker.objects.filter(answers__stage=access.stage).distinct(), pk=pk)
    rows = page_of(review.of_worker(access.stage, worker), request)
    answers = review.answers(Answer.objects.filter(pk__in=[row.pk for row in rows]).order_by("-pk"))
    return show(
        request,
        "review_worker.html",
        access,
        folder="annotation",
        tab="answers",
        worker=worker,
        rows=rows,
        answers=answers,
    )


@require_safe
@on_stage()
def spread(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Lengths and overlap over the stage, and what every flag means."""
    writing_only(access)
    return show(
        request,
        "review_spread.html",
        access,
        folder="annotation",
        tab="answers",
        spread=stage_spread(access.stage),
        flags=FLAGS.values(),
    )
