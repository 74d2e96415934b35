"""One campaign over a study link, the simulated Prolific and the own marketplace, on a running server.

    python -m tests.study.anywhere

It is a process with the server's settings; it prints what the books of all three say as JSON.
"""

import json
import random
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from tests.study.papers import CAREFUL, QUERIES, Campaign, answers_to, imported, responses  # sets Django up

# isort: split

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import Count, Sum

from core.projects.models import Project
from crowd.models import Assignment, Claim, Endpoint, Hit, LedgerEntry, PanelStudy, Stage
from crowd.selectors.stage_status import source_status
from crowd.services.stages import open_stage
from crowd.simulation.accounts import Browser, accounts
from crowd.simulation.answers import SimulatedPerson
from crowd.simulation.panel import Panel, running_panel, send_by_link
from crowd.simulation.people import Visitor
from crowd.simulation.run import Crowd, make_rounds
from crowd.study.planning import apply, plan
from crowd.study.reader import read
from marketplace.accounts.accesskeys import IssuedKey
from marketplace.accounts.people import create_requester
from marketplace.models import Requester
from marketplace.money.deposits import deposit
from people.links import LinkPlan, make_link
from people.owners import project_owner

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


def visitor(number: int) -> Visitor:
    """A person with a browser who does what a task page asks, as a careful simulated one would."""
    return Visitor(SimulatedPerson(number, CAREFUL, 7), Browser())


def by_link(project: Project, stage: Stage, owner: User) -> int:
    """Two people come by a link and do all there is for them; how many tasks that was."""
    open_stage(stage=stage, actor=owner)
    make_rounds()
    done = visit_link(project, stage, owner, range(2))
    make_rounds()
    return done


def visit_link(project: Project, stage: Stage, owner: User, numbers: range) -> int:
    """People come by a new link, each of them for all there is; how many tasks they did."""
    link = make_link(
        owner=project_owner(project), plan=LinkPlan("Our class", f"stage:{stage.slug}"), actor=owner
    )
    return sum(send_by_link(link, Endpoint.objects.get(name="links"), visitor(number)) for number in numbers)


def by_panel(panel: Panel, stage: Stage, owner: User) -> int:
    """Participants of the panel until its places are filled; how many that were."""
    open_stage(stage=stage, actor=owner, typed_cents=stage.budget_cents)
    make_rounds()
    came = visit_panel(panel, stage, 10)
    make_rounds()
    return came


def visit_panel(panel: Panel, stage: Stage, first: int) -> int:
    """A participant of the panel for each of the study's places; how many that were."""
    study = PanelStudy.objects.select_related("endpoint").get(stage=stage)
    for number in range(study.places):
        panel.send_participant(study, visitor(first + number))
    return study.places


def everywhere(panel: Panel, stage: Stage, campaign: Campaign, requester: int) -> dict[str, Any]:
    """One stage over all three at once; what its own books say by source, and what each far side paid."""
    paid_before = Requester.objects.get(pk=requester).paid_cents
    rewards_before = len(panel.call("GET", "/_control/payments")["payments"])
    open_stage(stage=stage, actor=campaign.owner, typed_cents=stage.budget_cents)
    make_rounds()
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
    make_rounds()
    stage.refresh_from_db()
    payments = panel.call("GET", "/_control/payments")["payments"][rewards_before:]
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
    with (
        tempfile.TemporaryDirectory() as folder,
        running_panel(Path(folder, "panel.sqlite3"), balance=100_000) as panel,
    ):
        report = run_campaign(Path(folder), panel, owner, requester, key)
    sys.stdout.write(json.dumps(report))


def run_campaign(
    folder: Path, panel: Panel, owner: User, requester: Requester, key: IssuedKey
) -> dict[str, Any]:
    """The campaign, and what the books of all three say of it."""
    keys = {
        "POOL_WORKSPACE": panel.workspace,
        "POOL_TOKEN": panel.token,
        "LOCAL_ACCESS_KEY": key.access_key,
        "LOCAL_SECRET": key.secret,
    }
    path = folder / "anywhere.toml"
    path.write_text(STUDY.format(panel=panel.site, site=settings.TASK_URL), "utf-8")
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
    make_rounds()
    panel_paid = [each["amount"] for each in panel.call("GET", "/_control/payments")["payments"]]
    study_id = PanelStudy.objects.get(stage=stages["judging"]).external_id
    cost = panel.call("GET", f"/api/v1/studies/{study_id}/cost/")["rewards"]
    account = Requester.objects.get(pk=requester.pk)
    mixed = everywhere(panel, stages["everywhere"], campaign, requester.pk)
    found = campaign.released(project)
    spent = {
        slug: dict(
            LedgerEntry.objects.filter(stage=stage, kind="spend").aggregate(Sum("cents"), Sum("fee_cents"))
        )
        for slug, stage in stages.items()
    }
    return {
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
            "submissions": submissions,
        },
        "marketplace": {"paid": account.paid_cents, "fees": account.fees_cents},
    }


if __name__ == "__main__":
    main()
