"""Noting how people come and how their answers come about, as keyed digests that go after a while.

Nothing here refuses or rejects anything: reviewers are shown what was noted (`requester.selectors.hints`).
"""

import hashlib
import logging
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.http import HttpRequest
from django.utils.crypto import salted_hmac

from core.accounts.guards import device_number
from core.accounts.security import client_address, neighbourhood
from marketplace import clock
from marketplace.activity import delete_in_batches
from marketplace.forms.questions import fields_of
from marketplace.models import Holding, Likeness, Worker, WorkerTrace, WorkTrace

logger = logging.getLogger(__name__)


Kind = WorkerTrace.Kind
#: Texts of fewer words are alike by chance.
FEWEST_WORDS = 8
#: Sketches of 64 bits that differ in at most so many are of nearly the same words.
NEAR_BITS = 6
#: Answers of the same HIT or batch that one answer is compared with: the latest.
_MOST_COMPARED = 2_000
_AT_ONCE = 200
#: Key of the session: which visit was noted last.
_NOTED = "visit_noted"
#: Counts of a browser beyond these say nothing more.
MOST = 100_000
_WORD = re.compile(r"\w+")


def keyed(kind: str, text: str) -> str:
    """A digest that says nothing without the installation's secret."""
    return salted_hmac(f"marketplace.traces.{kind}", text, algorithm="sha256").hexdigest()


@lru_cache(maxsize=2_000)
def _remembered(_secret: str, kind: str, text: str) -> str:
    """The same for what comes with every request of a person."""
    return keyed(kind, text)


def address_digest(request: HttpRequest) -> str:
    """Of the network address; an IPv6 network of 64 bits is one."""
    return _remembered(settings.SECRET_KEY, Kind.ADDRESS, neighbourhood(client_address(request)))


def note_visit(*, request: HttpRequest, worker: Worker, signed_up: bool = False) -> None:
    """Note with which address and browser a worker comes; once a day, and nothing where nothing is kept."""
    if not settings.TRACES_KEPT_DAYS:
        return
    digests = {Kind.ADDRESS: address_digest(request)}
    if number := device_number(request):
        digests[Kind.BROWSER] = _remembered(settings.SECRET_KEY, Kind.BROWSER, number)
    now = clock.now()
    # The session remembers it, so that accepting asks the database once a day and not for every HIT.
    mark = " ".join([str(worker.pk), f"{now:%Y-%m-%d}", *(digest[:16] for digest in digests.values())])
    if not signed_up and request.session.get(_NOTED) == mark:
        return
    request.session[_NOTED] = mark
    agent = keyed("agent", request.headers.get("User-Agent", "")[:500])
    country = country_of(client_address(request))
    marks = [(kind, digest, country if kind == Kind.ADDRESS else "") for kind, digest in digests.items()]
    traces = {
        (trace.kind, trace.digest): trace
        for trace in WorkerTrace.objects.filter(worker=worker, digest__in=[each[1] for each in marks])
    }
    for kind, digest, place in marks:
        trace = traces.get((kind, digest))
        if trace is None:
            WorkerTrace.objects.bulk_create(
                [
                    WorkerTrace(
                        worker=worker,
                        kind=kind,
                        digest=digest,
                        agent_digest=agent,
                        country=place,
                        signed_up=signed_up,
                        first_at=now,
                        last_at=now,
                    )
                ],
                ignore_conflicts=True,
            )
        elif trace.last_at < now - timedelta(days=1):
            WorkerTrace.objects.filter(pk=trace.pk).update(last_at=now, agent_digest=agent, country=place)


def note_counts(*, holding: Holding, left: int, left_seconds: int, pastes: int, pasted: int) -> None:
    """What the browser counted while somebody worked; later counts of the same page are never smaller."""
    if not settings.TRACES_KEPT_DAYS:
        return
    counts = {"left": left, "left_seconds": left_seconds, "pastes": pastes, "pasted_characters": pasted}
    with transaction.atomic():
        row, _ = WorkTrace.objects.get_or_create(holding=holding, defaults={"at": clock.now()})
        row = WorkTrace.objects.select_for_update().get(pk=row.pk)
        for name, value in counts.items():
            setattr(row, name, max(getattr(row, name), min(MOST, max(0, value))))
        row.save(update_fields=list(counts))


@dataclass(frozen=True, slots=True)
class AnswerMarks:
    """What finds answers like one: a digest of its words, and a sketch that is near for texts that are."""

    digest: str
    sketch: int


def marks_of(answer: str) -> AnswerMarks | None:
    """The marks of an answer as it is stored; None where it has too few words, or nothing is kept."""
    if not settings.TRACES_KEPT_DAYS:
        return None
    tokens = _split_words(answer)
    if len(tokens) < FEWEST_WORDS:
        return None
    return AnswerMarks(keyed("text", " ".join(tokens)), sketch(tokens))


def note_answer(*, holding: Holding, marks: AnswerMarks) -> None:
    """Note the words of an answer, to be compared with others' soon; in the transaction that records it."""
    trace = WorkTrace(holding=holding, text_digest=marks.digest, text_sketch=marks.sketch, at=clock.now())
    # The row is there where the browser's counts came before.
    WorkTrace.objects.bulk_create(
        [trace],
        update_conflicts=True,
        unique_fields=["holding"],
        update_fields=["text_digest", "text_sketch"],
    )


