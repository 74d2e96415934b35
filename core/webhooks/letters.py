"""An e-mail to the person who made a webhook that was disabled: claimed before it is sent, so sent once."""

import logging
from datetime import datetime
from smtplib import SMTPException

from django.conf import settings
from django.core.mail import EmailMessage

from core.webhooks.models import Webhook

logger = logging.getLogger(__name__)
_MOST = 50


def tell_makers(now: datetime) -> int:
    """Write to the makers of webhooks that were disabled and whom nothing told yet; how many e-mails."""
    if not settings.NOTICES_BY_EMAIL:
        return 0
    disabled = Webhook.objects.filter(state=Webhook.State.DISABLED, told_at=None, removed_at=None)
    sent = 0
    for hook in disabled.select_related("created_by").order_by("pk")[:_MOST]:
        if not disabled.filter(pk=hook.pk).update(told_at=now):
            continue
        maker = hook.created_by
        if maker is None or not maker.is_active or not maker.email:
            continue
        letter = EmailMessage(
            subject=" ".join(f"The webhook {hook.name} was disabled".split())[:120],
            body=f"The webhook {hook.name!r}, which sends to {hook.host}, was disabled.\n\n"
            f"{hook.why_disabled}\n\n"
            "What waits is kept. Switch it on again on its page when the receiver works.\n",
            to=[maker.email],
            headers={"Auto-Submitted": "auto-generated"},
        )
        try:
            sent += letter.send()
        except (OSError, SMTPException) as error:
            logger.warning("The maker of webhook %s was not told: %s", hook.pk, type(error).__name__)
    return sent
