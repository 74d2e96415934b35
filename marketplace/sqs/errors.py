"""Errors as clients of the queue service read them."""

from dataclasses import dataclass
from typing import Any

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


def unsupported(what: str) -> QueueError:
    """Refusal of what this part of the service does not do."""
    return QueueError("UnsupportedOperation", f"{_OLD}UnsupportedOperation", what)


def invalid_handle() -> QueueError:
    """Refusal of a receipt handle that this marketplace never gave out."""
    return QueueError(
        "ReceiptHandleIsInvalid",
        "ReceiptHandleIsInvalid",
        "The input receipt handle is not one that ReceiveMessage gave out.",
    )
