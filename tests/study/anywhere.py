"""One campaign over a study link, the simulated Prolific and the own marketplace, on a running server.

    python -m tests.study.anywhere

It is a process with the server's settings; it prints what the books of all three say as JSON.
"""

import json
import random
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.study.papers import CAREFUL, QUERIES, Campaign, answers_to, imported, responses  # sets Django up

# isort: split

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Count, Sum
from django.test import Client
from django.utils import timezone

from core.projects.models import Project
from crowd.models import Assignment, Claim, Hit, HitUnit, LedgerEntry, PanelStudy, Stage
from crowd.selectors.stage_status import source_status
from crowd.services.stages import open_stage
from crowd.services.tick import tick
from crowd.simulation.accounts import accounts
from crowd.simulation.answers import SimulatedPerson, answer_unit, read_form
from crowd.simulation.prolific_server import serve
from crowd.simulation.run import Crowd
from crowd.study.planning import apply, plan
from crowd.study.reader import read
from marketplace.models import Requester
from marketplace.services.people import create_requester, deposit
from people.links import LinkPlan, address_of, make_link
from people.owners import project_owner
from tests.crowd.panels.worlds import TOKEN, Panel

STUDY = """
[project]
slug = "anywhere"
title = "People from anywhere"
language = "en"
licence = "CC-BY-4.0"
wage_floor = "6.00"
budget = "100.00"

[endpoints.links]
preset = "link"

[endpoints.pool]
preset = "prolific"
url = "{panel}"
access_key_env = "POOL_WORKSPACE"
secret_key_env = "POOL_TOKEN"

[endpoints.local]
preset = "local"
url = "{site}/mturk/api"
access_key_env = "LOCAL_ACCESS_KEY"
secret_key_env = "LOCAL_SECRET"

[[stages]]
slug = "answers"
title = "Answers"
kind = "distillation"
endpoint = "links"
reward = "0.10"
redundancy = 2
expected_minutes = 1.0
budget = "20.00"
task = {{title = "Answer a question", description = "Read two passages and answer a question."}}

[[stages]]
slug = "judging"
title = "Judging"
kind = "judging"
endpoint = "pool"
reward = "0.20"
redundancy = 2
expected_minutes = 1.0
budget = "20.00"
task = {{title = "Judge an answer", description = "Choose how correct an answer is."}}

[[stages]]
slug = "poll"
title = "Poll"
kind = "poll"
endpoint = "local"
reward = "0.30"
redundancy = 2
expected_minutes = 1.0
budget = "20.00"
task = {{title = "A small question", description = "Choose one."}}
config = {{question = "Is it good?", options = ["yes", "no"], items = ["tea"], checks = {{}}}}

[[stages]]
slug = "everywhere"
title = "Judging everywhere"
kind = "judging"
endpoint = "local"
reward = "0.15"
redundancy = 3
expected_minutes = 0.5
budget = "20.00"
task = {{title = "Judge an answer once more", description = "Choose how correct an answer is."}}

[[stages.sources]]
endpoint = "local"
share = 1

[[stages.sources]]
endpoint = "links"
share = 1
reward = "0.10"

[[stages.sources]]
endpoint = "pool"
share = 1
reward = "0.20"
"""


