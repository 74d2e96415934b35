"""A requester's side of a running server: `python -m tests.browser.campaign` inside, `Campaign` outside."""

from typing import Any

from tests.inside import Inside, serve
from tests.server import RunningServer


class Campaign(Inside):
    """Stages on the marketplace of a running server; a context manager."""

    #: What runs inside.
    module = "tests.browser.campaign"

    def __init__(self, server: RunningServer) -> None:
        super().__init__(self.module, server)

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

    def work(self, stage: int) -> list[dict[str, Any]]:
        """What is known of the stage's assignments."""
        rows: list[dict[str, Any]] = self.ask("work", stage=stage)
        return rows


def new_endpoint(url: str) -> Any:
    """An account with money at the marketplace of the server at `url`."""
    from django.utils import timezone

    from core.crypto import seal
    from crowd.models import Endpoint
    from marketplace.services import people

    number = Endpoint.objects.count() + 1
    requester, key = people.create_requester(name=f"Colour Lab {number}")
    people.deposit(requester=requester, cents=100_000)
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


def _close(*, stage: int) -> None:
    from crowd.models import Stage

    Stage.objects.filter(pk=stage).update(status=Stage.Status.CLOSED)


def _work(*, stage: int) -> list[dict[str, Any]]:
    from crowd.models import Assignment

    rows = Assignment.objects.filter(stage_id=stage).order_by("pk")
    return list(rows.values("state", "draft", "response", "telemetry"))


if __name__ == "__main__":
    serve({"open": _open, "tick": tick_thrice, "close": _close, "work": _work})
