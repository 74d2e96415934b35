"""Forms of pages as a browser sees them, and what mutations make of them before they are sent."""

import json
import random
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from unittest import mock
from urllib.parse import quote, quote_plus, urljoin, urlsplit

from django.core.cache import cache
from django.db import transaction
from django.http import QueryDict
from django.test import Client
from django.utils.datastructures import MultiValueDict
from lxml import html

from tests.robustness.files import mutated_file
from tests.robustness.fuzzing import ODD_JSON, ODD_TEXT, encoded, no_hang, odd_json

FORM = "application/x-www-form-urlencoded"
BOUNDARY = "fuzzed"
MULTIPART = f"multipart/form-data; boundary={BOUNDARY}"
_BY_TYPE = {
    "number": "3",
    "range": "3",
    "email": "a@example.org",
    "url": "https://example.org/",
    "date": "2026-11-22",
    "datetime-local": "2026-11-22T10:00",
    "time": "10:00",
    "color": "#aabbcc",
}


@dataclass
class WebForm:
    """Where a form goes, and what it says when a person fills it in well."""

    path: str
    method: str = "post"
    values: dict[str, list[str]] = field(default_factory=dict)
    choices: dict[str, list[str]] = field(default_factory=dict)
    files: list[str] = field(default_factory=list)


def forms_of(page: bytes, path: str) -> Iterator[WebForm]:
    """The forms of a page that is at `path`, with fields that stand elsewhere and name their form."""
    if not page.strip():
        return
    document = html.document_fromstring(page)
    for form in document.iter("form"):
        action = urlsplit(urljoin(path, form.get("action") or path)).path
        found = WebForm(action, (form.get("method") or "get").lower())
        outside = document.xpath("//*[@form=$name]", name=form.get("id")) if form.get("id") else []
        for control in (*form.iter("input", "select", "textarea", "button"), *outside):
            _add_control(found, control)
        yield found


def _add_control(form: WebForm, control: html.HtmlElement) -> None:
    name, kind = control.get("name"), (control.get("type") or "").lower()
    if not name:
        return
    if kind == "file":
        form.files.append(name)
    elif control.tag == "select":
        form.choices[name] = [option.get("value") or "" for option in control.iter("option")]
        chosen = [
            option.get("value") or "" for option in control.iter("option") if "selected" in option.attrib
        ]
        form.values[name] = chosen or form.choices[name][-1:]
    elif control.tag == "textarea":
        form.values[name] = [control.text or "Some words.\n"]
    elif kind in ("radio", "checkbox") or control.tag == "button":
        value = control.get("value") or "on"
        form.choices.setdefault(name, []).append(value)
        if "checked" in control.attrib or (kind == "radio" and name not in form.values):
            form.values[name] = [value]
    else:
        form.values[name] = [control.get("value") or _BY_TYPE.get(kind, "Some words")]


def odd_value(chance: random.Random, form: WebForm, name: str) -> str:
    """A value for a field: odd, or right for another field."""
    near = [*form.choices.get(name, ()), *(value for values in form.values.values() for value in values)]
    if near and chance.randrange(3) == 0:
        return chance.choice(near)
    return chance.choice(ODD_TEXT)


def mutated_fields(chance: random.Random, form: WebForm, names: Iterable[str] = ()) -> list[tuple[str, str]]:
    """The form's fields, with some of them changed; `names` are fields that the view looks for."""
    values = {name: list(given) for name, given in form.values.items()}
    others = sorted({*names, *form.choices} - values.keys())
    for name in others:
        if chance.randrange(3) == 0:
            values[name] = [odd_value(chance, form, name)]
    for _ in range(chance.randrange(4)):
        name = chance.choice([*values, *others, "no_such_field"])
        match chance.randrange(6):
            case 0:
                values.pop(name, None)
            case 1:
                values[name] = [*values.get(name, ()), odd_value(chance, form, name)]
            case 2:
                values[name] = [odd_value(chance, form, name) for _ in range(chance.choice([0, 2, 300]))]
            case _:
                values[name] = [odd_value(chance, form, name)]
    fields = [(name, value) for name, given in values.items() for value in given]
    if chance.randrange(10) == 0:
        chance.shuffle(fields)
    return fields


def mutated_path(chance: random.Random, path: str) -> str:
    """The path, one of its pieces sometimes something else."""
    if chance.randrange(6):
        return path
    pieces = path.split("/")
    pieces[chance.randrange(1, len(pieces))] = quote(encoded(chance.choice(ODD_TEXT))[:2000], safe="")
    return "/".join(pieces)


def urlencoded(fields: Iterable[tuple[str, str]]) -> bytes:
    """As a browser sends a form; halves of surrogates too."""
    return "&".join(f"{quote_plus(encoded(n))}={quote_plus(encoded(v))}" for n, v in fields).encode()


