"""`python -m tests.mutants`: forty faults of one line, each of which a test near it must find.

They are about what must never go wrong: money, claims, filters, exports, permissions and the protocol. Each
is put into a copy of this checkout, and the tests that are named beside it run there, none that is `long`.
A fault is found where a test fails; a copy that cannot be imported, or whose fixtures break, says nothing. A
fault whose text is not in its file exactly once fails too: the code has moved on, and the fault has to follow
(docs/developer.md).
"""

import argparse
import importlib.util
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.repository import ROOT, find_committed_files


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault: `text`, which is in `file` exactly once, becomes `fault`, and one of `tests` fails."""

    name: str
    file: str
    text: str
    fault: str
    tests: tuple[str, ...]


MONEY = (
    Mutant(
        "the higher fee begins at eleven places",
        "core/money.py",
        "if max_assignments >= rates.large_hit_from:",
        "if max_assignments > rates.large_hit_from:",
        ("tests/marketplace/test_values.py",),
    ),
    Mutant(
        "a change of places holds the reward without its fee",
        "marketplace/lifecycle/holds.py",
        "cents = abs(change) * (hit.reward_cents + hit.fee_cents)",
        "cents = abs(change) * hit.reward_cents",
        ("tests/marketplace/test_life.py",),
    ),
    Mutant(
        "nine places become ten at the lower fee",
        "marketplace/lifecycle/holds.py",
        "if hit.max_at_creation < LARGE_HIT <= total:",
        "if hit.max_at_creation < LARGE_HIT < total:",
        ("tests/requester/test_hits.py",),
    ),
    Mutant(
        "an expired HIT keeps the money of its open places",
        "marketplace/lifecycle/holds.py",
        "open_places = 0 if hit.disposed_at or is_expired(hit, now) else hit.open_places",
        "open_places = 0 if hit.disposed_at else hit.open_places",
        ("tests/marketplace/test_life.py",),
    ),
    Mutant(
        "the last cent of an account cannot be spent",
        "marketplace/money/ledger.py",
        'covered = {f"{field}__gte": -amount',
        'covered = {f"{field}__gt": -amount',
        ("tests/marketplace/test_life.py",),
    ),
    Mutant(
        "what was paid by hand is paid by a file again",
        "marketplace/money/payouts.py",
        "        payable__paid_at=None,",
        "        payable__number__gt=0,",
        ("tests/requester/test_payouts.py",),
    ),
    Mutant(
        "a budget forgets what was spent of it",
        "crowd/budget.py",
        'budget_cents__gte=F("reserved_cents") + F("spent_cents") + cost.total',
        'budget_cents__gte=F("reserved_cents") + cost.total',
        ("tests/crowd/test_budget.py",),
    ),
    Mutant(
        "an approval that is heard of twice is booked twice",
        "crowd/services/decisions.py",
        "if before.state == State.APPROVED:",
        "if before.state == State.ENDED:",
        ("tests/crowd/test_decisions.py",),
    ),
)

CLAIMS = (
    Mutant(
        "a worker does one HIT more than the most",
        "crowd/services/arrivals.py",
        "return hit_count >= stage.max_hits_per_worker",
        "return hit_count > stage.max_hits_per_worker",
        ("tests/taskpage/test_refusals.py",),
    ),
    Mutant(
        "a study link lets one person more in than its quota",
        "people/visits.py",
        "(count_people(link) if people is None else people) >= link.quota",
        "(count_people(link) if people is None else people) > link.quota",
        ("tests/people/test_joining.py",),
    ),
    Mutant(
        "a person answers a unit again under another account",
        "crowd/services/arrivals.py",
        "if any(role == HitUnit.Role.UNIT and unit in had for unit, role in units.items()):",
        "if any(role == HitUnit.Role.UNIT and unit in held for unit, role in units.items()):",
        ("tests/crowd/sources/test_sources.py",),
    ),
    Mutant(
        "people judge answers to queries that they answered",
        "judgments/kinds.py",
        "return {unit: [judge_scope(query)] for unit, query in queries_of(units).items()}",
        "return {unit: [distil_scope(query)] for unit, query in queries_of(units).items()}",
        ("tests/judgments/test_judging.py",),
    ),
    Mutant(
        "work that we deal out has one place more than its HIT",
        "crowd/services/arrivals.py",
        "if hit.assignments.filter(has_place()).count() < row.places:",
        "if hit.assignments.filter(has_place()).count() <= row.places:",
        ("tests/crowd/test_links.py",),
    ),
    Mutant(
        "an answer after its deadline is taken",
        "marketplace/lifecycle/assignments.py",
        "holdings = Holding.objects.filter(pk=holding.pk, state=State.ACCEPTED, deadline__gt=now)",
        "holdings = Holding.objects.filter(pk=holding.pk, state=State.ACCEPTED, accepted_at__lt=now)",
        ("tests/marketplace/test_life.py",),
    ),
)

FILTERS = (
    Mutant(
        "who gives one score alone is no straight-liner",
        "metrics/agreement/filters.py",
        "removed=enough & (part >= share)",
        "removed=enough & (part > share)",
        ("tests/metrics/agreement/test_technical.py",),
    ),
    Mutant(
        "equal ratings that exactly fill the room stay",
        "metrics/agreement/filters.py",
        'quota = size * (size <= left) if ties == "group"',
        'quota = size * (size < left) if ties == "group"',
        ("tests/metrics/agreement/test_z_filter.py",),
    ),
    Mutant(
        "a rating exactly at the limit of z goes",
        "metrics/agreement/filters.py",
        "((np.maximum(n, ddof) - ddof) * under) > over * n * spread)",
        "((np.maximum(n, ddof) - ddof) * under) >= over * n * spread)",
        ("tests/metrics/agreement/test_z_filter.py",),
    ),
    Mutant(
        "one failed check more than the limit is forgiven",
        "metrics/agreement/filters.py",
        "removed=enough & (wrong >= failures)",
        "removed=enough & (wrong > failures)",
        ("tests/metrics/agreement/test_attention.py",),
    ),
    Mutant(
        "a kappa exactly at the limit removes its worker",
        "metrics/agreement/filters.py",
        "below = kappas.kappa < recipe.kappa_below",
        "below = kappas.kappa <= recipe.kappa_below",
        ("tests/metrics/agreement/test_run.py",),
    ),
    Mutant(
        "work that failed its checks counts before a person decided",
        "crowd/counted_work.py",
        ') & (Q(**{f"{at}failed_checks": 0}) | Q(**{f"{at}stage__hold_failed_checks": False}))',
        ') & (Q(**{f"{at}failed_checks__gte": 0}) | Q(**{f"{at}stage__hold_failed_checks": False}))',
        ("tests/crowd/test_decisions.py",),
    ),
)

EXPORTS = (
    Mutant(
        "answers of people who withdrew are released",
        "releases/scope.py",
        'When(Exists(withdrew), then=Value("withdrawn"))',
        'When(Exists(withdrew), then=Value(""))',
        ("tests/people/test_withdrawal.py",),
    ),
    Mutant(
        "a cell may begin with @",
        "core/files/cells.py",
        "[\\\\s\\ufeff\\u200b]*[=+\\\\-@＝＋－＠])",  # noqa: RUF001 - wide forms of the signs are meant
        "[\\\\s\\ufeff\\u200b]*[=+\\\\-＝＋－＠])",  # noqa: RUF001 - as above
        ("tests/tables/test_cells.py",),
    ),
    Mutant(
        "a worker has the same pseudonym in every project",
        "core/projects/selectors.py",
        "hmac.new(bytes.fromhex(project.pseudonym_key), external_id.encode(), hashlib.sha256)",
        'hmac.new(b"distillery", external_id.encode(), hashlib.sha256)',
        ("tests/projects/test_projects.py",),
    ),
    Mutant(
        "splits share a passage",
        "releases/scope.py",
        "        if one != other:",
        "        if one < other:",
        ("tests/releases/test_splits.py",),
    ),
    Mutant(
        "a simulated worker's answer is marked as a person's",
        "releases/row_reader.py",
        '"simulated": worker in scope.people.simulated,',
        '"simulated": False,',
        ("tests/releases/test_described_campaign.py",),
    ),
    Mutant(
        "only the first span of a text is blacked out",
        "releases/scope.py",
        "for start, upto in spans:",
        "for start, upto in spans[:1]:",
        ("tests/releases/test_privacy_check.py",),
    ),
)

PERMISSIONS = (
    Mutant(
        "a manager makes a release public",
        "releases/desk/release.py",
        "@on_project(Role.OWNER)\ndef publish(",
        "@on_project(Role.MANAGER)\ndef publish(",
        ("tests/releases/test_shelf_pages.py",),
    ),
    Mutant(
        "a viewer undoes filters",
        "judgments/desk/filters.py",
        "@on_stage(Role.MANAGER)\ndef undo(",
        "@on_stage()\ndef undo(",
        ("tests/judgments/test_desk_judging.py",),
    ),
    Mutant(
        "a manager spends real money",
        "crowd/access.py",
        "return self.owns or (self.manages and not spends_real_money(self.stage))",
        "return self.owns or self.manages",
        ("tests/judgments/test_desk_judging.py",),
    ),
    Mutant(
        "a token of one project opens others",
        "web/api/access.py",
        "if bound is not None and bound != project.pk:",
        "if bound is not None and project.pk is None:",
        ("tests/api/test_access.py",),
    ),
    Mutant(
        "a token does what is in none of its scopes",
        "web/api/access.py",
        "missing = [scope for scope in scopes if scope not in caller.token.scopes]",
        "missing = [scope for scope in scopes if not caller.token.scopes]",
        ("tests/api/test_access.py",),
    ),
    Mutant(
        "a requester decides about another requester's work",
        "marketplace/protocol/lookup.py",
        'holdings.filter(assignment_id=call["AssignmentId"], hit__requester=call.requester)',
        'holdings.filter(assignment_id=call["AssignmentId"])',
        ("tests/conformance/test_hits.py",),
    ),
    Mutant(
        "a worker returns another worker's HIT",
        "marketplace/site/workerapi.py",
        'assignment_id=body.get("assignment_id", ""), worker=worker, state=',
        'assignment_id=body.get("assignment_id", ""), state=',
        ("tests/conformance/test_work.py",),
    ),
)

PROTOCOL = (
    Mutant(
        "a signature is good for fifty minutes",
        "marketplace/protocol/sigv4.py",
        "MAX_SKEW = timedelta(minutes=5)",
        "MAX_SKEW = timedelta(minutes=50)",
        ("tests/marketplace/test_protocol.py",),
    ),
    Mutant(
        "one signed header is enough",
        "marketplace/protocol/sigv4.py",
        "if not must_be_signed.issubset(signed_headers):",
        "if must_be_signed.isdisjoint(signed_headers):",
        ("tests/marketplace/test_protocol.py",),
    ),
    Mutant(
        "a signed call is made again by a copy of it",
        "marketplace/protocol/endpoint.py",
        "if SignedWrite.objects.get(signature=signature).at < now - SAME_BREATH:",
        "if SignedWrite.objects.get(signature=signature).at > now:",
        ("tests/marketplace/test_door.py",),
    ),
    Mutant(
        "a token for the next page is good for other filters",
        "marketplace/protocol/render.py",
        'return f"{call.operation}:{call.requester.pk}:{json.dumps(filters, sort_keys=True)}"',
        'return f"{call.operation}:{call.requester.pk}:{json.dumps(sorted(filters))}"',
        ("tests/marketplace/test_protocol.py",),
    ),
    Mutant(
        "a unique request token is forgotten after minutes",
        "marketplace/protocol/calls.py",
        "REMEMBERED = timedelta(hours=24)",
        "REMEMBERED = timedelta(minutes=24)",
        ("tests/conformance/test_tokens.py",),
    ),
    Mutant(
        "codes of all of Amazon's services get the marketplace's prefix",
        "marketplace/protocol/errors.py",
        "shared = refusal.code.startswith(_SHARED_PREFIX)",
        "shared = refusal.code.startswith(CODE_PREFIX)",
        ("tests/conformance/test_layouts.py",),
    ),
    Mutant(
        "work is approved by itself when its time to work is over",
        "marketplace/lifecycle/assignments.py",
        "delay = timedelta(seconds=holding.hit.hit_type.auto_approval_s)",
        "delay = timedelta(seconds=holding.hit.hit_type.duration_s)",
        ("tests/marketplace/test_life.py",),
    ),
)

GROUPS = {
    "money": MONEY,
    "claims": CLAIMS,
    "filters": FILTERS,
    "exports": EXPORTS,
    "permissions": PERMISSIONS,
    "protocol": PROTOCOL,
}
MUTANTS = tuple(mutant for group in GROUPS.values() for mutant in group)

#: More than any of the files takes on a busy machine; a fault may also make a test wait for ever.
_SECONDS = 900
#: Where the tests of this checkout may look for data, beside it.
_BESIDE = ROOT.parent / "shared"
_FAILED = re.compile(r"^FAILED (tests/\S+?)(?:\[.*)?(?: - .*)?$", re.MULTILINE)
#: Of pytest: all passed.
_PASSED = 0


def say(*lines: str) -> None:
    """Print lines at once, also into a file."""
    print(*lines, sep="\n", flush=True)  # noqa: T201


def apply_fault(mutant: Mutant, source: str) -> str:
    """The source with the fault; ValueError, in words, where its text does not match exactly once."""
    matches = source.count(mutant.text)
    if matches != 1:
        raise ValueError(f"its text is {matches} times in {mutant.file}, and must be there once")
    return source.replace(mutant.text, mutant.fault)


@contextmanager
def open_copies(count: int) -> Iterator["queue.SimpleQueue[Path]"]:
    """Copies of the checkout as it is now, uncommitted changes included, free to be taken and given back."""
    copies: queue.SimpleQueue[Path] = queue.SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="distillery-mutants-") as folder:
        for number in range(count):
            copy = Path(folder) / str(number) / "checkout"
            for path in find_committed_files():
                target = copy / path.relative_to(ROOT)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(path, target)
            if _BESIDE.is_dir():
                (copy.parent / "shared").symlink_to(_BESIDE.resolve())
            copies.put(copy)
        yield copies


@contextmanager
def plant_fault(mutant: Mutant, copy: Path) -> Iterator[None]:
    """The fault is in the copy for as long as this lasts."""
    path = copy / mutant.file
    source = path.read_text(encoding="utf-8")
    # Compiled modules are told apart by second and size, which a fault may leave as they were.
    compiled = Path(importlib.util.cache_from_source(path))
    path.write_text(apply_fault(mutant, source), encoding="utf-8")
    compiled.unlink(missing_ok=True)
    try:
        yield
    finally:
        path.write_text(source, encoding="utf-8")
        compiled.unlink(missing_ok=True)


def run_tests(copy: Path, tests: Sequence[str]) -> tuple[int, str]:
    """What pytest returns and says of these files in the copy, on SQLite, up to the first failure."""
    left_out = {"DATABASE_URL", "REDIS_URL", "PYTHONDONTWRITEBYTECODE", "PYTEST_ADDOPTS"}
    environment = {name: value for name, value in os.environ.items() if name not in left_out}
    pytest = [sys.executable, "-m", "pytest", "-x", "--tb=no", "-p", "no:cacheprovider"]
    command = [*pytest, "-m", "not long", *tests]
    try:
        result = subprocess.run(
            command,
            cwd=copy,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return -1, f"It took more than {_SECONDS} s."
    return result.returncode, result.stdout


def search_fault(mutant: Mutant, copies: "queue.SimpleQueue[Path]") -> tuple[str, str]:
    """The test that found the fault, empty for none, and what there is to say of it."""
    copy = copies.get()
    try:
        with plant_fault(mutant, copy):
            _, output = run_tests(copy, mutant.tests)
    except (OSError, ValueError) as error:
        return "", str(error)
    finally:
        copies.put(copy)
    failed = _FAILED.search(output)
    return (failed[1], "") if failed else ("", (output.strip().splitlines() or ["pytest said nothing"])[-1])


def check_unchanged(files: Sequence[str], copies: "queue.SimpleQueue[Path]") -> str:
    """Run test files without any fault; what pytest says where they do not pass, else nothing."""
    copy = copies.get()
    try:
        status, output = run_tests(copy, files)
    finally:
        copies.put(copy)
    return "" if status == _PASSED else output


def search_all(mutants: Sequence[Mutant], jobs: int) -> bool:
    """Whether every fault is found; says which test found which, and how many are."""
    started, count = time.monotonic(), 0
    files = sorted({file for mutant in mutants for file in mutant.tests})
    with open_copies(jobs) as copies, ThreadPoolExecutor(jobs) as pool:
        parts = [files[number::jobs] for number in range(min(jobs, len(files)))]
        if faults := [
            output for output in pool.map(lambda part: check_unchanged(part, copies), parts) if output
        ]:
            say(*faults, "The tests do not pass without any fault, so they can find none.")
            return False
        say(f"{len(files)} files of tests pass without any fault ({time.monotonic() - started:.0f} s).")
        searches = {pool.submit(search_fault, mutant, copies): mutant for mutant in mutants}
        for search in as_completed(searches):
            test, why = search.result()
            count += bool(test)
            name = searches[search].name
            say(f"found {name}  by {test}" if test else f"NOT FOUND {name}: {why}")
    say(f"{count} of {len(mutants)} found in {time.monotonic() - started:.0f} s")
    return count == len(mutants)


def main() -> int:
    """Search for all faults, or for one."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--list", action="store_true", help="print the faults and run nothing")
    parser.add_argument("--only", metavar="NAME", help="those whose name has these words")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="copies that are tried at once")
    options = parser.parse_args()
    if options.list:
        for group, mutants in GROUPS.items():
            say(*(f"{group}: {mutant.name} ({mutant.file})" for mutant in mutants))
        return 0
    chosen = [mutant for mutant in MUTANTS if (options.only or "") in mutant.name]
    if not chosen:
        parser.error(f"No fault has {options.only!r} in its name; --list shows all.")
    return 0 if search_all(chosen, max(1, options.jobs)) else 1


if __name__ == "__main__":
    sys.exit(main())
