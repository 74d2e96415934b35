"""Comments of judges in a release: brought in after the privacy check has read them, else not there."""

import csv
import json

import pytest
from django.db import DEFAULT_DB_ALIAS
from django.urls import reverse

from core.projects.services import set_role
from judgments.models import Judgment
from releases import build
from releases.errors import ReleaseError
from releases.manifest import verify
from releases.models import PrivacyFinding
from releases.options import COMMENTS, OPTIONAL, Options
from releases.privacy import accept_findings, check_project, redact_findings, refuse_unread_comments
from releases.row_reader import tables_of
from releases.scope import scope_of
from tests.cases import apart
from tests.releases.test_building import built
from tests.releases.test_consents import agree
from tests.releases.world import JUDGES, THEN

pytestmark = pytest.mark.django_db
FORMATS = ("jsonl", "csv", "parquet")


def comment(world, name, text):
    Judgment.objects.filter(pk=world.judgments[name].pk).update(comment=text)


@pytest.fixture
def world(made_world):
    comment(made_world, "alpha/q1/AJ1", "Too short, and =wrong")
    comment(made_world, "beta/q1/AJ2", "Ask ann@example.org\nor me")
    return made_world


def comments(folder, table="ratings"):
    rows = [
        json.loads(line) for line in (folder / f"jsonl/{table}-train.jsonl").read_text("utf-8").splitlines()
    ]
    return sorted(row["comment"] for row in rows if row["comment"])


@pytest.mark.parametrize("consents", [False, True])
def test_comments_go_in_with_what_was_blacked_out_and_are_documented(world, tmp_path, consents):
    if consents:
        agree(world, JUDGES[0], 1, THEN)
    check_project(project=world.project)
    found = PrivacyFinding.objects.get(rule="email")
    assert found.subject == f"judgment:{world.judgments['beta/q1/AJ2'].pk}"
    redact_findings(findings=PrivacyFinding.objects.filter(pk=found.pk), actor=None)
    accept_findings(findings=PrivacyFinding.objects.filter(state="open"), reason="Fine.", actor=None)
    folder = tmp_path / "release"
    done = built(world, folder, Options(formats=FORMATS, include=(COMMENTS,)))

    black = "Ask " + "\u2588" * len("ann@example.org") + "\nor me"
    assert comments(folder) == [black, "Too short, and =wrong"]
    with (folder / "csv/ratings-train.csv").open(newline="", encoding="utf-8") as file:
        assert sorted(filter(None, (row["comment"] for row in csv.DictReader(file)))) == comments(folder)
    import pyarrow.parquet as pq

    read = pq.read_table(folder / "parquet/ratings-train.parquet")
    assert sorted(filter(None, read["comment"].to_pylist())) == comments(folder)
    assert read.schema.names[-1] == ("consent" if consents else "comment")
    assert done.manifest["parameters"]["brought_in"] == {COMMENTS: 2}
    card = (folder / "README.md").read_text("utf-8")
    assert "| `comment` | text | What the judge wrote beside the score; empty: nothing. |" in card
    assert "What judges wrote" not in card
    assert "not accepted:" not in card
    assert not verify(folder).problems


def test_without_the_choice_or_without_comments_there_is_no_such_column(world, subtests):
    for include in [(), OPTIONAL]:
        with apart(subtests, include=include):
            if include:
                Judgment.objects.update(comment="")
            tables = tables_of(scope_of(world.project, Options(include=include), DEFAULT_DB_ALIAS))
            assert "comment" not in tables["ratings"].table.names


def test_comments_that_the_check_has_not_read_do_not_go_in(world, tmp_path):
    with pytest.raises(ReleaseError, match="has not read"):
        refuse_unread_comments(world.project, DEFAULT_DB_ALIAS)
    check_project(project=world.project)
    accept_findings(findings=PrivacyFinding.objects.filter(state="open"), reason="Fine.", actor=None)
    options = Options(formats=("jsonl",), include=(COMMENTS,))
    planned = build.plan_release(project=world.project, options=options)
    newest = world.judgments[max(world.judgments, key=lambda name: world.judgments[name].pk)]
    Judgment.objects.filter(pk=newest.pk).update(comment="One more")
    with pytest.raises(ReleaseError, match="leave the comments out"):
        build.build(planned, folder=tmp_path / "release")
    with pytest.raises(ReleaseError, match="leave the comments out"):
        build.plan_release(project=world.project, options=options)


def test_pages_offer_the_comments_and_lead_from_a_finding_to_its_answer(world, client, admin_user):
    set_role(project=world.project, user=admin_user, role="owner")
    client.force_login(admin_user)
    check_project(project=world.project)
    page = client.get(reverse("releases:content", args=[world.project.slug])).content.decode()
    assert "Comments of judges" in page
    page = client.get(reverse("releases:privacy", args=[world.project.slug])).content.decode()
    assert "Comment of a judge" in page
    assert reverse("judgments:candidate", args=[world.project.slug, world.candidates["beta/q1"].pk]) in page
