"""People who come without an account: visitors of a study link, and participants of a simulated panel.

The panel answers on this machine, beside the server, for as long as a block runs.
"""

import contextlib
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

import urllib3
from django.conf import settings

from core.crypto import unseal
from core.extensions import name_package, parts_of
from crowd.kinds import Profile
from crowd.models import Endpoint, PanelStudy, Stage
from crowd.services.deals import ProjectTarget
from crowd.simulation.accounts import Browser, LostError, PageRefusedError, SimulationError, mark_simulated
from crowd.simulation.answers import SimulatedPerson
from crowd.simulation.people import Visitor
from crowd.simulation.simulators import PanelSimulator
from crowd.sources import stages_at
from people.links import address_of
from people.models import StudyLink, Visit
from people.owners import target_of
from people.tokens import SECRET, read_visit, sign_query
from people.visits import why_closed

#: Seconds for which the address of a simulated person holds, where the link wants signed ones.
_SIGNED_FOR_S = 3600
_CALL_SECONDS = 60


def open_link_to(stage: Stage) -> StudyLink | None:
    """The newest open study link by which people get tasks of the stage."""
    links = StudyLink.objects.select_related("project").filter(project=stage.project_id).order_by("-pk")
    return next((link for link in links if why_closed(link) is None and _leads_to(link, stage)), None)


def _leads_to(link: StudyLink, stage: Stage) -> bool:
    target = target_of(link)
    return isinstance(target, ProjectTarget) and any(each.pk == stage.pk for each in target.stages(link))


def endpoint_of_links(stage: Stage) -> Endpoint:
    """The endpoint at which people of study links meet the stage."""
    return next(
        source_stage.endpoint
        for source_stage in stages_at(stage)
        if source_stage.endpoint.protocol == Endpoint.Protocol.LINK
    )


def send_by_link(link: StudyLink, endpoint: Endpoint, visitor: Visitor, *, origin: str = "") -> int:
    """Somebody comes by a study link and does what there is for them: how many tasks that was.

    They are marked as simulated before their first task. `origin` is where the server answers, if that is not
    the address of the installation.
    """
    address = address_of(link)
    if link.id_required:
        pairs = [(link.id_parameters[0], f"simulated-{secrets.token_hex(6)}")]
        if link.secret_sealed:
            pairs.append(("exp", str(int(time.time()) + _SIGNED_FOR_S)))
            pairs.append(("sig", sign_query(unseal(link.secret_sealed, purpose=SECRET) or "", pairs)))
        address += f"?{urlencode(pairs)}"

    def mark(signed: str) -> None:
        state = read_visit(signed)
        visit = Visit.objects.select_related("guest").get(pk=state.visit) if state else None
        if visit is not None and visit.guest is not None:
            mark_simulated(endpoint, [visit.guest.worker_id])

    parts = urlsplit(address)
    tasks, _ = visitor.visit(f"{origin.rstrip('/')}{parts.path}?{parts.query}" if origin else address, mark)
    return tasks


def rehearse_link(
    link: StudyLink,
    stage: Stage,
    profiles: Sequence[Profile],
    *,
    seed: int,
    origin: str = "",
    progress: Callable[[int], None] = lambda _: None,
) -> dict[str, int]:
    """People come by a study link, one after the other: how many, their tasks, and how many got none.

    SimulationError says in a sentence why they cannot come. `progress` is told the people so far.
    """
    endpoint, tasks = endpoint_of_links(stage), []
    for number, profile in enumerate(profiles, 1):
        try:
            with closing(Browser()) as browser:
                visitor = Visitor(SimulatedPerson(number, profile, seed), browser)
                tasks.append(send_by_link(link, endpoint, visitor, origin=origin))
        except PageRefusedError as error:
            raise SimulationError(f"Person {number} could not go on: {error}") from error
        except LostError as error:
            raise SimulationError(
                f"{origin or settings.TASK_URL} does not answer ({error}). Start the server, or say "
                "where it is with --marketplace-url."
            ) from error
        progress(number)
    return {"people": len(tasks), "tasks": sum(tasks), "without_a_task": tasks.count(0)}


@dataclass(frozen=True)
class Panel:
    """A simulated Prolific: its address, and the token of its account."""

    site: str
    token: str = field(repr=False)

    @property
    def workspace(self) -> str:
        """The account's only workspace."""
        return str(self.call("GET", "/_control/state")["workspace_id"])

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """One call of its account or of its controls; RuntimeError where it is refused."""
        headers = {"Authorization": f"Token {self.token}"}
        answer = urllib3.request(
            method, f"{self.site}{path}", json=body, headers=headers, retries=False, timeout=_CALL_SECONDS
        )
        if answer.status >= 400:
            raise RuntimeError(f"The simulated panel answered {answer.status} to {path}: {answer.json()}")
        return dict(answer.json())

    def send_participant(self, study: PanelStudy, visitor: Visitor) -> None:
        """A new participant takes a place of the study, does all of it, and comes back with their code."""
        [person] = self.call("POST", "/_control/participants", {"n": 1})["ids"]
        place = {"study_id": study.external_id, "participant_id": person}
        arrival = self.call("POST", "/_control/arrive", place)
        mark_simulated(study.endpoint, [person])
        _, last_page = visitor.visit(arrival["url"])
        code = next((each for each in study.codes.values() if each in last_page), "")
        completion = {"submission_id": arrival["submission_id"], "code": code}
        self.call("POST", "/_control/complete", completion)


@contextlib.contextmanager
def running_panel(file: Path, *, balance: int) -> Iterator[Panel]:
    """A panel with a token of its own and the books that lie in the file, until the block ends.

    `balance` is what a new account has, in cents. SimulationError says what to install for it.
    """
    simulators = parts_of(PanelSimulator)
    if not simulators:
        raise SimulationError(name_package("panel-simulator"))
    token = secrets.token_hex(16)
    with simulators[0].serve(file, token, balance) as site:
        yield Panel(site, token)
