"""The statement of an account: every movement, with what was available after it."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta

from django.db.models import Case, F, IntegerField, Max, QuerySet, Sum, Value, When

from marketplace.models import LedgerEntry, Requester

Account, Kind = LedgerEntry.Account, LedgerEntry.Kind
#: What the movements are called.
WORDS = {
    Kind.DEPOSIT: "Deposit",
    Kind.HOLD: "Put on hold",
    Kind.RELEASE: "Released",
    Kind.REWARD: "Reward",
    Kind.REWARD_FEE: "Fee on a reward",
    Kind.BONUS: "Bonus",
    Kind.BONUS_FEE: "Fee on a bonus",
}
KINDS = {
    "all": "Everything",
    "deposits": "Deposits",
    "holds": "On hold and released",
    "paid": "Rewards and bonuses",
    "fees": "Fees",
}
_OF_KIND = {
    "deposits": (Kind.DEPOSIT,),
    "holds": (Kind.HOLD, Kind.RELEASE),
    "paid": (Kind.REWARD, Kind.BONUS),
    "fees": (Kind.REWARD_FEE, Kind.BONUS_FEE),
}
PERIODS = {
    "all": "Ever",
    "today": "Today",
    "7": "The last 7 days",
    "30": "The last 30 days",
    "month": "This month",
    "before": "Last month",
    "year": "This year",
}
#: Rows whose balances are worked out in one statement.
_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class Line:
    """A movement as the statement shows it; amounts in cents, less than zero where money left."""

    entry: LedgerEntry
    balance: int

    @property
    def words(self) -> str:
        """What happened."""
        return WORDS[Kind(self.entry.kind)]

    @property
    def available(self) -> int:
        """What it changed of what is available."""
        return self._change(Account.AVAILABLE)

    @property
    def held(self) -> int:
        """What it changed of what is on hold."""
        return self._change(Account.HELD)

    @property
    def spent(self) -> int:
        """What went to workers or fees."""
        return self.entry.cents if self.entry.credit in (Account.WORKERS, Account.FEES) else 0

    @property
    def hit_id(self) -> str:
        """The HIT it was for, if any."""
        return self.entry.hit.hit_id if self.entry.hit else ""

    @property
    def reference(self) -> str:
        """What the lab's books call it, or what else was noted."""
        deposit = getattr(self.entry, "deposit", None)
        return deposit.reference if deposit else self.entry.memo

    @property
    def worker_id(self) -> str:
        """Who got it, if anybody."""
        return self.entry.worker.worker_id if self.entry.worker else ""

    def _change(self, account: str) -> int:
        gained = self.entry.cents if self.entry.credit == account else 0
        return gained - (self.entry.cents if self.entry.debit == account else 0)


def entries(
    requester: Requester, *, kind: str, period: str, hit_id: str, now: datetime
) -> QuerySet[LedgerEntry]:
    """Movements of an account, by the keys of KINDS and PERIODS; a HIT by its whole id."""
    found = LedgerEntry.objects.filter(requester=requester).select_related("hit", "worker", "deposit")
    found = found.defer("hit__question")
    if kind in _OF_KIND:
        found = found.filter(kind__in=_OF_KIND[kind])
    if hit_id:
        found = found.filter(hit__hit_id=hit_id)
    begins, ends = _bounds(period, now)
    if begins is not None:
        found = found.filter(at__gte=begins)
    if ends is not None:
        found = found.filter(at__lt=ends)
    return found


def _bounds(period: str, now: datetime) -> tuple[datetime | None, datetime | None]:
    today = datetime.combine(now.date(), time.min, tzinfo=UTC)
    month = today.replace(day=1)
    if period == "today":
        return today, None
    if period in ("7", "30"):
        return today - timedelta(days=int(period) - 1), None
    if period == "month":
        return month, None
    if period == "before":
        return (month - timedelta(days=1)).replace(day=1), month
    return (today.replace(month=1, day=1), None) if period == "year" else (None, None)


class Balances:
    """What was available after each of some movements that come in the order of their keys, up or down.

    Each call begins where the one before ended, so a file of all rows reads every movement once.
    """

    def __init__(self, requester: Requester, *, down: bool) -> None:
        self._requester = requester
        self._down = down
        self._known: tuple[int, int] | None = None if down else (0, 0)

    def complete(self, rows: list[LedgerEntry]) -> list[Line]:
        """The movements as lines."""
        lines: list[Line] = []
        for start in range(0, len(rows), _AT_ONCE):
            lines += self._some(rows[start : start + _AT_ONCE])
        return lines

    def _some(self, rows: list[LedgerEntry]) -> Iterator[Line]:
        keys = [row.pk for row in rows]
        sums, now = self._between(keys)
        balance = now if self._known is None else self._known[1]
        for number, row in enumerate(rows):
            balance += -sums.get(number, 0) if self._down else sums.get(number, 0)
            yield Line(row, balance)
        self._known = (keys[-1], balance)

    def _between(self, keys: list[int]) -> tuple[dict[int, int], int]:
        """What moved between each key and the one before it, and what is available at the same moment."""
        change = Case(
            When(credit=Account.AVAILABLE, then=F("cents")),
            When(debit=Account.AVAILABLE, then=-F("cents")),
            default=0,
        )
        reached = "pk__gt" if self._down else "pk__lte"
        place = Case(
            *(When(**{reached: key}, then=Value(number)) for number, key in enumerate(keys)),
            default=Value(-1),
            output_field=IntegerField(),
        )
        every = LedgerEntry.objects.filter(requester=self._requester).order_by()
        if self._down:
            every = every.filter(pk__gte=keys[-1])
            if self._known is not None:
                every = every.filter(pk__lte=self._known[0])
        else:
            assert self._known is not None
            every = every.filter(pk__gt=self._known[0], pk__lte=keys[-1])
        found = list(
            every.values(place=place).annotate(sum=Sum(change), now=Max("requester__available_cents"))
        )
        return {row["place"]: row["sum"] for row in found}, max((row["now"] for row in found), default=0)
