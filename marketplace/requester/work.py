"""Answers that a requester got: the table, the sheets on which they are reviewed, hints for reviewers."""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from statistics import median
from typing import Any
from uuid import UUID, uuid4

from django.conf import settings
from django.db.models import Count, Exists, F, Min, OuterRef, Q, QuerySet, Sum
from django.db.models.functions import MD5

from core.money import dollars
from marketplace.forms.questions import AnswerField, fields_of
from marketplace.models import (
    HIT,
    Bonus,
    Holding,
    Likeness,
    PayeeDetails,
    Requester,
    Worker,
    WorkerTrace,
    WorkTrace,
)
from marketplace.requester.lookup import visible_work
from marketplace.requester.selectors import describe_hit
from web import cells
from web.cells import Cell
from web.tables import Choices, Column, Grid, Words, count_column

# What may tell a reviewer that an answer needs a second look. It decides nothing, and may be innocent. Of
# other people only those are named who worked for the same requester.

Kind = WorkerTrace.Kind
#: From so many characters on, pasted text is worth a word, and from so many times on, leaving the page.
PASTED, LEFT = 40, 3
_NAMED = 5
KINDS = {
    "all": "All answers",
    "any": "With a hint",
    "address": "Shared network address",
    "browser": "Shared browser",
    "payee": "Shared payee",
    "alike": "Words like another person's",
    "fast": "Very fast",
    "pasted": "Pasted text",
    "left": "Left the page",
    "country": "Another country",
}
_MEANS = {
    "address": "People in one home, lab, school or mobile network share an address.",
    "browser": "They used one browser: one person with two accounts, or a computer that people share.",
    "payee": "They are paid to the same account: one person with two accounts, or a family.",
    "alike": "Long texts are seldom alike by chance; both may have copied from the task or from one source.",
    "fast": "It may be quick work, or an answer without reading.",
    "pasted": "The text came from elsewhere: a draft of their own, or another source.",
    "left": "They looked at something else meanwhile, which some tasks ask for.",
    "country": "They may travel or use a VPN; files of countries err.",
}


@dataclass(frozen=True, slots=True)
class Hint:
    """One thing to look at: what was seen, what it may mean, and who else it is about."""

    kind: str
    explanation: str
    others: tuple[str, ...] = ()
    work: int | None = None

    @property
    def label(self) -> str:
        """In two or three words."""
        return KINDS[self.kind]

    @property
    def means(self) -> str:
        """In one sentence, with an innocent reason."""
        return _MEANS[self.kind]


def hints_for(requester: int, rows: Sequence[Holding]) -> dict[int, list[Hint]]:
    """Hints on each of these answers to a requester (its key), in seven statements however many there are."""
    hints: dict[int, list[Hint]] = defaultdict(list)
    workers = {row.worker_id for row in rows}
    for kind, shared in _shared(requester, workers).items():
        for row in rows:
            if others := sorted(shared.get(row.worker_id, ())):
                hints[row.pk].append(_shares(kind, others))
    for pk, other in _alike(rows):
        same = "the same words" if other.identical else "nearly the same words"
        who = other.other.worker.worker_id
        hints[pk].append(Hint("alike", f"{who} wrote {same}.", (who,), other.other_id))
    traces = {trace.holding_id: trace for trace in WorkTrace.objects.filter(holding__in=rows)}
    countries = _countries(workers)
    for row in rows:
        took = (row.submitted_at - row.accepted_at).total_seconds() if row.submitted_at else None
        if took is not None and took < settings.HINTS_LEAST_SECONDS:
            hints[row.pk].append(Hint("fast", f"It took {took:.1f} s."))
        if trace := traces.get(row.pk):
            hints[row.pk] += _counted(trace)
        stated, seen = row.worker.country, countries.get(row.worker_id, set())
        if stated and (elsewhere := sorted(seen - {stated})):
            explanation = f"They stated {stated} and came from {', '.join(elsewhere)}."
            hints[row.pk].append(Hint("country", explanation))
    return dict(hints)


