"""Review policies: what they find, what they do with whose money, and how it is reported (2.8)."""

from datetime import timedelta

from tests.conformance.events import Poller, specification
from tests.conformance.protocol import (
    NOBODY,
    assignments,
    balance,
    create_hit,
    get_assignment,
    get_hit,
    hit_properties,
    invalid,
    refused_request,
)

KEY = {"capital": ["Paris"], "rivers": ["Seine", "Loire"]}


def policy(name, **parameters):
    entries = []
    for key, value in parameters.items():
        if isinstance(value, dict):
            values = [{"Key": question, "Values": answers} for question, answers in value.items()]
            entries.append({"Key": key, "MapEntries": values})
        else:
            entries.append({"Key": key, "Values": value if isinstance(value, list) else [str(value)]})
    return {"PolicyName": f"{name}/2011-09-01", "Parameters": entries}


def known(**parameters):
    return policy("ScoreMyKnownAnswers", **{"AnswerKey": KEY, **parameters})


def plurality(*questions, threshold=50, **parameters):
    parameters = {"DisregardAssignmentIfRejected": "T", **parameters}
    return policy(
        "SimplePlurality", QuestionIds=list(questions), QuestionAgreementThreshold=threshold, **parameters
    )


def report(client, hit, **options):
    """The whole report, page after page of one."""
    whole = {"pages": 0}
    token = {}
    while True:
        said = client.list_review_policy_results_for_hit(
            HITId=hit["HITId"], **{"MaxResults": 1, **options}, **token
        )
        for level in ("Assignment", "HIT"):
            part = said.get(f"{level}ReviewReport")
            if part is not None:
                mine = whole.setdefault(level, {"ReviewResults": [], "ReviewActions": []})
                for name, rows in part.items():
                    mine[name] += rows
        if "NextToken" not in said:
            return whole
        whole["pages"] += 1
        token = {"NextToken": said["NextToken"]}


def figures(part):
    return [(row["Key"], row.get("QuestionId"), row["Value"]) for row in part["ReviewResults"]]


def deeds(part):
    return [(row["ActionName"], row["Status"], row.get("ErrorCode")) for row in part["ReviewActions"]]


# Known answers


def test_known_answers_approve_what_is_right(new_requester, worker):
    client = new_requester("10.00").client
    hit = create_hit(
        client,
        Reward="1.00",
        AssignmentReviewPolicy=known(ApproveIfKnownAnswerScoreIsAtLeast=80, ApproveReason="Well read."),
    )
    taken = worker.do(hit["HITId"], capital=" Paris ", rivers="Loire|Seine", opinion="nice")
    found = get_assignment(client, taken["assignment_id"])
    assert found["AssignmentStatus"] == "Approved"
    assert found["RequesterFeedback"] == "Well read."
    assert found["ApprovalTime"] == found["SubmitTime"]
    assert balance(client) == ("9.00", "0.00")
    whole = report(client, hit)
    assert figures(whole["Assignment"]) == [
        ("KnownAnswerCorrect", "capital", "1"),
        ("KnownAnswerCorrect", "rivers", "1"),
        ("KnownAnswerScore", None, "100"),
    ]
    assert deeds(whole["Assignment"]) == [("review", "Succeeded", None), ("approve", "Succeeded", None)]
    assert whole["pages"] == 5
    assert "HIT" not in whole
    review = whole["Assignment"]["ReviewActions"][0]
    assert {row["ActionId"] for row in whole["Assignment"]["ReviewResults"]} == {review["ActionId"]}
    assert (review["TargetId"], review["TargetType"]) == (taken["assignment_id"], "Assignment")
    assert review["CompleteTime"] == found["SubmitTime"]


