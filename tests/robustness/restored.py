"""A lab that burns down and is restored from a backup; its marketplace is another installation, over HTTP.

    python -m tests.robustness.restored    # a JSON object on standard input, one on standard output

Two stages, one with HITs that are planned and not sent, one a draft: here the backup is made. Then all is
published, worked on and paid, a bonus and more places are given. 25 hours later, when the marketplace has
forgotten every token, database and data folder are lost, and the backup is restored. Sending is tried; then
`crowd reconcile --after-restore` is killed after each of its commits, and repeated until it survives. The
same bonus is asked for again, and the lab goes on as ever.
"""

import contextlib
import json
import os
import shutil
import sys
from collections import Counter
from decimal import Decimal
from io import StringIO
from pathlib import Path
from typing import Any

import django

from tests.scale import TEST_ALL

HITS, PLACES = (10, 3) if TEST_ALL else (3, 2)
BONUS: dict[str, Any] = {"cents": 25, "reason": "Very thorough.", "purpose": "thorough"}
FILES = {
    "imports/1/queries": b"how is tea made\n",
    "models/judge/weights": bytes(range(256)) * 40,
}


def tell(given: dict[str, Any]) -> dict[str, Any]:
    """What was said and seen at each step, by name."""
    from django.conf import settings

    from tests.clients import mturk_client, post_json

    saved = Path(given["saved"])
    client = mturk_client(given["api"], given["access_key"], given["secret"])
    plan(given)
    for name, content in FILES.items():
        (settings.DATA_DIR / name).parent.mkdir(parents=True)
        (settings.DATA_DIR / name).write_bytes(content)
    story = {
        "planned": count_operations(kind="publish", first_sent_at=None),
        "backup": manage("backup", str(saved), "--verify"),
        "backup again": manage("backup", str(saved)),
    }
    submission = go_on(given)
    story |= {"books before": books(), "seen before": seen(client)}
    post_json(f"{given['site']}/mturk/test/clock", {"advance_seconds": 25 * 3600}, given["test_token"])
    story["restore over it"] = manage("restore", str(saved))
    burn(settings.DATA_DIR, given["server"])
    (saved / "models/judge/weights").write_bytes(FILES["models/judge/weights"][:-1])
    story["verify damaged"] = manage("restore", str(saved), "--verify")
    story["restore damaged"] = manage("restore", str(saved))
    (saved / "models/judge/weights").write_bytes(FILES["models/judge/weights"])
    story["verify"] = manage("restore", str(saved), "--verify")
    story["restore"] = manage("restore", str(saved))
    story["files"] = [(settings.DATA_DIR / name).read_bytes() == content for name, content in FILES.items()]
    return story | recover(submission) | {"seen after": seen(client)}


def plan(given: dict[str, Any]) -> None:
    """An open stage whose HITs are planned, and a draft of another one."""
    from crowd.services import stages
    from tests.crowd.world import make_endpoint, make_project, make_stage

    endpoint = make_endpoint(
        url=given["api"],
        access_key=given["access_key"],
        secret=given["secret"],
        submit_origins=[given["site"]],
        fee_profile="none-1",
    )
    project = make_project()
    items = [f"tea {number}" for number in range(HITS)]
    first = make_stage(endpoint, project, items=items, redundancy=PLACES)
    make_stage(endpoint, project, items=["milk", "sugar"], checks={"salt": "no"}, checks_per_hit=1)
    stages.open_stage(stage=first)


def go_on(given: dict[str, Any]) -> str:
    """Publish, work, pay, give a bonus; open the draft, do a HIT of it and give that more places.

    The id of the assignment with the bonus.
    """
    from crowd.models import Assignment, Hit, Stage
    from crowd.services import review, stages
    from tests.clients import ScriptedWorker
    from tests.crowd.world import work

    workers = [ScriptedWorker(given["site"], *worker) for worker in given["workers"]]
    first, second = Stage.objects.order_by("pk")
    settle()
    for hit in Hit.objects.filter(stage=first).select_related("stage"):
        for worker in workers:
            work(hit, worker)
    settle()
    paid = Assignment.objects.filter(stage=first).order_by("pk")[0]
    review.bonus(assignment=paid, actor=None, **BONUS)
    stages.open_stage(stage=second)
    settle()
    hit = Hit.objects.filter(stage=second).order_by("pk")[0]
    work(hit, workers[0], "no")
    stages.extend_hit_places(hit=hit, places=2, purpose="more")
    settle()
    return str(paid.external_id)


def burn(data: Path, server: str) -> None:
    """Database and data folder are empty; a process that starts then would have a key of its own."""
    from django.conf import settings
    from django.db import connections

    from tests.server import blank_database, drop_database

    connections.close_all()
    for each in data.iterdir():
        if each.is_dir():
            shutil.rmtree(each)
        else:
            each.unlink()
    if settings.DATABASE_URL.startswith("postgres"):
        os.environ["DATABASE_URL"] = server
        drop_database(settings.DATABASE_URL)
        blank_database(data, settings.DATABASES["default"]["NAME"])


