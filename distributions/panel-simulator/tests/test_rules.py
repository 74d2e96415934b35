"""What the simulated panel does, rule by rule, without sockets."""

import base64
import json
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.crowd.panels.worlds import REASON, Panel, draft

UNIT = 160 + 53 + 11  # a reward, its fee of 33 % and the tax of 20 % on that, each rounded up


@pytest.fixture
def panel():
    return Panel()


# Studies


def test_a_study_goes_only_the_ways_that_are_documented(panel):
    steps = {
        "UNPUBLISHED": {"PUBLISH": "ACTIVE", "SCHEDULE_PUBLISH": "SCHEDULED"},
        "SCHEDULED": {"CANCEL_PUBLISH": "UNPUBLISHED"},
        "ACTIVE": {"PAUSE": "PAUSED", "STOP": "COMPLETED"},
        "PAUSED": {"START": "ACTIVE", "STOP": "COMPLETED"},
        "COMPLETED": {},
    }
    ways = {
        "UNPUBLISHED": [],
        "SCHEDULED": ["SCHEDULE_PUBLISH"],
        "ACTIVE": ["PUBLISH"],
        "PAUSED": ["PUBLISH", "PAUSE"],
        "COMPLETED": ["PUBLISH", "STOP"],
    }
    actions = ("PUBLISH", "SCHEDULE_PUBLISH", "CANCEL_PUBLISH", "PAUSE", "START", "STOP")
    for source, way in ways.items():
        for action in actions:
            study = panel.draft()
            path = f"/studies/{study['id']}/transition/"
            for step in way:
                panel.post(path, {"action": step, "publish_at": "2999-01-01T00:00:00Z"})
            target = steps[source].get(action)
            body = {"action": action, "publish_at": "2999-01-01T00:00:00Z"}
            assert panel.call("POST", path, body).status == (200 if target else 400), (source, action)
            assert panel.study_status(study) == (target or source)


def test_a_scheduled_study_is_published_by_the_clock_or_falls_back_without_funds(panel):
    planned = {"action": "SCHEDULE_PUBLISH", "publish_at": panel.state.stamp(panel.state.now() + 3600)}
    study, dear = panel.draft(), panel.draft(total_available_places=9_000)
    for each in (study, dear):
        panel.post(f"/studies/{each['id']}/transition/", planned)
    panel.control("clock", seconds=3601)
    assert (panel.study_status(study), panel.study_status(dear)) == ("ACTIVE", "UNPUBLISHED")


def test_publishing_needs_funds_and_locks_them_until_the_study_stops_or_rejects(panel):
    dear = panel.draft(total_available_places=9_000)
    assert "funds" in panel.refused(f"/studies/{dear['id']}/transition/", {"action": "PUBLISH"})
    assert panel.balance() == (1_000_000, 1_000_000)
    study = panel.publish()
    quoted = panel.post("/study-cost-calculator/", {"reward": 160, "total_available_places": 3})["total_cost"]
    assert quoted == 3 * UNIT
    assert panel.balance() == (1_000_000, 1_000_000 - quoted)
    rejected, approved = panel.submit(study), panel.submit(study)
    panel.step(rejected, "REJECT", message=REASON, rejection_category="NO_DATA")
    assert panel.balance() == (1_000_000, 1_000_000 - 2 * UNIT)
    panel.arrive(study)
    panel.arrive(study)  # the place that the rejection freed is locked again
    assert panel.balance() == (1_000_000, 1_000_000 - 3 * UNIT)
    panel.step(approved, "APPROVE")
    assert panel.balance() == (1_000_000 - UNIT, 1_000_000 - 3 * UNIT)
    panel.post(f"/studies/{study['id']}/transition/", {"action": "STOP"})
    assert panel.balance() == (1_000_000 - UNIT, 1_000_000 - 3 * UNIT)
    panel.control("clock", seconds=3600)  # who was at work runs out of time
    assert panel.balance() == (1_000_000 - UNIT, 1_000_000 - UNIT)


