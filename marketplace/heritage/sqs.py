"""The queue service's protocol, as far as a poller of notifications needs it: actions, errors, endpoint."""

import hashlib
import json
import logging
import threading
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.core.exceptions import DisallowedHost
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse

from core.errors import translated_failure
from marketplace import clock
from marketplace.heritage.models import Queue, QueuedEvent
from marketplace.heritage.notifications import OWN_QUEUE, open_queue
from marketplace.heritage.topics import queue_arn
from marketplace.models import Requester
from marketplace.protocol import errors, sigv4
from marketplace.protocol.constraints import IntegerShape, ListOf, Structure, Text, checked
from marketplace.protocol.errors import ProtocolError
from marketplace.site.taskpages import site_url

# Errors as clients of the queue service read them.

_MODEL = "com.amazonaws.sqs#"
_OLD = "AWS.SimpleQueueService."


@dataclass(slots=True)
class QueueError(Exception):
    """A refusal: `kind` is the exception class of the service model, `code` what older clients compare."""

    kind: str
    code: str
    message: str

    def body(self) -> dict[str, Any]:
        """JSON body of the answer."""
        return {"__type": f"{_MODEL}{self.kind}", "message": self.message}

    def header(self) -> str:
        """Value of `x-amzn-query-error`, from which botocore takes the code."""
        return f"{self.code};Sender"


def no_queue(address: str) -> QueueError:
    """Refusal for an address at which the requester has no queue."""
    return QueueError(
        "QueueDoesNotExist",
        f"{_OLD}NonExistentQueue",
        f"You have no queue at {address[:300]!r}. It exists once CreateQueue made it or a notification "
        "specification named it.",
    )


def unsupported_operation(what: str) -> QueueError:
    """Refusal of what this part of the service does not do."""
    return QueueError("UnsupportedOperation", f"{_OLD}UnsupportedOperation", what)


def invalid_handle() -> QueueError:
    """Refusal of a receipt handle that this marketplace never gave out."""
    return QueueError(
        "ReceiptHandleIsInvalid",
        "ReceiptHandleIsInvalid",
        "The input receipt handle is not one that ReceiveMessage gave out.",
    )


# The HTTP endpoint of the queues: JSON protocol 1.0, signed for the service `sqs`.
#
# It shares address and keys with the requester protocol. A poller asks often and mostly for nothing, so its
# calls are not in the call log.

#: However long a client wants to wait for a message, a thread of the server waits no longer.
WAIT_AT_MOST = 5.0
_LOOK_EVERY = 0.25
#: So many threads of a process may wait at a time; for further clients one look later is the end of it.
_places = threading.BoundedSemaphore(2)


def receive_messages(
    *, requester: Requester, queue: str, most: int, hidden_s: int, wait_s: float
) -> list[QueuedEvent]:
    """Up to `most` messages, the oldest first, hidden from others for `hidden_s` seconds.

    Waits up to `wait_s` seconds (WAIT_AT_MOST) for the first one. Raises QueueError where there is no such
    queue.
    """
    if not queue_exists(requester, queue):
        raise no_queue(queue)

    def take() -> list[QueuedEvent]:
        return _take(requester, queue, most, hidden_s)

    return take() or (_wait(take, min(wait_s, WAIT_AT_MOST)) if wait_s else [])


def _wait(take: Callable[[], list[QueuedEvent]], seconds: float) -> list[QueuedEvent]:
    has_place = _places.acquire(blocking=False)
    try:
        end = time.monotonic() + (seconds if has_place else _LOOK_EVERY)
        while time.monotonic() < end:
            time.sleep(_LOOK_EVERY)
            if events := take():
                return events
        return []
    finally:
        if has_place:
            _places.release()


def queue_exists(requester: Requester, queue: str) -> bool:
    """Whether the requester has a queue at this address."""
    return Queue.objects.filter(requester=requester, address=queue).exists()


def _take(requester: Requester, queue: str, most: int, hidden_s: int) -> list[QueuedEvent]:
    now = clock.now()
    if not _visible(requester, queue, now).exists():
        return []
    with transaction.atomic():
        rows = list(
            _visible(requester, queue, now)
            .select_for_update(skip_locked=True)
            .order_by("visible_at", "id")[:most]
        )
        for row in rows:
            row.visible_at = now + timedelta(seconds=hidden_s)
            row.receipt = uuid.uuid4()
            row.received_count += 1
            row.first_received_at = row.first_received_at or now
        QueuedEvent.objects.bulk_update(
            rows, ["visible_at", "receipt", "received_count", "first_received_at"]
        )
    return rows


def _visible(requester: Requester, queue: str, now: datetime) -> QuerySet[QueuedEvent]:
    return QueuedEvent.objects.filter(requester=requester, queue=queue, visible_at__lte=now)


def receipt_handle_of(row: QueuedEvent) -> str:
    """The receipt handle of a message that was just received."""
    assert row.receipt is not None
    return f"{row.message_id.hex}.{row.receipt.hex}"


