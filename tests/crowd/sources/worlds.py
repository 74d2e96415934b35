"""Stages over a scripted marketplace, study links and a panel, and people who come from each."""

import re
from collections import Counter

from django.conf import settings

from crowd.adapters import registry
from crowd.models import Assignment, Endpoint, Hit, HitUnit, Stage
from crowd.services import stages
from crowd.services.deals import deal
from crowd.services.endpoints import create_endpoint
from crowd.services.sources import SourcePlan, set_sources
from crowd.services.tick import tick
from crowd.sources import stage_at
from tests.crowd.scripted import ScriptedMarket
from tests.crowd.world import make_endpoint, make_stage

REAL_ADAPTER = registry.adapter
BACK = f"{settings.TASK_URL}/join/somewhere/next"


def adapters(monkeypatch, market: ScriptedMarket):
    """The scripted marketplace for those that people accept HITs at, the real adapter for links."""

    def chosen(endpoint: Endpoint):
        return REAL_ADAPTER(endpoint) if endpoint.deals_work else market

    monkeypatch.setattr(registry, "adapter", chosen)
    return market


def make_links(name: str = "links") -> Endpoint:
    """Study links of this installation."""
    return create_endpoint(name=name, preset="link", access_key="", secret="")


def make_mixed(*plans: SourcePlan, open_it: bool = True, **fields) -> Stage:
    """A poll with these sources; its own endpoint is the first one's."""
    stage = make_stage(plans[0].endpoint, **fields)
    set_sources(stage=stage, plans=plans)
    if open_it:
        stages.open_stage(stage=stage)
        settle()
        stage.refresh_from_db()
    return stage


def market_and_links(**fields) -> tuple[Stage, Endpoint, Endpoint]:
    """A stage half from a marketplace, half from links."""
    market, links = make_endpoint(fee_profile="none-1"), make_links()
    return make_mixed(SourcePlan(market, share=1), SourcePlan(links, share=1), **fields), market, links


def settle(rounds: int = 6) -> None:
    """Rounds until nothing is left to do."""
    for _ in range(rounds):
        if tick().idle:
            return


def places_by_unit(stage: Stage) -> dict[str, Counter]:
    """For each unit, how many places each endpoint offers."""
    found: dict[str, Counter] = {}
    units = HitUnit.objects.filter(hit__stage=stage, role="unit").exclude(hit__state="refused")
    for row in units.select_related("hit__source__endpoint", "hit__stage__endpoint"):
        found.setdefault(row.unit, Counter())[row.hit.endpoint.name] += row.hit.places
    return found


def come(stage: Stage, endpoint: Endpoint, who: str, **more):
    """A person of a link asks for work."""
    return deal(stage_at(stage, endpoint), worker_id=who, submit_to=BACK, **more)


def submit_poll(client, dealt, choice: str = "yes"):
    """A person opens the task page and sends their answer."""
    page = client.get(dealt.task_address)
    assert page.status_code == 200, page.content
    hidden = dict(re.findall(r'name="(ticket)" value="([^"]+)"', page.content.decode()))
    sent = client.post(dealt.task_address, {**hidden, "0|choice": choice})
    assert sent.status_code == 302, sent.content
    return sent


def answers(stage: Stage) -> Counter:
    """Answers that count, by unit and endpoint."""
    good = Assignment.objects.filter(stage=stage, state__in=Assignment.GOOD)
    return Counter(good.values_list("claims__unit", "worker__endpoint__name"))


def open_hits(stage: Stage, endpoint: Endpoint) -> list[Hit]:
    """HITs on offer at an endpoint, the oldest first."""
    rows = Hit.objects.filter(stage=stage, state=Hit.State.OPEN).order_by("pk")
    rows = rows.select_related("stage__endpoint", "stage__project", "source__endpoint")
    return [hit for hit in rows if hit.endpoint == endpoint]