def _shares(kind: str, others: Sequence[str]) -> Hint:
    named = ", ".join(others[:_NAMED]) + (f" and {len(others) - _NAMED} more" if len(others) > _NAMED else "")
    return Hint(kind, f"Shared with {named}.", tuple(others[:_NAMED]))


def _counted(trace: WorkTrace) -> list[Hint]:
    hints = []
    if trace.pasted_characters >= PASTED:
        times = "once" if trace.pastes == 1 else f"{trace.pastes} times"
        hints.append(Hint("pasted", f"Pasted {times}, {trace.pasted_characters} characters in all."))
    if trace.left >= LEFT:
        hints.append(Hint("left", f"Left the page {trace.left} times, for {trace.left_seconds} s in all."))
    return hints


def _shared(requester: int, workers: set[int]) -> dict[str, dict[int, set[str]]]:
    """By kind and worker, the ids of others who worked for the requester and share it."""
    kinds = (Kind.ADDRESS, Kind.BROWSER, "payee")
    shared: dict[str, dict[int, set[str]]] = {str(kind): defaultdict(set) for kind in kinds}
    mine: dict[str, set[int]] = defaultdict(set)
    payees = PayeeDetails.objects.filter(worker__in=workers).exclude(digest="")
    own: list[tuple[Any, ...]] = [
        *WorkerTrace.objects.filter(worker__in=workers).values_list("worker", "digest"),
        *payees.values_list("worker", "digest"),
    ]
    for worker, digest in own:
        mine[digest].add(worker)
    traces = WorkerTrace.objects.filter(_knows(requester), digest__in=mine)
    theirs: list[tuple[Any, ...]] = list(traces.values_list("kind", "digest", "worker", "worker__worker_id"))
    paid = PayeeDetails.objects.filter(_knows(requester), digest__in=mine).exclude(digest="")
    theirs += [("payee", *each) for each in paid.values_list("digest", "worker", "worker__worker_id")]
    for kind, digest, worker, name in theirs:
        for each in mine[digest] - {worker}:
            shared[kind][each].add(name)
    return shared


def _knows(requester: int, worker: str = "worker") -> Exists:
    """Condition that a row's worker has answered something of this requester."""
    work = Holding.objects.filter(
        requester=requester, worker=OuterRef(worker), state__in=Holding.ANSWERED, submitted_at__isnull=False
    )
    return Exists(work)


def _alike(rows: Sequence[Holding]) -> list[tuple[int, Likeness]]:
    likenesses = (
        Likeness.objects.filter(holding__in=rows).select_related("other__worker").defer("other__answer")
    )
    seen: dict[int, int] = defaultdict(int)
    nearest = []
    # Identical ones first: of more than are named, those are the ones that count.
    for each in likenesses.order_by("-identical", "pk"):
        seen[each.holding_id] += 1
        if seen[each.holding_id] <= _NAMED:
            nearest.append((each.holding_id, each))
    return nearest


def _countries(workers: set[int]) -> dict[int, set[str]]:
    countries: dict[int, set[str]] = defaultdict(set)
    traces = WorkerTrace.objects.filter(worker__in=workers).exclude(country="")
    seen: Iterable[tuple[Any, ...]] = traces.values_list("worker", "country")
    for worker, country in seen:
        countries[worker].add(country)
    return countries


def with_hint(rows: QuerySet[Holding], requester: int, kind: str) -> QuerySet[Holding]:
    """Only the answers with a hint of this kind, or of any; all of them for what is no kind."""
    conditions = _conditions(requester)
    if kind == "any":
        every = Q()
        for each in conditions.values():
            every |= each
        return rows.filter(every)
    return rows.filter(conditions[kind]) if kind in conditions else rows


