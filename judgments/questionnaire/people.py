"""What one person answered to each field of a questionnaire, beside everybody else."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import isnan

from crowd.counted_work import not_counting
from crowd.models import Assignment, Stage, Worker
from judgments.models import UnitResponse
from judgments.questionnaire.config import LEFT, RIGHT, QuestionnaireField, questionnaire_config
from judgments.questionnaire.prompts import wrong_values
from judgments.questionnaire.ratings import good_responses, ratings_of_questionnaire, values_in_order
from judgments.score_classes import score_classes
from judgments.selectors.judges import Share

_OPPOSITE = {LEFT: RIGHT, RIGHT: LEFT}


@dataclass(frozen=True, slots=True)
class PersonField:
    """A person's answers to a field: kappa with all others and on how many answers it rests, the mean share
    of others who said the same, how many of the known answers were right, and how often each value was given.
    """

    field: QuestionnaireField
    answers: int
    kappa: float | None
    kappa_n: int
    agreement: float | None
    right: int
    known: int
    histogram: list[Share]


def fields_of_person(stage: Stage, worker: Worker) -> list[PersonField]:
    """Every field with what this person made of it."""
    known, wrong = _gold_of(stage, worker)
    mine, everybody = _value_counts(stage, worker)
    rows = []
    for field in questionnaire_config(stage).fields:
        kappa, kappa_n, agreement = _agreement_of(stage, worker, field)
        right = known[field.name] - wrong[field.name]
        histogram = list(_shares(field, mine, everybody))
        answers = sum(count for (name, _), count in mine.items() if name == field.name)
        rows.append(
            PersonField(field, answers, kappa, kappa_n, agreement, right, known[field.name], histogram)
        )
    return rows


def _gold_of(stage: Stage, worker: Worker) -> tuple[Counter[str], Counter[str]]:
    """By field how many values with a known answer a person gave, and how many of them are not accepted."""
    aside = Assignment.objects.filter(not_counting(), stage=stage).values("pk")
    rows = UnitResponse.objects.filter(stage=stage, worker=worker).exclude(unit__gold={})
    known: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    for response in rows.exclude(assignment__in=aside).select_related("unit"):
        known.update(name.partition(".")[0] for name in response.unit.gold)
        wrong.update(name.partition(".")[0] for name in wrong_values(response.unit, response.values))
    return known, wrong


def _value_counts(stage: Stage, worker: Worker) -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """How often each field got each value, by this person and by all; of a pair by the side that was seen."""
    mine: Counter[tuple[str, str]] = Counter()
    everybody: Counter[tuple[str, str]] = Counter()
    fields = questionnaire_config(stage).by_name
    rows = good_responses(stage).values_list("worker", "flipped", "values")
    for who, is_flipped, values in rows.iterator(2000):
        for name, value in values.items():
            field = fields.get(name)
            if field is None or field.type in ("text", "rank", "spans"):
                continue
            several = value.values() if isinstance(value, dict) else [value]
            for each in several:
                for option in each if isinstance(each, list) else [each]:
                    text = f"{option:g}" if isinstance(option, float) else str(option)
                    seen = _OPPOSITE.get(text, text) if is_flipped and field.compares else text
                    everybody[name, seen] += 1
                    if who == worker.pk:
                        mine[name, seen] += 1
    return mine, everybody


def _shares(
    field: QuestionnaireField, mine: Counter[tuple[str, str]], everybody: Counter[tuple[str, str]]
) -> Iterator[Share]:
    if field.type in ("slider", "number"):
        classes = [(each.name, [field.scale.text(step) for step in each.steps])
                   for each in score_classes(field.scale)]  # fmt: skip
    else:
        classes = [(value, [value]) for value in field.values]
    counts = [
        (
            name,
            sum(mine[field.name, text] for text in texts),
            sum(everybody[field.name, text] for text in texts),
        )
        for name, texts in classes
    ]
    my_total, total = sum(row[1] for row in counts) or 1, sum(row[2] for row in counts) or 1
    for name, own, all_of_it in counts:
        yield Share(name, own, 100 * own / my_total, 100 * all_of_it / total)


def _agreement_of(
    stage: Stage, worker: Worker, field: QuestionnaireField
) -> tuple[float | None, int, float | None]:
    """Kappa with all others together, of how many answers, and the mean share of others who said the same."""
    if not values_in_order(field):
        return None, 0, None
    from metrics.agreement.data import value_counts  # noqa: PLC0415 - start-up does without numpy
    from metrics.agreement.filters import duplicates  # noqa: PLC0415 - as above
    from metrics.agreement.kappa import pooled  # noqa: PLC0415 - as above

    columns = ratings_of_questionnaire(stage, field=field)
    places = [place for place, key in enumerate(columns.workers.tolist()) if key == worker.pk]
    if not places:
        return None, 0, None
    ratings = columns.ratings.only(~duplicates(columns.ratings))
    is_nominal = field.level == "nominal" and not field.compares
    kappas = pooled(ratings, "unweighted" if is_nominal else "quadratic")
    counts = value_counts(ratings)
    shares = []
    for row in (ratings.workers == places[0]).nonzero()[0]:
        of_item = counts[ratings.items[row]]
        others = int(of_item.sum()) - 1
        if others:
            shares.append((int(of_item[ratings.scores[row] - ratings.scale.low]) - 1) / others)
    kappa = float(kappas.kappa[places[0]])
    agreement = sum(shares) / len(shares) if shares else None
    return None if isnan(kappa) else kappa, int(kappas.n[places[0]]), agreement
