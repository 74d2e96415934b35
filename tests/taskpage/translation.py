"""Sentences, translated by several people each."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, cast

from pydantic import Field

from crowd.kinds import Page, ParsedForm, PendingUnit, SimpleKind, StageConfig, config_of
from crowd.models import Assignment, Claim, Stage


class TranslationConfig(StageConfig):
    """Options of a translation."""

    into: str = Field(min_length=2, max_length=60, description="The language to translate into.")
    sentences: tuple[str, ...] = Field(min_length=1, description="What is to be translated.")
    longest: int = Field(default=400, ge=1, le=5000, description="Longest translation, in characters.")


class Translation(SimpleKind):
    """Units are the numbers of the sentences. The answers stay where `crowd` keeps them."""

    name = "translation"
    label = "Translation: sentences into another language"
    config = TranslationConfig

    def pending(self, stage: Stage) -> Iterable[PendingUnit]:
        done = Counter(_good(stage).values_list("unit", flat=True))
        for number in range(len(_config(stage).sentences)):
            if done[str(number)] < stage.redundancy:
                yield PendingUnit(str(number), stage.redundancy - done[str(number)])

    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        config = _config(stage)
        context = {"sentence": config.sentences[int(unit)], "into": config.into, "longest": config.longest}
        return Page("translation/unit.html", context)

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        text, longest = form.get("text", "").strip(), _config(stage).longest
        if not text:
            return ParsedForm(errors={"text": "Write your translation."})
        if len(text) > longest:
            return ParsedForm(errors={"text": f"Use at most {longest} characters; these are {len(text)}."})
        return ParsedForm({"text": text})

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Nothing to add: assignment.response has it."""

    def settle(self, stage: Stage) -> dict[str, Any]:
        found = defaultdict(list)
        for claim in _good(stage).select_related("assignment").order_by("assignment__stored_at"):
            found[claim.unit].append(claim.assignment.response[claim.unit]["text"])
        return dict(found)


def _config(stage: Stage) -> TranslationConfig:
    return cast(TranslationConfig, config_of(stage))


def _good(stage: Stage) -> Any:
    return Claim.objects.filter(stage=stage, assignment__state__in=Assignment.GOOD)
