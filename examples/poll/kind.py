"""The poll as a kind of stage."""

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.db.models import Count
from django.utils.translation import gettext
from pydantic import Field, model_validator

from crowd.counted_work import counting
from crowd.kinds import HitTerms, Listing, Page, ParsedForm, PendingUnit, SimpleKind, StageConfig, config_of
from crowd.models import Assignment, Stage
from crowd.texts import Language, StageTexts, check_number, in_languages
from examples.poll.models import Vote


class PollTexts(StageTexts):
    """A poll in one more language; what is stored is the option itself."""

    question: str = Field(default="", max_length=500, description="What is asked about every item.")
    options: tuple[str, ...] = Field(default=(), max_length=12, description="The choices, in the same order.")


class PollConfig(StageConfig):
    """Options of a poll."""

    question: str = Field(min_length=1, max_length=500, description="What is asked about every item.")
    options: tuple[str, ...] = Field(min_length=2, max_length=12, description="The choices.")
    items: tuple[str, ...] = Field(
        default=("",), min_length=1, description="What the question is asked about; one empty item asks once."
    )
    checks: Mapping[str, str] = Field(
        default_factory=dict, description="Attention checks: items with the option that is right."
    )
    languages: Mapping[Language, PollTexts] = in_languages()

    @model_validator(mode="after")
    def _each_option_in_each_language(self) -> "PollConfig":
        for language, texts in self.languages.items():
            check_number((language, "options"), texts.options, self.options)
        return self


def _config(stage: Stage) -> PollConfig:
    config = config_of(stage)
    assert isinstance(config, PollConfig)
    return config


def _options(stage: Stage) -> tuple[str, ...]:
    """The options as they are stored, in whatever language somebody reads them."""
    return PollConfig.model_validate(stage.config).options


class Poll(SimpleKind):
    """One question about each item. Units are `item:N` and, for checks, `check:N`."""

    name = "poll"
    label = "Poll: one question with options"
    config = PollConfig
    suggested: ClassVar[Mapping[str, Any]] = {
        "title": "Poll",
        "reward": "0.10",
        "redundancy": 10,
        "expected_minutes": 0.5,
    }

    def listing(self, terms: HitTerms) -> Listing:
        """How often one chooses, and what is asked."""
        config = terms.config if isinstance(terms.config, PollConfig) else None
        choices = terms.count("Choose an answer to a short question", "short questions")
        return Listing(
            f"{'' if terms.units == 1 else 'Answer '}{choices}{terms.time}",
            f"{f'“{config.question}” ' if config else ''}There is nothing to write.",
            "poll, short",
        )

    def pending(self, stage: Stage) -> Iterable[PendingUnit]:
        """Items with fewer good votes than the stage wants."""
        votes = dict(
            Vote.objects.filter(stage=stage, assignment__state__in=Assignment.GOOD)
            .values_list("unit")
            .annotate(n=Count("pk"))
        )
        for number in range(len(_config(stage).items)):
            unit = f"item:{number}"
            if votes.get(unit, 0) < stage.redundancy:
                yield PendingUnit(unit, stage.redundancy - votes.get(unit, 0))

    def planned_units(self, config: StageConfig) -> int | None:
        """One unit per item."""
        return len(config.items) if isinstance(config, PollConfig) else None

    def checks(self, stage: Stage) -> list[str]:
        """One unit per check."""
        return [f"check:{number}" for number in range(len(_config(stage).checks))]

    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        """The question, the item and the options in their order."""
        config = _config(stage)
        where, _, number = unit.partition(":")
        items = list(config.items if where == "item" else config.checks)
        return Page(
            "poll/unit.html",
            {
                "question": config.question,
                "item": items[int(number)],
                "options": list(zip(_options(stage), config.options, strict=True)),
            },
        )

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        """One of the options."""
        choice = form.get("choice", "")
        if choice not in _options(stage):
            return ParsedForm(errors={"choice": gettext("Choose one of the options.")})
        return ParsedForm({"choice": choice})

    def passes(self, stage: Stage, unit: str, response: Any) -> bool:
        """The check's option was chosen."""
        right = list(_config(stage).checks.values())[int(unit.partition(":")[2])]
        return bool(response["choice"] == right)

    def simulate(self, stage: Stage, unit: str, profile: object, rng: random.Random) -> Mapping[str, str]:
        """What simulated workers who read choose: a check's option, else one that the seed made true."""
        config = _config(stage)
        where, _, number = unit.partition(":")
        if where == "check":
            return {"choice": list(config.checks.values())[int(number)]}
        truth = random.Random(f"poll:{stage.seed}:{unit}")  # noqa: S311 - reproducible, not secret
        return {"choice": truth.choice(config.options)}

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Keep the vote."""
        Vote.objects.create(
            stage=assignment.stage, assignment=assignment, unit=unit, choice=response["choice"]
        )

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """The item, or the question where there is one item without words."""
        config = _config(stage)
        texts = {f"item:{number}": text or config.question for number, text in enumerate(config.items)}
        texts |= {f"check:{number}": text for number, text in enumerate(config.checks)}
        return {unit: texts.get(unit, unit) for unit in units}

    def settle(self, stage: Stage) -> dict[str, Any]:
        """How often each option was chosen about each item."""
        counts: dict[str, Counter[str]] = {}
        good = Vote.objects.filter(counting("assignment"), stage=stage, unit__startswith="item:")
        for unit, choice in good.values_list("unit", "choice").iterator():
            counts.setdefault(unit, Counter())[choice] += 1
        return {unit: dict(counter) for unit, counter in sorted(counts.items())}
