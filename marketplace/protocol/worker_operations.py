"""Operations on workers: qualifications and the requests for them, blocks, messages."""

from django.db.models import Q

from marketplace import inbox
from marketplace.accounts import people
from marketplace.errors import invalid_value
from marketplace.lifecycle.expiry import settle
from marketplace.lifecycle.selectors import to_dispose
from marketplace.models import HIT, Block, QualificationGrant, QualificationRequest, QualificationType
from marketplace.protocol import lookup, render
from marketplace.protocol.calls import Call, Result, operation
from marketplace.protocol.errors import validation_error
from marketplace.protocol.lookup import system_types
from marketplace.qualifications import grants
from marketplace.qualifications.eligibility import asking_for
from marketplace.qualifications.grants import QualificationTest

# Workers' requests for qualifications: those that wait for the requester, and what becomes of them.


@operation("ListQualificationRequests", writes=False)
def list_qualification_requests(call: Call) -> Result:
    """Requests that wait for the caller's decision, of one type or of all, the oldest first."""
    rows = QualificationRequest.objects.select_related("qualification_type", "worker").filter(
        state=QualificationRequest.State.PENDING
    )
    if "QualificationTypeId" in call.parameters:
        rows = rows.filter(qualification_type=lookup.qualification_type(call))
    else:
        rows = rows.filter(qualification_type__requester=call.requester)
    requests, token = render.load_page(call, rows, by="submitted_at")
    return render.render_page(
        "QualificationRequests", [render.qualification_request(row) for row in requests], token
    )


@operation("AcceptQualificationRequest", writes=True)
def accept_qualification_request(call: Call) -> Result:
    """Grant what was asked for, with a value."""
    grants.accept(request=lookup.qualification_request(call), value=call.get("IntegerValue", 1))
    return {}


@operation("RejectQualificationRequest", writes=True)
def reject_qualification_request(call: Call) -> Result:
    """Refuse it; the worker reads the reason."""
    reason = call.get("Reason", "")
    if len(reason) > 1024:
        raise invalid_value("Reason", "it has at most 1024 characters.")
    grants.reject(request=lookup.qualification_request(call), reason=reason)
    return {}


# Custom qualifications: types and grants.

#: Words of a query that are looked for; more would only narrow it further.
_MAX_WORDS = 8
#: Characters of a query; databases take no pattern of any length.
_MAX_QUERY = 256

#: A delay of a hundred years; with any more, times would leave the calendar.
_MAX_DELAY_S = 100 * 31_536_000
_FIELDS = {
    "Description": "description",
    "QualificationTypeStatus": "status",
    "AutoGranted": "auto_granted",
    "AutoGrantedValue": "auto_granted_value",
    "RetryDelayInSeconds": "retry_delay_s",
}


@operation("CreateQualificationType", writes=True)
def create_qualification_type(call: Call) -> Result:
    """A qualification of the caller's own; the name is unique among theirs."""
    _check(call)
    grants.finish_disposals(call.now, requester=call.requester)
    row = grants.create_qualification_type(
        requester=call.requester,
        name=call["Name"],
        description=call["Description"],
        keywords=call.get("Keywords", ""),
        status=call["QualificationTypeStatus"],
        auto_granted=call.get("AutoGranted", False),
        auto_granted_value=call.get("AutoGrantedValue", 1),
        retry_delay_s=call.get("RetryDelayInSeconds"),
        now=call.now,
        test=_test(call, needing_test=("AnswerKey",)),
    )
    return {"QualificationType": render.qualification_type(row, call.requester)}


@operation("UpdateQualificationType", writes=True)
def update_qualification_type(call: Call) -> Result:
    """Change what may change; name and keywords may not. A new test comes whole: what it omits is gone."""
    _check(call)
    row = grants.update_qualification_type(
        qualification_type=lookup.qualification_type(call),
        changes={field: call[name] for name, field in _FIELDS.items() if name in call.parameters},
        test=_test(call),
    )
    return {"QualificationType": render.qualification_type(row, call.requester)}


