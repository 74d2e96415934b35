"""The chaos panel, where test controls are on."""

import pytest

from marketplace import clock
from marketplace.models import Chaos
from marketplace.protocol import testcontrols
from tests.site import world


@pytest.fixture
def panel(lab, settings):
    settings.MARKETPLACE_TEST_TOKEN = "token"
    return f"/requester/{lab.customer_id}/controls/"


def test_without_test_controls_there_is_no_panel(lab, as_owner, as_staff):
    path = f"/requester/{lab.customer_id}/controls/"
    assert as_owner.get(path).status_code == as_staff.post(f"{path}reset").status_code == 404
    assert "Test controls" not in as_owner.get(f"/requester/{lab.customer_id}/").content.decode()


def test_faults_are_set_for_this_requester_alone(lab, panel, as_owner):
    other = world.make_requester("Other")
    as_owner.post(panel, {"throttle_next": "1", "error_rate": "0.25", "visibility_delay_s": "30"})
    faults = testcontrols.faults_for(lab.pk)
    assert (faults.error_rate, faults.visibility_delay_s) == (0.25, 30)
    assert testcontrols.faults_for(other.pk) == testcontrols.Faults()
    assert not testcontrols.take_throttle(other.pk)
    assert testcontrols.take_throttle(lab.pk) and not testcontrols.take_throttle(lab.pk)
    page = as_owner.get(panel).content.decode()
    assert 'value="0.25"' in page and "Test controls" in page
    as_owner.post(f"{panel}reset")
    assert not Chaos.objects.exists()


def test_faults_that_are_none_change_nothing(panel, as_owner, subtests):
    for wrong in [
        {"error_rate": "2"},
        {"throttle_next": "-1"},
        {"visibility_delay_s": "nan"},
        {"error_rate": "x"},
    ]:
        with subtests.test(wrong=wrong):
            assert as_owner.post(panel, wrong).status_code == 422
            assert not Chaos.objects.exists()


def test_staff_move_the_clock_and_owners_do_not(panel, as_owner, as_staff, stranger):
    assert stranger.get(panel).status_code == 404
    assert stranger.post(panel, {"throttle_next": "1"}).status_code == 404
    assert as_owner.post(f"{panel}clock", {"by": "86400"}).status_code == 404
    assert clock.advanced_seconds() == 0
    as_staff.post(f"{panel}clock", {"by": "86400"})
    assert clock.advanced_seconds() == 86_400
    as_staff.post(f"{panel}clock", {"by": "5"})
    assert clock.advanced_seconds() == 86_400
    assert "1 day ahead of the real time" in as_staff.get(panel).content.decode()