class Visitor:
    """A person with a browser who does what a task page asks, as a careful simulated one would."""

    def __init__(self, number: int) -> None:
        host = urlsplit(settings.TASK_URL).netloc
        self.client = Client(headers={"host": host})
        self.who = SimulatedPerson(number, CAREFUL, 7)

    def get(self, address: str) -> Any:
        """A page of this installation, by its whole address, with all that it leads on to."""
        parts = urlsplit(address)
        return self.client.get(f"{parts.path}?{parts.query}" if parts.query else parts.path, follow=True)

    def send(self, page: Any, address: str, **fields: str) -> Any:
        """Send a form of a page with its hidden fields; what it leads on to."""
        form = read_form(page.content.decode(), "http://testserver/")
        hidden = form.hidden if form else {}
        return self.client.post(urlsplit(address).path, {**hidden, **fields}, follow=True)

    def do(self, page: Any) -> Any:
        """Fill in and send the task page; the page after it."""
        for attempt in range(3):
            address = (
                urlsplit(page.redirect_chain[-1][0]).path
                if page.redirect_chain
                else page.request["PATH_INFO"]
            )
            form = read_form(page.content.decode(), "http://testserver/")
            assert form is not None, page.content[:500]
            key = address.rstrip("/").rpartition("/")[2]
            units = HitUnit.objects.filter(hit__key=key).select_related("hit__stage")
            form.behind = {str(each.position): each.unit for each in units}
            values = dict(form.hidden)
            for each in units:
                values |= answer_unit(each.hit.stage, form, each.unit, self.who, attempt=attempt)
            after = self.client.post(address, values, follow=True)
            if after.status_code != 422:
                return after
            page = after
        raise AssertionError(page.content)


def rounds() -> None:
    """Rounds until nothing changes, with a fresh look at the panel in each."""
    for _ in range(8):
        PanelStudy.objects.update(hinted_at=timezone.now())
        if tick().idle:
            return


def by_link(project: Project, stage: Stage, owner: User) -> int:
    """Two people come by a link and do all there is for them; how many tasks that was."""
    open_stage(stage=stage, actor=owner)
    rounds()
    done = visit_link(project, stage, owner, range(2))
    rounds()
    return done


def visit_link(project: Project, stage: Stage, owner: User, numbers: range) -> int:
    """People come by a new link, each of them for all there is; how many tasks they did."""
    link = make_link(
        owner=project_owner(project), plan=LinkPlan("Our class", f"stage:{stage.pk}"), actor=owner
    )
    done = 0
    for number in numbers:
        person = Visitor(number)
        page = person.get(address_of(link))
        agreed = read_form(page.content.decode(), "http://testserver/")
        assert agreed is not None
        page = person.client.post(
            urlsplit(agreed.action).path, {**agreed.hidden, "agree": "yes"}, follow=True
        )
        while b"ticket" in page.content:
            page = person.do(page)
            done += 1
    return done


def by_panel(panel: Panel, stage: Stage, owner: User) -> list[str]:
    """Participants of the panel until its places are filled; their submissions."""
    open_stage(stage=stage, actor=owner, typed_cents=stage.budget_cents)
    rounds()
    came = visit_panel(panel, stage, 10)
    rounds()
    return came


def visit_panel(panel: Panel, stage: Stage, first: int) -> list[str]:
    """Participants of the panel for each of the study's places; their submissions."""
    study = PanelStudy.objects.get(stage=stage)
    came = []
    for number in range(study.places):
        visit = panel.control("arrive", study_id=study.external_id, participant_id=panel.people()[0])
        person = Visitor(first + number)
        page = person.get(visit["url"])
        consent = read_form(page.content.decode(), "http://testserver/")
        assert consent is not None
        page = person.client.post(
            urlsplit(consent.action).path, {**consent.hidden, "agree": "yes"}, follow=True
        )
        page = person.do(page)
        assert study.codes["COMPLETED"] in page.content.decode(), page.content[:800]
        panel.control("complete", submission_id=visit["submission_id"], code=study.codes["COMPLETED"])
        came.append(visit["submission_id"])
    return came


