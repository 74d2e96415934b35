"""Texts that people agree to, in versions: a change never touches what somebody has read."""

from functools import cache
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone, translation
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_noop

from core.origin import Owner
from core.projects.models import Project
from people.errors import PeopleError
from people.models import ConsentText, StudyLink
from people.owners import columns_of, kind_of, language_of, project_owner, record_at
from web.languages import LANGUAGES, catalogue_language, first_language

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

Kind = ConsentText.Kind
#: What an owner begins with, in whose place people put their own; translated in the catalogues.
FIRST_TEXT = gettext_noop("""\
You are invited to take part in a research study. You will read short texts and answer questions about them in
your browser. There are no known risks beyond those of reading on a screen.

Taking part is voluntary. You can stop at any time without giving a reason.
""")
_FIRST_KEPT = gettext_noop(
    "Your answers, when you gave them, and how long a page was open. We keep no name and no address, "
    "unless you give them to us. Answers may be published without anything that names you."
)
_FIRST_RIGHT = gettext_noop(
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


def newest_text(owner: Owner | None, kind: str = Kind.CONSENT) -> ConsentText | None:
    """The newest version of all, of those that people wrote where there are any.

    Without an owner, of the installation's own texts.
    """
    by_language = texts_of(owner, kind)
    return max(by_language.values(), key=lambda text: text.pk, default=None)


def texts_of(owner: Owner | None, kind: str = Kind.CONSENT) -> dict[str, ConsentText]:
    """The newest version in each language; what the catalogues say only while people wrote none."""
    rows = ConsentText.objects.filter(**columns_of(owner), kind=kind).order_by("version", "pk")
    newest = dict(rows.values_list("language", "pk"))
    by_language = {text.language: text for text in ConsentText.objects.filter(pk__in=newest.values())}
    written = {language: text for language, text in by_language.items() if not _is_first(text)}
    return written or by_language


def text_for(link: StudyLink, languages: list[str]) -> ConsentText:
    """What a person reads who comes by this link and wants these languages; made where there is none yet."""
    return _text_in(link.owner, languages, language_of(link), link.languages)


def text_of_project(project: Project, languages: list[str]) -> ConsentText:
    """What a person reads who comes to a project by a panel; made where there is none yet."""
    return _text_in(project_owner(project), languages, project.language, [])


def _text_in(owner: Owner, wanted: list[str], own: str, offered: list[str]) -> ConsentText:
    """The text in the first language that is wanted and on offer, else that of the link or owner."""
    by_language = texts_of(owner)
    # What people wrote differs from the catalogues' text, so the two are never shown side by side.
    is_written = any(not _is_first(text) for text in by_language.values())
    there = [*by_language] if is_written else [own, *(code for code, _ in LANGUAGES)]
    some = [tag for tag in there if first_language([tag], offered)] if offered else there
    language = first_language([*wanted, *offered, own], some) or next(iter(some or there))
    text, first = by_language.get(language), first_values(language)
    if text is not None and (is_written or _has(text, first)):
        return text
    return save_text(owner=owner, values=first, actor=None, language=language)


def _is_first(text: ConsentText) -> bool:
    """The catalogues' text, or its English under another language, as earlier versions stored it."""
    return any(_has(text, values) for values in (first_values(text.language), first_values()))


def _has(text: ConsentText, first: dict[str, Any]) -> bool:
    """The text says this and nothing else."""
    same = all(getattr(text, name) == _stored(value) for name, value in first.items())
    return same and not (text.protocol_number or text.contact)


def own_kinds() -> list[str]:
    """Which texts the installation itself has: terms, privacy."""
    return [kind for kind in (Kind.TERMS, Kind.PRIVACY) if newest_text(None, kind)]


def first_values(language: str = "en") -> dict[str, Any]:
    """What the form of an owner's first consent text holds; English where we have no such language."""
    with translation.override(catalogue_language(language)):
        return {
            "body": gettext(FIRST_TEXT),
            "what_is_kept": gettext(_FIRST_KEPT),
            "right_to_withdraw": gettext(_FIRST_RIGHT),
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
