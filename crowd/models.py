"""Endpoints, stages and their sources, HITs, assignments, workers, operations at marketplaces, our ledger."""

import uuid
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Coalesce, Greatest

from core.projects.models import Project
from crowd.instructionmodels import Instructions, Picture
from crowd.panelmodels import PanelHook, PanelMessage, PanelStudy, PanelSubmission
from crowd.paymodels import Compensation, EndpointSpender

# Endpoints, stages, HITs and what is in them.


class Endpoint(models.Model):
    """A marketplace that we can publish on: where it is, as whom we call, what it costs."""

    class Protocol(models.TextChoices):
        """Which adapter speaks to it."""

        MTURK = "mturk"
        LINK = "link", "study links"
        PROLIFIC = "prolific", "Prolific"
        CONNECT = "connect", "CloudResearch Connect"

    #: Protocols in which nobody accepts a HIT: who arrives is given one.
    DEALT = (Protocol.LINK, Protocol.PROLIFIC, Protocol.CONNECT)
    #: Those among them that have a far side, which sends the people.
    PANELS = (Protocol.PROLIFIC, Protocol.CONNECT)

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
    told_fees = models.JSONField(null=True, blank=True, help_text="What a panel charges on so many cents.")
    submit_origins = models.JSONField(
        default=list, help_text="Origins to which our task pages may send workers' forms."
    )
    proves_arrivals = models.BooleanField(
        default=False, help_text="It signs who holds what; seen once, an arrival without it is refused."
    )
    rate = models.FloatField(default=3.0, help_text="Calls per second of each process; 0: no limit.")
    burst = models.PositiveIntegerField(default=5)
    hook_secret_sealed = models.TextField(
        blank=True, default="", db_default="", help_text="With which its hooks are signed, sealed."
    )
    created_at = models.DateTimeField()
    balance_cents = models.BigIntegerField(
        null=True, blank=True, help_text="What a panel's account can spend, as it last said."
    )
    balance_held_cents = models.BigIntegerField(null=True, blank=True)
    balance_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return self.name

    @property
    def deals_work(self) -> bool:
        """Whether people come without a HIT and are given one on arrival."""
        return self.protocol in self.DEALT

    @property
    def form_origins(self) -> list[str]:
        """Origins to which task pages may send workers' forms.

        People who are dealt work send it to this installation, whose address may have changed since the
        endpoint was made.
        """
        own = "{0.scheme}://{0.netloc}".format(urlsplit(settings.TASK_URL))
        origins = [str(origin) for origin in self.submit_origins]
        return list(dict.fromkeys([*origins, own] if self.deals_work else origins))

    @property
    def is_panel(self) -> bool:
        """Whether it has a far side that sends people to a study."""
        return self.protocol in self.PANELS

    @property
    def has_inboxes(self) -> bool:
        """Whether its people can be written to; people of a study link cannot."""
        return self.protocol != self.Protocol.LINK


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
    opened_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, null=True, blank=True, related_name="+"
    )
    instructions_version = models.PositiveIntegerField(
        default=1, db_default=1, help_text="Of the instructions that people who come now read."
    )
    settled_until = models.DateTimeField(
        null=True, blank=True, help_text="Answers and decisions up to then were settled by its kind."
    )
    planner = models.UUIDField(null=True, blank=True, help_text="Who is planning its HITs at the moment.")
    planner_until = models.DateTimeField(null=True, blank=True)

    #: Of a copy of the stage as one of its sources meets it (`crowd.sources.stage_at`).
    source: "StageSource | None" = None
    #: Of a copy as somebody reads it (`crowd.services.instructions`); empty: the project's language.
    text_language = ""

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

    def save(self, *args: Any, **kwargs: Any) -> None:
        """Save the row. A copy that shows a source's terms is for reading only."""
        if self.source is not None:
            raise TypeError("This is the stage as a source meets it; save the stage itself.")
        super().save(*args, **kwargs)

    def refresh_from_db(self, *args: Any, **kwargs: Any) -> None:
        """Read the row again, and its sources when they are next asked for."""
        if self.source is None:
            self.__dict__.pop("_source_rows", None)
        super().refresh_from_db(*args, **kwargs)