def test_known_answers_match_exactly_or_not_at_all(client, worker, subtests):
    """Letter by letter, the same set of values; only white space around them does not count."""
    for answers, score in [
        ({"capital": "paris", "rivers": "Seine|Loire"}, "50"),
        ({"capital": "Paris.", "rivers": "Seine"}, "0"),
        ({"capital": "Paris", "rivers": "Seine|Loire|Rhine"}, "50"),
        ({"capital": "Paris|London"}, "0"),
        ({"other": "x"}, "0"),
    ]:
        with subtests.test(answers=answers, score=score):
            hit = create_hit(client, AssignmentReviewPolicy=known())
            taken = worker.do(hit["HITId"], **answers)
            assert figures(report(client, hit)["Assignment"])[-1] == ("KnownAnswerScore", None, score)
            assert get_assignment(client, taken["assignment_id"])["AssignmentStatus"] == "Submitted"


def test_known_answers_reject_what_is_wrong_and_ask_somebody_else(new_requester, workers):
    client = new_requester("10.00").client
    hit = create_hit(
        client,
        Reward="1.00",
        AssignmentReviewPolicy=known(
            ApproveIfKnownAnswerScoreIsAtLeast=100,
            RejectIfKnownAnswerScoreIsLessThan=100,
            RejectReason="Paris, by the Seine.",
            ExtendIfKnownAnswerScoreIsLessThan=100,
            ExtendMaximumAssignments=2,
            ExtendMinimumTimeInSeconds=86_400,
        ),
    )
    bad = workers[0].do(hit["HITId"], capital="Rome")
    found = get_assignment(client, bad["assignment_id"])
    assert (found["AssignmentStatus"], found["RequesterFeedback"]) == ("Rejected", "Paris, by the Seine.")
    extended = get_hit(client, hit)
    assert (extended["HITStatus"], extended["MaxAssignments"]) == ("Assignable", 2)
    assert extended["Expiration"] >= hit["CreationTime"] + timedelta(days=1)
    assert balance(client) == ("9.00", "1.00")
    workers[1].do(hit["HITId"], capital="Paris", rivers="Seine|Loire")
    assert get_hit(client, hit)["HITStatus"] == "Reviewable"
    assert balance(client) == ("9.00", "0.00")
    assert deeds(report(client, hit)["Assignment"]) == [
        *(("review", "Succeeded", None), ("reject", "Succeeded", None), ("extend", "Succeeded", None)),
        *(("review", "Succeeded", None), ("approve", "Succeeded", None)),
    ]


def test_an_extension_stops_at_its_limit_and_says_so(client, workers):
    """ExtendMaximumAssignments is a total; reaching it is no failure."""
    hit = create_hit(
        client,
        AssignmentReviewPolicy=known(ExtendIfKnownAnswerScoreIsLessThan=100, ExtendMaximumAssignments=2),
    )
    for worker in workers[:2]:
        worker.do(hit["HITId"], capital="Rome")
    assert get_hit(client, hit)["MaxAssignments"] == 2
    actions = report(client, hit)["Assignment"]["ReviewActions"]
    assert [row["Status"] for row in actions if row["ActionName"] == "extend"] == ["Succeeded"] * 2
    assert actions[-1]["Result"] == "The HIT has 2 assignments; nothing was added."


def test_an_extension_without_funds_fails_and_the_rest_stands(new_requester, worker):
    client = new_requester("1.00").client
    hit = create_hit(
        client,
        Reward="1.00",
        AssignmentReviewPolicy=known(
            ApproveIfKnownAnswerScoreIsAtLeast=0, ExtendIfKnownAnswerScoreIsLessThan=101
        ),
    )
    taken = worker.do(hit["HITId"], capital="Rome")
    assert get_assignment(client, taken["assignment_id"])["AssignmentStatus"] == "Approved"
    assert deeds(report(client, hit)["Assignment"]) == [
        ("review", "Succeeded", None),
        ("approve", "Succeeded", None),
        ("extend", "Failed", "AWS.MechanicalTurk.InsufficientFunds"),
    ]
    assert get_hit(client, hit)["MaxAssignments"] == 1
    assert get_hit(client, hit)["Expiration"] == hit["Expiration"]
    assert balance(client) == ("0.00", "0.00")


