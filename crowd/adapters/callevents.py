"""Every call of a marketplace carries the id of our request and is a span of its trace."""

from contextlib import ExitStack
from typing import Any

from botocore.hooks import BaseEventHooks

from core.jobs.requestids import HEADER, current_request_id
from core.jobs.spans import is_on, open_span


def follow_calls(events: BaseEventHooks) -> None:
    """Register the handlers below with a botocore client's events."""
    events.register("before-call.mturk", tell_request_id)
    if is_on():
        events.register("before-call.mturk", begin_span)
        events.register("after-call.mturk", end_span)
        events.register("after-call-error.mturk", end_span)


def begin_span(model: Any, context: dict[str, Any], **_: Any) -> None:
    """Before a call: open its span, which `end_span` closes."""
    stack = ExitStack()
    note = stack.enter_context(open_span(f"mturk {model.name}", **{"rpc.method": model.name}))
    context["distillery.span"] = stack, note


def end_span(context: dict[str, Any], http_response: Any = None, exception: Any = None, **_: Any) -> None:
    """After a call, whether it was answered or not; of an error only the class is noted."""
    stack, note = context.pop("distillery.span")
    if http_response is not None:
        note("http.response.status_code", http_response.status_code)
    if exception is not None:
        note("error.type", type(exception).__name__)
    stack.close()


def tell_request_id(params: dict[str, Any], **_: Any) -> None:
    """Before a call: a marketplace of ours writes the id of our request into its log; others overlook it."""
    if request_id := current_request_id():
        params["headers"][HEADER] = request_id
