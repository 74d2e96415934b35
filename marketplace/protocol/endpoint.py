"""The HTTP endpoint of the requester protocol.

It answers before the rest of the site, so that no session, redirect or error page of the site ever reaches
a client: botocore reads an HTML page with status 200 as an empty success.
"""

import json
import logging
import socket
import time
import uuid
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase

from core.accounts.actors import Actor, acting_as
from core.accounts.addresses import address_of
from core.database.composedqueries import ComposedInsert
from marketplace import chaos, clock
from marketplace.errors import Refusal
from marketplace.models import CallLog
from marketplace.notifications.specification import OWN_QUEUE
from marketplace.protocol import limiter, lookup, operations, refusals, replays, sigv4, wire
from marketplace.protocol.calls import OPERATIONS, Call
from marketplace.protocol.constraints import checked
from marketplace.protocol.errors import ProtocolError, fault_body, refusal_body
from marketplace.protocol.shapes import OPERATIONS as SHAPES
from marketplace.sqs import endpoint as sqs

__all__ = ["ProtocolMiddleware", "operations"]

logger = logging.getLogger(__name__)
PATHS = frozenset({"/mturk/api", "/mturk/api/"})
TARGET = "MTurkRequesterServiceV20170117."
CONTENT_TYPE = "application/x-amz-json-1.1"
#: Parameters that the call log leaves out, for their size.
_UNLOGGED = {"Question", "Test", "AnswerKey", "MessageText"}


_LOGGED = ComposedInsert(CallLog)


class ProtocolMiddleware:
    """First middleware: hands requests of the protocol to `answer`, everything else to the site."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, or pass it on."""
        path, target = request.path_info, request.META.get("HTTP_X_AMZ_TARGET")
        if target and target.startswith(sqs.TARGET) and (path in (*PATHS, "/") or OWN_QUEUE.fullmatch(path)):
            return sqs.answer(request)
        if path in PATHS or (path == "/" and request.method == "POST" and target is not None):
            return answer(request)
        return self.get_response(request)


class _InjectedError(Exception):
    """The failure that test controls asked for."""


def answer(request: HttpRequest) -> HttpResponse:
    """Answer one protocol request; whatever goes wrong becomes an error of the protocol."""
    started = time.perf_counter()
    record = CallLog(request_id=uuid.uuid4(), operation="", result="ok")
    try:
        with acting_as(lambda: Actor(access_key=record.access_key, address=record.address)):
            body = _perform(request, record, started)
        status = 200
    except ProtocolError as error:
        body, status, record.result = error.body(), error.status, error.kind
    except Refusal as refusal:
        body, status, record.result = refusal_body(refusal), 400, refusal.code
    except Exception:
        logger.exception("%s failed, request %s", record.operation or "A call", record.request_id)
        body, status, record.result = fault_body(), 500, "ServiceFault"
    if record.requester_id is None:
        refusals.count(record.result, request.META)
    elif not record.executed:
        _log(record, started)
    response = HttpResponse(json.dumps(body), status=status, content_type=CONTENT_TYPE)
    response["Content-Length"] = str(len(response.content))
    response["x-amzn-RequestId"] = str(record.request_id)
    if record.executed and record.requester_id and chaos.take_lost_response(record.requester_id):
        _drop_connection(request)
        response.status_code = 503
    return response


def _perform(request: HttpRequest, record: CallLog, started: float) -> dict[str, Any]:
    if request.method != "POST":
        raise ProtocolError("MethodNotAllowedException", "Calls are made with POST.", 405)
    raw = wire.body(request)
    record.address = address_of(request.META)
    signed = sigv4.authenticate(request.META, raw)
    requester = record.requester = signed.requester
    record.access_key = signed.key.access_key
    name = request.META.get("HTTP_X_AMZ_TARGET", "")
    if not name.startswith(TARGET) or name.removeprefix(TARGET) not in SHAPES:
        raise ProtocolError("UnknownOperationException", f"There is no operation {name[:120]!r}.")
    name = record.operation = name.removeprefix(TARGET)
    parameters = checked(SHAPES[name], wire.decoded(raw))
    record.parameters = {key: value for key, value in parameters.items() if key not in _UNLOGGED}
    record.parameters = json.loads(json.dumps(record.parameters, default=str))
    limiter.check(requester.pk)
    faults = chaos.faults_for(requester.pk)
    if chaos.happens(faults.throttle_rate) or chaos.take_throttle(requester.pk):
        raise limiter.throttled()
    call = Call(name, requester, parameters, clock.now(), record.request_id)
    operation = OPERATIONS[name]
    if not operation.writes:
        if chaos.happens(faults.error_rate):
            raise _InjectedError
        return operation.handler(call)
    if signed.key.read_only:
        raise ProtocolError("AccessDeniedException", "This access key reads only; it may change nothing.")
    lookup.settle_for_writing(call)
    with transaction.atomic():
        replays.refuse_again(call, signed.signature)
        result = operation.handler(call)
        if chaos.happens(faults.error_rate):
            raise _InjectedError
        record.executed = True
        try:
            _log(record, started)
        except Exception:
            record.executed = False
            raise
    return result


def _log(record: CallLog, started: float) -> None:
    record.milliseconds = (time.perf_counter() - started) * 1000
    record.at = clock.now()
    try:
        _LOGGED.run(record)
    except Exception:
        if record.executed:
            raise
        logger.exception("The call log could not be written")


def _drop_connection(request: HttpRequest) -> None:
    """Close the client's connection without an answer, as a network does at its worst moment."""
    connection = request.META.get("gunicorn.socket")
    if isinstance(connection, socket.socket):
        connection.shutdown(socket.SHUT_RDWR)
