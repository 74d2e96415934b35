"""What a judging stage asks: its units, what a judge sees, judgments that count and those still missing."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

from annotation.importing.records import quoted
from annotation.models import Query
from annotation.selectors.answers import Material, has_approved_answer, materials
from core.bulk_rows import integer_columns
from core.projects.models import Project
from crowd.counted_work import counting, not_counting
from crowd.kinds import PendingUnit
from crowd.models import Assignment, Stage
from crowd.services.publication import Quote, left_to_ask, quote
from judgments.judging_config import JudgingConfig
from judgments.models import AttentionCheck, Candidate, FilterRun, Judgment, ShownReferences, System, Verdict
from judgments.seeded_order import rank
from judgments.selectors.candidates import OUT, accepted_texts, imported, to_judge
from judgments.units import candidate_of, check_of, is_check
from judgments.word_overlap import most_central

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Keys = npt.NDArray[np.integer[Any]]

# What researchers read for the units of this app.


def texts_of(names: Sequence[str]) -> dict[str, str]:
    """Query and answer of each unit, cut; a check says what it is made of. Two statements."""
    candidates = {candidate_of(unit): unit for unit in names if not is_check(unit)}
    checks = {check_of(unit): unit for unit in names if is_check(unit)}
    texts = {unit: unit for unit in names}
    rows = Candidate.objects.filter(pk__in=candidates).values_list("pk", "query__text", "text")
    for pk, query, text in rows:
        texts[candidates[pk]] = f"{quoted(query)}: {quoted(text)}"
    for check in AttentionCheck.objects.filter(pk__in=checks).select_related("query"):
        label = f"{quoted(check.query.text)}: {quoted(check.text)}"
        texts[checks[check.pk]] = f"Check, {check.get_source_display()}. {label}"
    return texts


# How people did in a training.


@dataclass(frozen=True, slots=True)
class TrainingResult:
    """One worker: how many examples they did, and at how many their first choice was right."""

    worker: int
    done: int
    right_at_first: int


def trained(stage: Stage) -> Iterator[TrainingResult]:
    """Everybody whose work in this stage counts, by their keys; in one statement."""
    lessons_by_worker: dict[int, dict[str, bool]] = defaultdict(dict)
    rows = Assignment.objects.filter(counting(), stage=stage, response__isnull=False)
    for worker, response in rows.order_by("worker", "pk").values_list("worker", "response").iterator(1000):
        for unit, answer in (response or {}).items():
            lessons_by_worker[worker].setdefault(unit, bool(answer["right_at_first"]))
    for worker, lessons in lessons_by_worker.items():
        yield TrainingResult(worker, len(lessons), sum(lessons.values()))


@dataclass(frozen=True, slots=True)
class Sums:
    """Judgments of one candidate that count: how many, the sum of scores and of their squares, in units."""

    n: int = 0
    total: int = 0
    squares: int = 0


def candidates_to_judge(stage: Stage, config: JudgingConfig) -> QuerySet[Candidate]:
    """Answers that are judged: of the stage's systems, not set aside, to queries that were not taken out."""
    candidates = to_judge(stage.project)
    return candidates.filter(system__name__in=config.systems) if config.systems else candidates


def system_choices(project: Project) -> dict[str, str]:
    """Names of a project's systems with words for a form: how many answers of each there are to judge."""
    names = list(
        System.objects.filter(project=project).order_by("kind", "name").values_list("name", flat=True)
    )
    labels = {
        name: f"{name}: {to_judge_count:,} of {n:,} answers to judge"
        for name, (n, to_judge_count) in _count_answers(project).items()
    }
    return {name: labels.get(name, name) for name in names}


def _count_answers(project: Project) -> dict[str, tuple[int, int]]:
    """Answers of each system, and how many of them are to be judged."""
    is_to_judge = Q(candidates__aside="") & ~Q(candidates__query__status__in=OUT)
    counted = System.objects.filter(project=project).annotate(
        n=Count("candidates"), wanted=Count("candidates", filter=is_to_judge)
    )
    return {name: (n, is_to_judge) for name, n, is_to_judge in counted.values_list("name", "n", "wanted")}


