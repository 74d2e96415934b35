"""The foot of a task page that a study link led to: how far one is, one's own work, stopping, leaving."""

from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from django.urls import Resolver404, resolve, reverse

from people.models import Visit
from people.owners import target_of
from people.tokens import read_visit


@dataclass(frozen=True, slots=True)
class TaskFoot:
    """Tasks that are done, of how many (0: as many as there are), and addresses of the pages for the rest."""

    done: int
    most: int
    work: str
    stop: str


def foot_of(back: str) -> TaskFoot | None:
    """The foot for a person whose task leads back to this address; None where no study link led to it."""
    try:
        match = resolve(urlsplit(back).path)
    except Resolver404:
        return None
    signed = match.kwargs.get("signed", "")
    state = read_visit(signed) if match.view_name == "join:handed_over" else None
    rows = Visit.objects.select_related("link__project", "guest")
    visit = rows.filter(pk=state.visit, guest__isnull=False).first() if state else None
    if visit is None or visit.guest is None:
        return None
    worker_id = visit.guest.worker_id
    done = target_of(visit.link).finished(visit.link, [worker_id]).get(worker_id, 0)

    def address(page: str) -> str:
        return f"{reverse(f'join:{page}', args=[match.kwargs['token']])}?{urlencode({'v': signed})}"

    return TaskFoot(done, visit.link.most_tasks, address("work"), address("stop"))