def test_a_policy_never_makes_nine_places_ten(new_requester, worker):
    client = new_requester("100.00", "mturk-2026").client
    hit = create_hit(
        client,
        MaxAssignments=9,
        AssignmentReviewPolicy=known(ExtendIfKnownAnswerScoreIsLessThan=100, ExtendMaximumAssignments=25),
    )
    before = balance(client)
    worker.do(hit["HITId"], capital="Rome")
    assert get_hit(client, hit)["MaxAssignments"] == 9
    assert deeds(report(client, hit)["Assignment"])[-1] == (
        *("extend", "Failed"),
        "AWS.MechanicalTurk.InvalidMaximumAssignmentsIncrease",
    )
    assert balance(client) == before


def test_a_policy_comes_before_automatic_approval(new_requester, workers):
    """AutoApprovalDelay 0 approves only what the policy did not reject."""
    client = new_requester("10.00").client
    hit = create_hit(
        client,
        Reward="1.00",
        MaxAssignments=2,
        AutoApprovalDelayInSeconds=0,
        AssignmentReviewPolicy=known(RejectIfKnownAnswerScoreIsLessThan=50),
    )
    workers[0].do(hit["HITId"], capital="Rome")
    workers[1].do(hit["HITId"], capital="Paris")
    states = [row["AssignmentStatus"] for row in assignments(client, hit)]
    assert states == ["Rejected", "Approved"]
    assert balance(client) == ("9.00", "0.00")


def test_what_a_policy_does_is_told(requester, client, worker):
    properties = hit_properties(
        AssignmentReviewPolicy=known(
            RejectIfKnownAnswerScoreIsLessThan=50, ExtendIfKnownAnswerScoreIsLessThan=50
        )
    )
    first = create_hit(client, **properties)
    poller = Poller(requester.queues())
    client.update_notification_settings(
        HITTypeId=first["HITTypeId"], Notification=specification(poller.url), Active=True
    )
    worker.do(first["HITId"], capital="Rome")
    assert poller.names() == [
        *("AssignmentAccepted", "AssignmentSubmitted", "AssignmentRejected", "HITExtended"),
    ]


# Plurality


def test_plurality_finds_what_most_answered_and_decides_by_it(new_requester, workers):
    """The documented example: three workers, four questions; 66, 66, 100 and none."""
    client = new_requester("10.00").client
    hit = create_hit(
        client,
        Reward="1.00",
        MaxAssignments=3,
        HITReviewPolicy=plurality(
            *"ABCD",
            ApproveIfWorkerAgreementScoreIsAtLeast=100,
            RejectIfWorkerAgreementScoreIsLessThan=60,
        ),
    )
    table = [
        {"A": "coat", "B": "blue", "C": "large", "D": "Furry"},
        {"A": "sweater", "B": "blue", "C": "large", "D": "fur"},
        {"A": "coat", "B": "green", "C": "large", "D": "furr"},
    ]
    for worker, answers in zip(workers, table, strict=True):
        worker.do(hit["HITId"], **answers)
    part = report(client, hit)["HIT"]
    assert figures(part) == [
        *(("AgreedAnswerFound", "A", "true"), ("AgreedAnswer", "A", "coat")),
        ("AnswerAgreementScore", "A", "66"),
        *(("AgreedAnswerFound", "B", "true"), ("AgreedAnswer", "B", "blue")),
        ("AnswerAgreementScore", "B", "66"),
        *(("AgreedAnswerFound", "C", "true"), ("AgreedAnswer", "C", "large")),
        ("AnswerAgreementScore", "C", "100"),
        ("AgreedAnswerFound", "D", "false"),
        ("HitAgreementScore", None, "75"),
        *(("WorkerAgreementScore", None, "100"), ("PluralityAnswersCorrect", None, "3")),
        ("PluralityAnswersIncorrect", None, "0"),
        *(("WorkerAgreementScore", None, "66"), ("PluralityAnswersCorrect", None, "2")),
        ("PluralityAnswersIncorrect", None, "1"),
        *(("WorkerAgreementScore", None, "66"), ("PluralityAnswersCorrect", None, "2")),
        ("PluralityAnswersIncorrect", None, "1"),
    ]
    assert deeds(part) == [("review", "Succeeded", None), ("approve", "Succeeded", None)]
    states = [row["AssignmentStatus"] for row in assignments(client, hit)]
    assert states == ["Approved", "Submitted", "Submitted"]
    assert balance(client) == ("7.00", "2.00")


