"""Requesters with keys and activity, workers, qualifications, and calls.

Beside them what passes between both outside of the work, and the clock and the faults of test controls.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy

from core.origin import Via


class Requester(models.Model):
    """Somebody who posts HITs, by scripts or in a browser, with one account in integer cents."""

    name = models.CharField(max_length=120, unique=True)
    customer_id = models.CharField(max_length=64, unique=True)
    fee_profile = models.CharField(max_length=40)
    real_money = models.BooleanField(default=False, help_text="Deposits are money that the lab pays out.")
    currency = models.CharField(
        max_length=3,
        blank=True,
        default="",
        db_default="",
        help_text="Of its real money, from the first deposit on.",
    )
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


class RequesterMember(models.Model):
    """A person beside the requester's owner, and what they may do there (`services.members`)."""

    class Role(models.TextChoices):
        """Viewers look, payers pay, reviewers decide about work, managers run it all but the members."""

        OWNER = "owner"
        MANAGER = "manager"
        REVIEWER = "reviewer"
        PAYER = "payer"
        VIEWER = "viewer"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="members")
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="requester_memberships"
    )
    role = models.CharField(max_length=8, choices=Role)
    since = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "user"], name="one_role_at_a_requester"),
            models.CheckConstraint(
                name="requester_role_known",
                condition=Q(role__in=["owner", "manager", "reviewer", "payer", "viewer"]),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.user_id} is {self.role} of {self.requester_id}"


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
    time_zone = models.CharField(
        max_length=64, blank=True, db_default="", default="", help_text="IANA name; empty: UTC."
    )
    language = models.CharField(
        max_length=8,
        blank=True,
        db_default="",
        default="",
        help_text="Of pages and letters; empty: the browser's.",
    )
    invitation = models.ForeignKey(
        "Invitation",
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="workers",
        help_text="By which the worker signed up.",
    )
    guest_of = models.ForeignKey(
        Requester,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="guests",
        help_text="Came by a study link of this requester, and takes HITs of no other.",
    )
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


class Contact(models.Model):
    """Where a worker can be written to, and how often they want a digest of what is new.

    An address is in effect once its link was opened; until then it waits, and the one before stays.
    """

    class Digest(models.TextChoices):
        """How often; the first is none."""

        NEVER = "", gettext_lazy("Never")
        DAILY = "daily", gettext_lazy("Every day")
        WEEKLY = "weekly", gettext_lazy("Every Monday")

    worker = models.OneToOneField(Worker, on_delete=models.CASCADE, related_name="contact")
    email = models.EmailField(blank=True, db_index=True, help_text="Confirmed.")
    confirmed_at = models.DateTimeField(null=True, blank=True)
    waiting_email = models.EmailField(blank=True)
    waiting_since = models.DateTimeField(null=True, blank=True)
    reset_mailed_at = models.DateTimeField(
        null=True, blank=True, help_text="When a link for a new password was last sent."
    )
    digest = models.CharField(max_length=6, choices=Digest, blank=True, default=Digest.NEVER)
    digest_due_at = models.DateTimeField(
        null=True, blank=True, help_text="Set to the next period before one is sent: none is sent twice."
    )
    digest_since = models.DateTimeField(null=True, blank=True, help_text="What the last digest told of.")

    class Meta:
        indexes = [
            models.Index(fields=["digest_due_at"], name="digest_due", condition=~Q(digest="") & ~Q(email=""))
        ]

    def __str__(self) -> str:
        return f"contact of {self.worker_id}"


class CountryChange(models.Model):
    """A worker states another country than at sign-up; staff see when and why."""

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="country_changes")
    before = models.CharField(max_length=5, blank=True, help_text="As in US-PA.")
    after = models.CharField(max_length=5, blank=True)
    reason = models.CharField(max_length=300)
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.before} to {self.after}"


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


# What people and scripts did in a requester's name, and calls that were refused at the door.


