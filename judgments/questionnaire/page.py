"""What a worker sees of a unit: what is read, and groups of fields beside it."""

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext, gettext_lazy
from django_stubs_ext import StrOrPromise

from annotation.selectors.answers import Material
from crowd.models import Stage
from judgments.judging_config import Choice as ScaleChoice
from judgments.kinds import fit_in_a_row
from judgments.models import QuestionnaireUnit
from judgments.questionnaire.config import QuestionnaireConfig
from judgments.questionnaire.prompts import (
    INPUT,
    Choice,
    Prompt,
    choices_of,
    initial_of,
    prompts_of,
    text_marked,
)

_MOST_ROWS_OF_TEXT = 8


@dataclass(frozen=True, slots=True)
class Input:
    """One field as the template draws it.

    `inputs` are names of the inputs of its options, where each has one of its own; `conditions` the inputs
    that it depends on with their values; `marks` the id of the text that it marks parts of.
    """

    name: str
    type: str
    label: str
    help: str
    required: bool
    choices: Sequence[Choice]
    inputs: Sequence[tuple[str, Choice]]
    in_a_row: bool
    slider: Mapping[str, Any] | None
    step: str
    least: str
    most: str
    longest: int
    rows: int
    marks: str
    buttons: Sequence[tuple[str, str]]
    conditions: Mapping[str, Sequence[str]]
    initial: Mapping[str, str]

    @property
    def look(self) -> str:
        """How its options stand: scales have numbers, and short labels stand side by side."""
        if self.type == "scale":
            return "scale row" if self.in_a_row else "scale"
        return "across" if self.in_a_row else ""

    @property
    def conditions_json(self) -> str:
        """The conditions for the page's script."""
        return json.dumps(self.conditions)

    @property
    def buttons_json(self) -> str:
        """Labels of marks with what their buttons say, for the page's script."""
        return json.dumps(self.buttons)

    @property
    def places(self) -> range:
        """The places of a ranking."""
        return range(1, len(self.choices) + 1)


@dataclass(slots=True)
class Group:
    """Fields about one part: its heading, its text, and what it refers to."""

    heading: StrOrPromise = ""
    text: str = ""
    reference: str = ""
    inner: bool = False
    inputs: list[Input] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Block:
    """Something to read; `id` where parts of it can be marked."""

    heading: StrOrPromise
    text: str
    mark: str = ""
    emphasised: bool = False


@dataclass(frozen=True, slots=True)
class UnitPage:
    """All that is shown of a unit."""

    turns: Sequence[Any]
    question: str
    answers: Sequence[Block]
    blocks: Sequence[Block]
    passages: Sequence[str]
    references: Sequence[str]
    groups: Sequence[Group]
    has_slider: bool
    has_marks: bool


def page_of(
    stage: Stage,
    unit: QuestionnaireUnit,
    config: QuestionnaireConfig,
    *,
    material: Material | None,
    references: Sequence[str],
    seed: int,
    flipped: bool,
) -> UnitPage:
    """A unit as one person sees it; the same for the same seed."""
    inputs = [
        _input(stage, unit, config, prompt, seed=seed, flipped=flipped) for prompt in prompts_of(unit, config)
    ]
    passages = list(unit.content.get("passages", ())) or (
        [passage.text for passage in material.passages] if material is not None and config.passages else []
    )
    texts = [str(each.get("text", each) if isinstance(each, Mapping) else each) for each in passages]
    return UnitPage(
        turns=material.turns if material is not None else (),
        question=unit.query.text if unit.query is not None else "",
        answers=_answers(unit, config, flipped=flipped),
        blocks=_blocks(unit, config),
        passages=texts,
        references=references,
        groups=list(_groups(unit, config, inputs, texts)),
        has_slider=any(each.slider for _, each in inputs),
        has_marks=any(each.type == "spans" for _, each in inputs),
    )


def _answers(unit: QuestionnaireUnit, config: QuestionnaireConfig, *, flipped: bool) -> list[Block]:
    if unit.candidate is None:
        return []
    if unit.other is not None:
        pair = [unit.candidate.text, unit.other.text]
        one, other = reversed(pair) if flipped else pair
        return [Block(gettext_lazy("Answer 1"), one), Block(gettext_lazy("Answer 2"), other)]
    if config.unit == "support":  # its sentences stand beside their fields
        return []
    return [Block(gettext_lazy("Answer"), unit.candidate.text, mark="marked", emphasised=True)]


