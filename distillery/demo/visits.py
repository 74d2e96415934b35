"""What a marketplace tells an external task page in its address, and how much of it may be believed.

`assignmentId` and `turkSubmitTo` come from whoever opened the page. The first is only handed back; the second
decides where a worker's answer goes, so nothing but a known marketplace is accepted.
"""

import re
from dataclasses import dataclass
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, QueryDict

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"
ASSIGNMENT_ID = re.compile(r"[A-Z0-9]{1,64}")
SUBMIT_TO = re.compile(
    r"(?P<origin>https?://[^/?#\\@\s]+)(?P<path>(?:/[A-Za-z0-9_:=~-][A-Za-z0-9_.:=~-]*)*)/?"
)
LOOPBACK = ("localhost", "127.0.0.1")


@dataclass(frozen=True)
class Visit:
    """One opening of a task page: a preview, a worker at work, or something that must not be trusted."""

    assignment_id: str = ""
    submit_url: str = ""
    refusal: str = ""

    @property
    def at_work(self) -> bool:
        """Whether somebody accepted the task and may answer it here."""
        return bool(self.submit_url)

    @property
    def preview(self) -> bool:
        """Whether the task is only being looked at."""
        return not self.submit_url and not self.refusal


def marketplace_origins(request: HttpRequest) -> list[str]:
    """Origins whose marketplace may frame our task pages and receive their answers: this installation's own.

    On one's own machine `localhost` and `127.0.0.1` are different origins of the same server.
    """
    own = f"{request.scheme}://{request.get_host()}".lower()
    origins = [own]
    if settings.PUBLIC_URL:
        public = urlsplit(settings.PUBLIC_URL)
        origins.append(f"{public.scheme}://{public.netloc}".lower())
    host = urlsplit(own)
    if host.hostname in LOOPBACK:
        port = f":{host.port}" if host.port else ""
        origins += [f"{host.scheme}://{name}{port}" for name in LOOPBACK]
    return list(dict.fromkeys(origins))


def read_visit(parameters: QueryDict, origins: list[str]) -> Visit:
    """Understand the parameters that a marketplace appends to an external task's address."""
    assignment_id = parameters.get("assignmentId", "")
    if assignment_id in ("", PREVIEW):
        return Visit()
    if not ASSIGNMENT_ID.fullmatch(assignment_id):
        return Visit(
            refusal="The address of this page names an assignment that no marketplace would give out."
        )
    submit_to = parameters.get("turkSubmitTo", "")
    if not submit_to:
        return Visit(refusal="The address of this page does not say which marketplace sent you here.")
    match = SUBMIT_TO.fullmatch(submit_to)
    if match is None or match["origin"].lower() not in origins:
        return Visit(refusal="The address of this page would send your answer to a place we do not know.")
    return Visit(
        assignment_id=assignment_id, submit_url=f"{match['origin']}{match['path']}/mturk/externalSubmit"
    )
