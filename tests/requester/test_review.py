"""Reviewing answers: sheets by HIT and by worker, decisions, bonuses, many at a time."""

import re
import uuid
from datetime import timedelta

import pytest

from marketplace import clock
from marketplace.forms.questions import fields_of
from marketplace.lifecycle import assignments
from marketplace.models import HIT, Bonus, Holding, LedgerEntry
from marketplace.money import ledger
from tests.batches import making
from tests.cases import apart
from tests.site import world

State = Holding.State
HOSTILE = '<script>alert(1)</script><img src=x onerror="alert(2)">'


@pytest.fixture
def group(lab):
    return world.make_group(lab, "Name the colour", reward_cents=20)


def state_of(work: Holding) -> str:
    work.refresh_from_db()
    return work.state


def answered(worker, hit, *fields):
    return assignments.submit(holding=world.take(worker, hit), fields=fields)


def sheet(page):
    return [each.row.pk for each in page.context["answers"]]


def test_the_queues_begin_with_the_oldest_and_count_what_waits(as_owner, at, group, rosa, ben):
    first, second, done = (world.post(group, places=2) for _ in range(3))
    oldest = world.do(rosa, first)
    world.do(ben, first)
    world.do(rosa, second)
    world.approve(world.do(ben, done))
    page = as_owner.get(at("review/"))
    assert [row.hit_id for row in page.context["rows"]] == [first.hit_id, second.hit_id]
    begin = 'href="{}">Begin reviewing</a>'
    assert "3 answers wait for a decision." in page.content.decode()
    assert begin.format(at(f"review/hits/{first.hit_id}/")) in page.content.decode()
    assert page.context["rows"][0].due == oldest.auto_approve_at
    page = as_owner.get(at("review/workers/"))
    assert [(row.worker_id, row.answered) for row in page.context["rows"]] == [("AROSA", 2), ("ABEN", 1)]
    assert begin.format(at("review/workers/AROSA/")) in page.content.decode()


def test_a_sheet_draws_every_field_and_runs_nothing_of_it(as_owner, at, group, rosa):
    hit = world.post(group)
    answered(
        rosa,
        hit,
        ("colour", HOSTILE),
        ("data", '{"b": [1, {"c": "ü"}], "a": 2}'),
        ("long", "word " * 1000),
        (HOSTILE, "named so"),
        ("empty", ""),
    )
    text = as_owner.get(at(f"review/hits/{hit.hit_id}/")).content.decode()
    assert "<script>alert" not in text and "<img src=x" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text
    assert "&quot;c&quot;: &quot;ü&quot;" in text and "  &quot;b&quot;: [" in text
    assert "All 5,000 characters" in text
    assert "Empty." in text


def test_answers_of_question_forms_are_read_by_their_choices_and_what_is_none_as_it_came():
    xml = (
        '<QuestionFormAnswers xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/'
        '2005-10-01/QuestionFormAnswers.xsd"><Answer><QuestionIdentifier>likes</QuestionIdentifier>'
        "<SelectionIdentifier>tea</SelectionIdentifier><SelectionIdentifier>milk</SelectionIdentifier>"
        "<OtherSelectionText>mate</OtherSelectionText></Answer>"
        "<Answer><QuestionIdentifier>photo</QuestionIdentifier><UploadedFileSizeInBytes>12"
        "</UploadedFileSizeInBytes><UploadedFileKey>k1</UploadedFileKey></Answer>"
        "<Answer><QuestionIdentifier>why</QuestionIdentifier><FreeText>warm</FreeText></Answer>"
        "</QuestionFormAnswers>"
    )
    assert [(each.name, each.content) for each in fields_of(xml)] == [
        ("likes", "tea | milk | mate"),
        ("photo", "k1 (12 bytes)"),
        ("why", "warm"),
    ]
    assert fields_of("") == []
    for other in (
        "not xml at all",
        '<!DOCTYPE a [<!ENTITY b "bbbb">]><a>&b;</a>',
        "<Other><Answer/></Other>x",
        "<Other/>",
    ):
        assert [(each.name, each.text) for each in fields_of(other)] == [("", other)]


