"""One campaign over a study link, the simulated Prolific and the own marketplace, on a running server.

    python -m tests.study.anywhere

It is a process with the server's settings; it prints what the books of all three say as JSON.
"""

import json
import random
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.study.papers import CAREFUL, QUERIES, Campaign, answers_to, imported, responses  # sets Django up

# isort: split

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Sum
from django.test import Client
from django.utils import timezone

from core.projects.models import Project
from crowd.models import Assignment, HitUnit, LedgerEntry, PanelStudy, Stage
from crowd.services.stages import open_stage
from crowd.services.tick import tick
from crowd.simulation.answers import SimulatedPerson, answer_unit, read_form
from crowd.simulation.prolific.server import serve
from crowd.study.application import apply
from crowd.study.planning import plan
from crowd.study.reader import read
from marketplace.models import Requester
from marketplace.services.people import create_requester, deposit
from people.links import LinkPlan, address_of, make_link
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
    link = make_link(project=project, plan=LinkPlan("Our class", f"stage:{stage.pk}"), actor=owner)
    done = 0
    for number in range(2):
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
    rounds()
    return done


def by_panel(panel: Panel, stage: Stage, owner: User) -> list[str]:
    """Participants of the panel until its places are filled; their submissions."""
    open_stage(stage=stage, actor=owner, typed_cents=stage.budget_cents)
    rounds()
    study = PanelStudy.objects.get(stage=stage)
    came = []
    for number in range(study.places):
        visit = panel.control("arrive", study_id=study.external_id, participant_id=panel.people()[0])
        person = Visitor(10 + number)
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
    rounds()
    return came


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
    cost = panel.get(f"/studies/{PanelStudy.objects.get().external_id}/cost/")["rewards"]
    found = campaign.released(project)
    account = Requester.objects.get(pk=requester.pk)
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
