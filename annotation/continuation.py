"""Continuation: people write the next message of a dialogue (paper 004, section 2, round 1).

What they write is no reference: it is judged beside the answers of systems, as that of the system `human`. So
every writer is held out of the dialogue, and the ways that held-out answers go lead to candidates.
"""

import random
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils import timezone
from django.utils.translation import gettext
from pydantic import Field, field_validator

from annotation.flag_checks import foreign_script, other_language
from annotation.likeness import folded, mostly_spaceless, tokens
from annotation.models import Answer, HeldOutWorker, Query
from annotation.selectors.answers import Material, dialogues, materials, unchecked_queries, uncontinued
from annotation.services.query_answers import canary_phrase, compute_new_flags
from annotation.services.review_decisions import approve_answers_of, approve_reviewed_work, undecided_words
from annotation.units import PREFIX, distil_scope, judge_scope, of_query, query_of, simulated_truth, texts_of
from annotation.writing_config import WritingConfig
from crowd.kinds import HitTerms, Listing, Page, ParsedForm, PendingUnit, Profile, SimpleKind, config_of
from crowd.models import Assignment, Stage

_INSTRUCTIONS = (
    "Read each dialogue, then write a message that could come next, as you would write it yourself. A good "
    "message goes on with what was said before and is longer than a word or two. Do not repeat what was "
    "said, and do not write anything offensive."
)
_CHECK = "check:"
#: In scripts without spaces a word is about two characters.
_CHARACTERS_PER_WORD = 2
_OPENINGS = ("I see, so", "Really?", "Oh,", "Then tell me more about", "I would say", "That reminds me of")
_ENDINGS = ("then", "I think", "as far as I know", "these days", "to be honest")


class ContinuationConfig(WritingConfig):
    """Which dialogues are continued, how long a message must be, and from which bounds on it is flagged.

    Redundancy, the number of people who continue each dialogue, belongs to the stage; ADEM had two.
    """

    instructions: str = Field(
        default=_INSTRUCTIONS,
        max_length=4000,
        description="Shown with the instructions, above all dialogues of a HIT. The stage's redundancy is "
        "the number of different people who continue each dialogue.",
    )
    longest: int = Field(default=500, ge=20, le=20_000, description="Longest message, in characters.")
    shortest_words: int = Field(
        default=3,
        ge=1,
        le=100,
        description="A message with fewer different words is refused: one word, or one over and over, is no "
        "continuation.",
    )
    only_with_turns: bool = Field(
        default=False,
        description="Only dialogues with earlier turns; otherwise also first messages, without context.",
    )
    checks: Mapping[str, str] = Field(
        default_factory=dict,
        description="Attention checks: dialogues, a line per message, with a word that the next message must "
        'have, such as "Are you reading this? Please answer with the word lantern in it." with lantern.',
    )
    advanced: ClassVar[frozenset[str]] = WritingConfig.advanced

    @field_validator("checks")
    @classmethod
    def _refuse_halves(cls, checks: Mapping[str, str]) -> Mapping[str, str]:
        if not all(folded(text) and folded(word) for text, word in checks.items()):
            raise ValueError("Every check needs a dialogue and a word.")
        return checks

    def sources(self, material: Material) -> tuple[str, ...]:
        """Everything that was said so far, oldest first."""
        return messages_of(material)


def continuation_config(stage: Stage) -> ContinuationConfig:
    """The stage's options, typed."""
    config = config_of(stage)
    assert isinstance(config, ContinuationConfig)
    return config


def messages_of(material: Material) -> tuple[str, ...]:
    """All messages of a dialogue, oldest first."""
    earlier = (text for turn in material.turns for text in (turn.text, turn.answer) if text)
    return (*earlier, material.query.text)


def read_message(
    material: Material, config: ContinuationConfig, language: str, form: Mapping[str, str]
) -> ParsedForm:
    """The response {text}, or errors by field, in words for the worker."""
    text = unicodedata.normalize("NFC", form.get("text", "")).strip()
    problem = _problem(text, material, config, language)
    if problem:
        return ParsedForm(errors={"text": problem})
    if config.check_language and not form.get("seen") and other_language(text, language):
        sentence = gettext(
            "This seems to be in another language than the dialogue. If it is right as it "
            "is, send it again; "
            "nothing else is needed."
        )
        return ParsedForm(errors={"language": sentence})
    return ParsedForm({"text": text})


