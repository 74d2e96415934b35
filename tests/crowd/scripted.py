"""A marketplace in memory that does what a script says: any outcome, with or without an effect."""

import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from crowd.adapters.base import (
    Arrival,
    Balance,
    BonusPaid,
    CallRefusal,
    CallSuccess,
    Capabilities,
    EarlierSuccess,
    Listing,
    MarketplaceDownError,
    Money,
    Outcome,
    PostForm,
    Submission,
    TaskSpec,
    Unknown,
)
from tests.crowd.world import URL, new_submission_id

#: Now, when the tests begin: what is published lives for days from here.
AT = datetime.now(UTC).replace(microsecond=0)


class ScriptedMarket:
    """Remembers tokens as a marketplace does; `say` and `lose` decide about the next calls."""

    def __init__(self, url: str = URL) -> None:
        self.url = url
        self.calls: list[tuple[Any, ...]] = []
        self.listings: dict[str, Listing] = {}
        self.entries: dict[str, str] = {}
        self.submissions: dict[str, list[Submission]] = {}
        self.bonuses: list[BonusPaid] = []
        self.groups: dict[str, str] = {}
        self.tokens: dict[str, str | None] = {}
        self.down = False
        self.on_call: Callable[[str], None] = lambda name: None
        self._script: deque[tuple[Outcome[Any], bool]] = deque()
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)

    # The script

    def say(self, *outcomes: Outcome[Any]) -> None:
        """Answer the next calls so, and do nothing."""
        self._script.extend((outcome, False) for outcome in outcomes)

    def lose(self, outcome: Outcome[Any] = Unknown("no answer")) -> None:  # noqa: B008
        """Do what the next call asks, and answer so."""
        self._script.append((outcome, True))

    def forget_tokens(self) -> None:
        """A day went by."""
        self.tokens.clear()

    def names(self) -> list[str]:
        """The calls so far that change something, without their values."""
        return [call[0] for call in self.calls]

    def submit(self, hit: Any, assignment: Any = None, **fields: Any) -> Submission:
        """Somebody's work arrives: of an assignment that we know with its receipt, or as `fields` say."""
        from crowd.services import responses

        answer = responses.receipt_fields(assignment) if assignment and assignment.response else {}
        made = Submission(
            ref=assignment.external_id if assignment else new_submission_id(),
            listing=hit.external_id,
            worker=assignment.worker.external_id if assignment else "ASTRANGER",
            state="submitted",
            accepted_at=AT,
            submitted_at=AT,
            auto_approve_at=datetime.now(UTC) + timedelta(days=3),
            decided_at=None,
            answer=answer,
        )
        made = replace(made, **fields)
        self.submissions.setdefault(hit.external_id, []).append(made)
        self.put_on_offer(hit)
        return made

    def put_on_offer(self, hit: Any, **fields: Any) -> Listing:
        """The listing of a HIT that our books know, as its submissions leave it."""
        used = len(self.submissions.get(hit.external_id, []))
        listing = Listing(
            ref=hit.external_id,
            key=None,
            state="open" if used < hit.places else "reviewable",
            places=hit.places,
            available=max(0, hit.places - used),
            pending=0,
            decided=0,
            expires_at=hit.expires_at,
            reward=Money(hit.reward_cents),
        )
        self.listings[hit.external_id] = replace(listing, **fields)
        return self.listings[hit.external_id]

    def decide(self, ref: str, state: str) -> None:
        """The marketplace's own decision, as after the time for approval."""
        for listing, made in self.submissions.items():
            self.submissions[listing] = [
                replace(one, state=state, decided_at=AT) if one.ref == ref else one for one in made
            ]

    def _change(
        self, name: str, values: tuple[Any, ...], effect: Callable[[], Any], key: str = ""
    ) -> Outcome[Any]:
        with self._lock:
            self.calls.append((name, *values))
            self.on_call(name)
            if self._script:
                outcome, does = self._script.popleft()
                if does:
                    done = effect()
                    if key:
                        self.tokens[key] = done
                return outcome
            if key and key in self.tokens:
                return EarlierSuccess(self.tokens[key])
            done = effect()
            if key:
                self.tokens[key] = done
            return CallSuccess(done, {"request_id": f"request-{len(self.calls)}"})

    def _look(self) -> None:
        if self.down:
            raise MarketplaceDownError("down")

    # The interface

    @property
    def endpoint_url(self) -> str:
        return self.url

    def capabilities(self) -> Capabilities:
        return Capabilities(
            frozenset({"publish", "extend", "pay_bonus"}),
            False,
            True,
            1,
            30,
            True,
            True,
            True,
            True,
            True,
            "USD",
        )

    def check(self) -> Balance:
        self._look()
        return Balance(Money(1_000_00), Money(0))

    def publish(self, task: TaskSpec) -> Outcome[str]:
        def effect() -> str:
            ref = f"3HIT{next(self._numbers):026d}"
            self.listings[ref] = Listing(
                ref, task.key, "open", task.places, task.places, 0, 0, AT + timedelta(days=7), task.reward
            )
            self.entries[ref] = task.entry_url
            return ref

        return self._change("publish", (task,), effect, task.key)

    def get_listing(self, ref: str) -> Listing | None:
        self._look()
        return self.listings.get(ref)

    def iter_listings(self) -> Iterator[Listing]:
        self._look()
        return iter(list(self.listings.values()))

    def find_by_key(self, key: str) -> Listing | None:
        return next((listing for listing in self.iter_listings() if listing.key == key), None)

    def extend(self, ref: str, places: int, key: str) -> Outcome[str]:
        def effect() -> None:
            if ref in self.listings:
                self.listings[ref] = replace(self.listings[ref], places=self.listings[ref].places + places)

        return self._change("extend", (ref, places), effect, key)

    def set_deadline(self, ref: str, when: datetime) -> Outcome[str]:
        return self._change("set_deadline", (ref, when), lambda: ref)

    def close(self, ref: str) -> Outcome[str]:
        def effect() -> str:
            if ref in self.listings:
                self.listings[ref] = replace(
                    self.listings[ref], state="reviewable", expires_at=datetime.now(UTC)
                )
            return ref

        return self._change("close", (ref,), effect)

    def archive(self, ref: str) -> Outcome[str]:
        return self._change("archive", (ref,), lambda: ref)

    def iter_submissions(self, ref: str, states: Sequence[str] = ()) -> Iterator[Submission]:
        self._look()
        return iter(list(self.submissions.get(ref, [])))

    def get_submission(self, ref: str) -> Submission | None:
        self._look()
        return next((one for made in self.submissions.values() for one in made if one.ref == ref), None)

    def approve(self, ref: str, note: str) -> Outcome[str]:
        return self._change("approve", (ref,), lambda: self.decide(ref, "approved") or ref)

    def reject(self, ref: str, note: str) -> Outcome[str]:
        return self._change("reject", (ref, note), lambda: self.decide(ref, "rejected") or ref)

    def unreject(self, ref: str, note: str) -> Outcome[str]:
        return self._change("unreject", (ref,), lambda: self.decide(ref, "approved") or ref)

    def pay_bonus(self, submission: str, worker: str, amount: Money, reason: str, key: str) -> Outcome[str]:
        def effect() -> None:
            self.bonuses.append(BonusPaid(submission, worker, amount, reason, AT))

        return self._change("pay_bonus", (submission, worker, amount, reason), effect, key)

    def iter_bonuses(self, *, listing: str = "", submission: str = "") -> Iterator[BonusPaid]:
        self._look()
        return iter([bonus for bonus in self.bonuses if bonus.submission == submission])

    def ensure_group(self, name: str, description: str) -> Outcome[str]:
        def effect() -> str:
            return self.groups.setdefault(name, f"3GROUP{next(self._numbers)}")

        return self._change("ensure_group", (name,), effect)

    def grant(self, group: str, worker: str, value: int = 1) -> Outcome[str]:
        return self._change("grant", (group, worker), lambda: worker)

    def revoke(self, group: str, worker: str) -> Outcome[str]:
        return self._change("revoke", (group, worker), lambda: worker)

    def block(self, worker: str, why: str) -> Outcome[str]:
        return self._change("block", (worker,), lambda: worker)

    def unblock(self, worker: str, why: str) -> Outcome[str]:
        return self._change("unblock", (worker,), lambda: worker)

    def message(self, workers: Sequence[str], subject: str, text: str) -> Outcome[dict[str, str]]:
        return self._change("message", (tuple(workers), subject), dict)

    def arrival(self, query: Mapping[str, str]) -> Arrival:
        return Arrival("", "", "", "", True)

    def finish(self, arrival: Arrival, fields: Mapping[str, str]) -> PostForm:
        return PostForm("", fields)


NO_FUNDS = CallRefusal("InsufficientFunds", "This Requester has insufficient funds.")
