"""A database of every released version comes to the present one with its data, and is as a new one."""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.urls import Resolver404, resolve

from core.accounts.models import PasswordState
from core.crypto import unseal
from crowd.models import Endpoint
from distillery import checks
from distillery.version import VERSION
from marketplace.models import AccessKey
from tests.upgrades.conftest import read_rows, versions
from tests.upgrades.fill import LEFT_EMPTY
from tests.upgrades.landed import UNRELEASED, read_landed

#: What people said, did and were paid: no upgrade changes a word or a cent of it.
KEPT_AS_IT_IS = (
    "annotation_answer",
    "annotation_screeningvote",
    "crowd_ledgerentry",
    "judgments_judgment",
    "marketplace_ledgerentry",
    "poll_vote",
    "projects_event",
    "projects_project",
    "retrieval_passage",
)
#: Files of releases and evaluations lie beside the database, not in its dump.
NOT_PAGES = {"accounts:logout", "evaluations:file", "releases:archive", "releases:file"}
POSTGRES_SCHEMA = (
    "SELECT table_name || '.' || column_name, data_type || coalesce(character_maximum_length::text, '') "
    "|| is_nullable || coalesce(column_default, '') || is_identity FROM information_schema.columns "
    "WHERE table_schema = 'public'",
    "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE connamespace = 'public'::regnamespace",
    "SELECT tgrelid::regclass || '.' || tgname, pg_get_triggerdef(oid) FROM pg_trigger "
    "WHERE NOT tgisinternal",
    "SELECT 'function ' || proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace",
)
#: A condition with IN, as PostgreSQL shows it where a migration made it; after a dump its form is another.
CAST_AS_A_WHOLE = re.compile(r"\(ARRAY\[((?:'[^']*'::character varying(?:, )?)+)\]\)::text\[\]")


def cast_one_by_one(definition: str) -> str:
    """The definition in the form that it has after a dump."""
    return CAST_AS_A_WHOLE.sub(
        lambda found: f"ARRAY[{', '.join(f'({each})::text' for each in found[1].split(', '))}]", definition
    )


def describe_schema() -> dict[str, object]:
    """Columns, indexes and constraints with all they say, but for the order of columns."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            described = {}
            for query in POSTGRES_SCHEMA:
                cursor.execute(query)
                described |= {name: cast_one_by_one(said) for name, said in cursor.fetchall()}
            return described
        cursor.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return {name: sorted(split_definitions(sql)) for name, sql in cursor.fetchall()}


def split_definitions(sql: str) -> list[str]:
    """A statement of CREATE in its parts: what stands between commas that are in no inner bracket."""
    parts, depth = [""], 0
    for letter in sql:
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 1:
            parts.append("")
        else:
            parts[-1] += letter
    return [re.sub(r"^CREATE TABLE \S+ \(|\)$", "", part.strip()) for part in parts]


def test_this_version_has_dumps_and_owns_no_migration_that_is_called_unreleased():
    released = {one.version for one in read_landed().values()} - {UNRELEASED}
    assert released <= set(versions()), "make version-dumps keeps a database of a version"
    assert VERSION in versions()


def test_its_tables_are_those_of_a_new_database(upgraded, fresh_schema):
    schema = describe_schema()
    assert schema.keys() == fresh_schema.keys()
    assert {name for name, said in schema.items() if said != fresh_schema[name]} == set()
    assert checks.migrations().level == "ok"


def test_every_table_held_rows_and_has_them_still(upgraded):
    empty = {table for table, rows in upgraded.before.items() if not rows}
    assert empty <= LEFT_EMPTY
    now = {table: len(read_rows(table)) for table in upgraded.before}
    assert {table for table, rows in upgraded.before.items() if now[table] < len(rows)} == set()


@pytest.mark.parametrize("table", KEPT_AS_IT_IS)
def test_what_people_said_and_were_paid_is_unchanged(upgraded, table):
    before = upgraded.before[table]
    columns = before[0].keys()
    now = [{name: value for name, value in row.items() if name in columns} for row in read_rows(table)]
    assert now == before


def test_links_lead_somewhere(upgraded):
    connection.check_constraints()


def test_secrets_can_be_opened(upgraded):
    [key] = AccessKey.objects.all()
    assert unseal(key.secret_sealed, purpose="marketplace.requester")
    [endpoint] = Endpoint.objects.all()
    assert unseal(endpoint.secret_sealed, purpose="crowd.endpoint")


class Links(HTMLParser):
    """Collects what a page links to."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a" and (target := dict(attrs).get("href")):
            self.found.append(target)


def visit_one_of_each(client: Client) -> dict[str, int]:
    """Follow links from the first pages, once per view; the status of each."""
    waiting, statuses, found = ["/accounts/home/", "/desk/", "/requester/", "/"], {}, set()
    while waiting:
        address = waiting.pop(0)
        path = urlsplit(address).path
        if path in found:
            continue
        found.add(path)
        try:
            view = resolve(path).view_name
        except Resolver404:
            continue
        if view in statuses or view in NOT_PAGES:
            continue
        answer = client.get(address)
        answer.close()
        statuses[view] = answer.status_code
        if answer.status_code in (301, 302):
            waiting.append(urljoin(address, answer["Location"]))
        elif not answer.streaming and answer["Content-Type"].startswith("text/html"):
            links = Links()
            links.feed(answer.content.decode())
            waiting += [urljoin(address, link) for link in links.found if link.startswith(("/", "?"))]
    return statuses


@pytest.mark.only_on("sqlite")  # pages read the same rows on both
def test_pages_open(upgraded):
    statuses: dict[str, int] = {}
    PasswordState.objects.update(must_change=False)
    for user in User.objects.exclude(username="upgrade").order_by("pk"):
        client = Client()
        client.force_login(user)
        for view, status in visit_one_of_each(client).items():
            statuses[view] = min(statuses.get(view, status), status)
    assert len(statuses) > 60
    assert {view: status for view, status in statuses.items() if status not in (200, 302)} == {}
