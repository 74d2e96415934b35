"""Measures the search page: what a conversation of five turns costs over many passages, as a browser asks it.

    python benchmarks/search_page.py FOLDER [--passages 1000000] [--markdown FILE] [--data DIR]

FOLDER and `--data` are those of `benchmarks/ranking.py`, which makes the passages, the index and the network.
Pages come through Django with all its middleware, session and template; there is no network in between.
"""

# ruff: noqa: PLC0415  # the apps can be imported once the environment names the database

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
TURNS = 5
ROUNDS = 60
GOAL_MS = 150


def owner_of_project() -> tuple[Any, Any]:
    """The owner and the project."""
    from django.contrib.auth.models import User

    from core.projects.models import Project
    from core.projects.services import set_role

    owner, _ = User.objects.get_or_create(username="speed")
    project = Project.objects.get(slug="speed")
    set_role(project=project, user=owner, role="owner")
    return owner, project


def browser_of_owner() -> Any:
    """A browser in which the owner is signed in."""
    from django.test import Client

    owner, _ = owner_of_project()
    browser = Client(raise_request_exception=True, SERVER_NAME="localhost")
    browser.force_login(owner)
    return browser


def measure(
    talks: list[list[str]], ask: Callable[[list[str]], Any], before: Callable[[list[str]], Any] | None = None
) -> tuple[float, float]:
    """Median and 95th percentile in ms; what comes before it does not count."""
    times = []
    for talk in talks:
        if before:
            before(talk)
        at = time.perf_counter()
        answer = ask(talk)
        times.append((time.perf_counter() - at) * 1000)
        assert answer.status_code == 200, answer.status_code
    times = sorted(times[len(times) // 10 :])
    return times[len(times) // 2], times[int(len(times) * 0.95)]


def run(folder: Path, count: int, data: Path) -> Any:  # a Run, whose module needs Django's environment
    """The table, over what is in the data folder or is made there."""
    from annotation import search
    from benchmarks.measures import Figure
    from benchmarks.ranking import conversations, prepare, with_conversations
    from benchmarks.report import Run

    prepare(folder, count, data)
    talks = [talk for talk in conversations(with_conversations(folder)) if len(talk) == TURNS]
    talks = talks[:: max(1, len(talks) // ROUNDS)][:ROUNDS]
    browser, page = browser_of_owner(), "/desk/projects/speed/search/"

    def turns(talk: list[str]) -> str:
        return f"{page}?{urlencode([('q', turn) for turn in talk])}"

    def all_but_the_last(talk: list[str]) -> None:
        browser.get(turns(talk[:-1]))

    found = {
        "empty": measure(talks, lambda talk: browser.get(page)),
        "one turn": measure(talks, lambda talk: browser.get(turns(talk[:1]))),
        "the fifth turn": measure(talks, lambda talk: browser.get(turns(talk)), before=all_but_the_last),
    }
    search.forget_shared_answers()
    search.shared_answers.away_until = math.inf
    found["five turns, none remembered"] = measure(talks, lambda talk: browser.get(turns(talk)))
    found["JSON, the fifth turn"] = measure(
        talks,
        lambda talk: browser.post(
            f"{page}api/getanswer", {"questions": talk}, content_type="application/json"
        ),
    )
    made = Run(f"The search page: {count:,} passages, conversations of {TURNS} turns", "")
    for name, (median, p95) in found.items():
        figure = f"{median:.0f} / {p95:.0f} ms"
        made.figures.append(Figure(name, figure, f"p95 < {GOAL_MS} ms", p95 < GOAL_MS, "median / p95"))
    return made


if __name__ == "__main__":
    from benchmarks.ranking import alone, arguments

    alone(arguments(__doc__.partition("\n")[0]).parse_args(), "The search page", run)
