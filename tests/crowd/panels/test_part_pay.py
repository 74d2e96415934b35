"""Parts of rewards, paid screen-outs and messages at the simulated Prolific: booked as paid, never twice."""

import csv
import io
from datetime import timedelta

import pytest
from django.db.models import Sum
from django.utils import timezone

from core.projects.services import set_role
from crowd import panelmodels
from crowd.errors import CrowdError
from crowd.models import Assignment, LedgerEntry, MarketOperation, PanelMessage, PanelStudy, PanelSubmission
from crowd.selectors.people import count_consents
from crowd.services import panel_pay, panels, stages
from tests.crowd.panels.test_stages import Participant, endpoint, panel, server, work_on  # noqa: F401  # fixtures
from tests.crowd.world import make_stage

pytestmark = pytest.mark.django_db
State, Kind = Assignment.State, MarketOperation.Kind


@pytest.fixture
def stage(endpoint):  # noqa: F811
    """Rewards of a dollar, parts of them, and two screen-outs of ten cents."""
    made = make_stage(endpoint, items=["tea"], redundancy=2, expected_seconds=300, reward_cents=100)
    panel_pay.set_terms(
        panels.study_of(made), screen_out_cents=10, screen_out_slots=2, pays_in_part=True, actor=None
    )
    stages.open_stage(stage=made)
    work_on()
    made.refresh_from_db()
    return made


def spent(stage):
    stage.refresh_from_db()
    booked = LedgerEntry.objects.filter(stage=stage, kind="spend").aggregate(n=Sum("cents"))
    moved = (
        LedgerEntry.objects.filter(stage=stage)
        .values_list("kind")
        .annotate(n=Sum("cents") + Sum("fee_cents"))
    )
    sums = dict(moved)
    assert stage.spent_cents == sums.get("spend", 0) - sums.get("refund", 0)
    assert stage.reserved_cents == sums.get("reserve", 0) - sums.get("release", 0) - sums.get("spend", 0)
    return booked["n"] or 0


def in_part(person, percent=30):
    PanelStudy.objects.update(hinted_at=timezone.now())
    panels.read_now(person.stage)
    row = PanelSubmission.objects.get(external_id=person.submission)
    return panel_pay.pay_in_part(row, percent=percent, note="Thank you for this part.", actor=None)


def payments(panel, person):  # noqa: F811
    listed = panel.get("/_control/payments")["payments"]
    return [(each["kind"], each["amount"]) for each in listed if each["submission_id"] == person.submission]


def test_unfinished_work_is_paid_in_part_and_its_place_goes_to_somebody_else(panel, stage, client):  # noqa: F811
    """The part comes on top of the place's money; asked for twice, it is paid once."""
    person = Participant(panel, client, stage)
    person.open()
    assert in_part(person) == in_part(person)
    panel.control("faults", lost_after=1)
    work_on()
    panel.control("faults")
    work_on()
    assert payments(panel, person) == [("partial", 30)]
    assert Assignment.objects.get(external_id=person.submission).state == State.ENDED
    assert spent(stage) == 30
    assert panels.wanted_places(stage) == 3
    for _ in range(2):
        Participant(panel, client, stage).finish()
    work_on()
    work_on()
    assert spent(stage) == 230


def test_an_answer_is_approved_at_the_part_that_was_paid(panel, stage, client, admin_user):  # noqa: F811
    """What was answered and not brought back: booked at its real amount, and the rest is free again."""
    person = Participant(panel, client, stage)
    person.answer()
    in_part(person, percent=25)
    work_on()
    assert payments(panel, person) == [("partial", 25)]
    work = Assignment.objects.get(external_id=person.submission)
    assert (work.state, work.paid_cents) == (State.APPROVED, 25)
    assert spent(stage) == 25
    panels.read_now(stage)
    work_on()
    assert spent(stage) == 25
    [agreed] = count_consents(stage.project)
    assert (agreed.language, agreed.version, agreed.people) == ("en", 1, 1)
    set_role(project=stage.project, user=admin_user, role="owner")
    client.force_login(admin_user)
    address = f"/desk/projects/{stage.project.slug}/stages/{stage.slug}/work/?state=all&format=csv"
    [line] = list(csv.DictReader(io.StringIO(b"".join(client.get(address)).decode("utf-8-sig"))))
    assert (line["consent"], line["protocol"]) == ("en 1", agreed.protocol_number)
    assert line["consented"]