def recover(submission: str) -> dict[str, Any]:
    """Try to send, reconcile with a kill after each commit, ask for the same bonus again, and go on."""
    from django.utils import timezone

    from core.notices.conditions import everything_now
    from crowd.models import Assignment, Stage
    from crowd.services import review, stages
    from crowd.services.tick import tick
    from distillery.checks import dispatching

    idle = [tick().idle for _ in range(3)]
    for stage in Stage.objects.filter(status="draft"):
        stages.open_stage(stage=stage)
    story = {
        "idle": idle,
        "doctor": dispatching().sentence,
        "notices": [each.sentence for each in everything_now(timezone.now()) if each.kind == "halted"],
        "books while halted": books(),
    }
    killed, commit = 0, 1
    before = books()
    while not reconcile(commit):
        # The next one dies at its next step, or later where this one only did what was done before.
        killed, now = killed + 1, books()
        commit, before = commit + (now == before), now
    story |= {"killed": killed, "books known": books()}
    paid = Assignment.objects.get(external_id=submission)
    review.bonus(assignment=paid, actor=None, **BONUS)
    settle()
    return story | {"books after": books(), "doctor after": dispatching().sentence}


def reconcile(commit: int) -> bool:
    """Whether the command came to its end before it was killed after this commit; in a process of its own.

    It only reads at the marketplace: being killed around a call leaves what the commit before it left.
    """
    from django.db import connections

    from crowd.adapters import registry
    from crowd.models import Endpoint
    from tests.crowd.crash import KILLED, Points

    class Commits(Points):
        def _reached(self, name: str) -> None:
            if name == "commit":
                super()._reached(name)

    registry._adapters.clear()
    for endpoint in Endpoint.objects.all():
        registry.adapter(endpoint)  # has no connection yet that two processes could share
    connections.close_all()
    child = os.fork()
    if child == 0:
        try:
            Commits(commit).watch()
            done = manage("crowd", "reconcile", "--after-restore")
            sys.stderr.write(done)
            os._exit(1 if "Error" in done else 0)
        except BaseException:
            import traceback

            traceback.print_exc()
            os._exit(1)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, KILLED), f"the command failed with {code}"
    registry._adapters.clear()
    return code == 0


def manage(*arguments: str) -> str:
    """What a management command says, and its error where it ends in one."""
    from django.core.management import CommandError, call_command

    said = StringIO()
    try:
        call_command(*arguments, stdout=said, stderr=said)
    except CommandError as error:
        said.write(f"Error: {error}")
    return said.getvalue()


def settle() -> None:
    """Rounds until nothing is left to do."""
    from crowd.services.tick import tick

    for _ in range(12):
        if tick().idle:
            return
    raise AssertionError("There is always something left to do.")


def count_operations(**which: Any) -> int:
    from crowd.models import MarketOperation

    return MarketOperation.objects.filter(**which).count()


def books() -> dict[str, Any]:
    """Our rows about work and money."""
    from django.db.models import Sum

    from crowd.models import Assignment, Hit, HitUnit, LedgerEntry, Stage

    booked: Counter[str] = Counter()
    for kind, cents, fees in LedgerEntry.objects.values_list("kind", "cents", "fee_cents"):
        booked[kind] += cents + fees
    rows = Stage.objects.aggregate(spent=Sum("spent_cents"), reserved=Sum("reserved_cents"))
    published = Hit.objects.exclude(external_id="")
    units = HitUnit.objects.filter(hit__in=published)
    return {
        "states": dict(Counter(Assignment.objects.values_list("state", flat=True))),
        "answers": Assignment.objects.exclude(response=None).count(),
        "hits": sorted(published.values_list("external_id", "places")),
        "units": sorted(units.values_list("hit__external_id", "unit", "role", "position")),
        "spent": rows["spent"],
        "reserved": rows["reserved"],
        "spent in the ledger": booked["spend"] - booked["refund"],
        "reserved in the ledger": booked["reserve"] - booked["release"] - booked["spend"],
        "bonuses": count_operations(kind="bonus", state="confirmed"),
        "unfinished": count_operations(state__in=["planned", "claimed", "sent", "unknown"]),
        "refused": count_operations(state="refused"),
    }


def seen(client: Any) -> dict[str, Any]:
    """What the marketplace has, as boto3 lists it."""

    def listed(operation: str, member: str, **which: str) -> list[dict[str, Any]]:
        pages = client.get_paginator(operation).paginate(PaginationConfig={"PageSize": 100}, **which)
        return [item for page in pages for item in page[member]]

    hits = listed("list_hits", "HITs")
    work = [
        one for hit in hits for one in listed("list_assignments_for_hit", "Assignments", HITId=hit["HITId"])
    ]
    paid = [one for hit in hits for one in listed("list_bonus_payments", "BonusPayments", HITId=hit["HITId"])]
    said = client.get_account_balance()
    available, held = (int(Decimal(said[name]) * 100) for name in ("AvailableBalance", "OnHoldBalance"))
    return {
        "hits": sorted(hit["HITId"] for hit in hits),
        "annotations": sorted(Counter(hit["RequesterAnnotation"] for hit in hits).values()),
        "assignments": dict(Counter(one["AssignmentStatus"] for one in work)),
        "bonuses": [one["AssignmentId"] for one in paid],
        "spent": 5000 - available - held,
        "held": held,
    }


def main() -> None:
    """The whole story."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    django.setup()
    with contextlib.closing(answers):
        answers.write(json.dumps(tell(json.load(sys.stdin))))


if __name__ == "__main__":
    main()