def multipart(
    chance: random.Random, fields: Iterable[tuple[str, str]], files: Iterable[str], whole: list[bytes]
) -> bytes:
    """As a browser sends a form with files; some of these are no files, or have odd names."""
    pieces = [_part(f'name="{_bare(name)}"', encoded(value)) for name, value in fields]
    for name in files:
        file_name = chance.choice(
            ["a.csv", "a.jsonl", "a.tsv.gz", "a.xlsx", "a.parquet", "", "é\0.txt", "a" * 300]
        )
        if chance.randrange(12):
            data = mutated_file(chance, whole) if chance.randrange(3) else chance.choice(whole)
            pieces.append(_part(f'name="{_bare(name)}"; filename="{file_name}"', data))
    return b"".join(pieces) + f"--{BOUNDARY}--\r\n".encode()


def odd_body(chance: random.Random, body: bytes) -> tuple[str, bytes]:
    """What is no form, or no whole one, and what its Content-Type calls it."""
    match chance.randrange(7):
        case 0:
            body = body[: chance.randrange(len(body) + 1)]
        case 1:
            body = chance.randbytes(chance.randrange(300))
        case 2:
            body = json_body(chance, {})
        case 3:
            at = chance.randrange(len(body) + 1)
            body = body[:at] + chance.randbytes(3) + body[at:]
        case 4:
            body = b"&".join(b"f%d=" % n for n in range(chance.choice([900, 12_000])))
        case _:
            pass
    kinds = [FORM, MULTIPART, "multipart/form-data", "application/json", "text/plain", "", "é/x"]
    kinds += [f"{FORM}; charset=utf-16", f"{FORM}; charset=zlib", "multipart/mixed; boundary=" + "b" * 300]
    return chance.choice(kinds), body


def json_body(chance: random.Random, base: dict[str, object]) -> bytes:
    """JSON of an object with mutated members, of something else, or of nothing whole."""
    value: object = dict(base)
    match chance.randrange(6):
        case 0:
            value = chance.choice(ODD_JSON)
        case 1:
            value = odd_json(chance)
        case _:
            for _ in range(chance.randrange(3)):
                name = chance.choice([*([*base] * 40), *ODD_TEXT])
                value[name] = odd_json(chance)  # type: ignore[index]
    body = json.dumps(value).encode()
    return body[: chance.randrange(len(body) + 1)] if chance.randrange(8) == 0 else body


def _bare(name: str) -> str:
    return name.replace('"', "%22").replace("\r", "").replace("\n", "")


def _part(disposition: str, data: bytes) -> bytes:
    head = f"--{BOUNDARY}\r\nContent-Disposition: form-data; {disposition}\r\n\r\n"
    return head.encode("utf-8", "surrogatepass") + data + b"\r\n"


@contextmanager
def names_asked() -> Iterator[set[str]]:
    """Names that views look for in forms and queries meanwhile: fields of a new page are found by this."""
    asked: set[str] = set()
    item, several, contains = MultiValueDict.__getitem__, MultiValueDict._getlist, MultiValueDict.__contains__

    def note(data: object, name: object) -> None:
        if isinstance(data, QueryDict) and isinstance(name, str):
            asked.add(name)

    def noted_item(self: Any, key: str) -> Any:
        note(self, key)
        return item(self, key)

    def noted_list(self: Any, key: str, *more: Any, **named: Any) -> Any:
        note(self, key)
        return several(self, key, *more, **named)

    def noted_contains(self: Any, key: str) -> bool:
        note(self, key)
        return contains(self, key)

    with (
        mock.patch.object(MultiValueDict, "__getitem__", noted_item),
        mock.patch.object(MultiValueDict, "_getlist", noted_list),
        mock.patch.object(MultiValueDict, "__contains__", noted_contains),
    ):
        yield asked


class Sender:
    """Sends requests in this process, undoes their effects, and keeps what went wrong."""

    def __init__(self) -> None:
        self.faults: list[str] = []

    def send(
        self, client: Client, method: str, path: str, body: bytes = b"", kind: str = FORM, **more: Any
    ) -> Any:
        """One request; a fault is noted."""
        client.raise_request_exception = False
        cookies = client.cookies.copy()
        cache.clear()
        case = f"{method} {path[:1500]} with {kind[:100]} {body[:1500]!r} {more or ''}"
        with no_hang(case), transaction.atomic():
            got = client.generic(method, path, body, kind, **more)
            b"".join(got.streaming_content) if got.streaming else got.content
            transaction.set_rollback(True)
        client.cookies = cookies
        if got.status_code >= 500:
            trace = "".join(traceback.format_exception(*got.exc_info)[-5:]) if got.exc_info else ""
            self.faults.append(f"{case}: {got.status_code}\n{trace[-2500:]}")
        return got
