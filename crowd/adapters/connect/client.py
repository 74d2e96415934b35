"""A client of Connect's API, version 1, by what third parties tell of it; knows nothing of stages.

Amounts are decimal US dollars there and whole cents here. Calls that write carry an idempotency token: the
same token does nothing a second time. For how long tokens are remembered is not known.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from core.money import dollars
from crowd.adapters.base import CallSuccess, MarketplaceDownError, Outcome, Unknown
from crowd.adapters.outcomes import GARBAGE, SOMETHING_ELSE, describe_garbage
from crowd.adapters.panel_http import Answer, Document, PanelClient

_V1 = "/api/v1"
_PAGE = 100
#: Header by which a repeated call is known.
REPEATABLE = "IDEMPOTENCY-TOKEN"


def cents_of(amount: Any) -> int:
    """A decimal amount in cents; raises ArithmeticError or ValueError for what is none."""
    return int((Decimal(str(amount or 0)) * 100).to_integral_value())


class ConnectClient(PanelClient):
    """Calls to one account. `url` is the host's address, without `/api/v1`."""

    def __init__(self, *, url: str, key: str) -> None:
        super().__init__(url=url, headers={"X-API-KEY": key})

    def write(self, path: str, body: Document, *, token: str, made: str = "") -> Outcome[str]:
        """A call that changes something, under a token; `made` names the object with the reference."""
        return self.change(
            "POST", f"{_V1}{path}", body, ref=made or "id", is_made=bool(made), headers={REPEATABLE: token}
        )

    def _success(self, answer: Answer, ref: str, *, is_made: bool) -> Outcome[str]:
        """What is made may come in an envelope of its own name."""
        outcome = super()._success(answer, ref, is_made=False)
        if not isinstance(outcome, CallSuccess) or not is_made:
            return outcome
        made = outcome.raw.get("project", outcome.raw)
        named = str(made.get(ref) or "") if isinstance(made, dict) else ""
        return CallSuccess(named, outcome.raw) if named else Unknown(SOMETHING_ELSE)

    def balance_cents(self) -> int:
        """What the account can spend."""
        try:
            return cents_of(self.read(f"{_V1}/account")["accountBalance"])
        except GARBAGE as error:
            raise MarketplaceDownError(describe_garbage(error)) from error

    def projects(self) -> Iterator[Document]:
        """All projects of the account."""
        return self._all("/project", "projects")

    def project(self, project: str) -> Document:
        """One project, from the envelope or without it."""
        found = self.read(f"{_V1}/project/{project}")
        try:
            return dict(found.get("project", found))
        except GARBAGE as error:
            raise MarketplaceDownError(describe_garbage(error)) from error

    def assignments(self, project: str) -> Iterator[Document]:
        """Everything that the project lists of people's work."""
        return self._all(f"/assignments/{project}", "assignments")

    def _all(self, path: str, name: str) -> Iterator[Document]:
        query: dict[str, Any] = {"Size": _PAGE}
        while True:
            page = self.read(f"{_V1}{path}", **query)
            try:
                yield from page[name]
                following = page.get("nextToken")
            except GARBAGE as error:
                raise MarketplaceDownError(describe_garbage(error)) from error
            if not following:
                return
            query["NextToken"] = following

    def create_project(self, document: Document, *, token: str) -> Outcome[str]:
        """A draft; the reference is its projectId."""
        return self.write("/project", document, token=token, made="projectId")

    def change_project(self, project: str, changes: Document, *, token: str) -> Outcome[str]:
        """Change a project; once live, only a few things, and participants only rise."""
        return self.write(f"/project/{project}", changes, token=token)

    def move_project(self, project: str, status: str, *, token: str) -> Outcome[str]:
        """Live, Paused, Closed."""
        return self.write(f"/project/{project}/update-status", {"status": status}, token=token)

    def decide(
        self, project: str, action: str, assignments: Sequence[str], message: str, *, token: str
    ) -> Outcome[str]:
        """`approve`, `reject` or `reverse-reject` of assignments."""
        people = [{"id": each, "message": message} for each in assignments]
        return self.write(f"/assignments/{project}/{action}", {"participants": people}, token=token)

    def pay_bonus(
        self, project: str, assignment: str, cents: int, message: str, *, token: str
    ) -> Outcome[str]:
        """A bonus; all or nothing where the account lacks funds."""
        line = {"id": assignment, "message": message, "amount": float(dollars(cents))}
        return self.write(f"/assignments/{project}/bonus", {"bonusPayment": [line]}, token=token)

    def send_message(
        self, project: str, participant: str, subject: str, message: str, *, token: str
    ) -> Outcome[str]:
        """Write to one participant."""
        body = {"projectId": project, "recipientId": participant, "subject": subject, "message": message}
        return self.write("/conversations/send-message", body, token=token)