@pytest.mark.parametrize(
    ("fields", "word"),
    [
        ({"reward": 106}, "minimum"),
        ({"reward": 160.5}, "reward"),
        ({"reward": "160"}, "reward"),
        ({"total_available_places": 0}, "total_available_places"),
        ({"maximum_allowed_time": 10}, "maximum_allowed_time"),
        ({"maximum_allowed_time": 1440}, "maximum_allowed_time"),
        ({"external_study_url": "ftp://x"}, "external_study_url"),
        ({"completion_codes": [{"code": "A", "code_type": "OTHER", "actions": []}] * 2}, "unique"),
        (
            {
                "completion_codes": [
                    {"code": None, "code_type": "OTHER", "actions": [{"action": "MANUALLY_REVIEW"}]}
                ]
            },
            "Null",
        ),
        ({"filters": [{"filter_id": "nothing", "selected_values": []}]}, "nothing"),
        (
            {"filters": [{"filter_id": "participant_group_blocklist", "selected_values": ["0" * 24]}]},
            "no group",
        ),
        ({"access_details": [{"external_url": "https://a", "total_allocation": 2}]}, "sum"),
        ({"project": "0" * 24}, "project"),
        ({"name": None}, "name"),
    ],
)
def test_drafts_that_the_panel_would_not_take(panel, fields, word):
    answer = panel.call("POST", "/studies/", draft(**fields))
    assert answer.status in (400, 404)
    assert word in json.dumps(answer.body)


def test_code_actions_that_exclude_each_other(panel):
    def code(*actions, **more):
        return {"completion_codes": [{"code": "A", "code_type": "OTHER", "actions": list(actions), **more}]}

    screen_out = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 160, "slots": 1}
    both = code({"action": "MANUALLY_REVIEW"}, {"action": "AUTOMATICALLY_APPROVE"})
    for fields in (both, code({"action": "DYNAMIC_PAYMENT"}), code(screen_out)):
        panel.refused("/studies/", draft(**fields))
    panel.draft(**code({"action": "DYNAMIC_PAYMENT"}, actor="researcher"))


def test_published_studies_change_little_and_places_only_grow(panel):
    study = panel.publish()
    path = f"/studies/{study['id']}/"
    for fields in ({"reward": 200}, {"total_available_places": 2}, {"filters": []} | {"name": "x"}):
        panel.refused(path, fields, method="PATCH")
    assert (
        panel.call("PATCH", path, {"name": "A study", "internal_name": "seven"}).body["internal_name"]
        == "seven"
    )
    panel.refused(path, {"total_available_places": 9_000}, method="PATCH")
    assert panel.call("PATCH", path, {"total_available_places": 4}).body["total_available_places"] == 4
    assert panel.balance()[1] == 1_000_000 - 4 * UNIT
    panel.post(f"{path}transition/", {"action": "STOP"})
    assert panel.call("PATCH", path, {"total_available_places": 5}).body["status"] == "ACTIVE"


def test_slots_of_a_screen_out_may_change_after_publishing_and_nothing_else_of_a_code(panel):
    def codes(slots, reward=20):
        action = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": reward, "slots": slots}
        return [{"code": "OUT", "code_type": "FIXED_SCREENOUT", "actions": [action]}]

    study = panel.publish(completion_codes=codes(1))
    panel.submit(study, code="OUT")
    assert panel.payments() == [("screen_out", 20)]
    assert panel.study_status(study) == "PAUSED"
    path = f"/studies/{study['id']}/"
    panel.refused(path, {"completion_codes": codes(3, 30)}, method="PATCH")
    assert panel.call("PATCH", path, {"completion_codes": codes(3)}).status == 200
    panel.post(f"{path}transition/", {"action": "START"})
    assert panel.status(panel.submit(study, code="OUT")) == "SCREENED OUT"


