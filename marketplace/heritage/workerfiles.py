"""Files that name workers line by line: bonuses to pay, values of a qualification to give.

A file is read into a draft, confirmed, and done by a job, line by line or all at once. A bonus is paid in the
transaction that says so of its line, so an attempt that dies anywhere pays no line twice. What a line pays to
whom for what has a digest, and the database takes each digest once as paid: a file that comes back, whole or
in part, pays nothing again.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, BinaryIO, TypeVar

from django.conf import settings
from django.contrib.auth.models import User
from django.db import IntegrityError, transaction
from django.db.models import Count, Max, Sum

from core.accounts.security import Actor, acting_as, actor
from core.files.reading import Reading
from core.files.refusals import RowCounts
from core.jobs import services as jobs
from core.jobs.errors import PermanentError
from core.jobs.handlers import JobContext
from core.jobs.models import Job
from core.money import AmountError, bonus_fee, entered_cents
from marketplace import clock
from marketplace.activity import note
from marketplace.batches.templates import join_names
from marketplace.errors import Refusal
from marketplace.forms.sheets import Limits, Row, Sheet
from marketplace.heritage.models import WorkerFile, WorkerFileLine
from marketplace.lifecycle import review
from marketplace.lifecycle.review import is_feedback
from marketplace.models import Bonus, Holding, QualificationGrant, QualificationType, Requester, Worker
from marketplace.money.amounts import money
from marketplace.qualifications.grants import GrantLine, grant_many
from marketplace.requester.lookup import visible_work
from metrics.figure import counted

# Lines of a file, with every fault and its line.

_WORKER = ("worker", "worker_id", "workerid")
#: Names of the columns of a file of bonuses, and of one of values, by what they hold.
BONUS_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "worker": _WORKER,
    "assignment": ("assignment", "assignment_id", "assignmentid"),
    "amount": ("amount", "bonus", "bonus_amount", "bonusamount"),
    "reason": ("reason", "why", "message"),
}
GRANT_COLUMNS: Mapping[str, tuple[str, ...]] = {
    "worker": _WORKER,
    "value": ("value", "integer_value", "integervalue", "score"),
    "status": ("status",),
}
_LONGEST_ID = 64
#: A bonus in cents, and characters of its reason.
MOST_CENTS, LONGEST_REASON = 10_000_00, 900
BONUSES = Limits(megabytes=10, columns=2_000, rows=20_000)


@dataclass(frozen=True, slots=True)
class AskedLine:
    """What a line asks for: cents and a reason, or a value and Granted or Revoked.

    One of the ids may be empty.
    """

    line: int
    worker_id: str
    assignment_id: str
    amount: int
    reason: str


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a line, with the remedy."""

    line: int
    message: str


def find_columns(sheet: Sheet, names: Mapping[str, tuple[str, ...]]) -> dict[str, int]:
    """Where the columns are that there are, by what they hold; SheetError where several may be meant."""
    places = {
        role: sheet.find_column(role, called, remedy="Rename the others.") for role, called in names.items()
    }
    return {role: place for role, place in places.items() if place is not None}


def reading_of(sheet: Sheet, names: Mapping[str, tuple[str, ...]], rows: RowCounts) -> Reading:
    """How a file was read."""
    places = find_columns(sheet, names)
    return sheet.reading({role: [sheet.columns[place]] for role, place in places.items()}, rows)


def cell_at(row: Row, place: int | None) -> str:
    """The cell without white space around it; empty where there is none."""
    return row.cells[place].strip() if place is not None and place < len(row.cells) else ""


def fault_of_worker(worker_id: str) -> str:
    """What is wrong with a worker's id as text."""
    if not worker_id or len(worker_id) > _LONGEST_ID:
        return "it names no worker; write the worker's id, or take the line out."
    return ""


