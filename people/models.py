"""Study links, the people who come by them, what they agreed to, and what became of each visit."""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy

from core.origin import Owner
from core.projects.models import Project


class Outcome(models.TextChoices):
    """How a visit ended; each has its own completion code and return address."""

    COMPLETED = "completed", "Done"
    SCREENED_OUT = "screened_out", "Screened out"
    FAILED_CHECKS = "failed_checks", "Failed checks"
    NO_CONSENT = "no_consent", "Did not agree"
    NOTHING_LEFT = "nothing_left", "Nothing left to do"
    WITHDRAWN = "withdrawn", "Withdrew"


#: Of a requester the key alone: the marketplace is an app above this one.
_REQUESTER_HELP = "Key of the marketplace's requester whose it is; empty: a project's."


def _one_owner(name: str) -> models.CheckConstraint:
    """A row belongs to a project or to a requester, never to both and never to none."""
    project, requester = Q(project__isnull=False), Q(requester_id__isnull=False)
    return models.CheckConstraint(
        name=name, condition=(project & Q(requester_id=None)) | (requester & Q(project=None))
    )


class OwnedRow(models.Model):
    """A row of a project, or of a requester of the marketplace."""

    project: "models.ForeignKey[Project | None]"
    project_id: int | None
    requester_id = models.BigIntegerField(null=True, blank=True, help_text=_REQUESTER_HELP)

    class Meta:
        abstract = True

    @property
    def owner(self) -> Owner:
        """Whose it is."""
        if self.requester_id is not None:
            return Owner(Owner.Kind.REQUESTER, self.requester_id)
        assert self.project_id is not None
        return Owner(Owner.Kind.PROJECT, self.project_id)


class ConsentText(OwnedRow):
    """One version of a text that people agree to or can read. A change is a new version."""

    class Kind(models.TextChoices):
        """Consent belongs to a project or requester, terms and privacy to the installation."""

        CONSENT = "consent", "Consent"
        TERMS = "terms", gettext_lazy("Terms")
        PRIVACY = "privacy", gettext_lazy("Privacy")

    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.PROTECT, related_name="consent_texts"
    )
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.CONSENT)
    language = models.CharField(max_length=35, default="en", help_text="BCP 47 tag, such as en or zh-Hans.")
    version = models.PositiveIntegerField()
    body = models.TextField(help_text="Markdown.")
    protocol_number = models.CharField(max_length=100, blank=True)
    contact = models.CharField(max_length=300, blank=True)
    minimum_age = models.PositiveSmallIntegerField(default=18)
    what_is_kept = models.TextField(blank=True)
    right_to_withdraw = models.TextField(blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "kind", "language", "version"],
                name="text_version_once",
                condition=Q(project__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["requester_id", "kind", "language", "version"],
                name="requester_text_version_once",
                condition=Q(requester_id__isnull=False),
            ),
            models.UniqueConstraint(
                fields=["kind", "language", "version"],
                name="own_text_version_once",
                condition=Q(project=None, requester_id=None),
            ),
            models.CheckConstraint(
                name="text_of_one_owner", condition=Q(project=None) | Q(requester_id=None)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.language} version {self.version}"


