"""A stage on offer and people at its task page, as a marketplace would bring them."""

import hashlib
import hmac
import re
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from urllib.parse import urlencode

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from core.crypto import seal
from core.projects.services import create_project
from crowd.models import Assignment, Endpoint, Hit, HitUnit, Stage

MARKET = "https://market.example.org"
SUBMIT_TO = f"{MARKET}/s/17-signature"
SECRET = "the secret of the requester's key"


def make_stage(slug: str = "colours", *, endpoint: Endpoint | None = None, **values: Any) -> Stage:
    """An open poll about two items, at a marketplace that is not asked in these tests."""
    endpoint = endpoint or Endpoint.objects.create(
        name=f"market-of-{slug}",
        label="A marketplace",
        url=f"{MARKET}/mturk/api",
        access_key="AKEXAMPLE",
        secret_sealed=seal(SECRET, purpose="crowd.endpoint"),
        submit_origins=[MARKET],
        created_at=timezone.now(),
    )
    fields = {
        "title": "Colours",
        "kind": "poll",
        "config": {
            "question": "What colour is it?",
            "options": ["Red", "Blue"],
            "items": ["The sky", "A rose"],
            "checks": {"Choose red here": "Red"},
        },
        "status": Stage.Status.OPEN,
        "task_title": "Say what colour it is",
        "task_description": "Look at each thing.\n\nChoose the colour that it has.",
        "reward_cents": 10,
        "redundancy": 3,
    }
    project = values.pop("project", None) or create_project(slug=f"project-of-{slug}", title="P")
    endpoint.spenders.get_or_create(project=project, defaults={"created_at": timezone.now()})
    return Stage.objects.create(
        project=project,
        slug=slug,
        endpoint=endpoint,
        created_at=timezone.now(),
        **(fields | values),
    )


def make_hit(stage: Stage, *units: str, external_id: str = "3HIT", **values: Any) -> Hit:
    """A published HIT of these units; a unit named `check:…` is one."""
    hit = Hit.objects.create(
        stage=stage,
        ordinal=stage.hits.count(),
        places=3,
        reward_cents=10,
        fee_cents=2,
        external_id=external_id,
        **({"state": Hit.State.OPEN} | values),
    )
    for position, unit in enumerate(units or ("item:0", "item:1")):
        role = HitUnit.Role.CHECK if unit.startswith("check:") else HitUnit.Role.UNIT
        HitUnit.objects.create(hit=hit, unit=unit, role=role, position=position)
    return hit


@dataclass
class Visitor:
    """Somebody in a marketplace's frame: the address the marketplace made, and a browser without cookies.

    `signed`: the marketplace is one of ours, and signs who holds what.
    """

    hit: Hit
    worker: str = "AROSA"
    assignment: str = "3ASSIGNMENT"
    submit_to: str = SUBMIT_TO
    signed: bool = False
    client: Client = field(default_factory=lambda: Client(enforce_csrf_checks=True))

    @property
    def path(self) -> str:
        return f"/task/{self.hit.key}/"

    def open(self, **query: str) -> HttpResponse:
        """Open the page as the marketplace links it; `query` replaces parts of the address."""
        address = {
            "assignmentId": self.assignment,
            "hitId": self.hit.external_id,
            "turkSubmitTo": self.proof() if self.signed else self.submit_to,
            "workerId": self.worker,
        } | query
        return self.client.get(f"{self.path}?{urlencode(address)}")

    def proof(self) -> str:
        """The submit address with the marketplace's signature, made here again from its description."""
        words = ("distillery.arrival", self.assignment, self.worker, self.hit.external_id, "17-signature")
        signature = hmac.new(SECRET.encode(), "|".join(words).encode(), hashlib.sha256).hexdigest()[:32]
        return f"{self.submit_to}~{'0' * 32}.{signature}"

    def ticket(self) -> str:
        return field_of(self.open(), "ticket")

    def send(self, ticket: str | None = None, /, **fields: str) -> HttpResponse:
        """Post the form; fields are written `item_0="Red"`."""
        ticket = self.ticket() if ticket is None else ticket
        return self.client.post(self.path, {"ticket": ticket, **self.named(fields)})

    def save(self, ticket: str, fields: dict[str, Any], **telemetry: Any) -> HttpResponse:
        """Save a draft as the page's script does."""
        return self.client.post(
            f"{self.path}draft/",
            {"fields": fields, "telemetry": telemetry},
            content_type="application/json",
            headers={"Authorization": f"Ticket {ticket}"},
        )

    def named(self, fields: dict[str, str]) -> dict[str, str]:
        """The choices of units, written `item_0="Red"`, as the page names them: by the units' places."""
        places = dict(self.hit.units.values_list("unit", "position"))
        return {f"{places[name.replace('_', ':')]}|choice": value for name, value in fields.items()}

    @property
    def row(self) -> Assignment:
        return Assignment.objects.get(
            hit=self.hit, worker__external_id=self.worker, external_id=self.assignment
        )


def text(response: HttpResponse) -> str:
    """The page's words: without tags, white space as one blank."""
    page = re.sub(r"<(script|style)\b.*?</\1>", "", response.content.decode(), flags=re.DOTALL)
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", page))).strip()


def field_of(response: HttpResponse, name: str) -> str:
    """The value of a hidden field of a page."""
    found = re.search(rf'name="{re.escape(name)}" value="([^"]*)"', response.content.decode())
    assert found, f"there is no field {name} in: {text(response)}"
    return unescape(found[1])


def handed_over(response: HttpResponse) -> tuple[str, dict[str, str]]:
    """Where the handover page's form goes, and its fields."""
    page = response.content.decode()
    form = re.search(r'<form method="post" action="([^"]*)" id="handover">', page)
    assert form, f"this hands nothing over: {text(response)}"
    return unescape(form[1]), {
        unescape(name): unescape(value)
        for name, value in re.findall(r'<input type="hidden" name="([^"]*)" value="([^"]*)">', page)
    }
