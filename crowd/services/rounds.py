"""Asking for a round of an endpoint before the timer does, where a person waits for what it will do."""

import logging
from functools import partial

from celery import current_app
from django.db import transaction
from kombu.exceptions import ChannelError, OperationalError

logger = logging.getLogger(__name__)
TASK = "crowd.round"
#: A message that waited so long for a thread is not needed: the timer sent others.
_EXPIRES_S = 15


def request_round(endpoint_id: int) -> None:
    """Have a worker begin a round once this transaction is committed; the timer does where this fails."""
    transaction.on_commit(partial(_announce, endpoint_id), robust=True)


def send_round(endpoint_id: int) -> None:
    """Send the message that begins a round of the endpoint, unless one goes on."""
    current_app.send_task(TASK, args=[endpoint_id], expires=_EXPIRES_S)


def _announce(endpoint_id: int) -> None:
    try:
        send_round(endpoint_id)
    except (OperationalError, ChannelError, OSError):
        logger.warning("A round of endpoint %s could not be asked for; the timer will.", endpoint_id)
