"""Operations: planned as one row with its reservation, once per purpose, and which call of the adapter each
is.
"""

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from django.db import transaction
from django.utils import timezone

from crowd import budget, rights
from crowd.adapters.base import Marketplace, Money, Outcome, Panel, Rule, StudySpec, TaskSpec
from crowd.budget import Cost, MovementPurpose
from crowd.models import Assignment, Endpoint, Group, Hit, MarketOperation, PanelSubmission, Stage

# What a round hears from an endpoint: answers, or errors that are not the marketplace's own word.


@dataclass(slots=True)
class Contact:
    """Whether the endpoint answered during a round, and why not; `must_end` says that the round is to end."""

    must_end: Callable[[], bool] = lambda: False
    answers: int = 0
    trouble: str = ""
    is_down: bool = False
    #: Nothing was asked, because a restore keeps all calls back.
    is_held: bool = False

    def note_answer(self) -> None:
        """The marketplace itself said something, be it a refusal."""
        self.answers += 1

    def note_trouble(self, cause: object) -> None:
        """Nothing came, or something that is no answer of the marketplace; the first cause is kept."""
        self.trouble = self.trouble or str(cause) or type(cause).__name__


Kind = MarketOperation.Kind
Call = Callable[[Marketplace, MarketOperation], Outcome[Any]]

#: Kinds whose token the marketplace remembers for 24 hours; the others are changes of state, safe to repeat.
WITH_TOKEN = frozenset({Kind.PUBLISH, Kind.EXTEND, Kind.BONUS})
#: Kinds that the marketplace would do again: never repeated once they may have been done.
AT_MOST_ONCE = frozenset({Kind.MESSAGE, Kind.RETURN})
#: Kinds that spend money, or promise to.
PAID = frozenset(
    {
        Kind.PUBLISH,
        Kind.EXTEND,
        Kind.BONUS,
        Kind.APPROVE,
        Kind.UNREJECT,
        Kind.STUDY,
        Kind.PLACES,
        Kind.PARTIAL,
    }
)


@dataclass(frozen=True, slots=True)
class CallClasses:
    """Which kinds a marketplace remembers by their token, and which it would do again."""

    with_token: frozenset[Kind]
    at_most_once: frozenset[Kind]

    @classmethod
    def of(cls, market: Marketplace) -> "CallClasses":
        """The classes by what the adapter says."""
        if "pay_bonus" in market.capabilities().idempotent:
            return cls(WITH_TOKEN, AT_MOST_ONCE)
        return cls(WITH_TOKEN - {Kind.BONUS}, AT_MOST_ONCE | {Kind.BONUS})

    @property
    def prepares_bonuses(self) -> bool:
        """Whether a bonus is set up before it is paid."""
        return Kind.BONUS in self.at_most_once


def bonus_reference(operation: MarketOperation) -> str:
    """By what a bonus is found again in a list: the first eight digits of its operation."""
    return f"[ref {operation.token[:8]}]"


def found_purpose(reference: str) -> str:
    """The purpose of a bonus that a restored database found paid; what it was asked for is not known."""
    return f"found [ref {reference}]"


def _publish(market: Marketplace, operation: MarketOperation) -> Outcome[str]:
    values = dict(operation.payload)
    currency = values.pop("currency")
    reward = Money(values.pop("reward_cents"), currency)
    rules = tuple(
        Rule(rule["kind"], rule["op"], tuple(rule["values"]), rule["hide"])
        for rule in values.pop("eligibility")
    )
    return market.publish(TaskSpec(key=operation.token, reward=reward, eligibility=rules, **values))


def fill_in_groups(operations: Sequence[MarketOperation]) -> list[MarketOperation]:
    """Put the marketplace's ids of our groups into payloads that name them by "@7", in memory only.

    Returns the operations whose groups are all there; the others have to wait.
    """
    rows = {int(name[1:]) for operation in operations for name in _groups_in(operation.payload)}
    ids = dict(Group.objects.filter(pk__in=rows).exclude(external_id="").values_list("pk", "external_id"))
    ready = []
    for operation in operations:
        if all(int(name[1:]) in ids for name in _groups_in(operation.payload)):
            operation.payload = _with_ids(operation.payload, ids)
            ready.append(operation)
    return ready


