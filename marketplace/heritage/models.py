"""Tables of the heritage: topics and queues, results of policies, worker files, former ids.

They are the marketplace's, by label and name, as they were when their models were among its own.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q

from marketplace.models import HIT, Holding, QualificationType, Requester, Worker


class Topic(models.Model):
    """A topic of a requester; HIT types publish to it by their notification specification."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="topics", db_index=False)
    name = models.CharField(max_length=256)
    arn = models.CharField(max_length=350, unique=True)
    attributes = models.JSONField(default=dict, help_text="DisplayName, SignatureVersion, Policy and so on.")
    base_url = models.CharField(max_length=300, help_text="Origin of this site, as its owner calls it.")
    created_at = models.DateTimeField()

    class Meta:
        app_label = "marketplace"
        indexes = [models.Index(fields=["requester", "id"], name="topic_of_requester")]

    def __str__(self) -> str:
        return self.arn


class Subscription(models.Model):
    """Where messages of a topic go, once its owner's endpoint has confirmed it."""

    class Protocol(models.TextChoices):
        """`sqs` is a queue of this marketplace."""

        HTTPS = "https"
        HTTP = "http"
        SQS = "sqs"

    topic = models.ForeignKey(Topic, on_delete=models.CASCADE, related_name="subscriptions")
    arn = models.CharField(max_length=400, unique=True)
    protocol = models.CharField(max_length=5, choices=Protocol)
    endpoint = models.CharField(max_length=2048)
    raw = models.BooleanField(default=False, help_text="Messages go without the envelope.")
    token_digest = models.CharField(max_length=64, blank=True, help_text="Of the token that confirms it.")
    created_at = models.DateTimeField()
    confirmed_at = models.DateTimeField(null=True, blank=True)
    signed_end = models.BooleanField(default=False, help_text="Only its owner's key ends it.")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "marketplace"
        constraints = [
            models.UniqueConstraint(
                fields=["topic", "protocol", "endpoint"],
                name="one_subscription_of_endpoint",
                condition=Q(ended_at=None),
            )
        ]

    def __str__(self) -> str:
        return self.arn


class TopicDelivery(models.Model):
    """One message to one endpoint: sent until it is taken, given up after a day, kept as a log."""

    class State(models.TextChoices):
        """`failed` was given up."""

        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    subscription = models.ForeignKey(
        Subscription, on_delete=models.CASCADE, related_name="deliveries", db_index=False
    )
    message_id = models.UUIDField()
    document = models.JSONField(help_text="The message without its signature.")
    state = models.CharField(max_length=9, choices=State, default=State.WAITING)
    attempts = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True, help_text="Of the next attempt.")
    status = models.PositiveIntegerField(null=True, blank=True, help_text="HTTP status of the last attempt.")
    error = models.CharField(max_length=500, blank=True)
    created_at = models.DateTimeField(db_index=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "marketplace"
        indexes = [
            models.Index(fields=["due_at"], name="topic_delivery_due", condition=Q(state="waiting")),
            models.Index(fields=["subscription", "-id"], name="topic_delivery_log"),
        ]

    def __str__(self) -> str:
        return f"{self.message_id}: {self.state}"


class SigningKey(models.Model):
    """The key that signs messages, and the certificate by which anybody checks them."""

    purpose = models.CharField(max_length=20, unique=True)
    private_key_sealed = models.TextField()
    certificate = models.TextField(help_text="X.509 in PEM.")
    fingerprint = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField()

    class Meta:
        app_label = "marketplace"

    def __str__(self) -> str:
        return self.fingerprint


# Queues, and what review policies found and did.


class Queue(models.Model):
    """A queue that a requester named or made; its messages are the `QueuedEvent`s with its address."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="queues", db_index=False)
    address = models.CharField(max_length=255)
    created_at = models.DateTimeField()

    class Meta:
        app_label = "marketplace"
        constraints = [models.UniqueConstraint(fields=["requester", "address"], name="queue_by_address")]

    def __str__(self) -> str:
        return self.address


class QueuedEvent(models.Model):
    """A notification in a requester's queue, until a ReceiveMessage and a DeleteMessage take it out."""

    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="queued_events", db_index=False
    )
    queue = models.CharField(max_length=255, help_text="Destination, as the specification names it.")
    message_id = models.UUIDField(unique=True)
    body = models.TextField()
    sent_at = models.DateTimeField()
    visible_at = models.DateTimeField(help_text="Hidden before: somebody has just received it.")
    received_count = models.PositiveIntegerField(default=0)
    first_received_at = models.DateTimeField(null=True, blank=True)
    receipt = models.UUIDField(null=True, blank=True, help_text="Of the latest ReceiveMessage.")

    class Meta:
        app_label = "marketplace"
        indexes = [
            models.Index(fields=["requester", "queue", "visible_at", "id"], name="queued_event_next"),
            models.Index(fields=["sent_at"], name="queued_event_age"),
        ]

    def __str__(self) -> str:
        return str(self.message_id)


