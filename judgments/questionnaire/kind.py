"""The kind of stage `questionnaire`, as `crowd` runs it."""

import random
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django.utils import timezone

from annotation.importing.records import quoted
from annotation.selectors.answers import materials
from annotation.units import distil_scope, judge_scope
from core.projects.models import Project
from crowd.kinds import HitTerms, KindPreset, Listing, Page, ParsedForm, PendingUnit, Profile, SimpleKind
from crowd.models import Assignment, Stage
from crowd.services.responses import REMEMBERED, page_seed
from judgments.judging_config import JudgingConfig
from judgments.kinds import FIRST, admit, choose_again, pending_lessons
from judgments.models import QuestionnaireUnit, UnitResponse
from judgments.questionnaire.config import QuestionnaireConfig, presets, questionnaire_config
from judgments.questionnaire.page import page_of
from judgments.questionnaire.prompts import passes_gold, prompts_of, read_response, wrong_values
from judgments.questionnaire.simulation import simulated_form
from judgments.questionnaire.units import (
    FROM_FILE,
    asked_units,
    count_left_out,
    ensure_units,
    flipped_units,
    key_of,
    missing_responses,
    name_of,
    read_units,
    units_with_gold,
)
from judgments.selectors.judging import references_shown, system_choices
from judgments.services import reports
from judgments.services.filter_runs import reconsider_run
from judgments.services.judging import keep_references

#: Of a lesson: nothing was wrong at first.
_ALL_RIGHT = "-"
_NEEDS = {
    "answer": "answers of systems",
    "pair": "answers of at least two systems to the same question",
    "support": "answers of systems",
    "nuggets": "answers of systems, and a file of nuggets or criteria",
    "conversation": "a file of conversations",
    "row": "a file of rows",
}


