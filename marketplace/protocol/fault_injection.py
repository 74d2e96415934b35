"""Faults on request: in the settings, and connected to signals, only where test controls are on."""

import random
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.http import HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from waitress.channel import ClientDisconnected  # type: ignore[import-untyped]

from marketplace.lifecycle.events import answer_submitted
from marketplace.models import CallLog, Holding
from marketplace.protocol import errors, testcontrols
from marketplace.protocol.calls import Call, Result
from marketplace.protocol.endpoint import LogWriter, ProtocolMiddleware


class InjectedError(Exception):
    """The failure that test controls asked for."""


class FaultInjectionMiddleware(ProtocolMiddleware):
    """The protocol with the faults in force for a requester: throttling, errors, lost answers."""

    def answer(self, request: HttpRequest, record: CallLog) -> HttpResponseBase:
        """Answer, and lose the answer to a committed call where one is to be lost."""
        response = super().answer(request, record)
        if record.executed and record.requester_id and testcontrols.take_lost_response(record.requester_id):
            return StreamingHttpResponse(_break_off())
        return response

    def execute(self, call: Call, signature: str, log: LogWriter) -> Result:
        """Throttle the call, or let it fail after its operation ran, which is undone."""
        faults = testcontrols.faults_for(call.requester.pk)
        if _draw(faults.throttle_rate) or testcontrols.take_throttle(call.requester.pk):
            raise errors.throttled()
        if not _draw(faults.error_rate):
            return super().execute(call, signature, log)
        with transaction.atomic():
            super().execute(call, signature, log)
            raise InjectedError


def _draw(rate: float) -> bool:
    """Return True with this probability."""
    return rate > 0 and random.random() < rate  # noqa: S311 - faults need no secrecy


def _break_off() -> Iterator[bytes]:
    """An answer of which nothing arrives: waitress closes the connection, as a network does at its worst."""
    raise ClientDisconnected
    yield b""


def connect_receivers() -> None:
    """Delay answers where asked for, in every process of this installation."""
    answer_submitted.connect(_delay_answer, dispatch_uid="marketplace.fault_injection")


def _delay_answer(sender: type[Holding], *, holding: Holding, **_: Any) -> None:
    """Let the requester see the answer so much later."""
    delay = testcontrols.faults_for(holding.requester_id).visibility_delay_s
    if delay and holding.submitted_at:
        holding.visible_at = holding.submitted_at + timedelta(seconds=delay)
        holding.save(update_fields=["visible_at"])
