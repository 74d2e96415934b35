"""Mutated forms, files, queries and addresses at every page of the installation: no fault, no hang.

The addresses come from the resolver. The fields come from the forms that the pages show and from what the
views look for, so that a new page is tried without being named here. Cases are counted, not timed, and each
is made from the seed alone.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote_plus

import pytest
from django.db import connection
from django.urls import Resolver404, resolve

from tests.access.addresses import Address, addresses
from tests.robustness.files import whole_files
from tests.robustness.fuzzing import encoded, random_for, repeat
from tests.robustness.webforms import (
    FORM,
    MULTIPART,
    Sender,
    WebForm,
    forms_of,
    json_body,
    multipart,
    mutated_fields,
    mutated_path,
    names_asked,
    odd_body,
    urlencoded,
)
from tests.scale import TEST_ALL, limit_cases
from tests.test_access_matrix import World, _with_credential, rows, world

__all__ = ["rows", "world"]
pytestmark = pytest.mark.django_db

#: Of each address: posts, and openings with a mutated query. PostgreSQL refuses more of what is sent.
POSTS, LOOKS = limit_cases(6 if connection.vendor == "postgresql" else 3, least=1), 1
#: Who tries: from a project, from the marketplace's office, from its worker site, and from the street.
PEOPLE = ("owner", "staff", "worker", "anonymous")
#: Of the addresses of an area, one in so many; `make test-all` tries each.
ONE_IN = 1 if TEST_ALL else 4
AREAS = [*sorted({each.name.rpartition(":")[0] for each in addresses()})]


@dataclass
class Target:
    """An address, who is heard there, and the forms that lead to it."""

    address: Address
    path: str
    who: str = "anonymous"
    methods: set[str] = field(default_factory=set)
    forms: list[WebForm] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)


class Fuzzer(Sender):
    """People of the two projects and their browsers."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world

    def ask(self, who: str, *request: Any) -> Any:
        """One request of somebody."""
        return self.send(self.world.browsers[who], *request)


def addresses_of(area: str) -> list[Address]:
    """The addresses whose names begin with this name of an app."""
    return [each for each in addresses() if each.name.rpartition(":")[0] == area]


def targets_of(fuzzer: Fuzzer, area: str) -> list[Target]:
    """Addresses of an area with those who are heard there, by which method."""
    chosen = [Target(each, _with_credential(fuzzer.world, each)) for each in addresses_of(area)[::ONE_IN]]
    for target in chosen:
        heard = (who for who in PEOPLE if _is_heard(fuzzer, target, who, chosen))
        target.who = next(heard, "anonymous")
    return chosen


def _is_heard(fuzzer: Fuzzer, target: Target, who: str, targets: list[Target]) -> bool:
    """Whether somebody may do more at an address than read a refusal; notes what there is to fill in."""
    for method in ("POST", "GET"):
        with names_asked() as asked:
            got = fuzzer.ask(who, method, target.path)
        away = got.status_code == 302 and "login" in got.headers.get("Location", "")
        if got.status_code in (401, 403, 404) or away:
            continue
        target.fields |= asked
        if got.status_code != 405:
            target.methods.add(method)
        if got.status_code == 200 and got.headers.get("Content-Type", "").startswith("text/html"):
            _note_forms(targets, got.content, target.path)
    return bool(target.methods)


def _note_forms(targets: list[Target], page: bytes, path: str) -> None:
    for form in forms_of(page, path):
        try:
            name = resolve(form.path).view_name
        except Resolver404:
            continue
        for target in targets:
            if target.address.name == name and len(target.forms) < 6 and form not in target.forms:
                target.forms.append(form)


def _somebody(chance: random.Random, target: Target) -> str:
    return target.who if chance.randrange(8) else chance.choice(PEOPLE)


def cases(seed: int, target: Target, whole: list[bytes]) -> Iterator[tuple[str, str, str, bytes, str]]:
    """Who sends what: method, path, body and its type."""
    for number in range(POSTS if "POST" in target.methods else 1):
        chance = random_for(seed, target.address.name, "POST", number)
        form = chance.choice(target.forms) if target.forms else WebForm(target.path)
        fields = mutated_fields(chance, form, target.fields)
        files = form.files
        body, kind = urlencoded(fields), FORM
        if files or chance.randrange(10) == 0:
            body, kind = multipart(chance, fields, files, whole), MULTIPART
        match chance.randrange(10):
            case 0:
                kind, body = odd_body(chance, body)
            case 1:
                body, kind = json_body(chance, dict(fields)), "application/json"
        yield _somebody(chance, target), "POST", mutated_path(chance, form.path), body, kind
    for number in range(LOOKS if "GET" in target.methods else 1):
        chance = random_for(seed, target.address.name, "GET", number)
        form = WebForm(target.path)
        asking = [each for each in target.forms if each.method == "get"]
        fields = mutated_fields(chance, chance.choice(asking) if asking else form, target.fields)
        query = "&".join(f"{quote_plus(encoded(n))}={quote_plus(encoded(v)[:3000])}" for n, v in fields)
        path = mutated_path(chance, target.path)
        yield _somebody(chance, target), "GET", f"{path}?{query}", b"", ""


@pytest.mark.parametrize("area", AREAS)
def test_no_page_breaks_on_mutated_forms(world: World, seed: int, area: str) -> None:
    fuzzer, whole = Fuzzer(world), whole_files()
    for target in targets_of(fuzzer, area):
        for who, method, path, body, kind in cases(seed, target, whole):
            with names_asked() as asked:
                fuzzer.ask(who, method, path, body, kind)
            target.fields |= asked
    assert not fuzzer.faults, "\n\n".join([repeat(seed), *fuzzer.faults])
