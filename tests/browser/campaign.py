"""A requester's side of a running server: `COMMANDS` inside, `Campaign` outside (`tests/inside.py`)."""

from typing import Any

from tests.inside import Inside
from tests.server import RunningServer


class Campaign(Inside):
    """Stages on the marketplace of a running server."""

    #: What runs inside.
    module = "tests.browser.campaign"

    def __init__(self, server: RunningServer) -> None:
        super().__init__(self.module, server)

    def begin(self) -> None:
        """Nothing of earlier tests is at the marketplace, and rounds look after none of their stages."""
        self._server.reset(data=True)
        self.ask("end_stages")

    def open(self, **fields: Any) -> int:
        """Open a poll and publish it; the stage's number."""
        number: int = self.ask("open", url=self._server.url, **fields)
        return number

    def tick(self) -> None:
        """Send, collect, approve."""
        self.ask("tick")

    def close(self, stage: int) -> None:
        """Close the stage, without telling the marketplace yet."""
        self.ask("close", stage=stage)

    def run_jobs(self) -> None:
        """Do what waits for a worker."""
        self.ask("run_jobs")

    def work(self, stage: int) -> list[dict[str, Any]]:
        """What is known of the stage's assignments."""
        rows: list[dict[str, Any]] = self.ask("work", stage=stage)
        return rows


def customer_id(server: RunningServer, name: str) -> str:
    """The id that addresses of a requester's pages have."""
    number: str = server.call(Campaign.module, "customer_id", name=name)
    return number


def new_endpoint(url: str) -> Any:
    """An account with money at the marketplace of the server at `url`."""
    from django.utils import timezone

    from core.crypto import seal
    from crowd.models import Endpoint
    from marketplace.accounts import people
    from marketplace.money import deposits

    number = Endpoint.objects.count() + 1
    requester, key = people.create_requester(name=f"Colour Lab {number}")
    deposits.deposit(requester=requester, cents=100_000)
    return Endpoint.objects.create(
        name=f"local-{number}",
        label="The marketplace of this installation",
        url=f"{url}/mturk/api",
        access_key=key.access_key,
        secret_sealed=seal(key.secret, purpose="crowd.endpoint"),
        real_money=False,
        submit_origins=[url],
        rate=0,
        created_at=timezone.now(),
    )


def _open(*, url: str, **fields: Any) -> int:
    from django.utils import timezone

    from core.projects.services import create_project
    from crowd.models import Stage
    from crowd.services.stages import open_stage
    from crowd.services.tick import tick

    number = Stage.objects.count() + 1
    values = {
        "config": {
            "question": "What colour is it?",
            "options": ["Red", "Yellow", "Blue"],
            "items": ["The sky at noon", "A ripe lemon"],
        },
        "task_title": "Say what colour it is",
        "task_description": "Look at each thing.\n\nChoose the colour that most people would name first.",
        "redundancy": 2,
        "units_per_hit": 2,
    }
    stage = Stage.objects.create(
        project=create_project(slug=f"colours-{number}", title="Colours", budget_cents=50_000),
        slug="colours",
        title="Colours",
        kind="poll",
        endpoint=new_endpoint(url),
        reward_cents=15,
        budget_cents=50_000,
        created_at=timezone.now(),
        **(values | fields),
    )
    open_stage(stage=stage)
    tick()
    return stage.pk


def tick_thrice() -> None:
    """What was sent comes in, is settled, and what follows from it goes out."""
    from crowd.services.tick import tick

    for _ in range(3):
        tick()


def run_jobs() -> None:
    """Do what waits for a worker, and what follows from it."""
    from core.jobs import runner
    from core.jobs.models import Job, JobState

    while (job := Job.objects.filter(state=JobState.QUEUED).first()) is not None:
        runner.run(job_id=job.pk)


def end_stages() -> None:
    """Rounds have nothing to do with the stages that there are: each would ask for HITs that are gone."""
    from crowd.models import MarketOperation, Stage

    MarketOperation.objects.exclude(state__in=MarketOperation.FINAL).delete()
    Stage.objects.update(status=Stage.Status.DRAFT)


def _close(*, stage: int) -> None:
    from crowd.models import Stage

    Stage.objects.filter(pk=stage).update(status=Stage.Status.CLOSED)


def _work(*, stage: int) -> list[dict[str, Any]]:
    from crowd.models import Assignment

    rows = Assignment.objects.filter(stage_id=stage).order_by("pk")
    return list(rows.values("state", "draft", "response", "telemetry"))


def _customer_id(*, name: str) -> str:
    from marketplace.models import Requester

    return str(Requester.objects.get(name=name).customer_id)


def _add_endpoint(*, name: str, url: str, access_key: str, secret: str) -> None:
    from crowd.services.endpoints import create_endpoint

    create_endpoint(name=name, preset="local", url=url, access_key=access_key, secret=secret)


COMMANDS = {
    "end_stages": end_stages,
    "open": _open,
    "tick": tick_thrice,
    "close": _close,
    "work": _work,
    "run_jobs": run_jobs,
    "customer_id": _customer_id,
    "add_endpoint": _add_endpoint,
}