def _blocks(unit: QuestionnaireUnit, config: QuestionnaireConfig) -> list[Block]:
    columns: Mapping[str, Any] = unit.content.get("columns") or {}
    names = [name for name in config.columns if name in columns] or list(columns)
    marked = {each.of or next(iter(columns), "") for each in config.fields if each.type == "spans"}
    return [
        Block(name, str(columns[name]), mark="marked" if name in marked else "")
        for name in names
        if str(columns[name]).strip()
    ]


def _groups(
    unit: QuestionnaireUnit,
    config: QuestionnaireConfig,
    inputs: Sequence[tuple[Prompt, Input]],
    passages: Sequence[str],
) -> Iterator[Group]:
    """Parts in their order, then what is asked about the whole."""
    by_part: dict[tuple[str, str], list[Input]] = defaultdict(list)
    for prompt, each in inputs:
        by_part[prompt.field.per, prompt.part].append(each)
    content = unit.content
    for number, sentence in enumerate(content.get("sentences", ()), 1):
        heading = gettext("Sentence %(number)s") % {"number": number}
        yield Group(heading, str(sentence["text"]), inputs=by_part["sentence", str(number)])
        for citation in sentence["citations"]:
            of_citation = by_part["citation", f"{number}.{citation}"]
            if of_citation:
                text = passages[citation - 1] if 0 < citation <= len(passages) else ""
                heading = gettext("It cites passage %(number)s") % {"number": citation}
                yield Group(heading, reference=text, inner=True, inputs=of_citation)
    for number, nugget in enumerate(content.get("nuggets", ()), 1):
        yield Group("", str(nugget["text"]), inputs=by_part["nugget", str(number)])
    for number, turn in enumerate(content.get("turns", ()), 1):
        is_system = turn.get("role") == "system"
        who = gettext("Answer") if is_system else gettext("Person")
        yield Group(who, str(turn["text"]), inner=is_system, inputs=by_part["turn", str(number)])
    if by_part["", ""]:
        yield Group(gettext("The whole") if len(by_part) > 1 else "", inputs=by_part["", ""])


def _input(
    stage: Stage,
    unit: QuestionnaireUnit,
    config: QuestionnaireConfig,
    prompt: Prompt,
    *,
    seed: int,
    flipped: bool,
) -> tuple[Prompt, Input]:
    of = prompt.field
    choices = choices_of(stage, unit, of, seed=seed, flipped=flipped)
    places = {option: number for number, option in enumerate(of.options, 1)}
    numeric = of.type in ("slider", "number")
    least, most = (of.scale.text(of.scale.low), of.scale.text(of.scale.high)) if numeric else ("", "")
    slider = None
    if of.type == "slider":
        steps = of.scale.scores
        slider = {
            "ends": [ScaleChoice(least, ""), ScaleChoice(most, "")],
            "step": f"{of.step:g}",
            "middle": of.scale.text(steps[len(steps) // 2]),
        }
    several = of.type in ("choices", "rank")
    return prompt, Input(
        name=prompt.name,
        type=of.type,
        label=of.label,
        help=of.help,
        required=of.required,
        choices=choices,
        inputs=[(f"{prompt.name}{INPUT}{places[each.value]}", each) for each in choices] if several else (),
        in_a_row=of.type in ("choice", "yesno", "scale")
        and fit_in_a_row([str(each.label) for each in choices]),
        slider=slider,
        step=f"{of.step:g}",
        least=least,
        most=most,
        longest=of.longest if of.type == "text" else 20_000,
        rows=min(_MOST_ROWS_OF_TEXT, max(2, of.longest // 200)),
        marks="marked" if of.type == "spans" and text_marked(unit, of) else "",
        buttons=[
            (f"{label}/{severity}" if severity else label, f"{label}: {severity}" if severity else label)
            for label in (of.options if of.type == "spans" else ())
            for severity in (of.severities or ("",))
        ],
        conditions=dict(prompt.condition_names(config.by_name)),
        initial=initial_of(prompt, choices, unit.content.get("prefill") or {}),
    )