class PolicyResult(models.Model):
    """A figure that a review policy came to (ReviewResultDetail)."""

    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="policy_results", db_index=False)
    holding = models.ForeignKey(Holding, null=True, on_delete=models.CASCADE)
    level = models.CharField(max_length=10, help_text="Assignment or HIT.")
    action_id = models.UUIDField()
    subject_id = models.CharField(max_length=64)
    subject_type = models.CharField(max_length=10)
    question_id = models.CharField(max_length=255, blank=True)
    key = models.CharField(max_length=80)
    value = models.TextField()
    at = models.DateTimeField()

    class Meta:
        app_label = "marketplace"
        indexes = [models.Index(fields=["hit", "at", "id"], name="policy_result_of_hit")]

    def __str__(self) -> str:
        return f"{self.key}: {self.value[:40]}"


class PolicyAction(models.Model):
    """What a review policy did (ReviewActionDetail)."""

    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="policy_actions", db_index=False)
    level = models.CharField(max_length=10)
    action_id = models.UUIDField(unique=True)
    name = models.CharField(max_length=20, help_text="review, approve, reject or extend.")
    target_id = models.CharField(max_length=64)
    target_type = models.CharField(max_length=10)
    status = models.CharField(max_length=10)
    at = models.DateTimeField()
    result = models.TextField(blank=True)
    error_code = models.CharField(max_length=80, blank=True)

    class Meta:
        app_label = "marketplace"
        indexes = [models.Index(fields=["hit", "at", "id"], name="policy_action_of_hit")]

    def __str__(self) -> str:
        return f"{self.name} {self.target_id}: {self.status}"


# Files that name workers line by line.


class WorkerFile(models.Model):
    """A file that names workers line by line: bonuses to pay, or values of a qualification to give."""

    class Kind(models.TextChoices):
        """What its lines ask for."""

        BONUSES = "bonuses"
        GRANTS = "grants"

    class State(models.TextChoices):
        """A draft is looked at; `stopped` goes on where it stopped; `withdrawn` never began."""

        DRAFT = "draft"
        RUNNING = "running"
        STOPPED = "stopped"
        DONE = "done"
        WITHDRAWN = "withdrawn"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="worker_files")
    number = models.PositiveIntegerField(help_text="1, 2, 3, … of the requester.")
    kind = models.CharField(max_length=7, choices=Kind)
    qualification_type = models.ForeignKey(
        QualificationType, null=True, blank=True, on_delete=models.CASCADE, related_name="files"
    )
    file_name = models.CharField(max_length=200)
    file_read = models.CharField(max_length=200, blank=True, help_text="How the file was read, in words.")
    read_as = models.JSONField(null=True, blank=True, help_text="How it was read: columns, rows, encoding.")
    line_count = models.PositiveIntegerField(default=0)
    cents = models.PositiveBigIntegerField(default=0, help_text="Of lines that are to be paid.")
    fee_cents = models.PositiveBigIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.DRAFT)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField()
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    confirmed_at = models.DateTimeField(null=True, blank=True)
    done_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        app_label = "marketplace"
        constraints = [models.UniqueConstraint(fields=["requester", "number"], name="worker_file_number")]

    def __str__(self) -> str:
        return f"file {self.number} of {self.requester_id}"