def _conditions(requester: int) -> dict[str, Q]:
    traced = WorkTrace.objects.filter(holding=OuterRef("pk"))
    took = timedelta(seconds=settings.HINTS_LEAST_SECONDS)
    elsewhere = WorkerTrace.objects.filter(worker=OuterRef("worker")).exclude(country="")
    payees = PayeeDetails.objects.exclude(digest="").filter(
        Exists(
            PayeeDetails.objects.filter(_knows(requester), digest=OuterRef("digest")).exclude(
                worker=OuterRef("worker")
            )
        )
    )
    return {
        "address": Q(worker__in=_sharers(requester, Kind.ADDRESS)),
        "browser": Q(worker__in=_sharers(requester, Kind.BROWSER)),
        "payee": Q(worker__in=payees.values("worker")),
        "alike": Q(Exists(Likeness.objects.filter(holding=OuterRef("pk")))),
        "fast": Q(submitted_at__lt=F("accepted_at") + took),
        "pasted": Q(Exists(traced.filter(pasted_characters__gte=PASTED))),
        "left": Q(Exists(traced.filter(left__gte=LEFT))),
        "country": ~Q(worker__country="") & Q(Exists(elsewhere.exclude(country=OuterRef("worker__country")))),
    }


def _sharers(requester: int, kind: str) -> QuerySet[WorkerTrace, Any]:
    same = WorkerTrace.objects.filter(_knows(requester), kind=kind, digest=OuterRef("digest"))
    shared = WorkerTrace.objects.filter(Exists(same.exclude(worker=OuterRef("worker"))), kind=kind)
    return shared.filter(_knows(requester)).values_list("worker", flat=True)


# The table and the sheets.

State = Holding.State
STATES = {"waiting": "To review", "all": "All", "approved": "Approved", "rejected": "Rejected"}
_IN: dict[str, tuple[Holding.State, ...]] = {
    "waiting": (State.SUBMITTED,),
    "all": Holding.ANSWERED,
    "approved": (State.APPROVED,),
    "rejected": (State.REJECTED,),
}
#: What is usual is told from so many of the latest answers of a HIT type, and from no fewer than so many.
_LATEST, _FEWEST = 400, 5
#: Work in less than this share of the usual time is marked as fast.
_FAST = 1 / 3
#: A difference of fewer seconds is chance.
_NOTICEABLE = 5


def seconds(row: Holding) -> int | None:
    """From accepting to submitting."""
    return round((row.submitted_at - row.accepted_at).total_seconds()) if row.submitted_at else None


def _format_inputs(row: Holding) -> str:
    """The row of the batch's table as one JSON object, for files; needs `say_what_was_asked` before."""
    return json.dumps(dict(getattr(row, "inputs", ())), ensure_ascii=False)


def _answer(row: Holding) -> str:
    """The fields as one JSON object, for files."""
    return json.dumps({each.name: each.content for each in fields_of(row.answer)}, ensure_ascii=False)


def _hint_names(row: Holding) -> str:
    """For files: which hints there are, by name; `say_hints` has to have looked."""
    return " ".join(hint.kind for hint in getattr(row, "hints", ()))


def say_hints(rows: list[Holding]) -> list[Holding]:
    """Give each answer of a page of one requester what may need a second look, as `hints`."""
    hints = hints_for(rows[0].requester_id, rows) if rows else {}
    for row in rows:
        row.hints = hints.get(row.pk, [])  # type: ignore[attr-defined]
    return rows


#: When work came in, by the clock.
TIMES = {
    "any": "At any time",
    "hour": "In the last hour",
    "day": "In the last 24 hours",
    "week": "In the last 7 days",
    "month": "In the last 30 days",
    "older": "More than 7 days ago",
}
_SPANS = {
    "hour": timedelta(hours=1),
    "day": timedelta(days=1),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
}
AGREEMENT = {
    "any": "Any",
    "same": "Same answer as another's",
    "alone": "Unlike all others'",
    "first": "No other answer yet",
}
#: Whose answers are compared: a rejected one counts for nobody.
_COMPARED = (State.SUBMITTED, State.APPROVED)