class StageSource(models.Model):
    """One of several endpoints from which a stage gets people, with its part of the work and its terms.

    A stage without rows has one source, its own endpoint. A stage with rows has all of its sources here; the
    first is its own endpoint, so a HIT from before there were rows, which names none, is that one's.
    """

    class Status(models.TextChoices):
        """Paused: takes nothing new, and keeps its part. Closed: others take what it leaves undone."""

        OPEN = "open"
        PAUSED = "paused"
        CLOSED = "closed"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="sources")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="stage_sources")
    position = models.PositiveIntegerField()
    status = models.CharField(max_length=6, choices=Status, default=Status.OPEN)
    share = models.PositiveIntegerField(
        null=True, blank=True, help_text="Its weight among the sources that share what counts leave."
    )
    most_answers = models.PositiveIntegerField(
        null=True, blank=True, help_text="It gets so many answers and no more, all units together."
    )
    reward_cents = models.PositiveIntegerField(null=True, blank=True, help_text="Empty: the stage's reward.")
    move_after_seconds = models.PositiveIntegerField(
        null=True, blank=True, help_text="After so long on offer, its free places go to the other sources."
    )
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "endpoint"], name="source_once_per_stage"),
            models.UniqueConstraint(fields=["stage", "position"], name="source_position_in_stage"),
            models.CheckConstraint(
                name="source_share_or_count",
                condition=Q(share__gte=1, most_answers=None) | Q(share=None, most_answers__gte=0),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.stage_id} from {self.endpoint_id}"


class Hit(models.Model):
    """A bundle of units on offer to `places` different people."""

    class State(models.TextChoices):
        """Planned: not yet known to the marketplace. Closed: takes no one new, all its money is settled."""

        PLANNED = "planned"
        OPEN = "open"
        REFUSED = "refused"
        CLOSED = "closed"

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="hits")
    source = models.ForeignKey(
        StageSource,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="hits",
        help_text="Empty: the stage's own endpoint.",
    )
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

    @property
    def endpoint(self) -> Endpoint:
        """Where it is on offer."""
        return self.stage.endpoint if self.source is None else self.source.endpoint


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


# Workers as we know them, and from what they are kept.