class WorkerFileLine(models.Model):
    """One line of a file, and what became of it."""

    class State(models.TextChoices):
        """`done` is paid or changed; `same` was so before and is left out."""

        WAITING = "waiting"
        DONE = "done"
        SAME = "same"
        REFUSED = "refused"

    file = models.ForeignKey(WorkerFile, on_delete=models.CASCADE, related_name="lines", db_index=False)
    line = models.PositiveIntegerField()
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="+")
    holding = models.ForeignKey(
        Holding, null=True, blank=True, on_delete=models.PROTECT, related_name="+", help_text="Of a bonus."
    )
    amount = models.BigIntegerField(help_text="Cents of a bonus, or the value of a qualification.")
    words = models.TextField(blank=True, help_text="Reason of a bonus; Granted or Revoked.")
    payment = models.CharField(
        max_length=64, blank=True, help_text="Digest of what is paid to whom for what; paid once."
    )
    state = models.CharField(max_length=7, choices=State, default=State.WAITING)
    why = models.CharField(max_length=300, blank=True)

    class Meta:
        app_label = "marketplace"
        constraints = [
            models.UniqueConstraint(fields=["file", "line"], name="worker_file_line"),
            models.UniqueConstraint(
                fields=["payment"],
                name="worker_file_pays_once",
                condition=Q(state="done") & ~Q(payment=""),
            ),
        ]
        indexes = [models.Index(fields=["file", "state", "line"], name="worker_file_line_state")]

    def __str__(self) -> str:
        return f"line {self.line} of {self.file_id}"


# Worker ids of MTurk: what requesters kept on them, and who says that an id was theirs.


class FormerIdClaim(models.Model):
    """A worker states an MTurk worker id, which cannot be proven. The first to state it has it.

    Of several who state one, `accepted` is one at most; the others wait for staff.
    """

    worker = models.OneToOneField(Worker, on_delete=models.CASCADE, related_name="former_id")
    former_id = models.CharField(max_length=64, db_index=True)
    accepted = models.BooleanField(help_text="What requesters kept on the id is this worker's.")
    at = models.DateTimeField()
    settled_at = models.DateTimeField(
        null=True, blank=True, help_text="When staff decided whose the id is, of all who stated it by then."
    )

    class Meta:
        app_label = "marketplace"
        constraints = [
            models.UniqueConstraint(
                fields=["former_id"], name="one_worker_of_former_id", condition=Q(accepted=True)
            )
        ]

    def __str__(self) -> str:
        return f"{self.former_id}: {self.worker_id}"


class FormerIdRecord(models.Model):
    """What a requester kept on an MTurk worker id; it takes effect once, on the worker whose id it is."""

    class Kind(models.TextChoices):
        """`listed` does nothing but make the id known."""

        LISTED = "listed"
        BLOCK = "block"
        GRANT = "grant"
        BONUS = "bonus"

    requester = models.ForeignKey(
        Requester, on_delete=models.CASCADE, related_name="former_ids", db_index=False
    )
    former_id = models.CharField(max_length=64)
    kind = models.CharField(max_length=6, choices=Kind)
    qualification_type = models.ForeignKey(
        QualificationType, null=True, blank=True, on_delete=models.CASCADE, related_name="former_grants"
    )
    value = models.IntegerField(default=1)
    cents = models.PositiveIntegerField(default=0)
    reason = models.TextField(blank=True)
    created_at = models.DateTimeField()
    applied_at = models.DateTimeField(null=True, blank=True)
    worker = models.ForeignKey(
        Worker, null=True, blank=True, on_delete=models.SET_NULL, related_name="+", help_text="On whom."
    )
    why = models.CharField(max_length=300, blank=True, help_text="Why it has not taken effect yet.")

    class Meta:
        app_label = "marketplace"
        constraints = [
            models.UniqueConstraint(
                fields=["requester", "former_id", "kind"],
                name="one_former_record_of_kind",
                condition=Q(kind__in=["listed", "block"]),
            ),
            models.UniqueConstraint(
                fields=["qualification_type", "former_id"],
                name="one_former_grant",
                condition=Q(kind="grant"),
            ),
            models.UniqueConstraint(
                fields=["requester", "former_id", "cents", "reason"],
                name="one_former_bonus",
                condition=Q(kind="bonus"),
            ),
        ]
        indexes = [
            models.Index(fields=["former_id"], name="former_record_open", condition=Q(applied_at=None)),
            models.Index(fields=["requester", "former_id"], name="former_record_of_requester"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of {self.former_id}"
