"""A client of Prolific's API: calls, pages and errors; knows nothing of stages.

Contract: docs.prolific.com/api-reference. Amounts are whole minor units of the account's currency, but in the
lines of bonuses, which are decimals. Every call that changes something returns an outcome as those of other
marketplaces do; reads raise `MarketplaceDownError` or `MarketplaceRefusedError`.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from core.money import dollars
from crowd.adapters.base import CallSuccess, MarketplaceDownError, Outcome
from crowd.adapters.outcomes import GARBAGE, describe_garbage
from crowd.adapters.panel_http import Document, PanelClient

#: Asked of libraries: who calls.
_REFERER = "https://github.com/distillery/distillery/0.2"
_PAGE = 100
#: Days in the parameters of lists.
_DAY = "%d/%m/%Y"
#: A bonus file has at most so many lines, as the vendor advises.
MOST_BONUS_LINES = 200
#: A rejection's words, shown to the participant, have at least so many characters.
LEAST_REJECTION = 100


class ProlificClient(PanelClient):
    """Calls to one account. `url` is the host's address, without `/api/v1`."""

    def __init__(self, *, url: str, token: str) -> None:
        super().__init__(url=url, headers={"Authorization": f"Token {token}", "Referer": _REFERER})

    def pages(self, path: str, **query: Any) -> Iterator[Document]:
        """All results of a list with `page`; behind the last page there is a 404, so it is not asked for."""
        number = 1
        while True:
            page = self.read(path, **query, page=number, page_size=_PAGE)
            try:
                yield from page["results"]
                if not ((page.get("_links") or {}).get("next") or {}).get("href"):
                    return
            except GARBAGE as error:
                raise MarketplaceDownError(describe_garbage(error)) from error
            number += 1

    def slices(self, path: str, **query: Any) -> Iterator[Document]:
        """All results of a list with `limit` and `offset`."""
        offset = 0
        while True:
            try:
                rows = self.read(path, **query, limit=_PAGE, offset=offset)["results"]
                yield from rows
            except GARBAGE as error:
                raise MarketplaceDownError(describe_garbage(error)) from error
            offset += len(rows)
            if len(rows) < _PAGE:
                return

    def chain(self, path: str, **query: Any) -> Iterator[Document]:
        """All results of a list whose pages have no parameters of their own: each names the next one."""
        while True:
            page = self.read(path, **query)
            try:
                yield from page["results"]
                following = ((page.get("_links") or {}).get("next") or {}).get("href")
            except GARBAGE as error:
                raise MarketplaceDownError(describe_garbage(error)) from error
            if not following:
                return
            # Only its path: the token goes nowhere but to our address.
            parts = urlsplit(str(following))
            path, query = parts.path, dict(parse_qsl(parts.query))

    # Account

    def balance(self, workspace: str) -> Document:
        """The workspace's balance, in minor units."""
        return dict(self.read(f"/api/v1/workspaces/{workspace}/balance/"))

    def least_reward_per_hour(self, workspace: str, currency: str) -> tuple[int, int] | None:
        """The least and the recommended reward an hour in minor units; None where none is said."""
        answer = self.read("/api/v1/reward-recommendations/", workspace_id=workspace, currency=currency)
        rows = answer if isinstance(answer, list) else answer.get("results", [answer])
        for row in rows:
            if row.get("currency", currency) == currency:
                return int(row["min_reward_per_hour"]), int(row["recommended_reward_per_hour"])
        return None

    def total_cost(self, *, reward: int, places: int) -> int:
        """What so many places cost this account with fees and tax, by its own calculator."""
        answer = self.ask(
            "POST",
            "/api/v1/study-cost-calculator/",
            body={"reward": reward, "total_available_places": places},
        )
        try:
            return round(float(answer.document()["total_cost"]))
        except GARBAGE as error:
            raise MarketplaceDownError(describe_garbage(error)) from error

    # Studies

    def create_study(self, document: Document) -> Outcome[str]:
        """A draft. There is no idempotency key: look for its `internal_name` with `find_study` first."""
        return self.change("POST", "/api/v1/studies/", document, is_made=True)

    def find_study(self, internal_name: str) -> Document | None:
        """The study of this internal name, by listing all."""
        studies = self.chain("/api/v1/studies/")
        return next((each for each in studies if each.get("internal_name") == internal_name), None)

    def study(self, study: str) -> Document:
        """One study."""
        return dict(self.read(f"/api/v1/studies/{study}/"))

    def change_study(self, study: str, changes: Document) -> Outcome[str]:
        """Change a study; once published, places only rise."""
        return self.change("PATCH", f"/api/v1/studies/{study}/", changes)

    def move_study(self, study: str, action: str) -> Outcome[str]:
        """PUBLISH, PAUSE, START or STOP."""
        return self.change("POST", f"/api/v1/studies/{study}/transition/", {"action": action})

    def cost(self, study: str, *, is_projected: bool = False) -> Document:
        """What a study cost so far, or will cost with all its places: rewards and bonuses, fees and tax."""
        query = {"is_projected": "true"} if is_projected else {}
        return dict(self.read(f"/api/v1/studies/{study}/cost/", **query))

    # Submissions

    def submissions(
        self, study: str, *, status: str = "", since: date | None = None, until: date | None = None
    ) -> Iterator[Document]:
        """Submissions of a study, oldest first, in the short form (`participant_id`, `study_code`).

        `status` is a word such as AWAITING_REVIEW; the days are those of completion.
        """
        query = {
            "status": status,
            "submitted_from": since.strftime(_DAY) if since else "",
            "submitted_before": until.strftime(_DAY) if until else "",
        }
        parameters = {name: value for name, value in query.items() if value}
        return self.pages("/api/v1/submissions/", study=study, ordering="started_at", **parameters)

    def count_submissions(self, study: str) -> dict[str, int]:
        """How many submissions of a study have which status, and TOTAL."""
        return {
            status: int(count)
            for status, count in self.read(f"/api/v1/studies/{study}/submissions/counts/").items()
        }

    def submission(self, submission: str) -> Document:
        """One submission, in the long form (`participant`, `entered_code`, `bonus_payments`)."""
        return dict(self.read(f"/api/v1/submissions/{submission}/"))

    def move_submission(self, submission: str, action: str, **more: Any) -> Outcome[str]:
        """APPROVE, REJECT (`message`, `rejection_category`), UNREJECT, COMPLETE; a repeat changes nothing."""
        return self.change(
            "POST", f"/api/v1/submissions/{submission}/transition/", {"action": action, **more}
        )

    def request_return(self, submission: str, reasons: Sequence[str]) -> Outcome[str]:
        """Ask a participant to return a submission; the person decides."""
        return self.change(
            "POST",
            f"/api/v1/submissions/{submission}/request-return/",
            {"request_return_reasons": list(reasons)},
        )

    # Bonuses: setting them up pays nothing; paying is not idempotent and pays again each time.

    def set_up_bonuses(self, study: str, lines: Sequence[tuple[str, int]]) -> Outcome[str]:
        """Prepare bonuses: submission or participant, and minor units. Pays nothing; may be repeated."""
        if not 0 < len(lines) <= MOST_BONUS_LINES:
            raise ValueError(f"A file of bonuses has 1 to {MOST_BONUS_LINES} lines.")
        text = "\n".join(f"{who},{dollars(minor)}" for who, minor in lines)
        return self.change(
            "POST",
            "/api/v1/submissions/bonus-payments/",
            {"study_id": study, "csv_bonuses": text},
            is_made=True,
        )

    def pay_bonuses(self, prepared: str) -> Outcome[str]:
        """Pay what was set up. Called twice, it pays twice: the caller commits before and never repeats."""
        return self.change("POST", f"/api/v1/bulk-bonus-payments/{prepared}/pay/")

    # Groups, messages

    def create_group(self, workspace: str, name: str, description: str) -> Outcome[str]:
        """A group of participants."""
        return self.change(
            "POST",
            "/api/v1/participant-groups/",
            {"workspace_id": workspace, "name": name, "description": description},
            is_made=True,
        )

    def find_group(self, workspace: str, name: str) -> str | None:
        """The id of the group of this name that is not deleted."""
        for group in self.slices("/api/v1/participant-groups/", workspace_id=workspace):
            if group["name"] == name and not group.get("is_deleted"):
                return str(group["id"])
        return None

    def add_to_group(self, group: str, participants: Sequence[str]) -> Outcome[str]:
        """Put participants into a group; those who are in it stay."""
        return self.change(
            "POST",
            f"/api/v1/participant-groups/{group}/participants/",
            {"participant_ids": list(participants)},
        )

    def remove_from_group(self, group: str, participants: Sequence[str]) -> Outcome[str]:
        """Take participants out of a group."""
        return self.change(
            "DELETE",
            f"/api/v1/participant-groups/{group}/participants/",
            {"participant_ids": list(participants)},
        )

    def send_message(self, participant: str, body: str, study: str) -> Outcome[str]:
        """Write to a participant."""
        return self.change(
            "POST", "/api/v1/messages/", {"recipient_id": participant, "body": body, "study_id": study}
        )

    def send_messages(self, participants: Sequence[str], body: str, study: str) -> Outcome[str]:
        """Write the same to several participants."""
        return self.change(
            "POST", "/api/v1/messages/bulk/", {"ids": list(participants), "body": body, "study_id": study}
        )

    def write_to_group(self, group: str, body: str, study: str) -> Outcome[str]:
        """Write the same to all participants of a group."""
        return self.change(
            "POST",
            "/api/v1/messages/participant-group/",
            {"participant_group_id": group, "body": body, "study_id": study},
        )

    def messages_with(self, participant: str, since: datetime) -> list[Document]:
        """What was written to and by a participant since a moment."""
        moment = since.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        return list(self.read("/api/v1/messages/", user_id=participant, created_after=moment)["results"])

    def unread_messages(self) -> list[Document]:
        """What participants wrote that nobody read yet."""
        return list(self.read("/api/v1/messages/unread/")["results"])

    # Hooks

    def hook_secret(self, workspace: str) -> str:
        """The secret that signs the workspace's hooks, made where there is none; a new one ends the old."""
        secrets = self.read("/api/v1/hooks/secrets/", workspace_id=workspace)
        rows = secrets["results"] if isinstance(secrets, dict) else secrets
        if rows:
            return str(rows[0]["value"])
        creation = self.change("POST", "/api/v1/hooks/secrets/", {"workspace_id": workspace}, ref="value")
        if not isinstance(creation, CallSuccess):
            raise MarketplaceDownError(f"No secret for hooks was made: {creation}")
        return creation.ref

    def subscribe(self, workspace: str, event_type: str, target_url: str) -> str:
        """Subscribe to events and confirm it; the subscription's id."""
        answer = self.ask(
            "POST",
            "/api/v1/hooks/subscriptions/",
            body={"workspace_id": workspace, "event_type": event_type, "target_url": target_url},
        )
        try:
            subscription = str(answer.document()["id"])
        except GARBAGE as error:
            raise MarketplaceDownError(describe_garbage(error)) from error
        confirmed = self.change(
            "POST",
            f"/api/v1/hooks/subscriptions/{subscription}/",
            {"secret": answer.headers.get("X-Hook-Secret", "")},
        )
        if not isinstance(confirmed, CallSuccess):
            raise MarketplaceDownError(f"The subscription was not confirmed: {confirmed}")
        return subscription

    def subscriptions(self, workspace: str) -> list[Document]:
        """Subscriptions of a workspace: `id`, `event_type`, `target_url`, `is_enabled`."""
        return list(self.slices("/api/v1/hooks/subscriptions/", workspace_id=workspace))

    def signing_keys(self) -> Document:
        """The public keys that sign secure links, as a JSON Web Key Set."""
        return dict(self.read("/.well-known/study/jwks.json"))