def _problem(text: str, material: Material, config: ContinuationConfig, language: str) -> str:
    message_words, messages = folded(text), messages_of(material)
    if not message_words:
        return gettext("Write the next message.")
    if len(text) > config.longest:
        return gettext(
            "Your message has %(text)s characters; at most %(longest)s fit. Shorten it, please."
        ) % {"text": intcomma(len(text)), "longest": intcomma(config.longest)}
    if any(message_words == folded(message) for message in messages):
        return gettext("This was said before in the dialogue. Write what could come next.")
    if config.check_language and foreign_script(text, language, messages):
        return gettext(
            "Most of this is in another script than the dialogue. Write in the language of the dialogue."
        )
    least = config.shortest_words * (_CHARACTERS_PER_WORD if mostly_spaceless(tokens(text)) else 1)
    if len(set(message_words)) < least:
        return gettext(
            "This is very short, or the same over and over. Write a little more: at least "
            "%(shortest_words)s different words."
        ) % {"shortest_words": config.shortest_words}
    return ""


def simulated_message(material: Material, rng: random.Random) -> str:
    """What somebody who read the dialogue writes: a true one of the file, or words of it put together."""
    continuations = simulated_truth(material.query.extra).get("continuations")
    good = (
        [text for text in continuations if isinstance(text, str) and text.strip()]
        if isinstance(continuations, list)
        else []
    )
    if good and rng.random() < 0.75:
        return rng.choice(good).strip()
    source = rng.choice(messages_of(material)[-3:])
    source_tokens = tokens(source)
    start = rng.randrange(max(1, len(source_tokens) - 6))
    phrase = [source[token.start : token.end] for token in source_tokens[start : start + rng.randint(3, 8)]]
    if mostly_spaceless(source_tokens):
        return f"{''.join(reversed(phrase))}{source[:12]} 1 2 3 4 5 6"
    return f"{rng.choice(_OPENINGS)} {' '.join(phrase)} {rng.choice(_ENDINGS)}"