#: What a panel without study-independent ids has to be told the study of.
_OF_A_STUDY = (Kind.APPROVE, Kind.REJECT, Kind.UNREJECT, Kind.BONUS)


def fill_in_studies(operations: Sequence[MarketOperation]) -> None:
    """Put a panel's id of the study before ids of submissions where it asks for both, in memory only."""
    incomplete = [
        operation
        for operation in operations
        if operation.kind in _OF_A_STUDY and operation.endpoint.protocol == Endpoint.Protocol.CONNECT
    ]
    if not incomplete:
        return
    names = [operation.payload.get("ref") or operation.payload["submission"] for operation in incomplete]
    rows = PanelSubmission.objects.filter(
        study__endpoint__in={operation.endpoint_id for operation in incomplete}, external_id__in=names
    )
    studies = dict(rows.values_list("external_id", "study__external_id"))
    for operation in incomplete:
        field = "ref" if "ref" in operation.payload else "submission"
        name = operation.payload[field]
        operation.payload = {**operation.payload, field: f"{studies.get(name, '')}/{name}"}


def _groups_in(payload: dict[str, Any]) -> list[str]:
    values = [value for rule in payload.get("eligibility", []) for value in rule["values"]]
    values.append(payload.get("group"))
    return [value for value in values if isinstance(value, str) and value.startswith("@")]


def _with_ids(payload: dict[str, Any], ids: dict[int, str]) -> dict[str, Any]:
    def filled(value: Any) -> Any:
        return ids[int(value[1:])] if isinstance(value, str) and value.startswith("@") else value

    changed = dict(payload)
    if "eligibility" in payload:
        changed["eligibility"] = [
            {**rule, "values": [filled(value) for value in rule["values"]]} for rule in payload["eligibility"]
        ]
    if "group" in payload:
        changed["group"] = filled(payload["group"])
    return changed


def _extend(market: Marketplace, operation: MarketOperation) -> Outcome[str]:
    return market.extend(operation.payload["ref"], operation.payload["places"], operation.token)


def _deadline(market: Marketplace, operation: MarketOperation) -> Outcome[str]:
    return market.set_deadline(operation.payload["ref"], datetime.fromisoformat(operation.payload["when"]))


def _bonus(market: Marketplace, operation: MarketOperation) -> Outcome[str]:
    payload = operation.payload
    return market.pay_bonus(
        payload["submission"],
        payload["worker"],
        Money(operation.amount_cents, payload["currency"]),
        f"{payload['reason']} {bonus_reference(operation)}",
        payload.get(PREPARED) or operation.token,
    )


#: Key of a bonus's payload under which the panel's id of what was set up is kept.
PREPARED = "prepared"


def prepare_bonus(market: Marketplace, operation: MarketOperation) -> Outcome[str]:
    """Set a bonus up at a panel, which pays nothing."""
    payload = operation.payload
    amount = Money(operation.amount_cents, payload["currency"])
    return cast(Panel, market).prepare_bonus(payload["study"], payload["submission"], amount)


def _study(market: Marketplace, operation: MarketOperation) -> Outcome[str]:
    values = dict(operation.payload)
    currency = values.pop("currency")
    reward = Money(values.pop("reward_cents"), currency)
    if screen_out := values.pop("screen_out_cents", 0):
        values["screen_out"] = Money(screen_out, currency)
    rules = tuple(
        Rule(rule["kind"], rule["op"], tuple(rule["values"]), rule["hide"])
        for rule in values.pop("eligibility")
    )
    return cast(Panel, market).open_study(StudySpec(reward=reward, eligibility=rules, **values))


def _places(market: Marketplace, operation: MarketOperation) -> Outcome[str]:
    """More places of a study, or more paid screen-outs."""
    panel, payload = cast(Panel, market), operation.payload
    if "slots" not in payload:
        return panel.raise_places(payload["ref"], payload["places"])
    return panel.raise_slots(
        payload["ref"],
        code=payload["code"],
        slots=payload["slots"],
        before=payload["before"],
        is_first=operation.attempts <= 1,
    )


