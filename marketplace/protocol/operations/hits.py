"""HIT types and HITs: creating, reading, extending, expiring, deleting."""

from core.money import cents
from marketplace import ids
from marketplace.batches import layouts
from marketplace.eligibility import normalise
from marketplace.errors import invalid_value
from marketplace.models import HIT, HITType
from marketplace.protocol import idempotency, lookup, pages, render
from marketplace.protocol.calls import Call, Result, operation
from marketplace.protocol.errors import validation_error
from marketplace.selectors import reviewable, to_dispose
from marketplace.services import hits
from marketplace.services.hits import TypeProperties
from marketplace.services.holds import LONGEST_LIFE
from marketplace.sweep import settle

_YEAR = 31_536_000
_MONTH = 2_592_000


@operation("CreateHITType", writes=True)
def create_hit_type(call: Call) -> Result:
    """The type with these properties; the same properties give the same id."""
    return {"HITTypeId": _type_of(call).type_id}


@operation("CreateHIT", writes=True)
def create_hit(call: Call) -> Result:
    """A HIT together with its type."""
    hit_id = _claim_hit_id(call)
    return _create(call, hit_id, _type_of(call))


@operation("CreateHITWithHITType", writes=True)
def create_hit_with_hit_type(call: Call) -> Result:
    """A HIT of a type that exists."""
    hit_id = _claim_hit_id(call)
    return _create(call, hit_id, lookup.hit_type(call))


def _claim_hit_id(call: Call) -> str:
    _check_hit(call)
    hit_id = ids.new_entity_id()
    idempotency.claim(call, duplicate=idempotency.hit_exists, result=hit_id)
    return hit_id


def _create(call: Call, hit_id: str, hit_type: HITType) -> Result:
    question, layout_id = call.get("Question"), call.get("HITLayoutId", "")
    if question is None:
        layout = layouts.layout_named(call.requester, layout_id)
        question = layouts.question_of(layout, call.get("HITLayoutParameters", ()))
    row = hits.create_hit(
        hit_id=hit_id,
        hit_type=hit_type,
        question=question,
        layout_id=layout_id,
        max_assignments=call.get("MaxAssignments", 1),
        lifetime_s=call["LifetimeInSeconds"],
        annotation=call.get("RequesterAnnotation", ""),
        assignment_review_policy=call.get("AssignmentReviewPolicy"),
        hit_review_policy=call.get("HITReviewPolicy"),
        now=call.now,
    )
    return {"HIT": render.hit(row, call.now)}


def _type_of(call: Call) -> HITType:
    _check_length(call, "Title", 128, least=1)
    _check_length(call, "Description", 2000, least=1)
    _check_length(call, "Keywords", 1000)
    _check_range(call, "AssignmentDurationInSeconds", 30, _YEAR)
    _check_range(call, "AutoApprovalDelayInSeconds", 0, _MONTH)
    reward_cents = cents(call["Reward"])
    if reward_cents > 100_000_00:
        raise invalid_value("Reward", "it is above 100000.00.")
    return hits.create_hit_type(
        requester=call.requester,
        properties=TypeProperties(
            title=call["Title"],
            description=call["Description"],
            keywords=call.get("Keywords", ""),
            reward_cents=reward_cents,
            duration_s=call["AssignmentDurationInSeconds"],
            auto_approval_s=call.get("AutoApprovalDelayInSeconds", _MONTH),
            requirements=normalise(call.get("QualificationRequirements", [])),
        ),
        now=call.now,
    )


def _check_hit(call: Call) -> None:
    _check_range(call, "LifetimeInSeconds", 30, _YEAR)
    _check_range(call, "MaxAssignments", 1, 1_000_000_000)
    _check_length(call, "RequesterAnnotation", 255)
    if ("Question" in call.parameters) == ("HITLayoutId" in call.parameters):
        raise invalid_value("Question", "give exactly one of Question and HITLayoutId.")
    if "HITLayoutParameters" in call.parameters and "HITLayoutId" not in call.parameters:
        raise invalid_value("HITLayoutParameters", "they go with a HITLayoutId; a Question has none.")


