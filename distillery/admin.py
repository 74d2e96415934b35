"""Django's admin for superusers: rows of all apps to look at, none to change.

Rules stand in services, and the admin would go around them: it could change an event, a cent or a release.
So everything here is shown only. People and their groups stay as Django has them; a person with memberships,
work or events cannot be deleted, for what hangs on them may not be.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount, SocialApp, SocialToken
from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.forms import UserChangeForm
from django.contrib.auth.models import Group, User
from django.core.exceptions import ValidationError
from django.db.models import Model, URLField
from django.http import HttpRequest
from django.utils.crypto import constant_time_compare, salted_hmac

from annotation import models as annotation
from core.accounts.models import PasswordState
from core.jobs import models as jobs
from core.notices import models as notices
from core.projects import models as projects
from core.revisions import mark_of
from crowd import models as crowd
from judgments import models as judgments
from judgments.selectors.ratings import scale_of
from marketplace import models as marketplace
from releases import models as releases
from retrieval import models as retrieval

#: Columns that change without anybody's doing, or with a page of their own.
_NOT_COMPARED = frozenset({"last_login", "password"})


class RevisedModelForm(forms.ModelForm[Any]):
    """A form of the admin that carries what it showed, and saves over nothing that changed since."""

    revision = forms.CharField(required=False, widget=forms.HiddenInput)

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.pk is not None:
            self.fields["revision"].initial = self._mark(self.instance)

    def clean(self) -> dict[str, Any] | None:
        """ValidationError where the stored row, locked from here on, is another than the page showed."""
        cleaned = super().clean()
        if self.instance.pk is None:
            return cleaned
        rows = type(self.instance)._base_manager.select_for_update()
        row = rows.filter(pk=self.instance.pk).first()
        if row is None or not constant_time_compare(self.data.get("revision", ""), self._mark(row)):
            raise ValidationError(
                "This was changed after you opened this page, by another person or in another tab. Nothing "
                "was saved. Open the page again to see it as it is now, then make your change."
            )
        return cleaned

    def _mark(self, row: Model) -> str:
        names = set(self.fields) - _NOT_COMPARED
        several = [field.name for field in row._meta.many_to_many if field.name in names]
        related_keys = [
            (name, sorted(getattr(row, name).values_list("pk", flat=True))) for name in sorted(several)
        ]
        text = f"{mark_of(row, names)} {related_keys}"
        return salted_hmac("accounts.admin", text, algorithm="sha256").hexdigest()


class RevisedUserForm(RevisedModelForm, UserChangeForm):  # type: ignore[type-arg]
    """Django's own form of an account."""


class ColumnReferences:
    """`_to_field` in an address names a column; the name of a relation to other rows is answered with 400.

    Django looks at an attribute that only columns have, so that such a name ended in an error.
    """

    opts: Any

    def to_field_allowed(self, request: HttpRequest, to_field: str) -> bool:
        """Whether other rows may be referred to by this column."""
        columns = {field.name for field in self.opts.get_fields() if field.concrete}
        allowed: Any = super().to_field_allowed  # type: ignore[misc]  # of ModelAdmin, beside it
        return to_field in columns and bool(allowed(request, to_field))


admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class RevisedUserAdmin(ColumnReferences, UserAdmin[User]):
    """Django's own pages of accounts."""

    form = RevisedUserForm

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """With the hidden field where an account is changed."""
        fieldsets = super().get_fieldsets(request, obj)
        return fieldsets if obj is None else (*fieldsets, (None, {"fields": ("revision",)}))


@admin.register(Group)
class RevisedGroupAdmin(ColumnReferences, GroupAdmin):
    """Django's own pages of groups."""

    form = RevisedModelForm


@admin.register(PasswordState)
class PasswordStateAdmin(ColumnReferences, admin.ModelAdmin[PasswordState]):
    """Tick `must change` after setting a password for somebody."""

    form = RevisedModelForm
    list_display = ("user", "must_change")
    list_select_related = ("user",)