def not_asked_about(stage: Stage, config: JudgingConfig) -> dict[str, int]:
    """How many answers of systems a stage does not ask about, by the reason in words."""
    every = Candidate.objects.filter(system__project=stage.project_id)
    mine = every.filter(system__name__in=config.systems) if config.systems else every
    out, aside = Q(query__status__in=OUT), Candidate.UnjudgedReason
    counts = mine.aggregate(
        exact=Count("pk", filter=Q(aside=aside.EXACT) & ~out),
        empty=Count("pk", filter=Q(aside=aside.EMPTY) & ~out),
        withdrawn=Count("pk", filter=Q(aside=aside.WITHDRAWN) & ~out),
        query=Count("pk", filter=out),
    )
    counts_by_reason = {
        "the same as a reference": counts["exact"],
        "the system gave no answer": counts["empty"],
        "taken out by a researcher": counts["withdrawn"],
        "their query was excluded or taken out": counts["query"],
    }
    if config.systems:
        counts_by_reason["of systems that are not chosen"] = every.exclude(
            system__name__in=config.systems
        ).count()
    return {reason: count for reason, count in counts_by_reason.items() if count}


def counted_judgments(stage: Stage) -> QuerySet[Judgment]:
    """Judgments that count: of work that counts, and not removed by the filter run in force."""
    judgments = Judgment.objects.filter(counting("assignment"), stage=stage)
    run = FilterRun.objects.in_force().filter(stage=stage).values_list("pk", flat=True).first()
    if run is None:
        return judgments
    removed = Verdict.objects.filter(run=run, judgment=OuterRef("pk"), removes=True)
    return judgments.exclude(Exists(removed))


def sums_by_candidate(stage: Stage) -> dict[int, Sums]:
    """What has been judged, by candidate, in one statement; candidates without any are left out."""
    rows: QuerySet[Any, Any] = counted_judgments(stage).order_by().values_list("candidate")
    sums = rows.annotate(n=Count("pk"), total=Sum("score"), squares=Sum(F("score") * F("score")))
    return {candidate: Sums(n, total, squares) for candidate, n, total, squares in sums}


def waiting_by_candidate(stage: Stage) -> dict[int, int]:
    """Judgments whose work waits for a person, by candidate: they have their place, and do not count yet."""
    waiting = Assignment.objects.filter(
        not_counting(), stage=stage, state__in=Assignment.GOOD, withdrawn=False
    )
    if not waiting.exists():
        return {}
    rows = Judgment.objects.filter(stage=stage, assignment__in=waiting.values("pk")).order_by()
    return dict(rows.values_list("candidate").annotate(n=Count("pk")))


def shared_queries(stage: Stage, config: JudgingConfig) -> list[int]:
    """Queries all of whose answers everybody judges, drawn by the seed; at least one other is left."""
    if not config.shared_queries:
        return []
    keys = candidates_to_judge(stage, config).order_by().values_list("query", "query__key").distinct()
    ordered = sorted(keys, key=lambda row: rank("shared", stage.seed, row[1]))
    return sorted(pk for pk, _ in ordered[: min(config.shared_queries, len(ordered) - 1)])


def candidates_of(stage: Stage, config: JudgingConfig, queries: Sequence[int]) -> list[int]:
    """The candidates to judge of these queries."""
    rows = candidates_to_judge(stage, config).filter(query__in=queries).order_by("pk")
    return list(rows.values_list("pk", flat=True))


# Answers of systems beside which judges would see no correct answer.

_CHUNK = 2_000


def without_correct_answer(stage: Stage, config: JudgingConfig) -> Sequence[str]:
    """A caution where queries have no accepted reference: none came with them and none was approved."""
    if config.reference == "none":
        return ()
    judged_queries = candidates_to_judge(stage, config).order_by().values("query")
    queries = Query.objects.filter(pk__in=judged_queries)
    without = queries.exclude(has_approved_answer()).order_by("pk").values_list("references", flat=True)
    lacking = sum(not imported(references) for references in without.iterator(_CHUNK))
    if not lacking:
        return ()
    total = queries.count()
    lacking_phrase = "no query" if lacking == total else f"{lacking:,} of {total:,} queries"
    have = "has an accepted one" if lacking == total else "have no accepted one"
    return (
        f"Judges are shown a correct answer, and {lacking_phrase} {have}: they would judge without it. "
        "Approve answers in the review first, or choose to show none.",
    )


# Which answers have enough judgments, by the stage's mode.


def missing_judgments(
    stage: Stage, config: JudgingConfig, candidates: Sequence[int], sums: Mapping[int, Sums]
) -> Iterator[tuple[int, int]]:
    """Candidates that lack judgments, with how many to ask for now, in their order.

    With a fixed redundancy it is what is left of it. The other modes ask for the fewest judgments first, and
    then for one at a time until the interval of the mean is narrow enough, or clear of the threshold.
    """
    if config.redundancy_mode == "fixed":
        missing = [stage.redundancy - sums.get(candidate, Sums()).n for candidate in candidates]
    else:
        missing = _adaptive(config, [sums.get(candidate, Sums()) for candidate in candidates])
    return ((candidate, n) for candidate, n in zip(candidates, missing, strict=True) if n > 0)


