"""Files that pay people: made of reports, handed out, booked by what comes back; and what a year adds up to.

What a report owes to a person is in force in one line at most (`PayoutPart`), so nothing is paid twice. A
line is marked as sent, and that is committed, before a byte of its file leaves; a file that was handed out
once can be had again, the same, but not be taken back.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from django.conf import settings
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, Max, OuterRef, Q, QuerySet, Sum

from core.accounts import security
from core.crypto import seal, unseal
from marketplace import clock
from marketplace.activity import note
from marketplace.errors import Refusal
from marketplace.inbox import notify_workers
from marketplace.models import (
    LedgerEntry,
    Payable,
    PayeeDetails,
    PayMethod,
    Payout,
    PayoutLine,
    PayoutPart,
    Requester,
    Worker,
    YearlyLimit,
)
from marketplace.money.amounts import money
from marketplace.money.deposits import check_currency, may_book
from marketplace.money.payees import SEALED_FOR, offered_methods, opened
from marketplace.money.payoutfiles import FORMATS, Instruction, Order, Sender, content_of, fault_of

State = PayoutLine.State
_AT_ONCE = 2_000
#: People who are named in one refusal.
_MOST_NAMED = 5


class ClaimState(StrEnum):
    """Why what is owed to a person is, or is not, put into the next file."""

    READY = "ready"
    BELOW = "below"
    HELD = "held"
    UNSAID = "unsaid"
    CLOSED = "closed"


@dataclass(slots=True)
class Claim:
    """What one person is owed by reports, and what became of it."""

    worker: Worker
    cents: int = 0
    #: Cents by report.
    parts: dict[int, int] = field(default_factory=dict)
    method: str = ""
    sealed: str = ""
    confirmed: bool = False
    waits_for_link: bool = False
    standing: ClaimState = ClaimState.UNSAID
    #: Why the last file failed to pay it.
    failed: str = ""

    @property
    def label(self) -> str:
        """How the person is paid, in words."""
        return str(PayMethod(self.method).label) if self.method else ""


def owed_entries(requester: Requester) -> QuerySet[LedgerEntry]:
    """Payments to people that are in a report, and neither paid nor in a file."""
    bound = PayoutPart.objects.filter(report=OuterRef("payable"), worker=OuterRef("worker"), in_force=True)
    return LedgerEntry.objects.filter(
        ~Exists(bound),
        requester=requester,
        credit=LedgerEntry.Account.WORKERS,
        payable__isnull=False,
        payable__paid_at=None,
        worker__simulated=False,
    )


def claims_up_to(report: Payable) -> list[Claim]:
    """What people are owed by this report and those before it, by worker id."""
    rows = (
        owed_entries(report.requester)
        .filter(payable__number__lte=report.number)
        .order_by()
        .values_list("worker", "payable")
        .annotate(cents=Sum("cents"))
    )
    sums: dict[int, dict[int, int]] = defaultdict(dict)
    for worker, payable, cents in rows:
        sums[worker][payable] = cents
    workers = Worker.objects.in_bulk(list(sums))
    claims = [Claim(worker=workers[pk], cents=sum(parts.values()), parts=parts) for pk, parts in sums.items()]
    _say_how(claims)
    _judge(claims)
    return sorted(claims, key=lambda claim: claim.worker.worker_id)


def _say_how(claims: list[Claim]) -> None:
    by_worker = {claim.worker.pk: claim for claim in claims}
    for row in PayeeDetails.objects.filter(worker__in=list(by_worker)):
        claim = by_worker[row.worker_id]
        claim.method, claim.sealed = row.method, row.details_sealed
        claim.confirmed, claim.waits_for_link = row.confirmed_at is not None, bool(row.waiting_method)
    failures = PayoutPart.objects.filter(worker__in=list(by_worker), in_force=False).order_by("pk")
    for worker, report, reason in failures.values_list("worker", "report", "line__reason"):
        if int(report) in by_worker[int(worker)].parts:
            by_worker[int(worker)].failed = reason or "no reason was given"


def _judge(claims: list[Claim]) -> None:
    over_hold = over_the_hold({claim.worker.pk: claim.cents for claim in claims}, clock.now().year)
    offered = offered_methods()
    for claim in claims:
        if not claim.method:
            claim.standing = ClaimState.UNSAID
        elif claim.method not in offered:
            claim.standing = ClaimState.CLOSED
        elif claim.method != PayMethod.NONE and claim.worker.pk in over_hold:
            claim.standing = ClaimState.HELD
        elif claim.cents < settings.PAYOUT_MINIMUMS.get(claim.method, 0):
            claim.standing = ClaimState.BELOW
        else:
            claim.standing = ClaimState.READY


def make_payout(
    *, report: Payable, method: str, by: User | None = None, leave_out: bool = False
) -> tuple[Payout, bool]:
    """The file of everything that is owed by a way up to a report, and whether it was made just now.

    Asked for again it is the same one, as long as nothing more is owed. With `leave_out` people whose details
    the service would refuse wait; otherwise they are named, and nothing is made.
    """
    _check_payer(report.requester, by)
    if method not in FORMATS:
        raise Refusal("InvalidParameterValue", f"There is no way to pay called {method!r}.")
    if not report.requester.real_money:
        raise Refusal("PlayMoney", "This is play money, which is not paid out.")
    _check_sender(method)
    with transaction.atomic():
        # One file of a requester after the other: what is owed is read and bound to lines under this lock.
        check_currency(Requester.objects.select_for_update(no_key=True).get(pk=report.requester_id))
        report.refresh_from_db()
        claims = claims_up_to(report)
        note_passed(
            {claim.worker.pk: claim.cents for claim in claims if claim.method not in ("", PayMethod.NONE)}
        )
        payout = _make(report, method, claims, by, leave_out=leave_out)
    if payout is not None:
        return payout, True
    previous = (
        Payout.objects.filter(report=report, method=method, withdrawn_at=None).order_by("-number").first()
    )
    if previous is None:
        raise Refusal("NothingToPay", _why_nothing(claims, method))
    return previous, False


def ask_for_another_way(*, report: Payable, by: User) -> int:
    """Write to those who chose a way that is not offered (any more); how many could be written to."""
    _check_payer(report.requester, by)
    worker_ids = [
        claim.worker.worker_id for claim in claims_up_to(report) if claim.standing == ClaimState.CLOSED
    ]
    refusals = notify_workers(
        requester=report.requester,
        worker_ids=worker_ids,
        subject="Please choose another way to be paid",
        body="The way you chose to be paid is not offered here. Choose another one on Profile, Getting paid: "
        "what you have earned waits until then.",
    )
    return len(worker_ids) - len(refusals)


def _check_payer(requester: Requester, by: User | None) -> None:
    if by is not None and not may_book(requester, by):
        raise Refusal("AccessDenied", "Files that pay real money are for staff.")


def _check_sender(method: str) -> None:
    if method != PayMethod.SEPA:
        return
    if settings.MARKETPLACE_CURRENCY != "EUR":
        raise Refusal(
            "NotInEuro",
            f"SEPA moves euro, and sums here are in {settings.MARKETPLACE_CURRENCY}; pay another way.",
        )
    if not settings.PAYOUT_SENDER.iban:
        raise Refusal(
            "NoSender", "Whose account pays is not known: set PAYOUT_SENDER_NAME and PAYOUT_SENDER_IBAN."
        )


def _why_nothing(claims: list[Claim], method: str) -> str:
    mine = [claim.standing for claim in claims if claim.method == method]
    below, on_hold = mine.count(ClaimState.BELOW), mine.count(ClaimState.HELD)
    why = [f"{below:,} below the minimum"] * bool(below) + [f"{on_hold:,} held"] * bool(on_hold)
    return "Nothing is to be paid in this way" + (f": {', '.join(why)}." if why else ".")


def _make(
    report: Payable, method: str, claims: list[Claim], by: User | None, *, leave_out: bool
) -> Payout | None:
    ready = [claim for claim in claims if claim.method == method and claim.standing == ClaimState.READY]
    faults = {}
    for claim in ready:
        details = opened(claim.sealed)
        fault = (
            "the details cannot be read: the key is lost" if details is None else fault_of(method, details)
        )
        if fault:
            faults[claim.worker.worker_id] = fault
    if faults and not leave_out:
        named = "; ".join(f"{who}: {why}" for who, why in list(faults.items())[:_MOST_NAMED])
        raise Refusal(
            "IllegalDetails",
            f"{len(faults):,} cannot be paid as they said ({named}). Ask them to correct it, or make the "
            "file without them. Nothing was made.",
        )
    # A service takes so many lines in one file; who is beyond them is ready for the next.
    ready = [claim for claim in ready if claim.worker.worker_id not in faults][: FORMATS[method].most]
    if not ready:
        return None
    now = clock.now().replace(microsecond=0)
    latest = report.requester.payouts.aggregate(number=Max("number"))["number"] or 0
    sender = Sender(*settings.PAYOUT_SENDER) if method == PayMethod.SEPA else Sender()
    payout = Payout.objects.create(
        requester=report.requester,
        number=latest + 1,
        report=report,
        method=method,
        currency=settings.MARKETPLACE_CURRENCY,
        cents=sum(claim.cents for claim in ready),
        people=len(ready),
        sender_sealed=seal(json.dumps([sender.name, sender.iban, sender.bic]), purpose=SEALED_FOR),
        made_at=now,
        made_by=by,
    )
    lines = PayoutLine.objects.bulk_create(
        [
            PayoutLine(
                payout=payout,
                worker=claim.worker,
                number=number,
                reference=f"{_name(payout)}L{number}",
                cents=claim.cents,
                details_sealed=claim.sealed,
                confirmed=claim.confirmed,
                at=now,
            )
            for number, claim in enumerate(ready, start=1)
        ],
        batch_size=_AT_ONCE,
    )
    PayoutPart.objects.bulk_create(
        [
            PayoutPart(line=line, report_id=part, worker=claim.worker, cents=cents)
            for line, claim in zip(lines, ready, strict=True)
            for part, cents in sorted(claim.parts.items())
        ],
        batch_size=_AT_ONCE,
    )
    # The file itself is not kept. It is written again of its lines, and the digest says that it is the same.
    payout.digest = hashlib.sha256(_written(payout)).hexdigest()
    payout.save(update_fields=["digest"])
    note(
        payout.requester_id,
        "payout.made",
        f"Payout {payout.number}",
        f"{PayMethod(method).label}: {money(payout.cents)} to {payout.people}, report {report.number}",
    )
    return payout


def _name(payout: Payout) -> str:
    """Digits between letters: no two of an installation are alike."""
    return f"D{payout.requester_id}P{payout.number}"


def file_name(payout: Payout) -> str:
    """What the file is called where it is saved."""
    stem = f"payout-{payout.requester.customer_id}-{payout.number}-{payout.method}"
    return f"{stem}.{FORMATS[payout.method].ending}"


def _written(payout: Payout) -> bytes:
    instructions = []
    lines = payout.lines.select_related("worker").order_by("number")
    for line in lines.iterator(chunk_size=_AT_ONCE):
        details = opened(line.details_sealed)
        if details is None:
            raise Refusal(
                "DetailsGone",
                f"The file cannot be made again: the details of {line.worker.worker_id} are deleted, or "
                "sealed with a key that is lost.",
            )
        instructions.append(Instruction(line.reference, line.worker.worker_id, line.cents, details))
    sender = unseal(payout.sender_sealed, purpose=SEALED_FOR)
    return content_of(
        Order(
            name=_name(payout),
            method=payout.method,
            currency=payout.currency,
            made_at=payout.made_at,
            sender=Sender(*json.loads(sender)) if sender else Sender(),
            instructions=instructions,
        )
    )


def hand_out(*, payout: Payout, by: User | None = None) -> bytes:
    """The file, the same each time. Its lines are marked as sent before it leaves."""
    _check_payer(payout.requester, by)
    content = _written(payout)
    if hashlib.sha256(content).hexdigest() != payout.digest:
        raise Refusal(
            "FileChanged",
            f"Payout {payout.number} would not be the file that it was. It is not handed out; keep to the "
            "copy that you have, and tell those who run this installation.",
        )
    with transaction.atomic():
        row = Payout.objects.select_for_update().get(pk=payout.pk)
        if row.withdrawn_at:
            raise Refusal(
                "Withdrawn", f"Payout {payout.number} was withdrawn; its people are in another file."
            )
        if row.sent_at is None:
            row.sent_at = clock.now()
            row.save(update_fields=["sent_at"])
            row.lines.filter(state=State.OWED).update(state=State.SENT, at=row.sent_at)
        note(row.requester_id, "payout.downloaded", f"Payout {row.number}", f"SHA-256 {row.digest}")
    payout.sent_at = row.sent_at
    return content


@transaction.atomic
def withdraw(*, payout: Payout, by: User | None = None) -> None:
    """Take a file back that was never handed out: what it would have paid is owed again."""
    _check_payer(payout.requester, by)
    now = clock.now()
    if not Payout.objects.filter(pk=payout.pk, sent_at=None, withdrawn_at=None).update(withdrawn_at=now):
        raise Refusal(
            "AlreadySent",
            "Only a file that was never downloaded can be withdrawn. Book what the service says of it.",
        )
    PayoutPart.objects.filter(line__payout=payout).update(in_force=False)
    payout.lines.update(state=State.FAILED, reason="The file was withdrawn before it was sent.", at=now)
    note(payout.requester_id, "payout.withdrawn", f"Payout {payout.number}")


@transaction.atomic
def book_all_paid(*, payout: Payout, by: User | None = None) -> int:
    """Note that everything in a file that is still on its way arrived; how many lines that were."""
    _check_payer(payout.requester, by)
    Requester.objects.select_for_update(no_key=True).get(pk=payout.requester_id)
    lines = payout.lines.filter(state=State.SENT)
    reports = set(PayoutPart.objects.filter(line__in=lines, in_force=True).values_list("report", flat=True))
    booked = lines.update(state=State.PAID, at=clock.now())
    if booked:
        note(payout.requester_id, "payout.paid", f"Payout {payout.number}", f"{booked} lines")
        _complete(reports)
    return booked


def _complete(reports: Iterable[int]) -> None:
    """Note reports as paid out of which every person's part was paid."""
    paid = PayoutPart.objects.filter(
        report=OuterRef("payable"), worker=OuterRef("worker"), in_force=True, line__state=State.PAID
    )
    for report in Payable.objects.filter(pk__in=reports, paid_at=None):
        if not report.entries.filter(~Exists(paid), worker__simulated=False).exists():
            Payable.objects.filter(pk=report.pk, paid_at=None).update(paid_at=clock.now())
            note(report.requester_id, "payable.paid", f"Report {report.number}")


