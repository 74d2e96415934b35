"""The answers of one system as a table: which rows an address asks for, and what was said about them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Avg, Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from judgments.models import Candidate, FilterRun, ImportedScore, Judgment, Score, System
from judgments.selectors.candidates import OUT, to_judge

#: What the address can ask for as `state`.
STATES: Mapping[str, str] = {
    "": "All",
    "judge": "To be judged",
    "judged": "Judged by somebody",
    "unjudged": "To be judged, no judgments yet",
    **{str(value): label[:1].upper() + label[1:] for value, label in Candidate.UnjudgedReason.choices},
    "out": "Its query is taken out",
    "kept": "Put back, or kept on purpose",
}


@dataclass(frozen=True, slots=True)
class Filters:
    """What is asked for; `order` is the column that is sorted by."""

    state: str = ""
    words: str = ""
    order: str = "number"


def rows(system: System, filters: Filters) -> QuerySet[Candidate]:
    """The answers that an address asks for, each with its query and with what its order needs."""
    found = _in_state(Candidate.objects.filter(system=system), system, filters.state)
    if filters.words:
        found = found.filter(
            Q(text__icontains=filters.words)
            | Q(query__text__icontains=filters.words)
            | Q(query__key=filters.words)
        )
    return _with_figures(found, filters.order).select_related("query").order_by("pk")


def _in_state(found: QuerySet[Candidate], system: System, state: str) -> QuerySet[Candidate]:
    has_judgments = Exists(Judgment.objects.filter(candidate=OuterRef("pk")))
    if state in Candidate.UnjudgedReason.values:
        return found.filter(aside=state)
    if state in ("judge", "unjudged"):
        judge = to_judge(system.project).filter(system=system)
        return judge if state == "judge" else judge.filter(~has_judgments)
    if state == "judged":
        return found.filter(has_judgments)
    if state == "out":
        return found.filter(query__status__in=OUT)
    return found.filter(kept=True) if state == "kept" else found


def _with_figures(found: QuerySet[Candidate], order: str) -> QuerySet[Candidate]:
    """`mean_score` or `judgment_count`, where the order asks for it."""
    if order == "mean":
        scores = Score.objects.filter(candidate=OuterRef("pk"), run__in=FilterRun.objects.in_force())
        mean = scores.order_by().values("candidate").annotate(value=Avg("mean")).values("value")
        return found.annotate(mean_score=Coalesce(Subquery(mean), "imported_score__mean"))
    return found.annotate(judgment_count=Count("judgments")) if order == "judged" else found


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """What people said about an answer: judgments, and the mean score.

    The mean is that by the filter runs in force, or the imported one.
    `simulated`: a program gave at least one of the judgments, or the imported score, in place of a person.
    """

    judgments: int = 0
    mean: float | None = None
    simulated: bool = False


def load_answer_scores(candidates: Iterable[int]) -> dict[int, AnswerScore]:
    """What was said about each, in three statements; those about whom nothing was said are missing."""
    wanted = list(candidates)
    judgments = Judgment.objects.filter(candidate__in=wanted).order_by().values_list("candidate")
    rows = judgments.annotate(n=Count("pk"), by_programs=Count("pk", filter=Q(worker__simulated=True)))
    counts = {pk: (n, by_programs > 0) for pk, n, by_programs in rows}
    means = dict(
        Score.objects.filter(candidate__in=wanted, run__in=FilterRun.objects.in_force())
        .order_by()
        .values_list("candidate")
        .annotate(value=Avg("mean"))
    )
    found = {
        pk: AnswerScore(0, mean, simulated)
        for pk, mean, simulated in ImportedScore.objects.filter(candidate__in=wanted).values_list(
            "candidate", "mean", "simulated"
        )
    }
    for pk in counts.keys() | means.keys():
        n, simulated = counts.get(pk, (0, False))
        found[pk] = AnswerScore(n, means.get(pk), simulated)
    return found