def pending_judgments(
    stage: Stage, config: JudgingConfig, sums: Mapping[int, Sums]
) -> Iterator[tuple[int, int]]:
    """Answers that are judged and lack judgments, with how many; `sums` are of the judgments that count.

    Judgments whose work waits for a person are there already. Shared answers come with all others.
    """
    shared = shared_queries(stage, config)
    rows = candidates_to_judge(stage, config).exclude(query__in=shared).order_by("pk")
    waiting = waiting_by_candidate(stage)
    for candidate, n in missing_judgments(stage, config, list(rows.values_list("pk", flat=True)), sums):
        if n > waiting.get(candidate, 0):
            yield candidate, n - waiting.get(candidate, 0)


def pending_of_stage(stage: Stage, config: JudgingConfig) -> Iterator[tuple[int, int]]:
    """`pending_judgments` by what the database has now.

    With a fixed redundancy it is a matter of numbers alone, so nothing is kept of candidates that lack none:
    a million of them with their sums take half a minute and several hundred megabytes.
    """
    if config.redundancy_mode != "fixed":
        yield from pending_judgments(stage, config, sums_by_candidate(stage))
        return
    import numpy as np  # not on the way to a first page

    shared = shared_queries(stage, config)
    rows = candidates_to_judge(stage, config).exclude(query__in=shared).order_by("pk")
    (keys,) = integer_columns(rows.values_list("pk"), "i8")
    missing = stage.redundancy - _count_judgments(stage, keys)
    lacking = np.flatnonzero(missing > 0)
    yield from zip(keys[lacking].tolist(), missing[lacking].tolist(), strict=True)


def _count_judgments(stage: Stage, candidates: "Keys") -> "Keys":
    """Of each of these candidates, how many judgments there are that count or wait for a person.

    All are counted, which needs an index alone; the few of other work, and those that the filter run in force
    removed, are taken off. Joining each with its work takes several times as long.
    """
    every = Judgment.objects.filter(stage=stage)
    others = Assignment.objects.filter(not_counting(), stage=stage)
    never = others.exclude(state__in=Assignment.GOOD, withdrawn=False).values("pk")
    counts = _numbers(every, candidates)
    counts -= _numbers(every.filter(assignment__in=never), candidates)
    run = FilterRun.objects.in_force().filter(stage=stage).values_list("pk", flat=True).first()
    if run is not None:
        removed = Verdict.objects.filter(run=run, judgment__isnull=False, removes=True).values("judgment")
        of_work = every.filter(pk__in=removed).exclude(assignment__in=others.values("pk"))
        counts -= _numbers(of_work, candidates)
    return counts


def _numbers(rows: QuerySet[Judgment], candidates: "Keys") -> "Keys":
    """How many of these judgments there are of each of the candidates, which are in order."""
    import numpy as np

    count_rows: QuerySet[Any, Any] = (
        rows.order_by("candidate").values_list("candidate").annotate(n=Count("*"))
    )
    keys, n = integer_columns(count_rows, "i8", "i8")
    if not len(keys):
        return np.zeros(len(candidates), dtype=np.int64)
    at = keys.searchsorted(candidates).clip(max=len(keys) - 1)
    counts: Keys = n[at] * (keys[at] == candidates)
    return counts


@dataclass(frozen=True, slots=True)
class MissingJudgments:
    """What a stage lacks, counted in judgments: one person's score of one answer.

    `judgments` are missing on `answers` answers. `requested` of them are to be asked for by publishing
    `offer`; the others may still come through HITs that are open.
    """

    judgments: int
    answers: int
    requested: int
    offer: Quote

    @property
    def under_way(self) -> int:
        """Judgments that open HITs are there for."""
        return self.judgments - self.requested


def missing_of(stage: Stage, pending: Sequence[PendingUnit]) -> MissingJudgments:
    """What is missing where this is pending, and what asking for it costs."""
    left = left_to_ask(stage, pending)
    return MissingJudgments(
        judgments=sum(each.missing for each in pending),
        answers=len(pending),
        requested=sum(each.missing for each in left),
        offer=quote(stage, left),
    )