def test_plurality_asks_more_workers_until_they_agree(requester, client, workers):
    properties = hit_properties(
        MaxAssignments=2,
        HITReviewPolicy=plurality(
            "A",
            ApproveIfWorkerAgreementScoreIsAtLeast=100,
            RejectIfWorkerAgreementScoreIsLessThan=1,
            RejectReason="Not a cat.",
            ExtendIfHITAgreementScoreIsLessThan=100,
            ExtendMaximumAssignments=5,
            ExtendMinimumTimeInSeconds=3600,
        ),
    )
    hit = create_hit(client, **properties)
    poller = Poller(requester.queues())
    client.update_notification_settings(
        HITTypeId=hit["HITTypeId"],
        Notification=specification(poller.url, "HITReviewable", "HITExtended"),
        Active=True,
    )
    workers[0].do(hit["HITId"], A="cat")
    workers[1].do(hit["HITId"], A="dog")
    assert (get_hit(client, hit)["MaxAssignments"], get_hit(client, hit)["HITStatus"]) == (3, "Assignable")
    assert poller.names() == ["HITExtended"]
    workers[2].do(hit["HITId"], A="cat")
    assert poller.names() == ["HITReviewable"]
    found = {row["WorkerId"]: row for row in assignments(client, hit)}
    assert [found[worker.worker_id]["AssignmentStatus"] for worker in workers] == [
        *("Approved", "Rejected", "Approved"),
    ]
    assert found[workers[1].worker_id]["RequesterFeedback"] == "Not a cat."


def test_plurality_runs_at_expiry_too_and_without_work_it_compares_none(client, workers, advance):
    """Also where nobody looks: by the clock alone."""
    policies = {"HITReviewPolicy": plurality("A", ApproveIfWorkerAgreementScoreIsAtLeast=100)}
    worked = create_hit(client, MaxAssignments=3, LifetimeInSeconds=600, **policies)
    empty = create_hit(client, LifetimeInSeconds=600, **policies)
    for worker in workers[:2]:
        worker.do(worked["HITId"], A="cat")
    assert report(client, worked) == {"pages": 0, "HIT": {"ReviewResults": [], "ReviewActions": []}}
    advance(601)
    assert {row["AssignmentStatus"] for row in assignments(client, worked)} == {"Approved"}
    actions = report(client, empty)["HIT"]["ReviewActions"]
    assert [row["Result"] for row in actions] == ["There is no work to compare."]


def test_plurality_leaves_out_whom_the_known_answers_convict(client, workers):
    """DisregardAssignmentIfKnownAnswerScoreIsLessThan, and rejected work."""
    hit = create_hit(
        client,
        MaxAssignments=3,
        AssignmentReviewPolicy=known(),
        HITReviewPolicy=plurality("A", DisregardAssignmentIfKnownAnswerScoreIsLessThan=50),
    )
    workers[0].do(hit["HITId"], capital="Paris", A="cat")
    workers[1].do(hit["HITId"], capital="Rome", A="dog")
    rejected = workers[2].accept(hit["HITId"])
    assert workers[2].submit(rejected, capital="Rome", A="dog").status == 200
    part = report(client, hit, PolicyLevels=["HIT"])
    assert set(part) == {"pages", "HIT"}
    assert ("AgreedAnswer", "A", "cat") in figures(part["HIT"])


# The report


def test_the_report_repeats_the_policies_and_shows_what_is_asked_for(client, worker):
    policies = {"AssignmentReviewPolicy": known(), "HITReviewPolicy": plurality("capital")}
    hit = create_hit(client, **policies)
    worker.do(hit["HITId"], capital="Paris")

    def ask(**options):
        said = client.list_review_policy_results_for_hit(HITId=hit["HITId"], MaxResults=100, **options)
        said.pop("ResponseMetadata")
        return said

    said = ask()
    assert said["HITId"] == hit["HITId"]
    assert {name: said[name] for name in policies} == policies
    assert set(ask(PolicyLevels=["Assignment"])) == {
        *("HITId", "AssignmentReviewPolicy", "AssignmentReviewReport", "NextToken"),
    }
    without = ask(RetrieveActions=False)
    assert set(without["HITReviewReport"]) == {"ReviewResults"}
    assert without["HITReviewReport"]["ReviewResults"] == said["HITReviewReport"]["ReviewResults"]
    without = ask(RetrieveResults=False)
    assert set(without["AssignmentReviewReport"]) == {"ReviewActions"}
    assert set(ask(RetrieveResults=False, RetrieveActions=False)) == {
        *("HITId", *policies, "AssignmentReviewReport", "HITReviewReport"),
    }