def _split_words(answer: str) -> list[str]:
    """Words that were typed: choices are alike because people agree."""
    texts = [each.text for each in fields_of(answer) if len(each.text.split()) >= FEWEST_WORDS / 2]
    return _WORD.findall(" ".join(texts).lower())


#: For each byte a number whose eight parts of 32 bits are its bits, so that one addition counts all of them.
_PARTS = [sum((byte >> bit & 1) << 32 * bit for bit in range(8)) for byte in range(256)]


def sketch(tokens: list[str]) -> int:
    """A similarity hash (SimHash) of pairs of words, as a signed number of 64 bits."""
    sums, pairs = [0] * 8, list(zip(tokens, tokens[1:] or tokens, strict=False))
    for first, second in pairs:
        digest = hashlib.blake2b(f"{first} {second}".encode(), digest_size=8).digest()
        for place, byte in enumerate(reversed(digest)):
            sums[place] += _PARTS[byte]
    number = 0
    for bit in range(64):
        count = sums[bit // 8] >> 32 * (bit % 8) & 0xFFFF_FFFF
        if 2 * count > len(pairs):
            number |= 1 << bit
    return number - (1 << 64) if number >> 63 else number


def compare_answers() -> int:
    """Compare answers that came in with those of others to the same HIT or in the same batch; how many."""
    rows = list(
        WorkTrace.objects.filter(compared_at=None)
        .exclude(text_digest="")
        .select_related("holding__hit")
        .defer("holding__answer", "holding__hit__question")
        .order_by("pk")[:_AT_ONCE]
    )
    for row in rows:
        _compare(row, clock.now())
    return len(rows)


@transaction.atomic
def _compare(row: WorkTrace, now: datetime) -> None:
    holding = row.holding
    others = WorkTrace.objects.exclude(text_digest="").exclude(holding__worker=holding.worker_id)
    batch = holding.hit.batch_id
    same = others.filter(holding__hit__batch=batch) if batch else others.filter(holding__hit=holding.hit_id)
    pairs: list[Likeness] = []
    for other, digest, others_sketch in same.order_by("-pk").values_list(
        "holding", "text_digest", "text_sketch"
    )[:_MOST_COMPARED]:
        identical = digest == row.text_digest
        if identical or _near(row.text_sketch, others_sketch):
            for one, another in ((holding.pk, other), (other, holding.pk)):
                pairs.append(Likeness(holding_id=one, other_id=another, identical=identical, at=now))
    Likeness.objects.bulk_create(pairs, ignore_conflicts=True)
    WorkTrace.objects.filter(pk=row.pk).update(compared_at=now)


def _near(one: int | None, other: int | None) -> bool:
    if one is None or other is None:
        return False
    return ((one ^ other) & (1 << 64) - 1).bit_count() <= NEAR_BITS


def forget_traces() -> int:
    """Delete what is older than `TRACES_KEPT_DAYS`; how many rows."""
    before = clock.now() - timedelta(days=settings.TRACES_KEPT_DAYS)
    gone = delete_in_batches(WorkerTrace.objects.filter(last_at__lt=before))
    gone += delete_in_batches(Likeness.objects.filter(at__lt=before))
    return gone + delete_in_batches(WorkTrace.objects.filter(at__lt=before))


# The country of a network address, by a file of the operator's (MaxMind's format, .mmdb).
#
# Both are optional: without `GEOIP_DATABASE`, or without the library, no country is known; `geoip_fault` says
# which.


@lru_cache(maxsize=4)
def _geoip_reader(path: str) -> tuple[Any, str]:
    """The reader of a file, or what is wrong with it; opened once in each process."""
    try:
        import maxminddb  # there only with the extra
    except ImportError:
        return None, "The library maxminddb is not installed: pip install 'distillery[geoip]'."
    if not Path(path).is_file():
        return None, f"There is no file {path}."
    try:
        return maxminddb.open_database(path), ""
    except (OSError, ValueError, RuntimeError, maxminddb.InvalidDatabaseError) as error:
        return None, f"{path} cannot be read: {error}"


def geoip_fault() -> str:
    """Why no country is known though a file is named; empty where all is well or none is named."""
    return _geoip_reader(settings.GEOIP_DATABASE)[1] if settings.GEOIP_DATABASE else ""


def country_of(address: str) -> str:
    """ISO 3166 code of the country that the file has for an address; empty where it says nothing."""
    if not settings.GEOIP_DATABASE:
        return ""
    reader, _ = _geoip_reader(settings.GEOIP_DATABASE)
    if reader is None:
        return ""
    try:
        entry = reader.get(address)
    except (ValueError, OSError, RuntimeError):
        logger.warning("The GeoIP file does not answer.", exc_info=True)
        return ""
    code = ((entry or {}).get("country") or {}).get("iso_code", "") if isinstance(entry, dict) else ""
    return code if isinstance(code, str) and len(code) == 2 else ""
