"""Qualifications of a worker: lists, one of them, asking, and tests."""

from datetime import timedelta

from django.utils import timezone

from marketplace.lifecycle.expiry import sweep
from marketplace.models import Message, QualificationGrant, QualificationRequest
from marketplace.qualifications import grants
from marketplace.qualifications.grants import QualificationTest
from tests.questionforms import KEY, TEST, free_text, question_form, selection
from tests.site import world

SCORED = QualificationTest(TEST, KEY, 600)
READ_BY_PEOPLE = QualificationTest(question_form(free_text("why")), "", 600)
RIGHT = {"answer:moves": "d", "answer:fruit": ["apple", "pear"]}
DAY = 86_400


def of(kind, what=""):
    return f"/qualifications/{kind.qualification_type_id}{what}"


def names(client, tab, query=""):
    return [each.kind.name for each in client.get(f"/qualifications?show={tab}{query}").context["shown"]]


def value_of(worker, kind):
    return QualificationGrant.objects.get(worker=worker, qualification_type=kind).value


def begin(client, kind):
    """Begin the test; the page it leads to."""
    return client.post(of(kind, "/ask"), follow=True)


# Lists


def test_each_qualification_is_in_the_one_list_where_it_belongs(lab, rosa, as_rosa):
    """None where it hides its work: the list would give that away."""
    held, asked, _, _, wanted, private, panel = (
        world.make_qualification(lab, name, test=test, on_request=free)
        for name, test, free in [
            ("Held", None, False),
            ("Asked", None, False),
            ("Tested", SCORED, False),
            ("Free", None, True),
            ("Wanted", None, False),
            ("Not to be seen", None, False),
            ("Secret panel", None, False),
        ]
    )
    grants.grant(qualification_type=held, worker=rosa, value=80, notify=False)
    world.ask(rosa, asked)
    world.post(
        world.make_group(lab, requirements=[world.needs(wanted), world.needs(private, "DoesNotExist")])
    )
    world.post(world.make_group(lab, requirements=[world.needs(panel, guards="DiscoverPreviewAndAccept")]))
    assert names(as_rosa, "held") == ["Held"]
    assert names(as_rosa, "asked") == ["Asked"]
    assert names(as_rosa, "offered") == ["Wanted", "Free", "Tested"]
    assert as_rosa.get("/qualifications").context["tab"] == "held"
    assert as_rosa.get("/qualifications?show=nonsense").context["counts"] == {
        "held": 1,
        "asked": 1,
        "offered": 3,
    }


def test_inactive_and_deleted_types_are_not_offered(lab, as_rosa):
    for name in ("Inactive", "Deleted"):
        kind = world.make_qualification(lab, name, on_request=True)
        if name == "Inactive":
            grants.update_qualification_type(qualification_type=kind, changes={"status": name})
        else:
            grants.delete_qualification_type(qualification_type=kind, now=timezone.now())
            assert as_rosa.get(of(kind)).status_code == 404
            assert as_rosa.post(of(kind, "/ask")).status_code == 404
    assert names(as_rosa, "offered") == []


def test_lists_are_searched_by_all_words(lab, as_rosa):
    for name in ("Chess openings", "Chess endings", "Go openings"):
        world.make_qualification(lab, name, test=SCORED)
    assert names(as_rosa, "offered", "&q=chess+opening") == ["Chess openings"]
    assert names(as_rosa, "offered", f"&q={lab.name.split()[0]}+go") == ["Go openings"]
    assert "Nothing here fits" in as_rosa.get("/qualifications?q=%00poker").content.decode()


def test_thirty_qualifications_cost_as_many_queries_as_three(lab, rosa, as_rosa, queries_of):
    def more(count, start):
        for number in range(start, start + count):
            held = world.make_qualification(lab, f"Held {number}", test=SCORED)
            grants.grant(qualification_type=held, worker=rosa, value=1, notify=False)
            world.ask(rosa, world.make_qualification(lab, f"Asked {number}", test=SCORED))
            world.make_qualification(lab, f"Offered {number}", test=SCORED)

    tabs = [f"/qualifications?show={tab}" for tab in ("held", "asked", "offered")]
    more(1, 0)
    few = [queries_of(as_rosa, path) for path in tabs]
    more(9, 1)
    assert [queries_of(as_rosa, path) for path in tabs] == few
    assert max(few) <= 14


