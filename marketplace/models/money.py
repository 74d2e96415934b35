"""The ledger: every movement of money, in integer cents, from one account of a requester to another."""

from django.db import models
from django.db.models import F, Q

from marketplace.models.people import Requester, Worker
from marketplace.models.work import HIT, Holding


class LedgerEntry(models.Model):
    """One movement, append-only. Double entry: what leaves `debit` arrives in `credit`."""

    class Account(models.TextChoices):
        """`outside` is the lab's purse; `workers` and `fees` are what has been spent."""

        OUTSIDE = "outside"
        AVAILABLE = "available"
        HELD = "held"
        WORKERS = "workers"
        FEES = "fees"

    class Kind(models.TextChoices):
        """Why the money moved."""

        DEPOSIT = "deposit"
        HOLD = "hold"
        RELEASE = "release"
        REWARD = "reward"
        REWARD_FEE = "reward_fee"
        BONUS = "bonus"
        BONUS_FEE = "bonus_fee"

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="ledger")
    at = models.DateTimeField()
    kind = models.CharField(max_length=10, choices=Kind)
    debit = models.CharField(max_length=9, choices=Account)
    credit = models.CharField(max_length=9, choices=Account)
    cents = models.BigIntegerField()
    hit = models.ForeignKey(HIT, null=True, on_delete=models.PROTECT)
    holding = models.ForeignKey(Holding, null=True, on_delete=models.PROTECT, related_name="ledger")
    worker = models.ForeignKey(Worker, null=True, on_delete=models.PROTECT, related_name="ledger")
    memo = models.CharField(max_length=200, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(name="ledger_moves_something", condition=Q(cents__gt=0)),
            models.CheckConstraint(name="ledger_moves_somewhere", condition=~Q(debit=F("credit"))),
            models.UniqueConstraint(
                fields=["holding", "kind"],
                name="assignment_paid_once",
                condition=Q(kind__in=["reward", "reward_fee"]),
            ),
        ]
        indexes = [
            models.Index(fields=["requester", "-id"], name="ledger_statement"),
            models.Index(fields=["worker", "at"], name="ledger_earnings", condition=Q(credit="workers")),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.cents} {self.debit}->{self.credit}"


class Bonus(models.Model):
    """A payment on top of an assignment's reward."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="bonuses")
    holding = models.ForeignKey(Holding, on_delete=models.PROTECT, related_name="bonuses")
    hit = models.ForeignKey(HIT, on_delete=models.PROTECT, related_name="bonuses")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="bonuses")
    assignment_id = models.CharField(max_length=64)
    cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField()
    reason = models.TextField()
    granted_at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["hit", "granted_at", "id"], name="bonus_by_hit"),
            models.Index(fields=["assignment_id", "granted_at", "id"], name="bonus_by_assignment"),
        ]

    def __str__(self) -> str:
        return f"{self.cents} to {self.worker_id}"