GRID = Grid(
    "work",
    columns=(
        Column("worker", "Worker", "worker.worker_id", by="worker__worker_id"),
        Column("simulated", "Simulated", "worker.simulated", on_page=False),
        Column("assignment", "Assignment", "assignment_id", on_page=False),
        Column("hit", "HIT", "hit.hit_id"),
        Column("type", "HIT type", "hit.hit_type.type_id", on_page=False),
        Column("state", "State"),
        Column("agreement", "Agreement", lambda row: getattr(row, "agreement", "")),
        Column("hints", "Hints", _hint_names),
        Column("seconds", "Took", seconds, number=True),
        Column("accepted", "Accepted", "accepted_at", on_page=False),
        Column("submitted", "Submitted", "submitted_at", by="submitted_at", down=True),
        Column("due", "Approved automatically", "auto_approve_at", by="auto_approve_at"),
        Column("approved", "Approved", "approved_at", on_page=False),
        Column("rejected", "Rejected", "rejected_at", on_page=False),
        Column("by_itself", "Approved automatically", "auto_approved", on_page=False),
        Column("feedback", "Feedback", on_page=False),
        Column(
            "reward", "Reward", lambda row: dollars(0 if row.unpaid else row.hit.reward_cents), on_page=False
        ),
        Column("asked", "What was asked", _format_inputs, on_page=False),
        Column("answer", "Answer", _answer, on_page=False),
    ),
    filters=(
        Choices("state", "Which work to show", STATES, tabs=True),
        Words("type", "HIT type", hidden=True),
        Choices("time", "Submitted", TIMES),
        Choices("agreement", "Agreement", AGREEMENT),
        Choices("hints", "Hints", KINDS),
        Words("worker", "Worker id"),
    ),
    order="due",
)


def _draw_hit(cell: Cell) -> object:
    return describe_hit(cell, "requester:review_hit")


def _due(row: HIT) -> object:
    return getattr(row, "due", None)


WAITING_HITS = Grid(
    "review-by-hit",
    columns=(
        Column("id", "HIT", "hit_id", cell=_draw_hit),
        Column("title", "Title", "hit_type.title", on_page=False),
        Column("waiting", "To review", "submitted", by="submitted", down=True, number=True),
        count_column("approved", "Approved"),
        count_column("rejected", "Rejected"),
        Column("due", "Next is approved automatically", _due, cell=cells.ahead),
        Column("made", "Made", "created_at", by="pk"),
    ),
    filters=(
        Words("type", "HIT type", hidden=True),
        Words("batch", "Batch", hidden=True),
        Words("q", "HIT id, annotation, or words of the title"),
    ),
    order="made",
)


def work(requester: Requester, filters: Mapping[str, str], *, now: datetime) -> QuerySet[Holding]:
    """The rows of the table that its filters leave, with worker, HIT and HIT type."""
    rows = with_hint(
        visible_work(requester, now).filter(_in(filters["state"])), requester.pk, filters["hints"]
    )
    hit_type, worker = filters["type"], filters["worker"]
    if span := _SPANS.get(filters["time"]):
        rows = rows.filter(submitted_at__gte=now - span)
    elif filters["time"] == "older":
        rows = rows.filter(submitted_at__lt=now - _SPANS["week"])
    rows = _with_agreement(rows, filters["agreement"])
    if hit_type:
        rows = rows.filter(hit__hit_type__type_id=hit_type)
    if worker:
        rows = rows.filter(worker__worker_id=worker)
    return rows.select_related("worker", "hit__hit_type").defer("hit__question")


def _with_agreement(rows: QuerySet[Holding], agreement: str) -> QuerySet[Holding]:
    """Rows by whether another worker gave the same answer to the HIT, every field of it."""
    others = Holding.objects.filter(hit=OuterRef("hit"), state__in=_COMPARED).exclude(pk=OuterRef("pk"))
    same = Exists(others.filter(answer=OuterRef("answer")))
    if agreement == "same":
        return rows.filter(same)
    if agreement == "alone":
        return rows.filter(~same, Exists(others))
    return rows.filter(~Exists(others)) if agreement == "first" else rows


