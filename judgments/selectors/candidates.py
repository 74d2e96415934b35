"""Systems' answers: which of them are judged, the table of one system, and the references beside them."""

import unicodedata
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from django.db.models import Avg, Count, Exists, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.importing.records import folded, normal
from annotation.models import Query
from annotation.selectors.answers import references
from core.projects.models import Project
from core.projects.selectors import last_event
from judgments.models import Candidate, FilterRun, ImportedScore, Judgment, Score, System
from web.cache import cached

#: Queries about which nobody is asked any more. Candidates of all others are judged, also of those that wait.
OUT = (Query.Status.WITHDRAWN, Query.Status.EXCLUDED)


def to_judge(project: Project) -> QuerySet[Candidate]:
    """Candidates that people judge, in the order of their keys.

    None that is set aside, and none of a query that screening excluded or a researcher took out. How far a
    query is in the pipeline does not matter otherwise: a project that only judges never screens its queries.
    """
    return (
        Candidate.objects.filter(system__project=project, aside="")
        .exclude(query__status__in=OUT)
        .order_by("pk")
    )


_COUNTS = ("answers", "to_judge", "query_out", "exact", "empty", "withdrawn")


@dataclass(frozen=True, slots=True)
class SystemCounts:
    """A system with how many answers it has, how many are set aside and why, and how many were judged.

    `judged` counts candidates with a judgment or an imported score, `judgments` the judgments. `mean` is the
    mean over its candidates of their mean scores by the filter runs in force, or of the imported ones; None
    without either.
    """

    system: System
    answers: int
    to_judge: int
    query_out: int
    exact: int
    empty: int
    withdrawn: int
    judged: int
    judgments: int
    mean: float | None


def systems(project: Project, only: System | None = None) -> list[SystemCounts]:
    """All systems of a project by kind and name, or `only` this one.

    Where counting takes long they are as they were a while ago, but for what people did to candidates.
    """
    key = (
        "systems",
        project.pk,
        only and only.pk,
        last_event(project, "candidate"),
        last_event(project, "filter"),
    )
    return cached(key, partial(_count_systems, project, only))


def _count_systems(project: Project, only: System | None) -> list[SystemCounts]:
    """In four statements at most."""
    system_rows = [only] if only else list(System.objects.filter(project=project).order_by("kind", "name"))
    aside = Candidate.UnjudgedReason
    out = Q(query__status__in=OUT)
    counts: dict[int, dict[str, int]] = {}
    imported: dict[int, tuple[int, float | None]] = {}
    rows = (
        Candidate.objects.filter(system__in=system_rows)
        .order_by()
        .values_list("system")
        .annotate(
            answers=Count("pk"),
            to_judge=Count("pk", filter=Q(aside="") & ~out),
            query_out=Count("pk", filter=Q(aside="") & out),
            exact=Count("pk", filter=Q(aside=aside.EXACT)),
            empty=Count("pk", filter=Q(aside=aside.EMPTY)),
            withdrawn=Count("pk", filter=Q(aside=aside.WITHDRAWN)),
            imported=Count("imported_score"),
            imported_mean=Avg("imported_score__mean"),
        )
    )
    for system, *numbers, scored, mean in rows:
        counts[system], imported[system] = dict(zip(_COUNTS, numbers, strict=True)), (scored, mean)
    judged_by_system = {
        system: (candidates, judgments)
        for system, candidates, judgments in Judgment.objects.filter(candidate__system__in=system_rows)
        .order_by()
        .values_list("candidate__system")
        .annotate(candidates=Count("candidate", distinct=True), judgments=Count("pk"))
    }
    means = dict(
        Score.objects.filter(run__in=FilterRun.objects.in_force(), candidate__system__in=system_rows)
        .order_by()
        .values_list("candidate__system")
        .annotate(value=Avg("mean"))
    )
    return [
        _counted(
            system,
            counts.get(system.pk, {}),
            judged_by_system.get(system.pk, (0, 0)),
            imported.get(system.pk, (0, None)),
            means.get(system.pk),
        )
        for system in system_rows
    ]


def _counted(
    system: System,
    row: Mapping[str, int],
    judged_counts: tuple[int, int],
    imported: tuple[int, float | None],
    mean: float | None,
) -> SystemCounts:
    """A project has judgments or imported scores, never both: that of the second kind is read-only."""
    (candidates, judgments), (scored, imported_mean) = judged_counts, imported
    return SystemCounts(
        system,
        **{name: row.get(name, 0) for name in _COUNTS},
        judged=candidates or scored,
        judgments=judgments,
        mean=imported_mean if mean is None else mean,
    )


def unjudged(rows: QuerySet[Candidate]) -> QuerySet[Candidate]:
    """Those about which nobody has said anything yet."""
    return rows.filter(~Exists(Judgment.objects.filter(candidate=OuterRef("pk"))))


# The answers of one system as a table: which rows an address asks for, and what was said about them.

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
    text: str = ""
    order: str = "number"


def rows(system: System, filters: Filters) -> QuerySet[Candidate]:
    """The answers that an address asks for, each with its query and with what its order needs."""
    candidates = _in_state(Candidate.objects.filter(system=system), system, filters.state)
    if filters.text:
        candidates = candidates.filter(
            Q(text__icontains=filters.text)
            | Q(query__text__icontains=filters.text)
            | Q(query__key=filters.text)
        )
    return _with_figures(candidates, filters.order).select_related("query").order_by("pk")


