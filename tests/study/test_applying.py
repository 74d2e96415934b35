"""Applying a study: what changes, what is refused, and that doing it again changes nothing."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from core.crypto import unseal
from core.projects.models import Event, Membership, Project
from core.projects.services import set_role
from crowd.models import Endpoint, Hit, LedgerEntry, MarketOperation, Stage
from crowd.services.stages import open_stage
from crowd.study.explain import StudyError
from crowd.study.planning import ChangedMeanwhileError, apply, plan
from crowd.study.reader import read
from tests.study.conftest import KEYS

pytestmark = pytest.mark.django_db


def actions_of(found):
    return {(change.what, change.name): change.action for change in found.changes}


def fields_of(found, what):
    return {
        field.name: (field.old, field.new)
        for change in found.changes
        if change.what == what
        for field in change.fields
    }


@pytest.fixture
def planned(write):
    """Plans a text against the database."""

    def planned(text, environment=KEYS, *, to_apply=True):
        return plan(read(write(text)), environment, to_apply=to_apply)

    return planned


@pytest.fixture
def refused(planned):
    """The only error that a text has against the database."""

    def refused(text, environment=KEYS):
        with pytest.raises(StudyError) as caught:
            planned(text, environment)
        (problem,) = [problem for problem in caught.value.problems if not problem.caution]
        return problem

    return refused


def line_of(text, start):
    (line,) = [number for number, line in enumerate(text.splitlines(), 1) if line.startswith(start)]
    return line


def test_a_file_makes_project_endpoint_and_a_draft_and_spends_nothing(applied, example, owner):
    applied(example.replace("# ada", "ada"))
    project, stage, endpoint = Project.objects.get(), Stage.objects.get(), Endpoint.objects.get()
    assert (project.slug, project.budget_cents, project.wage_floor_cents) == ("warm-drinks", 2500, 1000)
    assert (stage.slug, stage.status, stage.reward_cents, stage.work_seconds) == (
        "first-look",
        "draft",
        15,
        900,
    )
    assert (endpoint.name, endpoint.access_key, endpoint.real_money) == ("local", "DSTLAAAA", False)
    assert unseal(endpoint.secret_sealed, purpose="crowd.endpoint") == "a secret"
    assert Membership.objects.get(user=owner, project=project).role == "owner"
    assert not MarketOperation.objects.exists()
    assert not LedgerEntry.objects.exists()


def test_applying_twice_changes_nothing_and_the_draft_is_quoted(write, example, db, applied, planned):
    study = read(write(example))
    quotes = apply(study, plan(study, KEYS, to_apply=True), KEYS).quotes
    assert quotes["first-look"].total_cents == 24 * 15
    applied(example)
    events = Event.objects.count()
    assert planned(example).empty
    applied(example)
    assert Event.objects.count() == events


def test_the_differences_name_what_is_old_and_new(applied, planned, example):
    applied(example)
    text = example.replace('reward = "0.15"', 'reward = "0.20"').replace('"Cocoa", ', "")
    found = planned(text.replace('title = "Which drinks are warm?"', 'title = "Warm drinks"'))
    assert actions_of(found) == {
        ("endpoint", "local"): "unchanged",
        ("project", "warm-drinks"): "change",
        ("stage", "first-look"): "change",
    }
    assert fields_of(found, "project") == {"title": ("Which drinks are warm?", "Warm drinks")}
    assert fields_of(found, "stage")["reward"] == ("0.15", "0.20")
    assert set(fields_of(found, "stage")) == {"reward", "config.items"}


def test_a_draft_can_change_in_everything_and_the_log_says_so(applied, example, owner):
    applied(example)
    text = example.replace('reward = "0.15"', 'reward = "0.20"')
    text = text.replace('approve = "at-once"', 'approve = "by-hand"')
    applied(text.replace('budget = "10.00"', 'budget = "12.00"'))
    stage = Stage.objects.get()
    assert (stage.reward_cents, stage.approve_at_once, stage.budget_cents) == (20, False, 1200)
    assert Event.objects.filter(action="stage.changed").count() == 1
    applied(text.replace("max_hits_per_worker = 2\n", "").replace('work_time = "15m"\n', ""))
    stage.refresh_from_db()
    assert (stage.max_hits_per_worker, stage.work_seconds) == (None, 3600), "taken out: their defaults"


def opened(stage):
    Stage.objects.filter(pk=stage.pk).update(status="open", opened_at=timezone.now())
    Hit.objects.create(stage=stage, ordinal=1, places=1, reward_cents=15, fee_cents=3)


def test_the_terms_of_an_opened_stage_stay(applied, refused, example):
    applied(example)
    opened(Stage.objects.get())
    for old, new, field in (
        ('reward = "0.15"', 'reward = "0.16"', "reward"),
        ("units_per_hit = 3", "units_per_hit = 2", "units_per_hit"),
        ("checks_per_hit = 1", "checks_per_hit = 0", "checks_per_hit"),
        ('"Cocoa"', '"Milk"', "config"),
    ):
        text = example.replace(old, new)
        problem = refused(text)
        start = "[stages.config]" if field == "config" else field
        assert (problem.code, problem.field) == ("not-changeable", f"stages[0].{field}")
        assert problem.line == line_of(text, start)
        assert "people work under its terms" in problem.what
        assert problem.remedy == "Make a new stage."


def test_an_opened_stage_can_still_get_more_people_and_a_larger_budget_with_a_caution(
    applied, planned, example
):
    applied(example)
    opened(Stage.objects.get())
    text = example.replace("redundancy = 12", "redundancy = 15").replace(
        'budget = "10.00"', 'budget = "11.00"'
    )
    found = planned(text)
    assert [problem.field for problem in found.cautions if "by itself" in problem.what] == [
        "stages[0].redundancy",
        "stages[0].budget",
    ]
    applied(text)
    assert Stage.objects.get().redundancy == 15


def test_a_larger_budget_of_an_open_stage_that_spends_real_money_waits_for_a_pause(applied, refused, example):
    applied(example)
    opened(Stage.objects.get())
    Endpoint.objects.update(real_money=True)
    Stage.objects.update(armed_cents=1000)
    start, end = example.index("[endpoints.local]"), example.index("[[stages]]")
    problem = refused((example[:start] + example[end:]).replace('budget = "10.00"', 'budget = "11.00"'))
    assert (problem.code, problem.field) == ("not-changeable", "stages[0].budget")
    assert "Pause the stage" in problem.remedy


def test_an_opened_stage_whose_stored_options_lack_a_newer_default_is_unchanged(applied, planned, example):
    applied(example)
    stage = Stage.objects.get()
    stage.config.pop("checks")
    Stage.objects.filter(pk=stage.pk).update(config=stage.config)
    opened(stage)
    text = example[: example.index("[stages.config.checks]")].replace("redundancy = 12", "redundancy = 13")
    assert set(fields_of(planned(text), "stage")) == {"redundancy"}
    applied(text)
    assert Stage.objects.get().redundancy == 13


def test_what_is_spent_or_reserved_is_the_least_budget_and_a_used_endpoint_stays(applied, refused, example):
    applied(example)
    open_stage(stage=Stage.objects.select_related("project", "endpoint").get())
    text = example.replace('budget = "10.00"', 'budget = "3.00"')
    problem = refused(text)
    assert (problem.code, problem.line) == ("below-spent", line_of(text, 'budget = "3.00"'))
    assert problem.what == "0.00 is spent and 3.60 reserved already"
    assert problem.remedy == 'Write "3.60" or more.'
    applied(example)
    Project.objects.update(spent_cents=700)
    problem = refused(example.replace('budget = "25.00"', 'budget = "6.99"'))
    assert (problem.code, problem.field) == ("below-spent", "project.budget")
    problem = refused(
        example.replace('preset = "local"', 'preset = "local"\nurl = "https://example.org/mturk/api"')
    )
    assert (problem.code, problem.field) == ("not-changeable", "endpoints.local.url")


def test_budgets_of_stages_beyond_the_projects_are_a_caution(planned, example):
    found = planned(example.replace('budget = "25.00"', 'budget = "9.00"'))
    assert "10.00 together" in found.cautions[0].what


def test_the_last_owner_can_hand_over_in_one_file_but_not_only_leave(applied, refused, example, owner):
    User.objects.create_user("ben")
    applied(example.replace('# ada = "owner"', 'ada = "owner"'))
    assert "without an owner" in refused(example.replace('# ada = "owner"', 'ada = "viewer"')).what
    applied(example.replace('# ada = "owner"', 'ada = "viewer"\nben = "owner"'))
    roles = dict(Membership.objects.values_list("user__username", "role"))
    assert roles == {"ada": "viewer", "ben": "owner"}


def test_who_and_what_the_file_does_not_name_stays_and_is_mentioned(applied, planned, example, owner):
    applied(example)
    set_role(project=Project.objects.get(), user=owner, role="owner")
    found = planned(example.replace('slug = "first-look"', 'slug = "second-look"'))
    assert found.notes == (
        "The stage first-look is not in the file and stays as it is.",
        "ada (owner) is not in the file and stays a member.",
    )


def test_an_endpoint_of_the_installation_needs_no_table(planned, example, local):
    start, end = example.index("[endpoints.local]"), example.index("[[stages]]")
    assert actions_of(planned(example[:start] + example[end:], {}))["stage", "first-look"] == "add"


def test_who_or_what_is_not_there_is_named_with_the_closest_name(refused, example, owner):
    apart = 'hold_failed_checks = true\napart_from = ["writing"]'
    for old, new, code, start, remedy in (
        ('endpoint = "local"', 'endpoint = "lokal"', "no-such-endpoint", 'endpoint = "lokal"', "'local'"),
        ('# ada = "owner"', 'adda = "owner"', "no-such-user", "adda", "'ada'"),
        ("hold_failed_checks = true", apart, "no-such-stage", "apart_from", ""),
    ):
        text = example.replace(old, new)
        problem = refused(text)
        assert (problem.code, problem.line) == (code, line_of(text, start))
        assert not remedy or problem.remedy == f"Did you mean {remedy}?"


def test_a_new_endpoint_without_keys_is_a_caution_when_checked_and_an_error_when_applied(
    planned, refused, example
):
    cautions = planned(example, {}, to_apply=False).cautions
    assert "LOCAL_ACCESS_KEY and LOCAL_SECRET are not set" in [problem.what for problem in cautions]
    problem = refused(example, {})
    assert (problem.code, problem.line) == ("no-keys", line_of(example, "[endpoints.local]"))


def test_keys_that_are_not_set_later_stay_and_others_replace_the_stored_ones(applied, planned, example):
    applied(example)
    found = planned(example, {})
    assert found.empty
    assert any("the stored keys stay" in problem.what for problem in found.cautions)
    applied(example)
    others = {"LOCAL_ACCESS_KEY": "DSTLBBBB", "LOCAL_SECRET": "another"}
    found = planned(example, others)
    assert fields_of(found, "endpoint") == {"keys": ("others", "from LOCAL_ACCESS_KEY and LOCAL_SECRET")}
    applied(example, others)
    endpoint = Endpoint.objects.get()
    assert endpoint.access_key == "DSTLBBBB"
    assert unseal(endpoint.secret_sealed, purpose="crowd.endpoint") == "another"
    applied(example.replace('preset = "local"', 'preset = "local"\nurl = "http://127.0.0.1:9000/mturk/api"'))
    endpoint.refresh_from_db()
    assert (endpoint.url, endpoint.submit_origins) == (
        "http://127.0.0.1:9000/mturk/api",
        ["http://127.0.0.1:9000"],
    )


def test_what_somebody_changed_after_the_differences_were_shown_is_not_overwritten(write, applied, example):
    applied(example)
    study = read(write(example.replace('reward = "0.15"', 'reward = "0.30"')))
    shown = plan(study, KEYS, to_apply=True)
    Stage.objects.update(reward_cents=25)
    with pytest.raises(ChangedMeanwhileError):
        apply(study, shown, KEYS)
    assert Stage.objects.get().reward_cents == 25


def test_when_one_part_is_refused_nothing_is_done(write, example, monkeypatch):
    from crowd.errors import CrowdError
    from crowd.study import planning

    def refuse(**_):
        raise CrowdError("Not today.")

    monkeypatch.setattr(planning, "create_stage", refuse)
    study = read(write(example))
    with pytest.raises(StudyError) as caught:
        apply(study, plan(study, KEYS, to_apply=True), KEYS)
    (problem,) = caught.value.problems
    assert (problem.code, problem.line, problem.what) == (
        "refused",
        line_of(example, "[[stages]]"),
        "Not today.",
    )
    assert not Project.objects.exists()
    assert not Endpoint.objects.exists()
