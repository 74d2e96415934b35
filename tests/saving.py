"""Saving a form as a browser does: opened first, and sent with what the page showed of the row."""

import html
import re
from typing import Any

_FORM = re.compile(r"(<form[^>]*>)(.*?)</form>", re.DOTALL)
_MARK = re.compile(r'name="revision" value="([^"]*)"')


def revision(client: Any, page: str, *, to: str = "") -> dict[str, str]:
    """The hidden field of the form on a page that sends to the address `to`, or to the page itself."""
    forms = _FORM.findall(client.get(page).content.decode())
    aimed = [form for tag, form in forms if (f'action="{to}"' in tag if to else "action=" not in tag)]
    marks = (_MARK.search(form) for form in aimed)
    return next(({"revision": mark[1]} for mark in marks if mark), {})


def save(client: Any, page: str, data: dict[str, Any], *, to: str = "", **options: Any) -> Any:
    """Open a page, and send its form filled in so."""
    return client.post(to or page, {**data, **revision(client, page, to=to)}, **options)


def versions(answer) -> dict[str, tuple[str, str]]:
    """The comparison on a page: by field, mine and theirs."""
    rows = re.findall(
        r'<th scope="row">(.*?)</th>\s*<td><pre[^>]*>(.*?)</pre></td><td><pre[^>]*>(.*?)</pre>',
        answer.content.decode(),
        re.DOTALL,
    )
    return {re.sub("<[^>]+>", "", name): (html.unescape(a), html.unescape(b)) for name, a, b in rows}


def messages_of(answer: Any) -> list[str]:
    """The notes at the top of a page, without the button of those that can be undone."""
    return [
        message.partition("<form")[0].strip().removeprefix("<span>").removesuffix("</span>")
        for message in map(str, answer.context["messages"])
    ]


def undo_button(page: Any) -> tuple[str, dict[str, list[str]]]:
    """Where the button of a page that undoes sends to, and what."""
    form = re.search(r'<form class="undo".*?</form>', page.content.decode(), re.DOTALL)
    assert form is not None
    fields: dict[str, list[str]] = {}
    for name, value in re.findall('name="([^"]*)" value="([^"]*)"', form[0]):
        fields.setdefault(name, []).append(value)
    address = re.search('action="([^"]*)"', form[0])
    assert address is not None
    return html.unescape(address[1]), fields