def say_agreement(rows: list[Holding]) -> list[Holding]:
    """Give each answer of a page how many others of its HIT are the same, as `agreement`: two statements."""
    compared = Holding.objects.filter(hit__in={row.hit_id for row in rows}, state__in=_COMPARED).order_by()
    counts: dict[tuple[int, str], int] = {}
    totals: dict[int, int] = defaultdict(int)
    # By their digests, made in the database: answers can be long, and only how many are the same is wanted.
    answer_counts: Iterable[tuple[Any, ...]] = compared.values_list("hit", MD5("answer")).annotate(
        number=Count("pk")
    )
    for hit, digest, number in answer_counts:
        counts[hit, digest] = number
        totals[hit] += number
    own = Holding.objects.filter(pk__in=[row.pk for row in rows])
    digests = dict(own.values_list("pk", MD5("answer")))
    for row in rows:
        # An answer is none of its own others; a rejected one is in no count, so nothing is taken off for it.
        counted = row.state in _COMPARED
        others = totals[row.hit_id] - counted
        same = counts.get((row.hit_id, digests.get(row.pk, "")), 0) - counted
        row.agreement = f"{same} of {others}" if others else ""  # type: ignore[attr-defined]
    return rows


def _in(state: str) -> Q:
    """Condition of work in one of `STATES`; of one state alone, so that its index is found."""
    states = _IN[state]
    return Q(state=states[0]) if len(states) == 1 else Q(state__in=states)


def say_when_due(rows: list[HIT]) -> list[HIT]:
    """Give each HIT of a page the moment at which the next of its work is approved by itself, as `due`."""
    waiting = Holding.objects.filter(hit__in=rows, state=State.SUBMITTED).order_by().values("hit")
    due_times: Iterable[tuple[Any, ...]] = waiting.annotate(due=Min("auto_approve_at")).values_list(
        "hit", "due"
    )
    dues = dict(due_times)
    for row in rows:
        row.due = dues.get(row.pk)  # type: ignore[attr-defined]
    return rows


def waiting_count(requester: Requester) -> int:
    """Answers of all HITs that wait for a decision, from the counts that each HIT keeps."""
    rows = HIT.objects.filter(requester=requester, submitted__gt=0).order_by()
    return int(rows.aggregate(sum=Sum("submitted"))["sum"] or 0)


def next_hit(requester: Requester, after: int = 0) -> HIT | None:
    """The HIT with work to review that comes after this one; from the first on again after the last."""
    rows = HIT.objects.filter(requester=requester, submitted__gt=0).only("hit_id").order_by("pk")
    return rows.filter(pk__gt=after).first() or rows.filter(pk__lt=after).first()


def next_worker(requester: Requester, now: datetime, after: int = 0) -> Worker | None:
    """The worker with work to review who comes after this one; from the first on again after the last."""
    rows = visible_work(requester, now).filter(state=State.SUBMITTED).select_related("worker")
    rows = rows.only("worker__worker_id").order_by("worker_id", "pk")
    row = rows.filter(worker__gt=after).first() or rows.filter(worker__lt=after).first()
    return row.worker if row else None


def of_hit(hit: HIT, *, state: str, now: datetime) -> QuerySet[Holding]:
    """Work on one HIT of this requester, in the order in which it came in."""
    seen = Q(visible_at=None) | Q(visible_at__lte=now)
    return _sheet(Holding.objects.filter(seen, hit=hit), state)


def of_worker(requester: Requester, worker: Worker, *, state: str, now: datetime) -> QuerySet[Holding]:
    """One worker's work for this requester, in the order in which it came in."""
    return _sheet(visible_work(requester, now).filter(worker=worker), state)


