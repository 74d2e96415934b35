"""A worker that is a script: it does one HIT through the public worker API, marked as no person."""

import http.client
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit

ANSWER = (
    "A script wrote this answer while the demonstration was set up, so that there is something to look at. "
    "It is marked as simulated everywhere and is nobody's judgment."
)


@dataclass(frozen=True)
class Robot:
    """A scripted worker at a marketplace."""

    base_url: str
    token: str

    def work_on(self, hit_id: str, **fields: str) -> str:
        """Accept this HIT, open its page, submit these fields or an answer; gives the AssignmentId."""
        accepted = self._ask("accept", {"hit_id": hit_id})
        _request("GET", accepted["frame_url"])
        form = urlencode({"assignmentId": accepted["assignment_id"], **(fields or {"answer": ANSWER})})
        _request("POST", accepted["submit_url"], form, {"Content-Type": "application/x-www-form-urlencoded"})
        return str(accepted["assignment_id"])

    def _ask(self, action: str, question: dict[str, Any]) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        answer = _request("POST", f"{self.base_url}/worker-api/{action}", json.dumps(question), headers)
        found: dict[str, Any] = json.loads(answer)
        return found


def _request(method: str, url: str, body: str | None = None, headers: dict[str, str] | None = None) -> bytes:
    """Body of the answer; raises HTTPException where the server refuses."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=30)
    try:
        connection.request(method, f"{parts.path}?{parts.query}", body, headers or {})
        response = connection.getresponse()
        content = response.read()
        if response.status != 200:
            raise http.client.HTTPException(f"{method} {parts.path}: {response.status} {content[:300]!r}")
        return content
    finally:
        connection.close()