def _test(
    call: Call, *, needing_test: tuple[str, ...] = ("AnswerKey", "TestDurationInSeconds")
) -> QualificationTest | None:
    """The test of a call; without one, the parameters `needing_test` are refused.

    A new type may name a duration for a test that it does not have: MTurk accepted it, and scripts send it.
    """
    if "Test" not in call.parameters:
        for name in needing_test:
            if name in call.parameters:
                raise invalid_value(name, "it goes with a Test; send the Test again to change it.")
        return None
    if "TestDurationInSeconds" not in call.parameters:
        raise invalid_value("TestDurationInSeconds", "a Test needs it.")
    return QualificationTest(
        questions=call["Test"],
        answer_key=call.get("AnswerKey", ""),
        duration_s=call["TestDurationInSeconds"],
    )


def _check(call: Call) -> None:
    for name, most in (("Name", 200), ("Description", 2000), ("Keywords", 1000)):
        value = call.get(name)
        if value is not None and (len(value) > most or (name != "Keywords" and not value.strip())):
            raise invalid_value(name, f"it must have between 1 and {most} characters.")
    if not 0 <= call.get("RetryDelayInSeconds", 0) <= _MAX_DELAY_S:
        raise invalid_value("RetryDelayInSeconds", f"it is between 0 and {_MAX_DELAY_S}.")
    if "AutoGrantedValue" in call.parameters and not call.get("AutoGranted", True):
        raise invalid_value("AutoGrantedValue", "it goes with AutoGranted only.")


@operation("GetQualificationType", writes=False)
def get_qualification_type(call: Call) -> Result:
    """A qualification type; of other people's the test and its key are left out."""
    grants.finish_disposals(call.now, requester=call.requester)
    row = lookup.any_qualification_type(call)
    return {"QualificationType": render.qualification_type(row, call.requester)}


@operation("ListQualificationTypes", writes=False)
def list_qualification_types(call: Call) -> Result:
    """The system's types and the custom ones, oldest first: the caller's, and active ones of others."""
    grants.finish_disposals(call.now, requester=call.requester)
    own_only = call.get("MustBeOwnedByCaller", False)
    with_system = not own_only and not call["MustBeRequestable"]
    query = call.get("Query", "")
    if len(query) > _MAX_QUERY:
        raise validation_error(
            f"Value '{query[:40]}…' at 'query' failed to satisfy constraint: "
            f"Member must have length less than or equal to {_MAX_QUERY}"
        )
    search_terms = query.split()[:_MAX_WORDS]
    rows = QualificationType.objects.filter(deleted_at=None)
    own = Q(requester=call.requester)
    rows = rows.filter(own if own_only else own | Q(status=QualificationType.Status.ACTIVE))
    for word in search_terms:
        rows = rows.filter(
            Q(name__icontains=word) | Q(description__icontains=word) | Q(keywords__icontains=word)
        )
    system = [row for row in system_types() if _has_all(row, search_terms)] if with_system else []
    types, token = render.load_page(call, rows, by="created_at", before=system)
    return render.render_page(
        "QualificationTypes", [render.qualification_type(row, call.requester) for row in types], token
    )


def _has_all(row: QualificationType, search_terms: list[str]) -> bool:
    text = f"{row.name} {row.description}".casefold()
    return all(word.casefold() in text for word in search_terms)


@operation("ListHITsForQualificationType", writes=False)
def list_hits_for_qualification_type(call: Call) -> Result:
    """The caller's HITs that ask for a qualification, newest first, whatever their status."""
    settle(now=call.now)
    kind = lookup.any_qualification_type(call)
    rows = (
        HIT.objects.select_related("hit_type")
        .filter(asking_for(kind.qualification_type_id, requester=call.requester), disposed_at=None)
        .exclude(to_dispose(call.now))
    )
    hits, token = render.load_page(call, rows, by="created_at", newest_first=True)
    return render.render_page("HITs", [render.hit(row, call.now) for row in hits], token)


@operation("DeleteQualificationType", writes=True)
def delete_qualification_type(call: Call) -> Result:
    """Delete a type; while HITs ask for it, it is Disposing."""
    grants.delete_qualification_type(qualification_type=lookup.qualification_type(call), now=call.now)
    return {}


