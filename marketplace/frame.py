"""The task page in the worker's frame: its URL, and the signed address to which it submits.

An AssignmentId is used again by the next holder of a place, and a task page posts nothing else. So each
holding gets a `turkSubmitTo` of its own, `<base>/s/<signature>`, to which clients append
`/mturk/externalSubmit`: a late post of a former holder can never land on the new one.
"""

from urllib.parse import urlencode, urlsplit, urlunsplit

from django.core import signing

from marketplace.models import HIT, Holding
from marketplace.questions import ExternalQuestion, Question, parse_question
from marketplace.services import accesskeys

NO_ASSIGNMENT = "ASSIGNMENT_ID_NOT_AVAILABLE"
#: A preview that somebody keeps open or passes on can be loaded for so long, in seconds.
PREVIEW_AGE = 24 * 3600
_signer = signing.Signer(salt="marketplace.frame")
_preview_signer = signing.TimestampSigner(salt="marketplace.frame.preview")


def question(hit: HIT) -> Question:
    """The HIT's question, parsed."""
    return parse_question(hit.question)


def submit_signature(holding_id: int) -> str:
    """Signature that names one holding, for the path of its submit address."""
    return _signer.sign(str(holding_id)).replace(":", "-", 1)


def holding_of(signature: str) -> int | None:
    """Holding that a signature names, or None where the signature is not ours."""
    try:
        return int(_signer.unsign(signature.replace("-", ":", 1)))
    except (signing.BadSignature, ValueError):
        return None


def submit_to(*, holding: Holding, base_url: str) -> str:
    """Where the holding's work goes, without `/mturk/externalSubmit`; `base_url` is this server's origin."""
    return f"{base_url}/s/{submit_signature(holding.pk)}"


def turk_submit_to(*, holding: Holding, base_url: str) -> str:
    """`turkSubmitTo` of a holding, without trailing slash.

    For a page of the requester's it ends with what proves to that page that this worker holds this
    assignment: the page has the same words in its address, and signs them with its own access key's secret.
    """
    to = submit_to(holding=holding, base_url=base_url)
    if not isinstance(question(holding.hit), ExternalQuestion):
        return to
    signature = to.rpartition("/")[2]
    words = "|".join((holding.assignment_id, holding.worker.worker_id, holding.hit.hit_id, signature))
    proofs = ".".join(accesskeys.proofs(holding.requester_id, words))
    return f"{to}~{proofs}" if proofs else to


def previewed_hit(signature: str) -> int | None:
    """HIT that a signature of a preview names, or None where it is not ours or too old."""
    try:
        return int(_preview_signer.unsign(signature.replace("-", ":", 2), max_age=PREVIEW_AGE))
    except (signing.BadSignature, ValueError):
        return None


def frame_url(*, holding: Holding, base_url: str) -> str:
    """URL of the task page for somebody who works on it."""
    asked = question(holding.hit)
    to = turk_submit_to(holding=holding, base_url=base_url)
    return _with_query(
        asked.url if isinstance(asked, ExternalQuestion) else f"{to}/task",
        assignmentId=holding.assignment_id,
        hitId=holding.hit.hit_id,
        turkSubmitTo=to,
        workerId=holding.worker.worker_id,
    )


def preview_url(*, hit: HIT, base_url: str) -> str:
    """URL of the task page for somebody who looks before accepting."""
    asked = question(hit)
    if isinstance(asked, ExternalQuestion):
        url = asked.url
    else:
        url = f"{base_url}/p/{_preview_signer.sign(str(hit.pk)).replace(':', '-', 2)}/task"
    return _with_query(url, assignmentId=NO_ASSIGNMENT, hitId=hit.hit_id)


def _with_query(url: str, **parameters: str) -> str:
    parts = urlsplit(url)
    query = "&".join(part for part in (parts.query, urlencode(parameters)) if part)
    return urlunsplit(parts._replace(query=query))
