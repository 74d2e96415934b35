"""What a stage says to people: in versions, and in the languages that its researcher wrote.

Each version is kept, and an assignment goes on with the one that it was opened with. It also keeps the
language in which its page was last read, where there were several.
"""

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from crowd.kinds import StageConfig, config_of
from crowd.models import Assignment, Instructions, Stage
from crowd.services.pictures import missing_pictures, pictures_of
from crowd.study.reader import complete_config
from crowd.texts import LANGUAGES, is_extended
from web.languages import first_language, name_of

_INSTRUCTIONS = "instructions"


@dataclass(frozen=True, slots=True)
class StageWords:
    """What the task page says: the stage's own words, its kind's instructions, and further languages."""

    description: str
    text: str
    languages: Mapping[str, Any]


def instructions_of(stage: Stage) -> StageWords:
    """What a stage says to people who come now."""
    return StageWords(
        stage.task_description, str(stage.config.get(_INSTRUCTIONS, "")), stage.config.get(LANGUAGES) or {}
    )


def only_says_otherwise(kind: str, before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether two configs of a kind differ in nothing but instructions and texts that nobody read yet."""
    old, new = complete_config(kind, before), complete_config(kind, after)
    same = all(old.get(name) == new.get(name) for name in {*old, *new} - {_INSTRUCTIONS, LANGUAGES})
    return same and is_extended(old.get(LANGUAGES, {}), new.get(LANGUAGES, {}))


def stage_as_seen(assignment: Assignment) -> Stage:
    """The stage as the assignment's person reads it: the version that they began with, in their language."""
    return in_language(_version_of(assignment), assignment.language)


def in_language(stage: Stage, language: str) -> Stage:
    """A copy of the stage whose page is in this language; the stage itself where it has no such texts."""
    texts = (stage.config.get(LANGUAGES) or {}).get(language)
    if texts is None:
        return stage
    seen = copy(stage)
    seen.text_language = language
    seen.task_title = texts.get("title") or stage.task_title
    seen.task_description = texts.get("description") or stage.task_description
    return seen


def language_for(stage: Stage, wanted: Sequence[str]) -> str:
    """In which of its languages somebody reads a stage who wants these; empty where it has only one."""
    further = list(stage.config.get(LANGUAGES) or {})
    own = stage.project.language
    return (first_language(wanted, [own, *further]) or own) if further else ""


def note_language(assignment: Assignment, wanted: Sequence[str]) -> None:
    """Keep in which language an assignment's page is read, where its texts are in several."""
    language = language_for(_version_of(assignment), wanted)
    if language != assignment.language:
        Assignment.objects.filter(pk=assignment.pk, state=Assignment.State.WORKING).update(language=language)
        assignment.language = language


def list_missing_texts(stage: Stage) -> Iterator[str]:
    """What is missing in which of a stage's languages, and pictures that are, in sentences."""
    yield from missing_sentences(config_of(stage), stage.project.language)
    for name in missing_pictures(stage.project, pictures_of(stage)):
        yield f"The project has no picture {name}, which the instructions show: people read its words."


def missing_sentences(config: StageConfig, own_language: str) -> Iterator[str]:
    """The same of options; `own_language` is the project's."""
    for language, texts in config.texts.items():
        if lacking := texts.lacking(config):
            yield (
                f"{name_of(language)}: {', '.join(lacking)} missing; people read "
                f"{'it' if len(lacking) == 1 else 'them'} in {name_of(own_language)}."
            )


def _version_of(assignment: Assignment) -> Stage:
    stage, version = assignment.stage, assignment.instructions_version
    if version == stage.instructions_version:
        return stage
    instructions = Instructions.objects.filter(stage=stage.pk, version=version).first()
    if instructions is None:
        return stage
    seen = copy(stage)
    seen.task_description = instructions.description
    seen.config = {name: value for name, value in stage.config.items() if name != LANGUAGES}
    if _INSTRUCTIONS in stage.config or instructions.text:
        seen.config[_INSTRUCTIONS] = instructions.text
    if instructions.languages:
        seen.config[LANGUAGES] = instructions.languages
    return seen


def keep_versions(stage: Stage, before: StageWords, actor: Any) -> None:
    """Keep the instructions as they are now, and at the first change those from before."""
    now = timezone.now()
    rows = [(stage.instructions_version, before, stage.opened_at or now, stage.opened_by)]
    stage.instructions_version += 1
    by = actor if isinstance(actor, User) else None
    rows.append((stage.instructions_version, instructions_of(stage), now, by))
    Instructions.objects.bulk_create(
        (
            Instructions(
                stage=stage,
                version=version,
                description=words.description,
                text=words.text,
                languages=words.languages or None,
                written_at=at,
                written_by=who,
            )
            for version, words, at, who in rows
        ),
        ignore_conflicts=True,
    )
