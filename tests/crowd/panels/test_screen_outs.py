"""Paid screen-outs of a study that runs: raised at the simulated Prolific, once, and never lowered."""

import pytest
from django.utils import timezone

from core.projects.services import set_role
from crowd import panelmodels
from crowd.adapters.prolific import _slots_to_set
from crowd.errors import BudgetError, CrowdError
from crowd.models import MarketOperation, PanelStudy, PanelSubmission, Stage
from crowd.services import panel_pay, panels, stages
from crowd.sources import stage_at
from crowd.study.documents import study_toml
from crowd.study.explain import StudyError
from crowd.study.planning import apply, plan
from crowd.study.reader import read
from tests.crowd.panels.test_part_pay import in_part, payments, spent, stage  # noqa: F401  # fixture
from tests.crowd.panels.test_stages import Participant, endpoint, panel, server, work_on  # noqa: F401  # fixtures
from tests.crowd.world import make_stage

pytestmark = pytest.mark.django_db


def raise_to(study, slots):
    return panel_pay.raise_slots(study, slots=slots, actor=None)


def slots_at(panel, study):  # noqa: F811
    codes = panel.get(f"/studies/{study.external_id}/")["completion_codes"]
    actions = [action for code in codes for action in code["actions"]]
    return next(action["slots"] for action in actions if "slots" in action)


def screen_out(panel, stage, client):  # noqa: F811
    study = PanelStudy.objects.get(stage=stage)
    person = Participant(panel, client, stage)
    person.open()
    code = study.codes[panelmodels.SCREENED_OUT]
    panel.control("complete", submission_id=person.submission, code=code)
    PanelStudy.objects.update(hinted_at=timezone.now())
    panels.read_now(stage)
    work_on()
    return person


@pytest.mark.parametrize("fault", [{"lost_after": 1}, {"lost_before": 1}])
def test_the_number_is_raised_once_also_where_an_answer_is_lost(panel, stage, client, fault):  # noqa: F811
    study = PanelStudy.objects.get(stage=stage)
    screen_out(panel, stage, client)
    stage.refresh_from_db()
    before = stage.reserved_cents
    each = study.screen_out_cents + study.screen_out_fee_cents
    operation = raise_to(study, 7)
    stage.refresh_from_db()
    assert stage.reserved_cents == before + 5 * each
    with pytest.raises(CrowdError, match="on its way"):
        raise_to(study, 9)
    panel.control("faults", **fault)
    work_on()
    panel.control("faults")
    MarketOperation.objects.filter(pk=operation.pk).update(not_before=timezone.now())
    work_on()
    study.refresh_from_db()
    assert (study.screen_out_slots, study.screen_out_left) == (7, 6)
    assert slots_at(panel, study) == 6
    stages.close_stage(stage=stage)
    work_on()
    assert spent(stage) == 10
    assert stage.reserved_cents == 0


def test_a_study_that_paused_after_the_last_slot_goes_on(panel, stage, client):  # noqa: F811
    study = PanelStudy.objects.get(stage=stage)
    people = [screen_out(panel, stage, client) for _ in range(2)]
    assert panel.get(f"/studies/{study.external_id}/")["status"] == "PAUSED"
    raise_to(study, 3)
    work_on()
    work_on()
    assert panel.get(f"/studies/{study.external_id}/")["status"] == "ACTIVE"
    people.append(screen_out(panel, stage, client))
    assert [payments(panel, person) for person in people] == [[("screen_out", 10)]] * 3
    assert spent(stage) == 30
    study.refresh_from_db()
    assert (study.screen_out_slots, study.screen_out_left) == (3, 0)


