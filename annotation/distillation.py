"""Distillation: several editors answer a query in their own words from the same curated passages.

Paper 000, section 3.3, with the labels of paper 003 (opinions of yes-no queries, entities).
"""

import random
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib.humanize.templatetags.humanize import intcomma
from django.db import transaction
from django.utils.translation import gettext

from annotation.flag_checks import foreign_script, other_language, unknown_words
from annotation.importing.records import quoted
from annotation.likeness import folded, mostly_spaceless, tokens
from annotation.models import Answer, Query
from annotation.selectors.answers import Material, complete, material, unchecked_queries, waiting
from annotation.services.query_answers import (
    bring_up_to_date,
    canary_phrase,
    compute_new_flags,
    reconsider_answers,
    record_answer,
)
from annotation.services.review_decisions import (
    approve_answers_of,
    approve_reviewed_work,
    draw_configured,
    undecided_words,
)
from annotation.units import distil_scope, judge_scope, of_query, query_of, simulated_truth
from annotation.writing_config import DistillationConfig, distillation_config
from crowd.kinds import Habit, HitTerms, Listing, Page, ParsedForm, PendingUnit, Profile, SimpleKind
from crowd.models import Assignment, Stage

# Reading a worker's answer: what is refused at once, in words for them, and what is only asked about.
#
# Refused: nothing written; too long; the query written off; another script than the project's language has;
# no opinion on a yes-no question; an entity that does not stand in the answer. Asked about once: a text that
# seems to be in another language of the same script. The page that asks holds the field `seen`, so sending it
# again goes through. Spelling is neither: the page shows words that no dictionary has whenever it is drawn
# with a text in it (a draft opened again, or something else to mend), and nothing waits for them.

_MOST_ENTITIES = 50
_MOST_HINTS = 12


def read_answer(
    material: Material, config: DistillationConfig, language: str, form: Mapping[str, str]
) -> ParsedForm:
    """The response {text, opinion, entities}, or errors by field."""
    text = unicodedata.normalize("NFC", form.get("text", "")).strip()
    errors: dict[str, str] = {}
    problem = _problem(text, material, config, language)
    if problem:
        errors["text"] = problem
    response: dict[str, Any] = {"text": text}
    if material.wants_opinion:
        response["opinion"] = form.get("opinion", "")
        if response["opinion"] not in Answer.Opinion.values:
            errors["opinion"] = gettext("Say whether your answer is yes, no, or depends.")
    if material.wants_entities:
        spans, missing = entity_spans(text, form.get("entities", ""))
        response["entities"] = spans
        if text and missing:
            errors["entities"] = missing
    if not errors and config.check_language and not form.get("seen") and other_language(text, language):
        errors["language"] = gettext(
            "This seems to be in another language than the question. If it is right as it "
            "is, send it again; "
            "nothing else is needed."
        )
    return ParsedForm(errors=errors) if errors else ParsedForm(response)


def _problem(text: str, material: Material, config: DistillationConfig, language: str) -> str:
    if not folded(text):
        return gettext("Write your answer; one word can be enough.")
    if len(text) > config.longest:
        return gettext(
            "Your answer has %(text)s characters; at most %(longest)s fit. Shorten it, please."
        ) % {"text": intcomma(len(text)), "longest": intcomma(config.longest)}
    if folded(text) == folded(material.query.text):
        return gettext("This is the question itself. Write what answers it.")
    flag_query = material.flag_query(language)
    if config.check_language and foreign_script(text, language, (flag_query.text, *flag_query.passages)):
        return gettext(
            "Most of this is in another script than the question. Answer in the language of the question."
        )
    return ""


def entity_spans(text: str, lines: str) -> tuple[list[dict[str, Any]], str]:
    """Where the entities stand in an answer, one entity per line; and words for one that does not.

    An entity that is written twice is its first and its second place.
    """
    spans: list[dict[str, Any]] = []
    after: dict[str, int] = {}
    entities = [line.strip() for line in unicodedata.normalize("NFC", lines).splitlines() if line.strip()]
    if len(entities) > _MOST_ENTITIES:
        return [], gettext("Name at most %(most_entities)s of them.") % {"most_entities": _MOST_ENTITIES}
    for entity in entities:
        start = text.find(entity, after.get(entity, 0))
        if start < 0:
            return (
                [],
                gettext(
                    "%(entity)s does not occur in your answer in this form. Write it the same way in both."
                )
                % {"entity": quoted(entity)},
            )
        after[entity] = start + len(entity)
        spans.append({"start": start, "end": start + len(entity), "text": entity})
    return sorted(spans, key=lambda span: (span["start"], span["end"])), ""


def spelling_hints(text: str, material: Material, language: str) -> list[str]:
    """Words of a text that are in no dictionary, each once."""
    spans = unknown_words(text, material.flag_query(language))
    return list(dict.fromkeys(text[start:end] for start, end in spans))[:_MOST_HINTS]


_OPENINGS = ("", "", "", "It is said that ", "In short, ", "As far as I read, ")
#: Share of editors who put an answer together themselves although true ones are known.
_OWN_WORDS = 0.25
_LONGEST = 380