class Activity(models.Model):
    """One decision, grant, block, payment or key: who made it, with which key, and from which address.

    Append-only. The name of the person stays when the account goes.
    """

    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="activity", db_index=False
    )
    at = models.DateTimeField(db_index=True)
    action = models.CharField(max_length=40)
    subject = models.CharField(max_length=120, blank=True)
    details = models.CharField(max_length=300, blank=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL)
    actor = models.CharField(max_length=150, blank=True, help_text="User's name; empty: a key, or nobody.")
    access_key = models.CharField(max_length=64, blank=True)
    address = models.CharField(max_length=45, blank=True)
    via = models.CharField(
        max_length=8, choices=Via, blank=True, default="", db_default="", help_text="Empty: not noted."
    )
    request_id = models.CharField(max_length=64, blank=True, default="", db_default="")

    class Meta:
        indexes = [models.Index(fields=["requester", "-id"], name="activity_of_requester")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"


class RefusedCalls(models.Model):
    """How many calls of a day were refused at the door, and why; they are counted, not kept."""

    day = models.DateField()
    reason = models.CharField(max_length=60)
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["day", "reason"], name="refused_calls_of_a_day")]

    def __str__(self) -> str:
        return f"{self.day} {self.reason}: {self.count}"


class SignedWrite(models.Model):
    """The signature of a call that changed something, so that nobody sends it again while it is valid."""

    signature = models.CharField(max_length=64, unique=True)
    at = models.DateTimeField(db_index=True, help_text="By the real clock, as signatures are.")

    def __str__(self) -> str:
        return self.signature


# Qualification types that requesters make, and who holds them.


class QualificationType(models.Model):
    """A custom qualification; name and keywords cannot change."""

    class Status(models.TextChoices):
        """Inactive types can be neither requested nor granted again."""

        ACTIVE = "Active"
        INACTIVE = "Inactive"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="qualification_types")
    qualification_type_id = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    description = models.TextField()
    keywords = models.CharField(max_length=1000, blank=True)
    status = models.CharField(max_length=8, choices=Status)
    auto_granted = models.BooleanField(default=False)
    auto_granted_value = models.IntegerField(default=1)
    retry_delay_s = models.PositiveBigIntegerField(null=True, blank=True)
    test = models.TextField(blank=True, help_text="QuestionForm XML; empty: no test.")
    answer_key = models.TextField(blank=True, help_text="AnswerKey XML; empty: the requester decides.")
    test_duration_s = models.PositiveBigIntegerField(null=True, blank=True)
    created_at = models.DateTimeField()
    disposing_at = models.DateTimeField(
        null=True, blank=True, help_text="To be deleted as soon as no HIT asks for it any more."
    )
    deleted_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(
                fields=["requester"],
                name="qualification_disposing",
                condition=Q(disposing_at__isnull=False, deleted_at=None),
            )
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "name"],
                name="qualification_name_of_requester",
                condition=Q(deleted_at=None),
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def wire_status(self) -> str:
        """QualificationTypeStatus as the protocol has it."""
        return self.status if self.disposing_at is None else "Disposing"

    @property
    def has_test(self) -> bool:
        """Whether workers take a test; to be known without loading it, which can be long."""
        return self.test_duration_s is not None


class QualificationGrant(models.Model):
    """A worker's value of a qualification, granted or revoked."""

    class Status(models.TextChoices):
        """As on the wire."""

        GRANTED = "Granted"
        REVOKED = "Revoked"

    qualification_type = models.ForeignKey(QualificationType, on_delete=models.CASCADE, related_name="grants")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="grants")
    value = models.IntegerField(default=1)
    status = models.CharField(max_length=7, choices=Status, default=Status.GRANTED)
    granted_at = models.DateTimeField()
    reason = models.CharField(max_length=1024, blank=True, help_text="Shown to the worker when revoked.")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["qualification_type", "worker"], name="one_grant_per_worker")
        ]
        indexes = [
            models.Index(fields=["qualification_type", "status", "granted_at", "id"], name="grant_by_time")
        ]

    def __str__(self) -> str:
        return f"{self.worker_id}: {self.value}"