def test_a_full_study_waits_for_review_and_is_completed_by_it(panel):
    study = panel.publish(total_available_places=2)
    first, second = panel.submit(study), panel.submit(study)
    assert panel.study_status(study) == "AWAITING REVIEW"
    panel.step(first, "APPROVE")
    panel.step(second, "REJECT", message=REASON, rejection_category="BAD_CODE")
    assert panel.study_status(study) == "COMPLETED"
    assert panel.balance() == (1_000_000 - UNIT, 1_000_000 - UNIT)


def test_a_study_is_found_by_our_key_in_its_metadata(panel):
    panel.draft(metadata="key-1")
    panel.draft(metadata="key-1")
    assert [each["metadata"] for each in panel.get("/studies/?state=UNPUBLISHED")["results"]] == ["key-1"] * 2


# People and submissions


def test_an_address_is_filled_with_the_three_values(panel):
    study, person = panel.publish(), panel.people()[0]
    came = panel.control("arrive", study_id=study["id"], participant_id=person)
    query = parse_qs(urlsplit(came["url"]).query)
    assert query == {
        "PROLIFIC_PID": [person],
        "STUDY_ID": [study["id"]],
        "SESSION_ID": [came["submission_id"]],
    }
    assert came["status"] == "ACTIVE"
    seen = panel.get(f"/submissions/{came['submission_id']}/")
    assert (seen["participant"], seen["study_id"], seen["status"]) == (person, study["id"], "ACTIVE")


def test_a_reserved_place_lapses_after_ten_minutes_and_time_runs_out_by_the_clock(panel):
    study, people = panel.publish(total_available_places=2), panel.people(3)
    held = panel.control("reserve", study_id=study["id"], participant_id=people[0])
    at_work = panel.arrive(study, people[1])
    assert held["status"] == "RESERVED"
    full = {"study_id": study["id"], "participant_id": people[2]}
    assert "taken" in panel.refused("/_control/arrive", full)
    panel.control("clock", seconds=599)
    assert panel.status(held["submission_id"]) == "RESERVED"
    panel.control("clock", seconds=2)
    assert panel.status(held["submission_id"]) == "TIMED-OUT"
    panel.arrive(study, people[2])
    panel.control("clock", seconds=60 * 25)
    assert panel.status(at_work) == "TIMED-OUT"
    panel.refused("/_control/complete", {"submission_id": at_work, "code": "DONE"})


def test_codes_do_what_the_study_says_and_wrong_ones_stay_as_typed(panel):
    group = panel.post("/participant-groups/", {"name": "seen"})["id"]
    add, remove = (
        {"action": f"{verb}_PARTICIPANT_GROUP", "participant_group": group}
        for verb in ("ADD_TO", "REMOVE_FROM")
    )
    codes = [
        {"code": "ADD", "code_type": "COMPLETED", "actions": [add, {"action": "AUTOMATICALLY_APPROVE"}]},
        {"code": "OUT", "code_type": "OTHER", "actions": [remove, {"action": "MANUALLY_REVIEW"}]},
        {
            "code": "NO",
            "code_type": "NO_CONSENT",
            "actions": [{"action": "REQUEST_RETURN", "return_reason": "No."}],
        },
    ]
    study, person = panel.publish(completion_codes=codes, total_available_places=9), panel.people()[0]
    assert panel.status(panel.submit(study, "ADD", person)) == "APPROVED"
    assert panel.payments() == [("reward", 160)]
    assert list(panel.state.get("group", group)["members"]) == [person]
    second = panel.publish(completion_codes=codes)
    panel.submit(second, "OUT", person)
    assert panel.state.get("group", group)["members"] == {}
    asked = panel.submit(study, "NO")
    assert panel.get(f"/submissions/{asked}/")["return_requested"]
    panel.control("return", submission_id=asked)
    assert panel.status(asked) == "RETURNED"
    for typed, kept in (("wrong=1+1", "wrong=1+1"), ("", None), (None, None)):
        submission = panel.submit(study, typed)
        seen = panel.get(f"/submissions/{submission}/")
        assert (seen["status"], seen["entered_code"]) == ("AWAITING REVIEW", kept)
    listed = panel.get(f"/submissions/?study={study['id']}&awaiting_review=true")["results"]
    assert [each["study_code"] for each in listed] == ["wrong=1+1", None, None]