def read_bonuses(sheet: Sheet) -> tuple[list[AskedLine], list[Fault]]:
    """What all lines of a file of bonuses ask for, and what is wrong with others.

    Columns are found by name: worker or assignment (or both), amount, and reason.
    """
    places = find_columns(sheet, BONUS_COLUMNS)
    if not places.keys() & {"worker", "assignment"}:
        raise sheet.error(_no_column("worker” or “assignment", sheet), line=sheet.header_row)
    for name in ("amount", "reason"):
        if name not in places:
            raise sheet.error(_no_column(name, sheet), line=sheet.header_row)
    lines: list[AskedLine] = []
    faults: list[Fault] = []
    seen: dict[tuple[str, str, int, str], int] = {}
    for row in sheet.rows():
        try:
            cents = _cents(cell_at(row, places.get("amount")))
            line = AskedLine(
                row.line,
                _id(cell_at(row, places.get("worker"))),
                _id(cell_at(row, places.get("assignment"))),
                cents,
                _reason(cell_at(row, places.get("reason"))),
            )
            if not line.worker_id and not line.assignment_id:
                raise ValueError("it names neither a worker nor an assignment; write one of the two ids.")
            key = (line.worker_id, line.assignment_id, cents, line.reason)
            if (before := seen.setdefault(key, row.line)) != row.line:
                raise ValueError(
                    f"it says the same as line {before}. Take one out; to pay both, give them other reasons."
                )
            lines.append(line)
        except ValueError as error:
            faults.append(Fault(row.line, str(error)))
    return lines, faults


def _no_column(name: str, sheet: Sheet) -> str:
    columns = join_names(sheet.columns)
    return f"no column is called “{name}”; its columns are {columns}. Name them in the first line."


def _id(text: str) -> str:
    if len(text) > _LONGEST_ID:
        raise ValueError(f"{text[:40]!r} is too long for an id.")
    return text


def _cents(text: str) -> int:
    if not text:
        raise ValueError("it has no amount.")
    try:
        cents = entered_cents(text, settings.MARKETPLACE_CURRENCY)
    except AmountError as error:
        raise ValueError(f"amount {text[:40]!r}: {error}") from error
    if not 1 <= cents <= MOST_CENTS:
        raise ValueError(f"amount {text[:40]!r} is not between {money(1)} and {money(MOST_CENTS)}.")
    return cents


def _reason(text: str) -> str:
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text:
        raise ValueError("it has no reason, which the worker reads.")
    if len(text) > LONGEST_REASON:
        raise ValueError(f"the reason has {len(text):,} characters; at most {LONGEST_REASON} are taken.")
    if not is_feedback(text):
        raise ValueError("the reason has a control character; write it without.")
    return text


# Grants of a qualification: what the page of a qualification gives out as a table, it takes in again.

GRANTS = Limits(megabytes=10, columns=500, rows=100_000)
_UNCHANGED = "Nothing was changed."
#: Of the protocol (IntegerValue) and of the column.
_INTEGERS = range(-2_147_483_648, 2_147_483_648)


def open_grants(name: str, file: BinaryIO) -> Sheet:
    """The file as a table, its encoding and separator found out; SheetError where it is none."""
    return Sheet(file, name[:80], limits=GRANTS)


def grant_lines(sheet: Sheet) -> Iterator[GrantLine]:
    """The lines below the head, one at a time.

    Columns are found by name: `worker`, and if there are such `value` (otherwise everybody gets 1) and
    `status` (Granted or Revoked). Raises Refusal naming file, line and remedy for the first thing wrong.
    """
    for line, grant in _read_grant_lines(sheet):
        if isinstance(grant, str):
            raise sheet.error(f"{grant} {_UNCHANGED}", line=line)
        yield grant


def read_grants(sheet: Sheet) -> tuple[list[AskedLine], list[Fault]]:
    """What all lines ask for, and what is wrong with others."""
    lines, faults = [], []
    for line, grant in _read_grant_lines(sheet):
        if isinstance(grant, str):
            faults.append(Fault(line, grant))
        else:
            reason = "Granted" if grant.granted else "Revoked"
            lines.append(AskedLine(line, grant.worker_id, "", grant.value, reason))
    return lines, faults


def _read_grant_lines(sheet: Sheet) -> Iterator[tuple[int, GrantLine | str]]:
    """Each line with what it asks for, or with what is wrong with it."""
    places = find_columns(sheet, GRANT_COLUMNS)
    if "worker" not in places:
        raise sheet.error(
            "no column is called “worker”; name the columns in the first line. " + _UNCHANGED,
            line=sheet.header_row,
        )
    seen: dict[str, int] = {}
    for row in sheet.rows():
        worker_id, said_value, said_status = (cell_at(row, places.get(role)) for role in GRANT_COLUMNS)
        if why := fault_of_worker(worker_id):
            yield row.line, why
        elif worker_id in seen:
            yield row.line, f"worker {worker_id} is in line {seen[worker_id]} already; keep one of them."
        else:
            seen[worker_id] = row.line
            try:
                yield (
                    row.line,
                    GrantLine(row.line, worker_id, _grant_value(said_value), _granted(said_status)),
                )
            except ValueError as error:
                yield row.line, str(error)


