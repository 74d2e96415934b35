"""Results of a batch as CSV: MTurk's columns in MTurk's order, so that old scripts and eyes find their way.

The answers are read twice, once for the columns they need, once for the rows; neither holds more than some
hundred of them in memory.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any
from xml.etree.ElementTree import ParseError

from defusedxml import ElementTree as SafeTree
from defusedxml.common import DefusedXmlException
from django.db.models import Count, Q, QuerySet

from core.files.cells import cell, csv_line_writer
from marketplace.models import Batch, Holding
from marketplace.templatetags.marketplace_money import money

#: Between the parts of one answer: several choices, or a choice and one's own words.
BETWEEN = "|"
_PARTS = ("FreeText", "SelectionIdentifier", "OtherSelectionText", "UploadedFileKey")


def fields(xml: str) -> dict[str, str]:
    """Name → answer; what is no such document has no fields."""
    try:
        root = SafeTree.fromstring(xml, forbid_dtd=True)
    except (ParseError, DefusedXmlException, ValueError):
        return {}
    found: dict[str, str] = {}
    for answer in root:
        name, parts = "", []
        for child in answer:
            tag = child.tag.rpartition("}")[2]
            if tag == "QuestionIdentifier":
                name = child.text or ""
            elif tag in _PARTS and child.text:
                parts.append(child.text)
        if name:
            found[name] = BETWEEN.join(parts)
    return found


State = Holding.State
#: MTurk's columns before the inputs and answers; after these come Approve and Reject.
HEAD = (
    "HITId", "HITTypeId", "Title", "Description", "Keywords", "Reward", "CreationTime", "MaxAssignments",
    "RequesterAnnotation", "AssignmentDurationInSeconds", "AutoApprovalDelayInSeconds", "Expiration",
    "NumberOfSimilarHITs", "LifetimeInSeconds", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime",
    "SubmitTime", "AutoApprovalTime", "ApprovalTime", "RejectionTime", "RequesterFeedback",
    "WorkTimeInSeconds", "LifetimeApprovalRate", "Last30DaysApprovalRate", "Last7DaysApprovalRate",
)  # fmt: skip
DECISION = ("Approve", "Reject")
#: Answer fields that get a column of their own, the most frequent ones; the others share one, as JSON.
MAX_ANSWER_COLUMNS = 500
OTHER_ANSWERS = "Answer.(others)"
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
)  # fmt: skip
Row = dict[str, Any]


def assignments(batch: Batch, shown: str = "all") -> QuerySet[Holding]:
    """Answered assignments of a batch, in the order of its rows and of their submission."""
    states = Holding.ANSWERED if shown == "all" else (State(shown),)
    return Holding.objects.filter(hit__batch=batch, state__in=states).order_by(
        "hit__batch_task__ordinal", "submitted_at", "pk"
    )


def lines(batch: Batch, *, now: datetime, shown: str = "all") -> Iterator[str]:
    """The file, some hundred rows at a time; no cell of it is run by a spreadsheet."""
    rows = assignments(batch, shown)
    names, more = answer_columns(
        rows.order_by().values_list("answer", flat=True).iterator(chunk_size=_AT_ONCE)
    )
    others = [OTHER_ANSWERS] if more else []
    write_row = csv_line_writer()
    yield write_row(
        [
            *HEAD,
            *(f"Input.{name}" for name in batch.columns),
            *(f"Answer.{name}" for name in names),
            *others,
            *DECISION,
        ]
    )
    rates = Rates(batch.requester_id, now)
    source: Iterator[Row] = iter(rows.values(*_READ).iterator(chunk_size=_AT_ONCE))
    while some := list(islice(source, _AT_ONCE)):
        rates.learn({row["worker"] for row in some})
        yield "".join(write_row([*map(cell, _cells(row, names, more, rates)), "", ""]) for row in some)


def answer_columns(documents: Iterable[str]) -> tuple[list[str], bool]:
    """Names of answer fields that get columns, sorted; and whether there are others."""
    counts: Counter[str] = Counter()
    more = False
    for document in documents:
        for name in fields(document):
            if name in counts or len(counts) < _NAMES_KEPT:
                counts[name] += 1
            else:
                more = True
    kept = sorted(counts, key=lambda name: (-counts[name], name))[:MAX_ANSWER_COLUMNS]
    return sorted(kept), more or len(counts) > len(kept)


def _cells(row: Row, names: Sequence[str], more: bool, rates: "Rates") -> Iterator[str]:
    yield row["hit__hit_id"]
    for name in ("type_id", "title", "description", "keywords"):
        yield row[f"hit__hit_type__{name}"]
    yield from (money(row["hit__reward_cents"]), written(row["hit__created_at"]))
    yield from (str(row["hit__max_assignments"]), row["hit__annotation"])
    yield from (str(row["hit__hit_type__duration_s"]), str(row["hit__hit_type__auto_approval_s"]))
    yield from (written(row["hit__expires_at"]), "")
    yield str(int((row["hit__expires_at"] - row["hit__created_at"]).total_seconds()))
    yield from (row["assignment_id"], row["worker__worker_id"], row["state"].capitalize())
    for name in ("accepted_at", "submitted_at", "auto_approve_at", "approved_at", "rejected_at"):
        yield written(row[name])
    yield from (row["feedback"], str(int((row["submitted_at"] - row["accepted_at"]).total_seconds())))
    yield from rates.of(row["worker"])
    yield from row["hit__batch_task__values"]
    given = fields(row["answer"])
    for name in names:
        yield given.pop(name, "")
    if more:
        yield json.dumps(given, ensure_ascii=False) if given else ""


def written(moment: datetime | None) -> str:
    """A time as MTurk's files have it, in UTC."""
    return f"{moment:%a %b %d %H:%M:%S} UTC {moment:%Y}" if moment else ""


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
