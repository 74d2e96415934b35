"""What reviewers do with answers: each a form that is posted, and back to where one was."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, redirect
from django.views.decorators.http import require_POST

from annotation.desk.review import distillation_only, query_of_stage, writing_only
from annotation.desk.reviewforms import HoldOutForm
from annotation.models import Answer
from annotation.services import holdout, review_decisions
from crowd.desk.access import StageAccess, on_stage
from crowd.desk.queues import queue_named
from crowd.models import Worker
from web.access import Role
from web.forms import read_form, run_action

QUERY = "annotation:answers_of_query"
Decide = Callable[[Answer, str, str], str]


def _answer(access: StageAccess, pk: int) -> Answer:
    writing_only(access)
    found: Answer = get_object_or_404(
        Answer.objects.select_related("stage__project", "stage__endpoint", "worker", "query"),
        stage=access.stage,
        pk=pk,
    )
    return found


def _act(request: HttpRequest, access: StageAccess, pk: int, decide: Decide) -> HttpResponse:
    """Decide, and go back to the answer; or to the next undecided one after it."""
    answer = _answer(access, pk)
    seen, reason = request.POST.get("seen", ""), request.POST.get("reason", "")[:2000].replace("\0", "")
    response = run_action(
        request,
        lambda: decide(answer, seen, reason),
        QUERY,
        access.project.slug,
        access.stage.slug,
        answer.query_id,
    )
    mark = answer.pk
    if answer.state != Answer.State.UNDECIDED:
        following = Answer.objects.filter(
            stage=access.stage, query=answer.query_id, state=Answer.State.UNDECIDED, pk__gt=answer.pk
        )
        mark = following.order_by("pk").values_list("pk", flat=True).first() or answer.pk
        if mark == answer.pk and (onward := _onward(request, access)):
            return onward
    assert isinstance(response, HttpResponseRedirect)
    response["Location"] = f"{response.url}{_queue(request)}#answer-{mark}"
    return response


def _queue(request: HttpRequest) -> str:
    """The queue from which a query was opened, to be kept in addresses."""
    name = request.GET.get("queue", "")
    return f"?queue={name}" if queue_named(name) else ""


def _onward(request: HttpRequest, access: StageAccess) -> HttpResponse | None:
    """On to the next in the queue from which the query was opened."""
    queue = queue_named(request.GET.get("queue", ""))
    return redirect("desk:queue", access.project.slug, queue.name) if queue else None


@require_POST
@on_stage(Role.MANAGER)
def approve(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Accept an answer as a reference; refused where it changed after the page was opened."""

    def decide(answer: Answer, seen: str, _: str) -> str:
        review_decisions.approve(answer=answer, actor=access.user, seen=seen)
        return "Approved."

    return _act(request, access, pk, decide)


@require_POST
@on_stage(Role.MANAGER)
def ask_rewrite(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Ask its author to write it again."""

    def decide(answer: Answer, seen: str, reason: str) -> str:
        review_decisions.ask_rewrite(answer=answer, actor=access.user, seen=seen, reason=reason)
        return "Its author is asked to write it again."

    return _act(request, access, pk, decide)


@require_POST
@on_stage(Role.MANAGER)
def exclude(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Exclude, with a reason."""

    def decide(answer: Answer, seen: str, reason: str) -> str:
        rejecting = request.POST.get("work") == "reject"
        review_decisions.exclude(
            answer=answer, actor=access.user, seen=seen, reason=reason, reject_work=rejecting
        )
        return "Excluded, and its work is being rejected." if rejecting else "Excluded. Its work is paid."

    return _act(request, access, pk, decide)


@require_POST
@on_stage(Role.MANAGER)
def reopen(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Take a decision back."""

    def decide(answer: Answer, seen: str, _: str) -> str:
        review_decisions.reopen(answer=answer, actor=access.user, seen=seen)
        return "The decision is taken back."

    return _act(request, access, pk, decide)


@require_POST
@on_stage(Role.MANAGER)
def approve_unflagged(request: HttpRequest, access: StageAccess, *, pk: int) -> HttpResponse:
    """Approve every answer to a query that nothing was noticed about."""
    query = query_of_stage(access, pk)

    def action() -> str:
        count = review_decisions.approve_unflagged(stage=access.stage, query=query, actor=access.user)
        return "One answer is approved." if count == 1 else f"{count} answers are approved."

    answer = run_action(request, action, QUERY, access.project.slug, access.stage.slug, pk)
    left = Answer.objects.filter(stage=access.stage, query=query, state=Answer.State.UNDECIDED)
    return answer if left.exists() else _onward(request, access) or answer


@require_POST
@on_stage(Role.MANAGER)
def draw_holdout(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Hold people out of every query that is complete."""
    distillation_only(access)

    def action() -> str:
        given = read_form(HoldOutForm(request.POST))
        drawn = holdout.draw(
            project=access.project, people=given["people"], seed=given["seed"], actor=access.user
        )
        few = f" {drawn.too_few} have too few answers." if drawn.too_few else ""
        return f"Drawn for {drawn.queries} {'query' if drawn.queries == 1 else 'queries'}.{few}"

    return run_action(request, action, "annotation:answers", access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER)
def hold_out(request: HttpRequest, access: StageAccess, *, pk: int, worker: int) -> HttpResponse:
    """Hold one person's answer to a query out."""
    distillation_only(access)
    query = query_of_stage(access, pk)

    def action() -> str:
        holdout.hold_out(query=query, worker=_writer(access, worker), actor=access.user)
        return "Held out: this answer is a candidate of the system human."

    return run_action(request, action, QUERY, access.project.slug, access.stage.slug, pk)


@require_POST
@on_stage(Role.MANAGER)
def take_back(request: HttpRequest, access: StageAccess, *, pk: int, worker: int) -> HttpResponse:
    """Make a held-out answer a reference again."""
    distillation_only(access)
    query = query_of_stage(access, pk)

    def action() -> str:
        holdout.take_back(query=query, worker=_writer(access, worker), stage=access.stage, actor=access.user)
        return "This answer is a reference again."

    return run_action(request, action, QUERY, access.project.slug, access.stage.slug, pk)


def _writer(access: StageAccess, pk: int) -> Worker:
    found: Worker = get_object_or_404(Worker.objects.filter(answers__stage=access.stage).distinct(), pk=pk)
    return found
