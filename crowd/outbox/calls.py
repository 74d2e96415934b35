"""Which call of the adapter an operation is."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

from crowd.adapters.base import Marketplace, Money, Outcome, Rule, TaskSpec, Throttled
from crowd.models import Group, MarketOperation

Kind = MarketOperation.Kind
Call = Callable[[Marketplace, MarketOperation], Outcome[Any]]

#: Kinds whose token the marketplace remembers for 24 hours; the others are changes of state, safe to repeat.
WITH_TOKEN = frozenset({Kind.PUBLISH, Kind.EXTEND, Kind.BONUS})
#: How long an operation that needs a group waits before it looks for it again, in seconds.
_WAIT_FOR_GROUP_S = 1.0
#: Kinds that spend money, or promise to.
PAID = frozenset({Kind.PUBLISH, Kind.EXTEND, Kind.BONUS, Kind.APPROVE, Kind.UNREJECT})


def bonus_reference(operation: MarketOperation) -> str:
    """By what a bonus is found again in a list: the first eight digits of its operation."""
    return f"[ref {operation.token[:8]}]"


def _publish(market: Marketplace, operation: MarketOperation) -> Outcome[str]:
    values = dict(operation.payload)
    currency = values.pop("currency")
    reward = Money(values.pop("reward_cents"), currency)
    try:
        rules = tuple(
            Rule(rule["kind"], rule["op"], tuple(_resolved(value) for value in rule["values"]), rule["hide"])
            for rule in values.pop("eligibility")
        )
    except GroupNotThereError:
        return Throttled(_WAIT_FOR_GROUP_S)
    return market.publish(TaskSpec(key=operation.token, reward=reward, eligibility=rules, **values))


class GroupNotThereError(Exception):
    """A call needs a group that the marketplace has not made yet."""


def _resolved(value: str | int) -> str | int:
    """A value of a rule; "@7" is the marketplace's id of our group 7."""
    if not isinstance(value, str) or not value.startswith("@"):
        return value
    external_id = Group.objects.values_list("external_id", flat=True).get(pk=int(value[1:]))
    if not external_id:
        raise GroupNotThereError(value)
    return external_id


def _grant(market: Marketplace, operation: MarketOperation) -> Outcome[str]:
    payload = operation.payload
    try:
        group = str(_resolved(payload["group"]))
    except GroupNotThereError:
        return Throttled(_WAIT_FOR_GROUP_S)
    return market.grant(group, payload["worker"], payload["value"])


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
        operation.token,
    )


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
    Kind.GRANT: _grant,
    Kind.MESSAGE: lambda market, operation: market.message(
        operation.payload["workers"], operation.payload["subject"], operation.payload["text"]
    ),
}