def test_the_report_of_a_hit_without_policies_is_empty_and_others_have_none(client, new_requester):
    hit = create_hit(client)
    said = client.list_review_policy_results_for_hit(HITId=hit["HITId"])
    said.pop("ResponseMetadata")
    assert said == {"HITId": hit["HITId"]}
    for stranger, hit_id in ((new_requester().client, hit["HITId"]), (client, NOBODY)):
        with refused_request("HITDoesNotExist"):
            stranger.list_review_policy_results_for_hit(HITId=hit_id)
    for token in ("garbage", "r", "a", "rp1:x", client.list_hits()["NextToken"]):
        with invalid("nextToken"):
            client.list_review_policy_results_for_hit(HITId=hit["HITId"], NextToken=token)


# What is refused


def test_a_policy_that_cannot_be_followed_is_refused(client, subtests):
    """Silently ignoring a policy is the one wrong answer: RequestError, nothing created."""
    at_assignments, at_hits = "AssignmentReviewPolicy", "HITReviewPolicy"
    for level, wrong, stem in [
        (at_assignments, policy("ScoreMyKnownAnswers"), "AnswerKey"),
        (at_assignments, policy("ScoreMyKnownAnswers", AnswerKey=["Paris"]), "AnswerKey"),
        (at_assignments, policy("SimplePlurality", QuestionIds="a"), "ScoreMyKnownAnswers"),
        (at_assignments, policy("MyOwnPolicy"), "ScoreMyKnownAnswers"),
        (
            at_assignments,
            known(ApproveIfKnownAnswerScoreIsAtLeast="most"),
            "ApproveIfKnownAnswerScoreIsAtLeast",
        ),
        (at_assignments, known(ApproveIfKnownAnswerScoreIsAtLeast=102), "0 to 101"),
        (at_assignments, known(ApproveIfKnownAnswerScoreIsAtLeast=["1", "2"]), "exactly one value"),
        (at_assignments, known(ExtendMaximumAssignments=26), "2 to 25"),
        (at_assignments, known(ApproveIfKnownAnswerScoreIsLeast=1), "ApproveIfKnownAnswerScoreIsLeast"),
        (at_assignments, known(RejectReason="x" * 1025), "RejectReason"),
        (at_assignments, known(AnswerKey={f"q{number}": ["a"] for number in range(1001)}), "1 to 1000"),
        (at_assignments, known(AnswerKey={"q" * 256: ["a"]}), "255 characters"),
        (
            at_assignments,
            known(ApproveIfKnownAnswerScoreIsAtLeast=40, RejectIfKnownAnswerScoreIsLessThan=60),
            "approved and rejected at once",
        ),
        (at_hits, policy("SimplePlurality", QuestionAgreementThreshold=50), "QuestionIds"),
        (at_hits, policy("SimplePlurality", QuestionIds="a"), "QuestionAgreementThreshold"),
        (at_hits, known(), "SimplePlurality"),
        (at_hits, plurality("a", threshold=101), "0 to 100"),
        (at_hits, plurality("a", ExtendIfHITAgreementScoreIsLessThan=50), "ExtendMaximumAssignments"),
        (at_hits, plurality("a", DisregardAssignmentIfRejected="maybe"), "T or F"),
    ]:
        with subtests.test(wrong=wrong, stem=stem):
            properties = hit_properties(**{level: wrong})
            with refused_request("InvalidParameterValue", stem):
                client.create_hit(**properties)
    assert client.list_hits()["NumResults"] == 0