# One qualification


def test_the_page_of_a_qualification_tells_how_to_get_it_and_which_work_wants_it(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Chess", test=SCORED, retry_delay_s=7 * DAY)
    wanting = world.make_group(lab, "Find the best move", requirements=[world.needs(kind)])
    hidden = world.make_group(
        lab, "For the panel", requirements=[world.needs(kind, guards="DiscoverPreviewAndAccept")]
    )
    for group in (wanting, hidden):
        world.post(group)
    text = as_rosa.get(of(kind)).content.decode()
    for words in ("2 questions", "10 min", "after 7 days", "Begin the test", "Find the best move"):
        assert words in text
    assert "For the panel" not in text
    assert "Which of them" not in text
    assert "AnswerScore" not in text


def test_what_everybody_gets_is_had_by_one_click_unless_it_was_taken_back(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Guidelines read", on_request=True)
    text = as_rosa.post(of(kind, "/ask"), follow=True).content.decode()
    assert "The qualification is yours." in text
    assert "Your value is 1" in text
    assert names(as_rosa, "held") == ["Guidelines read"]
    grants.revoke(qualification_type=kind, worker=rosa, reason="You asked others.")
    text = as_rosa.get(of(kind)).content.decode()
    assert "The requester took this qualification back" in text
    assert "You asked others." in text
    assert ">Get it<" not in text
    assert "only they can give it" in as_rosa.post(of(kind, "/ask"), follow=True).content.decode()
    assert QualificationGrant.objects.get().status == "Revoked"


def test_a_request_waits_and_its_rejection_can_be_read(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Native speaker")
    assert "the requester decides" in as_rosa.post(of(kind, "/ask"), follow=True).content.decode()
    assert "The requester is to decide" in as_rosa.get(of(kind)).content.decode()
    grants.reject(request=QualificationRequest.objects.get(), reason="We know you <only> as a learner.")
    text = as_rosa.get(of(kind)).content.decode()
    assert "We know you &lt;only&gt; as a learner." in text
    assert "can be asked for only once" in text
    assert ">Ask for it<" not in text
    assert Message.objects.get(worker=rosa).body == "We know you <only> as a learner."
    again = as_rosa.post(of(kind, "/ask"), follow=True).content.decode()
    assert "can be asked for only once" in again
    assert QualificationRequest.objects.count() == 1


def test_the_preview_of_work_leads_to_the_test_it_asks_for(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Chess", test=SCORED)
    asked = {**world.needs(kind, "GreaterThan"), "IntegerValues": [70]}
    group = world.make_group(lab, requirements=[asked])
    world.post(group)
    preview = f"/projects/{group.group_id}/tasks"
    assert f'href="{of(kind)}"' in as_rosa.get(preview).content.decode()
    begun = as_rosa.post(f"/projects/{group.group_id}/qualifications/{kind.qualification_type_id}")
    assert begun.headers["Location"] == of(kind, "/test")
    as_rosa.post(of(kind, "/test"), RIGHT)
    assert ">Accept<" in as_rosa.get(preview).content.decode()


# Tests


def test_a_test_is_taken_scored_and_opens_the_work(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Chess", test=SCORED)
    page = begin(as_rosa, kind)
    text = page.content.decode()
    assert "Which of them, moves?" in text
    assert 590 < page.context["seconds_left"] <= 600
    assert "AnswerScore" not in text
    done = as_rosa.post(of(kind, "/test"), RIGHT, follow=True)
    assert "Your value is 100." in done.content.decode()
    assert value_of(rosa, kind) == 100
    as_rosa.post(of(kind, "/test"), {"answer:moves": "a", "answer:fruit": "plum"})
    assert value_of(rosa, kind) == 100, "they were handed in"
    request = QualificationRequest.objects.get()
    assert (request.state, request.score) == ("granted", 100)
    assert "<SelectionIdentifier>pear</SelectionIdentifier>" in request.answer
    assert not Message.objects.filter(worker=rosa).exists()


def test_answers_that_lack_something_are_shown_again_and_nothing_is_handed_in(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Chess", test=SCORED)
    begin(as_rosa, kind)
    page = as_rosa.post(of(kind, "/test"), {"answer:moves": "d"})
    assert page.status_code == 422
    text = " ".join(page.content.decode().split())
    assert "One answer needs another look" in text
    assert 'value="d" checked' in text
    assert QualificationRequest.objects.get().state == "started"
    as_rosa.post(of(kind, "/test"), {"answer:moves": "queen", "answer:fruit": "plum"})
    assert QualificationRequest.objects.get().state == "started"
    assert not QualificationGrant.objects.exists()


def test_without_an_answer_key_the_requester_reads_the_answers(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Clear writing", test=READ_BY_PEOPLE)
    begin(as_rosa, kind)
    done = as_rosa.post(of(kind, "/test"), {"answer:why": "Because <it> is."}, follow=True)
    assert "Your answers were sent; the requester decides." in done.content.decode()
    request = QualificationRequest.objects.get()
    assert (request.state, request.score) == ("pending", None)
    assert "Because &lt;it&gt; is." in request.answer
    grants.accept(request=request, value=3)
    assert value_of(rosa, kind) == 3
    assert "You now hold" in Message.objects.get(worker=rosa).subject


def test_after_its_time_a_test_is_over(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Chess", test=SCORED)
    with world.in_the_past(minutes=11):
        world.ask(rosa, kind)
    assert "The time for this test is over." in as_rosa.get(of(kind, "/test"), follow=True).content.decode()
    late = as_rosa.post(of(kind, "/test"), RIGHT, follow=True).content.decode()
    assert "The time for this test is over." in late
    assert "can be asked for only once" in late
    assert not QualificationGrant.objects.exists()
    assert "Time ran out" in as_rosa.get("/qualifications?show=asked").content.decode()
    sweep()
    assert QualificationRequest.objects.get().state == "expired"


def test_beginning_twice_is_beginning_once_and_nobody_else_is_shown_the_test(lab, rosa, as_rosa, as_ben):
    kind = world.make_qualification(lab, "Chess", test=SCORED)
    begin(as_rosa, kind)
    with world.in_the_past(minutes=-5):
        page = begin(as_rosa, kind)
    assert 290 < page.context["seconds_left"] <= 301
    assert QualificationRequest.objects.count() == 1
    assert as_ben.get(of(kind, "/test")).headers["Location"] == of(kind)
    assert as_ben.post(of(kind, "/test"), RIGHT).headers["Location"] == of(kind)
    assert not QualificationGrant.objects.exists()


def test_a_test_is_taken_again_after_the_delay_and_its_new_score_counts(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Chess", test=SCORED, retry_delay_s=DAY)
    begin(as_rosa, kind)
    as_rosa.post(of(kind, "/test"), RIGHT)
    assert "You can ask for this qualification again from" in begin(as_rosa, kind).content.decode()
    QualificationRequest.objects.update(started_at=timezone.now() - timedelta(days=1))
    assert "The new score replaces the value" in as_rosa.get(of(kind)).content.decode()
    begin(as_rosa, kind)
    assert value_of(rosa, kind) == 100
    as_rosa.post(of(kind, "/test"), {"answer:moves": "d", "answer:fruit": "plum"})
    assert value_of(rosa, kind) == 27
    assert [one.score for one in QualificationRequest.objects.order_by("pk")] == [100, 27]


def test_who_takes_a_test_while_it_is_changed_finishes_the_old_one(lab, rosa, as_rosa):
    kind = world.make_qualification(lab, "Chess", test=SCORED)
    begin(as_rosa, kind)
    other = QualificationTest(question_form(selection("colours", "red blue")), "", 60)
    grants.update_qualification_type(qualification_type=kind, changes={"status": "Inactive"}, test=other)
    assert "Which of them, moves?" in as_rosa.get(of(kind, "/test")).content.decode()
    as_rosa.post(of(kind, "/test"), RIGHT)
    assert value_of(rosa, kind) == 100


def test_words_of_the_requester_are_only_words(lab, rosa, as_rosa):
    words = "<script>alert(1)</script>"
    kind = world.make_qualification(lab, words, test=SCORED)
    grants.update_qualification_type(qualification_type=kind, changes={"description": words})
    pages = [as_rosa.get("/qualifications?show=offered"), as_rosa.get(of(kind)), begin(as_rosa, kind)]
    for page in pages:
        assert words not in page.content.decode()
        assert "&lt;script&gt;" in page.content.decode()
