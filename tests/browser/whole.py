"""What happens beside the researcher of the whole job: workers come, jobs run, the files to upload.

`COMMANDS` inside, `Whole` outside, as in `tests.browser.campaign`.
"""

import json
from pathlib import Path
from typing import Any

from tests.browser.campaign import Campaign, run_jobs, tick_thrice
from tests.server import ROOT

QUERIES = ROOT / "annotation" / "sample" / "queries.jsonl"
PASSAGES = ROOT / "annotation" / "sample" / "passages.jsonl"
CANDIDATES = ROOT / "judgments" / "sample" / "candidates.jsonl"
#: Ids of queries that were written for the sample, to have something to exclude; all others were found.
_MADE_UP = "own/"
#: Passages of a query that do not answer it.
_OTHERS = 3


class Whole(Campaign):
    """A crowd of simulated workers on a running server."""

    module = "tests.browser.whole"

    def crowd(self, project: str, stage: str, people: int, mix: str = "diligent") -> int:
        """So many people who did nothing before do what is on offer; how many HITs they submitted."""
        submitted: int = self.ask(
            "crowd", url=self._server.url, project=project, stage=stage, people=people, mix=mix
        )
        return submitted


def query_log(folder: Path, count: int) -> Path:
    """A log of real queries, each with passages of a textbook, and what simulated workers know of them."""
    passages = {row["id"]: row for row in _rows(PASSAGES)}
    scores: dict[str, dict[str, int]] = {}
    for row in _rows(CANDIDATES):
        scores.setdefault(row["query_id"], {})[row["system"]] = row["truth"]
    lines = []
    found = [row for row in _rows(QUERIES) if not row["id"].startswith(_MADE_UP)]
    for number, row in enumerate(found[-count:]):
        wanted = [
            *row["truth"].get("passages", []),
            *list(passages)[number * _OTHERS : (number + 1) * _OTHERS],
        ]
        row["passages"] = [{"id": key, "text": passages[key]["text"]} for key in dict.fromkeys(wanted)]
        row["truth"]["scores"] = scores.get(row["id"], {})
        lines.append(json.dumps(row))
    return _written(folder / "log.jsonl", lines)


def systems_answers(folder: Path, answered: set[str]) -> Path:
    """What two systems say to these queries."""
    lines = [json.dumps(row) for row in _rows(CANDIDATES) if row["query_id"] in answered]
    return _written(folder / "systems.jsonl", lines)


def _rows(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def _written(file: Path, lines: list[str]) -> Path:
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file


#: How many people all stages need together; their accounts are made at once, by one process.
_PEOPLE = 27
#: How many people came so far; nobody comes twice.
_came: list[int] = []


def _crowd(*, url: str, project: str, stage: str, people: int, mix: str) -> int:
    from crowd.models import Stage
    from crowd.simulation.accounts import accounts
    from crowd.simulation.answers import crowd_of
    from crowd.simulation.run import Crowd

    found = Stage.objects.select_related("project", "endpoint").get(project__slug=project, slug=stage)
    before = sum(_came)
    fresh = accounts(url, max(_PEOPLE, before + people))[before : before + people]
    _came.append(people)
    crowd = Crowd(
        found,
        crowd_of(mix, people, seed=before),
        fresh,
        seed=before,
        site=url,
        threads=4,
        fast=True,
        drafts=False,
    )
    done = crowd.run(settle_s=20.0)
    assert not done.troubles, done.troubles
    tick_thrice()
    return done.outcomes["submitted"]


def _tick_later() -> None:
    """Rounds, some seconds later: what a person decided can no longer be undone, and goes out."""
    from django.db.models import F

    from crowd.models import MarketOperation

    MarketOperation.objects.filter(payload__has_key="review").update(not_before=F("planned_at"))
    tick_thrice()


COMMANDS = {"crowd": _crowd, "run_jobs": run_jobs, "tick": _tick_later}
