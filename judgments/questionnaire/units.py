"""The units of a questionnaire: made from answers and files, and kept as rows before they are shown."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

from django.db import DEFAULT_DB_ALIAS, transaction
from django.db.models import Count, Max, QuerySet

from crowd.counted_work import NEVER, counting
from crowd.errors import CrowdError
from crowd.models import Stage
from judgments.models import Candidate, FilterRun, QuestionnaireUnit, UnitMaterial, UnitResponse, Verdict
from judgments.questionnaire.config import QuestionnaireConfig, questionnaire_config
from judgments.questionnaire.sentences import cut
from judgments.seeded_order import rank
from judgments.selectors.candidates import to_judge

_PREFIX = "unit:"
_BATCH = 1000
#: Units that come from a file alone.
FROM_FILE = ("conversation", "row")
#: Marks an answer about which nothing is asked, since it cites nothing; figures have it all the same.
UNASKED = "unasked"


def name_of(pk: int) -> str:
    """The unit of a row, as `crowd` names it."""
    return f"{_PREFIX}{pk}"


def key_of(name: str) -> int:
    """The row of a unit; ValueError for the name of another kind's."""
    if not name.startswith(_PREFIX):
        raise ValueError(f"{name!r} does not begin with {_PREFIX!r}.")
    return int(name.removeprefix(_PREFIX))


def read_units(names: Collection[str]) -> dict[str, QuestionnaireUnit]:
    """The rows behind these units, with query and answers."""
    keys = {key_of(name): name for name in names}
    rows = QuestionnaireUnit.objects.select_related("query", "candidate__system", "other__system")
    return {keys[pk]: row for pk, row in rows.in_bulk(list(keys)).items()}


def candidates_of(stage: Stage, config: QuestionnaireConfig) -> QuerySet[Candidate]:
    """Answers that units are made of."""
    rows = to_judge(stage.project).exclude(text="")
    return rows.filter(system__name__in=config.systems) if config.systems else rows


def ensure_units(stage: Stage) -> None:
    """Make the units that are missing; of a draft also take back what no longer fits its options and data.

    Once a stage was opened, what is there stays as people saw it, and questions that came later are added.
    """
    config = questionnaire_config(stage)
    units = QuestionnaireUnit.objects.filter(stage=stage)
    if stage.opened_at is None:
        _bring_up_to_date(stage, config)
    elif config.unit in FROM_FILE:
        known = UnitMaterial.objects.filter(stage=stage).count()
        if units.count() < known:
            _add(stage, config, set(units.values_list("key", flat=True)))
    else:
        newest = units.aggregate(one=Max("candidate"), other=Max("other"))
        last = max(newest["one"] or 0, newest["other"] or 0)
        if candidates_of(stage, config).filter(pk__gt=last).exists():
            _add(stage, config, set(units.values_list("key", flat=True)))


@transaction.atomic
def _bring_up_to_date(stage: Stage, config: QuestionnaireConfig) -> None:
    fresh = {unit.key: unit for unit in _draw(stage, config)}
    stored = {unit.key: unit for unit in QuestionnaireUnit.objects.filter(stage=stage)}
    unfit = [unit.pk for key, unit in stored.items() if not _same(unit, fresh.get(key))]
    QuestionnaireUnit.objects.filter(pk__in=unfit).delete()
    gone = set(unfit)
    new = [unit for key, unit in fresh.items() if key not in stored or stored[key].pk in gone]
    QuestionnaireUnit.objects.bulk_create(new, batch_size=_BATCH, ignore_conflicts=True)


def _add(stage: Stage, config: QuestionnaireConfig, keys: set[str]) -> None:
    """Add units of questions of which there is none yet."""
    questions = set(
        QuestionnaireUnit.objects.filter(stage=stage, query__isnull=False).values_list("query", flat=True)
    )
    pairs = config.unit == "pair"
    new = [
        unit
        for unit in _draw(stage, config)
        if unit.key not in keys and not (pairs and unit.query_id in questions)
    ]
    QuestionnaireUnit.objects.bulk_create(new, batch_size=_BATCH, ignore_conflicts=True)


def _same(one: QuestionnaireUnit, other: QuestionnaireUnit | None) -> bool:
    names = ("query_id", "candidate_id", "other_id", "content", "gold")
    return other is not None and all(getattr(one, name) == getattr(other, name) for name in names)