def _in_state(candidates: QuerySet[Candidate], system: System, state: str) -> QuerySet[Candidate]:
    has_judgments = Exists(Judgment.objects.filter(candidate=OuterRef("pk")))
    if state in Candidate.UnjudgedReason.values:
        return candidates.filter(aside=state)
    if state in ("judge", "unjudged"):
        judge = to_judge(system.project).filter(system=system)
        return judge if state == "judge" else judge.filter(~has_judgments)
    if state == "judged":
        return candidates.filter(has_judgments)
    if state == "out":
        return candidates.filter(query__status__in=OUT)
    return candidates.filter(kept=True) if state == "kept" else candidates


def _with_figures(candidates: QuerySet[Candidate], order: str) -> QuerySet[Candidate]:
    """`mean_score` or `judgment_count`, where the order asks for it."""
    if order == "mean":
        scores = Score.objects.filter(candidate=OuterRef("pk"), run__in=FilterRun.objects.in_force())
        newest = scores.order_by("-run__stage").values("mean")[:1]
        return candidates.annotate(mean_score=Coalesce(Subquery(newest), "imported_score__mean"))
    return candidates.annotate(judgment_count=Count("judgments")) if order == "judged" else candidates


@dataclass(frozen=True, slots=True)
class AnswerScore:
    """What people said about an answer in one judging stage: the newest that has a score, else judgments.

    `judgments` are all of that stage; `mean` is that of those that its filters in force kept, or the
    imported one. `simulated`: a program gave at least one of the judgments, or the imported score, in place
    of a person.
    """

    judgments: int = 0
    mean: float | None = None
    simulated: bool = False
    kept_count: int | None = None


def load_answer_scores(candidates: Iterable[int]) -> dict[int, AnswerScore]:
    """What was said about each, in three statements; those about whom nothing was said are missing."""
    candidate_ids = list(candidates)
    judgments = (
        Judgment.objects.filter(candidate__in=candidate_ids)
        .values_list("candidate", "stage")
        .order_by("stage")
    )
    rows = judgments.annotate(n=Count("pk"), by_programs=Count("pk", filter=Q(worker__simulated=True)))
    counts = {(pk, stage): (n, by_programs > 0) for pk, stage, n, by_programs in rows}
    stages = dict(counts.keys())
    scores = Score.objects.filter(candidate__in=candidate_ids, run__in=FilterRun.objects.in_force())
    answer_scores = {
        pk: AnswerScore(0, mean, simulated)
        for pk, mean, simulated in ImportedScore.objects.filter(candidate__in=candidate_ids).values_list(
            "candidate", "mean", "simulated"
        )
    }
    means: dict[int, tuple[float | None, int | None]] = {}
    for pk, stage, mean, kept_count in scores.order_by("run__stage").values_list(
        "candidate", "run__stage", "mean", "n_kept"
    ):
        means[pk], stages[pk] = (mean, kept_count), stage
    for pk, stage in stages.items():
        n, simulated = counts.get((pk, stage), (0, False))
        of_kept, kept_ones = means.get(pk, (None, None))
        answer_scores[pk] = AnswerScore(n, of_kept, simulated, kept_ones)
    return answer_scores


# The references of queries: answers that came with them, and answers of people that count.

# When an answer is an exact copy of a reference.
#
# Paper 002 (section 4.2) leaves such answers out: that people call them correct is known beforehand. The
# paper does not say how texts were compared; here two are the same when they differ in nothing but case,
# white space and punctuation at the end. Articles, other punctuation and the order of words count as
# differences.

#: White space and the punctuation (not the symbols) of ASCII, by the categories of Unicode.
_MARKS = " !\"#%&'()*,-./:;?@[\\]_{}"


def exact_form(text: str) -> str:
    """The text in the form in which copies are equal: NFC, without case, white space collapsed, no end marks.

    A text of nothing but punctuation keeps it, so that it equals only itself.
    """
    plain = folded(normal(text))
    bare = plain.rstrip(_MARKS)
    while bare and not bare[-1].isascii() and unicodedata.category(bare[-1]).startswith("P"):
        bare = bare[:-1].rstrip(_MARKS)
    return bare or plain


def reference_texts(queries: Collection[int]) -> dict[int, list[str]]:
    """The texts of all references by query: imported ones first, then people's in the order of writing.

    Held-out answers are no references. A query without references has an empty list. Two statements.
    """
    written = references(queries)
    rows = Query.objects.filter(pk__in=queries).values_list("pk", "references")
    return {
        pk: [*imported(own_references), *(answer.text for answer in written.get(pk, []))]
        for pk, own_references in rows
    }


def accepted_texts(queries: Collection[int]) -> dict[int, list[str]]:
    """References that nobody has to doubt, each text once: imported ones, and answers that were approved.

    An answer that waits for review, with flags or without, is none of them.
    """
    written = references(queries)
    rows = Query.objects.filter(pk__in=queries).values_list("pk", "references")
    texts_by_query: dict[int, list[str]] = {}
    for pk, own_references in rows:
        approved = [answer.text for answer in written.get(pk, []) if answer.approved]
        texts = (text.strip() for text in (*imported(own_references), *approved))
        texts_by_query[pk] = list(dict.fromkeys(text for text in texts if text))
    return texts_by_query


def imported(entries: object) -> list[str]:
    """The texts of `Query.references`; what is no text in it is passed over."""
    return (
        [each for each in entries if isinstance(each, str) and each.strip()]
        if isinstance(entries, list)
        else []
    )


def reference_forms(queries: Collection[int]) -> dict[int, frozenset[str]]:
    """The references of queries in the form in which an exact copy equals them."""
    return {pk: frozenset(map(exact_form, texts)) for pk, texts in reference_texts(queries).items()}
