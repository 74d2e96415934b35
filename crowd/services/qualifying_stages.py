"""Stages whose work is a test: who passes it is put into a group that other stages can ask for.

A stage asks for it by the rule {kind = "passed", op = "Exists", values = ["the test's short name"]}. What the
marketplace is told is the group; those who are not in it do not even see the HITs.
"""

from collections.abc import Iterable
from typing import Any

from crowd.errors import CrowdError
from crowd.models import Group, MarketOperation, Stage, Worker
from crowd.services.groups import ensure_group, only, put_into

#: The kind of the rule.
PASSED = "passed"


def passed_group(stage: Stage) -> Group:
    """The group of those who passed a stage."""
    return ensure_group(
        endpoint=stage.endpoint,
        name=f"{stage.project.slug}/{stage.slug}: passed (#{stage.pk})",
        description="Workers who passed a test of this project and may do the work that asks for it.",
        stage=stage,
    )


def let_pass(stage: Stage, workers: Iterable[Worker]) -> int:
    """Put workers into the group of a stage, each once; how many are new to it."""
    group = passed_group(stage)
    known = _granted(group)
    new = [worker for worker in workers if worker.external_id not in known]
    for worker in new:
        put_into(group, worker)
    return len(new)


def _granted(group: Group) -> set[str]:
    granted = MarketOperation.objects.filter(
        kind=MarketOperation.Kind.GRANT, target=f"group:{group.pk}"
    ).values_list("purpose", flat=True)
    return {purpose.removeprefix("grant ") for purpose in granted}


def with_groups(stage: Stage) -> list[dict[str, Any]]:
    """The stage's rules as a marketplace understands them; CrowdError for a test that is not there."""
    return [_with_group(stage, rule) if rule["kind"] == PASSED else rule for rule in stage.eligibility]


def _with_group(stage: Stage, rule: dict[str, Any]) -> dict[str, Any]:
    slug = rule["values"][0]
    test = (
        Stage.objects.filter(project=stage.project_id, endpoint=stage.endpoint_id, slug=slug)
        .select_related("project", "endpoint")
        .first()
    )
    if test is None:
        raise CrowdError(
            f"Workers must have passed the stage {slug!r}, and this project has none of that name at "
            f"{stage.endpoint.label}."
        )
    return only(passed_group(test))
