"""The HTTP endpoint of the requester protocol.

It answers before the rest of the site, so that no session, redirect or error page of the site ever reaches
a client: botocore reads an HTML page with status 200 as an empty success.
"""

import json
import logging
import time
import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import Protocol

from django.core.exceptions import DisallowedHost
from django.db import Error, IntegrityError, transaction
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.utils import timezone

from core.accounts.security import Actor, acting_as, address_of
from core.extensions import parts_of
from core.origin import Via
from marketplace import clock
from marketplace.errors import Refusal
from marketplace.models import CallLog, SignedWrite
from marketplace.parts import OperationModule, ProtocolService
from marketplace.protocol import errors, hit_operations, lookup, sigv4, worker_operations
from marketplace.protocol.calls import OPERATIONS, Call, Result
from marketplace.protocol.constraints import checked
from marketplace.protocol.errors import ProtocolError, fault_body, refusal_body
from marketplace.site.taskpages import site_url

#: Same calls of one script come within this time.
SAME_BREATH = timedelta(seconds=5)


def refuse_again(call: Call, signature: str) -> None:
    """Remember the call in its own transaction; raise ProtocolError where it was made some time ago.

    A call with a token is protected by its token.
    """
    if call.get("UniqueRequestToken") is not None:
        return
    now = timezone.now()
    try:
        with transaction.atomic():
            SignedWrite.objects.create(signature=signature, at=now)
    except IntegrityError:
        if SignedWrite.objects.get(signature=signature).at < now - SAME_BREATH:
            raise ProtocolError(
                "InvalidSignatureException",
                "This very request was made before. Sign a new one to make it again.",
            ) from None


# The two modules of operations are imported to fill `calls.OPERATIONS`.
__all__ = ["ProtocolMiddleware", "hit_operations", "worker_operations"]

logger = logging.getLogger(__name__)
PATHS = frozenset({"/mturk/api", "/mturk/api/"})
TARGET = "MTurkRequesterServiceV20170117."
CONTENT_TYPE = "application/x-amz-json-1.1"
#: Parameters that the call log leaves out, for their size.
_UNLOGGED = {"Question", "HITLayoutParameters", "Test", "AnswerKey", "MessageText"}


#: Operations whose answer holds an address of this site.
_NAMING_ADDRESSES = frozenset({"GetFileUploadURL"})


class ProtocolMiddleware:
    """First middleware: hands requests of the protocol to `answer`, everything else to the site."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response
        self._services = parts_of(ProtocolService)
        for operations in parts_of(OperationModule):
            import_module(operations.name)

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer the request, or pass it on."""
        path, target = request.path_info, request.META.get("HTTP_X_AMZ_TARGET")
        for service in self._services:
            if service.is_call(request, path in (*PATHS, "/")):
                return service.answer(request)
        if path in PATHS or (path == "/" and request.method == "POST" and target is not None):
            return self.answer(request, CallLog(request_id=uuid.uuid4(), operation="", result="ok"))
        return self.get_response(request)

    def answer(self, request: HttpRequest, record: CallLog) -> HttpResponseBase:
        """Answer one protocol request and log it; whatever goes wrong becomes an error of the protocol."""
        log = partial(_log, record, time.perf_counter())
        try:
            with acting_as(lambda: Actor(access_key=record.access_key, address=record.address), via=Via.CALL):
                call, signature = _read_call(request, record)
                body, status = self.execute(call, signature, log), 200
        except ProtocolError as error:
            body, status, record.result = error.body(), error.status, error.kind
        except Refusal as refusal:
            body, status, record.result = refusal_body(refusal), 400, refusal.code
        except Exception:  # the border of the protocol: its clients can read nothing but its own errors
            logger.exception("%s failed, request %s", record.operation or "A call", record.request_id)
            body, status, record.result = fault_body(), 500, "ServiceFault"
        if status != 200:
            record.executed = False  # its line in the log was undone with its transaction
        if record.requester_id is None:
            errors.count_refusal(record.result, request.META)
        elif not record.executed:
            try:
                log(executed=False)
            except (Error, ValueError):  # ValueError: the driver cannot write a text
                logger.exception("The call log could not be written")
        response = HttpResponse(json.dumps(body), status=status, content_type=CONTENT_TYPE)
        response["Content-Length"] = str(len(response.content))
        response["x-amzn-RequestId"] = str(record.request_id)
        return response

    def execute(self, call: Call, signature: str, log: "LogWriter") -> Result:
        """Run the call's operation; one that writes has its line in the log in its own transaction."""
        operation = OPERATIONS[call.operation]
        if not operation.writes:
            return operation.handler(call)
        if call.read_only:
            raise ProtocolError("AccessDeniedException", "This access key reads only; it may change nothing.")
        lookup.settle_for_writing(call)
        with transaction.atomic():
            refuse_again(call, signature)
            result = operation.handler(call)
            log(executed=True)
        return result


class LogWriter(Protocol):
    """Writes the line of one call to the call log."""

    def __call__(self, *, executed: bool) -> None: ...


def _read_call(request: HttpRequest, record: CallLog) -> tuple[Call, str]:
    """The call that a request makes and its signature, checked; fills in what the log says of it."""
    from marketplace.protocol.shapes import input_shapes

    if request.method != "POST":
        raise ProtocolError("MethodNotAllowedException", "Calls are made with POST.", 405)
    raw = errors.body(request)
    record.address = address_of(request.META)
    signed = sigv4.authenticate(request.META, raw)
    requester = record.requester = signed.requester
    record.access_key = signed.key.access_key
    name = request.META.get("HTTP_X_AMZ_TARGET", "")
    if not name.startswith(TARGET) or name.removeprefix(TARGET) not in OPERATIONS:
        raise ProtocolError("UnknownOperationException", f"There is no operation {name[:120]!r}.")
    name = record.operation = name.removeprefix(TARGET)
    parameters = checked(input_shapes()[name], errors.decoded(raw))
    record.parameters = {key: value for key, value in parameters.items() if key not in _UNLOGGED}
    # Moments are no JSON; the log keeps them as texts.
    record.parameters = json.loads(json.dumps(record.parameters, default=str))
    # After the record knows whose call it is and of what: one that is throttled has its line in the log, too.
    errors.check_rate(requester.pk)
    call = Call(name, requester, parameters, clock.now(), record.request_id, read_only=signed.key.read_only)
    if name in _NAMING_ADDRESSES:
        try:
            call.base_url = site_url(request)
        except DisallowedHost as error:
            raise ProtocolError(
                "ValidationException", "This server is not called by that name; see ALLOWED_HOSTS."
            ) from error
    return call, signed.signature


def _log(record: CallLog, started: float, *, executed: bool) -> None:
    record.executed = executed
    record.milliseconds = (time.perf_counter() - started) * 1000
    record.at = clock.now()
    record.pk = None  # a line that was undone with its transaction is written again
    record.save(force_insert=True)
