"""Every address of the installation, tried by everybody with every method, against what is declared.

The addresses come from the resolver. One that `tests/access/expectations.py` does not name fails here.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.test import Client, override_settings
from django.urls import reverse
from pytest_django import DjangoDbBlocker, Settings

from core.projects.services import remove_member, set_role
from tests.access.addresses import Address, addresses, admin_addresses, draw_no_refusals
from tests.access.expectations import (
    ACT,
    BY_CREDENTIAL,
    FORM_AGAIN,
    LEADING,
    LED_ON,
    LOGGED,
    LOOK,
    NOT_THERE,
    PEOPLE,
    RULES,
    SHOWN,
    SHOWN_AGAIN,
    WRONG_METHOD,
    Rule,
)
from tests.access.world import Place, make_people, make_place, worker_site
from tests.scale import TEST_ALL
from tests.statements import is_write

_PARTS = 4
#: Who also asks by HEAD, which draws the page once more for those who are shown it.
_ALSO_HEAD = {"anonymous", "stranger", "viewer"} if TEST_ALL else {"stranger"}
#: Who is asked where all get the same: visitors, and one of each kind of account.
_ONE_OF_A_KIND = PEOPLE if TEST_ALL else ("anonymous", "stranger", "worker", "staff", "owner")
#: Sessions keep what pages said to somebody; they are nobody's data.
_NOT_LOOKED_AT = {"sessions", "contenttypes", "axes"}


@dataclass
class World:
    """Two projects, browsers of everybody, and the values of the parts of addresses."""

    mine: Place
    theirs: Place
    site: dict[str, dict[str, object]]
    browsers: dict[str, Client]
    users: dict[str, User]

    def path(self, address: Address, place: Place | None = None) -> str:
        """Where an address is in a project, mine unless named."""
        room = address.name.partition(":")[0]
        shared = {**self.site.get(room, {}), **self.site.get(address.name, {})}
        return address.path({**shared, **(place or self.mine).values(address.name)})

    def ask(self, who: str, method: str, path: str, form: dict[str, str] | None = None) -> "Answer":
        """What somebody gets."""
        browser = self.browsers[who]
        got = browser.post(path, form) if form else browser.generic(method, path)
        b"".join(got.streaming_content) if got.streaming else got.content
        return Answer(who, method, path, got.status_code, got.headers.get("Location", ""))


@dataclass(frozen=True)
class Answer:
    """What somebody got at an address."""

    who: str
    method: str
    path: str
    status: int
    location: str

    def __str__(self) -> str:
        return f"{self.method} {self.path} by {self.who}: {self.status} {self.location}"


@dataclass
class Rows:
    """What all tests of this file look at."""

    mine: Place
    theirs: Place
    site: dict[str, dict[str, object]]
    users: dict[str, User]


@pytest.fixture(scope="module")
def rows(
    django_db_setup: None, django_db_blocker: DjangoDbBlocker, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rows]:
    """Made once, in seconds; its model stays out of the folder that other tests look into."""
    models = tmp_path_factory.mktemp("models")
    with override_settings(METRIC_MODELS=models), django_db_blocker.unblock(), transaction.atomic():
        users = make_people()
        members = {role: users[role] for role in ("manager", "viewer")}
        mine = make_place("mine", users["owner"], members, first=0)
        theirs = make_place("theirs", users["neighbour"], {}, first=50)
        users["former"] = User.objects.create_user("former")
        set_role(project=mine.project, user=users["former"], role="owner")
        remove_member(project=mine.project, user=users["former"])
        yield Rows(mine, theirs, worker_site(users["worker"]), users)
        transaction.set_rollback(True)


@pytest.fixture
def world(rows: Rows, db: None, settings: Settings) -> World:
    """With browsers of its own: some tests log people out."""
    settings.SECURITY_CONTACT = "mailto:security@example.org"
    browsers = {who: Client() for who in PEOPLE}
    for who, user in rows.users.items():
        browsers[who].force_login(user)
    return World(rows.mine, rows.theirs, rows.site, browsers, rows.users)


def _plain(row: tuple[Any, ...]) -> list[Any]:
    """PostgreSQL gives bytes as a view, which is written as its address."""
    return [bytes(cell) if isinstance(cell, memoryview) else cell for cell in row]


def dump() -> dict[str, str]:
    """Every table but those of sessions, as one digest each."""
    return {
        model._meta.label: hashlib.sha256(
            repr([_plain(row) for row in model._base_manager.order_by("pk").values_list()]).encode()
        ).hexdigest()
        for model in apps.get_models()
        if model._meta.app_label not in _NOT_LOOKED_AT
    }


def changed(before: dict[str, str]) -> list[str]:
    """Names of the tables that are not as they were."""
    after = dump()
    return sorted(name for name in before if before[name] != after[name])


@contextmanager
def writing() -> Iterator[list[str]]:
    """Statements that would change a table, as they are asked for, but those of sessions."""
    asked: list[str] = []

    def look(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if is_write(sql) and "django_session" not in sql:
            asked.append(sql[:80])
        return execute(sql, params, many, context)

    with connection.execute_wrapper(look):
        yield asked


def ruled(part: int = 0, parts: int = 1) -> list[Address]:
    """The addresses with a rule, or one of several equal parts of them."""
    return [each for each in addresses() if each.name in RULES][part::parts]


def trying(rule: Rule, method: str) -> list[str]:
    """Who tries an address by a method: all, but for some who get what others get.

    A wrong method is refused before anybody is asked who they are. What is there for strangers is there for
    every account, and what viewers and owners are shown is there for managers, who are between them.
    """
    if TEST_ALL:
        return list(PEOPLE)
    if rule.expected("owner", method) == WRONG_METHOD:
        return ["anonymous", "owner"]
    if not rule.expected("stranger", method) & NOT_THERE:
        return [who for who in _ONE_OF_A_KIND if rule.least != "worker" or who != "owner"]
    if rule.expected("viewer", method) & {200}:
        return [who for who in PEOPLE if who not in ("manager", "neighbour")]
    return list(PEOPLE)


def looking(rule: Rule) -> Iterator[tuple[str, str]]:
    """Who looks at an address, and by which method."""
    for who in trying(rule, "GET"):
        yield who, "GET"
        if who in _ALSO_HEAD:
            yield who, "HEAD"


@pytest.fixture(autouse=True)
def _plain_refusals(monkeypatch: pytest.MonkeyPatch) -> None:
    draw_no_refusals(monkeypatch)


#: All people at all addresses take a minute or more; in parts no test comes near its longest time.
in_parts = pytest.mark.parametrize("part", range(_PARTS))
#: What is refused before anything is read is refused alike by both databases.
on_one_database = pytest.mark.only_on("sqlite")


def test_every_address_is_declared():
    names = {each.name for each in addresses()}
    missing = sorted(names - RULES.keys() - BY_CREDENTIAL.keys())
    assert not missing, f"Say in tests/access/expectations.py who may do what at: {', '.join(missing)}"
    assert sorted((RULES.keys() | BY_CREDENTIAL.keys()) - names) == []


@in_parts
def test_everybody_gets_what_is_declared_by_looking_and_nothing_changes(world, part):
    wrong: list[str] = []
    before = dump()
    for address in ruled(part, _PARTS):
        path = world.path(address)
        for who, method in looking(RULES[address.name]):
            with writing() as statements:
                got = world.ask(who, method, path)
            if address.name in LOGGED:
                noted = ("projects_event", "accounts_signedkey")
                statements = [sql for sql in statements if not any(table in sql for table in noted)]
            wrong += [f"{got} asks to {sql}" for sql in statements]
            expected = RULES[address.name].expected(who, method)
            if address.name in LEADING and expected == SHOWN:
                expected = frozenset({200, 302})
            if got.status not in expected or not _leads_well(got, address.name):
                wrong.append(f"{got}, not {sorted(expected)}")
    assert not wrong, "\n".join(wrong)
    assert set(changed(before)) <= {"projects.Event", "accounts.SignedKey"}


@on_one_database
@in_parts
def test_who_may_not_do_something_cannot_and_nothing_changes(world, part):
    wrong: list[str] = []
    before = dump()
    for address in ruled(part, _PARTS):
        path, rule = world.path(address), RULES[address.name]
        for who in trying(rule, "POST"):
            expected = rule.expected(who, "POST")
            if expected & {200}:
                continue
            with writing() as statements:
                got = world.ask(who, "POST", path)
            wrong += [f"{got} asks to {sql}" for sql in statements]
            if got.status not in expected or not _leads_well(got, address.name):
                wrong.append(f"{got}, not {sorted(expected)}")
    assert not wrong, "\n".join(wrong)
    assert changed(before) == []


@in_parts
def test_who_may_do_something_is_heard(world, part):
    """With a form that says nothing: done, or refused in words, but never "not there" and never an error."""
    wrong = []
    for address in ruled(part, _PARTS):
        rule = RULES[address.name]
        for who in trying(rule, "POST"):
            expected = rule.expected(who, "POST")
            if not expected & {200}:
                continue
            if rule.kind == ACT and address.name.startswith("desk:"):
                expected = FORM_AGAIN if address.name in SHOWN_AGAIN else LED_ON
            with transaction.atomic():
                got = world.ask(who, "POST", world.path(address), {"once": uuid4().hex})
                transaction.set_rollback(True)
            if address.name in ("accounts:logout", "accounts:login", "accounts:password_change"):
                world.browsers[who].logout()
                if who in world.users:
                    world.browsers[who].force_login(world.users[who])
            if got.status not in expected:
                wrong.append(f"{got}, not {sorted(expected)}")
    assert not wrong, "\n".join(wrong)


@on_one_database
def test_a_form_from_elsewhere_is_refused(world):
    """Without the token of the page nothing is done, whoever sends it."""
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(world.users["owner"])
    wrong, before = [], dump()
    for address in ruled():
        if RULES[address.name].kind != LOOK and not address.name.startswith("site:"):
            got = strict.post(world.path(address))
            if got.status_code != 403:
                wrong.append(f"{address.name}: {got.status_code}")
    assert not wrong, "\n".join(wrong)
    assert changed(before) == []


def test_what_belongs_to_another_project_is_not_there_under_my_project(world):
    """Each part of an address but the project's, one at a time, as it is in the other project."""
    wrong, before = [], dump()
    for address in ruled():
        mine, theirs = world.mine.values(address.name), world.theirs.values(address.name)
        if "project" not in address.parts or address.name == "annotation:following":
            continue
        method = "POST" if RULES[address.name].kind == ACT else "GET"
        for part in set(address.parts) - {"project", "queue", "figure", "plot", "form", "path", "action"}:
            assert mine[part] != theirs[part], (address.name, part)
            got = world.ask("owner", method, address.path({**mine, part: theirs[part]}))
            if got.status != 404:
                wrong.append(f"{got}, with {part} of the other project")
    assert not wrong, "\n".join(wrong)
    assert changed(before) == []