def test_who_may_take_part(panel):
    people = panel.people(3)
    group = panel.post("/participant-groups/", {"name": "seen", "participant_ids": people[:1]})["id"]
    blocked = {"filter_id": "participant_group_blocklist", "selected_values": [group]}
    study = panel.publish(filters=[blocked])
    assert "filters" in panel.refused(
        "/_control/arrive", {"study_id": study["id"], "participant_id": people[0]}
    )
    panel.submit(study, person=people[1])
    assert "often" in panel.refused(
        "/_control/arrive", {"study_id": study["id"], "participant_id": people[1]}
    )
    panel.post(f"/studies/{study['id']}/transition/", {"action": "PAUSE"})
    assert "PAUSED" in panel.refused(
        "/_control/arrive", {"study_id": study["id"], "participant_id": people[2]}
    )
    old = panel.publish(filters=[{"filter_id": "age", "selected_range": {"lower": 40}}])
    [young] = panel.people(1, age=30)
    assert "filters" in panel.refused("/_control/arrive", {"study_id": old["id"], "participant_id": young})
    panel.arrive(old, *panel.people(1, age=50))
    lone = panel.publish(submissions_config={"max_concurrent_submissions": 1})
    panel.arrive(lone, people[0])
    assert "moment" in panel.refused(
        "/_control/arrive", {"study_id": lone["id"], "participant_id": people[1]}
    )


def test_a_transition_repeated_changes_nothing_and_wrong_ones_are_refused(panel):
    study = panel.publish(total_available_places=5)
    submission, at_work = panel.submit(study), panel.arrive(study)
    path = f"/submissions/{submission}/transition/"
    assert "ACTIVE" in panel.refused(f"/submissions/{at_work}/transition/", {"action": "APPROVE"})
    short = {"action": "REJECT", "message": "x" * 99, "rejection_category": "OTHER"}
    assert "100" in panel.refused(path, short)
    assert "rejection_category" in panel.refused(path, {"action": "REJECT", "message": REASON})
    panel.refused(path, {"action": "REJECT", "message": REASON, "rejection_category": "BAD_MOOD"})
    for _ in range(3):
        assert panel.step(submission, "APPROVE")["status"] == "APPROVED"
    assert panel.payments() == [("reward", 160)]
    assert "APPROVED" in panel.refused(
        path, {"action": "REJECT", "message": REASON, "rejection_category": "OTHER"}
    )
    second = panel.submit(study)
    for _ in range(2):
        panel.step(second, "REJECT", message=REASON, rejection_category="LOW_EFFORT")
    panel.refused(f"/submissions/{second}/transition/", {"action": "APPROVE"})
    assert panel.step(second, "UNREJECT")["status"] == "AWAITING REVIEW"
    assert panel.step(second, "RETURN")["status"] == "RETURNED"
    assert panel.step(second, "UNRETURN")["status"] == "AWAITING REVIEW"
    assert panel.step(second, "APPROVE")["status"] == "APPROVED"


def test_a_researcher_completes_with_a_part_of_the_reward(panel):
    code = {
        "code": "PART",
        "code_type": "OTHER",
        "actor": "researcher",
        "actions": [{"action": "DYNAMIC_PAYMENT"}],
    }
    study = panel.publish(completion_codes=[code])
    submission = panel.arrive(study)
    path = f"/submissions/{submission}/transition/"
    panel.refused(path, {"action": "COMPLETE", "completion_code": "PART"})
    body = {
        "action": "COMPLETE",
        "completion_code": "PART",
        "completion_code_data": {"percentage_of_reward": 50},
    }
    for _ in range(2):
        panel.post(path, body)
    assert panel.status(submission) == "PARTIALLY APPROVED"
    assert panel.payments() == [("partial", 80)]


# Bonuses


