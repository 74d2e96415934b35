"""Results of a batch as CSV, and decisions on them that come back in the same file.

Columns and their order are MTurk's, so that scripts written for it work. Answers are read twice, once for the
columns they need, once for the rows; neither holds more than some hundred of them in memory.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import islice
from typing import Any
from xml.etree.ElementTree import ParseError
from zoneinfo import ZoneInfo

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException
from django.contrib.auth.models import User
from django.db.models import Count, Q, QuerySet

from core.accounts.security import Actor, acting_as, actor
from core.files.cells import cell, csv_line_writer, parse_flag, unguarded
from core.files.reading import Reading
from core.files.refusals import RowCounts
from core.jobs import services as jobs
from core.jobs.handlers import JobContext
from core.jobs.models import Job
from marketplace import clock
from marketplace.batches.templates import join_names
from marketplace.errors import Refusal
from marketplace.forms.sheets import Sheet
from marketplace.lifecycle import review
from marketplace.lifecycle.expiry import settle
from marketplace.models import Batch, Holding
from marketplace.money.amounts import money
from people.models import StudyLink

# The results file, uploaded again with an x under Approve or a reason under Reject; or one x for all.
#
# A file is read whole before anything of it is done: one line that is not right refuses all. The decisions
# are then made one by one, each in a transaction of the review's own, by a job that any worker can go on
# with.

REVIEW = "marketplace.review-batch"
NEEDED = ("AssignmentId", "Approve", "Reject")
#: As long as RequesterFeedback of the protocol.
MAX_FEEDBACK = 1024
#: Decisions of one file, which its job carries with it.
MOST = 20_000
State = Holding.State
_WANTED = {True: State.APPROVED, False: State.REJECTED}
#: What became of a line.
OUTCOMES = {
    "approved": "Approved",
    "rejected": "Rejected",
    "already": "Already decided",
    "unknown": "Unknown",
    "refused": "Refused",
}


@dataclass(frozen=True, slots=True)
class Decision:
    """What a line of the file says about one assignment; `reason` is empty where it is approved.

    Without a file, `line` counts the assignments.
    """

    line: int
    assignment_id: str
    reason: str = ""

    @property
    def approves(self) -> bool:
        """To be approved, not rejected."""
        return not self.reason


def read_decisions(sheet: Sheet, batch: Batch) -> tuple[list[Decision], Reading]:
    """Decisions of a file, and how it was read: lines without a decision are left out.

    Raises SheetError at any fault, also where a row with a decision has the HIT, the worker or an answer of
    another assignment than the one it names.
    """
    if missing := [name for name in NEEDED if name not in sheet.columns]:
        raise sheet.error(
            f"it has no column {missing[0]}; its columns are {join_names(sheet.columns)}. Download the "
            "results of the batch and write into that file.",
            line=sheet.header_row,
        )
    places = [sheet.columns.index(name) for name in NEEDED]
    decisions: dict[str, Decision] = {}
    left = 0
    for row in sheet.rows():
        decision = _decision(sheet, row.line, *(row.cells[place].strip() for place in places))
        if decision is None:
            left += 1
            continue
        if (before := decisions.setdefault(decision.assignment_id, decision)) is not decision:
            raise sheet.error(
                f"line {before.line} decides about the same assignment. Keep one of the two.",
                line=decision.line,
                column="AssignmentId",
            )
        if len(decisions) > MOST:
            raise sheet.error(f"it decides about more than {MOST:,} assignments. Split it.", line=row.line)
    if not decisions:
        raise sheet.error(
            "no line has an x under Approve or a reason under Reject, so there is nothing to do."
        )
    _check_rows_belong_together(sheet, batch, decisions)
    columns = {"assignment": NEEDED[:1], "decision": NEEDED[1:], "compared": [*_compared(sheet).values()]}
    rows = RowCounts(len(decisions) + left, used=len(decisions), refused=left)
    return list(decisions.values()), sheet.reading(columns, rows)


def _compared(sheet: Sheet) -> dict[int, str]:
    """Columns that must say of an assignment what is kept of it."""
    return {
        place: name
        for place, name in enumerate(sheet.columns)
        if name in ("HITId", "WorkerId") or (name.startswith(ANSWER) and name != OTHER_ANSWERS)
    }


def _check_rows_belong_together(sheet: Sheet, batch: Batch, decisions: Mapping[str, Decision]) -> None:
    """A table of which only some columns were sorted would pay and reject the wrong people."""
    columns = _compared(sheet)
    at_id = sheet.columns.index("AssignmentId")
    decided_rows = (
        (row for row in sheet.rows() if row.cells[at_id].strip() in decisions) if columns else iter(())
    )
    while some_rows := list(islice(decided_rows, _AT_ONCE)):
        ids = [row.cells[at_id].strip() for row in some_rows]
        holdings = result_assignments(batch).filter(assignment_id__in=ids).order_by()
        stored_values = {
            assignment_id: {"HITId": hit_id, "WorkerId": worker_id}
            | {f"{ANSWER}{name}": text for name, text in answer_fields(answer).items()}
            for assignment_id, hit_id, worker_id, answer in holdings.values_list(
                "assignment_id", "hit__hit_id", "worker__worker_id", "answer"
            )
        }
        for row, assignment_id in zip(some_rows, ids, strict=True):
            for place, name in columns.items() if assignment_id in stored_values else ():
                expected = stored_values[assignment_id].get(name, "")
                if not _says_the_same(row.cells[place], expected):
                    raise sheet.error(
                        f"it says {row.cells[place][:40]!r}, and assignment {assignment_id} has "
                        f"{expected[:40]!r}. The cells of this row do not belong together: sort whole rows "
                        "only. Download the results again and write the decisions into that file.",
                        line=row.line,
                        column=name,
                    )


def _says_the_same(written: str, expected: str) -> bool:
    """Whether a cell is that text, as far as spreadsheets keep it: they change blanks, 007 and true."""
    forms = (" ".join(text.split()).casefold() for text in (written, unguarded(written), expected))
    as_written, as_it_was, expected_form = forms
    if expected_form in (as_written, as_it_was):
        return True
    try:
        return float(as_it_was) == float(expected_form)
    except ValueError:
        return False


def _decision(sheet: Sheet, line: int, assignment_id: str, approve: str, reason: str) -> Decision | None:
    if not approve and not reason:
        return None
    if not (assignment_id.isascii() and assignment_id.isalnum() and len(assignment_id) <= 64):
        raise sheet.error(
            "there is a decision and no assignment's id beside it. Take the ids as the results have them.",
            line=line,
            column="AssignmentId",
        )
    if approve and reason:
        raise sheet.error(
            "the assignment is both approved and rejected. Empty one of the two cells.",
            line=line,
            column="Reject",
        )
    if approve and approve.casefold() != "x":
        raise sheet.error(
            f"it says {approve[:40]!r}. Write x to approve, or leave it empty.", line=line, column="Approve"
        )
    if reason and (parse_flag(reason) is not None or reason.casefold() == "x"):
        raise sheet.error(
            f"it says {reason!r}, which is no reason. Write the one that the worker will read, or leave it "
            "empty.",
            line=line,
            column="Reject",
        )
    if len(reason) > MAX_FEEDBACK:
        raise sheet.error(
            f"the reason has {len(reason):,} characters; workers are shown at most {MAX_FEEDBACK:,}.",
            line=line,
            column="Reject",
        )
    return Decision(line, assignment_id, reason)


def decisions_on_all_waiting(batch: Batch, *, seen: datetime) -> list[Decision]:
    """Approvals of what waited when somebody looked, the oldest first; at most `MOST`, for one job."""
    visible = Q(submitted_at__lte=seen) & (Q(visible_at=None) | Q(visible_at__lte=seen))
    rows = Holding.objects.filter(visible, hit__batch=batch, state=State.SUBMITTED)
    ids = rows.order_by("submitted_at", "pk").values_list("assignment_id", flat=True)[:MOST]
    return [Decision(number, assignment_id) for number, assignment_id in enumerate(ids, start=1)]


def start_decisions(
    *,
    batch: Batch,
    decisions: list[Decision],
    file_name: str,
    override: bool,
    once: str,
    reading: Reading | None = None,
) -> Job:
    """Make these decisions by a job. With `override`, an x turns a rejection into an approval.

    The report says how the file was read, and counts its lines without a decision.
    """
    who = actor()
    return jobs.enqueue(
        kind=REVIEW,
        payload={
            "batch": batch.pk,
            "file": file_name,
            "override": override,
            "left": reading.rows.refused if reading and reading.rows else 0,
            "read_as": reading.as_json() if reading else None,
            "at": clock.now().isoformat(),
            "by": who.user.pk if who.user else None,
            "address": who.address,
            "decisions": [[each.line, each.assignment_id, each.reason] for each in decisions],
        },
        effect=f"{REVIEW}:{batch.pk}:{once}",
    )


def count_outcomes(job: Job) -> dict[str, int]:
    """Lines of the file by what became of them; they add up to all that the file has."""
    lines: list[Any] = job.result or []
    counts = {name: sum(line[2] == name for line in lines) for name in OUTCOMES}
    return counts | {"left": job.payload.get("left", 0)}


def decide_all(context: JobContext) -> None:
    """The job. Its result says of every line what became of it."""
    payload = context.payload
    since = datetime.fromisoformat(payload["at"])
    report: list[list[Any]] = []
    user = User.objects.filter(pk=payload.get("by") or 0).first()
    with acting_as(lambda: Actor(user=user, address=payload.get("address", ""))):
        for decision in _decisions(payload):
            context.progress(len(report), len(payload["decisions"]), "Deciding")
            outcome, sentence = _decide(payload["batch"], decision, override=payload["override"], since=since)
            report.append([decision.line, decision.assignment_id, outcome, sentence])
    context.commit(lambda: report)


def _decisions(payload: dict[str, Any]) -> Iterator[Decision]:
    for line, assignment_id, reason in payload["decisions"]:
        yield Decision(line, assignment_id, reason)


def _decide(batch_id: int, decision: Decision, *, override: bool, since: datetime) -> tuple[str, str]:
    """Make one decision; what became of it, and why if not what was wanted.

    After a crash the same decisions are made again: what this file has decided counts as decided by it.
    """
    holding = _find(batch_id, decision.assignment_id)
    if holding is None:
        return "unknown", "No answered assignment of this batch has this id."
    # What is due comes first: an answer whose time is over was approved by itself, and no file rejects it.
    settle(hits=[holding.hit])
    now = clock.now()
    try:
        if decision.approves:
            review.approve(holding=holding, feedback=None, override=override, now=now)
            return "approved", ""
        review.reject(holding=holding, feedback=decision.reason, now=now)
        return "rejected", ""
    except Refusal as refusal:
        holding.refresh_from_db()
        if holding.state == State.SUBMITTED:
            return "refused", refusal.message
        return _as_it_was(holding, decision, since)


def _find(batch_id: int, assignment_id: str) -> Holding | None:
    rows = Holding.objects.select_related("hit").filter(
        assignment_id=assignment_id, hit__batch=batch_id, state__in=Holding.ANSWERED
    )
    return rows.first()


def _as_it_was(holding: Holding, decision: Decision, since: datetime) -> tuple[str, str]:
    decided_at = holding.approved_at or holding.rejected_at
    by_this_file = holding.state == _WANTED[decision.approves] and not holding.auto_approved
    if by_this_file and decided_at and decided_at >= since:
        return str(holding.state), ""
    if holding.auto_approved:
        return "already", "It was approved automatically when its time was over."
    remedy = " Tick “also turn rejections into approvals” to approve it." if decision.approves else ""
    return "already", f"It was {holding.state} before." + (remedy if holding.state == State.REJECTED else "")


#: Between the parts of one answer: several choices, or a choice and one's own words.
BETWEEN = "|"
_PARTS = ("FreeText", "SelectionIdentifier", "OtherSelectionText", "UploadedFileKey")


def answer_fields(xml: str) -> dict[str, str]:
    """Name → answer; what is no such document has no fields."""
    try:
        # Workers send this text; without a DTD none of its entities can grow.
        root = SafeTree.fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError):
        return {}
    fields: dict[str, str] = {}
    for answer in root:
        name, parts = "", []
        for child in answer:
            tag = child.tag.rpartition("}")[2]
            if tag == "QuestionIdentifier":
                name = child.text or ""
            elif tag in _PARTS and child.text:
                parts.append(child.text)
        if name:
            fields[name] = BETWEEN.join(parts)
    return fields


#: MTurk's columns before the inputs and answers; after these come Approve and Reject.
HEAD = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments",
    "RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration",
    "NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime",
    "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback",
    "WorkTimeInSeconds", "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
)  # fmt: skip
DECISION = ("Approve", "Reject")
#: The last columns, where people of the batch came by study links: what they get, and from whom; and when
#: somebody withdrew, whose answers are to be published no more.
OF_LINKS = ("Compensation", "Withdrawn")
#: Answer fields that get a column of their own, the most frequent ones; the others share one, as JSON.
MAX_ANSWER_COLUMNS = 500
ANSWER = "Answer."
OTHER_ANSWERS = f"{ANSWER}(others)"
#: Names that are counted at all: a page can make up new ones in every answer.
_NAMES_KEPT = 10 * MAX_ANSWER_COLUMNS
_AT_ONCE = 500
#: Which assignments a file is to have.
SHOWN = {"all": "All", "submitted": "To review", "approved": "Approved", "rejected": "Rejected"}


_READ = (
    "hit__hit_id", "hit__hit_type__type_id", "hit__hit_type__title", "hit__hit_type__description",
    "hit__hit_type__keywords", "hit__reward_cents", "hit__created_at", "hit__max_assignments",
    "hit__annotation", "hit__hit_type__duration_s", "hit__hit_type__auto_approval_s", "hit__expires_at",
    "hit__batch_task__values", "assignment_id", "worker", "worker__worker_id", "state", "accepted_at",
    "submitted_at", "auto_approve_at", "approved_at", "rejected_at", "feedback", "answer",
    "unpaid", "paid_cents", "visit__link__compensation", "visit__guest__withdrawn_at",
)  # fmt: skip
Row = dict[str, Any]


def result_assignments(batch: Batch, state: str = "all") -> QuerySet[Holding]:
    """Answered assignments of a batch, in the order of its rows and of their submission."""
    states = Holding.ANSWERED if state == "all" else (State(state),)
    return Holding.objects.filter(hit__batch=batch, state__in=states).order_by(
        "hit__batch_task__ordinal", "submitted_at", "pk"
    )


def result_lines(batch: Batch, *, now: datetime, state: str = "all", times: str = "utc") -> Iterator[str]:
    """The file, some hundred rows at a time; no cell is run by a spreadsheet. `times` is one of TIMES."""
    rows = result_assignments(batch, state)
    names, more = answer_columns(
        rows.order_by().values_list("answer", flat=True).iterator(chunk_size=_AT_ONCE)
    )
    others = [OTHER_ANSWERS] if more else []
    by_links = rows.order_by().filter(visit__isnull=False).exists()
    write_row = csv_line_writer()
    yield write_row(
        [
            *HEAD,
            *(f"Input.{name}" for name in batch.columns),
            *(f"{ANSWER}{name}" for name in names),
            *others,
            *DECISION,
            *(OF_LINKS if by_links else ()),
        ]
    )
    rates, zone = Rates(batch.requester_id, now), TIMES[times]
    source: Iterator[Row] = iter(rows.values(*_READ).iterator(chunk_size=_AT_ONCE))
    while chunk := list(islice(source, _AT_ONCE)):
        rates.learn({row["worker"] for row in chunk})
        yield "".join(
            write_row(
                [
                    *map(cell, _cells(row, names, more, rates, zone)),
                    *("" for _ in DECISION),
                    *(_of_links(row, zone) if by_links else ()),
                ]
            )
            for row in chunk
        )


def answer_columns(documents: Iterable[str]) -> tuple[list[str], bool]:
    """Names of answer fields that get columns, sorted; and whether there are others."""
    counts: Counter[str] = Counter()
    more = False
    for document in documents:
        for name in answer_fields(document):
            if name in counts or len(counts) < _NAMES_KEPT:
                counts[name] += 1
            else:
                more = True
    columns = sorted(counts, key=lambda name: (-counts[name], name))[:MAX_ANSWER_COLUMNS]
    return sorted(columns), more or len(counts) > len(columns)


def _cells(row: Row, names: Sequence[str], more: bool, rates: "Rates", zone: tzinfo) -> Iterator[str]:
    yield row["hit__hit_id"]
    for name in ("type_id", "title", "description", "keywords"):
        yield row[f"hit__hit_type__{name}"]
    yield from (money(_pay_cents(row)), format_moment(row["hit__created_at"], zone))
    yield from (str(row["hit__max_assignments"]), row["hit__annotation"])
    yield from (str(row["hit__hit_type__duration_s"]), str(row["hit__hit_type__auto_approval_s"]))
    # The empty one is NumberOfSimilarHITs, which nothing here has.
    yield from (format_moment(row["hit__expires_at"], zone), "")
    yield str(int((row["hit__expires_at"] - row["hit__created_at"]).total_seconds()))
    yield from (row["assignment_id"], row["worker__worker_id"], row["state"].capitalize())
    for name in ("accepted_at", "submitted_at", "auto_approve_at", "approved_at", "rejected_at"):
        yield format_moment(row[name], zone)
    yield from (row["feedback"], str(int((row["submitted_at"] - row["accepted_at"]).total_seconds())))
    yield from rates.of(row["worker"])
    yield from row["hit__batch_task__values"]
    fields = answer_fields(row["answer"])
    for name in names:
        yield fields.pop(name, "")
    if more:
        yield json.dumps(fields, ensure_ascii=False) if fields else ""


def _pay_cents(row: Row) -> int:
    """What was paid, else what the HIT pays; nothing for work that is not paid here."""
    if row["unpaid"]:
        return 0
    return int(row["hit__reward_cents"] if row["paid_cents"] is None else row["paid_cents"])


def _of_links(row: Row, zone: tzinfo) -> Iterator[str]:
    """What the person gets, in the words of their link (money of all others), and when they withdrew."""
    compensation = row["visit__link__compensation"]
    yield str(StudyLink.Compensation(compensation or StudyLink.Compensation.MONEY).label)
    yield format_moment(row["visit__guest__withdrawn_at"], zone)


#: The zones of times in a file: ours, and that of MTurk's own files (PST or PDT), by which some scripts cut.
TIMES: dict[str, tzinfo] = {"utc": UTC, "pacific": ZoneInfo("America/Los_Angeles")}


def format_moment(moment: datetime | None, zone: tzinfo = UTC) -> str:
    """A time as MTurk's files have it."""
    if moment is None:
        return ""
    local = moment.astimezone(zone)
    return f"{local:%a %b %d %H:%M:%S %Z %Y}"


