"""Batches, HIT types, HITs, places and who holds them; letters, ratings, extensions of batches.

A HIT has `max_assignments` places. A place is created when it is first accepted and keeps its
AssignmentId for ever: after a return or an abandonment the next holder gets the same id, as on MTurk.
"""

from django.conf import settings
from django.db import models
from django.db.models import F, Q

from marketplace.ids import new_entity_id
from marketplace.models.people import Requester, Worker

# Batches: a template with ${variables}, a table of values, and the HITs that come of them.


class Template(models.Model):
    """A task page of a requester with ${variables}, and the properties that HITs made of it begin with."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="templates")
    layout_id = models.CharField(
        max_length=64,
        unique=True,
        null=True,
        blank=True,
        default=new_entity_id,
        help_text="HITLayoutId of the protocol; empty until somebody asks for it.",
    )
    name = models.CharField(max_length=120)
    html = models.TextField()
    frame_height = models.PositiveIntegerField(default=0, help_text="CSS pixels; 0 fits the window.")
    hosts = models.JSONField(default=list, help_text="Origins that its tasks may load from.")
    properties = models.JSONField(default=dict, help_text="Title, reward and so on, as the form has them.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "name"], name="template_name")]

    def __str__(self) -> str:
        return self.name


class Batch(models.Model):
    """One upload of a table for a template. Everything it publishes is frozen in it."""

    class State(models.TextChoices):
        """`draft` can be previewed and thrown away; `publishing` is being worked off by a job."""

        DRAFT = "draft"
        PUBLISHING = "publishing"
        PUBLISHED = "published"
        FAILED = "failed"
        CANCELLED = "cancelled"

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="batches")
    number = models.PositiveIntegerField(help_text="1, 2, 3, … of the requester.")
    name = models.CharField(max_length=120)
    template = models.ForeignKey(Template, null=True, on_delete=models.SET_NULL, related_name="batches")
    html = models.TextField()
    frame_height = models.PositiveIntegerField(default=0)
    hosts = models.JSONField(default=list, help_text="Origins that its tasks may load from.")
    hosts_of_cells = models.JSONField(default=list, help_text="Origins that only its cells name.")
    columns = models.JSONField(help_text="Head of the table, in its order.")
    properties = models.JSONField(help_text="Title, description, reward and so on of its HITs.")
    file_name = models.CharField(max_length=200, blank=True)
    file_read = models.CharField(max_length=200, blank=True, help_text="How the file was read, in words.")
    task_count = models.PositiveIntegerField(help_text="0 while the file is being read.")
    published_count = models.PositiveIntegerField(default=0)
    state = models.CharField(max_length=10, choices=State, default=State.DRAFT)
    error = models.TextField(blank=True)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField()
    published_at = models.DateTimeField(null=True, blank=True)
    extends = models.ForeignKey(
        "self",
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="additions",
        help_text="A draft of rows for this published batch.",
    )
    repeats = models.JSONField(
        null=True, blank=True, help_text="Of added rows: how many there were before, and which."
    )
    publish_at = models.DateTimeField(null=True, blank=True, help_text="A draft is published then.")
    end_at = models.DateTimeField(null=True, blank=True, help_text="It is cancelled then.")
    scheduled_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="+"
    )
    schedule_note = models.CharField(
        max_length=500, blank=True, default="", db_default="", help_text="What became of its schedule."
    )
    hours = models.JSONField(
        null=True,
        blank=True,
        help_text="When its HITs can be taken (`marketplace.hours`); null: at any time.",
    )
    end_mail_to = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.SET_NULL,
        related_name="+",
        help_text="Who wants an e-mail at its end.",
    )
    end_mailed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["requester", "number"], name="batch_number")]
        indexes = [
            models.Index(
                fields=["publish_at"], name="batch_to_publish_at", condition=Q(publish_at__isnull=False)
            ),
            models.Index(fields=["end_at"], name="batch_to_end_at", condition=Q(end_at__isnull=False)),
            models.Index(fields=["requester"], name="batch_with_hours", condition=Q(hours__isnull=False)),
            models.Index(
                fields=["id"],
                name="batch_end_to_mail",
                condition=Q(end_mail_to__isnull=False, end_mailed_at=None),
            ),
        ]

    def __str__(self) -> str:
        return self.name


class BatchTask(models.Model):
    """One row of a batch's table, and the HIT that shows it once it is published."""

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="tasks", db_index=False)
    ordinal = models.PositiveIntegerField(help_text="1 is the first row below the head.")
    values = models.JSONField(help_text="Cells in the order of the batch's columns.")
    hit = models.OneToOneField(
        "HIT", null=True, blank=True, on_delete=models.PROTECT, related_name="batch_task"
    )

    class Meta:
        constraints = [models.UniqueConstraint(fields=["batch", "ordinal"], name="batch_task_ordinal")]
        indexes = [
            models.Index(fields=["batch", "ordinal"], name="batch_task_to_publish", condition=Q(hit=None))
        ]

    def __str__(self) -> str:
        return f"{self.batch_id}/{self.ordinal}"


