"""Requesters, workers, and what passes between them outside of the work itself."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q


class Requester(models.Model):
    """Somebody who posts HITs, by scripts or in a browser, with one account in integer cents."""

    name = models.CharField(max_length=120, unique=True)
    customer_id = models.CharField(max_length=64, unique=True)
    fee_profile = models.CharField(max_length=40)
    real_money = models.BooleanField(default=False, help_text="Deposits are money that the lab pays out.")
    owner = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField()

    deposited_cents = models.BigIntegerField(default=0)
    available_cents = models.BigIntegerField(default=0)
    held_cents = models.BigIntegerField(default=0)
    paid_cents = models.BigIntegerField(default=0)
    fees_cents = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="requester_account_never_negative",
                condition=Q(available_cents__gte=0, held_cents__gte=0, paid_cents__gte=0, fees_cents__gte=0),
            ),
            models.CheckConstraint(
                name="requester_account_balances",
                condition=Q(
                    deposited_cents=F("available_cents") + F("held_cents") + F("paid_cents") + F("fees_cents")
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class AccessKey(models.Model):
    """A pair of keys with which scripts of a requester sign their calls; several may be valid at once."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="keys")
    access_key = models.CharField(max_length=64, unique=True)
    secret_sealed = models.TextField(help_text="The secret key, encrypted with the installation's secret.")
    label = models.CharField(max_length=80, blank=True, help_text="Which script or machine it is for.")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField()
    ends_at = models.DateTimeField(
        null=True, blank=True, help_text="From then on refused; empty: valid until somebody ends it."
    )
    last_used_at = models.DateTimeField(null=True, blank=True, help_text="To the minute.")
    read_only = models.BooleanField(default=False, help_text="Calls that change anything are refused.")
    addresses = models.JSONField(default=list, help_text="Where it was used from, the last one first.")

    def __str__(self) -> str:
        return self.access_key


class KeyAlert(models.Model):
    """An access key was used from where it was never used before; open until a person has seen it."""

    key = models.ForeignKey(AccessKey, on_delete=models.CASCADE, related_name="alerts")
    address = models.CharField(max_length=45)
    at = models.DateTimeField()
    seen_at = models.DateTimeField(null=True, blank=True)
    seen_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)

    class Meta:
        indexes = [models.Index(fields=["key"], name="open_key_alerts", condition=Q(seen_at=None))]

    def __str__(self) -> str:
        return f"{self.key_id} from {self.address}"


class Worker(models.Model):
    """A person (or a script, then `simulated`) who does HITs.

    The counters are kept by the life cycle of assignments and feed the system qualifications.
    """

    worker_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=120, unique=True)
    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="marketplace_worker",
    )
    token_digest = models.CharField(
        max_length=64,
        null=True,
        blank=True,
        unique=True,
        help_text="SHA-256 of the token of a scripted worker.",
    )
    simulated = models.BooleanField(default=False)
    country = models.CharField(
        max_length=2, blank=True, help_text="ISO 3166 country, for Locale requirements."
    )
    subdivision = models.CharField(max_length=2, blank=True)
    adult = models.BooleanField(default=False, help_text="Agreed to see adult content.")
    accept_next = models.BooleanField(default=False, help_text="Accept the next HIT of the group on submit.")
    created_at = models.DateTimeField()
    closed_at = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Account closed: personal data are gone, work and money stay.",
    )
    payment_note_sealed = models.TextField(
        blank=True,
        help_text="How to be paid, in the worker's own words; encrypted with the installation's secret.",
    )

    submitted_count = models.PositiveIntegerField(default=0)
    approved_count = models.PositiveIntegerField(default=0)
    rejected_count = models.PositiveIntegerField(default=0)
    returned_count = models.PositiveIntegerField(default=0)
    abandoned_count = models.PositiveIntegerField(default=0)

    def __str__(self) -> str:
        return self.worker_id


class Block(models.Model):
    """A worker who may not accept HITs of a requester; the worker does not see the reason."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="blocks")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="blocks")
    reason = models.TextField()
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "worker"], name="one_block_per_worker")]

    def __str__(self) -> str:
        return f"{self.requester_id} blocks {self.worker_id}"


class Message(models.Model):
    """A message in a worker's inbox: NotifyWorkers, notices of qualifications, answers to letters."""

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="messages")
    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="messages")
    subject = models.CharField(max_length=200)
    body = models.TextField()
    answers = models.ForeignKey(
        "Letter", null=True, blank=True, on_delete=models.SET_NULL, related_name="answers"
    )
    sent_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [models.Index(fields=["worker", "-sent_at"], name="message_inbox")]

    def __str__(self) -> str:
        return self.subject


class Invitation(models.Model):
    """A link by which people sign up as workers where registration is by invitation."""

    token_digest = models.CharField(max_length=64, unique=True)
    label = models.CharField(max_length=120)
    max_uses = models.PositiveIntegerField(default=1)
    uses = models.PositiveIntegerField(default=0)
    expires_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(name="invitation_uses_bounded", condition=Q(uses__lte=F("max_uses")))
        ]

    def __str__(self) -> str:
        return self.label
