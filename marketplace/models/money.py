"""Money: the ledger, deposits, invoices, reports to pay out, and files that pay them."""

from datetime import date, timedelta

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy

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


class PayMethod(models.TextChoices):
    """Ways to pay a person; each has its own fields and its own file."""

    PAYPAL = "paypal", "PayPal"
    WISE = "wise", gettext_lazy("Wise, by e-mail")
    WISE_IBAN = "wise_iban", gettext_lazy("Wise, to an account with an IBAN")
    WISE_US = "wise_us", gettext_lazy("Wise, to an account in the USA")
    SEPA = "sepa", gettext_lazy("Transfer in the euro area (SEPA)")
    TREMENDOUS = "tremendous", gettext_lazy("Gift card (Tremendous)")
    BANK = "bank", gettext_lazy("Transfer to another bank account")
    NONE = "none", gettext_lazy("Paid elsewhere, or by course credit")


class PayeeDetails(models.Model):
    """How a worker is paid, sealed, and the change that waits for the link in an e-mail.

    An empty `method` says that nothing is in effect yet. `digest` is the same for the same account under any
    worker, and says nothing without the installation's secret.
    """

    worker = models.OneToOneField(Worker, on_delete=models.CASCADE, related_name="payee")
    method = models.CharField(max_length=10, choices=PayMethod, blank=True)
    details_sealed = models.TextField(blank=True, help_text="Encrypted with the installation's secret.")
    digest = models.CharField(max_length=64, blank=True, db_index=True)
    set_at = models.DateTimeField(null=True, blank=True)
    confirmed_at = models.DateTimeField(
        null=True, blank=True, help_text="Empty: there was no address to which a link could be sent."
    )
    waiting_method = models.CharField(max_length=10, choices=PayMethod, blank=True)
    waiting_sealed = models.TextField(blank=True)
    waiting_digest = models.CharField(max_length=64, blank=True)
    waiting_since = models.DateTimeField(null=True, blank=True)
    link_digest = models.CharField(
        max_length=64, null=True, blank=True, unique=True, help_text="SHA-256 of the token in the e-mail."
    )
    mailed_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.method or 'nothing yet'}"


class Payout(models.Model):
    """One file for one service: made once of what was owed, and the same file whenever it is asked for.

    Its lines keep the details as they were, and `sender_sealed` whose account pays; `digest` is the SHA-256
    of the file, and what does not match it is not handed out.
    """

    requester = models.ForeignKey(Requester, on_delete=models.PROTECT, related_name="payouts")
    number = models.PositiveIntegerField()
    report = models.ForeignKey(
        Payable,
        on_delete=models.PROTECT,
        related_name="payouts",
        help_text="The report it was made of; what earlier reports left owed is in it too.",
    )
    method = models.CharField(max_length=10, choices=PayMethod)
    currency = models.CharField(max_length=3)
    cents = models.PositiveBigIntegerField()
    people = models.PositiveIntegerField()
    sender_sealed = models.TextField(blank=True)
    digest = models.CharField(max_length=64)
    made_at = models.DateTimeField()
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    sent_at = models.DateTimeField(null=True, blank=True, help_text="When the file was first downloaded.")
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "number"], name="payout_number")]

    def __str__(self) -> str:
        return f"payout {self.number} of {self.requester_id}"


class PayoutLine(models.Model):
    """What one person gets by one file, and what became of it."""

    class State(models.TextChoices):
        """`owed`: in a file that has not left; `failed` is owed again by the reports it came from."""

        OWED = "owed", "not sent yet"
        SENT = "sent", "sent"
        PAID = "paid", "paid"
        FAILED = "failed", "failed"

    payout = models.ForeignKey(Payout, on_delete=models.PROTECT, related_name="lines")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="payout_lines")
    number = models.PositiveIntegerField(help_text="Its place in the file, from 1.")
    reference = models.CharField(max_length=35, unique=True, help_text="Comes back in the service's results.")
    cents = models.PositiveBigIntegerField()
    state = models.CharField(max_length=6, choices=State, default=State.OWED)
    reason = models.CharField(max_length=300, blank=True)
    details_sealed = models.TextField(blank=True, help_text="How the person was to be paid, as of then.")
    confirmed = models.BooleanField(help_text="Whether those details were confirmed.")
    at = models.DateTimeField(help_text="When the state was last changed.")

    class Meta:
        constraints = [
            models.CheckConstraint(name="payout_line_pays_something", condition=Q(cents__gt=0)),
            models.UniqueConstraint(fields=["payout", "worker"], name="one_line_per_person"),
        ]
        indexes = [models.Index(fields=["worker", "-id"], name="payout_line_of_worker")]

    def __str__(self) -> str:
        return self.reference


class PayoutPart(models.Model):
    """What a line takes from one report: all that the report has for the person.

    In force until the line failed. At most one part in force per report and person: nothing that was paid,
    or is on its way, is put into another file.
    """

    line = models.ForeignKey(PayoutLine, on_delete=models.PROTECT, related_name="parts")
    report = models.ForeignKey(Payable, on_delete=models.PROTECT, related_name="parts")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="+")
    cents = models.PositiveBigIntegerField()
    in_force = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["report", "worker"], name="paid_by_one_file", condition=Q(in_force=True)
            )
        ]

    def __str__(self) -> str:
        return f"{self.cents} of report {self.report_id} for {self.worker_id}"


class YearlyLimit(models.Model):
    """That a person's payments of a calendar year passed a threshold, and what was decided about it."""

    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="yearly_limits")
    year = models.PositiveSmallIntegerField()
    warned_at = models.DateTimeField(null=True, blank=True)
    held_at = models.DateTimeField(null=True, blank=True)
    released_at = models.DateTimeField(null=True, blank=True)
    released_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    decision = models.CharField(max_length=300, blank=True, help_text="Why it is paid all the same.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["worker", "year"], name="one_limit_per_year")]

    def __str__(self) -> str:
        return f"{self.worker_id} in {self.year}"