def everywhere(panel: Panel, stage: Stage, campaign: Campaign, requester: int) -> dict[str, Any]:
    """One stage over all three at once; what its own books say by source, and what each far side paid."""
    paid_before = Requester.objects.get(pk=requester).paid_cents
    rewards_before = len(panel.get("/_control/payments")["payments"])
    open_stage(stage=stage, actor=campaign.owner, typed_cents=stage.budget_cents)
    rounds()
    divided = {
        each.endpoint.name: each.places
        for each in Hit.objects.filter(stage=stage).select_related("source__endpoint")
    }
    tasks = visit_link(stage.project, stage, campaign.owner, range(40, 42))
    visit_panel(panel, stage, 50)
    known = accounts(settings.TASK_URL, 4)[3:]
    campaign.troubles += (
        Crowd(stage, [CAREFUL], known, seed=7, threads=1, fast=True).run().facts()["troubles"]
    )
    campaign.decide(stage)
    rounds()
    stage.refresh_from_db()
    payments = panel.get("/_control/payments")["payments"][rewards_before:]
    return {
        "divided": divided,
        "link_tasks": tasks,
        "sources": {
            each.endpoint.name: [each.places.answers, each.money.spent_cents, each.money.reserved_cents]
            for each in source_status(stage)
        },
        "panel_paid": sum(each["amount"] for each in payments),
        "market_paid": Requester.objects.get(pk=requester).paid_cents - paid_before,
        "spent": stage.spent_cents,
        "fees": sum(each.money.fee_cents for each in source_status(stage)),
        "reserved": stage.reserved_cents,
        "units": sorted(
            Claim.objects.filter(stage=stage)
            .values_list("unit")
            .annotate(Count("worker"))
            .values_list("worker__count", flat=True)
        ),
    }


def main() -> None:
    """The whole campaign."""
    random.seed(1)
    owner = User.objects.create_superuser("ada")
    requester, key = create_requester(name="Reading lab", fee_profile="none-1")
    deposit(requester=requester, cents=100_000)
    panel = Panel()
    server = serve(panel.simulator, 0)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    panel.control("deposit", cents=100_000)
    keys = {
        "POOL_WORKSPACE": panel.get("/_control/state")["workspace_id"],
        "POOL_TOKEN": TOKEN,
        "LOCAL_ACCESS_KEY": key.access_key,
        "LOCAL_SECRET": key.secret,
    }
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "anywhere.toml"
        path.write_text(STUDY.format(panel=panel.simulator.site, site=settings.TASK_URL), "utf-8")
        study = read(str(path))
        apply(study, plan(study, keys, to_apply=True), keys)
    project = Project.objects.get(slug="anywhere")
    stages = {stage.slug: stage for stage in project.stages.select_related("endpoint", "project")}
    lines = [{**QUERIES[0], "references": QUERIES[0]["truth"]["answers"]}]
    imported(project, lines, start_at="distillation")
    campaign = Campaign(owner)
    by_link(project, stages["answers"], owner)
    campaign.decide(stages["answers"])
    responses(project, answers_to(lines, "unilm"))
    submissions = by_panel(panel, stages["judging"], owner)
    campaign.run(project, "poll", *[CAREFUL] * 2)
    rounds()
    panel_paid = [each["amount"] for each in panel.get("/_control/payments")["payments"]]
    cost = panel.get(f"/studies/{PanelStudy.objects.get(stage=stages['judging']).external_id}/cost/")[
        "rewards"
    ]
    account = Requester.objects.get(pk=requester.pk)
    mixed = everywhere(panel, stages["everywhere"], campaign, requester.pk)
    found = campaign.released(project)
    spent = {
        slug: dict(
            LedgerEntry.objects.filter(stage=stage, kind="spend").aggregate(Sum("cents"), Sum("fee_cents"))
        )
        for slug, stage in stages.items()
    }
    server.shutdown()
    sys.stdout.write(
        json.dumps(
            {
                "rows": found["rows"],
                "everywhere": mixed,
                "places": dict(Counter(row["source"] for row in found["sources"])),
                "card": found["card"],
                "troubles": campaign.troubles,
                "states": {
                    slug: sorted(Assignment.objects.filter(stage=stage).values_list("state", flat=True))
                    for slug, stage in stages.items()
                },
                "spent": spent,
                "reserved": sum(stage.reserved_cents for stage in Stage.objects.filter(project=project)),
                "panel": {
                    "rewards": panel_paid,
                    "fees": sum(round(cost[part]["amount"]) for part in ("fees", "tax")),
                    "submissions": len(submissions),
                },
                "marketplace": {"paid": account.paid_cents, "fees": account.fees_cents},
            }
        )
    )


if __name__ == "__main__":
    main()
