"""Words of an e-mail about notices: plain text, one line per notice, with the page where it is mended."""

import unicodedata
from collections.abc import Sequence

from django.contrib.auth.models import User
from django.urls import reverse

from core.notices.models import Notice

_LONGEST_SUBJECT = 120


def one_line(text: str) -> str:
    """Text of people without line breaks and control characters, so that it stays one line of a header."""
    shown = "".join(" " if unicodedata.category(each) in ("Cc", "Cf", "Zl", "Zp") else each for each in text)
    return " ".join(shown.split())


def subject(notices: Sequence[Notice]) -> str:
    """The sentence of one notice, or how many there are, with the project where it is one."""
    titles = {notice.project.title if notice.project else "Distillery" for notice in notices}
    about = one_line(titles.pop()) if len(titles) == 1 else "Distillery"
    words = one_line(notices[0].sentence) if len(notices) == 1 else f"{len(notices)} notices"
    line = f"{about}: {words}"
    return line if len(line) <= _LONGEST_SUBJECT else f"{line[: _LONGEST_SUBJECT - 1]}…"


def body(notices: Sequence[Notice], person: User, *, base: str) -> str:
    """The whole letter; without a public address of the installation, pages are named by their paths."""
    lines = [f"Hello {one_line(person.get_username())},", ""]
    before: tuple[str, int] | None = None
    for notice in sorted(notices, key=_place):
        if _place(notice)[:2] != before:
            project = notice.project
            about = f"In the project {one_line(project.title)}:" if project else "About the installation:"
            lines += [about, ""]
            before = _place(notice)[:2]
        lines.append(f"- {one_line(notice.sentence)}")
        if notice.address:
            lines.append(f"  {base}{notice.address}")
        lines.append("")
    wishes = {notice.project.slug for notice in notices if notice.project}
    if wishes:
        lines.append("You get this because you are a member. Choose which notices are sent to you here:")
        lines += [f"{base}{reverse('desk:project_notices', args=[slug])}" for slug in sorted(wishes)]
    else:
        lines.append("You get this because you are a superuser of this installation.")
    return "\n".join([*lines, ""])


def _place(notice: Notice) -> tuple[str, int, int]:
    """Notices about the installation come first, then project by project."""
    return (notice.project.title if notice.project else "", notice.project_id or 0, notice.pk)
