"""A project with a row of every kind, for tests that try every operation of the schema."""

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.contrib.auth.models import User

from core.jobs.models import Job
from core.origin import Owner
from crowd.models import Endpoint
from marketplace.accounts.people import create_requester
from marketplace.members import set_role
from people.links import LinkPlan, make_link
from tests.access.world import Place, make_people, make_place, make_webhook
from tests.batches import making
from tests.desk.conftest import make_stage
from tests.repository import ROOT
from web.api.owners import OWNER


@dataclass(frozen=True)
class Operation:
    """One operation of the schema."""

    method: str
    path: str
    #: As the schema has it: of what projects and requesters share, `/{owner_kind}/{owner}/…`.
    label: str
    facts: dict[str, Any]

    @property
    def name(self) -> str:
        """Its operationId."""
        return str(self.facts["operationId"])

    @property
    def scopes(self) -> list[str]:
        """What its token needs."""
        return list(self.facts["x-scopes"])

    @property
    def role(self) -> str:
        """What its person needs to be."""
        return str(self.facts["x-role"])

    @property
    def of_project(self) -> bool:
        """Whether its address names a project."""
        return "{project}" in self.path

    @property
    def of_requester(self) -> bool:
        """Whether its address names a requester."""
        return "{requester}" in self.path

    def address(self, place: Place) -> str:
        """Where it is in a project, below /api/v1."""
        return self.address_with(self.values(place))

    def address_with(self, values: dict[str, Any]) -> str:
        """Where it is with these values."""
        path = self.path.removeprefix("/api/v1")
        return re.sub(r"{(\w+)}", lambda part: str(values[part[1]]), path)

    def values(self, place: Place) -> dict[str, Any]:
        """Values of the parts of its address in a project."""
        values = values_of(place)
        for beginning, own in OWN_VALUES:
            if re.search(beginning, self.path):
                values |= own(place)
        return {part: values[part] for part in re.findall(r"{(\w+)}", self.path)}


@cache
def published_schema() -> Any:
    """The schema as docs/openapi.json has it, which test_schema.py compares with the one that is built.

    Building takes seconds, reading none.
    """
    return json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))


def operations() -> Iterator[Operation]:
    """Every operation of the schema; one of both kinds of owners once for each."""
    for path, methods in published_schema()["paths"].items():
        for method, facts in methods.items():
            if OWNER not in path:
                yield Operation(method.upper(), path, path, facts)
                continue
            for own in ("/projects/{project}", "/requesters/{requester}"):
                yield Operation(method.upper(), path.replace(OWNER, own), path, facts)


@dataclass
class ApiWorld:
    """People, and two projects, of which the second is the neighbour's."""

    people: dict[str, User]
    mine: Place
    theirs: Place


def make_api_world() -> ApiWorld:
    """Two projects with a row of every kind each."""
    people = make_people()
    members = {role: people[role] for role in ("manager", "viewer")}
    mine = make_place("mine", people["owner"], members, first=0)
    theirs = make_place("theirs", people["neighbour"], {}, first=50)
    for place, name in ((mine, "owner"), (theirs, "neighbour")):
        _add_requester(place, people[name], drafts=1 if name == "owner" else 2)
        _add_curation(place)
        job = Job.objects.create(kind="annotation.import", payload={"project": place.project.pk})
        place.own["api:job"] = {"job": job.pk}
    return ApiWorld(people, mine, theirs)


def _add_requester(place: Place, owner: User, *, drafts: int) -> None:
    """A requester of this person, with a webhook, a study link, and so many drafts of batches."""
    lab, _ = create_requester(name=f"Lab of {owner}", fee_profile="none-1", owner=owner)
    place.own["requester"] = {"requester": lab.customer_id}
    ours = Owner(Owner.Kind.REQUESTER, lab.pk)
    link = make_link(owner=ours, plan=LinkPlan(title="Tea", target="requester:all"), actor=None)
    place.own["requester:study_link"] = {"pk": link.pk}
    place.own.update(make_webhook("requester", ours))
    batches = [making.draft(lab) for _ in range(drafts)]
    place.own["requester:batch"] = {"batch": batches[-1].number}
    colleague = User.objects.create_user(f"colleague-of-{owner}")
    set_role(requester=lab, user=colleague, role="viewer")
    place.own["requester:member"] = {"username": colleague.username}


def _add_curation(place: Place) -> None:
    """A stage in which editors choose passages."""
    endpoint = Endpoint.objects.get(name=place.rooms["desk"]["endpoint"])
    slug = f"curation-{place.project.slug}"
    stage = make_stage(place.project, endpoint, slug=slug, kind="curation", config={})
    place.own["annotation:curation"] = {"stage": stage.slug}


def values_of(place: Place) -> dict[str, Any]:
    """Values of parts that mean the same in most addresses. A new part gets its value here."""
    desk = place.rooms["desk"]
    return {
        "project": place.project.slug,
        "stage": desk["stage"],
        "number": desk["number"],
        "assignment": desk["pk"],
        "operation": desk["operation"],
        "endpoint": desk["endpoint"],
        "username": "viewer",
        "link": place.rooms["people"]["pk"],
        "submission": place.own["desk:ask_return"]["pk"],
        "scores": place.own["evaluations:keep"]["pk"],
        "worker": place.own["desk:worker"]["pk"],
        "job": place.own["api:job"]["job"],
        "corpus": place.rooms["annotation"]["corpus"],
        "version": place.rooms["releases"]["version"],
        "path": "README.md",
        "name": "report.json",
        "requester": place.own["requester"]["requester"],
        "webhook": place.own["desk:webhook"]["pk"],
        "message": place.own["desk:webhook_message"]["message"],
    }


Own = Callable[[Place], dict[str, Any]]
#: Values of parts that mean something else below an address: the beginning as a pattern, and what is there.
OWN_VALUES: tuple[tuple[str, Own], ...] = (
    (r"/candidates/", lambda place: {"number": place.own["judgments:candidate"]["pk"]}),
    (r"/adjudication/", lambda place: {"number": place.rooms["annotation"]["query"]}),
    (r"/stages/{stage}/votes", lambda place: {"stage": place.own["annotation:agreement"]["stage"]}),
    (r"/stages/{stage}/selections", lambda place: {"stage": place.own["annotation:curation"]["stage"]}),
    (r"/queries/", lambda place: {"number": place.rooms["annotation"]["pk"]}),
    (r"/query-imports/", lambda place: {"number": place.own["annotation:source"]["pk"]}),
    (r"/evaluations/", lambda place: {"number": place.rooms["evaluations"]["number"]}),
    (
        r"/requesters/",
        lambda place: {
            "webhook": place.own["requester:webhook"]["pk"],
            "message": place.own["requester:webhook_message"]["message"],
            "link": place.own["requester:study_link"]["pk"],
            "batch": place.own["requester:batch"]["batch"],
            "username": place.own["requester:member"]["username"],
        },
    ),
    (r"/stages/{stage}/answers", lambda place: {"stage": place.rooms["annotation"]["stage"]}),
    (
        r"/stages/{stage}/(results|responses)",
        lambda place: {"stage": place.own["judgments:results"]["stage"]},
    ),
    (
        r"/stages/{stage}/(agreement|filters|judgments|scores)",
        lambda place: {
            "stage": place.rooms["judgments"]["stage"],
            "number": place.own["judgments:undo_filter"]["pk"],
        },
    ),
)