def test_no_member_of_my_project_finds_anything_of_another(world):
    wrong, before = [], dump()
    for address in ruled():
        if address.name.startswith(("public_releases:", "leaderboards:")):
            continue
        if "project" in address.parts or address.name == "desk:see_notice":
            method = "POST" if RULES[address.name].kind == ACT else "GET"
            got = world.ask("owner", method, world.path(address, world.theirs))
            if got.status != 404:
                wrong.append(str(got))
    assert not wrong, "\n".join(wrong)
    assert changed(before) == []


@on_one_database
def test_addresses_with_credentials_of_their_own_do_not_care_who_is_logged_in(world):
    wrong, before = [], dump()
    for address in addresses():
        if address.name not in BY_CREDENTIAL:
            continue
        path = _with_credential(world, address)
        for who in _ONE_OF_A_KIND:
            for method, expected in zip(("GET", "POST"), BY_CREDENTIAL[address.name], strict=True):
                got = world.ask(who, method, path)
                if who == "worker" and address.name in ("site:signup", "site:invitation"):
                    continue
                if got.status != expected:
                    wrong.append(f"{got}, not {expected}")
    assert not wrong, "\n".join(wrong)
    assert set(changed(before)) <= {"accounts.FailedTries"}


@on_one_database
def test_djangos_admin_is_for_staff_with_rights(world):
    """Others are sent to its log-in; staff without rights see its first page and nothing of the data."""
    wrong, before = [], dump()
    open_to_all = {"admin:login", "admin:logout", "admin:password_change"}
    for address in admin_addresses():
        if address.name in open_to_all:
            continue
        path = address.path({"app_label": "auth", **dict.fromkeys({*address.parts} - {"app_label"}, "1")})
        for who, method in (("anonymous", "GET"), ("owner", "POST"), ("staff", "GET"), ("staff", "POST")):
            got = world.ask(who, method, path)
            away = got.status == 302 and got.location.startswith(("/admin/login/", "/accounts/login/"))
            fine = got.status in (200, 302, 403, 404, 405) if who == "staff" else away
            if address.name.endswith(("_changelist", "_add", "_change", "_delete", "_history")):
                fine = fine and got.status != 200
            if not fine:
                wrong.append(str(got))
    assert not wrong, "\n".join(wrong)
    assert changed(before) == []


def _with_credential(world: World, address: Address) -> str:
    if address.name.endswith("-submit"):
        return "/s/none/mturk/externalSubmit" if address.parts else "/mturk/externalSubmit"
    if address.name in ("batch-frame", "signed-task", "signed-preview", "signed-upload", "lent-file"):
        return reverse(address.name, args=["none"])
    return world.path(address)


def _leads_well(got: Answer, name: str) -> bool:
    """Visitors who are sent away are sent to log in."""
    away = got.who == "anonymous" and got.status == 302 and name not in LEADING
    return not away or got.location.startswith("/accounts/login/")