# What services say of lines.


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a line, by a file that came back."""

    line: int
    reference: str
    state: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class BookingCounts:
    """What an import of results did: lines newly paid, newly failed, and as before."""

    paid: int
    failed: int
    same: int


@transaction.atomic
def book_results(
    *, requester: Requester, results: Sequence[Result], name: str, by: User | None = None
) -> BookingCounts:
    """Book a file of results: all of it, or nothing. A second time it changes nothing.

    What failed is owed again. Raises Refusal naming file, line and remedy.
    """
    _check_payer(requester, by)
    Requester.objects.select_for_update(no_key=True).get(pk=requester.pk)
    lines = _lines(requester, results)
    now = clock.now()
    changed: dict[str, list[PayoutLine]] = {State.PAID: [], State.FAILED: []}
    for result in results:
        line = lines.get(result.reference)
        if line is None:
            raise _wrong(
                name, result, "no line of a payout has it; look whether it is another requester's file"
            )
        if result.state in {line.state, State.SENT}:
            continue
        if line.state == State.OWED:
            raise _wrong(
                name, result, f"payout {line.payout.number} was never downloaded; look for its number"
            )
        if line.state == State.FAILED and not _in_force_again(line):
            raise _wrong(
                name,
                result,
                "it failed before, and the sum is in a newer file; find out which of them arrived",
            )
        line.state, line.reason, line.at = result.state, result.reason[:300], now
        changed[result.state].append(line)
    failed = changed[State.FAILED]
    both = [*changed[State.PAID], *failed]
    PayoutLine.objects.bulk_update(both, ["state", "reason", "at"], batch_size=500)
    parts = PayoutPart.objects.filter(line__in=[line.pk for line in failed])
    Payable.objects.filter(pk__in=parts.values("report")).exclude(paid_at=None).update(paid_at=None)
    parts.update(in_force=False)
    if both:
        note(
            requester.pk,
            "payout.results",
            f"{name[:80]}",
            f"{len(changed[State.PAID])} paid, {len(failed)} failed and owed again",
        )
        _complete(
            set(
                PayoutPart.objects.filter(
                    line__in=[line.pk for line in changed[State.PAID]], in_force=True
                ).values_list("report", flat=True)
            )
        )
    return BookingCounts(len(changed[State.PAID]), len(failed), len(results) - len(both))


def _lines(requester: Requester, results: Sequence[Result]) -> dict[str, PayoutLine]:
    references = [result.reference for result in results]
    lines: dict[str, PayoutLine] = {}
    for start in range(0, len(references), _AT_ONCE):
        rows = PayoutLine.objects.select_related("payout").filter(
            payout__requester=requester, reference__in=references[start : start + _AT_ONCE]
        )
        lines |= {line.reference: line for line in rows}
    return lines


def _in_force_again(line: PayoutLine) -> bool:
    """Whether what a failed line was for is in no newer file, and its parts are in force again."""
    parts = list(line.parts.all())
    same_claims = Q(pk__in=[])
    for part in parts:
        same_claims |= Q(report=part.report_id, worker=part.worker_id)
    by_hand = Payable.objects.filter(pk__in=[part.report_id for part in parts]).exclude(paid_at=None)
    if PayoutPart.objects.filter(same_claims, in_force=True).exists() or by_hand.exists():
        return False
    line.parts.update(in_force=True)
    return True


def _wrong(name: str, result: Result, why: str) -> Refusal:
    return Refusal(
        "InvalidResults",
        f"{name}, line {result.line}, reference {result.reference}: {why}. Nothing was booked.",
    )


# Sums that add up.


@dataclass(frozen=True, slots=True)
class ReportSums:
    """Where the cents of a report are; they add up to what it says."""

    simulated: int
    by_hand: int
    in_files: int
    sent: int
    paid: int
    failed: int
    owed: int

    @property
    def total(self) -> int:
        """All of it."""
        return self.simulated + self.by_hand + self.in_files + self.sent + self.paid + self.failed + self.owed


def sums_of(report: Payable) -> ReportSums:
    """Where the money of a report is: `failed` and `owed` wait for a file, `failed` after one that failed."""
    robots = Q(worker__simulated=True)
    simulated = report.entries.filter(robots).aggregate(cents=Sum("cents"))["cents"] or 0
    parts = PayoutPart.objects.filter(report=report, in_force=True).order_by()
    in_force = dict(parts.values_list("line__state").annotate(cents=Sum("cents")))
    bound = PayoutPart.objects.filter(report=OuterRef("payable"), worker=OuterRef("worker"))
    rest = report.entries.filter(~Exists(bound.filter(in_force=True))).exclude(robots)
    unbound = rest.aggregate(cents=Sum("cents"))["cents"] or 0
    failed = rest.filter(Exists(bound)).aggregate(cents=Sum("cents"))["cents"] or 0
    by_hand = unbound if report.paid_at else 0
    failed = 0 if report.paid_at else failed
    return ReportSums(
        simulated=simulated,
        by_hand=by_hand,
        in_files=in_force.get(State.OWED, 0),
        sent=in_force.get(State.SENT, 0),
        paid=in_force.get(State.PAID, 0),
        failed=failed,
        owed=unbound - by_hand - failed,
    )


# What a person is paid in a calendar year, over the whole installation, against the operator's thresholds.
#
# What counts is what files were made for in the year and did not fail, and reports that were noted as paid by
# hand; play money and what is paid elsewhere count nothing.

LONGEST_DECISION = 300


def paid_in(year: int, workers: Collection[int] | None = None) -> dict[int, int]:
    """Cents that people get of a year, by worker; of these workers, or of all."""
    sums: dict[int, int] = defaultdict(int)
    only = Q() if workers is None else Q(worker__in=workers)
    lines = PayoutLine.objects.filter(only, payout__made_at__year=year).exclude(
        Q(state=PayoutLine.State.FAILED) | Q(payout__method=PayMethod.NONE)
    )
    for worker, cents in lines.order_by().values_list("worker").annotate(cents=Sum("cents")):
        sums[worker] += cents
    in_file = PayoutPart.objects.filter(report=OuterRef("payable"), worker=OuterRef("worker"), in_force=True)
    by_hand = LedgerEntry.objects.filter(
        only,
        ~Exists(in_file),
        credit=LedgerEntry.Account.WORKERS,
        requester__real_money=True,
        payable__paid_at__year=year,
        worker__simulated=False,
    )
    for worker, cents in by_hand.order_by().values_list("worker").annotate(cents=Sum("cents")):
        sums[worker] += cents
    return dict(sums)


def over_the_hold(owed: Mapping[int, int], year: int) -> set[int]:
    """Of these workers, whose year would pass the threshold by what they are owed, and are not released."""
    if not settings.PAYOUT_HOLD_CENTS:
        return set()
    before = paid_in(year, list(owed))
    over = {pk for pk, cents in owed.items() if before.get(pk, 0) + cents > settings.PAYOUT_HOLD_CENTS}
    released = YearlyLimit.objects.filter(worker__in=over, year=year).exclude(released_at=None)
    return over - set(released.values_list("worker", flat=True))


def note_passed(owed: Mapping[int, int]) -> None:
    """Write down whose year passes a threshold by what they are owed; a notice tells of them."""
    now = clock.now()
    if not settings.PAYOUT_WARN_CENTS and not settings.PAYOUT_HOLD_CENTS:
        return
    before = paid_in(now.year, list(owed))
    rows = {row.worker_id: row for row in YearlyLimit.objects.filter(worker__in=owed, year=now.year)}
    for pk, cents in owed.items():
        total = before.get(pk, 0) + cents
        warned = 0 < settings.PAYOUT_WARN_CENTS < total
        exceeds_hold = 0 < settings.PAYOUT_HOLD_CENTS < total
        row = rows.get(pk) or YearlyLimit(worker_id=pk, year=now.year)
        news = (warned and row.warned_at is None) or (exceeds_hold and row.held_at is None)
        if news:
            row.warned_at = row.warned_at or (now if warned else None)
            row.held_at = row.held_at or (now if exceeds_hold else None)
            row.save()


@transaction.atomic
def release_hold(*, requester: Requester, worker: Worker, year: int, decision: str, by: User) -> YearlyLimit:
    """Pay a person over the threshold for the rest of the year, for a reason that is written down."""
    if not by.is_staff or not may_book(requester, by):
        raise Refusal("AccessDenied", "Staff decide about held payments.")
    decision = " ".join(decision.split())
    if not decision:
        raise Refusal("InvalidParameterValue", "Write why it is paid all the same; it is kept.")
    if len(decision) > LONGEST_DECISION:
        raise Refusal("InvalidParameterValue", f"A decision has at most {LONGEST_DECISION} characters.")
    row, _ = YearlyLimit.objects.get_or_create(worker=worker, year=year)
    done = YearlyLimit.objects.filter(pk=row.pk, released_at=None).update(
        released_at=clock.now(), released_by=by, decision=decision
    )
    if done:
        note(requester.pk, "payout.released", worker.worker_id, f"{year}: {decision}")
        security.log("payout.released", worker=worker.worker_id, year=year, decision=decision)
    row.refresh_from_db()
    return row