def test_a_screen_out_that_the_budget_could_not_take_is_booked_once_it_is_raised(panel, stage, client):  # noqa: F811
    study = PanelStudy.objects.get(stage=stage)
    PanelStudy.objects.filter(pk=study.pk).update(screen_out_left=0)
    stage.refresh_from_db()
    budget_cents = stage.budget_cents
    Stage.objects.filter(pk=stage.pk).update(budget_cents=stage.reserved_cents)
    screen_out(panel, stage, client)
    work_on()
    assert (spent(stage), panel_pay.unbooked_screen_outs(study).count()) == (0, 1)
    Stage.objects.filter(pk=stage.pk).update(budget_cents=budget_cents)
    for _ in range(2):
        panels.sync(stage_at(stage, stage.endpoint), force=True)
    assert (spent(stage), panel_pay.unbooked_screen_outs(study).count()) == (10, 0)


def test_what_the_panel_does_not_take_is_refused_in_words(panel, stage, endpoint):  # noqa: F811
    study = PanelStudy.objects.get(stage=stage)
    for slots, words in ((2, "only be raised: there are 2"), (1, "only be raised"), (100_001, "At most")):
        with pytest.raises(CrowdError, match=words):
            raise_to(study, slots)
    with pytest.raises(BudgetError):
        raise_to(study, 90_000)
    plain = make_stage(endpoint, items=["tea"], expected_seconds=300, reward_cents=100)
    with pytest.raises(CrowdError, match="with its terms"):
        raise_to(panels.study_of(plain), 5)
    stages.open_stage(stage=plain)
    work_on()
    with pytest.raises(CrowdError, match="with a new study only"):
        raise_to(PanelStudy.objects.get(stage=plain), 5)
    stages.close_stage(stage=stage)
    work_on()
    with pytest.raises(CrowdError, match="was stopped"):
        raise_to(study, 9)
    assert not MarketOperation.objects.filter(target=f"screen-outs:{study.pk}").exists()


def test_a_refusal_gives_the_money_back_and_stops_nothing(panel, stage):  # noqa: F811
    """Somebody changed the number on the panel's own pages to one that fits neither reading of it."""
    study = PanelStudy.objects.get(stage=stage)
    there = panel.get(f"/studies/{study.external_id}/")
    codes = there["completion_codes"]
    next(action for code in codes for action in code["actions"] if "slots" in action)["slots"] = 50
    row = panel.state.get("study", study.external_id)
    panel.state.save(row | {"completion_codes": codes})
    stage.refresh_from_db()
    before = stage.reserved_cents
    operation = raise_to(study, 7)
    work_on()
    operation.refresh_from_db()
    stage.refresh_from_db()
    assert (operation.state, operation.error_code) == (MarketOperation.State.REFUSED, "NotClear")
    assert (stage.reserved_cents, stage.status) == (before, Stage.Status.OPEN)
    study.refresh_from_db()
    assert (study.screen_out_slots, study.screen_out_left) == (2, 2)
    assert raise_to(study, 8).pk != operation.pk


@pytest.mark.parametrize(
    ("there", "used", "is_first", "wanted"),
    [
        (5, 0, True, 8),  # nobody screened out
        (5, 2, True, 8),  # counts all
        (3, 2, True, 6),  # counts what is left
        (8, 0, False, 8),  # done before
        (8, 2, False, 8),  # done before, counts all
        (6, 2, False, 6),  # done before, counts what is left
        (4, 4, False, 4),  # done before, and two more were screened out
        (5, 3, True, 8),  # nothing was sent: counts all
        (5, 3, False, None),  # not done and all, or done and left
        (9, 4, True, None),
    ],
)
def test_the_number_there_is_read_both_ways(there, used, is_first, wanted):
    """From five to eight."""
    assert _slots_to_set(there, used, slots=8, before=5, is_first=is_first) == wanted


def test_the_page_raises_the_number(panel, stage, client, admin_user):  # noqa: F811
    set_role(project=stage.project, user=admin_user, role="owner")
    client.force_login(admin_user)
    address = f"/desk/projects/{stage.project.slug}/stages/{stage.slug}/panel/"
    assert "Raise their number" in client.get(address).content.decode()
    said = client.post(f"{address}terms/", {"slots": "1"}, follow=True).content.decode()
    assert "can only be raised" in said
    said = client.post(f"{address}terms/", {"slots": "4"}, follow=True).content.decode()
    assert "told of 4 paid screen-outs" in said
    assert "4 paid screen-outs are asked for" in said
    work_on()
    assert "10 each, 4 of 4 left" in " ".join(client.get(address).content.decode().split())
    assert not PanelSubmission.objects.exists()
    assert client.get(address).context["wanted"] > 0