def _draw(stage: Stage, config: QuestionnaireConfig) -> Iterator[QuestionnaireUnit]:
    """All units that options and data make, in an order that the seed decides."""
    gold = _gold_by_unit(config)
    materials = dict(UnitMaterial.objects.filter(stage=stage).values_list("key", "content"))
    if config.unit in FROM_FILE:
        made: Iterable[QuestionnaireUnit] = (
            QuestionnaireUnit(stage=stage, key=key, content=content) for key, content in materials.items()
        )
    else:
        made = _of_answers(stage, config, materials)
    for unit in made:
        unit.gold = gold.pop(unit.key, {})
        if unit.gold or not config.is_training:
            yield unit
    if gold and stage.opened_at is None:
        raise CrowdError(
            f"Gold names the unit {next(iter(gold))!r}, and there is none of this key. The page of units "
            "lists all keys."
        )


def _gold_by_unit(config: QuestionnaireConfig) -> dict[str, dict[str, Any]]:
    gold: dict[str, dict[str, Any]] = defaultdict(dict)
    for each in config.gold:
        gold[each.unit][each.field] = list(each.accepted)
    return dict(gold)


def _of_answers(
    stage: Stage, config: QuestionnaireConfig, materials: Mapping[str, Any]
) -> Iterator[QuestionnaireUnit]:
    by_query: dict[str, list[Candidate]] = defaultdict(list)
    for candidate in candidates_of(stage, config).select_related("query", "system"):
        by_query[candidate.query.key].append(candidate)
    keys = sorted(by_query, key=lambda key: rank("questions", stage.seed, key))
    keys = keys[: config.questions or None]
    if config.unit == "pair":
        names = sorted({each.system.name for key in keys for each in by_query[key]})
        for place, key in enumerate(keys):
            yield from _pairs(stage, config, by_query[key], place, names)
        return
    for key in keys:
        for candidate in sorted(by_query[key], key=lambda each: each.system.name):
            unit_key = f"{key}/{candidate.system.name}"
            content = _content(config, candidate, materials.get(unit_key), materials.get(key))
            if content is not None:
                yield QuestionnaireUnit(
                    stage=stage, key=unit_key, query=candidate.query, candidate=candidate, content=content
                )


def _content(
    config: QuestionnaireConfig,
    candidate: Candidate,
    own: Mapping[str, Any] | None,
    of_query: Mapping[str, Any] | None,
) -> dict[str, Any] | None:
    """What a unit keeps beside its answer; None where there is nothing to ask about."""
    content = dict(own or {})
    if config.unit == "nuggets":
        nuggets = content.get("nuggets") or (of_query or {}).get("nuggets")
        return {**content, "nuggets": nuggets} if nuggets else None
    if config.unit == "support":
        sentences = content.get("sentences") or [
            each.as_json() for each in cut(candidate.text, content.pop("citations", ()))
        ]
        if not sentences:
            return None
        asks = any(each.per != "citation" for each in config.fields)
        asks = asks or any(sentence.get("citations") for sentence in sentences)
        return {**content, "sentences": sentences, **({} if asks else {UNASKED: True})}
    return content


def _pairs(
    stage: Stage, config: QuestionnaireConfig, answers: Sequence[Candidate], place: int, names: Sequence[str]
) -> Iterator[QuestionnaireUnit]:
    """The pairs of a question. With `pairs_per_question` they go round among all pairs of systems."""
    by_name = {answer.system.name: answer for answer in answers}
    pairs = list(combinations(names, 2))
    if config.pairs_per_question:
        # In a drawn order, so that neighbours on the list are not of one system.
        pairs.sort(key=lambda pair: rank("pairs", stage.seed, *pair))
        most = min(config.pairs_per_question, len(pairs))
        first = place * config.pairs_per_question
        pairs = [pairs[(first + number) % len(pairs)] for number in range(most)]
    for one, other in pairs:
        if one in by_name and other in by_name and by_name[one].text.strip() != by_name[other].text.strip():
            left, right = by_name[one], by_name[other]
            yield QuestionnaireUnit(
                stage=stage,
                key=f"{left.query.key}/{one}|{other}",
                query=left.query,
                candidate=left,
                other=right,
            )


def is_drawn_second(stage: Stage, unit: QuestionnaireUnit) -> bool:
    """Whether the first answer of a pair's key is called 2 in the page, which must not tell systems apart."""
    return bool(rank("codes", stage.seed, unit.key)[0] & 1)


