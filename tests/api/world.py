"""A project with a row of every kind, for tests that try every operation of the schema."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User

from core.jobs.models import Job
from core.projects.models import Project
from tests.access.world import Place, make_people, make_place
from web.api.schema import build_schema


@dataclass(frozen=True)
class Operation:
    """One operation of the schema."""

    method: str
    path: str
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

    def address(self, values: dict[str, Any]) -> str:
        """Where it is, below /api/v1, with these values."""
        path = self.path.removeprefix("/api/v1")
        return re.sub(r"{(\w+)}", lambda part: str(values[part[1]]), path)


def operations() -> Iterator[Operation]:
    """Every operation of the schema."""
    for path, methods in build_schema()["paths"].items():
        for method, facts in methods.items():
            yield Operation(method.upper(), path, facts)


@dataclass
class ApiWorld:
    """People, and what parts of addresses are in the project `mine`, and in the neighbour's."""

    people: dict[str, User]
    mine: Place
    theirs: Place
    values: dict[str, Any]


def make_api_world() -> ApiWorld:
    """Two projects; a new part of an address gets its value here."""
    people = make_people()
    members = {role: people[role] for role in ("manager", "viewer")}
    mine = make_place("mine", people["owner"], members, first=0)
    theirs = make_place("theirs", people["neighbour"], {}, first=50)
    return ApiWorld(people, mine, theirs, values_of(mine))


def values_of(place: Place) -> dict[str, Any]:
    """Values of all parts of addresses in a project."""
    desk, people = place.rooms["desk"], place.rooms["people"]
    return {
        "project": place.project.slug,
        "stage": desk["stage"],
        "number": desk["number"],
        "assignment": desk["pk"],
        "operation": desk["operation"],
        "endpoint": desk["endpoint"],
        "username": "viewer",
        "link": people["pk"],
        "job": _job_of(place.project),
    }


def _job_of(project: Project) -> int:
    return Job.objects.create(kind="annotation.import", payload={"project": project.pk}).pk
