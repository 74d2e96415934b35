"""Endpoints, stages, HITs and what is in them."""

import uuid

from django.db import models
from django.db.models import F, Q

from core.projects.models import Project


class Endpoint(models.Model):
    """A marketplace that we can publish on: where it is, as whom we call, what it costs."""

    class Protocol(models.TextChoices):
        """Which adapter speaks to it."""

        MTURK = "mturk"

    name = models.SlugField(max_length=60, unique=True)
    label = models.CharField(max_length=200)
    protocol = models.CharField(max_length=10, choices=Protocol, default=Protocol.MTURK)
    url = models.URLField(max_length=300)
    region = models.CharField(max_length=40, default="us-east-1")
    access_key = models.CharField(max_length=128, blank=True)
    secret_sealed = models.TextField(blank=True)
    currency = models.CharField(max_length=3, default="USD")
    real_money = models.BooleanField(default=True, help_text="Spending needs the amount typed in.")
    fee_profile = models.CharField(max_length=40, default="mturk-2026")
    submit_origins = models.JSONField(
        default=list, help_text="Origins to which our task pages may send workers' forms."
    )
    proves_arrivals = models.BooleanField(
        default=False, help_text="It signs who holds what; seen once, an arrival without it is refused."
    )
    rate = models.FloatField(default=3.0, help_text="Calls per second of each process; 0: no limit.")
    burst = models.PositiveIntegerField(default=5)
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name


class EndpointRound(models.Model):
    """The round that goes on at an endpoint, of which there is one at a time, and whether it answers.

    A round holds the lease while it runs and renews it; one whose process died loses it after a while. All
    times are the database's own, as those of jobs.
    """

    class Outcome(models.TextChoices):
        """Held: a restore keeps calls back. Failed: an error of ours ended it."""

        ANSWERED = "answered", "answered"
        TROUBLE = "trouble", "trouble"
        HELD = "held", "held back"
        FAILED = "failed", "failed"

    endpoint = models.OneToOneField(
        Endpoint, on_delete=models.CASCADE, primary_key=True, related_name="round"
    )
    lease_owner = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    began_at = models.DateTimeField(null=True, blank=True, help_text="The round that runs, or the last one.")
    ended_at = models.DateTimeField(null=True, blank=True, help_text="When the last round ended by itself.")
    seconds = models.FloatField(null=True, blank=True, help_text="How long the last round took.")
    outcome = models.CharField(
        max_length=8, choices=Outcome, blank=True, default="", db_default="", help_text="Of the last round."
    )
    succeeded_at = models.DateTimeField(
        null=True, blank=True, help_text="When a round last ended in which nothing went wrong."
    )
    down_since = models.DateTimeField(null=True, blank=True, help_text="It has not answered in order since.")
    down_cause = models.CharField(max_length=300, blank=True)
    compared_to = models.DateTimeField(
        null=True,
        blank=True,
        help_text="Creation time of the newest HIT that a comparison after a restore has seen.",
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                name="round_lease_whole",
                condition=Q(lease_owner__isnull=True, lease_until__isnull=True)
                | Q(lease_owner__isnull=False, lease_until__isnull=False),
            )
        ]

    def __str__(self) -> str:
        return f"round of {self.endpoint_id}"


