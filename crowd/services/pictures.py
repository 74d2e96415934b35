"""Pictures in instructions, and the instructions that show them: Markdown without HTML.

`![What it shows](name.png)` shows the project's picture of that name. Of any other only the words are shown:
a page loads nothing from elsewhere.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape, format_html, linebreaks
from django.utils.safestring import SafeString
from django.utils.text import slugify

from core.projects.models import Project
from core.projects.services import record, why_read_only
from crowd.errors import CrowdError
from crowd.kinds import config_of, kind_of
from crowd.models import Picture, Stage

if TYPE_CHECKING:
    from markdown_it import MarkdownIt

MOST_BYTES = 500_000
MOST_PICTURES = 100
#: How files begin, and what they are.
_TYPES: tuple[tuple[re.Pattern[bytes], str, tuple[str, ...]], ...] = (
    (re.compile(rb"\x89PNG\r\n\x1a\n"), "image/png", (".png",)),
    (re.compile(rb"\xff\xd8\xff"), "image/jpeg", (".jpg", ".jpeg")),
    (re.compile(rb"GIF8[79]a"), "image/gif", (".gif",)),
    (re.compile(rb"RIFF....WEBP", re.DOTALL), "image/webp", (".webp",)),
)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def add_picture(*, project: Project, name: str, content: bytes, actor: Any = None) -> Picture:
    """Keep a picture under its file's name, or a plain form of it; one that is there already is returned.

    Raises CrowdError where it is no picture, too large, or another one has its name.
    """
    kind = next((each for each in _TYPES if each[0].match(content)), None)
    if kind is None:
        raise CrowdError(f"{name} is no picture that pages can show: take PNG, JPEG, GIF or WebP.")
    _, media_type, suffixes = kind
    if len(content) > MOST_BYTES:
        raise CrowdError(
            f"{name} has {len(content) // 1000:,} kB; the most is {MOST_BYTES // 1000} kB. Scale it down."
        )
    if not _NAME.fullmatch(name) or PurePath(name).suffix not in suffixes:
        name = (slugify(PurePath(name).stem)[:60] or "picture") + suffixes[0]
    picture = Picture(
        project=project,
        name=name,
        media_type=media_type,
        content=content,
        sha256=hashlib.sha256(content).hexdigest(),
        added_at=timezone.now(),
        added_by=actor,
    )
    with transaction.atomic():
        _check_writable(Project.objects.select_for_update().get(pk=project.pk))
        present = {each.name: each for each in Picture.objects.filter(project=project).defer("content")}
        other = present.get(picture.name)
        if other is not None and other.sha256 == picture.sha256:
            return other
        if other is not None:
            raise CrowdError(f"The project has another picture called {other.name}. Rename the file.")
        if len(present) >= MOST_PICTURES:
            raise CrowdError(f"A project has at most {MOST_PICTURES} pictures. Remove some in its settings.")
        picture.save()
        record(
            project=project,
            action="picture.added",
            subject=picture.name,
            actor=actor,
            details={"sha256": picture.sha256},
        )
    return picture


@transaction.atomic
def remove_picture(*, picture: Picture, actor: Any = None) -> None:
    """Delete a picture. CrowdError where a stage's instructions show it, or nothing can change there."""
    _check_writable(picture.project)
    for stage in Stage.objects.filter(project=picture.project):
        if picture.name in pictures_of(stage):
            raise CrowdError(
                f"The instructions of {stage.title} show {picture.name}. Take it out there first."
            )
    record(project=picture.project, action="picture.removed", subject=picture.name, actor=actor)
    picture.delete()


def pictures_in(text: str) -> list[str]:
    """The names of the pictures that a text shows, in their order."""
    tokens = (child for token in _markdown().parse(text) for child in token.children or ())
    return list(dict.fromkeys(str(token.attrs["src"]) for token in tokens if token.type == "image"))


def missing_pictures(project: Project, names: Sequence[str]) -> list[str]:
    """Which of these pictures the project lacks."""
    present = Picture.objects.filter(project=project, name__in=names).values_list("name", flat=True)
    return [name for name in names if name not in present]


def take_pictures(*, stage: Stage, folder: Path, actor: Any = None) -> list[str]:
    """Take pictures that a stage's instructions show and its project lacks from a folder; list what it lacks.

    Raises CrowdError as `add_picture` does.
    """
    absent = []
    for name in missing_pictures(stage.project, pictures_of(stage)):
        file = folder / name
        if _NAME.fullmatch(name) and file.is_file():
            add_picture(project=stage.project, name=name, content=file.read_bytes(), actor=actor)
        else:
            absent.append(name)
    return absent


def _check_writable(project: Project) -> None:
    if why := why_read_only(project):
        raise CrowdError(why)


def pictures_of(stage: Stage) -> list[str]:
    """Names of pictures that a stage's instructions show, in any of its languages."""
    config = config_of(stage)
    if not config.markdown:
        return []
    texts = [
        getattr(config, "instructions", ""),
        *(getattr(each, "instructions", "") for each in config.texts.values()),
    ]
    return pictures_in("\n\n".join(filter(None, texts)))


def render_instructions(stage: Stage, text: str) -> SafeString:
    """A text of the stage's kind as HTML: of kinds that have Markdown with its pictures, else its lines."""
    if not kind_of(stage).config.markdown:
        return SafeString(linebreaks(text, autoescape=True))
    rows = Picture.objects.filter(project=stage.project_id, name__in=pictures_in(text))
    addresses = {name: address_of(name, sha256) for name, sha256 in rows.values_list("name", "sha256")}
    return SafeString(_markdown().render(text, {"addresses": addresses}))


def address_of(name: str, sha256: str) -> str:
    """Where a browser gets a picture: an address that only those know who were shown it."""
    return reverse("crowd:picture", args=[sha256, name])


@cache
def _markdown() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.disable(["html_block", "html_inline"])
    parser.add_render_rule("image", _draw_image)
    parser.add_render_rule("link_open", _open_link)
    return parser


def _draw_image(
    renderer: Any, tokens: Sequence[Any], at: int, options: Any, context: Mapping[str, Any]
) -> str:
    token = tokens[at]
    words = renderer.renderInlineAsText(token.children or [], options, context)
    address = context.get("addresses", {}).get(token.attrs["src"])
    return format_html('<img src="{}" alt="{}">', address, words) if address else escape(words)


def _open_link(
    renderer: Any, tokens: Sequence[Any], at: int, options: Any, context: Mapping[str, Any]
) -> str:
    """In a window of its own: work that is begun stays open."""
    tokens[at].attrSet("target", "_blank")
    tokens[at].attrSet("rel", "noopener noreferrer")
    return str(renderer.renderToken(tokens, at, options, context))
