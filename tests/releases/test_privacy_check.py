"""The privacy check: findings are kept, decided by people, and found again when a text changes."""

from typing import Any

import pytest
from django.contrib.auth.models import User

from annotation.models import Answer
from core.projects.models import Event
from core.projects.services import create_project
from crowd.models import Worker
from judgments.models import Candidate
from releases import privacy as privacy_check
from releases.errors import ReleaseError
from releases.models import PrivacyFinding
from releases.privacy import accept_findings, check_project, redact_findings, reopen_findings
from releases.scope import Redactions
from tests.releases.world import World

pytestmark = pytest.mark.django_db


@pytest.fixture
def world(made_world: World) -> World:
    """A project with an address in an answer, and ids and numbers elsewhere."""
    say(made_world, "q1/AE2", "Write to jane@example.org.")
    return made_world


@pytest.fixture
def mara() -> User:
    return User.objects.create_user("mara")


def say(world: World, name: str, text: str) -> None:
    """Have an answer say something else; only tests can."""
    Answer.objects.filter(pk=world.answers[name].pk).update(text=text)


def findings(world: World, **some: Any) -> list[tuple[str, str, str, str]]:
    """Rule, subject by its name in the world, field, state."""
    names = {f"answer:{row.pk}": name for name, row in world.answers.items()}
    names |= {f"candidate:{row.pk}": name for name, row in world.candidates.items()}
    names |= {f"query:{row.pk}": name for name, row in world.queries.items()}
    names |= {f"stage:{row.pk}": name for name, row in world.stages.items()}
    rows = PrivacyFinding.objects.filter(project=world.project, **some).order_by("rule", "pk")
    return [(row.rule, names[row.subject], row.field, row.state) for row in rows]


def test_every_kind_of_text_that_a_release_holds_is_looked_at(world):
    query = world.queries["q1"]
    query.text, query.references = "who is ann@example.org", ["Nobody", "b@example.org"]
    query.context = [{"text": "call +44 20 7946 0958", "answer": "AE3 knows"}]
    query.save()
    Candidate.objects.filter(pk=world.candidates["beta/q2"].pk).update(text="see twitter.com/jane_doe")
    checked = check_project(project=world.project)
    assert findings(world) == [
        ("email", "q1", "text", "open"),
        ("email", "q1", "references.1", "open"),
        ("email", "q1/AE2", "text", "open"),
        ("phone", "q1", "context.0.text", "open"),
        ("profile", "beta/q2", "text", "open"),
        ("small-group", "distillation", "", "open"),
        ("worker-id", "q1", "context.0.answer", "open"),
    ]
    assert (checked.open, checked.counts["email"], checked.texts) == (7, {"open": 3}, 39)


def test_what_no_release_would_hold_is_not_looked_at(world):
    for key in ("q6", "q7", "q8"):
        world.queries[key].text = "who is ann@example.org"
        world.queries[key].save()
    say(world, "q3/AE3", "excluded: ann@example.org")
    say(world, "q3/AE4", "rejected: ann@example.org")
    check_project(project=world.project)
    assert findings(world, rule="email") == [("email", "q1/AE2", "text", "open")]


def test_few_people_are_a_small_group_and_simulated_workers_are_none(world):
    check_project(project=world.project)
    (group,) = PrivacyFinding.objects.filter(rule="small-group")
    assert group.excerpt.startswith(
        "All responses of “Distillation” that are from real people are from 4 people."
    )
    Worker.objects.update(simulated=True)
    check_project(project=world.project)
    assert findings(world, rule="small-group") == [("small-group", "distillation", "", "gone")]


def test_a_text_that_has_changed_is_found_anew(world, mara):
    check_project(project=world.project)
    accept_findings(findings=PrivacyFinding.objects.all(), reason="Fine.", actor=mara)
    say(world, "q1/AE2", "Write to anna@example.org.")
    check_project(project=world.project)
    assert findings(world, rule="email") == [("email", "q1/AE2", "text", "open")]
    accept_findings(findings=PrivacyFinding.objects.all(), reason="Fine.", actor=mara)
    say(world, "q1/AE2", "Write to jane@example.net.")
    check_project(project=world.project)
    assert findings(world, rule="email", state="open") == [("email", "q1/AE2", "text", "open")]