class Stage(models.Model):
    """One kind of work asked of people in a project. Money in integer cents, times in seconds."""

    class Status(models.TextChoices):
        """Only an open stage publishes; a paused one still collects; a closed one ends its HITs."""

        DRAFT = "draft"
        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="stages")
    slug = models.SlugField(max_length=80)
    title = models.CharField(max_length=200)
    kind = models.CharField(max_length=40)
    config = models.JSONField(default=dict)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="stages")
    status = models.CharField(max_length=6, choices=Status, default=Status.DRAFT)
    seed = models.BigIntegerField(default=1)

    task_title = models.CharField(max_length=128)
    task_description = models.CharField(max_length=2000)
    task_keywords = models.CharField(max_length=1000, blank=True)
    reward_cents = models.PositiveIntegerField()
    redundancy = models.PositiveIntegerField(help_text="Different people per unit.")
    units_per_hit = models.PositiveIntegerField(default=1)
    checks_per_hit = models.PositiveIntegerField(default=0)
    max_hits_per_worker = models.PositiveIntegerField(null=True, blank=True)
    work_seconds = models.PositiveIntegerField(default=3600)
    expected_seconds = models.PositiveIntegerField(
        null=True, blank=True, help_text="What the researcher thinks one HIT takes."
    )
    open_seconds = models.PositiveIntegerField(default=7 * 24 * 3600)
    auto_approve_seconds = models.PositiveIntegerField(default=3 * 24 * 3600)
    eligibility = models.JSONField(default=list)
    apart_from = models.JSONField(
        default=list,
        blank=True,
        help_text="Slugs of stages of the project whose workers this one does not take.",
    )
    approve_at_once = models.BooleanField(
        default=True, help_text="Approve all good-faith work as soon as it is in."
    )
    hold_failed_checks = models.BooleanField(
        default=False, help_text="A person decides on work that failed attention checks."
    )

    budget_cents = models.BigIntegerField(default=0)
    reserved_cents = models.BigIntegerField(default=0)
    spent_cents = models.BigIntegerField(default=0)
    armed_cents = models.BigIntegerField(
        default=0, help_text="The amount that a person typed to confirm spending real money."
    )
    created_at = models.DateTimeField()
    opened_at = models.DateTimeField(null=True, blank=True)
    settled_until = models.DateTimeField(
        null=True, blank=True, help_text="Answers and decisions up to then were settled by its kind."
    )
    planner = models.UUIDField(null=True, blank=True, help_text="Who is planning its HITs at the moment.")
    planner_until = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "slug"], name="stage_slug_in_project"),
            models.CheckConstraint(
                name="stage_budget_never_passed",
                condition=Q(
                    reserved_cents__gte=0,
                    spent_cents__gte=0,
                    budget_cents__gte=F("reserved_cents") + F("spent_cents"),
                ),
            ),
            models.CheckConstraint(
                name="stage_asks_for_somebody", condition=Q(redundancy__gte=1, units_per_hit__gte=1)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.project_id}/{self.slug}"


class Hit(models.Model):
    """A bundle of units on offer to `places` different people."""

    class State(models.TextChoices):
        """Planned: not yet known to the marketplace. Closed: takes no one new, all its money is settled."""

        PLANNED = "planned"
        OPEN = "open"
        REFUSED = "refused"
        CLOSED = "closed"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="hits")
    key = models.UUIDField(default=uuid.uuid4, unique=True, help_text="Names it in our task page's address.")
    ordinal = models.PositiveIntegerField()
    places = models.PositiveIntegerField()
    reward_cents = models.PositiveIntegerField()
    fee_cents = models.PositiveIntegerField(help_text="Expected fee per assignment.")
    external_id = models.CharField(max_length=64, blank=True, help_text="Empty until published.")
    state = models.CharField(max_length=8, choices=State, default=State.PLANNED)
    wave = models.PositiveIntegerField(default=0, help_text="0 for the first publication, then top-ups.")
    part = models.PositiveIntegerField(
        null=True, blank=True, help_text="Which of several HITs of the same units, split for the fee tier."
    )
    part_count = models.PositiveIntegerField(default=1)
    compensates = models.ForeignKey(
        "crowd.Worker",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        help_text="A HIT without work, to pay this worker for a session that broke.",
    )
    published_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    synced_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "ordinal"], name="hit_ordinal_in_stage"),
            models.UniqueConstraint(
                fields=["stage", "external_id"], name="hit_known_once", condition=~Q(external_id="")
            ),
        ]
        indexes = [models.Index(fields=["stage", "state", "synced_at"], name="crowd_hit_to_sync")]

    def __str__(self) -> str:
        return str(self.key)


class HitUnit(models.Model):
    """A unit in a HIT, at its place in the unshuffled order."""

    class Role(models.TextChoices):
        """Overlap units are in everybody's HIT; checks have a known answer."""

        UNIT = "unit"
        OVERLAP = "overlap"
        CHECK = "check"

    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="units")
    unit = models.CharField(max_length=200)
    role = models.CharField(max_length=7, choices=Role, default=Role.UNIT)
    position = models.PositiveIntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["hit", "unit"], name="unit_once_per_hit"),
            models.UniqueConstraint(fields=["hit", "position"], name="position_once_per_hit"),
        ]

    def __str__(self) -> str:
        return self.unit