class Continuation(SimpleKind):
    """Units are `query:PK`, dialogues by their last message, and `check:N` for attention checks."""

    name = "continuation"
    label = "Continuation: the next message of a dialogue"
    config = ContinuationConfig
    suggested: ClassVar[Mapping[str, Any]] = {
        "title": "Continuation",
        "reward": "0.30",
        "redundancy": 2,
        "units_per_hit": 5,
        "expected_minutes": 3.0,
        "approve": "by-hand",
    }

    def listing(self, terms: HitTerms) -> Listing:
        """Dialogues to continue."""
        each = "it" if terms.units == 1 else "each of them"
        return Listing(
            f"Continue {terms.count('a dialogue', 'dialogues')}{terms.time}",
            f"Read {'a short dialogue' if terms.units == 1 else 'short dialogues'}, then write the message "
            f"that could come next in {each}.",
            "writing, dialogue, conversation",
        )

    def left_out(self, stage: Stage) -> Mapping[str, int]:
        """Queries that are no dialogue, or that nobody is asked about any more."""
        every, queries = Query.objects.filter(project=stage.project_id).count(), dialogues(stage)
        asked_count = queries.count()
        single = queries.filter(context=[]).count() if continuation_config(stage).only_with_turns else 0
        reasons = {
            "excluded, taken out, or still being imported": every - asked_count,
            "without earlier turns": single,
        }
        return {reason: count for reason, count in reasons.items() if count}

    def pending(self, stage: Stage) -> Iterator[PendingUnit]:
        """Dialogues with fewer continuations that count than the stage wants."""
        rows = uncontinued(stage, with_turns=continuation_config(stage).only_with_turns)
        for query, counted in rows:
            yield PendingUnit(of_query(query), stage.redundancy - counted)

    def checks(self, stage: Stage) -> list[str]:
        """One unit per check."""
        return [f"{_CHECK}{number}" for number in range(len(continuation_config(stage).checks))]

    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        """The dialogue and a box for the next message; a check looks like any other."""
        return self.pages(stage, [unit], seed)[unit]

    def pages(self, stage: Stage, units: Sequence[str], seed: int) -> Mapping[str, Page]:
        """The dialogues, each with a box for the next message."""
        config = continuation_config(stage)
        return {
            unit: Page(
                "annotation/continuation.html",
                {
                    "material": material,
                    "language": stage.project.language,
                    "longest": config.longest,
                    "canary": canary_phrase(stage, material) if config.canary else "",
                    "spelling_hint": config.spelling_hint,
                },
                config.instructions,
            )
            for unit, material in _materials(stage, units).items()
        }

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        """The message."""
        material = _materials(stage, [unit])[unit]
        return read_message(material, continuation_config(stage), stage.project.language, form)

    def passes(self, stage: Stage, unit: str, response: Any) -> bool:
        """The message has the word that the check asks for."""
        word = folded(list(continuation_config(stage).checks.values())[_number(unit)])
        answer_words = folded(response["text"])
        return any(answer_words[at : at + len(word)] == word for at in range(len(answer_words)))

    def scopes(self, stage: Stage, unit: str) -> list[str]:
        """Who worked on the query before, wrote an answer to it or judged one, does not continue it."""
        if unit.startswith(_CHECK):
            return []
        query = query_of(unit)
        return [distil_scope(query), judge_scope(query)]

    def marks(self, stage: Stage, unit: str) -> list[str]:
        """Who continues a dialogue judges no answer to it, and writes no reference."""
        return self.scopes(stage, unit)

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Keep the message."""
        self.record_all(assignment, {unit: response})

    def record_all(self, assignment: Assignment, responses: Mapping[str, Any]) -> None:
        """Keep the messages, each held out for the system `human`; answers to checks stay in the work."""
        stored = assignment.stored_at or timezone.now()
        written = {
            query_of(unit): response_to_unit
            for unit, response_to_unit in responses.items()
            if not unit.startswith(_CHECK)
        }
        Answer.objects.bulk_create(
            Answer(
                stage=assignment.stage,
                assignment=assignment,
                worker=assignment.worker,
                query_id=query,
                text=response["text"],
                created_at=stored,
            )
            for query, response in written.items()
        )
        HeldOutWorker.objects.bulk_create(
            (HeldOutWorker(query_id=query, worker=assignment.worker, created_at=stored) for query in written),
            ignore_conflicts=True,
        )

    def settle(self, stage: Stage) -> dict[str, Any]:
        """Flag new messages, and approve work that was reviewed before it was listed."""
        approve_reviewed_work(stage)
        return {"checked": compute_new_flags(stage)}

    def count_waiting_decisions(self, stage: Stage) -> int:
        """Dialogues with messages that were not checked."""
        return len(unchecked_queries(stage))

    def accept(self, assignment: Assignment, actor: Any) -> None:
        """Its undecided messages without flags are approved."""
        approve_answers_of(assignment, actor)

    def undecided(self, assignment: Assignment) -> str:
        """Messages with flags keep a decision of their own."""
        return undecided_words(assignment)

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """The last messages of the dialogues."""
        texts = texts_of(units)
        if any(unit.startswith(_CHECK) for unit in units):
            texts |= {
                f"{_CHECK}{n}": text.splitlines()[-1]
                for n, text in enumerate(continuation_config(stage).checks)
            }
        return {unit: texts.get(unit, unit) for unit in units}

    def simulate(self, stage: Stage, unit: str, profile: Profile, rng: random.Random) -> Mapping[str, str]:
        """What somebody who read the dialogue writes."""
        if unit.startswith(_CHECK):
            word = list(continuation_config(stage).checks.values())[_number(unit)]
            return {"text": f"Yes, I read it, so here is the word {word} for you"}
        return {"text": simulated_message(_materials(stage, [unit])[unit], rng)}


def _materials(stage: Stage, units: Sequence[str]) -> dict[str, Material]:
    """The dialogues of units, in two statements; those of checks are made of their lines."""
    by_query = materials([query_of(unit) for unit in units if unit.startswith(PREFIX)])
    checks = list(continuation_config(stage).checks)
    return {
        unit: _check(checks[_number(unit)]) if unit.startswith(_CHECK) else by_query[query_of(unit)]
        for unit in units
    }


def _check(text: str) -> Material:
    *earlier, last = [line.strip() for line in text.splitlines() if line.strip()]
    return Material(Query(text=last, context=[{"text": line} for line in earlier]), ())


def _number(unit: str) -> int:
    return int(unit.removeprefix(_CHECK))