class QualificationRequest(models.Model):
    """A worker who asks for a qualification: with a test, from its start; without one, at once pending."""

    class State(models.TextChoices):
        """`started`: the test is being taken; `pending`: the requester is to decide."""

        STARTED = "started"
        PENDING = "pending"
        GRANTED = "granted"
        REJECTED = "rejected"
        EXPIRED = "expired"

    OPEN = (State.STARTED, State.PENDING)

    qualification_type = models.ForeignKey(
        QualificationType, on_delete=models.CASCADE, related_name="requests"
    )
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="qualification_requests")
    request_id = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=8, choices=State)
    test = models.TextField(blank=True, help_text="The test as it was when it was taken.")
    answer_key = models.TextField(blank=True, help_text="The key as it was then; never shown to workers.")
    answer = models.TextField(blank=True, help_text="QuestionFormAnswers XML.")
    score = models.IntegerField(null=True, blank=True, help_text="By the answer key, where there is one.")
    started_at = models.DateTimeField()
    deadline = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    reason = models.CharField(max_length=1024, blank=True, help_text="Shown to the worker when rejected.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["qualification_type", "worker"],
                name="one_open_qualification_request",
                condition=Q(state__in=["started", "pending"]),
            )
        ]
        indexes = [
            models.Index(
                fields=["qualification_type", "submitted_at", "id"], name="qualification_requests_by_time"
            ),
            models.Index(fields=["worker", "-started_at"], name="qualification_of_worker"),
            models.Index(
                fields=["deadline"], name="qualification_test_deadline", condition=Q(state="started")
            ),
        ]

    def __str__(self) -> str:
        return self.request_id


# What the protocol endpoint remembers of calls, and the switches that only tests may touch.


class TokenUse(models.Model):
    """A UniqueRequestToken that was used in the last 24 hours, with what the first call made."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE)
    operation = models.CharField(max_length=60)
    token = models.CharField(max_length=128)
    call_id = models.UUIDField()
    result = models.CharField(max_length=64, blank=True)
    at = models.DateTimeField(db_index=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "operation", "token"], name="token_used_once")
        ]

    def __str__(self) -> str:
        return self.token


class CallLog(models.Model):
    """One call of the protocol endpoint, append-only; answers and question texts are left out."""

    at = models.DateTimeField()
    request_id = models.UUIDField()
    requester = models.ForeignKey(Requester, null=True, on_delete=models.SET_NULL)
    operation = models.CharField(max_length=60)
    parameters = models.JSONField(default=dict)
    executed = models.BooleanField(default=False, help_text="The operation ran and was committed.")
    result = models.CharField(max_length=120, help_text="`ok` or the error code.")
    milliseconds = models.FloatField()
    access_key = models.CharField(max_length=64, blank=True)
    address = models.CharField(max_length=45, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["requester", "-id"], name="call_of_requester"),
            models.Index(fields=["at"], name="call_by_time"),
        ]

    def __str__(self) -> str:
        return f"{self.operation}: {self.result}"


class TestClock(models.Model):
    """How far test controls moved the marketplace's clock; one row, none in normal life."""

    advanced_seconds = models.BigIntegerField(default=0)

    __test__ = False

    def __str__(self) -> str:
        return f"+{self.advanced_seconds} s"


class Chaos(models.Model):
    """Faults that tests asked for: of one requester, or of all where `requester` is empty."""

    requester = models.OneToOneField(Requester, null=True, on_delete=models.CASCADE)
    lose_response_after_commit = models.PositiveIntegerField(
        default=0, help_text="So many coming mutating calls commit and then lose their answer."
    )
    throttle_next = models.PositiveIntegerField(default=0, help_text="So many coming calls are throttled.")
    throttle_rate = models.FloatField(default=0)
    error_rate = models.FloatField(default=0)
    visibility_delay_s = models.FloatField(default=0)
    duplicate_events = models.BooleanField(default=False)

    def __str__(self) -> str:
        return f"chaos for {self.requester_id or 'all'}"
