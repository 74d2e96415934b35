"""The ledger: every movement of money, in integer cents, from one account of a requester to another."""

from datetime import date, timedelta

from django.conf import settings
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
    payable = models.ForeignKey(
        "Payable",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="entries",
        help_text="The report by which the lab pays this out; a payment stands in one report only.",
    )

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
            models.Index(
                fields=["requester", "worker"],
                name="ledger_not_yet_payable",
                condition=Q(credit="workers", payable=None),
            ),
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


class Deposit(models.Model):
    """Money that the lab put into an account, with what its books call it; booked once per `once`."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="deposits")
    entry = models.OneToOneField(LedgerEntry, on_delete=models.PROTECT, related_name="deposit")
    cents = models.PositiveBigIntegerField()
    reference = models.CharField(max_length=120, blank=True, help_text="Order or transfer number.")
    note = models.CharField(max_length=500, blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField()
    once = models.UUIDField(unique=True)

    def __str__(self) -> str:
        return f"{self.cents} to {self.requester_id}"


class Invoice(models.Model):
    """What a requester spent in a period, frozen when it was issued; numbers run without gaps."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="invoices")
    number = models.PositiveIntegerField(unique=True)
    begins_at = models.DateTimeField()
    ends_at = models.DateTimeField(help_text="Exclusive.")
    address = models.TextField(blank=True, help_text="Whom it is for, as typed.")
    lines = models.JSONField(help_text="What was spent for what, in cents.")
    cents = models.PositiveBigIntegerField()
    real_money = models.BooleanField()
    issued_at = models.DateTimeField()
    issued_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)

    class Meta:
        constraints = [models.CheckConstraint(name="invoice_period", condition=Q(begins_at__lt=F("ends_at")))]

    def __str__(self) -> str:
        return f"invoice {self.number}"

    @property
    def last_day(self) -> date:
        """The last day of the period."""
        return (self.ends_at - timedelta(microseconds=1)).date()


class Payable(models.Model):
    """A report for the finance office: what each worker earned since the reports before; never twice."""

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="payables")
    number = models.PositiveIntegerField()
    until = models.DateTimeField(help_text="Payments before this moment, as far as no report had them.")
    workers = models.PositiveIntegerField()
    cents = models.PositiveBigIntegerField()
    made_at = models.DateTimeField()
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    paid_at = models.DateTimeField(null=True, blank=True, help_text="The finance office has paid it out.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "number"], name="payable_number")]

    def __str__(self) -> str:
        return f"payable {self.number} of {self.requester_id}"