@pytest.mark.parametrize("says", [True, False])
def test_a_part_paid_on_the_panels_own_pages_is_booked_or_waits_for_its_amount(panel, stage, client, says):  # noqa: F811
    """Where the panel says no amount a person enters it; nothing is booked as a whole reward."""
    person = Participant(panel, client, stage)
    person.answer()
    code = person.study.codes[panelmodels.PARTIAL]
    panel.step(
        person.submission, "COMPLETE", completion_code=code, completion_code_data={"percentage_of_reward": 40}
    )
    if not says:
        row = panel.state.get("submission", person.submission)
        del row["reward"]
        panel.state.save(row)
    work_on()
    if not says:
        assert spent(stage) == 0
        row = panel_pay.unbooked_parts(stage).get()
        with pytest.raises(CrowdError, match="less than the reward"):
            panel_pay.state_amount(row, cents=100, actor=None)
        panel_pay.state_amount(row, cents=40, actor=None)
        with pytest.raises(CrowdError, match="booked already"):
            panel_pay.state_amount(row, cents=41, actor=None)
        work_on()
    assert spent(stage) == 40
    assert not panel_pay.unbooked_parts(stage).exists()


def test_screen_outs_are_budgeted_paid_by_the_panel_and_booked_once(panel, stage, client):  # noqa: F811
    """Two slots were set aside with the study; each is spent once, and what is left goes back at the end."""
    study = PanelStudy.objects.get(stage=stage)
    assert study.screen_out_left == 2
    before = stage.reserved_cents
    person = Participant(panel, client, stage)
    person.open()
    panel.control("complete", submission_id=person.submission, code=study.codes[panelmodels.SCREENED_OUT])
    for _ in range(2):
        work_on()
        panels.read_now(stage)
    assert payments(panel, person) == [("screen_out", 10)]
    assert spent(stage) == 10
    assert Assignment.objects.get(external_id=person.submission).state == State.ENDED
    study.refresh_from_db()
    assert study.screen_out_left == 1
    assert stage.reserved_cents < before
    stages.close_stage(stage=stage)
    work_on()
    study.refresh_from_db()
    assert (study.state, study.screen_out_left) == ("stopped", 0)
    assert spent(stage) == 10
    assert stage.reserved_cents == 0


def test_terms_are_refused_when_they_cannot_be_kept(endpoint, panel):  # noqa: F811
    made = make_stage(endpoint, items=["tea"], redundancy=2, expected_seconds=300, reward_cents=100)
    study = panels.study_of(made)

    def keep(cents, slots):
        panel_pay.set_terms(
            study, screen_out_cents=cents, screen_out_slots=slots, pays_in_part=False, actor=None
        )

    for cents, slots, words in ((100, 1, "less than the reward"), (10, 0, "need both")):
        with pytest.raises(CrowdError, match=words):
            keep(cents, slots)
    keep(90, 100_000)
    with pytest.raises(CrowdError, match="Paid screen-outs may cost"):
        stages.open_stage(stage=made)
    keep(10, 1)
    stages.open_stage(stage=made)
    work_on()
    with pytest.raises(CrowdError, match="there already"):
        keep(0, 0)


