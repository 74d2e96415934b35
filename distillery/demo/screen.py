"""What the demonstration says on the terminal, and its numbers for `summary.json`; money in cents."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Q, Sum
from django.urls import reverse
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from annotation.models import Answer, AnswerFlag, Query
from core.money import dollars
from core.projects.models import Project
from crowd.models import Assignment, Hit, HitUnit, LedgerEntry, Stage
from distillery.demo.answers import AnswersSummary, Part, summarise
from distillery.demo.judging import EvaluationSummary, JudgingSummary, ReleaseSummary
from distillery.demo.lab import REGION, BatchSummary, Key, PollSummary
from distillery.demo.people import People
from judgments.services.filter_runs import Preview

State = Assignment.State


@dataclass(frozen=True)
class StageSummary:
    """What a stage asked for and what came of it. `wall_seconds` is how long its crowd and its owner took."""

    stage: str
    kind: str
    status: str
    units: int
    assignments: int
    approved: int
    rejected: int
    paid_cents: int
    fee_cents: int
    reserved_cents: int
    wall_seconds: float


@dataclass(frozen=True)
class MiddleSummary:
    """What goes on only when somebody acts."""

    project: str
    queries: dict[str, int]
    ties: int
    flagged: int
    answers_to_review: int
    work_to_decide: int
    open_hits: int


def tally(stages: Iterable[Stage], seconds: Mapping[int, float]) -> list[StageSummary]:
    """The stages, in their order. `seconds` by a stage's primary key; those who were not timed have 0."""
    return [_one(stage, seconds.get(stage.pk, 0.0)) for stage in stages]


def _one(stage: Stage, seconds: float) -> StageSummary:
    stage.refresh_from_db()
    asked = HitUnit.objects.filter(hit__stage=stage).exclude(role=HitUnit.Role.CHECK)
    work = Assignment.objects.filter(stage=stage).aggregate(
        submitted=Count("pk", filter=Q(state__in=[*Assignment.GOOD, State.REJECTED])),
        approved=Count("pk", filter=Q(state=State.APPROVED)),
        rejected=Count("pk", filter=Q(state=State.REJECTED)),
    )
    spent = LedgerEntry.objects.filter(stage=stage, kind=LedgerEntry.Kind.SPEND)
    money = spent.aggregate(rewards=Sum("cents", default=0), fees=Sum("fee_cents", default=0))
    return StageSummary(
        stage=f"{stage.project.slug}/{stage.slug}",
        kind=stage.kind,
        status=stage.status,
        units=asked.values("unit").distinct().count(),
        assignments=work["submitted"],
        approved=work["approved"],
        rejected=work["rejected"],
        paid_cents=money["rewards"],
        fee_cents=money["fees"],
        reserved_cents=stage.reserved_cents,
        wall_seconds=round(seconds, 2),
    )


def waiting_in(project: Project) -> MiddleSummary:
    """What waits, counted."""
    undecided = Answer.objects.filter(query__project=project, state=Answer.State.UNDECIDED)
    waiting = Assignment.objects.filter(stage__project=project, state=Assignment.State.SUBMITTED)
    queries = summarise(project, 0).queries
    return MiddleSummary(
        project=project.slug,
        queries=queries,
        ties=queries.get(Query.Status.TIED, 0),
        flagged=AnswerFlag.objects.filter(answer__in=undecided).values("answer").distinct().count(),
        answers_to_review=undecided.count(),
        work_to_decide=waiting.count(),
        open_hits=Hit.objects.filter(stage__project=project, state=Hit.State.OPEN).count(),
    )


# The books of a study over several sources: our ledger beside what each other side says; money in cents.


@dataclass(frozen=True)
class SourceBooks:
    """What one source was asked for, paid and charged: by our ledger, and by the other side; in cents.

    A study link has no other side that plans or charges; what was paid follows there from the list of its
    people, for as many tasks as each has finished.
    """

    source: str
    people: int
    answers: int
    planned_cents: int
    their_planned_cents: int | None
    paid_cents: int
    their_paid_cents: int
    fee_cents: int
    their_fee_cents: int | None

    @property
    def agree(self) -> bool:
        """Both sides say the same, to the cent."""
        pairs = (
            (self.planned_cents, self.their_planned_cents),
            (self.paid_cents, self.their_paid_cents),
            (self.fee_cents, self.their_fee_cents),
        )
        return all(theirs in (None, ours) for ours, theirs in pairs)


@dataclass(frozen=True)
class SourcesSummary:
    """The study over three sources, with the address of its link, which stays open."""

    project: str
    stages: list[str]
    answers: int
    judgments: int
    books: list[SourceBooks]
    agree: bool
    release: ReleaseSummary
    link: str
    link_page: str
    wall_seconds: float

    @property
    def paid_here(self) -> tuple[int, int]:
        """Rewards and fees of this marketplace."""
        here = self.books[0]
        return here.paid_cents, here.fee_cents