def delete_message(*, requester: Requester, queue: str, receipt_handle: str) -> None:
    """Delete a received message; once more, or after somebody else has received it, changes nothing."""
    message_id, _, receipt = receipt_handle.partition(".")
    try:
        message, latest = uuid.UUID(hex=message_id), uuid.UUID(hex=receipt)
    except ValueError as error:
        raise invalid_handle() from error
    QueuedEvent.objects.filter(requester=requester, queue=queue, message_id=message, receipt=latest).delete()


logger = logging.getLogger(__name__)
SERVICE = "sqs"
TARGET = "AmazonSQS."
CONTENT_TYPE = "application/x-amz-json-1.0"
_HIDDEN_S = 30
_BATCH = 10

_NAMES = ListOf(Text())
_QUEUE_NAME = Text(1, 80, r"[A-Za-z0-9_-]+")
_SHAPES = {
    "ReceiveMessage": Structure(
        {"QueueUrl": Text(1)},
        {
            "AttributeNames": _NAMES,
            "MessageSystemAttributeNames": _NAMES,
            "MessageAttributeNames": _NAMES,
            "MaxNumberOfMessages": IntegerShape(32, 1, 10),
            "VisibilityTimeout": IntegerShape(32, 0, 43_200),
            "WaitTimeSeconds": IntegerShape(32, 0, 20),
            "ReceiveRequestAttemptId": Text(),
        },
    ),
    "DeleteMessage": Structure({"QueueUrl": Text(1), "ReceiptHandle": Text(1)}),
    "DeleteMessageBatch": Structure(
        {
            "QueueUrl": Text(1),
            "Entries": ListOf(Structure({"Id": Text(1, 80), "ReceiptHandle": Text(1)})),
        }
    ),
    "GetQueueUrl": Structure({"QueueName": _QUEUE_NAME}, {"QueueOwnerAWSAccountId": Text()}),
    "CreateQueue": Structure({"QueueName": _QUEUE_NAME}),
    "GetQueueAttributes": Structure({"QueueUrl": Text(1)}, {"AttributeNames": _NAMES}),
    "ListQueues": Structure({}, {"QueueNamePrefix": Text(), "MaxResults": IntegerShape(32, 1, 1000)}),
}


def is_call(request: HttpRequest, at_endpoint: bool) -> bool:
    """Whether a request is one about queues, at the protocol's address or that of a queue."""
    target = request.META.get("HTTP_X_AMZ_TARGET") or ""
    return target.startswith(TARGET) and (at_endpoint or OWN_QUEUE.fullmatch(request.path_info) is not None)


def answer(request: HttpRequest) -> HttpResponse:
    """Answer one request about a queue; whatever goes wrong becomes an error that SQS clients understand."""
    request_id = str(uuid.uuid4())
    headers = {"x-amzn-RequestId": request_id}
    try:
        with translated_failure(partial(_note_fault, request_id), passing=(QueueError, ProtocolError)):
            body, status = _perform(request), 200
    except QueueError as error:
        body, status = error.body(), 400
        headers["x-amzn-query-error"] = error.header()
    except ProtocolError as protocol_error:
        if protocol_error.kind in errors.AT_THE_DOOR:
            errors.count_refusal(protocol_error.kind, request.META)
        body = {"__type": protocol_error.kind, "message": protocol_error.message}
        status = protocol_error.status
    response = HttpResponse(json.dumps(body), status=status, content_type=CONTENT_TYPE, headers=headers)
    response["Content-Length"] = str(len(response.content))
    return response


def _note_fault(request_id: str, error: Exception) -> ProtocolError:
    """What a client of SQS can read, of an error that is ours; the log has the whole story."""
    logger.error("A call about a queue failed, request %s", request_id, exc_info=error)
    return ProtocolError("InternalFailure", "The service failed; try again.", status=500)


def _perform(request: HttpRequest) -> dict[str, Any]:
    if request.method != "POST":
        raise ProtocolError("MethodNotAllowedException", "Calls are made with POST.", 405)
    raw = errors.body(request)
    signed = sigv4.authenticate(request.META, raw, service=SERVICE)
    requester = signed.requester
    errors.check_rate(requester.pk)
    name = request.META["HTTP_X_AMZ_TARGET"].removeprefix(TARGET)
    if name not in _SHAPES:
        raise unsupported_operation(
            f"{name[:80]} is not done here: the queues of this marketplace are filled by its events only, "
            f"and know {', '.join(_SHAPES)}."
        )
    parameters = checked(_SHAPES[name], errors.decoded(raw))
    return _OPERATIONS[name](request, requester, parameters)


def _receive(request: HttpRequest, requester: Requester, body: dict[str, Any]) -> dict[str, Any]:
    rows = receive_messages(
        requester=requester,
        queue=body["QueueUrl"],
        most=body.get("MaxNumberOfMessages", 1),
        hidden_s=body.get("VisibilityTimeout", _HIDDEN_S),
        wait_s=body.get("WaitTimeSeconds", 0),
    )
    attribute_names = {*body.get("AttributeNames", ()), *body.get("MessageSystemAttributeNames", ())}
    return {"Messages": [_message(row, attribute_names) for row in rows]} if rows else {}