class StudyLink(OwnedRow):
    """An address by which people from outside join: what they get to do, who may come, how they leave."""

    class Compensation(models.TextChoices):
        """What people get, and from whom."""

        NOTHING = "nothing", "Nothing"
        CREDIT = "credit", "Course credit"
        PANEL = "panel", "Money, paid by the panel"
        MONEY = "money", "Money, paid by us"

    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.PROTECT, related_name="study_links"
    )
    token_digest = models.CharField(max_length=64, unique=True)
    token_sealed = models.TextField(help_text="So that the page of the link can show its address again.")
    target_kind = models.CharField(max_length=20, help_text="stage, project…: who registered it knows it.")
    target_id = models.BigIntegerField()
    title = models.CharField(max_length=200)
    quota = models.PositiveIntegerField(default=100, help_text="People who may join.")
    expires_at = models.DateTimeField(null=True, blank=True)
    languages = models.JSONField(default=list, help_text="BCP 47 tags; empty: the owner's language.")
    code_word_digest = models.CharField(max_length=64, blank=True)
    granted = models.CharField(max_length=100, blank=True, help_text="A name that joining gives to a person.")
    granted_value = models.IntegerField(
        null=True, blank=True, help_text="With what value, where what is granted has values."
    )
    id_parameters = models.JSONField(default=list, help_text="Names, the first one present is the identity.")
    id_source = models.CharField(
        max_length=40,
        blank=True,
        default="",
        db_default="",
        help_text="Panel or workspace whose ids they are: the same id at another one is another person.",
    )
    id_required = models.BooleanField(default=False)
    kept_parameters = models.JSONField(default=list)
    secret_sealed = models.TextField(blank=True, help_text="Of the HMAC over the address; empty: none.")
    returns = models.JSONField(default=dict, help_text="outcome -> {code, address}")
    returns_at_once = models.BooleanField(default=False, help_text="The browser goes back by itself.")
    compensation = models.CharField(max_length=10, choices=Compensation, default=Compensation.NOTHING)
    most_tasks = models.PositiveIntegerField(default=0, help_text="HITs per person; 0: as many as there are.")
    most_per_address = models.PositiveIntegerField(
        default=0, help_text="People from one network address; 0: no limit."
    )
    closed_at = models.DateTimeField(null=True, blank=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    made_at = models.DateTimeField()

    class Meta:
        constraints = [_one_owner("study_link_of_one_owner")]
        indexes = [
            models.Index(fields=["project", "-id"], name="study_link_of_project"),
            models.Index(
                fields=["requester_id", "-id"],
                name="study_link_of_requester",
                condition=Q(requester_id__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.title


class Guest(OwnedRow):
    """A person from outside at one project or requester: one row for each external identity there."""

    project = models.ForeignKey(
        Project, null=True, blank=True, on_delete=models.PROTECT, related_name="guests"
    )
    identity_kind = models.CharField(max_length=60, help_text="PROLIFIC_PID…; browser: made up by us.")
    identity = models.CharField(max_length=128)
    worker_id = models.CharField(
        max_length=32, unique=True, help_text="What the person is called in exports."
    )
    recovery_digest = models.CharField(max_length=64, unique=True)
    recovery_sealed = models.TextField()
    email_digest = models.CharField(max_length=64, blank=True)
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, blank=True, on_delete=models.SET_NULL, related_name="guests"
    )
    made_at = models.DateTimeField()
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "identity_kind", "identity"], name="guest_once_per_identity"
            ),
            models.UniqueConstraint(
                fields=["requester_id", "identity_kind", "identity"],
                name="requester_guest_once",
                condition=Q(requester_id__isnull=False),
            ),
            _one_owner("guest_of_one_owner"),
        ]

    def __str__(self) -> str:
        return self.worker_id


class Visit(models.Model):
    """One opening of a link: who it was once they agreed, and how far they came."""

    link = models.ForeignKey(StudyLink, on_delete=models.PROTECT, related_name="visits")
    guest = models.ForeignKey(Guest, null=True, on_delete=models.PROTECT, related_name="visits")
    external_kind = models.CharField(max_length=60, blank=True)
    external_id = models.CharField(max_length=128, blank=True)
    session = models.CharField(max_length=128, blank=True)
    parameters = models.JSONField(default=dict)
    address_digest = models.CharField(max_length=64, blank=True)
    browser_digest = models.CharField(max_length=64, blank=True)
    proven = models.BooleanField(default=False, help_text="The signature of its address was checked.")
    opened_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    consent_text = models.ForeignKey(ConsentText, null=True, on_delete=models.PROTECT, related_name="visits")
    consented_at = models.DateTimeField(null=True, blank=True)
    first_task_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    outcome = models.CharField(max_length=13, choices=Outcome, blank=True)
    code = models.CharField(max_length=100, blank=True, help_text="The completion code that was shown.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["link", "external_kind", "external_id", "session"],
                name="visit_once_per_session",
                condition=~Q(external_id=""),
            )
        ]
        indexes = [
            models.Index(fields=["link", "consented_at"], name="visit_consented"),
            models.Index(fields=["link", "address_digest"], name="visit_by_address"),
        ]

    #: Whether this very call of `visits.agree` made the person a guest, and no earlier one.
    agreed_just_now = False

    def __str__(self) -> str:
        return f"visit {self.pk} of {self.link_id}"


class RosterRow(models.Model):
    """A person whom a class's list names: invited by a personal link."""

    link = models.ForeignKey(StudyLink, on_delete=models.PROTECT, related_name="roster")
    name = models.CharField(max_length=200)
    email_sealed = models.TextField()
    email_digest = models.CharField(max_length=64)
    invited_at = models.DateTimeField(null=True, blank=True)
    reminded_at = models.DateTimeField(null=True, blank=True)
    guest = models.ForeignKey(Guest, null=True, on_delete=models.SET_NULL, related_name="+")
    made_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["link", "email_digest"], name="invited_once_per_link")]

    def __str__(self) -> str:
        return self.name