def flipped_units(stage: Stage, units: Iterable[QuestionnaireUnit], seed: int) -> set[int]:
    """Pairs that are shown the other way round: half of a HIT's, and the other half to the next person.

    `seed` is that of the page: its lowest bit changes from one person of a HIT to the next.
    """
    pairs = sorted(
        (unit for unit in units if unit.other_id is not None),
        key=lambda unit: rank("sides", stage.seed, unit.key),
    )
    return {unit.pk for place, unit in enumerate(pairs) if (place + seed) & 1}


def units_with_gold(stage: Stage) -> list[str]:
    """Names of the units with an accepted answer: attention checks, or the lessons of a training."""
    rows = QuestionnaireUnit.objects.filter(stage=stage).exclude(gold={})
    return [name_of(pk) for pk in rows.order_by("key").values_list("pk", flat=True)]


def asked_units(stage: Stage) -> QuerySet[QuestionnaireUnit]:
    """Units that enter figures: all but attention checks, and none of an answer that was taken out since."""
    rows = QuestionnaireUnit.objects.filter(stage=stage, gold={}).exclude(content__has_key=UNASKED)
    out = Candidate.objects.filter(system__project=stage.project_id).exclude(aside="")
    return rows.exclude(candidate__in=out).exclude(other__in=out)


def _not_removed(responses: QuerySet[UnitResponse], stage: Stage) -> QuerySet[UnitResponse]:
    """Without those that the filter run in force removed."""
    run = FilterRun.objects.using(responses.db).in_force().filter(stage=stage).first()
    if run is None:
        return responses
    removed = Verdict.objects.filter(run=run, removes=True, response__isnull=False).values("response")
    return responses.exclude(pk__in=removed)


def counted_responses(stage: Stage, using: str = DEFAULT_DB_ALIAS) -> QuerySet[UnitResponse]:
    """Responses that count: of work that counts, about no attention check, and not removed by filters."""
    responses = UnitResponse.objects.using(using).filter(counting("assignment"), stage=stage, unit__gold={})
    return _not_removed(responses, stage)


def missing_responses(stage: Stage) -> Iterator[tuple[int, int]]:
    """Units that lack responses, with how many, in the order of their keys.

    A response has its place also while its work waits for a person; one that a filter removed has none.
    """
    responses = UnitResponse.objects.filter(stage=stage, assignment__withdrawn=False)
    responses = _not_removed(responses.exclude(assignment__state__in=NEVER), stage)
    counts = Counter(dict(responses.order_by().values_list("unit").annotate(n=Count("pk"))))
    for pk in asked_units(stage).order_by("pk").values_list("pk", flat=True).iterator(_BATCH):
        if counts[pk] < stage.redundancy:
            yield pk, stage.redundancy - counts[pk]


def count_left_out(stage: Stage, config: QuestionnaireConfig) -> dict[str, int]:
    """Answers about which no one is asked, by the reason in words."""
    if config.unit in FROM_FILE:
        return {}
    used = QuestionnaireUnit.objects.filter(stage=stage)
    every = Candidate.objects.filter(system__project=stage.project_id)
    left = every.exclude(pk__in=used.filter(candidate__isnull=False).values("candidate")).exclude(
        pk__in=used.filter(other__isnull=False).values("other")
    )
    reasons = {
        "the system gave no answer": left.filter(text="").count(),
        "the same as a reference, or taken out": left.exclude(text="").exclude(aside="").count(),
        "without a nugget or criterion" if config.unit == "nuggets" else "of other questions or systems": (
            left.exclude(text="").filter(aside="").count()
        ),
    }
    return {reason: count for reason, count in reasons.items() if count}


def keep_materials(stage: Stage, materials: Mapping[str, Mapping[str, Any]]) -> int:
    """Store what a file brought, in place of what was there under the same keys; how many are new or changed.

    CrowdError where people saw a unit that would change: nothing is stored then.
    """
    stored = dict(UnitMaterial.objects.filter(stage=stage).values_list("key", "content"))
    changed = {key: content for key, content in materials.items() if stored.get(key) != content}
    if stage.opened_at is not None and (seen := sorted(stored.keys() & changed.keys())):
        raise CrowdError(
            f"The stage was opened, so {seen[0]!r} stays as people saw it. Copy the stage for other units."
        )
    UnitMaterial.objects.bulk_create(
        [UnitMaterial(stage=stage, key=key, content=content) for key, content in changed.items()],
        batch_size=_BATCH,
        update_conflicts=True,
        unique_fields=["stage", "key"],
        update_fields=["content"],
    )
    return len(changed)
