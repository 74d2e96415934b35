"""Operations on HITs: made, read and ended; the work and its payment."""

from django.db.models import Q

from core.money import cents, dollars
from marketplace import ids
from marketplace.batches import templates
from marketplace.errors import ParameterRefusal, Refusal, invalid_value
from marketplace.forms import uploads
from marketplace.lifecycle import hits, review
from marketplace.lifecycle.expiry import settle
from marketplace.lifecycle.hits import TypeProperties
from marketplace.lifecycle.holds import LONGEST_LIFE
from marketplace.lifecycle.review import wrong_assignment_state
from marketplace.lifecycle.selectors import reviewable, to_dispose
from marketplace.models import HIT, Bonus, HITType, Holding
from marketplace.protocol import lookup, render
from marketplace.protocol.calls import Call, Result, already_processed, claim_token, hit_exists, operation
from marketplace.protocol.errors import validation_error
from marketplace.qualifications.eligibility import normalise

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
    # The id is drawn before the HIT is there: a repeated call is told it from the row of its token.
    hit_id = ids.new_entity_id()
    claim_token(call, duplicate=hit_exists, result=hit_id)
    return hit_id


def _create(call: Call, hit_id: str, hit_type: HITType) -> Result:
    question, layout_id = call.get("Question"), call.get("HITLayoutId", "")
    if question is None:
        layout = templates.layout_named(call.requester, layout_id)
        question = templates.question_of(layout, call.get("HITLayoutParameters", ()))
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
    return _page_of_hits(call, *render.load_page(call, rows, by="created_at", newest_first=True))


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
    # Two parts, each with an index of its own (`hit_all_in`, `hit_end`).
    all_in, ended = rows.filter(open_places=0), rows.filter(open_places__gt=0, expires_at__lte=call.now)
    return _page_of_hits(call, *render.load_page(call, all_in, ended, by="created_at", newest_first=True))


def _page_of_hits(call: Call, rows: list[HIT], token: str | None) -> Result:
    settle(hits=rows, now=call.now)
    return render.render_page("HITs", [render.hit(row, call.now) for row in rows], token)


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
        # MTurk takes no token here and refuses the same extension twice all the same: HIT and time are it. A
        # HIT that ended elsewhere meanwhile, such as by ExpireAt=0, is moved to that time once more.
        token = f"{row.hit_id}{expires_at:%Y-%m-%dT%H:%M:%SZ}"
        if row.expires_at == expires_at:
            raise already_processed(token, "")
        claim_token(call, duplicate=already_processed, token=f"{token}/{row.expires_at:%Y-%m-%dT%H:%M:%SZ}")
    hits.set_expiration(hit=row, expires_at=expires_at, now=call.now)
    return {}


@operation("CreateAdditionalAssignmentsForHIT", writes=True)
def create_additional_assignments_for_hit(call: Call) -> Result:
    """More places for a HIT."""
    _check_range(call, "NumberOfAdditionalAssignments", 1, 1_000_000_000)
    row = lookup.hit(call)
    claim_token(call, duplicate=already_processed)
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


# Submitted work: reading, approving, rejecting; and paying bonuses for it.

_ASSIGNMENT_STATES = {
    "Submitted": Holding.State.SUBMITTED,
    "Approved": Holding.State.APPROVED,
    "Rejected": Holding.State.REJECTED,
}


@operation("GetFileUploadURL", writes=False)
def get_file_upload_url(call: Call) -> Result:
    """An address at which the file that answers a question is for a minute."""
    row = lookup.assignment(call)
    if row.state not in Holding.ANSWERED:
        raise Refusal(
            "InvalidAssignmentState",
            "This operation can be called with a status of: Reviewable,Approved,Rejected",
        )
    if row.hit.disposed_at:
        raise Refusal("HITDoesNotExist", "The HIT is disposed of, and its files with it.")
    file = uploads.files_of(row).get(call["QuestionIdentifier"])
    if file is None:
        raise ParameterRefusal("QuestionIdentifier", call["QuestionIdentifier"][:128])
    return {"FileUploadURL": uploads.lent_address(file, call.base_url)}


