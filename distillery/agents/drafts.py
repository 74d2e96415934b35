"""A table of systems' answers becomes a draft of a study: its project, its judging stage and a study link."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from annotation.services import importing
from core.errors import ActionError
from core.projects.models import Project
from core.projects.services import create_project
from crowd.kinds import kind_named, made_listing
from crowd.models import Endpoint, Stage
from crowd.rights import usable_endpoints
from crowd.services.stages import create_stage
from crowd.study.reader import task_texts
from judgments.extension import ADEM, KPQA
from judgments.services import imports
from people.links import LinkPlan, make_link
from people.models import StudyLink
from people.owners import project_owner

PRESETS = {preset.name: preset for preset in (KPQA, ADEM)}
#: Answers of one task at most: who comes by a link works in short visits, not through a whole survey.
_MOST_UNITS = 20
_LONGEST_SLUG = 40


@dataclass(frozen=True, slots=True)
class StudyDraft:
    """What was made, and how the table was read: `questions` of it, and `answers` to them."""

    project: Project
    stage: Stage
    link: StudyLink
    read_as: dict[str, Any]


@transaction.atomic
def make_study_from_file(*, owner: User, path: Path, title: str, preset: str, judges: int) -> StudyDraft:
    """Make all of it or nothing; nothing is open, and nothing is paid to who comes by the link.

    ActionError, or ImportRefusedError of either import, says in words what cannot be.
    """
    if preset not in PRESETS:
        raise ActionError(f"There is no preset {preset[:40]!r}; there are {', '.join(PRESETS)}.")
    project = create_project(slug=_free_slug(title), title=title, owner=owner, actor=owner)
    endpoint = usable_endpoints([project]).filter(protocol=Endpoint.Protocol.LINK).first()
    if endpoint is None:
        raise ActionError(
            "You may use no study links yet. An administrator adds them with `manage.py crowd endpoint add "
            "links --preset link`, and lets you with `manage.py crowd endpoint allow links --user NAME`."
        )
    start = importing.Options(start_at="distillation")
    questions = importing.import_queries(project=project, path=path, options=start, actor=owner)
    answers = imports.import_candidates(project=project, path=path, actor=owner)
    if not answers["stored"]:
        raise ActionError(f"{path.name} has no answer of a system that could be judged.")
    table = PRESETS[preset].stages[-1]
    kind = kind_named("judging")
    # Nobody is sure to come back, so no queries are shared by all.
    config = kind.config.model_validate({**table.get("config", {}), "shared_queries": 0})
    units = min(int(table.get("units_per_hit", 1)), _MOST_UNITS)
    listed = task_texts(made_listing(kind, units_per_hit=units, config=config), title)
    stage = create_stage(
        project=project,
        slug="judging",
        title=title,
        kind=kind.name,
        endpoint=endpoint,
        redundancy=judges,
        units_per_hit=units,
        reward_cents=0,
        config=config.model_dump(mode="json"),
        actor=owner,
        **{f"task_{name}": text for name, text in listed.model_dump().items()},
    )
    plan = LinkPlan(title=title, target=f"stage:{stage.slug}")
    link = make_link(owner=project_owner(project), plan=plan, actor=owner)
    read_as = {"questions": questions["read_as"], "answers": answers["read_as"]}
    return StudyDraft(project, stage, link, read_as)


def _free_slug(title: str) -> str:
    """A short name made of the title, with a number where another project has it."""
    base = slugify(title)[:_LONGEST_SLUG].strip("-") or "study"
    taken = set(Project.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    numbered = (f"{base}-{number}" for number in range(2, len(taken) + 3))
    return next(slug for slug in (base, *numbered) if slug not in taken)
