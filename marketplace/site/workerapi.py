"""HTTP interface of scripted workers: the services of the worker site, for a token instead of a login."""

import json
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.core.exceptions import BadRequest, SuspiciousOperation
from django.http import HttpRequest, JsonResponse
from django.http.multipartparser import MultiPartParserError
from django.views.decorators.csrf import csrf_exempt

from core.money import dollars
from marketplace import clock, ids, models
from marketplace.errors import Refusal
from marketplace.forms import formanswers
from marketplace.forms.formanswers import FormAnswers
from marketplace.forms.questionform import parse_form
from marketplace.lifecycle import assignments
from marketplace.lifecycle.hits import return_assignment
from marketplace.lifecycle.selectors import assignable
from marketplace.qualifications import eligibility, grants
from marketplace.site.taskpages import frame_url, preview_url, site_url, turk_submit_to

_STATUS = {
    "NoWork": 404,
    "HITDoesNotExist": 404,
    "AssignmentDoesNotExist": 404,
    "QualificationTypeDoesNotExist": 404,
    "QualificationRequestDoesNotExist": 404,
    "InvalidParameterValue": 400,
}
Handler = Callable[[HttpRequest, models.Worker, dict[str, Any]], dict[str, Any]]


def _for_token(answer: Callable[..., JsonResponse]) -> Callable[..., JsonResponse]:
    """A POST view for the holder of a worker token, where a refusal is JSON."""

    @csrf_exempt
    @wraps(answer)
    def view(request: HttpRequest, **parts: str) -> JsonResponse:
        if request.method != "POST":
            return _error(405, "MethodNotAllowed", "Use POST.")
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        worker = models.Worker.objects.filter(token_digest=ids.digest(token)).first() if token else None
        if worker is None:
            return _error(401, "Unauthorized", "Send the worker's token as Authorization: Bearer TOKEN.")
        try:
            return answer(request, worker, **parts)
        except Refusal as refusal:
            return _error(_STATUS.get(refusal.code, 409), refusal.code, refusal.message)

    return view


def _endpoint(handler: Handler) -> Callable[[HttpRequest], JsonResponse]:
    """The same with JSON in and out."""

    @_for_token
    def view(request: HttpRequest, worker: models.Worker) -> JsonResponse:
        try:
            body = json.loads(request.body or b"{}")
            if not isinstance(body, dict) or not all(map(_is_name, body.values())):
                raise ValueError
        except (ValueError, RecursionError, SuspiciousOperation):
            return _error(400, "InvalidBody", "Send a JSON object whose values are ids.")
        return JsonResponse(handler(request, worker, body))

    return view


