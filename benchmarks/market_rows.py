"""Rows of a marketplace in bulk, by steps in processes with the settings of the server.

Rows are what the services would have made, so the ledger's invariants still hold; only the way is faster.
"""

import sys
import time
from datetime import timedelta
from importlib import import_module
from itertools import islice
from typing import Any

from benchmarks.common import answer_step, set_up_django

set_up_django()

from django.conf import settings  # noqa: E402
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.db.models import Count, Q  # noqa: E402

from core import money  # noqa: E402
from marketplace import clock, ids  # noqa: E402
from marketplace.accounts.people import create_requester  # noqa: E402
from marketplace.lifecycle.expiry import sweep  # noqa: E402
from marketplace.models import HIT, Bonus, HITType, Holding, Requester, Worker  # noqa: E402
from marketplace.money import ledger  # noqa: E402
from marketplace.money.deposits import deposit  # noqa: E402
from marketplace.money.ledger import Kind, Movement  # noqa: E402

NAME = "benchmark"
REWARD, BATCH = 10, 2_000
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>http://localhost:8000/task/</ExternalURL>'
    "<FrameHeight>700</FrameHeight></ExternalQuestion>"
)
#: Groups as shares of all HITs: one very large batch, some large ones, many of everyday size.
SHARES = [0.40, 0.10, 0.10, *[0.025] * 8, *[0.005] * 40]
#: Places of a HIT, in turn from group to group.
PLACES = [1, 3, 1, 5, 1, 9, 1]


def make_requester() -> dict[str, str]:
    """A requester with a million dollars of play money."""
    requester, key = create_requester(name=NAME, fee_profile="mturk-2026")
    deposit(requester=requester, cents=100_000_000)
    return {"access_key": key.access_key, "secret": key.secret}


def make_workers(count: int) -> list[dict[str, str]]:
    """Workers with a session each, as after signing in; hashing passwords is not what is measured."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    cookies = []
    for number in range(count):
        user = User.objects.create(username=f"worker-{number}", password="!")
        worker_id = ids.new_customer_id()
        Worker.objects.create(
            worker_id=worker_id, name=user.username, user=user, country="US", created_at=clock.now()
        )
        session = store()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.create()
        cookies.append({"cookie": settings.SESSION_COOKIE_NAME, "session": session.session_key})
    return cookies


def make_hits(count: int, places: int, title: str, days: float = 30) -> str:
    """Open HITs of one new group, whose id is returned."""
    owner = Requester.objects.get(name=NAME)
    now = clock.now()
    hit_type = HITType.objects.create(
        requester=owner,
        type_id=ids.new_entity_id(),
        group_id=ids.new_entity_id(),
        title=title,
        description="Read a passage and answer a question about it.",
        keywords="reading, questions",
        reward_cents=REWARD,
        duration_s=600,
        auto_approval_s=900 if title.startswith("Auto-approved") else 3 * 86_400,
        value_digest=ids.digest(title),
        created_at=now,
    )
    fee = money.reward_fee(
        owner.fee_profile, reward_cents=REWARD, max_assignments=places, qualification_ids=[]
    )
    hits = (
        HIT(
            requester=owner,
            hit_type=hit_type,
            hit_id=ids.new_entity_id(),
            question=QUESTION,
            created_at=now,
            expires_at=now + timedelta(days=days),
            max_assignments=places,
            max_at_creation=places,
            open_places=places,
            held_places=places,
            reward_cents=REWARD,
            fee_cents=fee,
            fee_profile=owner.fee_profile,
        )
        for _ in range(count)
    )
    while batch := list(islice(hits, BATCH)):
        HIT.objects.bulk_create(batch)
    with transaction.atomic():
        ledger.post(owner.pk, [Movement(Kind.HOLD, count * places * (REWARD + fee), memo="bulk")], at=now)
    return hit_type.group_id


def make_stock(count: int) -> None:
    """Open HITs in groups of all sizes; a fifth is approved by time, a sixth ends within the hour."""
    for number, share in enumerate(SHARES):
        title = f"{'Auto-approved: question' if number % 5 == 4 else 'Question'} answering, part {number + 1}"
        places, days = PLACES[number % len(PLACES)], 1_500 / 86_400 if number % 6 == 5 else 30
        make_hits(round(count * share), places, title, days)


def settle() -> str:
    """Let the database know its tables as a running one would; which database it is, and how durable."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA optimize")
            cursor.execute("PRAGMA synchronous")
            return f"SQLite, WAL, synchronous {cursor.fetchone()[0]}"
        cursor.execute("ANALYZE")
        cursor.execute("SELECT current_setting('fsync'), current_setting('synchronous_commit')")
        fsync, commit = cursor.fetchone()
        return f"PostgreSQL, fsync {fsync}, synchronous_commit {commit}"


def run_timer(seconds: int, every: str) -> list[float]:
    """The sweep again and again, as the timer of an installation runs it; milliseconds of each."""
    begin = time.perf_counter()
    times = []
    while (now := time.perf_counter()) < begin + seconds:
        sweep()
        times.append((time.perf_counter() - now) * 1000)
        time.sleep(max(0.0, float(every) - (time.perf_counter() - now)))
    return times


def count_rows() -> dict[str, Any]:
    """What the tables have after an hour, and what the audit of the ledger says."""
    states = {state.value: Count("pk", filter=Q(state=state)) for state in Holding.State}
    rows: dict[str, Any] = Holding.objects.aggregate(
        **states, auto_approved=Count("pk", filter=Q(auto_approved=True))
    )
    return rows | {
        "answers": Holding.objects.exclude(answer="").count(),
        "bonuses": Bonus.objects.count(),
        "hits": HIT.objects.count(),
        "faults": ledger.audit(),
    }


STEPS = {
    "requester": make_requester,
    "workers": make_workers,
    "hits": make_hits,
    "stock": make_stock,
    "settle": settle,
    "timer": run_timer,
    "count": count_rows,
}

if __name__ == "__main__":
    answer_step(STEPS, sys.argv[2:])
