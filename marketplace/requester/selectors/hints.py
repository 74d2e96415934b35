"""What may tell a reviewer that an answer needs a second look; it decides nothing, and may be innocent.

Of other people only those are named who worked for the same requester.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from marketplace.models import Holding, Likeness, PayeeDetails, WorkerTrace, WorkTrace

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
    words: str
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
    found: dict[int, list[Hint]] = defaultdict(list)
    workers = {row.worker_id for row in rows}
    for kind, shared in _shared(requester, workers).items():
        for row in rows:
            if others := sorted(shared.get(row.worker_id, ())):
                found[row.pk].append(_shares(kind, others))
    for pk, other in _alike(rows):
        same = "the same words" if other.identical else "nearly the same words"
        who = other.other.worker.worker_id
        found[pk].append(Hint("alike", f"{who} wrote {same}.", (who,), other.other_id))
    traces = {trace.holding_id: trace for trace in WorkTrace.objects.filter(holding__in=rows)}
    countries = _countries(workers)
    for row in rows:
        took = (row.submitted_at - row.accepted_at).total_seconds() if row.submitted_at else None
        if took is not None and took < settings.HINTS_LEAST_SECONDS:
            found[row.pk].append(Hint("fast", f"It took {took:.1f} s."))
        if trace := traces.get(row.pk):
            found[row.pk] += _counted(trace)
        stated, seen = row.worker.country, countries.get(row.worker_id, set())
        if stated and (elsewhere := sorted(seen - {stated})):
            words = f"They stated {stated} and came from {', '.join(elsewhere)}."
            found[row.pk].append(Hint("country", words))
    return dict(found)


def _shares(kind: str, others: Sequence[str]) -> Hint:
    named = ", ".join(others[:_NAMED]) + (f" and {len(others) - _NAMED} more" if len(others) > _NAMED else "")
    return Hint(kind, f"Shared with {named}.", tuple(others[:_NAMED]))


def _counted(trace: WorkTrace) -> list[Hint]:
    found = []
    if trace.pasted_characters >= PASTED:
        times = "once" if trace.pastes == 1 else f"{trace.pastes} times"
        found.append(Hint("pasted", f"Pasted {times}, {trace.pasted_characters} characters in all."))
    if trace.left >= LEFT:
        found.append(Hint("left", f"Left the page {trace.left} times, for {trace.left_seconds} s in all."))
    return found


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
    found = Likeness.objects.filter(holding__in=rows).select_related("other__worker").defer("other__answer")
    seen: dict[int, int] = defaultdict(int)
    kept = []
    for each in found.order_by("-identical", "pk"):
        seen[each.holding_id] += 1
        if seen[each.holding_id] <= _NAMED:
            kept.append((each.holding_id, each))
    return kept


def _countries(workers: set[int]) -> dict[int, set[str]]:
    found: dict[int, set[str]] = defaultdict(set)
    traces = WorkerTrace.objects.filter(worker__in=workers).exclude(country="")
    seen: Iterable[tuple[Any, ...]] = traces.values_list("worker", "country")
    for worker, country in seen:
        found[worker].add(country)
    return found


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