def charged(panel, study):  # noqa: F811
    """What the panel's account paid for a study, with fee and tax."""
    listed = panel.get("/_control/payments")["payments"]
    mine = [each for each in listed if each["study_id"] == study.external_id]
    return sum(each["amount"] + each["fees"] + each["vat"] for each in mine)


@pytest.fixture
def draft(endpoint):  # noqa: F811
    """Two rewards of 1.00 (0.40 of fee and tax each), and two screen-outs of 0.18 (0.08, not 40 %)."""
    made = make_stage(endpoint, items=["tea"], redundancy=2, expected_seconds=300, reward_cents=100)
    panel_pay.set_terms(
        panels.study_of(made), screen_out_cents=18, screen_out_slots=2, pays_in_part=True, actor=None
    )
    return made


def test_what_the_button_says_is_reserved_and_is_what_the_panel_locks(panel, draft, client, admin_user):  # noqa: F811
    set_role(project=draft.project, user=admin_user, role="owner")
    client.force_login(admin_user)
    address = f"/desk/projects/{draft.project.slug}/stages/{draft.slug}/open/"
    page = client.get(address).content.decode()
    assert "Open and publish for $3.32" in " ".join(page.split())
    assert "Paid screen-outs" in page
    budget = draft.budget_cents
    draft.budget_cents = 331
    draft.save()
    with pytest.raises(BudgetError, match=r"costs \$3\.32, and \$3\.31 is left"):
        stages.open_stage(stage=draft)
    draft.budget_cents = budget
    draft.save()
    total, available = panel.balance()
    offer = stages.open_stage(stage=draft)
    work_on()
    draft.refresh_from_db()
    locked = (total - available) + 332
    assert (offer.total_cents, offer.screen_out_cents, draft.reserved_cents) == (332, 52, 332)
    assert panel.balance() == (total, total - locked)


def test_a_panel_that_does_not_say_its_fees_leaves_an_estimate(panel, draft, client, admin_user):  # noqa: F811
    set_role(project=draft.project, user=admin_user, role="owner")
    client.force_login(admin_user)
    panel.control("faults", error=1.0, path="*/study-cost-calculator/", method="POST")
    page = client.get(f"/desk/projects/{draft.project.slug}/stages/{draft.slug}/open/").content.decode()
    assert "its fees, so they are an estimate" in page


def test_fees_are_booked_as_the_panel_charged_them_once(panel, draft, client, admin_user):  # noqa: F811
    """A quarter of 1.00 has 0.11 of fee and tax there, and 0.10 as a share of the reward's 0.40."""
    stages.open_stage(stage=draft)
    work_on()
    study = PanelStudy.objects.get(stage=draft)
    screen_out(panel, draft, client)
    person = Participant(panel, client, draft)
    person.answer()
    in_part(person, percent=25)
    for _ in range(2):
        work_on()
        panels.read_now(draft)
    assert charged(panel, study) == 26 + 36
    assert spent(draft) == 18 + 25
    assert draft.spent_cents == charged(panel, study)

    set_role(project=draft.project, user=admin_user, role="owner")
    client.force_login(admin_user)

    def page():
        address = f"/desk/projects/{draft.project.slug}/stages/{draft.slug}/panel/"
        return " ".join(client.get(address).content.decode().split())

    assert "$0.19, $0.01 of them beyond the estimate" in page()
    # A payment that only one of the books has yet is not compared; one without room is shown, not booked.
    Stage.objects.filter(pk=draft.pk).update(budget_cents=draft.reserved_cents + draft.spent_cents)
    for said in ((43 + 100, 19 + 45), (43, 24), (43, 24)):
        panel_pay.book_charges(study, said, at=timezone.now())
    assert spent(draft) == 43
    assert draft.spent_cents == 62
    assert "The panel charged $0.24 in fees and tax, and $0.19 is booked." in page()
    assert draft.project.events.filter(action="panel.charged").count() == 2
    Stage.objects.filter(pk=draft.pk).update(budget_cents=10_000)
    for _ in range(2):
        panel_pay.book_charges(study, (43, 24), at=timezone.now())
    assert spent(draft) == 43
    assert draft.spent_cents == 67
    assert "is booked." not in page()


