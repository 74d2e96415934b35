"""Makes data in bulk, in a process with the server's settings: `python -m benchmarks.fill WHAT NUMBER…`.

Rows are what the services would have made, so the ledger's invariants still hold; only the way is faster.
"""

import json
import sys
from datetime import timedelta
from itertools import islice

import django

django.setup()

from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.db.models import F  # noqa: E402

from marketplace import clock, ids, ledger  # noqa: E402
from marketplace.ledger import Kind, Movement  # noqa: E402
from marketplace.models import HIT, HITType, Holding, Place, Requester, Worker  # noqa: E402
from marketplace.questions import answers_xml  # noqa: E402
from marketplace.services.people import create_requester, deposit  # noqa: E402

PASSWORD = "a password for measurements"
BATCH = 2_000
REWARD = 10
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>http://localhost:8000/task/</ExternalURL>'
    "<FrameHeight>700</FrameHeight></ExternalQuestion>"
)
ANSWER = "An answer of a usual length, in the worker's own words: it says what the passages say, and no more."


def requester() -> dict[str, str]:
    """A requester with a million dollars of play money."""
    made, key = create_requester(name="benchmark", fee_profile="mturk-2026")
    deposit(requester=made, cents=100_000_000)
    return {"access_key": key.access_key, "secret": key.secret}


def web_workers(count: int) -> list[dict[str, str]]:
    """Workers who log in on the site."""
    names = [f"worker-{number}" for number in range(count)]
    for name in names:
        user = User.objects.create_user(name, password=PASSWORD)
        Worker.objects.create(
            worker_id=ids.new_customer_id(), name=name, user=user, country="US", created_at=clock.now()
        )
    return [{"username": name, "password": PASSWORD} for name in names]


def hits(count: int, max_assignments: int, title: str) -> str:
    """Open HITs of one new group, whose id is given back."""
    owner = Requester.objects.get(name="benchmark")
    now = clock.now()
    hit_type = HITType.objects.create(
        requester=owner,
        type_id=ids.new_entity_id(),
        group_id=ids.new_entity_id(),
        title=title,
        description="Read a passage and answer a question about it.",
        keywords="benchmark",
        reward_cents=REWARD,
        duration_s=3600,
        auto_approval_s=86400,
        value_digest=ids.digest(title),
        created_at=now,
    )
    made = (
        HIT(
            requester=owner,
            hit_type=hit_type,
            hit_id=ids.new_entity_id(),
            question=QUESTION,
            created_at=now,
            expires_at=now + timedelta(days=30),
            max_assignments=max_assignments,
            max_at_creation=max_assignments,
            open_places=max_assignments,
            held_places=max_assignments,
            reward_cents=REWARD,
            fee_cents=0,
            fee_profile="none-1",
        )
        for _ in range(count)
    )
    while batch := list(islice(made, BATCH)):
        HIT.objects.bulk_create(batch)
    with transaction.atomic():
        movement = Movement(Kind.HOLD, count * max_assignments * REWARD, memo="bulk")
        ledger.post(owner.pk, [movement], at=now)
    return hit_type.group_id


def submitted(count: int) -> str:
    """One HIT with `count` submitted assignments by as many workers; its id is given back."""
    group_id = hits(1, count, f"{count} assignments")
    hit = HIT.objects.get(hit_type__group_id=group_id)
    now = clock.now()
    for start in range(0, count, BATCH):
        numbers = range(start, min(start + BATCH, count))
        workers = Worker.objects.bulk_create(
            Worker(worker_id=ids.new_customer_id(), name=f"submitter-{number}", created_at=now)
            for number in numbers
        )
        places = Place.objects.bulk_create(
            Place(hit=hit, ordinal=number + 1, assignment_id=ids.new_entity_id()) for number in numbers
        )
        Holding.objects.bulk_create(
            Holding(
                place=place,
                hit=hit,
                requester_id=hit.requester_id,
                worker=worker,
                assignment_id=place.assignment_id,
                state=Holding.State.SUBMITTED,
                accepted_at=now,
                deadline=now + timedelta(hours=1),
                submitted_at=now + timedelta(microseconds=place.ordinal),
                auto_approve_at=now + timedelta(days=1),
                answer=answers_xml([("answer", ANSWER)]),
            )
            for place, worker in zip(places, workers, strict=True)
        )
    HIT.objects.filter(pk=hit.pk).update(
        open_places=F("open_places") - count, submitted=F("submitted") + count, places_made=count
    )
    return hit.hit_id


def settle() -> dict[str, str]:
    """Let the database know its tables as a running one would; tell which database it is."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE")
            cursor.execute(
                "SELECT current_setting('fsync'), current_setting('synchronous_commit'), version()"
            )
            fsync, commit, version = cursor.fetchone()
            return {
                "name": " ".join(version.split()[:2]),
                "durability": f"fsync {fsync}, synchronous_commit {commit}",
            }
        cursor.execute("PRAGMA optimize")
        cursor.execute("SELECT sqlite_version()")
        version = cursor.fetchone()[0]
        cursor.execute("PRAGMA synchronous")
        level = {0: "OFF", 1: "NORMAL", 2: "FULL"}[cursor.fetchone()[0]]
        return {"name": f"SQLite {version}", "durability": f"WAL, synchronous {level}"}


def main() -> None:
    """Make what the arguments say, and print what came of it as JSON."""
    what, *numbers = sys.argv[1:]
    makers = {"requester": requester, "web_workers": web_workers, "submitted": submitted, "settle": settle}
    if what == "hits":
        count, max_assignments, title = numbers
        made: object = hits(int(count), int(max_assignments), title)
    else:
        made = makers[what](*map(int, numbers))  # type: ignore[operator]
    print(json.dumps(made))


if __name__ == "__main__":
    main()