def test_approving_pays_once_however_often_it_is_pressed(as_owner, at, lab, group, rosa):
    hit = world.post(group)
    work = world.do(rosa, hit)
    path = at(f"work/{work.pk}/approve/")
    said = as_owner.post(path, {"feedback": "Well seen.\r\nThank you."}, follow=True).content.decode()
    assert "Approved: AROSA gets $0.20." in said
    again = as_owner.post(path, {"feedback": "Thanks"}, follow=True).content.decode()
    assert "nothing was paid twice" in again
    assert state_of(work) == State.APPROVED
    assert work.feedback == "Well seen.\nThank you."
    assert LedgerEntry.objects.filter(holding=work, kind="reward").count() == 1
    assert ledger.audit() == []


def test_a_rejection_needs_a_reason(as_owner, at, group, rosa):
    work = world.do(rosa, world.post(group))
    path = at(f"work/{work.pk}/reject/")
    assert "Reason: This field is required." in as_owner.post(path, follow=True).content.decode()
    for bad in ("  ", "bell \x07", "x" * 1025):
        as_owner.post(path, {"feedback": bad})
        assert state_of(work) == State.SUBMITTED
    assert "Rejected: AROSA" in as_owner.post(path, {"feedback": "Empty."}, follow=True).content.decode()
    again = as_owner.post(path, {"feedback": "Something else."}, follow=True).content.decode()
    assert "It was rejected before" in again
    assert state_of(work) == State.REJECTED
    assert work.feedback == "Empty."
    assert ledger.audit() == []


def test_what_is_approved_cannot_be_rejected_and_the_reverse_needs_the_words_after_all(
    as_owner, at, group, rosa, ben
):
    hit = world.post(group, places=2)
    paid, refused = world.do(rosa, hit), world.do(ben, hit)
    world.approve(paid)
    said = as_owner.post(at(f"work/{paid.pk}/reject/"), {"feedback": "No."}, follow=True).content.decode()
    assert "It is approved already" in said
    world.reject(refused, "Empty.")
    said = as_owner.post(at(f"work/{refused.pk}/approve/"), follow=True).content.decode()
    assert "It was rejected meanwhile" in said
    assert state_of(refused) == State.REJECTED
    page = as_owner.get(at(f"work/{refused.pk}/")).content.decode()
    assert "Approve after all" in page
    as_owner.post(at(f"work/{refused.pk}/approve/"), {"override": "1", "feedback": "My fault."})
    assert state_of(refused) == State.APPROVED
    assert refused.feedback == "My fault."
    assert ledger.audit() == []


def test_after_thirty_days_a_rejection_is_final(as_owner, at, group, rosa):
    hit = world.post(group)
    with world.in_the_past(days=1):
        work = world.do(rosa, hit)
        world.reject(work, "Empty.")
    Holding.objects.filter(pk=work.pk).update(submitted_at=clock.now() - timedelta(days=31))
    assert "The rejection is final" in as_owner.get(at(f"work/{work.pk}/")).content.decode()
    said = as_owner.post(at(f"work/{work.pk}/approve/"), {"override": "1"}, follow=True).content.decode()
    assert "within 30 days of submission" in said
    assert state_of(work) == State.REJECTED


