"""Options of a questionnaire: which unit is shown, and the fields that people answer about it.

A preset is a file of `presets/`: a protocol from the literature, with its source. A stage that names one has
its unit, texts and fields, unless the stage has its own.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BaseModel, BeforeValidator, Field, field_validator, model_validator
from pydantic_core import PydanticCustomError

from crowd.kinds import StageConfig, config_of
from crowd.models import Stage
from crowd.study.schema import Words
from crowd.texts import LANGUAGES, InstructionTexts, Language, Texts, check_number, in_languages
from judgments.judging_config import Part
from metrics.agreement.scale import Scale

UnitType = Literal["answer", "pair", "support", "nuggets", "conversation", "row"]
FieldType = Literal["choice", "choices", "yesno", "scale", "slider", "number", "text", "rank", "spans"]
Repeat = Literal["", "sentence", "citation", "nugget", "turn"]

PRESETS = Path(__file__).with_name("presets")
#: What the two answers of a pair are called in options: how a worker sees them, never which systems they are.
LEFT, RIGHT, TIE, BOTH_BAD = "left", "right", "tie", "both_bad"
SIDES = (LEFT, RIGHT)
YES, NO = "yes", "no"
#: Of which units each repetition of a field is.
_REPEATS: Mapping[str, tuple[str, ...]] = {
    "support": ("sentence", "citation"),
    "nuggets": ("nugget",),
    "conversation": ("turn",),
}
_WITH_OPTIONS = ("choice", "choices", "scale", "rank", "spans")
#: The text field in which people write nuggets, one in each line.
WRITTEN = "nuggets"
#: What is read as the importance of a nugget.
IMPORTANCE: Mapping[str, str] = {"vital": "vital", "okay": "okay", "ok": "okay"}
_MOST_STEPS = 100_000
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")


def _conditions(value: Any) -> Any:
    """`field = value | value` as a table; a table as it is."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return {}
    name, equals, values = value.partition("=")
    if not equals:
        raise ValueError('it is no condition; write it as {field = ["value"]} or "field = value | value"')
    return {name.strip(): [each.strip() for each in values.split("|")]}


Option = Annotated[str, Field(min_length=1, max_length=120)]
Conditions = Annotated[
    dict[str, tuple[Annotated[str, Field(max_length=120)], ...]], BeforeValidator(_conditions)
]