@operation("ListAssignmentsForHIT", writes=False)
def list_assignments_for_hit(call: Call) -> Result:
    """Submitted work of a HIT in the order of submission."""
    hit = lookup.hit(call)
    states = [_ASSIGNMENT_STATES[status] for status in call.get("AssignmentStatuses", ())] or list(
        Holding.ANSWERED
    )
    rows = Holding.objects.select_related("worker").filter(
        Q(visible_at=None) | Q(visible_at__lte=call.now), hit=hit, state__in=states
    )
    holdings, token = render.load_page(call, rows, by="submitted_at")
    return render.render_page("Assignments", [render.assignment(row, hit.hit_id) for row in holdings], token)


@operation("GetAssignment", writes=False)
def get_assignment(call: Call) -> Result:
    """One submitted assignment with its HIT."""
    row = lookup.assignment(call)
    row = Holding.objects.select_related("hit__hit_type", "worker").get(pk=row.pk)
    if row.state not in Holding.ANSWERED or (row.visible_at and row.visible_at > call.now):
        raise wrong_assignment_state("Reviewable,Approved,Rejected")
    return {
        "Assignment": render.assignment(row, row.hit.hit_id),
        "HIT": render.hit(row.hit, call.now),
    }


@operation("ApproveAssignment", writes=True)
def approve_assignment(call: Call) -> Result:
    """Approve and pay; with OverrideRejection also what was rejected."""
    feedback = call.get("RequesterFeedback")
    _check_feedback(feedback)
    review.approve(
        holding=lookup.assignment(call),
        feedback=feedback,
        override=call.get("OverrideRejection", False),
        now=call.now,
    )
    return {}


@operation("RejectAssignment", writes=True)
def reject_assignment(call: Call) -> Result:
    """Reject; nothing is paid. The reason must be given and may be empty: that is what old scripts send."""
    feedback = call["RequesterFeedback"]
    _check_feedback(feedback)
    review.reject(holding=lookup.assignment(call), feedback=feedback, now=call.now)
    return {}


def _check_feedback(feedback: str | None) -> None:
    if feedback and not review.is_feedback(feedback):
        raise invalid_value("RequesterFeedback", "it has at most 1024 characters and no control characters.")


@operation("SendBonus", writes=True)
def send_bonus(call: Call) -> Result:
    """Pay the worker who submitted an assignment something on top."""
    amount = cents(call["BonusAmount"])
    if not 1 <= amount <= 10_000_00:
        raise invalid_value("BonusAmount", "it must be between 0.01 and 10000.00.")
    if not call["Reason"].strip():
        raise invalid_value("Reason", "a bonus needs a reason that the worker can read.")
    claim_token(call, duplicate=already_processed)
    row = lookup.assignment(call)
    if row.state not in Holding.ANSWERED:
        raise lookup.no_assignment(call)
    worker = lookup.known_worker(call)
    worker_id = worker.worker_id if worker else call["WorkerId"]
    review.send_bonus(holding=row, worker_id=worker_id, cents=amount, reason=call["Reason"], now=call.now)
    return {}


@operation("ListBonusPayments", writes=False)
def list_bonus_payments(call: Call) -> Result:
    """Bonuses of a HIT or of an assignment, oldest first."""
    rows = Bonus.objects.select_related("worker").filter(requester=call.requester)
    if ("HITId" in call.parameters) == ("AssignmentId" in call.parameters):
        raise invalid_value("HITId", "give exactly one of HITId and AssignmentId.")
    if "HITId" in call.parameters:
        rows = rows.filter(hit=lookup.hit(call))
    else:
        lookup.assignment(call)
        rows = rows.filter(assignment_id=call["AssignmentId"])
    bonuses, token = render.load_page(call, rows, by="granted_at")
    return render.render_page("BonusPayments", [render.bonus(row) for row in bonuses], token)


@operation("GetAccountBalance", writes=False)
def get_account_balance(call: Call) -> Result:
    """What can be spent, and what is on hold for open and undecided work."""
    settle(requester=call.requester, now=call.now)
    call.requester.refresh_from_db(fields=["available_cents", "held_cents"])
    return {
        "AvailableBalance": dollars(call.requester.available_cents),
        "OnHoldBalance": dollars(call.requester.held_cents),
    }