def test_bonuses_take_decimals_and_are_paid_minutes_after_they_are_sent(panel):
    study, person = panel.publish(), panel.people()[0]
    first, second = panel.submit(study, person=person), panel.submit(study)
    csv = f"{person},1.50\n{second},30\n"
    made = panel.post("/submissions/bonus-payments/", {"study_id": study["id"], "csv_bonuses": csv})
    assert made["amount"] == 3150
    assert panel.payments() == []
    before = panel.balance()
    panel.post(f"/bulk-bonus-payments/{made['id']}/pay/", status=202)
    assert panel.payments() == []
    assert panel.balance() == (before[0], before[1] - made["total_amount"])
    panel.control("clock", seconds=200)
    assert panel.payments() == [("bonus", 150), ("bonus", 3000)]
    assert panel.get(f"/submissions/{first}/")["bonus_payments"] == [150]
    assert panel.balance()[0] == before[0] - made["total_amount"]


def test_bonuses_sent_twice_are_paid_twice(panel):
    study = panel.publish()
    submission = panel.submit(study)
    body = {"study_id": study["id"], "csv_bonuses": f"{submission},0.30"}
    made = panel.post("/submissions/bonus-payments/", body)
    for _ in range(2):
        panel.post(f"/bulk-bonus-payments/{made['id']}/pay/", status=202)
    panel.control("clock", seconds=200)
    assert panel.get(f"/submissions/{submission}/")["bonus_payments"] == [30, 30]
    listed = panel.get("/_control/payments")["payments"]
    assert [(each["amount"], each["bulk_id"], each["at"] > "2026") for each in listed] == [
        (30, made["id"], True)
    ] * 2


@pytest.mark.parametrize(
    "line", ["{},1.505", "{},-1", "{},0", "{}", "{},1e400", "{},NaN", "{},1.50,3", "=1+1,1.50", ""]
)
def test_lists_of_bonuses_that_are_refused_whole(panel, line):
    study = panel.publish()
    good, other = panel.submit(study), panel.submit(study)
    csv = "\n".join(filter(None, (line.format(other), f"{good},1.00" if line else "")))
    text = panel.refused("/submissions/bonus-payments/", {"study_id": study["id"], "csv_bonuses": csv})
    assert "csv_bonuses" in text
    unknown = f"{good},1.00\n{'0' * 24},1.00"
    text = panel.refused("/submissions/bonus-payments/", {"study_id": study["id"], "csv_bonuses": unknown})
    assert "0" * 24 in text


def test_bonuses_need_funds(panel):
    study = panel.publish()
    submission = panel.submit(study)
    body = {"study_id": study["id"], "csv_bonuses": f"{submission},7000"}
    made = panel.post("/submissions/bonus-payments/", body)
    panel.post(f"/bulk-bonus-payments/{made['id']}/pay/", status=202)
    assert "funds" in panel.refused(f"/bulk-bonus-payments/{made['id']}/pay/")


# Lists


def test_pages_end_with_404_and_limits_with_nothing(panel):
    study = panel.publish(total_available_places=30)
    ids = [panel.submit(study) for _ in range(25)]
    path = f"/submissions/?study={study['id']}"
    first = panel.get(path)
    assert [each["id"] for each in first["results"]] == ids[:20]
    assert first["meta"]["count"] == 25
    following = first["_links"]["next"]["href"]
    second = panel.get(following.partition("/api/v1")[2])
    assert [each["id"] for each in second["results"]] == ids[20:]
    assert second["_links"]["next"]["href"] is None
    assert panel.call("GET", f"{path}&page=3").status == 404
    assert panel.call("GET", f"{path}&page=0").status == 400
    assert [each["id"] for each in panel.get(f"{path}&page_size=100&ordering=-started_at")["results"]] == ids[
        ::-1
    ]
    assert len(panel.get(f"{path}&limit=10&offset=20")["results"]) == 5
    assert panel.get(f"{path}&limit=10&offset=30")["results"] == []
    day = panel.state.stamp()[:10].split("-")[::-1]
    assert len(panel.get(f"{path}&page_size=100&submitted_from={'/'.join(day)}")["results"]) == 25
    assert panel.get(f"{path}&submitted_before={'/'.join(day)}")["results"] == []
    assert panel.call("GET", f"{path}&submitted_from=2026-01-31").status == 400
    assert panel.get(f"/studies/{study['id']}/submissions/counts/")["AWAITING REVIEW"] == 25


