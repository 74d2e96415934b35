"""What a simulated person answers in a questionnaire: a stated model, never a person's opinion.

Each answer has a quality between 0 and 1: what the column `truth` of the query's file says of its system, or
else how much it shares with the reference that is most like it. Scales and numbers follow it with noise; of a
pair the better one wins, and a difference below a tenth is a tie where there is one; a sentence, citation,
nugget or turn is fine with the quality as its probability, the same for all people. Nuggets that people write
are the sentences of the references, or of the row. docs/questionnaires.md.
"""

import random
from collections.abc import Sequence
from typing import Any

from annotation.models import Query
from annotation.units import known_scale, known_score
from crowd.kinds import Habit, Profile
from crowd.models import Stage
from judgments.models import Candidate, QuestionnaireUnit
from judgments.questionnaire.config import BOTH_BAD, LEFT, RIGHT, TIE, QuestionnaireConfig
from judgments.questionnaire.prompts import (
    INPUT,
    Choice,
    Prompt,
    choices_of,
    prompts_of,
    spans_as_lines,
    text_marked,
)
from judgments.questionnaire.rows import item_of
from judgments.questionnaire.sentences import cut
from judgments.seeded_order import rank
from judgments.selectors.candidates import reference_texts
from judgments.word_overlap import nearest

_NOISE, _TIED, _BAD = 0.12, 0.1, 0.2
_POINTS = 4
_MOST_MARKED = 4


def simulated_form(
    stage: Stage, unit: QuestionnaireUnit, config: QuestionnaireConfig, profile: Profile, rng: random.Random
) -> dict[str, str]:
    """The inputs of a unit's form, by their names."""
    quality = _quality(unit.candidate, unit)
    other = _quality(unit.other, unit) if unit.other is not None else None
    form: dict[str, str] = {}
    for prompt in prompts_of(unit, config):
        if prompt.field.takes_nuggets:
            form[prompt.name] = _written(stage, unit, rng)
            continue
        gold = unit.gold.get(prompt.name)
        choices = choices_of(stage, unit, prompt.field, seed=0, flipped=False)
        if gold and choices:
            form |= _chosen(prompt, choices, [str(gold[0])])
            continue
        bias = profile.bias / _POINTS + rng.gauss(0.0, _NOISE)
        form |= _answer(prompt, unit, choices, quality, other, bias, profile, stage.seed)
    return form


def _quality(candidate: Candidate | None, unit: QuestionnaireUnit) -> float:
    if candidate is None:
        return rank("quality", unit.key)[0] / 255
    query = candidate.query
    score = known_score(query.extra, candidate.system.name)
    if score is None:
        return nearest(candidate.text, reference_texts([query.pk])[query.pk])
    low, high = known_scale(query.extra) or (1, 5)
    return min(1.0, max(0.0, (score - low) / (high - low)))


def _answer(  # noqa: PLR0911, PLR0917 - one line for each type
    prompt: Prompt,
    unit: QuestionnaireUnit,
    choices: Sequence[Choice],
    quality: float,
    other: float | None,
    bias: float,
    profile: Profile,
    seed: int,
) -> dict[str, str]:
    field, draw = prompt.field, rank("truth", seed, unit.key, prompt.name)[0] / 256
    if other is not None and field.compares:
        return _chosen(prompt, choices, [_preference(quality - other + bias, quality, other, field.options)])
    meant = min(1.0, max(0.0, quality + bias + (draw - 0.5) * (0.6 if prompt.part else 0.2)))
    match field.type:
        case "yesno":
            return _chosen(prompt, choices, ["yes" if meant > 0.5 else "no"])
        case "scale":
            return {prompt.name: str(1 + round(meant * (len(field.options) - 1)))}
        case "choice":
            values = list(field.options)
            # Ordered options that begin with the best are those of protocols: full, partial, none.
            return _chosen(prompt, choices, [values[round((1 - meant) * (len(values) - 1))]])
        case "choices":
            return _chosen(prompt, choices, [field.options[int(draw * len(field.options))]])
        case "slider" | "number":
            scale = field.scale
            low, high = scale.ends
            return {prompt.name: scale.text(scale.nearest(low + (high - low) * meant))}
        case "rank":
            return {f"{prompt.name}{INPUT}{place}": str(place) for place in range(1, len(choices) + 1)}
        case "spans":
            return {prompt.name: _marked(prompt, unit, meant, draw) if profile.habit is Habit.KNOWS else ""}
    return {} if field.required else {prompt.name: ""}


def _written(stage: Stage, unit: QuestionnaireUnit, rng: random.Random) -> str:
    """Nuggets, one in each line."""
    query = Query.objects.filter(project=stage.project_id, key=item_of(unit)).first()
    texts = reference_texts([query.pk])[query.pk] if query is not None else []
    texts = texts or [*map(str, (unit.content.get("columns") or {}).values())]
    sentences = [sentence.text for text in texts for sentence in cut(text)]
    return "\n".join(f"{rng.choice(('vital', 'okay'))}: {sentence}" for sentence in sentences)


def _preference(difference: float, quality: float, other: float, options: Sequence[str]) -> str:
    if BOTH_BAD in options and max(quality, other) < _BAD:
        return BOTH_BAD
    if TIE in options and abs(difference) < _TIED:
        return TIE
    return LEFT if difference > 0 else RIGHT


def _chosen(prompt: Prompt, choices: Sequence[Choice], values: Sequence[str]) -> dict[str, str]:
    if prompt.field.type == "choices":
        places = {option: place for place, option in enumerate(prompt.field.options, 1)}
        return {f"{prompt.name}{INPUT}{places[value]}": value for value in values if value in places}
    codes = {choice.value: choice.code for choice in choices}
    return {prompt.name: codes.get(values[0], choices[0].code)}


def _marked(prompt: Prompt, unit: QuestionnaireUnit, meant: float, draw: float) -> str:
    """Some words of the answer where it is not good enough."""
    text = text_marked(unit, prompt.field)
    words: list[Any] = [(place, word) for place, word in _words(text)]
    if meant > 0.6 or len(words) < 2:
        return ""
    first = int(draw * (len(words) - 1))
    last = min(len(words) - 1, first + int(meant * _MOST_MARKED))
    start, end = words[first][0], words[last][0] + len(words[last][1])
    label = prompt.field.options[int(draw * len(prompt.field.options))]
    severities = prompt.field.severities
    severity = {"severity": severities[min(len(severities) - 1, int((1 - meant) * 2))]} if severities else {}
    return spans_as_lines([{"start": start, "end": end, "label": label, "text": text[start:end], **severity}])


def _words(text: str) -> list[tuple[int, str]]:
    places, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        places.append((start, word))
        start += len(word)
    return places