def _check_length(call: Call, name: str, most: int, least: int = 0) -> None:
    value = call.get(name, "x" * least)
    if not least <= len(value) <= most or (least and not value.strip()):
        raise invalid_value(name, f"it must have between {least} and {most} characters, not {len(value)}.")


def _check_range(call: Call, name: str, least: int, most: int) -> None:
    value = call.get(name, least)
    if not least <= value <= most:
        raise invalid_value(name, f"{value} is not between {least} and {most}.")


@operation("GetHIT", writes=False)
def get_hit(call: Call) -> Result:
    """One HIT."""
    return {"HIT": render.hit(lookup.hit(call), call.now)}


@operation("ListHITs", writes=False)
def list_hits(call: Call) -> Result:
    """All HITs that are not deleted, newest first."""
    rows = (
        HIT.objects.select_related("hit_type")
        .filter(requester=call.requester, disposed_at=None)
        .exclude(to_dispose(call.now))
    )
    return _page_of_hits(call, *pages.page(call, rows, by="created_at", newest_first=True))


@operation("ListReviewableHITs", writes=False)
def list_reviewable_hits(call: Call) -> Result:
    """HITs whose work is all in, newest first; by default those not yet marked as Reviewing."""
    settle(requester=call.requester, now=call.now)
    rows = (
        HIT.objects.select_related("hit_type")
        .filter(
            reviewable(call.now),
            requester=call.requester,
            reviewing=call.get("Status") == "Reviewing",
        )
        .exclude(to_dispose(call.now))
    )
    if "HITTypeId" in call.parameters:
        rows = rows.filter(hit_type=lookup.hit_type(call))
    all_in, ended = rows.filter(open_places=0), rows.filter(open_places__gt=0, expires_at__lte=call.now)
    return _page_of_hits(call, *pages.page(call, all_in, ended, by="created_at", newest_first=True))


def _page_of_hits(call: Call, rows: list[HIT], token: str | None) -> Result:
    settle(hits=rows, now=call.now)
    return pages.result("HITs", [render.hit(row, call.now) for row in rows], token)


@operation("UpdateExpirationForHIT", writes=True)
def update_expiration_for_hit(call: Call) -> Result:
    """Expire a HIT now, or make its life longer; repeating an extension is refused as on MTurk."""
    row, expires_at = lookup.hit(call), call["ExpireAt"]
    if expires_at > call.now + LONGEST_LIFE:
        raise validation_error(
            f"Value '{expires_at:%Y-%m-%dT%H:%M:%SZ}' at 'expireAt' failed to satisfy constraint: "
            f"Member must be no later than {_YEAR} seconds from now"
        )
    if expires_at > call.now:
        token = f"{row.hit_id}{expires_at:%Y-%m-%dT%H:%M:%SZ}"
        idempotency.claim(call, duplicate=idempotency.already_processed, token=token)
    hits.set_expiration(hit=row, expires_at=expires_at, now=call.now)
    return {}


@operation("CreateAdditionalAssignmentsForHIT", writes=True)
def create_additional_assignments_for_hit(call: Call) -> Result:
    """More places for a HIT."""
    _check_range(call, "NumberOfAdditionalAssignments", 1, 1_000_000_000)
    row = lookup.hit(call)
    idempotency.claim(call, duplicate=idempotency.already_processed)
    hits.add_places(hit=row, places=call["NumberOfAdditionalAssignments"], now=call.now)
    return {}


@operation("UpdateHITReviewStatus", writes=True)
def update_hit_review_status(call: Call) -> Result:
    """Reviewable to Reviewing, or back with Revert."""
    hits.set_reviewing(hit=lookup.hit(call), reviewing=not call.get("Revert", False), now=call.now)
    return {}


@operation("UpdateHITTypeOfHIT", writes=True)
def update_hit_type_of_hit(call: Call) -> Result:
    """Give a HIT the properties of another type."""
    hits.change_type(hit=lookup.hit(call), hit_type=lookup.hit_type(call), now=call.now)
    return {}


@operation("DeleteHIT", writes=True)
def delete_hit(call: Call) -> Result:
    """Dispose of a HIT whose work is all decided."""
    hits.dispose(hit=lookup.hit(call), now=call.now)
    return {}