class Questionnaire(SimpleKind):
    """Units are `unit:PK`, rows of `QuestionnaireUnit`; those with gold are attention checks."""

    name = "questionnaire"
    label = "Questionnaire: any questions about answers, pairs, sentences, nuggets or conversations"
    config = QuestionnaireConfig
    #: Options and sides are each person's own.
    seeded_by_person = True
    suggested: ClassVar[Mapping[str, Any]] = {
        "title": "Questionnaire",
        "reward": "0.30",
        "redundancy": 3,
        "expected_minutes": 2.0,
    }

    def listing(self, terms: HitTerms) -> Listing:
        """What is read and how many questions there are."""
        config = terms.config if isinstance(terms.config, QuestionnaireConfig) else None
        things = {
            "pair": ("a pair of answers", "pairs of answers"),
            "conversation": ("a conversation", "conversations"),
        }
        one, many = things.get(config.unit if config else "", ("an answer", "answers"))
        asks = f" and answer {len(config.fields)} questions" if config and len(config.fields) > 1 else ""
        each = "Read it" if terms.units == 1 else "Each time, read"
        shown = f" {one}" if terms.units > 1 else ""
        return Listing(
            f"Judge {terms.count(one, many)}{terms.time}",
            f"{each}{shown}{asks or ' and answer a question'}.",
            "judging, reading, answers",
        )

    def presets(self) -> Sequence[KindPreset]:
        """Protocols of the literature."""
        return [
            KindPreset(
                each.name,
                each.title,
                each.about,
                each.source,
                {
                    "title": each.subtitle,
                    "expected_minutes": round(each.minutes * each.units_per_hit, 1),
                    "units_per_hit": each.units_per_hit,
                    "config": {"preset": each.name, **each.config},
                },
            )
            for each in presets().values()
        ]

    def choices(self, project: Project) -> Mapping[str, Mapping[str, str]]:
        """The systems of the project."""
        return {"systems": system_choices(project)}

    def prepare(self, stage: Stage) -> None:
        """Units are made of what there is."""
        ensure_units(stage)

    def left_out(self, stage: Stage) -> Mapping[str, int]:
        """Answers about which no one is prompt."""
        return count_left_out(stage, questionnaire_config(stage))

    def cautions(self, stage: Stage) -> Sequence[str]:
        """That there is nothing to show, and what is needed for it."""
        config = questionnaire_config(stage)
        if units_with_gold(stage) if config.is_training else asked_units(stage).exists():
            return ()
        unit = config.unit
        from_file = "" if unit not in (*FROM_FILE, "nuggets") else " Bring it in on the page Units."
        return (f"There is nothing to ask about yet: it takes {_NEEDS[unit]}.{from_file}",)

    def pending(self, stage: Stage) -> Iterator[PendingUnit]:
        """Units with fewer responses than the stage's redundancy; of a training, lessons for more people."""
        ensure_units(stage)
        if questionnaire_config(stage).is_training:
            yield from pending_lessons(stage, units_with_gold(stage))
            return
        for pk, missing in missing_responses(stage):
            yield PendingUnit(name_of(pk), missing)

    def checks(self, stage: Stage) -> list[str]:
        """Units with gold, where HITs have checks."""
        if not stage.checks_per_hit or questionnaire_config(stage).is_training:
            return []
        return units_with_gold(stage)

    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        """What is read, and the fields."""
        return self.pages(stage, [unit], seed)[unit]

    def pages(self, stage: Stage, units: Sequence[str], seed: int) -> Mapping[str, Page]:
        """What is read, and the fields; nothing about systems."""
        config, rows = questionnaire_config(stage), read_units(units)
        queries = {row.query_id for row in rows.values() if row.query_id is not None}
        material_by_query = materials(queries) if queries else {}
        references = self._references(stage, queries, config)
        flipped = flipped_units(stage, rows.values(), seed)
        return {
            name: Page(
                "judgments/questionnaire.html",
                {
                    "unit": page_of(
                        stage,
                        row,
                        config,
                        material=material_by_query.get(row.query_id or 0),
                        references=references.get(row.query_id or 0, ()),
                        seed=seed,
                        flipped=row.pk in flipped,
                    )
                },
                config.instructions,
                steps=True,
            )
            for name, row in rows.items()
        }

    @staticmethod
    def _references(
        stage: Stage, queries: set[int], config: QuestionnaireConfig
    ) -> Mapping[int, Sequence[str]]:
        if config.reference == "none":
            return {}
        shown = references_shown(stage, queries, _reference_options(config), stage.seed)
        return {query: texts if config.reference == "all" else texts[:1] for query, texts in shown.items()}

    def freeze(self, stage: Stage, units: Sequence[str]) -> None:
        """The references that people see stay as they are."""
        config = questionnaire_config(stage)
        if config.reference == "none":
            return
        rows = QuestionnaireUnit.objects.filter(pk__in=map(key_of, units), query__isnull=False)
        queries = set(rows.values_list("query", flat=True))
        keep_references(stage, queries, _reference_options(config))

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        """The values by field; in a training what is not accepted is explained and asked again."""
        row, config = read_units([unit])[unit], questionnaire_config(stage)
        parsed = read_response(stage, row, config, form)
        if parsed.errors or not config.is_training:
            return parsed
        first = form.get(REMEMBERED + FIRST) or " ".join(wrong_values(row, parsed.response)) or _ALL_RIGHT
        remember = {FIRST: first}
        if errors := _errors_of_lesson(row, config, parsed.response):
            return ParsedForm(errors=errors, remember=remember)
        wrong = [] if first == _ALL_RIGHT else first.split()
        response = {"values": parsed.response, "wrong_at_first": wrong, "right_at_first": not wrong}
        return ParsedForm(response, remember=remember)

    def passes(self, stage: Stage, unit: str, response: Any) -> bool:
        """Every field with gold has an accepted value."""
        return passes_gold(read_units([unit])[unit], response)

    def scopes_by_unit(self, stage: Stage, units: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Who wrote an answer to a query judges none to it."""
        return {unit: [judge_scope(query)] if query else [] for unit, query in _queries_of(units).items()}

    def scopes(self, stage: Stage, unit: str) -> list[str]:
        """Who wrote an answer to a query judges none to it."""
        return list(self.scopes_by_unit(stage, [unit])[unit])

    def marks(self, stage: Stage, unit: str) -> list[str]:
        """Who saw answers to a query writes none."""
        return sorted(self.all_marks(stage, [unit]))

    def all_marks(self, stage: Stage, units: Sequence[str]) -> set[str]:
        """Who saw answers to the queries writes none."""
        return {distil_scope(query) for query in _queries_of(units).values() if query}

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Keep a response."""
        self.record_all(assignment, {unit: response})

    def record_all(self, assignment: Assignment, responses: Mapping[str, Any]) -> None:
        """Keep the responses, and which pairs the person saw the other way round; of lessons nothing."""
        if questionnaire_config(assignment.stage).is_training:
            return
        stage, rows = assignment.stage, read_units(list(responses))
        flipped = flipped_units(stage, rows.values(), page_seed(assignment))
        at = assignment.stored_at or timezone.now()
        UnitResponse.objects.bulk_create(
            UnitResponse(
                stage=stage,
                unit=rows[unit],
                assignment=assignment,
                worker=assignment.worker,
                values=values,
                flipped=rows[unit].pk in flipped,
                at=at,
            )
            for unit, values in responses.items()
        )

    def settle(self, stage: Stage) -> dict[str, Any]:
        """The report is kept from growing old; a training lets people pass."""
        pass_share = questionnaire_config(stage).pass_share
        if pass_share is not None:
            return admit(stage, len(units_with_gold(stage)), pass_share)
        return {"report": "asked for"} if reports.keep_fresh(stage) else {}

    def reconsider(self, stage: Stage, changed: Mapping[int, str]) -> None:
        """The filters in force decide again where they saw work that began or ceased to count."""
        reconsider_run(stage, changed)

    def simulate(self, stage: Stage, unit: str, profile: Profile, rng: random.Random) -> Mapping[str, str]:
        """What a person who read everything answers, by the model that docs/questionnaires.md states."""
        return simulated_form(stage, read_units([unit])[unit], questionnaire_config(stage), profile, rng)

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """The question with the answer, or the key."""
        return {name: _words_of(row) for name, row in read_units(units).items()}

    def planned_units(self, config: Any) -> int | None:
        """Only the data tell, but for a training."""
        is_training = isinstance(config, QuestionnaireConfig) and config.is_training
        return len({each.unit for each in config.gold}) if is_training else None


def _errors_of_lesson(
    unit: QuestionnaireUnit, config: QuestionnaireConfig, values: Mapping[str, Any]
) -> dict[str, str]:
    """Why what somebody chose is not accepted, by input; of a field that was not asked at what hid it."""
    reasons = {each.field: each.reason for each in config.gold if each.unit == unit.key}
    wrong, fields = set(wrong_values(unit, values)), config.by_name
    errors: dict[str, str] = {}
    for prompt in prompts_of(unit, config):
        if prompt.name not in wrong:
            continue
        is_asked = prompt.is_asked(fields, values)
        names = [prompt.name] if is_asked else [name for name, _ in prompt.condition_names(fields)]
        for name in names:
            errors.setdefault(name, choose_again(reasons[prompt.name]))
    return errors


def _words_of(unit: QuestionnaireUnit) -> str:
    check = "Check. " if unit.gold else ""
    if unit.query is None or unit.candidate is None:
        columns = unit.content.get("columns") or {}
        text = next((str(value) for value in columns.values() if str(value).strip()), "")
        return f"{check}{unit.key}{f': {quoted(text)}' if text else ''}"
    if unit.other is not None:
        return f"{check}{quoted(unit.query.text)}: {unit.candidate.system.name} or {unit.other.system.name}"
    return f"{check}{quoted(unit.query.text)}: {quoted(unit.candidate.text)}"


def _queries_of(units: Sequence[str]) -> dict[str, int | None]:
    keys = {key_of(unit): unit for unit in units}
    rows = QuestionnaireUnit.objects.filter(pk__in=keys).values_list("pk", "query")
    return {keys[pk]: query for pk, query in rows}


def _reference_options(config: QuestionnaireConfig) -> JudgingConfig:
    return JudgingConfig(reference=config.reference)