def _adaptive(config: JudgingConfig, sums: Sequence[Sums]) -> list[int]:
    """Judgments to ask for now. Before two of one answer say more, scores count as spread evenly.

    Sums, variances and widths are in units of the scale.
    """
    import numpy as np  # not on the way to a first page

    from metrics.agreement.data import Sums as ItemSums
    from metrics.agreement.data import pooled_variance
    from metrics.agreement.planning import Rule, decision, precision

    table = np.array([(each.n, each.total, each.squares) for each in sums], dtype=np.int64).reshape(-1, 3)
    item_sums = ItemSums(table[:, 0], table[:, 1], table[:, 2])
    pooled = pooled_variance(item_sums)
    scale = config.rating_scale
    evenly, unit = scale.every**2 * (len(scale.scores) ** 2 - 1) / 12, float(scale.unit)
    rule = Rule(
        prior_variance=evenly if pooled is None else pooled,
        least=config.least_judgments,
        most=config.most_judgments,
    )
    if config.redundancy_mode == "precision":
        standing = precision(item_sums, rule, half_width=config.half_width / unit)
    else:
        standing = decision(item_sums, rule, threshold=config.threshold / unit)
    return [int(n) for n in standing.missing]


# What a judge sees of one answer.

_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class JudgedItem:
    """The query with its passages, the predicted answer, and the correct ones that stand below it.

    `others` has all correct answers where only one is in view and judges may look at them.
    """

    material: Material
    text: str
    correct: Sequence[str]
    others: Sequence[str] = ()


def queries_of(names: Sequence[str]) -> dict[str, int]:
    """The queries that units are about; a statement for each ten thousand of them."""
    queries: dict[str, int] = {}
    for start in range(0, len(names), _AT_ONCE):
        batch = names[start : start + _AT_ONCE]
        candidates = {candidate_of(unit): unit for unit in batch if not is_check(unit)}
        checks = {check_of(unit): unit for unit in batch if is_check(unit)}
        for model, keys in ((Candidate, candidates), (AttentionCheck, checks)):
            if keys:
                rows = model.objects.filter(pk__in=keys).values_list("pk", "query")
                queries |= {keys[pk]: query for pk, query in rows}
    return queries


def read_judged_items(
    stage: Stage, names: Sequence[str], config: JudgingConfig, seed: int
) -> dict[str, JudgedItem]:
    """What is shown of units, the same for everybody; a check is shown like any other answer.

    A handful of statements, however many units. KeyError where a unit is not there.
    """
    rows = _rows(names)
    queries = {row.query_id for row in rows.values()}
    read = materials(queries) if config.passages else {}
    references = references_shown(stage, queries, config, seed) if config.reference != "none" else {}
    judged_items = {}
    for unit, row in rows.items():
        correct, others = _correct(row.text, references.get(row.query_id, []), config)
        judged_items[unit] = JudgedItem(
            read.get(row.query_id) or Material(row.query, ()), row.text, correct, others
        )
    return judged_items


def references_shown(
    stage: Stage, queries: Collection[int], config: JudgingConfig, seed: int
) -> dict[int, list[str]]:
    """The correct answers of queries, the one in view first: as they were kept, or as they would be now."""
    stored = ShownReferences.objects.filter(stage=stage, query__in=queries)
    texts_by_query: dict[int, list[str]] = dict(stored.values_list("query", "texts"))
    rest = accepted_texts([query for query in queries if query not in texts_by_query])
    return texts_by_query | {
        query: _first_in_view(query, texts, config, seed) for query, texts in rest.items()
    }


def _first_in_view(query: int, texts: list[str], config: JudgingConfig, seed: int) -> list[str]:
    """The texts with the one that is shown in front: the most central, or one drawn by the seed."""
    if config.reference == "one":
        return sorted(texts, key=lambda text: rank("reference", seed, query, text))
    if config.reference == "all" or not texts:
        return texts
    central = most_central(texts)
    return [central, *(text for text in texts if text != central)]


def _rows(names: Sequence[str]) -> dict[str, Candidate | AttentionCheck]:
    candidates = {unit: candidate_of(unit) for unit in names if not is_check(unit)}
    checks = {unit: check_of(unit) for unit in names if is_check(unit)}
    answers = Candidate.objects.select_related("query").in_bulk(list(candidates.values()))
    checks_by_id = (
        AttentionCheck.objects.select_related("query").in_bulk(list(checks.values())) if checks else {}
    )
    return {
        unit: checks_by_id[checks[unit]] if unit in checks else answers[candidates[unit]] for unit in names
    }


def _correct(
    text: str, references: Sequence[str], config: JudgingConfig
) -> tuple[Sequence[str], Sequence[str]]:
    """The correct answers beside a predicted one, and all of them where one is in view and more are known.

    A reference is not shown beside itself where there are others.
    """
    correct_answers = [reference for reference in references if reference != text.strip()] or references
    if config.reference == "all":
        return correct_answers, ()
    return correct_answers[:1], correct_answers if config.reference == "central" and len(
        correct_answers
    ) > 1 else ()