class HITType(models.Model):
    """Properties shared by HITs; the same properties of one requester are the same type."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="hit_types")
    type_id = models.CharField(max_length=64, unique=True)
    group_id = models.CharField(max_length=64, unique=True)
    title = models.CharField(max_length=128)
    description = models.CharField(max_length=2000)
    keywords = models.CharField(max_length=1000, blank=True)
    reward_cents = models.PositiveIntegerField()
    duration_s = models.PositiveIntegerField()
    auto_approval_s = models.PositiveIntegerField()
    requirements = models.JSONField(default=list)
    notification = models.JSONField(
        null=True,
        blank=True,
        help_text="NotificationSpecification of UpdateNotificationSettings, with `Active`; null: none.",
    )
    value_digest = models.CharField(max_length=64)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["requester", "value_digest"], name="hit_type_by_value")
        ]

    def __str__(self) -> str:
        return self.type_id


class HIT(models.Model):
    """One task with places for `max_assignments` different workers.

    The counts are kept with every transition so that states cost no aggregate; the HIT's status is
    computed from them and the clock (`marketplace.lifecycle.selectors.hit_status`), never stored.
    """

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="hits", db_index=False)
    hit_type = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="hits")
    hit_id = models.CharField(max_length=64, unique=True)
    question = models.TextField()
    assignment_review_policy = models.JSONField(null=True, blank=True)
    hit_review_policy = models.JSONField(null=True, blank=True)
    batch = models.ForeignKey("Batch", null=True, blank=True, on_delete=models.PROTECT, related_name="hits")
    layout_id = models.CharField(
        max_length=64, blank=True, db_default="", default="", help_text="Of the template that it was made of."
    )
    annotation = models.CharField(max_length=255, blank=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    max_assignments = models.PositiveIntegerField()
    max_at_creation = models.PositiveIntegerField()
    reward_cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField(help_text="Fee per assignment, by the profile at creation.")
    fee_profile = models.CharField(max_length=40)
    reviewing = models.BooleanField(default=False)
    disposed_at = models.DateTimeField(null=True, blank=True)

    open_places = models.PositiveIntegerField(help_text="Places nobody holds or has used.")
    pending = models.PositiveIntegerField(default=0)
    submitted = models.PositiveIntegerField(default=0)
    approved = models.PositiveIntegerField(default=0)
    rejected = models.PositiveIntegerField(default=0)
    places_made = models.PositiveIntegerField(default=0)
    held_places = models.PositiveIntegerField(help_text="Places whose reward and fee are on hold.")
    expiry_watched = models.BooleanField(
        default=False, help_text="An event or a review policy waits for the end of its life."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="hit_places_add_up",
                condition=Q(
                    max_assignments=F("open_places")
                    + F("pending")
                    + F("submitted")
                    + F("approved")
                    + F("rejected")
                ),
            )
        ]
        indexes = [
            models.Index(fields=["requester", "-created_at", "-id"], name="hit_newest_first"),
            models.Index(
                # The last field is for counting what is open without looking at the rows.
                fields=["hit_type", "id", "expires_at"],
                name="hit_open_places",
                condition=Q(open_places__gt=0, disposed_at=None),
            ),
            # The next two find what is reviewable, however many HITs are open.
            models.Index(
                fields=["requester", "reviewing", "-created_at", "-id"],
                name="hit_all_in",
                condition=Q(open_places=0, pending=0, disposed_at=None),
            ),
            models.Index(fields=["requester", "expires_at"], name="hit_end", condition=Q(disposed_at=None)),
            models.Index(fields=["requester", "id"], name="hit_to_review", condition=Q(submitted__gt=0)),
            models.Index(
                fields=["expires_at"],
                name="hit_expiry_to_settle",
                condition=Q(held_places__gt=F("pending") + F("submitted")) | Q(expiry_watched=True),
            ),
        ]

    def __str__(self) -> str:
        return self.hit_id


class Place(models.Model):
    """One of a HIT's places, made on first acceptance; its AssignmentId never changes."""

    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="places", db_index=False)
    ordinal = models.PositiveIntegerField()
    assignment_id = models.CharField(max_length=64, unique=True)
    free = models.BooleanField(default=False, help_text="Given back; the next accept takes it first.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["hit", "ordinal"], name="place_ordinal_in_hit")]
        indexes = [models.Index(fields=["hit", "ordinal"], name="place_free", condition=Q(free=True))]

    def __str__(self) -> str:
        return self.assignment_id


class Holding(models.Model):
    """One worker's hold on a place, from acceptance to its end: the assignment as one worker sees it."""

    class State(models.TextChoices):
        """How far the hold has come; the first is in progress, the last two ended without an answer."""

        ACCEPTED = "accepted"
        SUBMITTED = "submitted"
        APPROVED = "approved"
        REJECTED = "rejected"
        RETURNED = "returned"
        ABANDONED = "abandoned"

    #: States in which the holding occupies its place and keeps its worker from another one of the HIT.
    OCCUPYING = (State.ACCEPTED, State.SUBMITTED, State.APPROVED, State.REJECTED)
    #: States the requester can see.
    ANSWERED = (State.SUBMITTED, State.APPROVED, State.REJECTED)

    place = models.ForeignKey(Place, on_delete=models.CASCADE, related_name="holdings", db_index=False)
    hit = models.ForeignKey(HIT, on_delete=models.CASCADE, related_name="holdings", db_index=False)
    requester = models.ForeignKey(
        Requester,
        on_delete=models.CASCADE,
        related_name="holdings",
        db_index=False,
        help_text="The HIT's, so that a requester's work is found without its HITs.",
    )
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="holdings", db_index=False)
    assignment_id = models.CharField(max_length=64, db_index=True)
    state = models.CharField(max_length=9, choices=State, default=State.ACCEPTED)
    accepted_at = models.DateTimeField()
    deadline = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True, help_text="Returned or abandoned.")
    submitted_at = models.DateTimeField(null=True, blank=True)
    visible_at = models.DateTimeField(null=True, blank=True, help_text="Later than submitted under chaos.")
    auto_approve_at = models.DateTimeField(null=True, blank=True)
    approved_at = models.DateTimeField(null=True, blank=True)
    rejected_at = models.DateTimeField(null=True, blank=True)
    auto_approved = models.BooleanField(default=False)
    paid_cents = models.PositiveIntegerField(
        null=True, blank=True, help_text="Reward that was paid; the HIT's own may change afterwards."
    )
    visit = models.ForeignKey(
        "people.Visit",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        db_index=False,
        help_text="By a study link, of a person who came so.",
    )
    unpaid = models.BooleanField(
        default=False,
        db_default=False,
        help_text="By a link for which nothing is paid here: its approval gives the hold back.",
    )
    feedback = models.CharField(max_length=1024, blank=True)
    answer = models.TextField(blank=True, help_text="QuestionFormAnswers XML, as the requester gets it.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["place"],
                name="one_occupant_per_place",
                condition=Q(state__in=["accepted", "submitted", "approved", "rejected"]),
            ),
            models.UniqueConstraint(
                fields=["hit", "worker"],
                name="one_assignment_per_worker_and_hit",
                condition=Q(state__in=["accepted", "submitted", "approved", "rejected"]),
            ),
        ]
        indexes = [
            models.Index(fields=["hit", "submitted_at", "id"], name="holding_by_submission"),
            models.Index(fields=["hit", "worker"], name="holding_by_hit_and_worker"),
            models.Index(
                fields=["requester", "submitted_at", "id", "state", "visible_at"], name="holding_of_requester"
            ),
            models.Index(
                fields=["requester", "worker", "state", "submitted_at", "visible_at"],
                name="holding_requester_worker",
            ),
            models.Index(
                fields=["requester", "auto_approve_at", "id", "visible_at"],
                name="holding_to_review",
                condition=Q(state="submitted"),
            ),
            models.Index(fields=["deadline"], name="holding_deadline", condition=Q(state="accepted")),
            models.Index(
                fields=["auto_approve_at"], name="holding_auto_approval", condition=Q(state="submitted")
            ),
            models.Index(fields=["worker", "-accepted_at"], name="holding_by_worker"),
            models.Index(fields=["worker", "deadline"], name="holding_queue", condition=Q(state="accepted")),
        ]

    def __str__(self) -> str:
        return f"{self.assignment_id} ({self.state})"

    @property
    def pay_cents(self) -> int:
        """What was paid for the work, else what the HIT pays; the HIT must be loaded."""
        if self.unpaid:
            return 0
        return self.hit.reward_cents if self.paid_cents is None else self.paid_cents