class LookOnly(ColumnReferences, admin.ModelAdmin[Model]):
    """Rows to look at, for superusers. Nothing is added, changed or deleted, also not by an action."""

    actions = None
    show_full_result_count = False
    list_per_page = 50
    ordering = ("-pk",)
    formfield_overrides: ClassVar = {URLField: {"assume_scheme": "https"}}

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Superusers see the app."""
        return _is_superuser(request)

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Superusers look."""
        return _is_superuser(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Nobody adds."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody changes."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Nobody deletes."""
        return False


def _is_superuser(request: HttpRequest) -> bool:
    user = request.user
    return bool(user.is_active and user.is_superuser)


@dataclass(frozen=True, slots=True)
class TableColumns:
    """How the rows of a table are shown: columns, what is searched, filters, and fields that stay hidden."""

    model: type[Model]
    columns: str
    search: str = ""
    filters: str = ""
    hidden: str = ""
    related: str = ""
    computed: tuple[Callable[[Any], str], ...] = ()


@admin.display(description="score", ordering="score")
def score_in_points(judgment: judgments.Judgment) -> str:
    """As the judge gave it; the column counts units of the stage's scale."""
    return scale_of(judgment.stage).text(judgment.score)


TABLES = (
    TableColumns(
        projects.Project,
        "slug title language budget_cents reserved_cents spent_cents read_only created_at",
        "slug title",
        "read_only language",
        "pseudonym_key",
    ),
    TableColumns(
        projects.Membership,
        "project user role",
        "project__slug user__username",
        "role",
        related="project user",
    ),
    TableColumns(
        projects.Event,
        "at project actor action subject",
        "=project__slug subject",
        "action",
        related="project actor",
    ),
    TableColumns(
        crowd.Endpoint,
        "name label url protocol currency real_money fee_profile",
        "name label url",
        "real_money protocol",
        "secret_sealed access_key",
    ),
    TableColumns(
        crowd.Stage,
        "project slug kind status reward_cents redundancy budget_cents reserved_cents spent_cents",
        "=project__slug slug title",
        "status kind",
        related="project",
    ),
    TableColumns(
        crowd.Hit,
        "stage ordinal state places wave external_id expires_at",
        "=external_id",
        "state",
        related="stage",
    ),
    TableColumns(
        crowd.Assignment,
        "external_id stage worker state held failed_checks stored_at decided_at",
        "=external_id =worker__external_id",
        "state held",
        related="stage worker",
    ),
    TableColumns(
        crowd.Worker,
        "external_id endpoint simulated first_seen_at",
        "=external_id",
        "simulated",
        related="endpoint",
    ),
    TableColumns(
        crowd.Exclusion, "worker scope reason created_at", "=worker__external_id =scope", related="worker"
    ),
    TableColumns(
        crowd.Compensation,
        "worker stage operation__state operation at",
        "=worker__external_id",
        "operation__state",
        related="worker stage operation",
    ),
    TableColumns(crowd.Group, "name endpoint stage external_id", "name", related="endpoint stage"),
    TableColumns(
        crowd.MarketOperation,
        "id kind state stage amount_cents fee_cents attempts needs_person planned_at request_id",
        "=id =request_id =target",
        "state kind needs_person",
        related="stage",
    ),
    TableColumns(
        crowd.LedgerEntry,
        "stage kind cents fee_cents reason at",
        "=stage__slug reason",
        "kind",
        related="stage",
    ),
    TableColumns(
        annotation.QuerySource,
        "project name format state created_at",
        "=project__slug name",
        "state",
        related="project",
    ),
    TableColumns(annotation.Query, "key project status type text", "=key", "status type", related="project"),
    TableColumns(
        annotation.QueryStep,
        "query at before after reason actor",
        "=query__key",
        "after",
        related="query actor",
    ),
    TableColumns(
        annotation.Answer,
        "query stage worker state opinion created_at",
        "=query__key",
        "state",
        related="query stage worker",
    ),
    TableColumns(
        annotation.AnswerReview,
        "answer actor action reason at",
        "=answer__query__key",
        "action",
        related="answer actor",
    ),
    TableColumns(
        annotation.CuratedSet,
        "query rule stage decided_by created_at",
        "=query__key",
        "rule",
        related="query stage decided_by",
    ),
    TableColumns(
        judgments.System, "project name kind created_at", "=project__slug name", "kind", related="project"
    ),
    TableColumns(
        judgments.CandidateSource, "project name format created_at", "=project__slug name", related="project"
    ),
    TableColumns(
        judgments.Candidate,
        "query system aside kept created_at",
        "=query__key =system__name",
        "aside",
        related="query system",
    ),
    TableColumns(
        judgments.Judgment,
        "stage worker candidate at",
        "=worker__external_id",
        related="stage worker candidate",
        computed=(score_in_points,),
    ),
    TableColumns(
        judgments.FilterRun,
        "stage recipe state created_by created_at",
        "=stage__slug recipe",
        "state recipe",
        related="stage created_by",
    ),
    TableColumns(
        judgments.AgreementReport,
        "stage judgments seconds created_at",
        "=stage__slug",
        related="stage",
        hidden="rows",
    ),
    TableColumns(judgments.ReportPart, "report name number", related="report__stage", hidden="rows"),
    TableColumns(
        releases.Release,
        "project version state public simulated bytes created_at built_at",
        "=project__slug version digest",
        "state public simulated",
        related="project",
    ),
    TableColumns(
        releases.ReleaseFile,
        "release path format bytes rows sha256",
        "path =sha256",
        "format",
        related="release",
    ),
    TableColumns(
        releases.PrivacyFinding,
        "project rule subject field state decided_by found_at",
        "=project__slug =subject",
        "state rule",
        related="project decided_by",
    ),
    TableColumns(
        notices.Notice,
        "project kind level sentence raised_at over_at",
        "=project__slug sentence",
        "level kind",
        related="project",
    ),
    TableColumns(
        notices.Letter,
        "notice user claimed_at sent_at dropped_at error",
        "=user__username",
        related="notice user",
    ),
    TableColumns(
        jobs.Job,
        "id kind state attempts created_at started_at finished_at progress_note",
        "=id kind",
        "state kind",
    ),
    TableColumns(jobs.WorkerHeartbeat, "name started_at seen_at polled_at", "name"),
    TableColumns(retrieval.Corpus, "slug project title language created_at", "slug title", related="project"),
    TableColumns(
        retrieval.Index, "corpus engine state generation passages built_at", "", "state", related="corpus"
    ),
    TableColumns(
        marketplace.Requester,
        "name customer_id owner deposited_cents available_cents held_cents paid_cents fees_cents",
        "name =customer_id",
        related="owner",
    ),
    TableColumns(
        marketplace.AccessKey,
        "requester label created_at last_used_at ends_at",
        "=requester__name label",
        hidden="secret_sealed access_key",
        related="requester",
    ),
    TableColumns(
        marketplace.Worker,
        "worker_id name user created_at",
        "=worker_id name",
        hidden="token_digest payment_note_sealed",
        related="user",
    ),
    TableColumns(
        marketplace.HIT, "hit_id requester hit_type created_at", "=hit_id", related="requester hit_type"
    ),
    TableColumns(marketplace.Holding, "pk worker state", "=worker__worker_id", "state", related="worker"),
    TableColumns(
        marketplace.LedgerEntry, "pk requester hit worker", "=requester__name", related="requester hit worker"
    ),
)


def show(table: TableColumns) -> None:
    """Register a table with an admin of its own."""
    name = f"{table.model.__name__}Admin"
    own = {
        "list_display": (*table.columns.split(), *table.computed),
        "search_fields": tuple(table.search.split()),
        "list_filter": tuple(table.filters.split()),
        "list_select_related": tuple(table.related.split()) or False,
        "exclude": tuple(table.hidden.split()),
    }
    admin.site.register(table.model, type(name, (LookOnly,), own))


for each in TABLES:
    show(each)

# Secrets of factors, and connections that are proofs of who somebody is, are nothing to look at or to change.
for theirs in (EmailAddress, Authenticator, SocialAccount, SocialApp, SocialToken):
    admin.site.unregister(theirs)
