"""Calls that are refused before it is known whose they are: counted per day and reason, not stored."""

import logging
from typing import Any

from django.db import Error, transaction
from django.db.models import F

from core.accounts import security
from core.accounts.security import address_of
from marketplace import clock
from marketplace.models import RefusedCalls

logger = logging.getLogger(__name__)
#: Errors of the front door.
AT_THE_DOOR = frozenset(
    {
        "AccessDeniedException",
        "IncompleteSignatureException",
        "InvalidSignatureException",
        "MethodNotAllowedException",
        "MissingAuthenticationTokenException",
        "RequestEntityTooLargeException",
        "ThrottlingException",
        "UnrecognizedClientException",
    }
)
#: Of these the log of security events has a line: somebody tried a key.
_TRIED = frozenset({"InvalidSignatureException", "UnrecognizedClientException", "AccessDeniedException"})


def count(reason: str, environ: dict[str, Any]) -> None:
    """One more of today; what cannot be counted is answered all the same."""
    if reason in _TRIED:
        credential = str(environ.get("HTTP_AUTHORIZATION", "")).partition("Credential=")[2]
        security.log(
            "signature.refused",
            reason=reason,
            access_key=credential.partition("/")[0][:64],
            address=address_of(environ),
        )
    day = clock.now().date()
    try:
        with transaction.atomic():
            counted = RefusedCalls.objects.filter(day=day, reason=reason)
            if not counted.update(count=F("count") + 1):
                RefusedCalls.objects.bulk_create(
                    [RefusedCalls(day=day, reason=reason)], ignore_conflicts=True
                )
                counted.update(count=F("count") + 1)
    except Error:
        logger.exception("A refused call could not be counted")
