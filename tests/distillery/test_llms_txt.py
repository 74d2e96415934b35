"""The file llms.txt: the same on the site and in the repository, in its format, and no link leads nowhere."""

import re

from core.api.models import Scope
from tests.repository import ROOT, find_anchors

TEXT = (ROOT / "docs/llms.txt").read_text(encoding="utf-8")
LINKS = re.findall(r"^- \[[^\]]+\]\(([^)]+)\): \S", TEXT, flags=re.MULTILINE)


def test_visitors_get_the_file_of_the_repository(client):
    answer = client.get("/llms.txt")
    assert (answer.status_code, answer["Content-Type"]) == (200, "text/plain; charset=utf-8")
    assert answer.content.decode() == TEXT


def test_it_has_a_title_a_summary_and_lists_of_links():
    title, _, summary = TEXT.splitlines()[:3]
    assert title == "# Distillery"
    assert summary.startswith("> Distillery collects")
    lists = [block for part in TEXT.split("\n## ")[1:] for block in part.strip().split("\n")[2:]]
    assert lists and all(re.match(r"- \[[^\]]+\]\([^)]+\): ", line) for line in lists)
    assert len(lists) == len(LINKS)


def test_it_names_every_scope_of_a_token():
    assert re.findall(r"scopes go: (.+?)\. None", TEXT) == [", ".join(f"`{scope}`" for scope in Scope.values)]


def test_every_link_leads_to_a_file_or_to_an_address(client, db):
    files = [link for link in LINKS if not link.startswith("/")]
    for page, _, anchor in (link.partition("#") for link in files):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        assert not anchor or anchor in find_anchors(text), f"{page} has no part {anchor}"
    found = {link: client.get(link).status_code for link in LINKS if link.startswith("/")}
    # A visitor is asked to sign in before the page of tokens.
    assert found.pop("/desk/settings/") == 302
    assert set(found.values()) == {200}