class Screen:
    """The terminal, for people who may be seeing Distillery for the first time."""

    def __init__(self) -> None:
        self.console = Console(highlight=False)

    def done(self, sentence: str) -> None:
        """One step is finished."""
        self._line(f"[green]✓[/green] {sentence}")

    def note(self, sentence: str) -> None:
        """Something that is good to know."""
        self._line(f"[yellow]![/yellow] {sentence}")

    @contextmanager
    def progress(self, words: str, total: int | None) -> Iterator[Callable[[int], None]]:
        """A bar while the block runs; the block says how much is done. Without a total it only moves."""
        with Progress(console=self.console, transient=True) as bars:
            bar = bars.add_task(words, total=total)
            yield lambda done: bars.update(bar, completed=done)

    def batch(self, batch: BatchSummary) -> None:
        """A batch that waits for its requester."""
        self.done(
            f"A batch of {batch.tasks} tasks from a template and a table; {batch.submitted} assignments "
            "by simulated workers wait for review"
        )

    def money(self, poll: PollSummary) -> None:
        """The poll's books beside the marketplace's."""
        self.done(
            f"{poll.assignments} assignments by {poll.simulated_workers} simulated workers; "
            f"{poll.approved} approved and paid, {poll.held} held because attention checks failed"
        )
        table = Table("", "rewards", "fees", "in all", box=None, padding=(0, 2, 0, 2), header_style="dim")
        for name, rewards, fees in (
            ("our ledger", poll.spent_rewards_cents, poll.spent_fees_cents),
            ("marketplace", poll.marketplace_paid_cents, poll.marketplace_fees_cents),
        ):
            table.add_row(name, f"${dollars(rewards)}", f"${dollars(fees)}", f"${dollars(rewards + fees)}")
        self.console.print(table)
        self._line(
            f"  The books {'agree to the cent' if poll.adds_up else '[red]DIFFER[/red]'}; "
            f"${dollars(poll.reserved_cents)} of ${dollars(poll.budget_cents)} is still reserved."
        )

    def part(self, part: Part, now: AnswersSummary) -> None:
        """What a stage of the pipeline left."""
        said = {
            "screening": f"{now.queries.get('accepted', 0)} queries accepted, "
            f"{now.queries.get('excluded', 0)} excluded, {now.queries.get('tied', 0)} tied",
            "curation": f"{now.queries.get('curated', 0)} queries have their passages, "
            f"{now.queries.get('unanswerable', 0)} cannot be answered from them",
            "distillation": f"{now.answers} answers to {now.queries.get('answered', 0)} queries, "
            f"{now.flagged} with flags",
        }
        number = now.assignments.get(part.kind, 0)
        self.done(f"{part.kind.capitalize()}: {number} assignments by simulated editors; {said[part.kind]}")

    def decided(self, came_in: int, stay_out: int) -> None:
        """What the owner decided about queries whose editors were of two minds."""
        self.done(
            f"The owner decided {came_in + stay_out} ties: {came_in} queries come in, {stay_out} stay out"
        )

    def reviewed(self, now: AnswersSummary) -> None:
        """What the reviewer decided, and what came in since."""
        self.done(
            f"A reviewer approved {now.states.get('approved', 0)} answers, rejected one and excluded one; "
            "others wrote in their place"
        )

    def imported(self, report: Mapping[str, Any]) -> None:
        """What came of a file of systems' answers."""
        systems = report["systems"]
        exact = sum(counts["exact"] for counts in systems.values())
        self.done(
            f"{report['stored']} answers of {len(systems)} systems imported, {exact} of them set aside: "
            "they are copies of a reference"
        )

    def filtered(self, seen: Preview, hits: int) -> None:
        """What the filters did to the first judgments, and how many HITs ask others."""
        self.done(
            f"Judging: {seen.ratings} scores by {seen.workers} simulated judges. The filters remove "
            f"{seen.removed_workers} judges and {seen.removed_ratings} scores; {seen.missing.answers} "
            f"answers have fewer than {seen.target} scores, so others are asked in {hits} more HITs"
        )

    def judged(self, now: JudgingSummary) -> None:
        """How good the scores are, as the honest report says it."""
        means = ", ".join(f"{name} {mean:.2f}" for name, mean in now.means.items())
        self.done(f"{now.judgments} scores in all, {now.removed_judges} judges removed; means: {means}")
        self._line(
            f"  Krippendorff's alpha {_figure(now.alpha_before)} before, {_figure(now.alpha_after)} after "
            f"the filters ({_figure(now.alpha_cross_fitted)} cross-fitted); "
            f"reliability of the means {_figure(now.reliability)}"
        )

    def published(self, release: ReleaseSummary) -> None:
        """What the release holds."""
        findings = "finding" if release.findings == 1 else "findings"
        self.done(
            f"Release {release.version}: {release.files} files, {release.bytes / 1e6:.1f} MB; "
            f"{release.findings} {findings} of the privacy check decided before"
        )

    def evaluated(self, evaluation: EvaluationSummary) -> None:
        """Which metric agrees best with the judges."""
        best = (
            f"{evaluation.best} agrees best with the simulated judges (Pearson {_figure(evaluation.pearson)})"
        )
        said = best if evaluation.best else "none can be compared"
        self.done(f"{len(evaluation.metrics)} metrics evaluated on {evaluation.answers} answers: {said}")

    def in_the_middle(self, now: MiddleSummary) -> None:
        """What waits in the second campaign."""
        self.done(
            f"A second campaign in the middle of its work: {now.open_hits} HITs on offer, {now.ties} ties, "
            f"{now.flagged} answers with flags, {now.answers_to_review} answers to review"
        )

    def sources(self, study: SourcesSummary) -> None:
        """The books of a study over three sources: ours beside those of each other side."""
        self.done(
            f"A study of {len(study.stages)} stages by people from {len(study.books)} places: "
            f"{study.answers} answers and {study.judgments} judgments, in one release {study.release.version}"
        )
        table = Table("source", "people", "tasks", box=None, padding=(0, 1, 0, 1))
        for name in ("planned", "paid", "fees"):
            table.add_column(name, justify="right")
            table.add_column("theirs", justify="right", style="dim")
        table.add_column("agree")
        for each in study.books:
            table.add_row(
                each.source,
                str(each.people),
                str(each.answers),
                _sum(each.planned_cents),
                _sum(each.their_planned_cents),
                _sum(each.paid_cents),
                _sum(each.their_paid_cents),
                _sum(each.fee_cents),
                _sum(each.their_fee_cents),
                "yes" if each.agree else "[red]NO[/red]",
            )
        self.console.print(table)
        agree = "agree to the cent: yes" if study.agree else "[red]DIFFER[/red]"
        self._line(f"  The books of all {len(study.books)} {agree}")

    def books(
        self,
        stages: Iterable[StageSummary],
        paid: int,
        fees: int,
        *,
        by_script: tuple[int, int],
        of_three: tuple[int, int],
    ) -> None:
        """All stages' books, the lab's script and the study over three sources against the marketplace's."""
        rows = list(stages)
        ours = (
            by_script[0] + of_three[0] + sum(each.paid_cents for each in rows),
            by_script[1] + of_three[1] + sum(each.fee_cents for each in rows),
        )
        table = Table("stage", "units", "done", "approved", "rejected", "paid", "fees", "seconds", box=None)
        table.padding = (0, 1, 0, 1)
        for each in rows:
            table.add_row(
                each.stage,
                str(each.units),
                str(each.assignments),
                str(each.approved),
                str(each.rejected),
                f"${dollars(each.paid_cents)}",
                f"${dollars(each.fee_cents)}",
                f"{each.wall_seconds:.1f}",
            )
        self.console.print(table)
        agree = "agree to the cent" if ours == (paid, fees) else "[red]DIFFER[/red]"
        self._line(
            f"  With the script's ${dollars(sum(by_script))} and the ${dollars(sum(of_three))} of the study "
            f"over three sources: ${dollars(sum(ours))}; the marketplace's ${dollars(paid + fees)}. "
            f"The books {agree}."
        )

    def released(self, release: ReleaseSummary) -> None:
        """Where the release lies, and how to check it."""
        self._line("\n[bold]The release[/bold]")
        self._plain(f"  {release.path}")
        self._plain(f"  .venv/bin/python manage.py release verify {release.path}")

    def links(self, url: str, *, researcher: str, people: People, study: SourcesSummary) -> None:
        """The places to begin, who can log in, and the password."""
        owner, guest, *workers = people.logins
        self._line("\n[bold]Begin here[/bold]")
        self._line(f"  researcher    {url}{researcher}    log in as [bold]{owner.username}[/bold]")
        lab = reverse("requester:overview", args=[people.requester.customer_id])
        self._line(f"  requester     {url}{lab}    the lab that pays, of [bold]{owner.username}[/bold] too")
        self._line(f"  worker        {url}/    log in as [bold]{workers[0].username}[/bold]")
        self._line(f"  visitor       {study.link}    no account is needed; {study.link_page} shows who came")
        self._line(f"  password      [bold]{people.password}[/bold]    each chooses a new one the first time")
        others = " and ".join(login.username for login in workers[1:])
        self._line(f"  There are also {guest.username}, who may look at everything, and the worker {others}.")

    def key(self, key: Key) -> None:
        """Three lines with which any script can act as the demonstration's lab."""
        self._line("\n[bold]Point a script of your own here[/bold]")
        self._plain("  import boto3")
        self._plain(
            f'  mturk = boto3.client("mturk", endpoint_url="{key.endpoint_url}", region_name="{REGION}", '
            f'aws_access_key_id="{key.access_key}", aws_secret_access_key="{key.secret}")'
        )
        self._plain("  print(mturk.get_account_balance())")

    def stay(self) -> None:
        """The last words before the server's own."""
        self._line("\nThe server runs until you press Ctrl-C.")

    def _line(self, text: str) -> None:
        self.console.print(text, soft_wrap=True)

    def _plain(self, text: str) -> None:
        self.console.print(text, soft_wrap=True, markup=False)


def _sum(cents: int | None) -> str:
    return "" if cents is None else f"${dollars(cents)}"


def _figure(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.2f}"
