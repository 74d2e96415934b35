"""The demonstration's campaign: a poll stage of a project, done by simulated workers, paid to the cent."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.conf import settings
from django.db.models import Count

from core.projects.services import create_project
from crowd.kinds import kind_of
from crowd.models import Assignment, LedgerEntry, Stage
from crowd.services.endpoints import create_endpoint
from crowd.services.stages import create_stage, open_stage
from crowd.simulation.accounts import Account
from distillery.demo.answers import Progress
from distillery.demo.answers import work_on as let_work
from distillery.demo.people import FEE_PROFILE, People
from distillery.demo.tasks import all_tasks

BUDGET_CENTS = 20_00
REWARD_CENTS = 8
PEOPLE_PER_QUERY = 8
CROWD_SIZE, MIX, SEED = 14, "moderate", 7
QUESTION = "Could one short passage answer this question completely?"
CHECK = "Please choose “No” here, so that we know you read the questions."


@dataclass(frozen=True)
class PollSummary:
    """What the poll cost and brought; money in cents. Everybody in it is simulated."""

    stage: str
    units: int
    assignments: int
    approved: int
    held: int
    budget_cents: int
    reserved_cents: int
    spent_rewards_cents: int
    spent_fees_cents: int
    marketplace_paid_cents: int
    marketplace_fees_cents: int
    simulated_workers: int

    @property
    def adds_up(self) -> bool:
        """Our books and the marketplace's say the same, to the cent."""
        return (self.spent_rewards_cents, self.spent_fees_cents) == (
            self.marketplace_paid_cents,
            self.marketplace_fees_cents,
        )


def open_poll(people: People, *, url: str, suffix: str) -> Stage:
    """A project with a poll about the demonstration's ten questions, published on this marketplace."""
    # Where the server listens is known only now; listings name it as the address of their task pages.
    settings.TASK_URL = url
    endpoint = create_endpoint(
        name=f"demo{suffix}",
        label="This marketplace",
        url=f"{url}/mturk/api",
        access_key=people.key.access_key,
        secret=people.key.secret,
        real_money=False,
        fee_profile=FEE_PROFILE,
        submit_origins=(url, url.replace("localhost", "127.0.0.1")),
        rate=0.0,
    )
    project = create_project(
        slug=f"demo{suffix}", title="Demonstration", owner=people.owner, budget_cents=BUDGET_CENTS
    )
    stage = create_stage(
        project=project,
        slug="answerable",
        title="Which questions have a short answer?",
        kind="poll",
        endpoint=endpoint,
        config={
            "question": QUESTION,
            "options": ["Yes", "No", "It depends"],
            "items": [task.query for task in all_tasks()],
            "checks": {CHECK: "No"},
        },
        task_title="Which questions have a short answer?",
        task_description="Read questions from textbooks; say whether a short text could answer each.",
        task_keywords="questions, reading, short",
        reward_cents=REWARD_CENTS,
        redundancy=PEOPLE_PER_QUERY,
        units_per_hit=5,
        checks_per_hit=1,
        hold_failed_checks=True,
        budget_cents=BUDGET_CENTS,
        seed=SEED,
        actor=people.owner,
    )
    open_stage(stage=stage, actor=people.owner)
    return stage


def work_on(stage: Stage, *, workers: Sequence[Account], site: str, progress: Progress) -> None:
    """Let a moderate crowd of simulated workers do it, through the pages that people use."""
    let_work(stage, mix=MIX, workers=workers, site=site, progress=progress, seed=SEED)


def summarise(stage: Stage, people: People, *, paid_before: tuple[int, int]) -> PollSummary:
    """The stage's books beside the marketplace's; `paid_before` is what the requester had paid already."""
    stage.refresh_from_db()
    spent = LedgerEntry.objects.filter(stage=stage, kind=LedgerEntry.Kind.SPEND)
    requester = people.requester
    requester.refresh_from_db()
    states = dict(Assignment.objects.filter(stage=stage).values_list("state").annotate(number=Count("pk")))
    good = Assignment.objects.filter(stage=stage, state__in=Assignment.GOOD)
    return PollSummary(
        stage=f"{stage.project.slug}/{stage.slug}",
        units=len(kind_of(stage).settle(stage)),
        assignments=good.count(),
        approved=states.get(Assignment.State.APPROVED, 0),
        held=Assignment.objects.filter(stage=stage, held=True).count(),
        budget_cents=stage.budget_cents,
        reserved_cents=stage.reserved_cents,
        spent_rewards_cents=sum(spent.values_list("cents", flat=True)),
        spent_fees_cents=sum(spent.values_list("fee_cents", flat=True)),
        marketplace_paid_cents=requester.paid_cents - paid_before[0],
        marketplace_fees_cents=requester.fees_cents - paid_before[1],
        simulated_workers=good.filter(worker__simulated=True).values("worker").distinct().count(),
    )
