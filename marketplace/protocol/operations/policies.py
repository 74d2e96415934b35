"""What review policies found and did."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from marketplace.models import HIT, PolicyAction, PolicyResult
from marketplace.protocol import lookup, pages, render
from marketplace.protocol.calls import Call, Result, operation

_LEVELS = ("Assignment", "HIT")
#: A page goes through the figures and then through the actions; its token begins with where it stopped.
_RESULTS, _ACTIONS = "r", "a"
Row = TypeVar("Row", PolicyResult, PolicyAction)


@operation("ListReviewPolicyResultsForHIT", writes=False)
def list_review_policy_results_for_hit(call: Call) -> Result:
    """The policies of a HIT, and per level the figures and actions of their runs, the oldest first."""
    hit = lookup.hit(call)
    levels = call.get("PolicyLevels") or list(_LEVELS)
    results, actions, token = _page(call, hit, levels)
    answer: Result = {"HITId": hit.hit_id}
    for level, policy in zip(_LEVELS, (hit.assignment_review_policy, hit.hit_review_policy), strict=True):
        if policy is None or level not in levels:
            continue
        report: dict[str, list[dict[str, Any]]] = {}
        if call.get("RetrieveResults", True):
            report["ReviewResults"] = _of_level(results, level, render.review_result)
        if call.get("RetrieveActions", True):
            report["ReviewActions"] = _of_level(actions, level, render.review_action)
        answer[f"{level}ReviewPolicy"] = policy
        answer[f"{level}ReviewReport"] = report
    if token is not None:
        answer["NextToken"] = token
    return answer


def _of_level(
    rows: Sequence[Row], level: str, structure: Callable[[Row], dict[str, Any]]
) -> list[dict[str, Any]]:
    return [structure(row) for row in rows if row.level == level]


def _page(
    call: Call, hit: HIT, levels: list[str]
) -> tuple[list[PolicyResult], list[PolicyAction], str | None]:
    results: list[PolicyResult] = []
    actions: list[PolicyAction] = []
    left = call.get("MaxResults", pages.DEFAULT_SIZE)
    given = call.get("NextToken", "")
    token: str | None = None
    with_actions = call.get("RetrieveActions", True)
    if call.get("RetrieveResults", True) and not (with_actions and given.startswith(_ACTIONS)):
        asked = _asked(call, _RESULTS, left, given)
        rows = PolicyResult.objects.filter(hit=hit, level__in=levels)
        results, found = pages.page(asked, rows, by="at")
        token = None if found is None else _RESULTS + found
        left -= len(results)
        given = ""
    if with_actions and left:
        asked = _asked(call, _ACTIONS, left, given)
        acted = PolicyAction.objects.filter(hit=hit, level__in=levels)
        actions, found = pages.page(asked, acted, by="at")
        token = token if found is None else _ACTIONS + found
    return results, actions, token


def _asked(call: Call, part: str, size: int, token: str) -> Call:
    """The call as one about a part of the list, so that its tokens are good for this part only."""
    parameters = {**call.parameters, "MaxResults": size}
    parameters.pop("NextToken", None)
    if token:
        parameters["NextToken"] = token.removeprefix(part)
    return replace(call, operation=f"{call.operation}.{part}", parameters=parameters)
