"""A worker's own data as one ZIP archive: the tables in it, and how it is written while it is sent.

No file of it is ever whole in memory.
"""

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db.models import QuerySet

from core.accounts import services
from core.files.cells import csv_line_writer, plain
from marketplace import models
from marketplace.heritage.models import FormerIdClaim
from marketplace.money.finance import payment_note
from marketplace.money.payees import opened, payee_of

#: Rows in memory at a time; an answer can have 64 kB.
_AT_ONCE = 200
#: Fields of a worker that are keys of our own, or are told in another way.
NOT_IN_PROFILE = ("id", "user", "invitation", "token_digest", "payment_note_sealed")
#: Tables about a worker that are kept back, and why.
KEPT_BACK = {
    "blocks": "Requesters can block workers. As on MTurk, a worker is not told the reason on the site; "
    "ask the operator, who can give you a copy with the blocks, where the law gives you a right to it.",
}


@dataclass(frozen=True, slots=True)
class Table:
    """A table of the export. `columns` are names in the files and where the database has the values."""

    name: str
    about: str
    rows: Callable[[models.Worker], QuerySet[Any]]
    columns: dict[str, str]

    def values(self, worker: models.Worker) -> Iterator[tuple[Any, ...]]:
        """The rows of one worker, a few in memory at a time."""
        return self.rows(worker).values_list(*self.columns.values()).iterator(chunk_size=_AT_ONCE)


