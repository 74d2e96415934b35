"""HIT types, HITs, their places, and who holds a place.

A HIT has `max_assignments` places. A place is created when it is first accepted and keeps its
AssignmentId for ever: after a return or an abandonment the next holder gets the same id, as on MTurk.
"""

from django.db import models
from django.db.models import F, Q

from marketplace.models.people import Requester, Worker


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
    computed from them and the clock (`marketplace.selectors.hit_status`), never stored.
    """

    requester = models.ForeignKey(Requester, on_delete=models.CASCADE, related_name="hits", db_index=False)
    hit_type = models.ForeignKey(HITType, on_delete=models.PROTECT, related_name="hits")
    hit_id = models.CharField(max_length=64, unique=True)
    question = models.TextField()
    assignment_review_policy = models.JSONField(null=True, blank=True)
    hit_review_policy = models.JSONField(null=True, blank=True)
    batch = models.ForeignKey("Batch", null=True, blank=True, on_delete=models.PROTECT, related_name="hits")
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
        """Where the hold stands; the first is in progress, the last two ended without an answer."""

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
        return self.hit.reward_cents if self.paid_cents is None else self.paid_cents
