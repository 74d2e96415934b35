"""Whatever is called in whatever order, the simulated panel's books hold."""

import random

import pytest

from tests.crowd.panels.worlds import CODES, REASON, Panel
from tests.scale import TEST_ALL

SCREEN_OUT = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 20, "slots": 2}
PART = {
    "code": "PART",
    "code_type": "OTHER",
    "actor": "researcher",
    "actions": [{"action": "DYNAMIC_PAYMENT"}],
}


def calls_of(chance, panel, studies, submissions, bonuses, people):
    """One call, drawn."""
    study, submission = chance.choice(studies), chance.choice(submissions or ["0" * 24])
    action = chance.choice(
        ("APPROVE", "APPROVE", "REJECT", "RETURN", "UNREJECT", "UNRETURN", "SCREEN_OUT", "COMPLETE")
    )
    body = {"action": action, "message": REASON, "rejection_category": "OTHER", "completion_code": "PART"}
    body["completion_code_data"] = {"percentage_of_reward": chance.randrange(8, 100)}
    places = panel.get(f"/studies/{study}/")["total_available_places"]
    return chance.choice(
        [
            ("POST", "/_control/arrive", {"study_id": study, "participant_id": chance.choice(people)}),
            ("POST", "/_control/arrive", {"study_id": study, "participant_id": chance.choice(people)}),
            ("POST", "/_control/reserve", {"study_id": study, "participant_id": chance.choice(people)}),
            (
                "POST",
                "/_control/complete",
                {"submission_id": submission, "code": chance.choice(("DONE", "AUTO", "OUT"))},
            ),
            ("POST", "/_control/complete", {"submission_id": submission, "code": "wrong"}),
            ("POST", "/_control/return", {"submission_id": submission}),
            ("POST", "/_control/clock", {"seconds": chance.choice((10, 300, 2_000))}),
            ("POST", f"/submissions/{submission}/transition/", body),
            ("POST", f"/submissions/{submission}/transition/", body),
            (
                "POST",
                f"/studies/{study}/transition/",
                {"action": chance.choice(("PUBLISH", "PAUSE", "START", "START", "STOP"))},
            ),
            ("PATCH", f"/studies/{study}/", {"total_available_places": places + chance.randrange(3)}),
            (
                "POST",
                "/submissions/bonus-payments/",
                {"study_id": study, "csv_bonuses": f"{submission},0.50"},
            ),
            ("POST", f"/bulk-bonus-payments/{chance.choice(bonuses or ['0' * 24])}/pay/", None),
        ]
    )


@pytest.mark.parametrize("seed", range(12 if TEST_ALL else 4))
def test_the_balance_is_never_passed_and_no_place_is_given_twice(seed):
    chance, panel = random.Random(seed), Panel(balance=6_000)
    codes = [*CODES, PART, {"code": "OUT", "code_type": "FIXED_SCREENOUT", "actions": [SCREEN_OUT]}]
    studies = [panel.draft(completion_codes=codes)["id"] for _ in range(2)]
    panel.post(f"/studies/{studies[0]}/transition/", {"action": "PUBLISH"})
    people, submissions, bonuses, answers = panel.people(12), [], [], set()
    for _ in range(150):
        method, path, body = calls_of(chance, panel, studies, submissions, bonuses, people)
        answer = panel.call(method, path, body)
        assert answer.status in (200, 201, 202, 400, 404), (path, body, answer)
        answers.add((path.rsplit("/", 2)[-2], answer.status < 300))
        if answer.status < 300 and "submission_id" in (answer.body or {}):
            submissions = list(dict.fromkeys([*submissions, answer.body["submission_id"]]))
        if answer.status == 201:
            bonuses.append(answer.body["id"])
        listed = panel.get("/_control/payments")["payments"]
        total, available = panel.balance()
        assert total == 6_000 - sum(each["amount"] + each["fees"] + each["vat"] for each in listed)
        assert 0 <= available <= total, (path, body)
        rewards = [each["submission_id"] for each in listed if each["kind"] != "bonus"]
        assert len(set(rewards)) == len(rewards)
        for study in studies:
            seen = panel.get(f"/studies/{study}/")
            assert seen["places_taken"] <= seen["total_available_places"]
    assert len(answers) > 8