def _grant_value(cell: str) -> int:
    if not cell:
        return 1
    try:
        value = int(cell) if len(cell) <= len("-2147483648") and "_" not in cell else None
    except ValueError:
        value = None
    if value is None or value not in _INTEGERS:
        raise ValueError(f"value {cell[:40]!r} is not a whole number, such as 1 or 85.")
    return value


def _granted(cell: str) -> bool:
    if cell.casefold() not in ("", "granted", "revoked"):
        raise ValueError(f"status {cell[:40]!r} is neither Granted nor Revoked.")
    return cell.casefold() != "revoked"


# Draft, confirmation, job.

DO = "marketplace.worker-file"
Kind, State, LineState = WorkerFile.Kind, WorkerFile.State, WorkerFileLine.State
_AT_ONCE = 500
#: Bonuses of one transaction.
TOGETHER = 25
#: Faults that a page lists.
MOST_TOLD = 50
PAID_BEFORE = "Paid before: the same amount for the same reason."


_ItemT = TypeVar("_ItemT")


def batched(items: Iterable[_ItemT], size: int) -> Iterator[list[_ItemT]]:
    """The items, so many at a time."""
    rest = iter(items)
    while chunk := list(islice(rest, size)):
        yield chunk


class FileFaults(Refusal):
    """A file with lines that are not right; nothing of it was kept."""

    def __init__(self, sheet: Sheet, faults: Sequence[Fault]) -> None:
        number = len(faults)
        super().__init__(
            "FileRefused",
            f"{sheet.name}: {number:,} line{'s are' if number != 1 else ' is'} not right. Nothing was done.",
        )
        self.faults = sorted(faults, key=lambda fault: fault.line)


def make_file(
    *,
    requester: Requester,
    sheet: Sheet,
    qualification_type: QualificationType | None = None,
    user: User | None = None,
) -> WorkerFile:
    """A draft of what the file asks for: grants of a qualification, or bonuses.

    Raises FileFaults with all that is wrong with its lines, and keeps nothing.
    """
    if qualification_type is not None:
        lines, faults = read_grants(sheet)
        file_lines = list(_grant_lines(qualification_type, lines, faults))
    else:
        lines, faults = read_bonuses(sheet)
        file_lines = list(_bonus_lines(requester, lines, faults))
    if faults:
        raise FileFaults(sheet, faults)
    same = sum(line.state == LineState.SAME for line in file_lines)
    rows = RowCounts(len(file_lines), used=len(file_lines) - same, repeats=same)
    names = BONUS_COLUMNS if qualification_type is None else GRANT_COLUMNS
    with transaction.atomic():
        # Two files of one requester at once would take the same number.
        Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
        last = requester.worker_files.aggregate(last=Max("number"))["last"] or 0
        file = WorkerFile.objects.create(
            requester=requester,
            number=last + 1,
            kind=Kind.BONUSES if qualification_type is None else Kind.GRANTS,
            qualification_type=qualification_type,
            file_name=sheet.name,
            file_read=sheet.description[:200],
            read_as=reading_of(sheet, names, rows).as_json(),
            line_count=len(file_lines),
            created_by=user,
            created_at=clock.now(),
        )
        for chunk in batched(file_lines, _AT_ONCE):
            for line in chunk:
                line.file = file
            WorkerFileLine.objects.bulk_create(chunk)
        _reckon(file)
    return file


def _reckon(file: WorkerFile) -> None:
    """What the lines that wait cost."""
    amounts = file.lines.filter(state=LineState.WAITING).values_list("amount").annotate(number=Count("pk"))
    if file.kind != Kind.BONUSES:
        return
    profile = file.requester.fee_profile
    file.cents = sum(cents * number for cents, number in amounts)
    file.fee_cents = sum(bonus_fee(profile, bonus_cents=cents) * number for cents, number in amounts)
    file.save(update_fields=["cents", "fee_cents"])


