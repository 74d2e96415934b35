"""What all panels have in common: HITs on offer here, answers counted once people came back, signatures.

Prolific signs its hooks, and the links by which participants come where secure links are on.
"""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, ClassVar

import jwt

from crowd.adapters.base import PanelRow, Submission
from crowd.adapters.link import LinkAdapter
from crowd.models import Assignment, PanelSubmission

#: The words for a submission, in which all panels are kept, and what they are to us.
SUBMITTED = {
    "AWAITING REVIEW": "submitted",
    "APPROVED": "approved",
    "PARTIALLY APPROVED": "approved",
    "REJECTED": "rejected",
}


class PanelAdapter(LinkAdapter):
    """A far side that sends people, of whose submissions `PanelSubmission` is the mirror."""

    #: Parameters of the address that name the person, the study and the submission.
    parameters: ClassVar[tuple[str, str, str]]
    #: Where people go on with a code; empty where only the panel's own pages know.
    site: ClassVar[str] = ""
    #: Work that nobody reviewed is paid by itself after so long.
    paid_after: ClassVar[timedelta] = timedelta(days=21)

    def vouch(self, ref: str, participant: str) -> PanelRow | None:
        """Who is at work is listed."""
        return None

    # Submissions

    def check_rejection(self, note: str) -> str:
        """Any words will do."""
        return ""

    def iter_submissions(self, ref: str, states: Sequence[str] = ()) -> Iterator[Submission]:
        """Answers of a HIT that came back to the panel with a code."""
        rows = list(self._answered().filter(hit__external_id=ref).order_by("stored_at", "pk"))
        yield from self._read_submissions(rows, states)

    def get_submission(self, ref: str) -> Submission | None:
        """One answer that came back with a code."""
        rows = list(self._answered().filter(external_id=ref))
        return next(self._read_submissions(rows, ()), None)

    def _read_submissions(self, rows: Sequence[Assignment], states: Sequence[str]) -> Iterator[Submission]:
        stored = {
            row.external_id: row
            for row in PanelSubmission.objects.filter(
                study__endpoint=self._pk, external_id__in=[row.external_id for row in rows]
            )
        }
        for row in rows:
            submission = stored.get(row.external_id)
            state = SUBMITTED.get(submission.status) if submission else None
            unknown = (
                state == "approved"
                and submission
                and submission.status != "APPROVED"
                and row.paid_cents is None
            )
            if submission is None or state is None or unknown or (states and state not in states):
                continue
            assert row.stored_at is not None
            submitted_at = submission.completed_at or submission.seen_at
            yield Submission(
                ref=row.external_id,
                listing=row.hit.external_id,
                worker=row.worker.external_id,
                state=state,  # type: ignore[arg-type]  # one of the three
                accepted_at=submission.started_at or row.arrived_at,
                submitted_at=submitted_at,
                auto_approve_at=submitted_at + self.paid_after,
                decided_at=None if state == "submitted" else submission.seen_at,
                answer={"receipt": str(row.receipt)},
            )


#: A hook that was signed longer ago is not believed, in seconds; the vendor prescribes no limit.
HOOK_TOLERANCE_S = 300
ISSUER = "https://www.prolific.com"


class SignatureError(Exception):
    """A signature that does not prove what it should; says why, without any secret."""


class UnknownKeyError(SignatureError):
    """Signed with a key that is not in the set; the set may have changed since it was read."""


def verify_hook(*, secret: str, timestamp: str, body: bytes, signature: str, now: float) -> None:
    """Check a hook's signature over its raw bytes and that it is recent; raises SignatureError."""
    try:
        sent_at = int(timestamp)
        signature_bytes = base64.b64decode(signature, validate=True)
    except (ValueError, binascii.Error) as error:
        raise SignatureError("The headers of the signature cannot be read.") from error
    expected = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    if not hmac.compare_digest(signature_bytes, expected):
        raise SignatureError("The signature is not that of this body.")
    if abs(now - sent_at) > HOOK_TOLERANCE_S:
        raise SignatureError("The signature is too old.")


def verify_arrival(token: str, keys: Mapping[str, Any], *, audiences: Sequence[str]) -> dict[str, str]:
    """The parameters that a secure link vouches for, and `sub`, the submission; raises SignatureError.

    `keys` is Prolific's JSON Web Key Set, `audiences` the study's address in the forms it was published in.
    """
    try:
        header = jwt.get_unverified_header(token)
        key_set = jwt.PyJWKSet.from_dict(dict(keys)).keys
        signing_key = next(key for key in key_set if key.key_id == header.get("kid"))
        claims = jwt.decode(
            token,
            signing_key.key,
            algorithms=["RS256"],
            audience=list(audiences),
            issuer=ISSUER,
            options={"require": ["exp", "iat", "aud", "iss", "sub"]},
        )
    except StopIteration:
        raise UnknownKeyError("The link is signed with a key that is not known.") from None
    except jwt.PyJWTError as error:
        raise SignatureError(f"The link does not prove who comes: {error}") from error
    vouched = claims.get("prolific")
    named = vouched if isinstance(vouched, dict) else {}
    return {**{str(name): str(value) for name, value in named.items()}, "sub": str(claims["sub"])}
