"""From a file to a study, or to everything that is wrong with it at once."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from pydantic import ValidationError

from crowd.kinds import Listing, kind_named, kinds, made_listing
from crowd.study.explain import Finding, Locator, Path, Problem, StudyError, findings, not_known, spelled
from crowd.study.schema import StageFields, StudyFields, TaskFields

#: Files beyond this are somebody's data, not a description of a study.
LARGEST = 5_000_000
#: Characters of a field's name that a problem repeats.
_LONGEST_FIELD = 200
#: So many keys that are given twice are told one by one.
_MOST_REPEATS = 20
_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_SYSTEM = re.compile(r"\s*\(at (?:line \d+, column \d+|end of document)\)")


@dataclass(frozen=True)
class Source:
    """A file's text, and where its fields stand."""

    name: str
    locator: Locator

    def problem(self, finding: Finding) -> Problem:
        """A finding with its file and line."""
        return Problem(
            finding.code,
            self.name,
            self.locator.line(finding.path),
            spelled(finding.path)[:_LONGEST_FIELD],
            finding.what,
            finding.remedy,
        )


@dataclass(frozen=True)
class Study:
    """What a good file says. Configs and texts are complete: what was left out has its default."""

    fields: StudyFields
    source: Source


def read(path: str) -> Study:
    """Read a file. Raises StudyError with all that is wrong in it."""
    return parse(path, _content(path))


def parse(path: str, content: bytes) -> Study:
    """Read what a file of this name holds. Raises StudyError with all that is wrong in it."""
    text = _text(path, content)
    locator = Locator(text)
    source = Source(path, locator)
    data = _document(path, text, locator)
    finding_list: list[Finding] = list(_nul_characters(data, ()))
    fields = None
    try:
        fields = StudyFields.model_validate(data)
    except ValidationError as error:
        finding_list += findings(error, StudyFields, data)
    configs: dict[int, dict[str, Any]] = {}
    for number, stage in enumerate(_stage_tables(data)):
        finding_list += _read_config(number, stage, configs)
    finding_list += _agreement(data)
    if finding_list or fields is None:
        problems = [source.problem(finding) for finding in finding_list]
        raise StudyError(sorted(problems, key=lambda problem: (problem.line, problem.field)))
    stages = tuple(
        stage.model_copy(
            update={"config": configs[number], "task": stage.task or _make_task(stage, configs[number])}
        )
        for number, stage in enumerate(fields.stages)
    )
    return Study(fields.model_copy(update={"stages": stages}), source)


def _make_task(stage: StageFields, config: dict[str, Any]) -> TaskFields:
    listing = made_listing(
        kind_named(stage.kind),
        units_per_hit=stage.units_per_hit,
        checks_per_hit=stage.checks_per_hit,
        minutes=None if stage.expected_minutes is None else float(stage.expected_minutes),
        config=config,
    )
    return task_texts(listing, stage.title)


def task_texts(listing: Listing, stage_title: str) -> TaskFields:
    """What a kind made for the marketplace's list; where it makes no texts, the stage's title."""
    title = listing.title or stage_title[:128]
    return TaskFields(title=title, description=listing.description or title, keywords=listing.keywords)


def _failed(path: str, code: Any, line: int, what: str, remedy: str) -> StudyError:
    return StudyError([Problem(code, path, line, "", what, remedy)])


def _content(path: str) -> bytes:
    try:
        with FilePath(path).open("rb") as file:
            return file.read(LARGEST + 1)
    except OSError as error:
        what = f"this cannot be read: {error.strerror}"
        raise _failed(path, "unreadable", 1, what, "Name a file that is there.") from error


def _text(path: str, content: bytes) -> str:
    if len(content) > LARGEST:
        raise _failed(
            path,
            "too-large",
            1,
            f"this file is larger than {LARGEST // 1_000_000} MB",
            "Keep data outside of the file; import it into the stage instead.",
        )
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _failed(
            path,
            "not-utf8",
            content.count(b"\n", 0, error.start) + 1,
            f"byte {content[error.start]:#04x} is no UTF-8",
            "Save the file as UTF-8.",
        ) from error


def _document(path: str, text: str, locator: Locator) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        problem = Problem("not-toml", path, 1, "", "lists or tables are nested too deep", "Nest them less.")
        raise StudyError([problem]) from error
    except ValueError as error:
        message = str(error)
        at = _LINE.search(message)
        line = int(at[1]) if at else text.count("\n") + (not text.endswith("\n"))
        repeats = [
            Problem(
                "repeated",
                path,
                repeat.second,
                spelled(repeat.path),
                f"this was given before, on line {repeat.first}",
                "Keep one of the two.",
            )
            for repeat in locator.repeats[:_MOST_REPEATS]
        ]
        if len(locator.repeats) > _MOST_REPEATS:
            more = f"{len(locator.repeats) - _MOST_REPEATS:,} more were given before"
            repeats.append(Problem("repeated", path, line, "", more, "Keep one of each two."))
        what = _SYSTEM.sub("", message).lower()
        other = Problem("not-toml", path, line, "", f"this is no TOML: {what}", _TOML_REMEDY)
        raise StudyError(repeats or [other]) from error


_TOML_REMEDY = 'Strings stand in quotes, tables begin with [name], each key = "value" has its own line.'


def _nul_characters(data: object, path: Path) -> Iterator[Finding]:
    if isinstance(data, str) and "\0" in data:
        yield Finding(
            "wrong-value", path, "a NUL character cannot be stored", "Take out the \\u0000 in this text."
        )
    inside = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in inside:
        if isinstance(key, str) and "\0" in key:
            yield Finding("wrong-value", path, "a NUL character cannot be stored", "Take it out of the key.")
        yield from _nul_characters(value, (*path, key))


def _stage_tables(data: dict[str, Any]) -> list[dict[str, Any]]:
    stages = data.get("stages", [])
    return [stage if isinstance(stage, dict) else {} for stage in stages] if isinstance(stages, list) else []


def _read_config(number: int, stage: dict[str, Any], configs: dict[int, dict[str, Any]]) -> Iterator[Finding]:
    """The options of a stage by its kind's own model; the complete ones go into `configs`."""
    name, config = stage.get("kind"), stage.get("config", {})
    if not isinstance(name, str) or not isinstance(config, dict):
        return
    try:
        kind = kind_named(name)
    except KeyError:
        kind_names = [kind.name for kind in kinds()]
        yield not_known(
            "no-such-kind",
            ("stages", number, "kind"),
            f"there is no kind of stage {name!r}",
            name,
            kind_names,
        )
        return
    try:
        configs[number] = kind.config.model_validate(config).model_dump(mode="json")
    except ValidationError as error:
        yield from findings(error, kind.config, config, ("stages", number, "config"))


def complete_config(kind: str, config: dict[str, Any]) -> dict[str, Any]:
    """Options with their defaults; unchanged where the kind no longer reads them."""
    try:
        return kind_named(kind).config.model_validate(config).model_dump(mode="json")
    except (KeyError, ValidationError):
        return config


def _agreement(data: dict[str, Any]) -> Iterator[Finding]:
    """What the fields' own bounds cannot say: names that must differ."""
    slugs = [stage.get("slug") for stage in _stage_tables(data)]
    counts = Counter(slug for slug in slugs if isinstance(slug, str))
    for number, slug in enumerate(slugs):
        if isinstance(slug, str) and counts[slug] > 1 and slug in slugs[:number]:
            yield Finding(
                "repeated",
                ("stages", number, "slug"),
                f"there is a stage {slug!r} already, above",
                "Give each stage a short name of its own.",
            )
