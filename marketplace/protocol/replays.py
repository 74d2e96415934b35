"""A signed call that changes something, sent a second time by somebody who saw it on its way.

A signature is valid for minutes. Two calls with the same words in the same second have the same signature,
and a script may mean both; what comes seconds after the first was not made by the script.
"""

from datetime import timedelta

from django.utils import timezone

from marketplace.models import SignedWrite
from marketplace.protocol.calls import Call
from marketplace.protocol.errors import ProtocolError

#: Same calls of one script come within this time.
SAME_BREATH = timedelta(seconds=5)


def refuse_again(call: Call, signature: str) -> None:
    """Remember the call in its own transaction; raise ProtocolError where it was made some time ago.

    A call with a token is protected by its token.
    """
    if call.get("UniqueRequestToken") is not None:
        return
    now = timezone.now()
    SignedWrite.objects.bulk_create([SignedWrite(signature=signature, at=now)], ignore_conflicts=True)
    first = SignedWrite.objects.values_list("at", flat=True).get(signature=signature)
    if first < now - SAME_BREATH:
        raise ProtocolError(
            "InvalidSignatureException", "This very request was made before. Sign a new one to make it again."
        )
