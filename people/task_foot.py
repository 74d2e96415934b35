"""The foot of a task page that a study link led to: how far one is, one's own work, stopping, leaving."""

from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import urlencode, urlsplit

from django.urls import Resolver404, resolve, reverse
from django.utils.translation import gettext, ngettext

from people.models import Visit
from people.owners import target_of
from people.tokens import read_visit


class Way(NamedTuple):
    """A link of the foot. `apart` opens it beside the task, whose page may keep nothing of what was typed."""

    title: str
    address: str
    apart: bool = False


@dataclass(frozen=True, slots=True)
class TaskFoot:
    """How far the person is, and where they can go from here; `label` names it for screen readers."""

    label: str
    progress: str
    ways: tuple[Way, ...]


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
    return foot_of_visit(visit, match.kwargs["token"], signed) if visit else None


def foot_of_visit(visit: Visit, token: str, signed: str, *, host: str = "", apart: bool = False) -> TaskFoot:
    """The foot of the visit's tasks; `signed` is how the pages of the link know the visit."""
    assert visit.guest is not None
    worker_id = visit.guest.worker_id
    done = target_of(visit.link).finished(visit.link, [worker_id]).get(worker_id, 0)

    def address(page: str) -> str:
        return f"{host}{reverse(f'join:{page}', args=[token])}?{urlencode({'v': signed})}"

    most, work = visit.link.most_tasks, address("work")
    return TaskFoot(
        label=gettext("Your part in this study"),
        progress=ngettext("%(done)s of %(most)s task done", "%(done)s of %(most)s tasks done", most)
        % {"done": done, "most": most}
        if most
        else ngettext("%(done)s task done", "%(done)s tasks done", done) % {"done": done},
        ways=(
            Way(gettext("Your work here"), work, apart),
            Way(gettext("Stop for now"), address("stop")),
            Way(gettext("Withdraw"), f"{work}#withdraw", apart),
        ),
    )
