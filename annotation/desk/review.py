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
from annotation.kinds.distillation_config import distillation_config
from annotation.models import Answer, HeldOutWorker, Query
from annotation.selectors import review
from annotation.selectors.material import material
from annotation.selectors.overlap import Lengths, lengths, overlap, stage_spread, texts_of
from crowd.desk.doors import StageSeat, on_stage, show
from crowd.desk.grids import respond
from crowd.models import Worker
from tables.grids import page_of

#: Pairs of answers at least so alike stand in the table of a query, the likest first.
_ALIKE = 0.6
_MOST_PAIRS = 12


def distillation_only(seat: StageSeat) -> None:
    """Other kinds of stages have no answers."""
    if seat.stage.kind != "distillation":
        raise Http404("Only stages of distillation have answers.")


def query_of_seat(seat: StageSeat, pk: int) -> Query:
    """A query of the seat's project; others are nobody's business here."""
    distillation_only(seat)
    found: Query = get_object_or_404(Query, project=seat.project, pk=pk)
    return found


@require_safe
@on_stage()
def listing(request: HttpRequest, seat: StageSeat) -> HttpResponseBase:
    """Queries with how many answers they have, are flagged, and wait for a decision."""
    distillation_only(seat)

    def with_figures(found: list[Query]) -> list[tuple[Query, Lengths | None, float | None]]:
        texts = texts_of(seat.stage, [query.pk for query in found])
        figures = {pk: (lengths([len(text) for text in some]), overlap(some)) for pk, some in texts.items()}
        return [(query, *figures.get(query.pk, (None, None))) for query in found]

    held_out = HeldOutWorker.objects.filter(query__project=seat.project)
    return respond(
        request,
        seat,
        ANSWERS,
        lambda asked: review.queries(seat.stage, asked["state"]),
        "review.html",
        complete=with_figures,
        folder="annotation",
        file=f"{seat.stage.slug}-answers",
        rows_as="queries",
        tab="answers",
        any_answers=Answer.objects.filter(stage=seat.stage).exists(),
        held_out=held_out.values("query").distinct().count(),
        holdout_form=HoldOutForm(
            initial={"people": distillation_config(seat.stage).hold_out or 1, "seed": seat.stage.seed}
        ),
    )


@require_safe
@on_stage()
def query(request: HttpRequest, seat: StageSeat, *, pk: int) -> HttpResponse:
    """One query: its passages, and all answers side by side."""
    row = query_of_seat(seat, pk)
    answers = review.of_query(seat.stage, row)
    numbers = {shown.answer.pk: shown.number for shown in answers}
    written = [
        FlaggedAnswer(shown.answer.pk, shown.answer.worker_id, shown.answer.text)
        for shown in answers
        if shown.answer.state != Answer.State.EXCLUDED
    ]
    before, after = review.neighbours(seat.stage, row)
    return show(
        request,
        "review_query.html",
        seat,
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
        beside=links_of_query(seat.project, row),
    )


def _opinions(answers: list[review.ShownAnswer]) -> list[tuple[str, int]]:
    given = [shown.answer.opinion for shown in answers if shown.answer.state in Answer.COUNTED]
    return [(str(label), given.count(value)) for value, label in Answer.Opinion.choices]


@require_safe
@on_stage()
def writers(request: HttpRequest, seat: StageSeat) -> HttpResponseBase:
    """Who wrote answers, those with most flags first unless the address says otherwise."""
    distillation_only(seat)
    return respond(
        request,
        seat,
        WRITERS,
        lambda asked: review.writers(seat.stage, asked["q"]),
        "review_workers.html",
        folder="annotation",
        file=f"{seat.stage.slug}-writers",
        rows_as="workers",
        tab="answers",
    )


@require_safe
@on_stage()
def writer(request: HttpRequest, seat: StageSeat, *, pk: int) -> HttpResponse:
    """All answers of one person."""
    distillation_only(seat)
    worker = get_object_or_404(Worker.objects.filter(answers__stage=seat.stage).distinct(), pk=pk)
    rows = page_of(review.of_worker(seat.stage, worker), request)
    answers = review.answers(Answer.objects.filter(pk__in=[row.pk for row in rows]).order_by("-pk"))
    return show(
        request,
        "review_worker.html",
        seat,
        folder="annotation",
        tab="answers",
        worker=worker,
        rows=rows,
        answers=answers,
    )


@require_safe
@on_stage()
def spread(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Lengths and overlap over the stage, and what every flag means."""
    distillation_only(seat)
    return show(
        request,
        "review_spread.html",
        seat,
        folder="annotation",
        tab="answers",
        spread=stage_spread(seat.stage),
        flags=FLAGS.values(),
    )
