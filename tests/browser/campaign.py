"""A requester's side of a running server: `python -m tests.browser.campaign` inside, `Campaign` outside.

One command as JSON per line in, one answer as JSON per line out; Django starts once.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import Any

from tests.server import ROOT, RunningServer


class Campaign:
    """Stages on the marketplace of a running server; a context manager."""

    #: What runs inside.
    module = "tests.browser.campaign"

    def __init__(self, server: RunningServer) -> None:
        self._server = server

    def __enter__(self) -> "Campaign":
        self._process = subprocess.Popen(
            [sys.executable, "-m", self.module],
            cwd=ROOT,
            env={**self._server.environment, "TASK_URL": self._server.url},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()

    def open(self, **fields: Any) -> int:
        """Open a poll and publish it; the stage's number."""
        number: int = self._ask("open", url=self._server.url, **fields)
        return number

    def tick(self) -> None:
        """Send, collect, approve."""
        self._ask("tick")

    def close(self, stage: int) -> None:
        """Close the stage, without telling the marketplace yet."""
        self._ask("close", stage=stage)

    def work(self, stage: int) -> list[dict[str, Any]]:
        """What is known of the stage's assignments."""
        rows: list[dict[str, Any]] = self._ask("work", stage=stage)
        return rows

    def _ask(self, what: str, **named: Any) -> Any:
        into, out = self._process.stdin, self._process.stdout
        assert into is not None and out is not None
        print(json.dumps([what, named]), file=into, flush=True)
        said = json.loads(out.readline() or '{"error": "the campaign ended"}')
        if "error" in said:
            raise RuntimeError(said["error"])
        return said["value"]


def new_endpoint(url: str) -> Any:
    """An account with money at the marketplace of the server at `url`."""
    from django.utils import timezone

    from crowd.models import Endpoint
    from marketplace.services import people
    from sealing import seal

    number = Endpoint.objects.count() + 1
    requester, secret = people.create_requester(name=f"Colour Lab {number}")
    people.deposit(requester=requester, cents=100_000)
    return Endpoint.objects.create(
        name=f"local-{number}",
        label="The marketplace of this installation",
        url=f"{url}/mturk/api",
        access_key=requester.access_key,
        secret_sealed=seal(secret, purpose="crowd.endpoint"),
        real_money=False,
        submit_origins=[url],
        rate=0,
        created_at=timezone.now(),
    )


def _open(*, url: str, **fields: Any) -> int:
    from django.utils import timezone

    from crowd.models import Stage
    from crowd.services.stages import open_stage
    from crowd.services.tick import tick
    from projects.services import create_project

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


def serve(commands: Mapping[str, Callable[..., Any]]) -> None:
    """Answer until the input ends."""
    import django

    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    django.setup()
    for line in sys.stdin:
        what, named = json.loads(line)
        try:
            answer = {"value": commands[what](**named)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve({"open": _open, "tick": tick_thrice, "close": _close, "work": _work})
