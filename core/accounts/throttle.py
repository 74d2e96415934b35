"""Limits on guessing: failed tries are counted by name, by device and by address, and slow the next ones.

After some free tries each further one doubles the wait, up to fifteen minutes. A device on which somebody has
signed in before is not held up by what others try with their name: it has a count of its own, so that nobody
can lock a person out. Counts are forgotten a day after the last try. Keys are digests: a table of what people
typed as their name would hold passwords.
"""

import math
from dataclasses import dataclass
from datetime import timedelta

from django.db import transaction
from django.http import HttpRequest
from django.utils import timezone
from django.utils.crypto import salted_hmac

from core.accounts.addresses import client_address, neighbourhood
from core.accounts.models import FailedTries

FIRST_WAIT_S, LONGEST_WAIT_S = 15, 900
FORGOTTEN_AFTER = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Limit:
    """How many tries of a kind may fail before the next has to wait."""

    kind: str
    free: int

    def key(self, text: str) -> str:
        """The row that counts for this name, device or address."""
        return f"{self.kind}:{salted_hmac('accounts.throttle', text, algorithm='sha256').hexdigest()[:40]}"


BY_NAME = Limit("name", 10)
BY_DEVICE = Limit("device", 10)
BY_ADDRESS = Limit("address", 50)
INVITATIONS = Limit("invitation", 20)
SIGN_UPS = Limit("sign-up", 60)
_FREE = {limit.kind: limit.free for limit in (BY_NAME, BY_DEVICE, BY_ADDRESS, INVITATIONS, SIGN_UPS)}


def of_address(limit: Limit, request: HttpRequest) -> str:
    """The key of the address that a request comes from."""
    return limit.key(neighbourhood(client_address(request)))


def wait_s(*keys: str) -> int:
    """Seconds until another try is heard; 0: now."""
    now = timezone.now()
    until = FailedTries.objects.filter(key__in=keys, blocked_until__gt=now).values_list(
        "blocked_until", flat=True
    )
    return max((math.ceil((each - now).total_seconds()) for each in until if each), default=0)


def count(*keys: str) -> None:
    """One more try failed."""
    now = timezone.now()
    FailedTries.objects.filter(last_at__lt=now - FORGOTTEN_AFTER).delete()
    for key in sorted(keys):
        with transaction.atomic():
            row, made = FailedTries.objects.select_for_update().get_or_create(
                key=key, defaults={"failures": 1, "last_at": now}
            )
            if not made:
                row.failures += 1
            over = row.failures - _FREE[key.partition(":")[0]]
            if over >= 0:
                seconds = min(LONGEST_WAIT_S, FIRST_WAIT_S << min(over, 10))
                row.blocked_until = now + timedelta(seconds=seconds)
            row.last_at = now
            row.save()


def forget(*keys: str) -> None:
    """A try succeeded."""
    FailedTries.objects.filter(key__in=keys).delete()