def _message(row: QueuedEvent, attribute_names: set[str]) -> dict[str, Any]:
    message: dict[str, Any] = {
        "MessageId": str(row.message_id),
        "ReceiptHandle": receipt_handle_of(row),
        "MD5OfBody": hashlib.md5(row.body.encode(), usedforsecurity=False).hexdigest(),
        "Body": row.body,
    }
    attributes = {
        "SentTimestamp": _milliseconds(row.sent_at),
        "ApproximateReceiveCount": str(row.received_count),
        "ApproximateFirstReceiveTimestamp": _milliseconds(row.first_received_at or row.sent_at),
    }
    if selected := {
        name: value
        for name, value in attributes.items()
        if name in attribute_names or "All" in attribute_names
    }:
        message["Attributes"] = selected
    return message


def _milliseconds(moment: datetime) -> str:
    return str(int(moment.timestamp() * 1000))


def _delete(request: HttpRequest, requester: Requester, body: dict[str, Any]) -> dict[str, Any]:
    _check_queue(requester, body["QueueUrl"])
    delete_message(requester=requester, queue=body["QueueUrl"], receipt_handle=body["ReceiptHandle"])
    return {}


def _delete_batch(request: HttpRequest, requester: Requester, body: dict[str, Any]) -> dict[str, Any]:
    _check_queue(requester, body["QueueUrl"])
    if not 1 <= len(body["Entries"]) <= _BATCH:
        raise unsupported_operation(
            f"DeleteMessageBatch takes 1 to {_BATCH} entries, not {len(body['Entries'])}."
        )
    done: list[dict[str, Any]] = []
    failed: list[dict[str, Any]] = []
    for entry in body["Entries"]:
        try:
            delete_message(requester=requester, queue=body["QueueUrl"], receipt_handle=entry["ReceiptHandle"])
            done.append({"Id": entry["Id"]})
        except QueueError as error:
            failed.append(
                {"Id": entry["Id"], "SenderFault": True, "Code": error.code, "Message": error.message}
            )
    return {"Successful": done, "Failed": failed}


def _check_queue(requester: Requester, address: str) -> None:
    if not queue_exists(requester, address):
        raise no_queue(address)


def _find(request: HttpRequest, requester: Requester, body: dict[str, Any]) -> dict[str, Any]:
    address = _address(request, body["QueueName"])
    _check_queue(requester, address)
    return {"QueueUrl": address}


def _create(request: HttpRequest, requester: Requester, body: dict[str, Any]) -> dict[str, Any]:
    address = _address(request, body["QueueName"])
    open_queue(requester, address, clock.now())
    return {"QueueUrl": address}


def _attributes(request: HttpRequest, requester: Requester, body: dict[str, Any]) -> dict[str, Any]:
    address = body["QueueUrl"]
    queue = Queue.objects.filter(requester=requester, address=address).first()
    if queue is None:
        raise no_queue(address)
    waiting = QueuedEvent.objects.filter(requester=requester, queue=address)
    visible = _visible(requester, address, clock.now()).count()
    attributes = {
        "QueueArn": queue_arn(requester, address),
        "ApproximateNumberOfMessages": str(visible),
        "ApproximateNumberOfMessagesNotVisible": str(waiting.count() - visible),
        "CreatedTimestamp": str(int(queue.created_at.timestamp())),
        "VisibilityTimeout": str(_HIDDEN_S),
    }
    attribute_names = set(body.get("AttributeNames", ()))
    return {
        "Attributes": {name: each for name, each in attributes.items() if attribute_names & {name, "All"}}
    }


def _list(request: HttpRequest, requester: Requester, body: dict[str, Any]) -> dict[str, Any]:
    prefix = body.get("QueueNamePrefix", "")
    addresses = Queue.objects.filter(requester=requester).order_by("pk").values_list("address", flat=True)
    matches = [each for each in addresses[:1000] if each.rpartition("/")[2].startswith(prefix)]
    return {"QueueUrls": matches[: body.get("MaxResults", 1000)]}


def _address(request: HttpRequest, name: str) -> str:
    try:
        return f"{site_url(request)}/mturk/queues/{name}"
    except DisallowedHost as error:
        raise QueueError(
            "InvalidAddress", "InvalidAddress", "This server is not called by that name; see ALLOWED_HOSTS."
        ) from error


_OPERATIONS: dict[str, Callable[[HttpRequest, Requester, dict[str, Any]], dict[str, Any]]] = {
    "ReceiveMessage": _receive,
    "DeleteMessage": _delete,
    "DeleteMessageBatch": _delete_batch,
    "GetQueueUrl": _find,
    "CreateQueue": _create,
    "GetQueueAttributes": _attributes,
    "ListQueues": _list,
}