def test_what_is_no_longer_there_is_gone_and_open_when_it_comes_back(world, mara):
    check_project(project=world.project)
    accept_findings(findings=PrivacyFinding.objects.filter(rule="email"), reason="Fine.", actor=mara)
    say(world, "q1/AE2", "Paris")
    check_project(project=world.project)
    assert findings(world, rule="email") == [("email", "q1/AE2", "text", "gone")]
    say(world, "q1/AE2", "Write to jane@example.org.")
    check_project(project=world.project)
    assert findings(world, rule="email") == [("email", "q1/AE2", "text", "open")]
    assert PrivacyFinding.objects.get(rule="email").reason == ""


def test_findings_of_another_project_are_left_alone(world):
    check_project(project=world.project)
    other = create_project(slug="towns", title="Towns")
    PrivacyFinding.objects.update(project=other)
    check_project(project=world.project)
    assert findings(world, state="gone") == []
    assert PrivacyFinding.objects.filter(project=other, state="open").count() == 2


def test_accepting_needs_a_reason_and_a_small_group_cannot_be_blacked_out(world, mara):
    check_project(project=world.project)
    with pytest.raises(ReleaseError, match="Say why these may stay"):
        accept_findings(findings=PrivacyFinding.objects.all(), reason="  ", actor=mara)
    with pytest.raises(ReleaseError, match="at most 300 characters"):
        accept_findings(findings=PrivacyFinding.objects.all(), reason="x" * 301, actor=mara)
    assert redact_findings(findings=PrivacyFinding.objects.all(), actor=mara) == 1
    assert findings(world, state="open") == [("small-group", "distillation", "", "open")]


def test_every_span_of_a_text_that_was_blacked_out_is_black(world, mara):
    text = "Write to jane@example.org or joe@example.org."
    say(world, "q1/AE2", text)
    check_project(project=world.project)
    assert redact_findings(findings=PrivacyFinding.objects.filter(rule="email"), actor=mara) == 2

    redactions = Redactions(world.project, "default")

    assert redactions.of(f"answer:{world.answers['q1/AE2'].pk}", "text", text) == (
        "Write to ████████████████ or ███████████████."
    )
    assert redactions.of(f"answer:{world.answers['q1/AE3'].pk}", "text", text) == text


def test_decisions_are_taken_once_stay_and_can_be_taken_back(world, mara):
    check_project(project=world.project)
    everything = PrivacyFinding.objects.all()
    assert accept_findings(findings=everything, reason="Fine.", actor=mara) == 2
    assert accept_findings(findings=everything, reason="Again.", actor=mara) == 0
    assert reopen_findings(findings=everything, actor=mara) == 2
    assert set(everything.values_list("state", "reason", "decided_by")) == {("open", "", None)}
    assert (
        accept_findings(
            findings=PrivacyFinding.objects.filter(rule="small-group"), reason="They agreed.", actor=mara
        )
        == 1
    )
    assert redact_findings(findings=PrivacyFinding.objects.filter(rule="email"), actor=mara) == 1
    assert check_project(project=world.project).open == 0
    rows = PrivacyFinding.objects.order_by("rule").values_list(
        "rule", "state", "reason", "decided_by__username"
    )
    assert list(rows) == [
        ("email", "redacted", "Nobody needs to know it.", "mara"),
        ("small-group", "accepted", "They agreed.", "mara"),
    ]


def test_the_log_says_what_was_decided_and_no_text(world, mara):
    check_project(project=world.project, actor=mara)
    accept_findings(findings=PrivacyFinding.objects.all(), reason="Fine.", actor=mara)
    redact_findings(findings=PrivacyFinding.objects.filter(rule="email"), actor=mara)
    events = Event.objects.filter(action__startswith="privacy.").order_by("pk")
    assert list(events.values_list("action", "details", "actor__username")) == [
        ("privacy.checked", {"texts": 37, "open": 2}, "mara"),
        ("privacy.accepted", {"rules": {"email": 1, "small-group": 1}, "why": "Fine."}, "mara"),
        ("privacy.redacted", {"rules": {"email": 1}, "why": "Nobody needs to know it."}, "mara"),
    ]


def test_texts_are_read_in_batches_with_a_fixed_number_of_statements(
    world, django_assert_num_queries, monkeypatch
):
    calls: list[tuple[int, int]] = []
    with django_assert_num_queries(30):
        check_project(project=world.project, progress=lambda done, total, note: calls.append((done, total)))
    monkeypatch.setattr(privacy_check, "AT_ONCE", 7)
    assert [len(batch) for batch in privacy_check.text_batches(world.project)] == [7, 1, 7, 7, 4, 7, 4]
    assert calls[-1] == (34, 34)
