"""What a panel charges beside rewards: set aside by each stage's own reward, and booked as it was charged."""

import pytest
from django.utils import timezone

from core.projects.services import set_role
from crowd.budget import payment_fee
from crowd.models import Endpoint, LedgerEntry, PanelStudy, Stage
from crowd.services import panel_pay, panels, review, stages
from crowd.services.endpoints import change_endpoint
from crowd.services.publication import publish_pending, quote
from crowd.study.planning import apply, plan
from crowd.study.reader import read
from tests.crowd.panels.test_part_pay import spent
from tests.crowd.panels.test_screen_outs import FILE, charged
from tests.crowd.panels.test_stages import Participant, endpoint, panel, server, work_on  # noqa: F401  # fixtures
from tests.crowd.world import make_stage

pytestmark = pytest.mark.django_db


def opened(endpoint, reward_cents):  # noqa: F811
    """A stage that asks one person, with a study at the panel."""
    made = make_stage(endpoint, items=["tea"], expected_seconds=30, reward_cents=reward_cents)
    stages.open_stage(stage=made)
    work_on()
    made.refresh_from_db()
    return made


def test_a_stage_is_topped_up_at_the_fee_on_its_own_reward(panel, endpoint, client):  # noqa: F811
    """A third and a fifth of that, each rounded up: 0.40 on 1.00, and 0.08 on 0.18, which is no 40 %."""
    whole, small = opened(endpoint, 100), opened(endpoint, 18)
    assert (whole.reserved_cents, small.reserved_cents) == (140, 26)
    total, before = panel.balance()
    for stage, cost in ((whole, 140), (small, 26)):
        Stage.objects.filter(pk=stage.pk).update(redundancy=3)
        now = Stage.objects.select_related("project", "endpoint").get(pk=stage.pk)
        assert quote(now).total_cents == 2 * cost
        publish_pending(now)
    work_on()
    for stage, cost in ((whole, 140), (small, 26)):
        stage.refresh_from_db()
        assert stage.reserved_cents == 3 * cost
    assert panel.balance() == (total, before - 2 * (140 + 26))
    for _ in range(3):
        Participant(panel, client, small).finish()
    work_on()
    assert spent(small) == 54
    assert small.spent_cents == charged(panel, PanelStudy.objects.get(stage=small)) == 3 * 26
    assert not LedgerEntry.objects.filter(reason__startswith="fee as charged").exists()


def test_fees_that_are_told_for_two_rewards_are_both_kept(panel, endpoint):  # noqa: F811
    """Also where each was asked for with a row of the endpoint that knew of no other."""
    made = [make_stage(endpoint, reward_cents=cents) for cents in (100, 18)]
    for stage in made:
        stage.endpoint = Endpoint.objects.get(pk=endpoint.pk)
    for stage in made:
        panels.take_fees(stage)
    endpoint.refresh_from_db()
    assert endpoint.told_fees == {"100": 40, "18": 8}
    change_endpoint(endpoint=endpoint, changes={"fee_profile": "share-0.5"})
    assert (payment_fee(endpoint, 100), payment_fee(endpoint, 18)) == (50, 9)


def test_what_the_panel_charged_less_goes_back_to_the_budget_once(
    panel,  # noqa: F811
    endpoint,  # noqa: F811
    client,
    admin_user,
    monkeypatch,
):
    """A bonus of 1.00 beside a reward of 0.18: 0.44 by that share, and 0.40 by the panel's rounding."""
    stage = opened(endpoint, 18)
    study = PanelStudy.objects.get(stage=stage)
    person = Participant(panel, client, stage).finish()
    work_on()
    review.bonus(assignment=person.work, actor=None, cents=100, reason="A good answer.", purpose="quality")
    record = panel_pay.record
    monkeypatch.setattr(panel_pay, "record", lambda **_: 1 / 0)  # killed before the books are written
    with pytest.raises(ZeroDivisionError):
        panel_pay.book_charges(study, (18, 4), at=timezone.now())
    stage.refresh_from_db()
    assert stage.spent_cents == 18 + 8
    monkeypatch.setattr(panel_pay, "record", record)
    work_on()
    panel.control("clock", seconds=600)
    for _ in range(2):
        work_on()
        panels.read_now(stage)
    assert charged(panel, study) == 18 + 8 + 100 + 40
    assert spent(stage) == 118
    assert stage.spent_cents == charged(panel, study)
    [back] = LedgerEntry.objects.filter(stage=stage, kind="refund")
    assert (back.cents, back.fee_cents) == (0, 4)
    stage.project.refresh_from_db()
    assert stage.project.spent_cents == stage.spent_cents
    set_role(project=stage.project, user=admin_user, role="owner")
    client.force_login(admin_user)
    page = client.get(f"/desk/projects/{stage.project.slug}/stages/{stage.slug}/panel/").content.decode()
    assert "$0.48, $0.04 less than the estimate, as the panel charged them" in " ".join(page.split())
    # Charged again after all, it is spent again.
    panel_pay.book_charges(study, (118, 50), at=timezone.now())
    assert spent(stage) == 118
    assert stage.spent_cents == 168


def test_a_study_file_is_quoted_at_the_fees_of_now_or_says_that_they_are_older(panel, endpoint, tmp_path):  # noqa: F811
    (tmp_path / "study.toml").write_text(
        FILE.format(name=endpoint.name, url=endpoint.url, label=endpoint.label), "utf-8"
    )

    def applied():
        study = read(str(tmp_path / "study.toml"))
        return apply(study, plan(study, {}, to_apply=True), {})

    Endpoint.objects.filter(pk=endpoint.pk).update(fee_profile="share-0.9")
    panel.control("faults", error=1.0, path="*/study-cost-calculator/", method="POST")
    made = applied()
    assert made.quotes["poll"].fee_cents == 2 * 90
    assert "does not say its fees, so they are an estimate" in made.cautions["poll"][0]
    panel.control("faults")
    made = applied()
    assert (made.quotes["poll"].fee_cents, list(made.cautions["poll"])) == (2 * 40, [])
    panel.control("faults", error=1.0, path="*/study-cost-calculator/", method="POST")
    made = applied()
    assert made.quotes["poll"].fee_cents == 2 * 40
    assert "does not say its fees, so they are what it said last" in made.cautions["poll"][0]