# Secure links


def test_secure_links_are_signed_with_keys_that_change(panel):
    study = panel.publish(is_external_study_url_secure=True)
    came = panel.control("arrive", study_id=study["id"], participant_id=panel.people()[0])
    token = parse_qs(urlsplit(came["url"]).query)["prolific_token"][0]
    header, claims = (json.loads(base64.urlsafe_b64decode(part + "===")) for part in token.split(".")[:2])
    assert claims["iss"] == "https://www.prolific.com"
    assert claims["exp"] - claims["iat"] == 120
    assert claims["sub"] == claims["prolific"]["SESSION_ID"] == came["submission_id"]
    assert claims["aud"] == "https://lab.example.org/p/1"
    kids = [each["kid"] for each in panel.get("/.well-known/study/jwks.json")["keys"]]
    assert [header["kid"]] == kids
    new = panel.control("keys")["kid"]
    assert [each["kid"] for each in panel.get("/.well-known/study/jwks.json")["keys"]] == [new, *kids]
    last = panel.control("keys", drop_old=True)["kid"]
    assert [each["kid"] for each in panel.get("/.well-known/study/jwks.json")["keys"]] == [last]


# The control surface


def test_people_come_work_leave_and_run_out_of_time_by_themselves(panel):
    panel.people(50)
    study = panel.publish(total_available_places=500)
    panel.control("people", arrive_per_minute=10, complete_share=0.6, leave_share=0.2, work_seconds=60)
    panel.control("clock", seconds=600)
    panel.control("people", arrive_per_minute=0)
    panel.control("clock", seconds=3600)
    counts = panel.get(f"/studies/{study['id']}/submissions/counts/")
    assert counts["TOTAL"] == 100
    assert counts["AWAITING REVIEW"] > 40
    assert counts["RETURNED"] > 5
    assert counts["TIMED-OUT"] > 5


def test_a_reset_forgets_everything(panel):
    panel.submit(panel.publish())
    panel.control("clock", seconds=100)
    panel.control("reset")
    state = panel.get("/_control/state")
    assert not any(state["counts"].values())
    assert panel.balance() == (1_000_000, 1_000_000)


def test_control_calls_that_are_not_understood_change_nothing(panel):
    for name, body in (
        ("clock", {"seconds": -1}),
        ("clock", {"seconds": "1"}),
        ("participants", {"n": 0}),
        ("faults", {"lost": 1}),
        ("faults", {"delay": 1.5}),
        ("complete", {"submission_id": 1}),
        ("people", {"leave_share": 0.9}),
    ):
        panel.refused(f"/_control/{name}", body)
    panel.refused("/_control/nothing", {}, status=404)


def test_the_page_of_return_completes_who_is_at_work(panel):
    study = panel.publish()
    first = panel.arrive(study)
    assert "AWAITING REVIEW" in panel.get("/submissions/complete?cc=DONE")
    assert panel.status(first) == "AWAITING REVIEW"
    second, third = panel.arrive(study), panel.arrive(study)
    page = panel.get("/submissions/complete?cc=%3Cb%3E")
    assert second in page and third in page and "<b>" not in page


def test_groups_take_and_lose_members_without_minding_repeats(panel):
    people = panel.people(3)
    group = panel.post("/participant-groups/", {"name": "seen"})["id"]
    path = f"/participant-groups/{group}/participants/"
    for _ in range(2):
        assert len(panel.post(path, {"participant_ids": people})["results"]) == 3
        assert len(panel.call("DELETE", path, {"participant_ids": people[:1]}).body["results"]) == 2
    [listed] = panel.get("/participant-groups/")["results"]
    assert (listed["id"], listed["participant_count"]) == (group, 2)
