"""A study's file that somebody uploads as the beginning of a project."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from core.projects.models import Project
from crowd.study.planning import plan
from crowd.study.problems import Problem, StudyError
from crowd.study.reader import Study, parse

#: Larger files are applied on the command line.
LARGEST = 500_000


@dataclass(frozen=True, slots=True)
class StudyUpload:
    """A good file: its text, project and stages in the file's terms, and what is not taken from it."""

    text: str
    project: Mapping[str, Any]
    stages: tuple[Mapping[str, Any], ...]
    endpoint: str
    notes: tuple[str, ...]


def uploaded(name: str, content: bytes) -> StudyUpload:
    """Read an upload. Raises StudyError with everything that is wrong with it, by line.

    Marketplaces with their keys are set up by whoever runs the server, never by an upload: their tables are
    left out, and the researcher chooses one of those there are.
    """
    if len(content) > LARGEST:
        problem = Problem(
            "too-large",
            name,
            1,
            "",
            f"this file is larger than {LARGEST // 1000} kB",
            "Have it applied with manage.py study apply, or keep data outside of it.",
        )
        raise StudyError([problem])
    study = parse(name, content)
    fields = study.fields.model_copy(update={"endpoints": {}})
    _check(Study(fields, study.source))
    notes = []
    if study.fields.endpoints:
        names = ", ".join(sorted(study.fields.endpoints))
        notes.append(
            f"The file's marketplaces ({names}) are not taken from it: choose one that this installation has."
        )
    used = sorted({stage.endpoint for stage in fields.stages})
    if len(used) > 1:
        notes.append(
            f"The file publishes at {', '.join(used)}; here all its stages go to one marketplace. Change a "
            "draft's own afterwards."
        )
    return StudyUpload(
        text=content.decode(),
        project=fields.project.model_dump(mode="json"),
        stages=tuple(
            {name: value for name, value in stage.model_dump(mode="json").items() if value is not None}
            for stage in fields.stages
        ),
        endpoint=used[0] if used else "",
        notes=tuple(notes),
    )


def _check(study: Study) -> None:
    """What is wrong beyond single fields; nothing is compared with a project that is there already."""
    if Project.objects.filter(slug=study.fields.project.slug).exists():
        return
    try:
        plan(study, {}, to_apply=False)
    except StudyError as error:
        wrong = [each for each in error.problems if not each.caution and each.code != "no-such-endpoint"]
        if wrong:
            raise StudyError([_without_accounts(each) for each in wrong]) from None


def _without_accounts(problem: Problem) -> Problem:
    """Who has an account here is nobody's business."""
    if problem.code != "no-such-user":
        return problem
    return replace(problem, remedy="Members need an account here; take them out and invite them later.")
