"""Messages of requesters in the inboxes of workers."""

from collections.abc import Sequence

from core.extensions import parts_of
from marketplace import clock, models
from marketplace.parts import WorkerNames


def notify_workers(
    *, requester: models.Requester, worker_ids: Sequence[str], subject: str, body: str
) -> dict[str, str]:
    """Put a message into workers' inboxes; the reasons for those who cannot get it, by worker id.

    As on MTurk, only people who did work for the requester can be written to.
    """
    workers = models.Worker.objects.in_bulk(list(set(worker_ids)), field_name="worker_id")
    reasons: dict[str, str] = {}
    for names in parts_of(WorkerNames):
        workers |= names.find(set(worker_ids) - workers.keys())
        reasons |= names.explain(requester, set(worker_ids) - workers.keys())
    acquainted = set(
        models.Holding.objects.filter(
            worker__in=workers.values(), requester=requester, state__in=models.Holding.ANSWERED
        ).values_list("worker_id", flat=True)
    ) | set(requester.qualification_types.values_list("grants__worker_id", flat=True))
    failures: dict[str, str] = {}
    now = clock.now()
    messages = []
    for worker_id in dict.fromkeys(worker_ids):
        worker = workers.get(worker_id)
        if worker is None:
            failures[worker_id] = reasons.get(worker_id, "There is no worker with this id.")
        elif worker.closed_at:
            failures[worker_id] = "This worker has closed the account."
        elif worker.guest_of_id is not None and worker.user_id is None:
            failures[worker_id] = "This person came by a study link, has no account, and so no inbox."
        elif worker.pk not in acquainted:
            failures[worker_id] = (
                "This worker has not submitted work to you, nor holds a qualification of yours."
            )
        else:
            messages.append(
                models.Message(worker=worker, requester=requester, subject=subject, body=body, sent_at=now)
            )
    models.Message.objects.bulk_create(messages)
    return failures
