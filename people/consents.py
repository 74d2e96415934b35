"""Texts that people agree to, in versions: a change never touches what somebody has read."""

from functools import cache
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone
from django.utils.safestring import SafeString

from core.origin import Owner
from core.projects.models import Project
from people.errors import PeopleError
from people.models import ConsentText, StudyLink
from people.owners import columns_of, kind_of, language_of, project_owner, record_at

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

Kind = ConsentText.Kind
#: What an owner begins with; people put their own in its place.
FIRST_TEXT = """\
You are invited to take part in a research study. You will read short texts and answer questions about them in
your browser. There are no known risks beyond those of reading on a screen.

Taking part is voluntary. You can stop at any time without giving a reason.
"""
FIRST_KEPT = (
    "Your answers, when you gave them, and how long a page was open. We keep no name and no address, "
    "unless you give them to us. Answers may be published without anything that names you."
)
FIRST_RIGHT = (
    "You can withdraw later on the page “Your work here”. We are told at once, and leave your answers out of "
    "data that we publish after that; what is already published cannot be called back."
)


@cache
def _markdown() -> "MarkdownIt":
    """Without HTML and without pictures: the text of a page makes the browser load nothing."""
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).disable(["image", "html_block", "html_inline"])


def render_text(body: str) -> SafeString:
    """Markdown as HTML; HTML in it is shown as it was typed, and links lead only to web pages and mail."""
    return SafeString(_markdown().render(body))


def newest_text(
    owner: Owner | None, kind: str = Kind.CONSENT, languages: list[str] | None = None
) -> ConsentText | None:
    """The newest version in the first of these languages that has one, else the newest of all.

    Without an owner, of the installation's own texts.
    """
    rows = ConsentText.objects.filter(**columns_of(owner), kind=kind).order_by("-version", "-pk")
    for language in languages or []:
        if text := rows.filter(language__iexact=language).first():
            return text
    return rows.order_by("-pk").first()


def text_for(link: StudyLink, languages: list[str]) -> ConsentText:
    """What a person reads who comes by this link and wants these languages; made where there is none yet."""
    offered = link.languages or [language_of(link)]
    first = [tag for tag in languages if tag.lower() in {each.lower() for each in offered}]
    text = newest_text(link.owner, languages=[*first, *offered])
    return text or save_text(owner=link.owner, values=first_values(), actor=None)


def text_of_project(project: Project, languages: list[str]) -> ConsentText:
    """What a person reads who comes to a project by a panel; made where there is none yet."""
    owner = project_owner(project)
    text = newest_text(owner, languages=[*languages, project.language])
    return text or save_text(owner=owner, values=first_values(), actor=None)


def own_kinds() -> list[str]:
    """Which texts the installation itself has: terms, privacy."""
    return [kind for kind in (Kind.TERMS, Kind.PRIVACY) if newest_text(None, kind)]


def first_values() -> dict[str, Any]:
    """What the form of an owner's first consent text holds."""
    return {
        "body": FIRST_TEXT,
        "what_is_kept": FIRST_KEPT,
        "right_to_withdraw": FIRST_RIGHT,
        "minimum_age": 18,
    }


@transaction.atomic
def save_text(
    *,
    owner: Owner | None,
    values: dict[str, Any],
    actor: Any,
    kind: str = Kind.CONSENT,
    language: str = "",
) -> ConsentText:
    """A new version with these values; the newest one again where nothing differs from it.

    PeopleError where the owner is a read-only project: no participant comes there to read it.
    """
    values = {name: _stored(value) for name, value in values.items()}
    if owner is not None:
        if why := kind_of(owner).why_read_only(owner.pk):
            raise PeopleError(why)
        kind_of(owner).lock(owner.pk)
    language = language or (kind_of(owner).language(owner.pk) if owner else "en")
    place = {**columns_of(owner), "kind": kind, "language": language}
    newest = ConsentText.objects.filter(**place).order_by("-version").first()
    if newest is not None and all(getattr(newest, name) == value for name, value in values.items()):
        return newest
    text = ConsentText.objects.create(
        **place,
        version=newest.version + 1 if newest else 1,
        made_by=actor,
        made_at=timezone.now(),
        **values,
    )
    if owner is not None:
        record_at(owner, "consent.changed", str(text), actor=actor)
    return text


def _stored(value: Any) -> Any:
    """A text without blank ends, and with the line ends that the database keeps."""
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else value