# What workers say: of a group of HITs, and to its requester.


class Rating(models.Model):
    """A worker's opinion of a group of HITs they worked on; shown to others as a mean, never with a name."""

    hit_type = models.ForeignKey(HITType, on_delete=models.CASCADE, related_name="ratings")
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="ratings")
    stars = models.PositiveSmallIntegerField(help_text="1 to 5.")
    words = models.CharField(max_length=500, blank=True, help_text="Read by the requester alone.")
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit_type", "worker"], name="one_rating_per_group_and_worker"),
            models.CheckConstraint(name="rating_stars", condition=Q(stars__gte=1, stars__lte=5)),
        ]

    def __str__(self) -> str:
        return f"{self.stars} for {self.hit_type_id}"


class Letter(models.Model):
    """A worker's message to a requester; answers go into the worker's inbox as `Message`."""

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="letters", db_index=False)
    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="letters")
    hit_type = models.ForeignKey(HITType, null=True, on_delete=models.SET_NULL)
    assignment_id = models.CharField(max_length=64, blank=True)
    subject = models.CharField(max_length=200)
    body = models.TextField()
    sent_at = models.DateTimeField()
    read_at = models.DateTimeField(null=True, blank=True)
    answered_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        indexes = [
            models.Index(fields=["requester", "-sent_at"], name="letter_inbox"),
            models.Index(fields=["worker", "-sent_at"], name="letter_of_worker"),
        ]

    def __str__(self) -> str:
        return self.subject