@operation("AssociateQualificationWithWorker", writes=True)
def associate_qualification_with_worker(call: Call) -> Result:
    """Grant a qualification, or change its value."""
    grants.grant(
        qualification_type=lookup.qualification_type(call),
        worker=lookup.worker(call),
        value=call.get("IntegerValue", 1),
        notify=call.get("SendNotification", True),
    )
    return {}


@operation("DisassociateQualificationFromWorker", writes=True)
def disassociate_qualification_from_worker(call: Call) -> Result:
    """Take a qualification back."""
    reason = call.get("Reason", "")
    if len(reason) > 1024:
        raise invalid_value("Reason", "it has at most 1024 characters.")
    grants.revoke(
        qualification_type=lookup.qualification_type(call), worker=lookup.worker(call), reason=reason
    )
    return {}


@operation("GetQualificationScore", writes=False)
def get_qualification_score(call: Call) -> Result:
    """The value a worker holds."""
    kind, worker = lookup.qualification_type(call), lookup.worker(call)
    row = (
        QualificationGrant.objects.select_related("worker")
        .filter(qualification_type=kind, worker=worker, status=QualificationGrant.Status.GRANTED)
        .first()
    )
    if row is None:
        raise grants.grant_error(kind, worker)
    return {"Qualification": render.qualification(row, kind.qualification_type_id)}


@operation("ListWorkersWithQualificationType", writes=False)
def list_workers_with_qualification_type(call: Call) -> Result:
    """Who holds (by default) or held a qualification, oldest grant first."""
    kind = lookup.qualification_type(call)
    rows = QualificationGrant.objects.select_related("worker").filter(
        qualification_type=kind, status=call.get("Status", QualificationGrant.Status.GRANTED)
    )
    grants, token = render.load_page(call, rows, by="granted_at")
    return render.render_page(
        "Qualifications", [render.qualification(row, kind.qualification_type_id) for row in grants], token
    )


# Blocks and messages.

#: Workers in one NotifyWorkers, as on MTurk.
_MAX_NOTIFIED = 100


@operation("CreateWorkerBlock", writes=True)
def create_worker_block(call: Call) -> Result:
    """Keep a worker from accepting the caller's HITs."""
    if not call["Reason"].strip():
        raise invalid_value("Reason", "a block needs a reason; the worker does not see it.")
    people.block(requester=call.requester, worker=lookup.worker(call), reason=call["Reason"])
    return {}


@operation("DeleteWorkerBlock", writes=True)
def delete_worker_block(call: Call) -> Result:
    """Lift a block; succeeds where there is none."""
    people.unblock(requester=call.requester, worker=lookup.worker(call))
    return {}


@operation("ListWorkerBlocks", writes=False)
def list_worker_blocks(call: Call) -> Result:
    """The caller's blocks, oldest first."""
    rows = Block.objects.select_related("worker").filter(requester=call.requester)
    blocks, token = render.load_page(call, rows, by="created_at")
    return render.render_page("WorkerBlocks", [render.worker_block(row) for row in blocks], token)


@operation("NotifyWorkers", writes=True)
def notify_workers(call: Call) -> Result:
    """A message into workers' inboxes."""
    if not 1 <= len(call["WorkerIds"]) <= _MAX_NOTIFIED:
        raise invalid_value(
            "WorkerIds", f"between 1 and {_MAX_NOTIFIED} workers can be notified in one call."
        )
    for name, most in (("Subject", 200), ("MessageText", 4096)):
        if not 1 <= len(call[name]) <= most:
            raise invalid_value(name, f"it must have between 1 and {most} characters.")
    failures = inbox.notify_workers(
        requester=call.requester,
        worker_ids=call["WorkerIds"],
        subject=call["Subject"],
        body=call["MessageText"],
    )
    return {
        "NotifyWorkersFailureStatuses": [
            {
                "NotifyWorkersFailureCode": "HardFailure",
                "NotifyWorkersFailureMessage": reason,
                "WorkerId": worker_id,
            }
            for worker_id, reason in failures.items()
        ]
    }