class Worker(models.Model):
    """A worker of one endpoint. Simulated ones stay marked to the last export."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="workers")
    external_id = models.CharField(max_length=64)
    simulated = models.BooleanField(default=False)
    first_seen_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "external_id"], name="worker_known_once")]

    def __str__(self) -> str:
        return self.external_id


class WorkerMark(models.Model):
    """By what a worker of one endpoint may be recognized as a person at another: digests, never the thing."""

    class Kind(models.TextChoices):
        """What two workers have in common."""

        EXTERNAL_ID = "id", "the same id at a panel"
        EMAIL = "email", "the same e-mail address"
        PAYEE = "payee", "the same account for payments"

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="marks")
    kind = models.CharField(max_length=5, choices=Kind)
    digest = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["worker", "kind", "digest"], name="worker_marked_once")
        ]
        indexes = [models.Index(fields=["digest", "kind"], name="worker_by_mark")]

    def __str__(self) -> str:
        return f"{self.worker_id} {self.kind}"


class PersonMatch(models.Model):
    """Two workers of different endpoints who may be the same person. They are never merged.

    Until a person says that they are two people, both together get what one person may.
    """

    class Verdict(models.TextChoices):
        """What a reviewer said."""

        OPEN = "open", "may be the same person"
        SAME = "same", "the same person"
        DIFFERENT = "different", "different people"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="person_matches")
    first = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="+")
    kinds = models.JSONField(default=list, help_text="Kinds of marks that they have in common.")
    verdict = models.CharField(max_length=9, choices=Verdict, default=Verdict.OPEN)
    found_at = models.DateTimeField()
    decided_at = models.DateTimeField(null=True, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "first", "second"], name="matched_once_in_project"),
            models.CheckConstraint(name="match_in_order", condition=Q(first__lt=F("second"))),
        ]

    def __str__(self) -> str:
        return f"{self.first_id} and {self.second_id}: {self.verdict}"

    @property
    def kind_words(self) -> str:
        """What the two have in common, in words."""
        return ", ".join(WorkerMark.Kind(kind).label for kind in self.kinds)


class Exclusion(models.Model):
    """A scope in which a worker may do nothing more: what they screened, curated or wrote themselves.

    Scopes are names that stage kinds agree on, such as `query:17:distil`; `stage:4` bars from a whole stage.
    """

    worker = models.ForeignKey(Worker, on_delete=models.CASCADE, related_name="exclusions")
    scope = models.CharField(max_length=200)
    reason = models.CharField(max_length=300)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["worker", "scope"], name="excluded_once_per_scope")]
        indexes = [models.Index(fields=["scope"], name="exclusion_by_scope")]

    def __str__(self) -> str:
        return f"{self.worker_id} not in {self.scope}"


class Group(models.Model):
    """A group of workers at the endpoint (a qualification), made by us for one purpose."""

    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="groups")
    stage = models.ForeignKey(Stage, null=True, on_delete=models.CASCADE, related_name="groups")
    name = models.CharField(max_length=200)
    external_id = models.CharField(max_length=64, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["endpoint", "name"], name="group_name_at_endpoint")]

    def __str__(self) -> str:
        return self.name


# What workers do: assignments, and which units they took.


#: When something last became of an assignment: the latest of three times, None before the first.
LATEST_NEWS = Greatest(
    Coalesce("stored_at", "submitted_at", "decided_at"),
    # SQLite knows no greatest value where one of them is null: each falls back to the others.
    Coalesce("submitted_at", "decided_at", "stored_at"),
    Coalesce("decided_at", "submitted_at", "stored_at"),
)


class Assignment(models.Model):
    """One worker's work on one HIT.

    Identified by (external id, worker), for marketplaces use assignment ids again after a return. The
    response is stored here before the marketplace hears of it.
    """

    class State(models.TextChoices):
        """Stored: we have the answer. Submitted: the marketplace has it too. Ended: given up."""

        WORKING = "working"
        STORED = "stored"
        SUBMITTED = "submitted"
        APPROVED = "approved"
        REJECTED = "rejected"
        ENDED = "ended"
        QUARANTINED = "quarantined"

    #: States that count towards what a unit has.
    GOOD = (State.STORED, State.SUBMITTED, State.APPROVED)

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="assignments", db_index=False)
    hit = models.ForeignKey(Hit, on_delete=models.CASCADE, related_name="assignments")
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="assignments")
    external_id = models.CharField(max_length=64)
    state = models.CharField(max_length=11, choices=State, default=State.WORKING)
    arrived_at = models.DateTimeField()
    proven = models.BooleanField(
        default=False, help_text="The marketplace signed the arrival. Others bar no one until listed."
    )
    arrived_from = models.CharField(
        max_length=32,
        blank=True,
        default="",
        db_default="",
        help_text="Of an unproven arrival: a keyed digest of the HIT and the network that it came from.",
    )
    saved_at = models.DateTimeField(null=True, blank=True, help_text="When the newest draft was saved.")
    stored_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    auto_approve_at = models.DateTimeField(null=True, blank=True)
    decided_at = models.DateTimeField(null=True, blank=True)
    receipt = models.UUIDField(default=uuid.uuid4, unique=True)
    draft = models.JSONField(default=dict)
    response = models.JSONField(null=True, blank=True)
    telemetry = models.JSONField(default=dict)
    failed_checks = models.PositiveIntegerField(default=0)
    instructions_version = models.PositiveIntegerField(
        default=1, db_default=1, help_text="Of the stage's instructions, as they were when it was opened."
    )
    language = models.CharField(max_length=35, default="", db_default="", help_text="In which it was read.")
    held = models.BooleanField(default=False, help_text="Waits for a person's decision.")
    paid_cents = models.PositiveIntegerField(
        null=True, blank=True, help_text="What a panel pays for it where that is not the HIT's reward."
    )
    note = models.CharField(max_length=300, blank=True, help_text="Why it is held or quarantined.")
    withdrawn = models.BooleanField(
        default=False, db_default=False, help_text="The person left the study: it is paid and counts no more."
    )

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["external_id", "worker"], name="assignment_of_worker"),
            models.UniqueConstraint(
                fields=["hit", "worker"],
                name="crowd_one_per_hit_and_worker",
                condition=~Q(state__in=["ended", "quarantined"]),
            ),
        ]
        indexes = [
            models.Index(fields=["stage", "state"], name="assignment_by_state"),
            models.Index(fields=["stage", "worker", "id"], name="assignment_by_worker"),
            models.Index(fields=["stage", "id"], name="assignment_in_order"),
            models.Index(fields=["stage"], name="assignment_withdrawn", condition=Q(withdrawn=True)),
            models.Index(F("stage"), LATEST_NEWS, name="assignment_by_news"),
        ]

    def __str__(self) -> str:
        return f"{self.external_id} ({self.state})"

    @property
    def endpoint(self) -> Endpoint:
        """Where its worker came from."""
        own = self.worker.endpoint_id == self.stage.endpoint_id
        return self.stage.endpoint if own else self.worker.endpoint


class Recount(models.Model):
    """Work began or ceased to count: what was decided on it is to be decided again.

    Written in the transaction that changed the work, and gone in the one that drew the consequences.
    """

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="recounts")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="recounts")
    why = models.CharField(max_length=200)

    def __str__(self) -> str:
        return f"{self.assignment_id}: {self.why}"


class Claim(models.Model):
    """A worker has this unit of this stage, now or for good: the database gives it to nobody twice."""

    stage = models.ForeignKey(Stage, on_delete=models.CASCADE, related_name="claims", db_index=False)
    unit = models.CharField(max_length=200)
    worker = models.ForeignKey(Worker, on_delete=models.PROTECT, related_name="claims")
    assignment = models.ForeignKey(Assignment, on_delete=models.CASCADE, related_name="claims")

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["stage", "unit", "worker"], name="unit_once_per_worker")
        ]

    def __str__(self) -> str:
        return f"{self.worker_id} has {self.unit}"


# The outbox and the ledger: every call that costs or changes something, and every cent.


class MarketOperation(models.Model):
    """One call that changes something at a marketplace, from plan to certainty.

    planned → claimed → sent → confirmed | refused | unknown; unknown → confirmed | refused by reconciling
    or by a person. `sent` is committed before the call, so whatever dies, nobody wonders whether to repeat:
    it may be repeated with the same token for 23 hours, and afterwards only after looking.
    """

    class Kind(models.TextChoices):
        """What is asked for."""

        PUBLISH = "publish"
        EXTEND = "extend"
        DEADLINE = "deadline"
        CLOSE = "close"
        ARCHIVE = "archive"
        APPROVE = "approve"
        REJECT = "reject"
        UNREJECT = "unreject"
        BONUS = "bonus"
        GROUP = "group"
        GRANT = "grant"
        MESSAGE = "message"
        STUDY = "study"
        PLACES = "places"
        MOVE = "move"
        RETURN = "return"
        PARTIAL = "partial"

    class State(models.TextChoices):
        """How far it has come."""

        PLANNED = "planned"
        CLAIMED = "claimed"
        SENT = "sent"
        CONFIRMED = "confirmed"
        REFUSED = "refused"
        UNKNOWN = "unknown"

    #: States that end an operation.
    FINAL = (State.CONFIRMED, State.REFUSED)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    endpoint = models.ForeignKey(Endpoint, on_delete=models.PROTECT, related_name="operations")
    endpoint_url = models.URLField(max_length=300, help_text="Where it was planned to go; compared again.")
    stage = models.ForeignKey(Stage, null=True, on_delete=models.CASCADE, related_name="operations")
    hit = models.ForeignKey(Hit, null=True, on_delete=models.CASCADE, related_name="operations")
    assignment = models.ForeignKey(Assignment, null=True, on_delete=models.CASCADE, related_name="operations")
    kind = models.CharField(max_length=8, choices=Kind)
    target = models.CharField(max_length=120)
    purpose = models.CharField(max_length=120)
    payload = models.JSONField(default=dict)
    amount_cents = models.BigIntegerField(default=0)
    fee_cents = models.BigIntegerField(default=0)
    state = models.CharField(max_length=9, choices=State, default=State.PLANNED)
    attempts = models.PositiveIntegerField(default=0)
    planned_at = models.DateTimeField()
    not_before = models.DateTimeField()
    first_sent_at = models.DateTimeField(null=True, blank=True)
    lease_owner = models.UUIDField(null=True, blank=True)
    lease_until = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    result_ref = models.CharField(max_length=120, blank=True)
    request_id = models.CharField(max_length=80, blank=True)
    error_code = models.CharField(max_length=80, blank=True)
    error_text = models.TextField(blank=True)
    result_lost = models.BooleanField(
        default=False, help_text="Done before, the marketplace says, but not as what."
    )
    needs_person = models.BooleanField(default=False)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["kind", "target", "purpose"], name="one_operation_per_purpose"),
            models.CheckConstraint(
                name="operation_costs_nothing_negative", condition=Q(amount_cents__gte=0, fee_cents__gte=0)
            ),
        ]
        indexes = [
            models.Index(
                fields=["endpoint", "not_before"],
                name="operation_to_dispatch",
                condition=~Q(state__in=["confirmed", "refused"]),
            ),
            models.Index(fields=["stage", "-planned_at"], name="operation_of_stage"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.target} ({self.state})"

    @property
    def token(self) -> str:
        """UniqueRequestToken, 32 characters, the same for every attempt."""
        return self.id.hex


class LedgerEntry(models.Model):
    """One movement of a stage's budget, append-only: reserved, given back, spent, or taken back."""

    class Kind(models.TextChoices):
        """Spending takes from what was reserved; a refund takes from what was spent."""

        RESERVE = "reserve"
        RELEASE = "release"
        SPEND = "spend"
        REFUND = "refund"

    stage = models.ForeignKey(Stage, on_delete=models.PROTECT, related_name="ledger")
    operation = models.ForeignKey(MarketOperation, null=True, on_delete=models.PROTECT, related_name="ledger")
    hit = models.ForeignKey(Hit, null=True, on_delete=models.PROTECT, related_name="ledger")
    assignment = models.ForeignKey(Assignment, null=True, on_delete=models.PROTECT, related_name="ledger")
    kind = models.CharField(max_length=7, choices=Kind)
    cents = models.BigIntegerField(help_text="Rewards or bonuses.")
    fee_cents = models.BigIntegerField(default=0)
    reason = models.CharField(max_length=120)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["operation", "kind"], name="operation_booked_once", condition=~Q(operation=None)
            ),
            models.UniqueConstraint(
                fields=["assignment", "reason"], name="assignment_booked_once", condition=Q(operation=None)
            ),
            models.CheckConstraint(
                name="crowd_ledger_moves_forward", condition=Q(cents__gte=0, fee_cents__gte=0)
            ),
        ]
        indexes = [models.Index(fields=["stage", "-id"], name="crowd_ledger_statement")]

    def __str__(self) -> str:
        return f"{self.kind} {self.cents}+{self.fee_cents}"


