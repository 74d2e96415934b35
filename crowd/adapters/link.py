"""A marketplace without a far side: people come by a study link, and all there is to know is in our tables.

Publishing, approving and paying a bonus are answered from here, so the outbox, the books and the collection
of answers work as with any marketplace. Work is dealt out when a person arrives (`crowd.services.deals`).
"""

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.core import signing
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from crowd.adapters import base
from crowd.models import Assignment, Endpoint, Hit, MarketOperation
from crowd.sources import hits_at

State = Assignment.State
#: Parameter of a task page's address that holds the signed arrival.
ARRIVAL = "arrival"
_SALT = "crowd.link"


def sign_arrival(*, listing: str, submission: str, worker: str, submit_to: str) -> str:
    """The value of the parameter `ARRIVAL`: who may work on what, signed by this installation."""
    return signing.dumps([listing, submission, worker, submit_to], salt=_SALT, compress=True)


def read_arrival(text: str) -> base.Arrival | None:
    """The arrival that `sign_arrival` signed; None for anything else."""
    try:
        listing, submission, worker, submit_to = signing.loads(text, salt=_SALT)
    except (signing.BadSignature, ValueError, TypeError):
        return None
    return base.Arrival(listing, submission, worker, submit_to, is_preview=False, proven=True)


def has_place(prefix: str = "") -> Q:
    """Condition of assignments that take a place of their HIT: not given up, and not set aside unlisted."""
    ended = Q(**{f"{prefix}state": State.ENDED})
    never_listed = Q(**{f"{prefix}state": State.QUARANTINED, f"{prefix}submitted_at": None})
    return ~ended & ~never_listed


#: How many places of a HIT are worked on or answered: for `annotate`.
TAKEN = Count("assignments", filter=has_place("assignments__"))