def _message(market: Marketplace, operation: MarketOperation) -> Outcome[dict[str, str]]:
    payload = operation.payload
    if "study" not in payload:
        return market.message(payload["workers"], payload["subject"], payload["text"])
    return cast(Panel, market).write_to(
        payload["workers"], letter_of(payload), study=payload["study"], group=payload.get("group", "")
    )


def letter_of(payload: dict[str, Any]) -> str:
    """A message as participants of a panel read it: it has no subject there."""
    return "\n\n".join(filter(None, (payload["subject"], payload["text"])))


CALLS: dict[str, Call] = {
    Kind.PUBLISH: _publish,
    Kind.EXTEND: _extend,
    Kind.DEADLINE: _deadline,
    Kind.CLOSE: lambda market, operation: market.close(operation.payload["ref"]),
    Kind.ARCHIVE: lambda market, operation: market.archive(operation.payload["ref"]),
    Kind.APPROVE: lambda market, operation: market.approve(
        operation.payload["ref"], operation.payload["note"]
    ),
    Kind.REJECT: lambda market, operation: market.reject(operation.payload["ref"], operation.payload["note"]),
    Kind.UNREJECT: lambda market, operation: market.unreject(
        operation.payload["ref"], operation.payload["note"]
    ),
    Kind.BONUS: _bonus,
    Kind.GROUP: lambda market, operation: market.ensure_group(
        operation.payload["name"], operation.payload["description"]
    ),
    Kind.GRANT: lambda market, operation: market.grant(
        operation.payload["group"], operation.payload["worker"], operation.payload["value"]
    ),
    Kind.STUDY: _study,
    Kind.PLACES: _places,
    Kind.RETURN: lambda market, operation: cast(Panel, market).ask_return(
        operation.payload["ref"], operation.payload["why"]
    ),
    Kind.MOVE: lambda market, operation: cast(Panel, market).move_study(
        operation.payload["ref"], operation.payload["action"]
    ),
    Kind.PARTIAL: lambda market, operation: cast(Panel, market).pay_in_part(
        operation.payload["ref"],
        code=operation.payload["code"],
        percent=operation.payload["percent"],
        note=operation.payload["note"],
    ),
    Kind.MESSAGE: _message,
}


NOTHING = Cost(0)


@transaction.atomic
def plan(
    *,
    kind: MarketOperation.Kind,
    endpoint: Endpoint,
    target: str,
    purpose: str,
    payload: dict[str, Any],
    stage: Stage | None = None,
    hit: Hit | None = None,
    assignment: Assignment | None = None,
    cost: Cost = NOTHING,
    not_before: datetime | None = None,
    pk: uuid.UUID | None = None,
    actor: Any = None,
) -> MarketOperation:
    """Plan an operation and reserve what it costs; the same kind, target and purpose are planned once.

    `pk` is for what must keep its token even if this row is lost. Raises BudgetError where the money is not
    there, and SpendingRightError where who acts may not spend it; then nothing is planned.
    """
    now = timezone.now()
    operation, created = MarketOperation.objects.get_or_create(
        kind=kind,
        target=target,
        purpose=purpose,
        defaults={
            "id": pk or uuid.uuid4(),
            "endpoint": endpoint,
            "endpoint_url": endpoint.url,
            "stage": stage,
            "hit": hit,
            "assignment": assignment,
            "payload": payload,
            "amount_cents": cost.cents,
            "fee_cents": cost.fee_cents,
            "planned_at": now,
            "not_before": not_before or now,
        },
    )
    if created and stage is not None and kind in rights.GUARDED:
        rights.refuse_spending(endpoint, stage, actor)
    if created and cost.total:
        assert stage is not None
        budget.reserve(
            stage,
            cost,
            MovementPurpose(kind, operation=operation, hit=hit, assignment=assignment),
            at=now,
        )
    return operation
