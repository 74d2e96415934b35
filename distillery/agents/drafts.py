"""A table of systems' answers becomes a draft of a study, in a project of its own."""

from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction
from django.utils.text import slugify

from core.errors import ActionError
from core.projects.models import Project
from crowd.models import Endpoint
from crowd.rights import usable_endpoints
from crowd.study.explain import StudyError
from distillery.studies.preparation import MadeStudy, StudyPlan, give_link, make_draft
from distillery.studies.presets import presets_of
from distillery.studies.tables import StudyTable, read_study_table

_LONGEST_SLUG = 40


def make_study_from_file(
    *, owner: User, path: Path, title: str, preset: str, judges: int
) -> tuple[MadeStudy, StudyTable]:
    """Make all of it or nothing; nothing is open, and nothing is paid to those who come by the link.

    ActionError, FileRefusedError or ImportRefusedError says in words what cannot be.
    """
    presets = presets_of("judging")
    if preset not in presets:
        raise ActionError(f"There is no preset {preset[:40]!r}; there are {', '.join(presets)}.")
    if not usable_endpoints([]).filter(protocol=Endpoint.Protocol.LINK).exists():
        raise ActionError(
            "You may use no study links yet. An administrator adds them with `manage.py crowd endpoint add "
            "links --preset link`, and lets you with `manage.py crowd endpoint allow links --user NAME`."
        )
    table, plan = read_study_table(path), StudyPlan(presets[preset], title, judges)
    if missing := sorted(plan.preset.needs - table.roles):
        raise ActionError(f"{path.name}: no column holds {' and '.join(missing)}.")
    try:
        with transaction.atomic():
            study = make_draft(table, plan, slug=_free_slug(title), owner=owner)
            give_link(study, plan, owner=owner)
    except StudyError as error:
        raise ActionError("; ".join(problem.what for problem in error.problems)) from error
    return study, table


def _free_slug(title: str) -> str:
    """A short name made of the title, with a number where another project has it."""
    base = slugify(title)[:_LONGEST_SLUG].strip("-") or "study"
    slugs = set(Project.objects.filter(slug__startswith=base).values_list("slug", flat=True))
    numbered = (f"{base}-{number}" for number in range(2, len(slugs) + 3))
    return next(slug for slug in (base, *numbered) if slug not in slugs)
