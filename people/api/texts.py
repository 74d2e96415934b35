"""Texts that people agree to, and terms and privacy of the installation: versions, which is in force."""

from typing import Annotated, Any, Literal

from django.contrib.auth.models import User
from django.db.models import Count, Exists, OuterRef, Q, QuerySet
from django.http import Http404
from ninja import Query
from pydantic import BaseModel, Field

from core.accounts import security
from core.api.models import Scope
from core.origin import Owner
from people.consents import first_values, newest_text, save_text
from people.models import ConsentText
from people.owners import columns_of, kind_of, project_owner
from web.api.access import ACCOUNT, STAFF, ApiRequest, Role, project_access
from web.api.fields import MOST_ID, Body, Time
from web.api.pages import Page, PageRequest, page_of
from web.api.resources import Resource

texts = Resource("Consent texts")
_LIST = "/projects/{project}/consent-texts"
_OWN = "/installation/texts"
Language = Annotated[
    str,
    Field(max_length=35, pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", description="BCP 47 tag."),
]
Markdown = Annotated[
    str, Field(min_length=1, max_length=50_000, pattern=r"\S", description="Markdown, without HTML.")
]
Paragraph = Annotated[str, Field(max_length=5_000)]


class TextFilter(BaseModel):
    """Which versions."""

    language: str = Field("", max_length=35, description="BCP 47 tag; empty: all.")
    in_force: bool | None = Field(None, description="true: of each language the newest one alone.")


class ConsentTextIn(Body):
    """A new version. Except for `body`, what is left out stays as in the version before."""

    language: Language | None = Field(None, description="null: the language of the project, or English.")
    body: Markdown = Field(examples=["You are invited to take part in a research study. …"])
    what_is_kept: Paragraph | None = None
    right_to_withdraw: Paragraph | None = None
    protocol_number: str | None = Field(None, max_length=100, description="Of the ethics committee.")
    contact: str | None = Field(None, max_length=300)
    minimum_age: int | None = Field(None, ge=0, le=120)


class ConsentTextOut(BaseModel):
    """One version. It never changes: who agreed to it can be shown what they read."""

    id: int
    language: str
    version: int = Field(description="Within its language.")
    in_force: bool = Field(description="It is what people who come now read in this language.")
    body: str = Field(description="Markdown.")
    what_is_kept: str
    right_to_withdraw: str
    protocol_number: str
    contact: str
    minimum_age: int
    made_at: Time
    made_by: str | None = Field(description="User name; null: the system, with the first link.")
    agreed: int = Field(description="Visits whose person agreed to this version.")


class OwnTextFilter(BaseModel):
    """Which texts of the installation."""

    kind: Literal["terms", "privacy"] | None = None
    in_force: bool | None = Field(None, description="true: the newest of each kind alone.")


class OwnTextIn(Body):
    """A new version of the terms or of the text about privacy."""

    kind: Literal["terms", "privacy"]
    body: Markdown


class OwnTextOut(BaseModel):
    """A version of a text that everyone can read, such as below the consent of a study."""

    id: int
    kind: Literal["terms", "privacy"]
    version: int
    in_force: bool
    body: str = Field(description="Markdown.")
    made_at: Time
    made_by: str | None


# What projects and requesters share; each has operations of its own.


def list_page(owner: Owner, paging: PageRequest, which: TextFilter) -> Page[ConsentTextOut]:
    """Versions of an owner's consent texts."""
    rows = _texts(owner)
    if which.language:
        rows = rows.filter(language__iexact=which.language)
    rows = _in_force(rows, which.in_force)
    page = page_of(rows, paging, key=("pk",), within=(owner.kind, owner.pk, which.model_dump_json()))
    return Page(items=[_describe(row) for row in page.items], next=page.next)


def find_text(owner: Owner, pk: int) -> ConsentTextOut:
    """One version; Http404 where the owner has none of this id."""
    row = _texts(owner).filter(pk=pk).first() if 0 < pk <= MOST_ID else None
    if row is None:
        raise Http404("There is no such version of a consent text here.")
    return _describe(row)


def publish(owner: Owner, body: ConsentTextIn, user: User) -> ConsentTextOut:
    """Save a version, which is in force from now on."""
    # Locked, so that of two versions at once the second keeps what the first changed.
    kind_of(owner).lock(owner.pk)
    wanted = body.language or kind_of(owner).language(owner.pk)
    before = _texts(owner).filter(language__iexact=wanted).order_by("-version").first()
    language, before = (before.language, before) if before else (wanted, newest_text(owner))
    values = first_values() | {"protocol_number": "", "contact": ""}
    if before is not None:
        values = {name: getattr(before, name) for name in values}
    given = body.model_dump(exclude={"language"}, exclude_none=True)
    saved = save_text(owner=owner, values=values | given, actor=user, language=language)
    return find_text(owner, saved.pk)


def _texts(owner: Owner) -> QuerySet[ConsentText]:
    return _with_newer(owner, ConsentText.Kind.CONSENT)


def _with_newer(owner: Owner | None, *kinds: str) -> QuerySet[ConsentText]:
    """An owner's texts; `newer` says whether there is a later version, and `agreed` how many agreed."""
    rows = ConsentText.objects.filter(**columns_of(owner), kind__in=kinds).select_related("made_by")
    same = {"kind": OuterRef("kind"), "language": OuterRef("language")}
    later = ConsentText.objects.filter(**columns_of(owner), **same, version__gt=OuterRef("version"))
    agreed = Count("visits", filter=Q(visits__consented_at__isnull=False))
    return rows.annotate(newer=Exists(later), agreed=agreed)


def _in_force(rows: QuerySet[Any], wanted: bool | None) -> QuerySet[Any]:
    return rows if wanted is None else rows.filter(newer=not wanted)


def _describe(row: Any) -> ConsentTextOut:
    same = {name: getattr(row, name) for name in ConsentTextOut.model_fields if name not in _OTHERS}
    return ConsentTextOut(**same, in_force=not row.newer, made_by=_name(row.made_by))


_OTHERS = ("in_force", "made_by")


def _name(user: User | None) -> str | None:
    return user.get_username() if user else None


# Operations of projects.


def _owner(request: ApiRequest) -> Owner:
    return project_owner(project_access(request).project)


@texts.get(_LIST, scopes=[Scope.READ], role=Role.VIEWER)
def list_consent_texts(
    request: ApiRequest, project: str, paging: Query[PageRequest], which: Query[TextFilter]
) -> Page[ConsentTextOut]:
    """Versions of the texts that people agree to before they join by a link or panel."""
    return list_page(_owner(request), paging, which)


@texts.post(_LIST, scopes=[Scope.COLLECT], role=Role.MANAGER, status=201)
def publish_consent_text(request: ApiRequest, project: str, body: ConsentTextIn) -> ConsentTextOut:
    """Publish a version, which people who come from now on read. What others agreed to stays.

    Where nothing differs from the newest version, no new one is made, and that one is the answer.
    """
    return publish(_owner(request), body, request.caller.user)


@texts.get(f"{_LIST}/{{int:text}}", scopes=[Scope.READ], role=Role.VIEWER)
def get_consent_text(request: ApiRequest, project: str, text: int) -> ConsentTextOut:
    """One version of a consent text."""
    return find_text(_owner(request), text)


# Operations of the installation.

_KINDS = (ConsentText.Kind.TERMS, ConsentText.Kind.PRIVACY)


@texts.get(_OWN, scopes=[Scope.READ], role=ACCOUNT)
def list_installation_texts(
    request: ApiRequest, paging: Query[PageRequest], which: Query[OwnTextFilter]
) -> Page[OwnTextOut]:
    """Terms and privacy of the installation, in versions."""
    rows = _in_force(_with_newer(None, *([which.kind] if which.kind else _KINDS)), which.in_force)
    page = page_of(rows, paging, key=("pk",), within=which.model_dump_json())
    return Page(items=[_describe_own(row) for row in page.items], next=page.next)


@texts.post(_OWN, scopes=[Scope.ADMIN], role=STAFF, status=201)
def publish_installation_text(request: ApiRequest, body: OwnTextIn) -> OwnTextOut:
    """Publish a version of the terms or of the text about privacy; for staff."""
    saved = save_text(owner=None, values={"body": body.body}, actor=request.caller.user, kind=body.kind)
    security.log("text.changed", subject=str(saved))
    return _describe_own(_with_newer(None, *_KINDS).get(pk=saved.pk))


def _describe_own(row: Any) -> OwnTextOut:
    same = {name: getattr(row, name) for name in OwnTextOut.model_fields if name not in _OTHERS}
    return OwnTextOut(**same, in_force=not row.newer, made_by=_name(row.made_by))
