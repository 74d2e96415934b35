"""Letters to people with an account, sent by jobs: a page takes as long for any address."""

import json
from smtplib import SMTPDataError, SMTPRecipientsRefused

from django.conf import settings
from django.core.mail import EmailMessage

from core.jobs.errors import PermanentError
from core.jobs.services import enqueue
from core.notices.letters import one_line
from core.sealing import seal, unseal

KIND = "notices.account_letter"
#: Links in letters let people in, so the row of the job holds them sealed.
_SEALED_FOR = "notices.account_letter"


def plan_letter(address: str, subject: str, lines: list[str]) -> None:
    """Have one letter sent."""
    enqueue(kind=KIND, payload={"letter": seal(json.dumps([address, subject, lines]), purpose=_SEALED_FOR)})


def send_letter(sealed: str) -> None:
    """Send it; PermanentError where the server refuses it for good."""
    opened = unseal(sealed, purpose=_SEALED_FOR)
    if opened is None or not settings.NOTICES_BY_EMAIL:
        return
    address, subject, lines = json.loads(opened)
    message = EmailMessage(
        subject=one_line(subject)[:120],
        body="\n".join(lines),
        to=[address],
        headers={"Auto-Submitted": "auto-generated"},
    )
    try:
        message.send()
    except (SMTPRecipientsRefused, SMTPDataError, ValueError) as error:
        raise PermanentError(f"The e-mail cannot be sent: {type(error).__name__}") from error