def test_messages_are_sent_once_and_found_in_the_list_after_silence(panel, stage, client):  # noqa: F811
    people = [Participant(panel, client, stage) for _ in range(2)]
    panels.read_now(stage)
    study = people[0].study
    panel.control("faults", lost_after=1, path="*/messages/bulk/")
    [operation] = panels.write_to_participants(
        study, [each.person for each in people] + ["somebody-else"], text="How did it go?", actor=None
    )
    work_on()
    work_on()
    operation.refresh_from_db()
    assert operation.state == MarketOperation.State.CONFIRMED
    for each in people:
        bodies = [one["body"] for one in panel.get(f"/messages/?user_id={each.person}")["results"]]
        assert bodies.count("How did it go?") == 1
    panel.control("faults", lost_before=1, path="*/messages/")
    [lost] = panels.write_to_participants(study, [people[0].person], text="Lost words", actor=None)
    work_on()
    MarketOperation.objects.filter(pk=lost.pk).update(first_sent_at=timezone.now() - timedelta(minutes=6))
    work_on()
    lost.refresh_from_db()
    assert lost.needs_person
    assert "lists it for 0 of 1" in lost.error_text


def test_what_participants_write_is_kept_once_and_read_on_the_desk(panel, stage, client, admin_user):  # noqa: F811
    person = Participant(panel, client, stage)
    panels.read_now(stage)
    panel.control(
        "message",
        participant_id=person.person,
        body="<b>The page</b> is blank",
        study_id=person.study.external_id,
    )
    assert panels.sync_messages(stage.endpoint, force=True) == 1
    assert panels.sync_messages(stage.endpoint, force=True) == 0
    set_role(project=stage.project, user=admin_user, role="owner")
    client.force_login(admin_user)
    address = f"/desk/projects/{stage.project.slug}/stages/{stage.slug}/panel/"
    overview = " ".join(client.get(address).content.decode().split())
    assert "1 unread" in overview
    assert "can spend" in overview
    page = client.get(f"{address}messages/", {"to": f"participant:{person.person}"}).content.decode()
    assert "&lt;b&gt;The page&lt;/b&gt; is blank" in page
    assert f'value="participant:{person.person}" selected' in page
    answer = {"to": f"participant:{person.person}", "text": "Please reload it."}
    assert (
        "goes to 1 participant"
        in client.post(f"{address}messages/write/", answer, follow=True).content.decode()
    )
    assert client.post(f"{address}messages/write/", {"to": "participant:x", "text": "y"}).status_code == 422
    client.post(f"{address}messages/read/", {"read": [PanelMessage.objects.get().pk]})
    assert "unread" not in client.get(address).content.decode()
    work_on()
    bodies = [one["body"] for one in panel.get(f"/messages/?user_id={person.person}")["results"]]
    assert bodies == ["<b>The page</b> is blank", "Please reload it."]


def test_the_desk_sets_terms_and_pays_in_part(panel, endpoint, client, admin_user):  # noqa: F811
    made = make_stage(endpoint, items=["tea"], redundancy=1, expected_seconds=300, reward_cents=100)
    set_role(project=made.project, user=admin_user, role="owner")
    client.force_login(admin_user)
    address = f"/desk/projects/{made.project.slug}/stages/{made.slug}/panel/"
    assert "Besides whole rewards" in client.get(address).content.decode()
    kept = client.post(
        f"{address}terms/", {"screen_out": "0.10", "slots": "3", "pays_in_part": "on"}, follow=True
    )
    assert "go with the study" in kept.content.decode()
    stages.open_stage(stage=made)
    work_on()
    person = Participant(panel, client, made)
    person.open()
    client.post(f"{address}read/")
    row = PanelSubmission.objects.get(external_id=person.submission)
    assert "Pay a part" in client.get(address).content.decode()
    said = client.post(f"{address}{row.pk}/part/", {"percent": "7"}, follow=True).content.decode()
    assert "will be paid" not in said
    said = client.post(
        f"{address}{row.pk}/part/", {"percent": "50", "note": "Half."}, follow=True
    ).content.decode()
    assert "50 percent of the reward will be paid" in said
    work_on()
    assert payments(panel, person) == [("partial", 50)]