def test_a_bonus_form_pays_once_and_two_forms_pay_twice(as_owner, at, lab, group, rosa):
    work = world.do(rosa, world.post(group))
    page = as_owner.get(at(f"review/hits/{work.hit.hit_id}/")).content.decode()
    once = re.search(r'name="once" value="([0-9a-f-]{36})"', page)[1]
    path = at(f"work/{work.pk}/bonus/?from=hit")
    sent = {"amount": "$1.50", "reason": "Very careful.", "once": once}
    first = as_owner.post(path, sent)
    assert first.headers["Location"] == at(f"review/hits/{work.hit.hit_id}/#work-{work.pk}")
    assert "This was done already" in as_owner.post(path, sent, follow=True).content.decode()
    assert [bonus.cents for bonus in Bonus.objects.all()] == [150]
    as_owner.post(path, sent | {"once": str(uuid.uuid4())})
    assert [bonus.cents for bonus in Bonus.objects.all()] == [150, 150]
    assert "bonus $3.00" in as_owner.get(at(f"review/hits/{work.hit.hit_id}/")).content.decode()
    assert ledger.audit() == []


def test_a_bonus_that_cannot_be_paid_is_refused_in_words(as_owner, owner, subtests):
    for changes, said in [
        ({"amount": "1.505"}, "1.505 may have thousands or three decimals: write 1505.00"),
        ({"amount": "0"}, "Write an amount between 0.01 and 10000.00"),
        ({"amount": "10000.01"}, "Write an amount between 0.01 and 10000.00"),
        ({"reason": ""}, "Reason: This field is required."),
        ({"once": "no"}, "Enter a valid UUID."),
        ({"amount": "9999.99"}, "insufficient funds"),
    ]:
        with apart(subtests, changes=changes, said=said):
            poor = world.make_requester("Poor Lab", dollars=5, owner=owner)
            work = world.do(world.make_worker("rosa"), world.post(world.make_group(poor, "Name it")))
            sent = {"amount": "1.00", "reason": "Careful.", "once": str(uuid.uuid4())} | changes
            answer = as_owner.post(f"/requester/{poor.customer_id}/work/{work.pk}/bonus/", sent, follow=True)
            assert said in answer.content.decode()
            assert not Bonus.objects.exists()


def test_decisions_go_on_with_the_next_answer_then_with_the_next_sheet(as_owner, at, group, rosa, ben):
    first, second = world.post(group, places=2), world.post(group, places=2)
    a, b, c = world.do(rosa, first), world.do(ben, first), world.do(rosa, second)
    assert sheet(as_owner.get(at(f"review/hits/{first.hit_id}/"))) == [a.pk, b.pk]
    gone = as_owner.post(at(f"work/{a.pk}/approve/?from=hit"))
    assert gone.headers["Location"] == at(f"review/hits/{first.hit_id}/#work-{b.pk}")
    gone = as_owner.post(at(f"work/{b.pk}/reject/?from=hit"), {"feedback": "Empty."})
    assert gone.headers["Location"] == at(f"review/hits/{second.hit_id}/")
    gone = as_owner.post(at(f"work/{c.pk}/approve/?from=hit"))
    assert gone.headers["Location"] == at("review/")


def test_a_workers_sheet_has_their_work_on_all_hits(as_owner, at, lab, group, other, rosa, ben):
    hits = [world.post(group, places=2) for _ in range(2)]
    works = [world.do(rosa, hit) for hit in hits]
    world.do(rosa, world.post(world.make_group(other)))
    last = world.do(ben, hits[0])
    page = as_owner.get(at("review/workers/AROSA/"))
    assert sheet(page) == [work.pk for work in works]
    assert page.context["following"] == at("review/workers/ABEN/")
    gone = as_owner.post(at(f"work/{works[0].pk}/approve/?from=worker"))
    assert gone.headers["Location"] == at(f"review/workers/AROSA/#work-{works[1].pk}")
    gone = as_owner.post(at(f"work/{works[1].pk}/approve/?from=worker"))
    assert gone.headers["Location"] == at("review/workers/ABEN/")
    gone = as_owner.post(at(f"work/{last.pk}/approve/?from=worker"))
    assert gone.headers["Location"] == at("review/workers/")


