"""What `benchmarks/market_load.py` needs inside the marketplace, in processes with the server's settings.

    python -m benchmarks.marketside stock 100000     a requester with so many open HITs, in groups
    python -m benchmarks.marketside people 200       workers who are signed in
    python -m benchmarks.marketside timer 300 1      what the job worker's timer does, every second for 300 s
    python -m benchmarks.marketside count            what came of it, and the audit

Each prints one JSON object.
"""

import json
import sys
import time
from datetime import timedelta
from importlib import import_module
from itertools import islice
from typing import Any

import django

django.setup()

from django.conf import settings  # noqa: E402
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY  # noqa: E402
from django.contrib.auth.hashers import make_password  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.db.models import Count, Q, Sum  # noqa: E402

from benchmarks.fill import ANSWER, BATCH, QUESTION, settle  # noqa: E402
from core import money  # noqa: E402
from marketplace import clock, ids, ledger  # noqa: E402
from marketplace.ledger import Kind, Movement  # noqa: E402
from marketplace.models import HIT, Bonus, HITType, Holding, Requester, Worker  # noqa: E402
from marketplace.services.people import create_requester, deposit  # noqa: E402
from marketplace.sweep import sweep  # noqa: E402

#: Groups as shares of all HITs: one very large batch, some large ones, many of everyday size.
SHARES = [0.40, 0.10, 0.10, *[0.025] * 8, *[0.005] * 40]
#: Places of a HIT, in turn from group to group.
PLACES = [1, 3, 1, 5, 1, 9, 1]
WORK_SECONDS = 600
US_ONLY = [
    {
        "QualificationTypeId": "00000000000000000071",
        "Comparator": "EqualTo",
        "LocaleValues": [{"Country": "US"}],
        "ActionsGuarded": "Accept",
        "RequiredToPreview": False,
    }
]
GOOD = [
    {
        "QualificationTypeId": "000000000000000000L0",
        "Comparator": "GreaterThanOrEqualTo",
        "IntegerValues": [50],
        "ActionsGuarded": "DiscoverPreviewAndAccept",
        "RequiredToPreview": True,
    }
]


def stock(count: int) -> dict[str, str]:
    """A requester whose HITs are open when the hour begins; rows are what the services would have made."""
    owner, key = create_requester(name="Large laboratory", fee_profile="mturk-2026")
    deposit(requester=owner, cents=500_000_00)
    for number, share in enumerate(SHARES):
        _group(owner, number, round(count * share))
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("ANALYZE")
    return {"access_key": key.access_key, "secret": key.secret}


def _group(owner: Requester, number: int, count: int) -> None:
    now = clock.now()
    places = PLACES[number % len(PLACES)]
    hit_type = HITType.objects.create(
        requester=owner,
        type_id=ids.new_entity_id(),
        group_id=ids.new_entity_id(),
        title=f"{'Auto-approved: question' if number % 5 == 4 else 'Question'} answering, part {number + 1}",
        description="Read a passage and answer a question about it.",
        keywords="reading, questions",
        reward_cents=10 + number % 7,
        duration_s=WORK_SECONDS,
        auto_approval_s=900 if number % 5 == 4 else 3 * 86_400,
        requirements=[[], US_ONLY, GOOD][number % 3],
        value_digest=ids.digest(f"group {number}"),
        created_at=now,
    )
    fee = money.reward_fee(
        owner.fee_profile, reward_cents=hit_type.reward_cents, max_assignments=places, qualification_ids=[]
    )
    # Every sixth group ends within the hour.
    life = timedelta(seconds=1_500) if number % 6 == 5 else timedelta(days=30)
    made = (
        HIT(
            requester=owner,
            hit_type=hit_type,
            hit_id=ids.new_entity_id(),
            question=QUESTION,
            created_at=now,
            expires_at=now + life,
            max_assignments=places,
            max_at_creation=places,
            open_places=places,
            held_places=places,
            reward_cents=hit_type.reward_cents,
            fee_cents=fee,
            fee_profile=owner.fee_profile,
        )
        for _ in range(count)
    )
    while batch := list(islice(made, BATCH)):
        HIT.objects.bulk_create(batch)
    with transaction.atomic():
        held = Movement(Kind.HOLD, count * places * (hit_type.reward_cents + fee), memo="bulk")
        ledger.post(owner.pk, [held], at=now)


def people(count: int) -> list[dict[str, str]]:
    """Workers with a session each, as after signing in; hashing their passwords is not what is measured."""
    store = import_module(settings.SESSION_ENGINE).SessionStore
    password = make_password("a password for measurements")
    signed_in = []
    for number in range(count):
        user = User.objects.create(username=f"worker-{number}", password=password)
        Worker.objects.create(
            worker_id=ids.new_customer_id(),
            name=user.username,
            user=user,
            country="US" if number % 4 else "CA",
            created_at=clock.now(),
        )
        session = store()
        session[SESSION_KEY] = str(user.pk)
        session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[-1]
        session[HASH_SESSION_KEY] = user.get_session_auth_hash()
        session.create()
        signed_in.append({"cookie": settings.SESSION_COOKIE_NAME, "session": session.session_key})
    return signed_in


def timer(seconds: float, every: float) -> dict[str, Any]:
    """The sweep again and again, as the timer of an installation runs it; milliseconds of each."""
    begin = time.perf_counter()
    taken = []
    while (at := time.perf_counter()) < begin + seconds:
        sweep()
        taken.append((time.perf_counter() - at) * 1000)
        time.sleep(max(0.0, every - (time.perf_counter() - at)))
    return {"sweeps": taken}


def count() -> dict[str, Any]:
    """What the tables say after the hour."""
    states = {state.value: Count("pk", filter=Q(state=state)) for state in Holding.State}
    found: dict[str, Any] = Holding.objects.aggregate(
        **states, auto_approved=Count("pk", filter=Q(auto_approved=True))
    )
    answers = Holding.objects.filter(answer__contains=ANSWER[:40]).count()
    bonuses = Bonus.objects.aggregate(n=Count("pk"), cents=Sum("cents"))
    return {
        **found,
        "answers": answers,
        "bonuses": bonuses["n"],
        "bonus_cents": bonuses["cents"] or 0,
        "hits": HIT.objects.count(),
        "expired": HIT.objects.filter(expires_at__lte=clock.now()).count(),
        "faults": ledger.audit(),
    }


def main() -> None:
    """Do what the arguments say, and print what came of it."""
    what, *numbers = sys.argv[1:]
    does = {"stock": stock, "people": people, "timer": timer, "count": count, "settle": settle}[what]
    given = [float(number) if what == "timer" else int(number) for number in numbers]
    print(json.dumps(does(*given)))  # type: ignore[operator]


if __name__ == "__main__":
    main()