class LinkAdapter:
    """The marketplace of people who come by study links to this installation."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._pk, self._url, self._currency = endpoint.pk, endpoint.url, endpoint.currency

    @property
    def endpoint_url(self) -> str:
        """This installation's own address."""
        return self._url

    def capabilities(self) -> base.Capabilities:
        """What people of a link can be offered."""
        return base.Capabilities(
            idempotent=frozenset({"publish", "extend", "pay_bonus"}),
            can_shrink=False,
            can_reject=True,
            reject_min_chars=1,
            unreject_days=30,
            in_frame_submit=False,
            groups=True,
            blocks=False,
            messages=False,
            fee_tiers=False,
            currency=self._currency,
        )

    # Reads

    def check(self) -> base.Balance:
        """Nothing is deposited here: what people are paid is the books' and the budget's."""
        return base.Balance(base.Money(0, self._currency), None)

    def get_listing(self, ref: str) -> base.Listing | None:
        """A HIT as our tables have it."""
        hit = self._hits().filter(external_id=ref).first()
        return self._listing(hit) if hit else None

    def iter_listings(self) -> Iterator[base.Listing]:
        """All HITs of the endpoint, the newest first."""
        for hit in self._hits().order_by("-pk").iterator():
            yield self._listing(hit)

    def find_by_key(self, key: str) -> base.Listing | None:
        """The HIT that was published with this key, if its publication was booked."""
        return self.get_listing(reference(key))

    def iter_submissions(self, ref: str, states: Sequence[str] = ()) -> Iterator[base.Submission]:
        """Answers of a HIT, in the order in which they came."""
        rows = self._answered().filter(hit__external_id=ref).order_by("stored_at", "pk")
        for row in rows.iterator():
            submission = self._submission(row)
            if not states or submission.state in states:
                yield submission

    def get_submission(self, ref: str) -> base.Submission | None:
        """One answer."""
        row = self._answered().filter(external_id=ref).first()
        return self._submission(row) if row else None

    def iter_bonuses(self, *, listing: str = "", submission: str = "") -> Iterator[base.BonusPaid]:
        """Bonuses that were booked."""
        rows = MarketOperation.objects.filter(
            endpoint=self._pk, kind=MarketOperation.Kind.BONUS, state=MarketOperation.State.CONFIRMED
        ).select_related("assignment__worker")
        if listing:
            rows = rows.filter(assignment__hit__external_id=listing)
        if submission:
            rows = rows.filter(assignment__external_id=submission)
        for row in rows.order_by("finished_at"):
            assert row.assignment is not None and row.finished_at is not None
            yield base.BonusPaid(
                submission=row.assignment.external_id,
                worker=row.assignment.worker.external_id,
                amount=base.Money(row.amount_cents, self._currency),
                reason=str(row.payload.get("reason", "")),
                paid_at=row.finished_at,
            )

    # Calls that change something. Their effect is what the outbox books; doing it again changes nothing.

    def publish(self, task: base.TaskSpec) -> base.Outcome[str]:
        """On offer as soon as it is booked."""
        return base.CallSuccess(reference(task.key))

    def extend(self, ref: str, places: int, key: str) -> base.Outcome[str]:
        """More places."""
        return base.CallSuccess(ref)

    def set_deadline(self, ref: str, when: Any) -> base.Outcome[str]:
        """A later end."""
        return base.CallSuccess(ref)

    def close(self, ref: str) -> base.Outcome[str]:
        """No one new."""
        return base.CallSuccess(ref)

    def archive(self, ref: str) -> base.Outcome[str]:
        """Nothing to delete."""
        return base.CallSuccess(ref)

    def approve(self, ref: str, note: str) -> base.Outcome[str]:
        """Good work; what it earns is in the books."""
        return base.CallSuccess(ref)

    def reject(self, ref: str, note: str) -> base.Outcome[str]:
        """Work that earns nothing."""
        return base.CallSuccess(ref)

    def unreject(self, ref: str, note: str) -> base.Outcome[str]:
        """Good work after all."""
        return base.CallSuccess(ref)

    def pay_bonus(
        self, submission: str, worker: str, amount: base.Money, reason: str, key: str
    ) -> base.Outcome[str]:
        """Something on top, in the books."""
        return base.CallSuccess(key)

    def ensure_group(self, name: str, description: str) -> base.Outcome[str]:
        """Groups are our rows and grants; the id only has to be one."""
        return base.CallSuccess(f"G{hashlib.sha256(name.encode()).hexdigest()[:24]}")

    def grant(self, group: str, worker: str, value: int = 1) -> base.Outcome[str]:
        """The operation itself is the membership."""
        return base.CallSuccess(group)

    def revoke(self, group: str, worker: str) -> base.Outcome[str]:
        """Not asked for by anything here."""
        return base.CallRefusal("NotSupported", "Nobody leaves a group of a study link.")

    def block(self, worker: str, why: str) -> base.Outcome[str]:
        """Links are closed instead."""
        return base.CallRefusal("NotSupported", "People of a study link are not blocked; close the link.")

    def unblock(self, worker: str, why: str) -> base.Outcome[str]:
        """Links are closed instead."""
        return base.CallRefusal("NotSupported", "People of a study link are not blocked; close the link.")

    def message(self, workers: Sequence[str], subject: str, text: str) -> base.Outcome[dict[str, str]]:
        """Nobody is reached: a link knows no inbox."""
        return base.CallSuccess(dict.fromkeys(workers, "People of a study link have no inbox."))

    # People

    def arrival(self, query: Mapping[str, str]) -> base.Arrival:
        """The signed arrival in the address; without it, a preview."""
        return read_arrival(query.get(ARRIVAL, "")) or base.Arrival("", "", "", "", is_preview=True)

    def finish(self, arrival: base.Arrival, fields: Mapping[str, str]) -> base.PostForm:
        """Nobody else has to be told: the worker goes on to where they came from."""
        return base.PostForm(arrival.submit_to, {})

    # Rows

    def _hits(self) -> QuerySet[Hit]:
        rows = Hit.objects.filter(hits_at(self._pk)).exclude(external_id="")
        return rows.select_related("stage").annotate(taken=TAKEN)

    def _answered(self) -> QuerySet[Assignment]:
        return (
            Assignment.objects.filter(worker__endpoint=self._pk, stored_at__isnull=False)
            .exclude(state=State.ENDED)
            .select_related("hit", "worker", "stage")
            .defer("draft", "response", "telemetry")
        )

    def _listing(self, hit: Hit) -> base.Listing:
        states = list(hit.assignments.values_list("state", "stored_at"))
        pending = sum(state == State.WORKING for state, _ in states)
        decided = sum(state in (State.APPROVED, State.REJECTED) for state, _ in states)
        available = max(0, hit.places - hit.taken)  # type: ignore[attr-defined]  # annotated
        expires_at = hit.expires_at or timezone.now() + timedelta(seconds=hit.stage.open_seconds)
        over = available == 0 or expires_at <= timezone.now()
        return base.Listing(
            ref=hit.external_id,
            key=hit.external_id.removeprefix(_PREFIX),
            state="open" if not over else "full" if pending else "reviewable",
            places=hit.places,
            available=available,
            pending=pending,
            decided=decided,
            expires_at=expires_at,
            reward=base.Money(hit.reward_cents, self._currency),
        )

    def _submission(self, row: Assignment) -> base.Submission:
        assert row.stored_at is not None
        approves_at = row.stored_at + timedelta(seconds=row.stage.auto_approve_seconds)
        state, decided_at = "submitted", row.decided_at
        if row.state == State.APPROVED:
            state = "approved"
        elif row.state == State.REJECTED:
            state = "rejected"
        elif approves_at <= timezone.now():
            state, decided_at = "approved", approves_at
        return base.Submission(
            ref=row.external_id,
            listing=row.hit.external_id,
            worker=row.worker.external_id,
            state=state,  # type: ignore[arg-type]  # one of the three
            accepted_at=row.arrived_at,
            submitted_at=row.stored_at,
            auto_approve_at=approves_at,
            decided_at=decided_at,
            answer={"receipt": str(row.receipt)},
        )


#: Before the key of the operation that published a HIT: its id at this marketplace.
_PREFIX = "L"


def reference(key: str) -> str:
    """What this marketplace calls the HIT that an operation with this token publishes."""
    return f"{_PREFIX}{key}"