def _bonus_lines(
    requester: Requester, asked_lines: list[AskedLine], faults: list[Fault]
) -> Iterator[WorkerFileLine]:
    for chunk in batched(asked_lines, _AT_ONCE):
        named = _named_work(requester, chunk)
        file_lines = []
        for line in chunk:
            work = named(line)
            if isinstance(work, str):
                faults.append(Fault(line.line, work))
                continue
            file_lines.append(
                WorkerFileLine(
                    line=line.line,
                    worker_id=work.worker_id,
                    holding=work,
                    amount=line.amount,
                    words=line.reason,
                    payment=_payment(requester, line),
                )
            )
        _mark_paid(requester, chunk, file_lines)
        yield from file_lines


def _payment(requester: Requester, line: AskedLine) -> str:
    """The same for the same money to the same worker or assignment for the same reason."""
    about = ["assignment", line.assignment_id] if line.assignment_id else ["worker", line.worker_id]
    # As a list, whose parts are told apart whatever they hold.
    text = json.dumps([requester.pk, *about, line.amount, line.reason], ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _named_work(requester: Requester, lines: Sequence[AskedLine]) -> Callable[[AskedLine], Holding | str]:
    """For each line the work that its bonus belongs to, or why there is none, in a few statements for all."""
    work = visible_work(requester, clock.now()).select_related("worker").defer("answer")
    by_id = {
        each.assignment_id: each
        for each in work.filter(
            assignment_id__in=[line.assignment_id for line in lines if line.assignment_id]
        )
    }
    loose = [line.worker_id for line in lines if not line.assignment_id]
    last = (
        work.filter(worker__worker_id__in=loose)
        .order_by()
        .values_list("worker__worker_id")
        .annotate(last=Max("pk"))
    )
    latest = dict(last)
    rows = work.in_bulk(list(latest.values()))

    def find(line: AskedLine) -> Holding | str:
        if line.assignment_id:
            holding = by_id.get(line.assignment_id)
            if holding is None:
                return f"you have no answer with the assignment id {line.assignment_id!r}. Correct the id."
            if line.worker_id and holding.worker.worker_id != line.worker_id:
                return f"assignment {line.assignment_id} is not of worker {line.worker_id}. Correct one id."
            return holding
        if line.worker_id not in latest:
            return f"no worker {line.worker_id!r} has answered anything for you. Correct the id."
        return rows[latest[line.worker_id]]

    return find


def _mark_paid(requester: Requester, asked_lines: Sequence[AskedLine], lines: list[WorkerFileLine]) -> None:
    """Lines that were paid before, by a file or one by one, are left out."""
    payments = [line.payment for line in lines]
    paid = set(
        WorkerFileLine.objects.filter(payment__in=payments, state=LineState.DONE).values_list(
            "payment", flat=True
        )
    )
    # Bonuses that were paid one by one, too: they have no digest, so they are compared by what is in it.
    repeats: dict[tuple[object, int, str], int] = defaultdict(int)
    rows = Bonus.objects.filter(requester=requester, worker__in=[line.worker_id for line in lines])
    for worker, assignment, cents, reason in rows.values_list("worker", "assignment_id", "cents", "reason"):
        repeats[worker, cents, reason] += 1
        repeats[assignment, cents, reason] += 1
    with_assignment = {line.line for line in asked_lines if line.assignment_id}
    for line in lines:
        named: object = line.worker_id
        if line.line in with_assignment and line.holding is not None:
            named = line.holding.assignment_id
        if line.payment in paid or repeats[named, line.amount, line.words]:
            line.state, line.why = LineState.SAME, PAID_BEFORE


def _grant_lines(
    kind: QualificationType, asked_lines: list[AskedLine], faults: list[Fault]
) -> Iterator[WorkerFileLine]:
    for chunk in batched(asked_lines, _AT_ONCE):
        names = [line.worker_id for line in chunk]
        pks = dict(Worker.objects.filter(worker_id__in=names).values_list("worker_id", "pk"))
        file_lines = []
        for line in chunk:
            pk = pks.get(line.worker_id)
            if pk is None:
                faults.append(
                    Fault(
                        line.line, f"there is no worker {line.worker_id!r}. Correct the id, or take it out."
                    )
                )
            else:
                file_lines.append(
                    WorkerFileLine(line=line.line, worker_id=pk, amount=line.amount, words=line.reason)
                )
        _mark_held(kind, file_lines)
        yield from file_lines


def _mark_held(kind: QualificationType, lines: Sequence[WorkerFileLine]) -> None:
    """Lines that change nothing are the same as before; others say what they change."""
    rows = QualificationGrant.objects.filter(
        qualification_type=kind, worker__in=[line.worker_id for line in lines]
    )
    grants: dict[Any, tuple[int | None, str]] = {
        worker: (value, status) for worker, value, status in rows.values_list("worker", "value", "status")
    }
    granted = QualificationGrant.Status.GRANTED
    for line in lines:
        value, status = grants.get(line.worker_id, (None, ""))
        now = value if status == granted else None
        target_value = line.amount if line.words == "Granted" else None
        if now == target_value:
            line.state, line.why = LineState.SAME, "It is so already."
        elif target_value is None:
            line.state, line.why = LineState.WAITING, f"Taken back; the value was {now}."
        else:
            line.state = LineState.WAITING
            line.why = "New." if now is None else f"Changed; the value was {now}."


def count_lines(file: WorkerFile) -> dict[str, int]:
    """Lines by what became of them; they add up to all that the file has."""
    counts = dict(file.lines.order_by().values_list("state").annotate(number=Count("pk")))
    return {state: counts.get(state, 0) for state in LineState.values}


def paid_cents(file: WorkerFile) -> int:
    """What the file has paid to workers so far."""
    return int(file.lines.filter(state=LineState.DONE).aggregate(sum=Sum("amount"))["sum"] or 0)


@transaction.atomic
def confirm(*, file: WorkerFile, cents: int | None, user: User | None = None) -> Job:
    """Do what a draft says; of bonuses `cents` is the total with fees that the person typed.

    Raises Refusal where that is not the total, or is not available, and where it is no draft any more.
    """
    locked = WorkerFile.objects.select_for_update(of=("self",), no_key=True).select_related("requester")
    row = locked.get(pk=file.pk)
    if row.state != State.DRAFT:
        raise Refusal(
            "DuplicateRequest", "This file was confirmed or withdrawn already; nothing was done twice."
        )
    if not row.lines.filter(state=LineState.WAITING).exists():
        raise Refusal("InvalidParameterValue", "Nothing is left to do: all lines are as they were before.")
    if row.kind == Kind.BONUSES:
        total = row.cents + row.fee_cents
        if cents != total:
            raise Refusal("InvalidParameterValue", f"The total is {money(total)}. Type that to go on.")
        _check_funds(row, total)
    WorkerFile.objects.filter(pk=row.pk).update(
        state=State.RUNNING, confirmed_by=user, confirmed_at=clock.now(), error=""
    )
    summary = counted(row.line_count, "line") + (f", {money(row.cents)}" if row.kind == Kind.BONUSES else "")
    note(row.requester_id, "file.confirmed", row.file_name, summary)
    payload = {"file": row.pk, "address": actor().address}
    return jobs.enqueue(kind=DO, payload=payload, effect=f"{DO}:{row.pk}")


def _check_funds(file: WorkerFile, total: int) -> None:
    if (missing := total - file.requester.available_cents) > 0:
        raise Refusal(
            "InsufficientFunds",
            f"The file pays {money(total)} with fees, and {money(file.requester.available_cents)} is "
            f"available. Deposit at least {money(missing)}.",
        )


def withdraw(*, file: WorkerFile) -> None:
    """Throw a draft away; its lines go."""
    with transaction.atomic():
        if not WorkerFile.objects.filter(pk=file.pk, state=State.DRAFT).update(state=State.WITHDRAWN):
            raise Refusal("DuplicateRequest", "This file was confirmed or withdrawn already.")
        file.lines.all().delete()


@transaction.atomic
def go_on(*, file: WorkerFile) -> None:
    """Go on with a file for which the money did not last."""
    if not WorkerFile.objects.filter(pk=file.pk, state=State.STOPPED).update(state=State.RUNNING, error=""):
        raise Refusal("DuplicateRequest", "It goes on already, or is done.")
    if (job := job_of_file(file)) is not None:
        jobs.retry(job_id=job.pk)


def job_of_file(file: WorkerFile) -> Job | None:
    """The job that does what a file says."""
    return Job.objects.filter(effect=f"{DO}:{file.pk}").first()


def work_off(context: JobContext) -> None:
    """The job of a confirmed file."""
    related = WorkerFile.objects.select_related("requester", "qualification_type", "confirmed_by")
    file = related.get(pk=context.payload["file"])
    who = Actor(user=file.confirmed_by, address=context.payload.get("address", ""))
    with acting_as(lambda: who):
        try:
            if file.kind == Kind.GRANTS:
                context.commit(lambda: _grant_all(file))
                return
            _pay_all(context, file)
        except Refusal as refusal:
            raise PermanentError(_stop(file, refusal)) from refusal
    context.commit(lambda: _finish(file))


def _pay_all(context: JobContext, file: WorkerFile) -> None:
    waiting = file.lines.filter(state=LineState.WAITING)
    total, done = file.line_count, file.line_count - waiting.count()
    after = 0
    while chunk := list(waiting.filter(line__gt=after).order_by("line")[:TOGETHER]):
        context.progress(done, total, "Paying")
        _pay_some(chunk)
        after = chunk[-1].line
        done += len(chunk)


def _pay_some(lines: Sequence[WorkerFileLine]) -> None:
    """Pay these lines together; where one cannot be paid, one after the other."""
    try:
        with transaction.atomic():
            for line in lines:
                _pay(line)
    except (IntegrityError, Refusal):
        for line in lines:
            _pay_alone(line)


def _pay_alone(line: WorkerFileLine) -> None:
    same = WorkerFileLine.objects.filter(pk=line.pk, state=LineState.WAITING)
    try:
        with transaction.atomic():
            _pay(line)
    except IntegrityError:  # its digest is taken: another file, or a line of this one, paid it
        same.update(state=LineState.SAME, why=PAID_BEFORE)
    except Refusal as refusal:
        if refusal.code == "InsufficientFunds":
            raise  # stops the file, which goes on after a deposit; other refusals are of this line alone
        same.update(state=LineState.REFUSED, why=refusal.message[:300])


def _pay(line: WorkerFileLine) -> None:
    """Must run in a transaction. A line that another attempt has paid is passed over."""
    if not WorkerFileLine.objects.filter(pk=line.pk, state=LineState.WAITING).update(state=LineState.DONE):
        return
    holding = Holding.objects.select_related("worker").defer("answer").get(pk=line.holding_id or 0)
    review.send_bonus(
        holding=holding,
        worker_id=holding.worker.worker_id,
        cents=line.amount,
        reason=line.words,
        now=clock.now(),
    )


def _grant_all(file: WorkerFile) -> dict[str, int]:
    """All lines or none."""
    kind = file.qualification_type
    assert kind is not None
    kind.requester = file.requester
    lines = file.lines.select_related("worker").order_by("line")
    done, after = 0, 0
    while chunk := list(lines.filter(line__gt=after)[:_AT_ONCE]):
        _mark_held(kind, chunk)
        for line in chunk:
            if line.state == LineState.WAITING:
                line.state = LineState.DONE
                done += 1
        WorkerFileLine.objects.bulk_update(chunk, ["state", "why"])
        after = chunk[-1].line
    grant_many(qualification_type=kind, grants=_read_grant_rows(file), now=clock.now())
    _finish(file)
    return {"done": done}


def _read_grant_rows(file: WorkerFile) -> Iterator[GrantLine]:
    rows = file.lines.order_by("line").values_list("line", "worker__worker_id", "amount", "words")
    for line, worker_id, value, reason in rows.iterator(chunk_size=_AT_ONCE):
        yield GrantLine(line, worker_id, value, reason == "Granted")


def _stop(file: WorkerFile, refusal: Refusal) -> str:
    counts = count_lines(file)
    why = refusal.message
    if refusal.code == "InsufficientFunds":
        requester = Requester.objects.get(pk=file.requester_id)
        available = money(requester.available_cents)
        why = f"The account has {available}, which is too little. Deposit and continue."
    sentence = f"Stopped after {counts[LineState.DONE]:,} of {file.line_count:,} lines. {why}"
    WorkerFile.objects.filter(pk=file.pk).update(state=State.STOPPED, error=sentence)
    return sentence


def _finish(file: WorkerFile) -> dict[str, int]:
    WorkerFile.objects.filter(pk=file.pk).update(state=State.DONE, done_at=clock.now())
    return count_lines(file)
