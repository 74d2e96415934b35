"""Reading a worker's answer: what is refused at once, in words for them, and what is only asked about.

Refused: nothing written; too long; the query written off; another script than the project's language has; no
opinion on a yes-no question; an entity that does not stand in the answer. Asked about once: a text that seems
to be in another language of the same script. The page that asks holds the field `seen`, so sending it again
goes through. Spelling is neither: the page shows words that no dictionary has whenever it is drawn with a
text in it (a draft opened again, or something else to mend), and nothing waits for them.
"""

import unicodedata
from collections.abc import Mapping
from typing import Any

from annotation.flags.language import foreign_script, other_language
from annotation.flags.spelling import unknown_words
from annotation.flags.tokens import folded
from annotation.kinds.distillation_config import DistillationConfig
from annotation.models import Answer
from annotation.quotes import quoted
from annotation.selectors.material import Material
from crowd.kinds import ParsedForm

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
            errors["opinion"] = "Say whether your answer is yes, no, or depends."
    if material.wants_entities:
        spans, missing = entity_spans(text, form.get("entities", ""))
        response["entities"] = spans
        if text and missing:
            errors["entities"] = missing
    if not errors and config.check_language and not form.get("seen") and other_language(text, language):
        errors["language"] = (
            "This seems to be in another language than the question. If it is right as it is, send it again; "
            "nothing else is needed."
        )
    return ParsedForm(errors=errors) if errors else ParsedForm(response)


def _problem(text: str, material: Material, config: DistillationConfig, language: str) -> str:
    if not folded(text):
        return "Write your answer; one word can be enough."
    if len(text) > config.longest:
        return (
            f"Your answer has {len(text):,} characters; at most {config.longest:,} fit. Shorten it, please."
        )
    if folded(text) == folded(material.query.text):
        return "This is the question itself. Write what answers it."
    asked = material.asked(language)
    if config.check_language and foreign_script(text, language, (asked.text, *asked.passages)):
        return "Most of this is in another script than the question. Answer in the language of the question."
    return ""


def entity_spans(text: str, lines: str) -> tuple[list[dict[str, Any]], str]:
    """Where the entities stand in an answer, one entity per line; and words for one that does not.

    An entity that is written twice is its first and its second place.
    """
    spans: list[dict[str, Any]] = []
    after: dict[str, int] = {}
    wanted = [line.strip() for line in unicodedata.normalize("NFC", lines).splitlines() if line.strip()]
    if len(wanted) > _MOST_ENTITIES:
        return [], f"Name at most {_MOST_ENTITIES} of them."
    for entity in wanted:
        start = text.find(entity, after.get(entity, 0))
        if start < 0:
            return (
                [],
                f"{quoted(entity)} does not stand in your answer like this. Write it the same way in both.",
            )
        after[entity] = start + len(entity)
        spans.append({"start": start, "end": start + len(entity), "text": entity})
    return sorted(spans, key=lambda span: (span["start"], span["end"])), ""


def spelling_hints(text: str, material: Material, language: str) -> list[str]:
    """Words of a text that are in no dictionary, each once."""
    spans = unknown_words(text, material.asked(language))
    return list(dict.fromkeys(text[start:end] for start, end in spans))[:_MOST_HINTS]