# How far this database has come, and which marketplaces it must look at before it sends anything.


class DispatchEpoch(models.Model):
    """One row: a number that grows with every batch of calls, kept here and beside the database.

    A database that was restored from a backup has a smaller number than the file; see `crowd.outbox.epoch`.
    """

    installation = models.UUIDField(default=uuid.uuid4, help_text="Tells databases apart, not hosts.")
    number = models.BigIntegerField(default=0)
    vouched = models.BigIntegerField(default=0, help_text="Grows while a host that knows the number runs.")
    vouched_at = models.DateTimeField(null=True, blank=True)

    def __str__(self) -> str:
        return f"{self.installation} {self.number}"


class DispatchHalt(models.Model):
    """Nothing is sent to this marketplace until what it has was compared with what we know."""

    endpoint = models.OneToOneField(Endpoint, on_delete=models.CASCADE, related_name="halt")
    why = models.CharField(max_length=300)
    since = models.DateTimeField()
    looked_up_to = models.BigIntegerField(
        default=0, help_text="Key of the last HIT whose work and bonuses were compared."
    )

    def __str__(self) -> str:
        return f"{self.endpoint}: {self.why}"


__all__ = [
    "Assignment", "Claim", "Compensation", "DispatchEpoch", "DispatchHalt", "Endpoint", "EndpointRound",
    "EndpointSpender", "Exclusion", "Group", "Hit", "HitUnit", "Instructions", "LedgerEntry",
    "MarketOperation", "PanelHook", "PanelMessage", "PanelStudy", "PanelSubmission", "PersonMatch",
    "Picture", "Recount", "Stage", "StageSource", "Worker", "WorkerMark",
]  # fmt: skip