def test_a_sheet_of_decided_work_stays_where_it_is_and_no_address_is_taken_from_outside(
    as_owner, at, group, rosa
):
    work = world.do(rosa, world.post(group))
    gone = as_owner.post(at(f"work/{work.pk}/approve/?from=hit&state=all&page=1"))
    assert gone.headers["Location"] == at(f"review/hits/{work.hit.hit_id}/?state=all&page=1#work-{work.pk}")
    gone = as_owner.post(at(f"work/{work.pk}/approve/?from=https://evil.example&state=//evil"))
    assert gone.headers["Location"] == at(f"work/{work.pk}/")


def test_all_of_a_sheet_is_approved_as_far_as_it_was_seen(as_owner, at, group, rosa, ben):
    hit, nextone = world.post(group, places=3), world.post(group)
    with world.in_the_past(minutes=5):
        seen = [world.do(rosa, hit), world.do(ben, hit)]
    page = as_owner.get(at(f"review/hits/{hit.hit_id}/"))
    late = world.do(world.make_worker("carl"), hit)
    answer = as_owner.post(
        at(f"review/hits/{hit.hit_id}/approve/"), {"seen": page.context["seen"]}, follow=True
    ).content.decode()
    assert "2 approved." in answer and "1 more waits here." in answer
    assert [state_of(each) for each in seen] == [State.APPROVED] * 2
    assert state_of(late) == State.SUBMITTED
    for wrong in ("", "yesterday", "2026-99-99T00:00:00+00:00", "2026-01-01T00:00:00"):
        said = as_owner.post(at(f"review/hits/{hit.hit_id}/approve/"), {"seen": wrong}, follow=True)
        assert "open the sheet again" in said.content.decode()
    world.do(rosa, nextone)
    gone = as_owner.post(at(f"review/hits/{hit.hit_id}/approve/"), {"seen": clock.now().isoformat()})
    assert gone.headers["Location"] == at(f"review/hits/{nextone.hit_id}/")
    gone = as_owner.post(at("review/workers/AROSA/approve/"), {"seen": clock.now().isoformat()})
    assert gone.headers["Location"] == at("review/workers/AROSA/")
    assert ledger.audit() == []


def test_chosen_work_is_approved_and_what_is_not_mine_is_left_alone(as_owner, at, group, other, rosa, ben):
    hit = world.post(group, places=2)
    mine, too = world.do(rosa, hit), world.do(ben, hit)
    world.reject(too, "Empty.")
    theirs = world.do(rosa, world.post(world.make_group(other)))
    chosen = [str(each.pk) for each in (mine, too, theirs)] + ["x", "-1", "9" * 30]
    answer = as_owner.post(at("review/work/approve/?state=all"), {"chosen": chosen}, follow=True)
    assert answer.redirect_chain == [(at("review/work/?state=all"), 302)]
    text = answer.content.decode()
    assert "1 approved." in text
    assert "Work of ABEN was not approved. It was rejected meanwhile." in text
    assert state_of(theirs) == State.SUBMITTED
    assert "Nothing is chosen" in as_owner.post(at("review/work/approve/"), follow=True).content.decode()


def test_the_table_of_work_has_its_answers_in_the_file(as_owner, at, group, rosa):
    hit = world.post(group)
    answered(rosa, hit, ("formula", "=1+1"), ("b", "two"))
    answer = as_owner.get(at("review/work/?state=all&format=csv"))
    text = b"".join(answer.streaming_content).decode()
    assert '"{""formula"": ""=1+1"", ""b"": ""two""}"' in text
    assert hit.hit_id in text and ",submitted," in text