# What requesters do to many at a time: more of a running batch.


class BatchExtension(models.Model):
    """More places or more time for HITs of a published batch, given by a job, in the order of the tasks."""

    class State(models.TextChoices):
        """`stopped` goes on where it stopped."""

        RUNNING = "running"
        STOPPED = "stopped"
        DONE = "done"

    batch = models.ForeignKey(Batch, on_delete=models.CASCADE, related_name="extensions")
    once = models.UUIDField(unique=True, help_text="Number of the form: sent twice, it is one extension.")
    ordinals = models.JSONField(null=True, blank=True, help_text="Chosen tasks; null: all.")
    places = models.PositiveIntegerField(default=0, help_text="For each HIT.")
    seconds = models.PositiveIntegerField(default=0, help_text="After the end it has, or after `at`.")
    cents = models.PositiveBigIntegerField(help_text="What the form said it costs at most.")
    state = models.CharField(max_length=7, choices=State, default=State.RUNNING)
    after = models.PositiveIntegerField(default=0, help_text="Tasks up to this one are dealt with.")
    changed = models.PositiveIntegerField(default=0)
    passed_over = models.JSONField(default=list, help_text="Of the first: task, and why it is as it was.")
    passed_over_count = models.PositiveIntegerField(default=0)
    held_cents = models.PositiveBigIntegerField(default=0, help_text="Put on hold so far.")
    error = models.TextField(blank=True)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL)
    at = models.DateTimeField()
    done_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"extension {self.pk} of {self.batch_id}"