class QuestionnaireField(Part):
    """One thing that people answer about a unit, once or for each of its parts."""

    #: What most fields leave as it is; forms fold it away.
    advanced: ClassVar[frozenset[str]] = frozenset(
        {
            "help", "labels", "severities", "least", "most", "step", "shortest", "longest", "per", "show_if",
            "shuffle", "ordered", "of", "prefill",
        }
    )  # fmt: skip

    #: Options that only fields of some types have.
    types: ClassVar[Mapping[str, tuple[str, ...]]] = {
        "options": _WITH_OPTIONS,
        "labels": ("choice", "choices", "rank", "spans"),
        "severities": ("spans",),
        "least": ("slider", "number"),
        "most": ("slider", "number"),
        "step": ("slider", "number"),
        "shortest": ("text",),
        "longest": ("text",),
        "shuffle": ("choice", "choices", "rank"),
        "ordered": ("choice",),
        "of": ("spans",),
    }

    name: str = Field(min_length=1, max_length=40, description="Names it in the data, such as validity.")
    type: FieldType = Field(
        description="choice: one of the options; choices: any of them; scale: labelled points from 1; slider "
        "and number: from least to most; rank: the options in order; spans: marked parts of the answer."
    )
    label: str = Field(min_length=1, max_length=300, description="What people read.")
    help: str = Field(default="", max_length=1000, description="A further sentence below the label.")
    required: bool = Field(default=True, description="It must be answered.")
    options: tuple[Option, ...] = Field(
        default=(),
        max_length=30,
        description="Values to choose from. Of a scale the labels of its points, from the lowest; of spans "
        "the labels that a part can get. In a pair: left, right, tie and both_bad.",
    )
    labels: tuple[Option, ...] = Field(
        default=(), max_length=30, description="What people read in place of the options, in their order."
    )
    severities: tuple[Option, ...] = Field(
        default=(), max_length=6, description="Of spans: how bad each of them is, such as minor and major."
    )
    least: float = Field(default=0, ge=-1e6, le=1e6, allow_inf_nan=False, description="Lowest number.")
    most: float = Field(default=100, ge=-1e6, le=1e6, allow_inf_nan=False, description="Highest number.")
    step: float = Field(default=1, ge=1e-4, le=1e6, allow_inf_nan=False, description="Between numbers.")
    shortest: int = Field(default=0, ge=0, le=10_000, description="Fewest characters of a text.")
    longest: int = Field(default=2000, ge=1, le=20_000, description="Most characters of a text.")
    per: Repeat = Field(
        default="", description="Asked once for each sentence, citation, nugget or turn of the unit."
    )
    show_if: Conditions = Field(
        default_factory=dict,
        description="Asked only where an earlier field has one of these values: "
        '{interpretable = ["yes"]} or "interpretable = yes".',
    )
    shuffle: bool = Field(default=False, description="Options in an order of each person's own, by the seed.")
    ordered: bool = Field(default=False, description="The options of a choice rise: agreement is ordinal.")
    of: str = Field(
        default="", max_length=100, description="Of spans: the text they are in, where it is no answer."
    )
    prefill: bool = Field(
        default=False,
        description="Begin with the value that the units' file has, such as a machine's; the rows say so. "
        "People agree with what they are shown.",
    )

    @property
    def level(self) -> str:
        """The level of agreement, `sets` or `spans`; empty where agreement means nothing."""
        if self.type in ("choice", "yesno"):
            return "ordinal" if self.ordered else "nominal"
        return {"scale": "ordinal", "slider": "interval", "number": "interval", "choices": "sets"}.get(
            self.type, "spans" if self.type == "spans" else ""
        )

    @property
    def values(self) -> tuple[str, ...]:
        """The values that a condition or an accepted answer can name; empty: any."""
        match self.type:
            case "yesno":
                return (YES, NO)
            case "scale":
                return tuple(str(point) for point in range(1, len(self.options) + 1))
            case "choice" | "choices":
                return self.options
        return ()

    @property
    def scale(self) -> Scale:
        """The numbers of a slider."""
        return Scale.of(*(Fraction(repr(number)) for number in (self.least, self.most, self.step)))

    @property
    def compares(self) -> bool:
        """It says which answer of a pair is better."""
        return self.type == "choice" and set(SIDES) <= set(self.options)

    @property
    def takes_nuggets(self) -> bool:
        """People write nuggets in it."""
        return self.name == WRITTEN and self.type == "text" and not self.per

    @field_validator("name")
    @classmethod
    def _plain(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("a name has small letters, digits and _, and begins with a letter")
        return name

    @model_validator(mode="after")
    def _fits_together(self) -> "QuestionnaireField":
        if self.type in _WITH_OPTIONS and len(self.options) < (1 if self.type == "spans" else 2):
            raise ValueError(f"{self.name}: a field of the type {self.type} needs options to choose from")
        if self.type not in _WITH_OPTIONS and self.options:
            raise ValueError(f"{self.name}: a field of the type {self.type} has no options; take them out")
        for name in ("options", "labels", "severities"):
            values = getattr(self, name)
            if len(set(values)) < len(values):
                raise ValueError(f"{self.name}: two {name} are the same")
        if self.labels and len(self.labels) != len(self.options):
            raise ValueError(
                f"{self.name}: {len(self.options)} options have {len(self.labels)} labels; give each one"
            )
        if self.type == "spans" and any(
            ":" in name or "/" in name for name in (*self.options, *self.severities)
        ):
            raise ValueError(f"{self.name}: labels of spans have neither : nor /")
        if self.severities and self.type != "spans":
            raise ValueError(f"{self.name}: severities are of spans")
        if self.shortest > self.longest:
            raise ValueError(f"{self.name}: shortest is more than longest")
        if self.type in ("slider", "number"):
            if self.most <= self.least:
                raise ValueError(f"{self.name}: most is not more than least")
            if (self.most - self.least) / self.step > _MOST_STEPS:
                raise ValueError(f"{self.name}: more than {_MOST_STEPS:,} steps; take larger ones")
        return self


class FieldTexts(Texts):
    """A field in one more language."""

    label: str = Field(default="", max_length=300, description="What people read.")
    help: str = Field(default="", max_length=1000, description="A further sentence.")
    labels: tuple[Option, ...] = Field(default=(), max_length=30, description="Its options, in their order.")


class QuestionnaireTexts(InstructionTexts):
    """What people read, in one more language."""

    fields: Mapping[str, FieldTexts] = Field(
        default_factory=dict, description="Fields by name: label, help, and labels of the options."
    )

    def worded_options(self, config: BaseModel) -> dict[str, Any]:
        """With the fields that this language has."""
        assert isinstance(config, QuestionnaireConfig)
        none = FieldTexts()
        fields = tuple(
            each.model_copy(update={name: text for name, text in self.fields.get(each.name, none) if text})
            for each in config.fields
        )
        return super().worded_options(config) | {"fields": fields}

    def lacking(self, config: BaseModel) -> list[str]:
        """With what is missing of fields; sides of a pair have words in every language."""
        assert isinstance(config, QuestionnaireConfig)
        none = FieldTexts()
        return super().lacking(config) + [
            f"{name} of {each.name}"
            for each in config.fields
            for name, text in self.fields.get(each.name, none)
            if not text
            and (
                name == "label"
                or (name == "help" and each.help)
                or (name == "labels" and each.options and not (each.compares and not each.labels))
            )
        ]


class GoldAnswer(Part):
    """An accepted answer: whose unit becomes an attention check, which never enters figures."""

    unit: str = Field(
        min_length=1, max_length=300, description="The key of the unit, as its list has it: q1/system."
    )
    field: str = Field(
        min_length=1, max_length=60, description="The field; of a part with its number, as in support.2."
    )
    accepted: tuple[str, ...] = Field(
        min_length=1,
        max_length=30,
        description="The values that pass; of a pair left and right as in its key.",
    )
    reason: str = Field(default="", max_length=300, description="Why these.")

    @field_validator("accepted", mode="before")
    @classmethod
    def _as_texts(cls, values: Any) -> Any:
        return [str(value) for value in values] if isinstance(values, list | tuple) else values


class QuestionnaireConfig(StageConfig):
    """What is shown, and what is asked about it."""

    preset: str = Field(
        default="",
        max_length=60,
        description="A protocol that brings unit, instructions and fields; what is written here is instead.",
    )
    unit: Annotated[
        UnitType,
        Words(
            {
                "answer": "A question and an answer",
                "pair": "A question and two answers, systems hidden",
                "support": "An answer in sentences, with the passages that each cites",
                "nuggets": "An answer and a list of nuggets or criteria",
                "conversation": "A conversation, with its turns",
                "row": "A row of any table",
            }
        ),
    ] = Field(default="answer", description="What people see at once. The last three need a file of units.")
    instructions: str = Field(
        default="Read everything that is shown, then answer the questions about it.",
        max_length=8000,
        description="Shown above all units of a HIT, in Markdown with the project's pictures.",
    )
    fields: tuple[QuestionnaireField, ...] = Field(
        min_length=1, max_length=40, description="What is asked, in this order."
    )
    passages: bool = Field(default=True, description="Show the passages of the question.")
    reference: Literal["none", "central", "all"] = Field(
        default="none", description="Correct answers that are shown, the same for all."
    )
    systems: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(
        default=(), max_length=100, description="Names of the systems that are asked about; none means all."
    )
    questions: int = Field(
        default=0, ge=0, le=1_000_000, description="So many questions, drawn by the seed; 0 is all."
    )
    pairs_per_question: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="So many pairs of systems for each question, each pair equally often; 0 is every pair.",
    )
    columns: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(
        default=(),
        max_length=20,
        description="Of a row: the columns that are shown, in order; none means all.",
    )
    quality_field: str = Field(
        default="",
        max_length=40,
        description="The field by which filters compare people; empty: the first that has values.",
    )
    gold: tuple[GoldAnswer, ...] = Field(
        default=(), max_length=500, description="Units with a known answer, which become attention checks."
    )
    pass_share: float | None = Field(
        default=None,
        ge=0,
        le=1,
        description="Makes the stage a training: units with gold alone are shown, to each person; what is "
        "not accepted is explained and asked again. Who has this share of them right at first passes.",
    )

    languages: Mapping[Language, QuestionnaireTexts] = in_languages()

    asked_options: ClassVar[tuple[str, ...]] = ("unit", "fields")
    markdown: ClassVar[bool] = True
    advanced: ClassVar[frozenset[str]] = frozenset(
        {
            "preset",
            "passages",
            "reference",
            "questions",
            "pairs_per_question",
            "columns",
            "quality_field",
            "gold",
            "pass_share",
        }
    )

    @model_validator(mode="before")
    @classmethod
    def _from_preset(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or not data.get("preset"):
            return data
        name = str(data["preset"])
        if name not in presets():
            raise ValueError(f"preset: there is no {name!r}; there are {', '.join(presets())}")
        return {
            **presets()[name].config,
            **{key: value for key, value in data.items() if value not in ((), [])},
        }

    @model_validator(mode="after")
    def _fits_together(self) -> "QuestionnaireConfig":
        before: dict[str, QuestionnaireField] = {}
        for each in self.fields:
            if each.name in before:
                raise ValueError(f"fields: two are called {each.name}")
            if each.per and each.per not in _REPEATS.get(self.unit, ()):
                fitting = next((unit for unit, pers in _REPEATS.items() if each.per in pers), "")
                raise ValueError(
                    f"fields: {each.name} is per {each.per}, which a unit {fitting} has, not {self.unit}"
                )
            for name, values in each.show_if.items():
                self._check_condition(each, before.get(name), name, values)
            before[each.name] = each
        self._check_languages(before)
        if self.quality_field and self.quality_field not in before:
            raise ValueError(f"quality_field: there is no field {self.quality_field!r}")
        if self.pass_share is not None and not self.gold:
            raise ValueError("pass_share: a training needs gold, which it teaches")
        for gold in self.gold:
            field = before.get(gold.field.partition(".")[0])
            if field is None:
                raise ValueError(f"gold: there is no field {gold.field!r}")
            if field.values and (wrong := [value for value in gold.accepted if value not in field.values]):
                raise ValueError(f"gold: {wrong[0]!r} is no value of {field.name}")
        return self

    @staticmethod
    def _check_condition(
        field: QuestionnaireField, other: QuestionnaireField | None, name: str, values: tuple[str, ...]
    ) -> None:
        if other is None:
            raise ValueError(f"fields: {field.name} depends on {name!r}, which is no field before it")
        if other.per not in ("", field.per) and (other.per, field.per) != ("sentence", "citation"):
            raise ValueError(f"fields: {field.name} depends on {name}, which is asked per {other.per}")
        if other.values and (wrong := [value for value in values if value not in other.values]):
            raise ValueError(f"fields: {field.name} depends on {wrong[0]!r}, which is no value of {name}")

    def _check_languages(self, by_name: Mapping[str, QuestionnaireField]) -> None:
        for language, texts in self.languages.items():
            for name, field in texts.fields.items():
                path = (language, "fields", name)
                if name not in by_name:
                    raise PydanticCustomError(
                        "wrong-value",
                        "the stage has no field {name}: it has {known}",
                        {"name": repr(name), "known": ", ".join(by_name), "within": (LANGUAGES, *path)},
                    )
                check_number((*path, "labels"), field.labels, by_name[name].options)

    @property
    def is_training(self) -> bool:
        """People learn here: a value that is not accepted is explained and asked again."""
        return self.pass_share is not None

    @property
    def takes_nuggets(self) -> bool:
        """People write nuggets here, for another stage to ask about."""
        return any(field.takes_nuggets for field in self.fields)

    @property
    def by_name(self) -> dict[str, QuestionnaireField]:
        """The fields by their names."""
        return {each.name: each for each in self.fields}

    def fields_per(self, per: str) -> Iterator[QuestionnaireField]:
        """Fields that are asked once, or once for each part of a kind."""
        return (each for each in self.fields if each.per == per)


@dataclass(frozen=True, slots=True)
class QuestionnairePreset:
    """A protocol: options of a stage, where it comes from, and what one unit takes a person.

    `needs` are roles of columns that a table must have for it (`distillery.studies.tables`).
    """

    name: str
    title: str
    about: str
    source: str
    needs: tuple[str, ...]
    minutes: float
    units_per_hit: int
    config: Mapping[str, Any]

    @property
    def subtitle(self) -> str:
        """What it asks, without the protocol's name."""
        text = self.title.partition(": ")[2]
        return text[:1].upper() + text[1:]

    @property
    def of_answers(self) -> bool:
        """Its units are made of answers of systems, so that a table of them is enough."""
        return "answer" in self.needs


@cache
def presets() -> dict[str, QuestionnairePreset]:
    """All presets by their names."""
    read = {}
    for file in sorted(PRESETS.glob("*.toml")):
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        config = document.pop("config")
        read[file.stem] = QuestionnairePreset(
            file.stem,
            document["title"],
            document["about"],
            document["source"],
            tuple(document["needs"]),
            float(document["minutes"]),
            int(document["units_per_hit"]),
            config,
        )
    return read


def questionnaire_config(stage: Stage) -> QuestionnaireConfig:
    """The stage's options, typed."""
    config = config_of(stage)
    assert isinstance(config, QuestionnaireConfig)
    return config