def _sheet(rows: QuerySet[Holding], state: str) -> QuerySet[Holding]:
    return (
        rows.filter(_in(state))
        .select_related("worker", "hit__hit_type", "hit__batch")
        .defer("hit__question")
        .order_by("submitted_at", "pk")
    )


def after(rows: QuerySet[Holding], row: Holding) -> Holding | None:
    """Of the rows of a sheet, the one after this row; from the first on again after the last."""
    later = Q(submitted_at__gt=row.submitted_at) | Q(submitted_at=row.submitted_at, pk__gt=row.pk)
    others = rows.exclude(pk=row.pk)
    return others.filter(later).first() or others.first()


#: Characters of what was asked that are shown without unfolding.
_SHORT = 400


@dataclass(frozen=True, slots=True)
class AnswerView:
    """One answer as a page shows it. `usual` are the seconds that work of its type usually takes,
    `once` is the number of its bonus form.
    """

    row: Holding
    fields: list[AnswerField]
    inputs: list[tuple[str, str]]
    bonus_cents: int
    usual: float | None
    hints: list[Hint]
    once: UUID = field(default_factory=uuid4)

    @property
    def fast(self) -> bool:
        """Much faster than usual."""
        took = seconds(self.row)
        if self.usual is None or took is None:
            return False
        return took < self.usual * _FAST and self.usual - took >= _NOTICEABLE

    @property
    def asks_much(self) -> bool:
        """What was asked is long: it is folded."""
        return sum(len(value) for _, value in self.inputs) > _SHORT

    @property
    def undecided(self) -> bool:
        """Waits for a decision."""
        return self.row.state == State.SUBMITTED


def make_views(rows: Sequence[Holding]) -> list[AnswerView]:
    """What pages show of these answers of one requester, in ten statements however many there are."""
    paid = Bonus.objects.filter(holding__in=rows).order_by().values("holding").annotate(sum=Sum("cents"))
    bonuses = dict(paid.values_list("holding", "sum"))
    usual = usual_seconds({row.hit.hit_type_id for row in rows})
    inputs = _inputs(rows)
    hints = hints_for(rows[0].requester_id, rows) if rows else {}
    return [
        AnswerView(
            row=row,
            fields=fields_of(row.answer),
            inputs=inputs.get(row.hit_id, []),
            bonus_cents=bonuses.get(row.pk, 0),
            usual=usual.get(row.hit.hit_type_id),
            hints=hints.get(row.pk, []),
        )
        for row in rows
    ]


def _inputs(rows: Sequence[Holding]) -> dict[int, list[tuple[str, str]]]:
    """Rows of batches' tables, by HIT."""
    hits = HIT.objects.filter(pk__in={row.hit_id for row in rows}, batch_task__isnull=False)
    columns_and_values = hits.values_list("pk", "batch__columns", "batch_task__values")
    return {pk: list(zip(columns, values, strict=False)) for pk, columns, values in columns_and_values}


def say_what_was_asked(rows: list[Holding]) -> list[Holding]:
    """Give each answer of a page its row of the batch's table, as `inputs`, and its fields: one statement."""
    inputs = _inputs(rows)
    for row in rows:
        row.inputs = inputs.get(row.hit_id, [])  # type: ignore[attr-defined]
        row.fields = fields_of(row.answer)  # type: ignore[attr-defined]
    return rows


def usual_seconds(hit_types: Iterable[int]) -> dict[int, float]:
    """Median time of the latest work of these HIT types, where there is enough of it to say so."""
    durations: dict[int, list[float]] = defaultdict(list)
    # The latest of all these types together: one statement, and a page has few types.
    times: Iterable[tuple[Any, ...]] = (
        Holding.objects.filter(hit__hit_type__in=list(hit_types), state__in=Holding.ANSWERED)
        .order_by("-pk")
        .values_list("hit__hit_type", "accepted_at", "submitted_at")[:_LATEST]
    )
    for kind, begin, end in times:
        durations[kind].append((end - begin).total_seconds())
    return {kind: median(values) for kind, values in durations.items() if len(values) >= _FEWEST}