def _is_name(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and len(value) <= 64


def _error(status: int, code: str, message: str) -> JsonResponse:
    return JsonResponse({"error": code, "message": message}, status=status)


@_endpoint
def next_task(request: HttpRequest, worker: models.Worker, body: dict[str, Any]) -> dict[str, Any]:
    """The HIT that `accept` would give, of one group or of any; null where nothing is left."""
    for hit_type in _groups(worker, body):
        hit = assignments.next_hit(worker=worker, hit_type=hit_type)
        if hit is not None:
            return {"hit": {**_hit(hit), "preview_url": preview_url(hit=hit, base_url=site_url(request))}}
    return {"hit": None}


@_endpoint
def accept(request: HttpRequest, worker: models.Worker, body: dict[str, Any]) -> dict[str, Any]:
    """Accept a HIT by id, or the next one of a group or of any; says where its task page is."""
    if "hit_id" in body:
        hit = models.HIT.objects.select_related("hit_type").filter(hit_id=body["hit_id"]).first()
        if hit is None:
            raise Refusal("HITDoesNotExist", f"Hit {body['hit_id']} does not exist.")
        return _holding(request, assignments.accept(worker=worker, hit=hit))
    for hit_type in _groups(worker, body):
        try:
            return _holding(request, assignments.accept_next(worker=worker, hit_type=hit_type))
        except Refusal as refusal:
            if refusal.code != "NoWork":
                raise
    raise Refusal("NoWork", assignments.NO_WORK)


@_endpoint
def give_back_task(request: HttpRequest, worker: models.Worker, body: dict[str, Any]) -> dict[str, Any]:
    """Return an assignment that the worker holds."""
    holding = models.Holding.objects.filter(
        assignment_id=body.get("assignment_id", ""), worker=worker, state=models.Holding.State.ACCEPTED
    ).first()
    if holding is None:
        raise Refusal("AssignmentDoesNotExist", "You hold no assignment with this id.")
    return_assignment(holding=holding)
    return {"returned": True}


@_endpoint
def ask_for_qualification(
    request: HttpRequest, worker: models.Worker, body: dict[str, Any]
) -> dict[str, Any]:
    """Ask for a qualification; where there is a test, what it asks and until when."""
    named = body.get("qualification_type_id", "")
    kind = models.QualificationType.objects.filter(qualification_type_id=named, deleted_at=None).first()
    if kind is None:
        raise Refusal("QualificationTypeDoesNotExist", f"QualificationType {named} does not exist.")
    return _describe_request(request, grants.ask(worker=worker, qualification_type=kind))


@_for_token
def hand_in_test(request: HttpRequest, worker: models.Worker, request_id: str) -> JsonResponse:
    """The answers of a test, as the form of its page posts them: `answer:` and the QuestionIdentifier."""
    begun = models.QualificationRequest.objects.filter(request_id=request_id, worker=worker).first()
    if begun is None:
        raise Refusal("QualificationRequestDoesNotExist", "You have begun no test with this id.")
    try:
        posted = request.POST
    except (SuspiciousOperation, MultiPartParserError, BadRequest):
        return _error(400, "InvalidBody", "Send the answers as a form.")
    answers = (
        formanswers.read_form_answers(parse_form(begun.test, parameter="Test"), posted)
        if begun.test
        else FormAnswers()
    )
    done = grants.hand_in(request=begun, answers=answers)
    return JsonResponse(_describe_request(request, done))


def _describe_request(request: HttpRequest, row: models.QualificationRequest) -> dict[str, Any]:
    answer: dict[str, Any] = {"request_id": row.request_id, "state": row.state}
    if row.state == models.QualificationRequest.State.STARTED and row.deadline:
        submit_url = f"{site_url(request)}/worker-api/test/{row.request_id}"
        answer |= {"test": row.test, "deadline": row.deadline.isoformat(), "submit_url": submit_url}
    if row.state == models.QualificationRequest.State.GRANTED:
        grants = models.QualificationGrant.objects.filter(
            qualification_type=row.qualification_type_id, worker=row.worker_id
        )
        answer["value"] = grants.values_list("value", flat=True).get()
    return answer


def _groups(worker: models.Worker, body: dict[str, Any]) -> list[models.HITType]:
    open_hits = models.HIT.objects.filter(assignable(clock.now()))
    groups = models.HITType.objects.filter(pk__in=open_hits.values("hit_type_id")).order_by("pk")
    if "group_id" in body:
        groups = groups.filter(group_id=body["group_id"])
    if "hit_type_id" in body:
        groups = groups.filter(type_id=body["hit_type_id"])
    hit_types = list(groups)
    allowed = eligibility.verdicts(worker=worker, hit_types=hit_types)
    return [group for group in hit_types if allowed[group.pk].accept]


def _hit(hit: models.HIT) -> dict[str, Any]:
    return {
        "hit_id": hit.hit_id,
        "hit_type_id": hit.hit_type.type_id,
        "group_id": hit.hit_type.group_id,
        "title": hit.hit_type.title,
        "reward": dollars(hit.reward_cents),
        "duration_s": hit.hit_type.duration_s,
    }


def _holding(request: HttpRequest, holding: models.Holding) -> dict[str, Any]:
    base_url = site_url(request)
    address = turk_submit_to(holding=holding, base_url=base_url)
    return {
        **_hit(holding.hit),
        "assignment_id": holding.assignment_id,
        "worker_id": holding.worker.worker_id,
        "frame_url": frame_url(holding=holding, base_url=base_url),
        "turk_submit_to": address,
        "submit_url": f"{address}/mturk/externalSubmit",
        "accepted_at": holding.accepted_at.isoformat(),
        "deadline": holding.deadline.isoformat(),
    }