def test_nobody_decides_without_seeing_what_was_asked(as_owner, at, lab, rosa, subtests):
    batch = making.published(lab)
    hit = HIT.objects.filter(batch=batch).order_by("pk").first()
    answered(rosa, hit, ("answer", "a tree"))
    for page in (f"review/hits/{hit.hit_id}/", "review/workers/AROSA/", "review/work/"):
        with subtests.test(page=page):
            text = as_owner.get(at(page)).content.decode()
            assert "What is this?" in text
            assert "a tree" in text
            assert '<details class="inputs">' not in text, "what is short is not folded"
    rows = b"".join(as_owner.get(at("review/work/?format=csv")).streaming_content).decode()
    assert '""question"": ""What is this?""' in rows


def test_the_table_of_work_is_filtered_by_worker_and_type(as_owner, at, lab, group, rosa, ben):
    one = world.do(rosa, world.post(group))
    two = world.do(ben, world.post(world.make_group(lab, "Count the birds")))

    def found(query: str) -> list[int]:
        return [row.pk for row in as_owner.get(at(f"review/work/?{query}")).context["rows"]]

    assert found("worker=AROSA") == [one.pk]
    assert found(f"type={two.hit.hit_type.type_id}") == [two.pk]
    assert sorted(found("")) == [one.pk, two.pk]


def test_work_of_others_and_in_progress_does_not_exist(as_owner, at, group, other, rosa):
    theirs = world.do(rosa, world.post(world.make_group(other)))
    for path in ("", "answer.xml"):
        assert as_owner.get(at(f"work/{theirs.pk}/{path}")).status_code == 404
    for path in ("approve/", "reject/", "bonus/"):
        assert as_owner.post(at(f"work/{theirs.pk}/{path}"), {"feedback": "x"}).status_code == 404
    assert as_owner.get(at("review/workers/AROSA/")).status_code == 404
    assert as_owner.post(at("review/workers/AROSA/approve/")).status_code == 404
    assert as_owner.get(at(f"review/hits/{theirs.hit.hit_id}/")).status_code == 404
    assert as_owner.get(at(f"work/{2**70}/")).status_code == 404
    begun = world.take(rosa, world.post(group))
    assert as_owner.get(at(f"work/{begun.pk}/")).status_code == 404
    assert state_of(theirs) == State.SUBMITTED


def test_the_answer_comes_as_a_file_that_no_browser_shows(as_owner, at, group, rosa):
    work = answered(rosa, world.post(group), ("a", HOSTILE))
    got = as_owner.get(at(f"work/{work.pk}/answer.xml"))
    assert got.content.decode() == work.answer
    assert got.headers["Content-Disposition"].startswith("attachment")
    assert got.headers["Content-Type"] == "application/octet-stream"
    assert got.headers["X-Content-Type-Options"] == "nosniff"


def test_who_was_much_faster_than_usual_is_marked(as_owner, at, group):
    hit = world.post(group, places=8)
    works = [world.do(world.make_worker(f"w{number}"), hit) for number in range(6)]
    for number, work in enumerate(works):
        took = timedelta(seconds=5 if number == 5 else 60)
        Holding.objects.filter(pk=work.pk).update(accepted_at=work.submitted_at - took)
    page = as_owner.get(at(f"review/hits/{hit.hit_id}/"))
    assert [each.fast for each in page.context["answers"]] == [False] * 5 + [True]
    assert "took 5 s (usual 1 min)" in " ".join(page.content.decode().split())


def test_sheets_and_tables_cost_the_same_with_one_answer_and_with_many(
    as_owner, at, group, queries_of, django_assert_max_num_queries
):
    hit = world.post(group, places=9)
    world.do(world.make_worker("w0"), hit)
    paths = [
        f"review/hits/{hit.hit_id}/",
        "review/",
        "review/workers/",
        "review/work/",
        f"hits/{hit.hit_id}/",
    ]
    ones = {path: queries_of(as_owner, at(path)) for path in paths}
    for number in range(1, 9):
        worker = world.make_worker(f"w{number}")
        world.do(worker, hit)
        world.do(worker, world.post(group))
    for path in paths:
        assert queries_of(as_owner, at(path)) <= ones[path] + (2 if "hits" in path else 1), path