_WORK = {
    "requester": "hit__requester__name",
    "title": "hit__hit_type__title",
    "hit_id": "hit__hit_id",
    "hit_type_id": "hit__hit_type__type_id",
}
TABLES = (
    Table(
        "assignments",
        "HITs you accepted, with your answers as the requester gets them (QuestionFormAnswers XML).",
        lambda worker: models.Holding.objects.filter(worker=worker).order_by("accepted_at", "pk"),
        {
            "assignment_id": "assignment_id",
            **_WORK,
            "reward_cents": "hit__reward_cents",
            "state": "state",
            "accepted_at": "accepted_at",
            "deadline": "deadline",
            "ended_at": "ended_at",
            "submitted_at": "submitted_at",
            "automatic_approval_at": "auto_approve_at",
            "approved_at": "approved_at",
            "approved_automatically": "auto_approved",
            "rejected_at": "rejected_at",
            "feedback": "feedback",
            "answer": "answer",
        },
    ),
    Table(
        "earnings",
        "Money booked for you, in cents, and the report by which it is paid out, if there is one.",
        lambda worker: models.LedgerEntry.objects.filter(worker=worker).order_by("at", "pk"),
        {
            "at": "at",
            "kind": "kind",
            "cents": "cents",
            "real_money": "requester__real_money",
            "assignment_id": "holding__assignment_id",
            **_WORK,
            "requester": "requester__name",
            "memo": "memo",
            "payable_report": "payable__number",
            "paid_out_at": "payable__paid_at",
        },
    ),
    Table(
        "payouts",
        "Payments to you by files: what was sent to which service when, and what became of it.",
        lambda worker: models.PayoutLine.objects.filter(worker=worker).order_by("pk"),
        {
            "made_at": "payout__made_at",
            "requester": "payout__requester__name",
            "method": "payout__method",
            "cents": "cents",
            "currency": "payout__currency",
            "reference": "reference",
            "state": "state",
            "reason": "reason",
            "state_since": "at",
        },
    ),
    Table(
        "how_you_are_paid",
        "How you are paid, and a change that waits; the details are in profile.json.",
        lambda worker: models.PayeeDetails.objects.filter(worker=worker),
        {
            "method": "method",
            "set_at": "set_at",
            "confirmed_at": "confirmed_at",
            "waiting_method": "waiting_method",
            "waiting_since": "waiting_since",
        },
    ),
    Table(
        "yearly_limits",
        "Years in which your payments passed a threshold of those who run this marketplace.",
        lambda worker: models.YearlyLimit.objects.filter(worker=worker).order_by("year"),
        {
            "year": "year",
            "warned_at": "warned_at",
            "held_at": "held_at",
            "released_at": "released_at",
            "decision": "decision",
        },
    ),
    Table(
        "bonuses",
        "Bonuses with their reasons; their money is among the earnings too.",
        lambda worker: models.Bonus.objects.filter(worker=worker).order_by("granted_at", "pk"),
        {
            "granted_at": "granted_at",
            "cents": "cents",
            "reason": "reason",
            "assignment_id": "assignment_id",
            **_WORK,
            "requester": "requester__name",
        },
    ),
    Table(
        "messages",
        "What requesters wrote to you.",
        lambda worker: models.Message.objects.filter(worker=worker).order_by("sent_at", "pk"),
        {
            "sent_at": "sent_at",
            "read_at": "read_at",
            "requester": "requester__name",
            "subject": "subject",
            "body": "body",
            "answer_to": "answers__subject",
        },
    ),
    Table(
        "letters",
        "What you wrote to requesters.",
        lambda worker: models.Letter.objects.filter(worker=worker).order_by("sent_at", "pk"),
        {
            "sent_at": "sent_at",
            "read_at": "read_at",
            "answered_at": "answered_at",
            "requester": "requester__name",
            "title": "hit_type__title",
            "hit_type_id": "hit_type__type_id",
            "assignment_id": "assignment_id",
            "subject": "subject",
            "body": "body",
        },
    ),
    Table(
        "ratings",
        "Your ratings of groups of HITs.",
        lambda worker: models.Rating.objects.filter(worker=worker).order_by("at", "pk"),
        {
            "at": "at",
            "requester": "hit_type__requester__name",
            "title": "hit_type__title",
            "hit_type_id": "hit_type__type_id",
            "stars": "stars",
            "words": "words",
        },
    ),
    Table(
        "qualifications",
        "Qualifications that requesters gave you or took back.",
        lambda worker: models.QualificationGrant.objects.filter(worker=worker).order_by("granted_at", "pk"),
        {
            "granted_at": "granted_at",
            "requester": "qualification_type__requester__name",
            "name": "qualification_type__name",
            "qualification_type_id": "qualification_type__qualification_type_id",
            "value": "value",
            "status": "status",
            "reason": "reason",
        },
    ),
    Table(
        "qualification_requests",
        "Qualifications you asked for, with your answers to their tests.",
        lambda worker: models.QualificationRequest.objects.filter(worker=worker).order_by("started_at", "pk"),
        {
            "started_at": "started_at",
            "deadline": "deadline",
            "submitted_at": "submitted_at",
            "decided_at": "decided_at",
            "requester": "qualification_type__requester__name",
            "name": "qualification_type__name",
            "qualification_type_id": "qualification_type__qualification_type_id",
            "request_id": "request_id",
            "state": "state",
            "score": "score",
            "reason": "reason",
            "test": "test",
            "answer": "answer",
        },
    ),
    Table(
        "contact",
        "The e-mail address you confirmed, one that waits for its link, and the digest you asked for.",
        lambda worker: models.Contact.objects.filter(worker=worker),
        {
            "email": "email",
            "confirmed_at": "confirmed_at",
            "waiting_email": "waiting_email",
            "waiting_since": "waiting_since",
            "digest": "digest",
            "digest_due_at": "digest_due_at",
            "new_password_mailed_at": "reset_mailed_at",
        },
    ),
    Table(
        "country_changes",
        "Countries that you stated after you had signed up, with your reasons.",
        lambda worker: models.CountryChange.objects.filter(worker=worker).order_by("at", "pk"),
        {"at": "at", "before": "before", "after": "after", "reason": "reason"},
    ),
    Table(
        "traces",
        "Network addresses and browsers that you came with; kept as digests, from which nobody reads them.",
        lambda worker: models.WorkerTrace.objects.filter(worker=worker).order_by("first_at", "pk"),
        {
            "kind": "kind",
            "first_at": "first_at",
            "last_at": "last_at",
            "country": "country",
            "signed_up": "signed_up",
        },
    ),
    Table(
        "work_traces",
        "How your answers came about: how often their page was left, and what was pasted into it.",
        lambda worker: models.WorkTrace.objects.filter(holding__worker=worker).order_by("at", "pk"),
        {
            "at": "at",
            "assignment_id": "holding__assignment_id",
            "left": "left",
            "left_seconds": "left_seconds",
            "pastes": "pastes",
            "pasted_characters": "pasted_characters",
        },
    ),
    Table(
        "mturk_id",
        "The worker id on MTurk that you stated, and whether it was accepted as yours.",
        lambda worker: FormerIdClaim.objects.filter(worker=worker).order_by("pk"),
        {"former_id": "former_id", "accepted": "accepted", "at": "at"},
    ),
    Table(
        "page_storage",
        "What task pages of requesters keep for you from task to task: local storage and cookies, as JSON.",
        lambda worker: models.PageStorage.objects.filter(worker=worker).order_by("pk"),
        {"requester": "requester__name", "values": "values", "changed_at": "changed_at"},
    ),
    Table(
        "sign_ins",
        "When and from where your user name was used to sign in.",
        lambda worker: services.sign_ins(worker.user),
        {
            "at": "attempt_time",
            "signed_out_at": "logout_time",
            "address": "ip_address",
            "browser": "user_agent",
        },
    ),
    Table(
        "failed_sign_ins",
        "Tries to sign in under your user name that failed.",
        lambda worker: services.failed_sign_ins(worker.user),
        {
            "at": "attempt_time",
            "address": "ip_address",
            "browser": "user_agent",
            "failures": "failures_since_start",
        },
    ),
)
BLOCKS = Table(
    "blocks",
    "Requesters who do not accept your work, with the reasons they gave.",
    lambda worker: worker.blocks.order_by("created_at", "pk"),
    {"created_at": "created_at", "requester": "requester__name", "reason": "reason"},
)


