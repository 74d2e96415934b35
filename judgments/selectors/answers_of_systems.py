"""The answers of one system as a table: which rows an address asks for, and what was said about them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Avg, Count, Exists, F, OuterRef, Q, QuerySet, Subquery

from judgments.models import Candidate, FilterRun, Judgment, Score, System
from judgments.selectors.candidates import OUT, to_judge

#: What the address can ask for as `state`.
STATES: Mapping[str, str] = {
    "": "All",
    "judge": "To be judged",
    "judged": "Judged by somebody",
    "unjudged": "To be judged, nobody did yet",
    **{str(value): label[:1].upper() + label[1:] for value, label in Candidate.Aside.choices},
    "out": "Its query is taken out",
    "kept": "Put back, or kept on purpose",
}
ORDERS: Mapping[str, str] = {
    "number": "As imported",
    "query": "By their query",
    "text": "By their text",
    "worst": "Lowest mean score first",
    "best": "Highest mean score first",
    "judged": "Most judgments first",
}
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Filters:
    """What an address asks for; what it has no words for is left out."""

    state: str = ""
    words: str = ""
    order: str = "number"

    @classmethod
    def of(cls, given: Mapping[str, str]) -> "Filters":
        """Read from an address; nonsense counts as nothing."""
        state, order = given.get("state", ""), given.get("order", "")
        return cls(
            state=state if state in STATES else "",
            words=given.get("q", "").replace("\0", "").strip()[:_LONGEST],
            order=order if order in ORDERS else "number",
        )

    @property
    def narrows(self) -> bool:
        """Something is left out."""
        return bool(self.state or self.words)


def rows(system: System, filters: Filters) -> QuerySet[Candidate]:
    """The answers that an address asks for, in its order, each with its query."""
    found = _in_state(Candidate.objects.filter(system=system), system, filters.state)
    if filters.words:
        found = found.filter(
            Q(text__icontains=filters.words)
            | Q(query__text__icontains=filters.words)
            | Q(query__key=filters.words)
        )
    return _ordered(found, filters.order).select_related("query")


def _in_state(found: QuerySet[Candidate], system: System, state: str) -> QuerySet[Candidate]:
    said = Exists(Judgment.objects.filter(candidate=OuterRef("pk")))
    if state in Candidate.Aside.values:
        return found.filter(aside=state)
    if state in ("judge", "unjudged"):
        judge = to_judge(system.project).filter(system=system)
        return judge if state == "judge" else judge.filter(~said)
    if state == "judged":
        return found.filter(said)
    if state == "out":
        return found.filter(query__status__in=OUT)
    return found.filter(kept=True) if state == "kept" else found


def _ordered(found: QuerySet[Candidate], order: str) -> QuerySet[Candidate]:
    if order in ("worst", "best"):
        scores = Score.objects.filter(candidate=OuterRef("pk"), run__state=FilterRun.State.IN_FORCE)
        mean = scores.order_by().values("candidate").annotate(value=Avg("mean")).values("value")
        by = (
            F("mean_score").asc(nulls_last=True)
            if order == "worst"
            else F("mean_score").desc(nulls_last=True)
        )
        return found.annotate(mean_score=Subquery(mean)).order_by(by, "pk")
    if order == "judged":
        return found.annotate(said=Count("judgments")).order_by("-said", "pk")
    return found.order_by(*{"query": ("query__text", "pk"), "text": ("text", "pk")}.get(order, ("pk",)))


@dataclass(frozen=True, slots=True)
class Said:
    """What people said about an answer: judgments, and the mean score by the filter runs in force."""

    judgments: int = 0
    mean: float | None = None


def said(candidates: Iterable[int]) -> dict[int, Said]:
    """What was said about each of these, in two statements; those about whom nothing was said are missing."""
    wanted = list(candidates)
    counts = dict(
        Judgment.objects.filter(candidate__in=wanted)
        .order_by()
        .values_list("candidate")
        .annotate(n=Count("pk"))
    )
    means = dict(
        Score.objects.filter(candidate__in=wanted, run__state=FilterRun.State.IN_FORCE)
        .order_by()
        .values_list("candidate")
        .annotate(value=Avg("mean"))
    )
    return {pk: Said(counts.get(pk, 0), means.get(pk)) for pk in counts.keys() | means.keys()}
