"""Blocks and messages."""

from marketplace.errors import invalid_value
from marketplace.models import Block
from marketplace.protocol import lookup, pages, render
from marketplace.protocol.calls import Call, Result, operation
from marketplace.services import formerids, people

_MAX_NOTIFIED = 100


@operation("CreateWorkerBlock", writes=True)
def create_worker_block(call: Call) -> Result:
    """Keep a worker from accepting the caller's HITs."""
    if not call["Reason"].strip():
        raise invalid_value("Reason", "a block needs a reason; the worker does not see it.")
    if former_id := lookup.kept_former_id(call):
        formerids.keep_block(requester=call.requester, former_id=former_id, reason=call["Reason"])
        return {}
    people.block(requester=call.requester, worker=lookup.worker(call), reason=call["Reason"])
    return {}


@operation("DeleteWorkerBlock", writes=True)
def delete_worker_block(call: Call) -> Result:
    """Lift a block; succeeds where there is none."""
    if former_id := lookup.kept_former_id(call):
        formerids.forget_records(requester=call.requester, former_id=former_id, kind="block")
        return {}
    people.unblock(requester=call.requester, worker=lookup.worker(call))
    return {}


@operation("ListWorkerBlocks", writes=False)
def list_worker_blocks(call: Call) -> Result:
    """The caller's blocks, oldest first."""
    rows = Block.objects.select_related("worker").filter(requester=call.requester)
    found, token = pages.page(call, rows, by="created_at")
    return pages.result("WorkerBlocks", [render.worker_block(row) for row in found], token)


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
    failures = people.notify_workers(
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