def simulated_answer(material: Material, profile: Profile, rng: random.Random, seed: int) -> dict[str, str]:
    """Fields of an answer: one that the query's file has as true, else words of a passage put together.

    Entities are left empty for those who do not read: what they write is not known here.
    """
    own = rng.random() < _OWN_WORDS
    text = (
        (_composed(material, rng) if own else "")
        or _quote_references(material, rng)
        or _composed(material, rng)
    )
    fields = {"text": text[:_LONGEST].strip() or "Yes"}
    if material.wants_opinion:
        truth = random.Random(f"opinion:{seed}:{material.query.key}")
        fields["opinion"] = truth.choice(Answer.Opinion.values)
    if material.wants_entities:
        fields["entities"] = _entity(fields["text"]) if profile.habit is Habit.KNOWS else ""
    return fields


def _quote_references(material: Material, rng: random.Random) -> str:
    answers = simulated_truth(material.query.extra).get("answers")
    answers = answers if isinstance(answers, list) else []
    good = [answer for answer in answers if isinstance(answer, str) and answer.strip()]
    if not good:
        return ""
    sample = rng.sample(good, rng.randint(1, min(2, len(good))))
    return " ".join(answer.strip() for answer in sample)


def _composed(material: Material, rng: random.Random) -> str:
    if not material.passages:
        return ""
    source = rng.choice(material.passages).text
    source_tokens = tokens(source)
    if not source_tokens:
        return ""
    start = rng.randrange(max(1, len(source_tokens) - 12))
    kept_tokens = [
        token for token in source_tokens[start : start + rng.randint(4, 16)] if rng.random() < 0.75
    ]
    kept_words = [
        source[token.start : token.end] for token in kept_tokens or source_tokens[start : start + 1]
    ]
    if mostly_spaceless(source_tokens):
        return "".join(kept_words)
    return f"{rng.choice(_OPENINGS)}{' '.join(kept_words)}"


def _entity(text: str) -> str:
    """The first word with a capital, else the first one."""
    text_words = [text[token.start : token.end] for token in tokens(text)]
    return next((word for word in text_words if word[0].isupper()), text_words[0] if text_words else "")


class Distillation(SimpleKind):
    """Units are `query:PK` of curated queries; `stage.redundancy` different editors answer each."""

    name = "distillation"
    label = "Distillation: answers in editors' own words"
    config = DistillationConfig
    suggested: ClassVar[Mapping[str, Any]] = {
        "title": "Distillation",
        "reward": "0.40",
        "redundancy": 20,
        "expected_minutes": 2.0,
        "approve": "by-hand",
    }

    def listing(self, terms: HitTerms) -> Listing:
        """Questions to answer."""
        question = "answer the question" if terms.units == 1 else "answer each question"
        return Listing(
            f"Answer {terms.count('a question', 'questions')} in your own words{terms.time}",
            f"Read one or a few short passages, then {question} in your own words.",
            "reading, writing, question, answer",
        )

    def pending(self, stage: Stage) -> Iterator[PendingUnit]:
        """Curated queries with fewer answers that count than the stage wants."""
        for query, counted in waiting(stage):
            yield PendingUnit(of_query(query), stage.redundancy - counted)

    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        """The query with its turns and passages, and what is asked."""
        config, query_material = distillation_config(stage), material(query_of(unit))
        return Page(
            "annotation/distillation.html",
            {
                "material": query_material,
                "language": stage.project.language,
                "instructions": config.instructions,
                "longest": config.longest,
                "opinions": Answer.Opinion.choices,
                "canary": canary_phrase(stage, query_material) if config.canary else "",
                "spelling_hint": config.spelling_hint,
            },
        )

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        """The text, and where they are asked for the opinion and the entities."""
        return read_answer(material(query_of(unit)), distillation_config(stage), stage.project.language, form)

    def scopes(self, stage: Stage, unit: str) -> list[str]:
        """Who screened or curated the query does not answer it."""
        return [distil_scope(query_of(unit))]

    def marks(self, stage: Stage, unit: str) -> list[str]:
        """Who answers the query judges none of its answers."""
        return [judge_scope(query_of(unit))]

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Keep the answer."""
        record_answer(assignment=assignment, query=query_of(unit), response=response)

    def settle(self, stage: Stage) -> dict[str, Any]:
        """Flag new answers, approve work that was reviewed before it was listed, move on complete queries."""
        with transaction.atomic():
            approve_reviewed_work(stage)
        checked = compute_new_flags(stage)
        moved = bring_up_to_date(stage)
        held_out = draw_configured(stage)
        return {
            "checked": checked,
            "answered": moved.answered,
            "reopened": moved.reopened,
            "held_out": held_out,
        }

    def count_waiting_decisions(self, stage: Stage) -> int:
        """Queries with answers that were not checked, and those that have all they need."""
        return len({*unchecked_queries(stage), *complete(stage).values_list("pk", flat=True)})

    def reconsider(self, stage: Stage, changed: Mapping[int, str]) -> None:
        """Move queries whose answers began or ceased to count."""
        reconsider_answers(stage, changed)

    def accept(self, assignment: Assignment, actor: Any) -> None:
        """Its undecided answers without flags are approved."""
        approve_answers_of(assignment, actor)

    def undecided(self, assignment: Assignment) -> str:
        """Answers with flags keep a decision of their own."""
        return undecided_words(assignment)

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """The queries' texts."""
        keys = {unit: query_of(unit) for unit in units}
        texts = dict(Query.objects.filter(pk__in=keys.values()).values_list("pk", "text"))
        return {unit: texts.get(query, unit) for unit, query in keys.items()}

    def simulate(self, stage: Stage, unit: str, profile: Profile, rng: random.Random) -> Mapping[str, str]:
        """What somebody who read the passages writes."""
        return simulated_answer(material(query_of(unit)), profile, rng, stage.seed)
