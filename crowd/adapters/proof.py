"""What a marketplace of ours signs for an arrival at our task page, with the keys of its requester."""

import hashlib
import hmac

from crowd.adapters.base import Arrival

#: What is signed begins so; the words are a protocol of both sides.
_BEGINNING = "distillery.arrival"


def is_proven(arrival: Arrival, secret: str) -> bool:
    """Whether the submit address was signed for this worker, assignment and HIT with this secret."""
    address, _, proofs = arrival.submit_to.rpartition("/")[2].partition("~")
    words = "|".join((_BEGINNING, arrival.submission, arrival.worker, arrival.listing, address))
    wanted = hmac.new(secret.encode(), words.encode(), hashlib.sha256).hexdigest()[:32]
    return bool(secret) and any(
        hmac.compare_digest(proof.encode(), wanted.encode()) for proof in proofs.split(".")
    )
