"""A judging stage at work: references and attention checks are fixed, judgments come in."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from django.db import transaction
from django.utils import timezone

from annotation.models import Query
from annotation.selectors.answers import materials
from crowd.errors import CrowdError
from crowd.models import Assignment, Stage
from judgments.attention_checks import Check, CheckPlan, Item, draw_checks
from judgments.judging_config import JudgingConfig, accepted_steps
from judgments.models import AttentionCheck, CheckAnswer, Judgment, ShownReferences
from judgments.seeded_order import rank
from judgments.selectors.candidates import accepted_texts, reference_texts
from judgments.selectors.judging import candidates_to_judge, references_shown
from judgments.selectors.ratings import scale_of
from judgments.units import candidate_of, check_of, is_check
from metrics.agreement.scale import Scale

# The correct answers that the judges of a stage see, kept so that all of them see the same.

_AT_ONCE = 1000


def keep_references(stage: Stage, queries: Iterable[int], config: JudgingConfig) -> None:
    """Keep what judges of these queries see; what was kept before stays, whatever was accepted since."""
    if config.reference == "none":
        return
    stored_queries = set(ShownReferences.objects.filter(stage=stage).values_list("query", flat=True))
    new = sorted(set(queries).difference(stored_queries))
    for start in range(0, len(new), _AT_ONCE):
        references = references_shown(stage, new[start : start + _AT_ONCE], config, stage.seed)
        ShownReferences.objects.bulk_create(
            (
                ShownReferences(stage=stage, query_id=query, texts=texts)
                for query, texts in references.items()
            ),
            ignore_conflicts=True,
        )


def record_judgments(*, assignment: Assignment, responses: Mapping[str, Mapping[str, Any]]) -> None:
    """Keep the scores of candidates and of attention checks; called in the transaction of the answer.

    AttentionCheck.DoesNotExist where a check is not one of the stage: nothing is kept then.
    """
    at = assignment.stored_at or timezone.now()
    unit_of_check = {check_of(unit): unit for unit in responses if is_check(unit)}
    checks = (
        AttentionCheck.objects.filter(stage=assignment.stage_id).in_bulk(list(unit_of_check))
        if unit_of_check
        else {}
    )
    if len(checks) < len(unit_of_check):
        raise AttentionCheck.DoesNotExist(
            f"Not checks of this stage: {sorted(unit_of_check.keys() - checks.keys())}."
        )
    scale = scale_of(assignment.stage)
    CheckAnswer.objects.bulk_create(
        CheckAnswer(
            check_item=check,
            assignment=assignment,
            worker=assignment.worker,
            score=in_units(responses[unit_of_check[pk]]["score"], scale),
            passed=in_units(responses[unit_of_check[pk]]["score"], scale) in check.accepted,
            at=at,
        )
        for pk, check in checks.items()
    )
    Judgment.objects.bulk_create(
        Judgment(
            stage=assignment.stage,
            assignment=assignment,
            worker=assignment.worker,
            candidate_id=candidate_of(unit),
            score=in_units(response["score"], scale),
            aspects=response.get("aspects", {}),
            comment=response.get("comment", ""),
            at=at,
        )
        for unit, response in responses.items()
        if not is_check(unit)
    )


def in_units(score: float, scale: Scale) -> int:
    """A score of a response as it is stored; ValueError for one that is none of the scale."""
    # By its decimal digits: 0.1 as a binary fraction is on no scale.
    steps = scale.step_of(Fraction(repr(score)))
    if steps is None:
        raise ValueError(f"The score {score} is not on the scale {scale.description}.")
    return steps


# Attention checks of a stage: drawn from its data by its seed, and kept as rows before they are shown.

#: Queries that checks are drawn from, drawn by the seed themselves, for each check that is wanted.
_QUERIES_PER_CHECK = 10
_FEWEST_QUERIES = 200
Source = AttentionCheck.Source


def ensure_checks(stage: Stage, config: JudgingConfig) -> list[int]:
    """The keys of the stage's checks, in the order of their names; made where there are too few.

    In a draft they follow its options and its data: what no longer fits is made again. Once the stage was
    opened, what is there stays, for people may have seen it, and only what is missing is added. None are
    made for a stage whose HITs have none.
    """
    if not stage.checks_per_hit:
        return []
    checks = list(AttentionCheck.objects.filter(stage=stage).order_by("key"))
    if stage.opened_at is None or _too_few(checks, config):
        _bring_up_to_date(stage, config, checks)
        checks = list(AttentionCheck.objects.filter(stage=stage).order_by("key"))
    return [check.pk for check in checks]


def _counts(config: JudgingConfig) -> dict[str, int]:
    return {
        Source.FOREIGN: config.foreign_checks,
        Source.REFERENCE: config.reference_checks,
        Source.INSTRUCTION: config.instruction_checks,
        Source.GOLD: len(config.gold),
    }


def _too_few(checks: list[AttentionCheck], config: JudgingConfig) -> bool:
    counts = Counter(check.source for check in checks)
    return any(counts[source] < count for source, count in _counts(config).items())


@transaction.atomic
def _bring_up_to_date(stage: Stage, config: JudgingConfig, stored: list[AttentionCheck]) -> None:
    new_checks = _draw(stage, config)
    as_drawn = {check.key: check for check in new_checks}
    kept_checks = [row for row in stored if stage.opened_at or _same(row, as_drawn.get(row.key))]
    gone = {row.pk for row in stored}.difference(row.pk for row in kept_checks)
    # One that somebody answered stays: their answer refers to it.
    AttentionCheck.objects.filter(pk__in=gone, answers=None).delete()
    room = Counter(_counts(config))
    room.subtract(Counter(row.source for row in kept_checks))
    names = {row.key for row in kept_checks}
    new = []
    for check in new_checks:
        if check.key not in names and room[check.source] > 0:
            room[check.source] -= 1
            new.append(
                AttentionCheck(
                    stage=stage,
                    key=check.key,
                    source=check.source,
                    query_id=check.query,
                    text=check.text,
                    accepted=list(check.accepted),
                    reason=check.reason,
                )
            )
    # Two HITs composed at once draw the same checks, by the same seed: the second finds those of the first.
    AttentionCheck.objects.bulk_create(new, ignore_conflicts=True)


def _same(row: AttentionCheck, check: Check | None) -> bool:
    return check is not None and (row.source, row.query_id, row.text, row.accepted, row.reason) == (
        check.source,
        check.query,
        check.text,
        list(check.accepted),
        check.reason,
    )


def _draw(stage: Stage, config: JudgingConfig) -> list[Check]:
    check_plan = CheckPlan(
        foreign=config.foreign_checks,
        reference=config.reference_checks,
        instruction=config.instruction_checks,
        scale=config.rating_scale,
        low=config.low,
        high=config.high,
        instruction_words=config.instruction,
    )
    count = check_plan.foreign + check_plan.reference + check_plan.instruction
    items = _items(stage, config, max(_FEWEST_QUERIES, count * _QUERIES_PER_CHECK)) if count else []
    return [*draw_checks(items, check_plan, stage.seed), *_gold(stage, config)]


def _items(stage: Stage, config: JudgingConfig, most: int) -> list[Item]:
    """What checks are made of, for a sample of the stage's queries; seven statements."""
    rows = candidates_to_judge(stage, config).order_by().values_list("query", "query__key").distinct()
    sample = sorted(rows, key=lambda row: rank("checks", stage.seed, row[1]))[:most]
    queries = [pk for pk, _ in sample]
    answers: dict[int, list[str]] = defaultdict(list)
    texts = candidates_to_judge(stage, config).filter(query__in=queries).order_by("pk")
    for query, text in texts.values_list("query", "text"):
        answers[query].append(text)
    references, accepted = reference_texts(queries), accepted_texts(queries)
    return [
        Item(
            pk=pk,
            key=material.query.key,
            text=material.query.text,
            yes_no=material.query.yes_no,
            answers=answers[pk],
            references=list(dict.fromkeys(text.strip() for text in references[pk] if text.strip())),
            passages=[passage.text for passage in material.passages],
            accepted=accepted[pk],
        )
        for pk, material in materials(queries).items()
    ]


def _gold(stage: Stage, config: JudgingConfig) -> list[Check]:
    """Checks that a researcher wrote; CrowdError for a query that the project of a draft does not have."""
    keys = {gold.query for gold in config.gold}
    query_keys = dict(Query.objects.filter(project=stage.project_id, key__in=keys).values_list("key", "pk"))
    unknown = sorted(keys.difference(query_keys))
    if unknown and stage.opened_at is None:
        raise CrowdError(f"Gold is about the query {unknown[0]!r}, and this project has none of that key.")
    return [
        Check(
            f"gold:{number}",
            "gold",
            query_keys[gold.query],
            gold.text,
            tuple(accepted_steps(gold.accepted, config.rating_scale)),
            gold.reason,
        )
        for number, gold in enumerate(config.gold, 1)
        if gold.query in query_keys
    ]