@dataclass(frozen=True, slots=True)
class _Count:
    approved: int
    decided: int

    def __str__(self) -> str:
        share = 100 * self.approved // self.decided if self.decided else 0
        return f"{share}% ({self.approved}/{self.decided})"


class Rates:
    """How much of their decided work the requester approved, per worker: ever, in 30 days, in 7 days."""

    #: Workers that are remembered at a time.
    MOST = 5_000
    SPANS = {"ever": None, "month": timedelta(days=30), "week": timedelta(days=7)}
    _NONE = ("0% (0/0)",) * 3

    def __init__(self, requester_id: int, now: datetime) -> None:
        self._requester_id, self._now = requester_id, now
        self._known: dict[int, tuple[str, ...]] = {}

    def learn(self, workers: set[int]) -> None:
        """Look up workers that are not known yet, in one query."""
        if len(self._known) > self.MOST:
            self._known.clear()
        new = workers - self._known.keys()
        if not new:
            return
        counts = {}
        for name, span in self.SPANS.items():
            recent = Q() if span is None else Q(submitted_at__gt=self._now - span)
            counts[f"{name}_approved"] = Count("pk", filter=Q(state=State.APPROVED) & recent)
            counts[f"{name}_decided"] = Count("pk", filter=recent) if recent else Count("pk")
        rows: Any = (
            Holding.objects.filter(
                worker__in=new,
                hit__requester=self._requester_id,
                state__in=(State.APPROVED, State.REJECTED),
            )
            .order_by()
            .values("worker")
            .annotate(**counts)
        )
        self._known |= dict.fromkeys(new, self._NONE)
        for row in rows:
            self._known[row["worker"]] = tuple(
                str(_Count(row[f"{name}_approved"], row[f"{name}_decided"])) for name in self.SPANS
            )

    def of(self, worker: int) -> tuple[str, ...]:
        """The three rates of a worker that was looked up."""
        return self._known[worker]