def profile(worker: models.Worker) -> dict[str, Any]:
    """The worker as the marketplace knows them, and their account."""
    facts = {
        field.name: getattr(worker, field.name)
        for field in worker._meta.concrete_fields
        if field.name not in NOT_IN_PROFILE
    }
    user = worker.user
    account = (
        {
            "username": user.get_username(),
            "first_name": user.first_name,
            "last_name": user.last_name,
            "email": user.email,
            "date_joined": user.date_joined,
            "last_login": user.last_login,
        }
        if user
        else None
    )
    payee = payee_of(worker)
    return {
        "worker": facts,
        "how_to_be_paid": payment_note(worker),
        "payment_details": opened(payee.details_sealed) if payee else None,
        "payment_details_waiting": opened(payee.waiting_sealed) if payee else None,
        "account": account,
    }


def readme(worker: models.Worker, tables: tuple[Table, ...], *, currency: str, now: datetime) -> str:
    """What the files are, in words."""
    width = max(len(table.name) for table in tables)
    named = {table.name for table in tables}
    lines = [
        f"What the marketplace keeps about the worker {worker.worker_id}, at {now:%Y-%m-%d %H:%M} UTC.",
        "",
        "profile.json is what you said about yourself, and what is counted of your work.",
        "Every table comes twice: as JSON with the values as they are, and as CSV for spreadsheets, where a",
        "text that a spreadsheet would run as a formula has an apostrophe before it.",
        f"Money is in cents of {currency}. Times are UTC.",
        "",
        *(f"{table.name:<{width}}  {table.about}" for table in tables),
        "",
        "Not in here:",
        *(f"{name}: {why}" for name, why in KEPT_BACK.items() if name not in named),
        "Requesters keep copies of the work you submitted; ask them about those.",
        "",
    ]
    return "\n".join(lines)


#: Bytes of a file that are collected before they are sent on.
_PIECE = 1 << 16


class _Outlet(io.RawIOBase):
    """Where the archive is written: it keeps the bytes until they are fetched."""

    def __init__(self) -> None:
        super().__init__()
        self._held = bytearray()

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, chunk: Any) -> int:
        """Take bytes of the archive."""
        self._held += chunk
        return len(chunk)

    @property
    def full(self) -> bool:
        """Enough to be worth sending."""
        return len(self._held) >= _PIECE

    def fetch(self) -> bytes:
        """What has come since the last time."""
        chunk = bytes(self._held)
        self._held.clear()
        return chunk


def exported(worker: models.Worker, *, now: datetime, with_blocks: bool = False) -> Iterator[bytes]:
    """The archive of everything about one worker, piece by piece; `with_blocks` only for the operator."""
    tables = (*TABLES, BLOCKS) if with_blocks else TABLES
    outlet = _Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, parts in _files(worker, tables, now):
            entry = zipfile.ZipInfo(f"{worker.worker_id}/{name}", now.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            with archive.open(entry, "w", force_zip64=True) as file:
                for part in parts:
                    file.write(part.encode())
                    if outlet.full:
                        yield outlet.fetch()
            yield outlet.fetch()
    yield outlet.fetch()


def _files(
    worker: models.Worker, tables: tuple[Table, ...], now: datetime
) -> Iterator[tuple[str, Iterator[str]]]:
    readme_text = readme(worker, tables, currency=settings.MARKETPLACE_CURRENCY, now=now)
    yield "README.txt", iter((readme_text,))
    yield "profile.json", iter((json.dumps(profile(worker), default=_written, indent=2) + "\n",))
    for table in tables:
        yield f"{table.name}.json", _as_json(table, worker)
        yield f"{table.name}.csv", _as_csv(table, worker)


def _as_json(table: Table, worker: models.Worker) -> Iterator[str]:
    names = list(table.columns)
    before = "[\n"
    for row in table.values(worker):
        record = dict(zip(names, row, strict=True))
        yield before + json.dumps(record, default=_written, ensure_ascii=False)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _as_csv(table: Table, worker: models.Worker) -> Iterator[str]:
    write_row = csv_line_writer()
    yield write_row(list(table.columns))
    for row in table.values(worker):
        yield write_row([plain(value) for value in row])


def _written(value: object) -> str:
    """Values that JSON has no form of: times."""
    return value.isoformat() if isinstance(value, datetime) else str(value)