FILE = """
[project]
slug = "study"
title = "Study"
budget = "100.00"

[endpoints.{name}]
preset = "prolific"
url = "{url}"
label = "{label}"

[[stages]]
slug = "poll"
title = "Poll"
kind = "poll"
endpoint = "{name}"
reward = "1.00"
redundancy = 2
expected_minutes = 5.0
budget = "50.00"
task = {{title = "A question", description = "Choose one."}}
config = {{question = "Good?", options = ["yes", "no"], items = ["tea"], checks = {{}}}}

[stages.panel]
screen_out = "0.10"
screen_outs = 2
"""


def test_a_study_file_sets_the_terms_and_raises_the_number_later(panel, endpoint, tmp_path):  # noqa: F811
    text = FILE.format(name=endpoint.name, url=endpoint.url, label=endpoint.label)

    def applied(text, *, to_apply=True):
        (tmp_path / "study.toml").write_text(text, "utf-8")
        study = read(str(tmp_path / "study.toml"))
        found = plan(study, {}, to_apply=True)
        if to_apply:
            apply(study, found, {})
        return found

    applied(text)
    made = Stage.objects.select_related("project", "endpoint").get(slug="poll")
    study = PanelStudy.objects.get(stage=made)
    assert (study.screen_out_cents, study.screen_out_slots, study.pays_in_part) == (10, 2, False)
    assert applied(text, to_apply=False).empty
    assert applied(study_toml(made.project), to_apply=False).empty
    made.armed_cents = made.budget_cents
    made.save()
    stages.open_stage(stage=made)
    work_on()
    more = text.replace("screen_outs = 2", "screen_outs = 6")
    found = applied(more)
    assert [(each.field, "set aside" in each.what) for each in found.cautions if "panel" in each.field] == [
        ("stages[0].panel.screen_outs", True)
    ]
    assert applied(more, to_apply=False).empty, "it is on its way"
    applied(more.replace('title = "Poll"', 'title = "Second poll"'))
    with pytest.raises(StudyError, match="on its way"):
        applied(text.replace("screen_outs = 2", "screen_outs = 5"))
    work_on()
    study.refresh_from_db()
    assert (study.screen_out_slots, study.screen_out_left, slots_at(panel, study)) == (6, 6, 6)
    left_out = text[: text.index("[stages.panel]")].replace('title = "Poll"', 'title = "Second poll"')
    assert applied(left_out, to_apply=False).empty
    for before, after, field in (
        ("screen_outs = 2", "screen_outs = 5", "screen_outs"),
        ('"0.10"', '"0.20"', "screen_out"),
        ("screen_outs = 2", "screen_outs = 6\npays_in_part = true", "pays_in_part"),
        ('"0.10"', '"1.00"', "screen_out"),
        ("screen_outs = 2", "", ""),
    ):
        with pytest.raises(StudyError) as refused:
            applied(text.replace(before, after))
        places = {problem.field for problem in refused.value.problems}
        assert f"stages[0].panel.{field}".rstrip(".") in places


def test_terms_of_a_panel_without_one_are_refused(tmp_path, endpoint):  # noqa: F811
    text = (
        FILE.format(name="links", url="", label="Links").replace("prolific", "link").replace('url = ""\n', "")
    )
    (tmp_path / "study.toml").write_text(text, "utf-8")
    study = read(str(tmp_path / "study.toml"))
    with pytest.raises(StudyError) as refused:
        apply(study, plan(study, {}, to_apply=True), {})
    assert "stages[0].panel" in {problem.field for problem in refused.value.problems}
