"""What reviewers do with answers: each a form that is posted, and back to where one was."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect

from annotation.desk.review import distillation_only, query_of_seat
from annotation.desk.reviewforms import HoldOutForm
from annotation.models import Answer
from annotation.services import holdout, review_decisions
from crowd.desk.doors import Role, StageSeat, on_stage, posted, run_action
from crowd.desk.queues import queue_named
from crowd.desk.views.projects import entered
from crowd.models import Worker

QUERY = "annotation:answers_of_query"
Decide = Callable[[Answer, str, str], str]


def _answer(seat: StageSeat, pk: int) -> Answer:
    distillation_only(seat)
    found: Answer = get_object_or_404(
        Answer.objects.select_related("stage__project", "stage__endpoint", "worker", "query"),
        stage=seat.stage,
        pk=pk,
    )
    return found


def _act(request: HttpRequest, seat: StageSeat, pk: int, decide: Decide) -> HttpResponse:
    """Decide, and go back to the answer; or to the next undecided one after it."""
    answer = _answer(seat, pk)
    seen, reason = request.POST.get("seen", ""), request.POST.get("reason", "")[:2000].replace("\0", "")
    response = run_action(
        request,
        lambda: decide(answer, seen, reason),
        QUERY,
        seat.project.slug,
        seat.stage.slug,
        answer.query_id,
    )
    mark = answer.pk
    if answer.state != Answer.State.UNDECIDED:
        following = Answer.objects.filter(
            stage=seat.stage, query=answer.query_id, state=Answer.State.UNDECIDED, pk__gt=answer.pk
        )
        mark = following.order_by("pk").values_list("pk", flat=True).first() or answer.pk
        if mark == answer.pk and (onward := _onward(request, seat)):
            return onward
    assert isinstance(response, HttpResponseRedirect)
    response["Location"] = f"{response.url}{_queue(request)}#answer-{mark}"
    return response


def _queue(request: HttpRequest) -> str:
    """The queue from which a query was opened, to be kept in addresses."""
    name = request.GET.get("queue", "")
    return f"?queue={name}" if queue_named(name) else ""


def _onward(request: HttpRequest, seat: StageSeat) -> HttpResponse | None:
    """On to the next in the queue from which the query was opened."""
    queue = queue_named(request.GET.get("queue", ""))
    return redirect("desk:queue", seat.project.slug, queue.name) if queue else None


@posted
@on_stage(Role.MANAGER)
def approve(request: HttpRequest, seat: StageSeat, *, pk: int) -> HttpResponse:
    """Approve."""

    def decide(answer: Answer, seen: str, _: str) -> str:
        review_decisions.approve(answer=answer, actor=seat.user, seen=seen)
        return "Approved."

    return _act(request, seat, pk, decide)


@posted
@on_stage(Role.MANAGER)
def ask_rewrite(request: HttpRequest, seat: StageSeat, *, pk: int) -> HttpResponse:
    """Ask its author to write it again."""

    def decide(answer: Answer, seen: str, reason: str) -> str:
        review_decisions.ask_rewrite(answer=answer, actor=seat.user, seen=seen, reason=reason)
        return "Its author is asked to write it again."

    return _act(request, seat, pk, decide)


@posted
@on_stage(Role.MANAGER)
def exclude(request: HttpRequest, seat: StageSeat, *, pk: int) -> HttpResponse:
    """Exclude, with a reason."""

    def decide(answer: Answer, seen: str, reason: str) -> str:
        rejecting = request.POST.get("work") == "reject"
        review_decisions.exclude(
            answer=answer, actor=seat.user, seen=seen, reason=reason, reject_work=rejecting
        )
        return "Excluded, and its work is being rejected." if rejecting else "Excluded. Its work is paid."

    return _act(request, seat, pk, decide)


@posted
@on_stage(Role.MANAGER)
def reopen(request: HttpRequest, seat: StageSeat, *, pk: int) -> HttpResponse:
    """Take a decision back."""

    def decide(answer: Answer, seen: str, _: str) -> str:
        review_decisions.reopen(answer=answer, actor=seat.user, seen=seen)
        return "The decision is taken back."

    return _act(request, seat, pk, decide)


@posted
@on_stage(Role.MANAGER)
def approve_unflagged(request: HttpRequest, seat: StageSeat, *, pk: int) -> HttpResponse:
    """Approve every answer to a query that nothing was noticed about."""
    query = query_of_seat(seat, pk)

    def action() -> str:
        count = review_decisions.approve_unflagged(stage=seat.stage, query=query, actor=seat.user)
        return "One answer is approved." if count == 1 else f"{count} answers are approved."

    answer = run_action(request, action, QUERY, seat.project.slug, seat.stage.slug, pk)
    left = Answer.objects.filter(stage=seat.stage, query=query, state=Answer.State.UNDECIDED)
    return answer if left.exists() else _onward(request, seat) or answer


@posted
@on_stage(Role.MANAGER)
def draw_holdout(request: HttpRequest, seat: StageSeat) -> HttpResponse:
    """Hold people out of every query that is complete."""
    distillation_only(seat)

    def action() -> str:
        given = entered(HoldOutForm(request.POST))
        drawn = holdout.draw(
            project=seat.project, people=given["people"], seed=given["seed"], actor=seat.user
        )
        few = f" {drawn.too_few} have too few answers." if drawn.too_few else ""
        return f"Drawn for {drawn.queries} {'query' if drawn.queries == 1 else 'queries'}.{few}"

    return run_action(request, action, "annotation:answers", seat.project.slug, seat.stage.slug)


@posted
@on_stage(Role.MANAGER)
def hold_out(request: HttpRequest, seat: StageSeat, *, pk: int, worker: int) -> HttpResponse:
    """Hold one person's answer to a query out."""
    query = query_of_seat(seat, pk)

    def action() -> str:
        holdout.hold_out(query=query, worker=_writer(seat, worker), actor=seat.user)
        return "Held out: this answer is a candidate of the system human."

    return run_action(request, action, QUERY, seat.project.slug, seat.stage.slug, pk)


@posted
@on_stage(Role.MANAGER)
def take_back(request: HttpRequest, seat: StageSeat, *, pk: int, worker: int) -> HttpResponse:
    """Make a held-out answer a reference again."""
    query = query_of_seat(seat, pk)

    def action() -> str:
        holdout.take_back(query=query, worker=_writer(seat, worker), stage=seat.stage, actor=seat.user)
        return "This answer is a reference again."

    return run_action(request, action, QUERY, seat.project.slug, seat.stage.slug, pk)


def _writer(seat: StageSeat, pk: int) -> Worker:
    found: Worker = get_object_or_404(Worker.objects.filter(answers__stage=seat.stage).distinct(), pk=pk)
    return found
