"""Filters over a stage's judgments: what they would do, applying them, undoing and making them again.

A filter never changes a judgment: it writes verdicts into a `FilterRun`. One run of a stage is in force at
most, which the database holds; what is stored is stored whole or not at all.

A run in force is made again when work that it saw begins or ceases to count, or a judge withdraws. It stays
the same run: recipe, parameters, seed and the judgments up to the newest that it saw. What it decided and the
scores that follow are replaced in one transaction, and the log says why.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import Count, Q, QuerySet, Sum
from django.utils import timezone

from annotation.services.steps import in_words
from core.jobs import services as jobs
from core.jobs.models import OPEN_STATES, Job, JobState
from core.money import format_amount
from core.progress import Progress, silent
from core.projects.services import record
from crowd.counted_work import not_counting
from crowd.kinds import PendingUnit, kind_of
from crowd.models import Assignment, LedgerEntry, Stage
from crowd.services.decisions import recount_all
from crowd.services.publication import publish_pending, quote
from judgments.judging_config import judging_config
from judgments.models import CheckAnswer, FilterRun, Judgment, UnitResponse
from judgments.questionnaire.ratings import pending_after
from judgments.selectors.judging import (
    MissingJudgments,
    Sums,
    missing_judgments,
    missing_of,
    pending_judgments,
)
from judgments.selectors.ratings import QUESTIONNAIRE, stamp_of
from judgments.services import filter_decisions, reports
from judgments.services.filter_decisions import (
    FilterDecision,
    FilteringError,
    FiltersChangedError,
    NothingMissingError,
    decide,
    recipe_named,
    stored_parameters,
)
from judgments.units import of_candidate
from people.models import Guest
from people.visits import AnswerHolder

if TYPE_CHECKING:
    from metrics.agreement.recipes import Recipe

# Jobs that apply filters and ask for what is missing: what a large stage takes is more than a page waits for.

APPLY, TOP_UP, REMAKE = "judgments.filter", "judgments.top_up", "judgments.filter_again"
#: How long a page says that a job failed, where nothing was done since.
_SAID = timedelta(days=1)
#: Jobs of a stage among which one is looked for that still runs.
_LOOKED_AT = 20


def ask_apply(
    *,
    stage: Stage,
    recipe: str,
    parameters: Mapping[str, Any],
    actor: Any,
    seed: int,
    seen: int | None,
    once: str,
) -> Job:
    """Have a recipe put in force by a job; one job however often the same wish, `once`, is sent."""
    payload = {
        "stage": stage.pk, "recipe": recipe, "parameters": dict(parameters), "user": actor.pk, "seed": seed,
        "seen": seen, "once": once,
    }  # fmt: skip
    return _ask(APPLY, payload, f"{_prefix(stage)}apply:{once}")


def ask_top_up(*, stage: Stage, most_cents: int, actor: Any, once: str) -> Job:
    """Have what is missing published by a job, for at most what the person confirmed."""
    payload = {"stage": stage.pk, "most_cents": most_cents, "user": actor.pk}
    return _ask(TOP_UP, payload, f"{_prefix(stage)}top-up:{once}")


def ask_remake(*, run: FilterRun, why: str, state: str) -> Job:
    """Have a run made again by a job; one for each state of its judgments in which it was not made."""
    payload = {"run": run.pk, "why": why}
    return _ask(REMAKE, payload, f"{_prefix(run.stage)}again:{run.pk}:{run.remade}:{state}")


def under_way_or_failed(stage: Stage) -> tuple[Job | None, Job | None]:
    """The newest job for a stage that runs or waits; or else the last one where it failed.

    That is said until something else was done or a day is over.
    """
    newest = list(Job.objects.filter(effect__startswith=_prefix(stage)).order_by("-pk")[:_LOOKED_AT])
    open_ones = [job for job in newest if job.state in OPEN_STATES]
    if open_ones or not newest:
        return (open_ones[0] if open_ones else None), None
    last = newest[0]
    if last.state != JobState.FAILED or last.finished_at is None:
        return None, None
    since = Q(created_at__gt=last.finished_at) | Q(ended_at__gt=last.finished_at)
    if last.finished_at < timezone.now() - _SAID or FilterRun.objects.filter(since, stage=stage).exists():
        return None, None
    return None, last


def _ask(kind: str, payload: dict[str, Any], effect: str) -> Job:
    """One job for a wish; asked for again after it failed or was cancelled, it is tried again."""
    job = jobs.enqueue(kind=kind, payload=payload, effect=effect)
    if jobs.retry(job_id=job.pk):
        job.refresh_from_db()
    return job


def _prefix(stage: Stage) -> str:
    return f"filters:{stage.pk}:"


@dataclass(frozen=True, slots=True)
class Reason:
    """How much one rule removes."""

    rule: str
    workers: int
    ratings: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What a recipe would do to a stage's judgments now. `seen` is the run in force, 0 for none.

    `missing` is what the stage would lack with the recipe in force, as its pages say it afterwards; on
    `fallen` answers because of this recipe: with all their judgments they have enough. `target` is how many
    are wanted, 0 where the stage decides that answer by answer.
    """

    title: str
    parameters: dict[str, Any]
    workers: int
    ratings: int
    items: int
    removed_workers: int
    removed_ratings: int
    undetermined: int
    capped: int
    reasons: tuple[Reason, ...]
    target: int
    fallen: int
    missing: MissingJudgments
    currency: str
    seen: int

    @property
    def sentence(self) -> str:
        """All of it in words."""
        target_phrase = f"below the target of {self.target}" if self.target else "below what is wanted"
        missing = self.missing
        return (
            f"Would remove {self.removed_workers:,} of {_count_phrase(self.workers, 'judge')}, "
            f"{self.removed_ratings:,} of {_count_phrase(self.ratings, 'judgment')}; "
            f"{_count_phrase(self.fallen, 'answer falls', 'answers fall')} {target_phrase}; "
            f"{_count_phrase(missing.judgments, 'judgment')} would be missing on "
            f"{_count_phrase(missing.answers, 'answer')}; "
            f"asking for them costs {format_amount(missing.offer.total_cents, self.currency)}."
        )


def preview(stage: Stage, recipe: str, parameters: Mapping[str, Any], seed: int = 0) -> Preview:
    """What applying would do. Filters decide by rule, so the seed, which is the report's, changes nothing."""
    named_recipe = recipe_named(recipe, parameters)
    seen = FilterRun.objects.in_force().filter(stage=stage).values_list("pk", flat=True).first() or 0
    decided = decide(stage, named_recipe)
    ratings, run = decided.columns.ratings, decided.run
    if stage.kind == QUESTIONNAIRE:
        pending, fallen = pending_after(stage, decided.columns, run)
        target = stage.redundancy
    else:
        pending, fallen, target = _pending_after(stage, decided)
    return Preview(
        title=named_recipe.title,
        parameters=stored_parameters(named_recipe),
        workers=ratings.n_workers,
        ratings=len(ratings),
        items=ratings.n_items,
        removed_workers=int(run.removed_workers.sum()),
        removed_ratings=int((~run.kept).sum()),
        undetermined=int(run.undetermined.sum()),
        capped=int(run.capped_items.sum()),
        reasons=_reasons(decided),
        target=target,
        fallen=fallen,
        missing=missing_of(stage, pending),
        currency=stage.endpoint.currency,
        seen=seen,
    )


def _pending_after(stage: Stage, decided: FilterDecision) -> tuple[list[PendingUnit], int, int]:
    """What a judging stage would lack, on how many answers because of the filters, and what it wants."""
    config, keys = judging_config(stage), decided.columns.candidates.tolist()
    # One set of sums after the other: those of a million answers take 200 MB.
    before = {key for key, _ in missing_judgments(stage, config, keys, _sums(decided, kept_only=False))}
    then = _sums(decided, kept_only=True)
    lacking = {key for key, _ in missing_judgments(stage, config, keys, then)}
    pending = [PendingUnit(of_candidate(key), n) for key, n in pending_judgments(stage, config, then)]
    return pending, len(lacking - before), stage.redundancy if config.redundancy_mode == "fixed" else 0


def count_missing(stage: Stage) -> MissingJudgments:
    """What a stage lacks with its filters in force, and what asking for it costs."""
    return missing_of(stage, list(kind_of(stage).pending(stage)))


def _reasons(decided: FilterDecision) -> tuple[Reason, ...]:
    run = decided.run
    because = run.removed_because(decided.columns.ratings)
    reasons = [
        Reason(
            reason, int((run.removed_by == place - 1).sum()) if place else 0, int((because == place).sum())
        )
        for place, reason in enumerate(run.reasons)
    ]
    return tuple(each for each in reasons if each.workers or each.ratings)


def _sums(decided: FilterDecision, *, kept_only: bool) -> dict[int, Sums]:
    """Judgments of each candidate with their sums, as the stage's rules about redundancy take them."""
    from metrics.agreement.data import sums_of

    ratings = decided.columns.ratings
    sums = sums_of(ratings.only(decided.run.kept) if kept_only else ratings)
    columns = (sums.n.tolist(), sums.s.tolist(), sums.q.tolist())
    keys = decided.columns.candidates.tolist()
    return {key: Sums(*row) for key, row in zip(keys, zip(*columns, strict=True), strict=True)}


def _count_phrase(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"


State = FilterRun.State
_STEPS = 2


def apply(
    *,
    stage: Stage,
    recipe: str,
    parameters: Mapping[str, Any],
    actor: Any,
    seed: int = 0,
    seen: int | None = None,
    once: str = "",
    progress: Progress = silent,
    commit: Callable[[Callable[[], Any]], Any] | None = None,
) -> FilterRun:
    """Run the recipe and put what it decides in force; the run before gives way.

    `once` names this wish: asked for twice, it is done once. `seen` is the run (0: none) that was in force
    when the person looked; where another is by now, FiltersChangedError says so and nothing is changed.
    Judgments that arrive meanwhile are not in the run, which notes the newest that it saw. `commit` runs the
    transaction instead, for a job whose effect it is.
    """
    named_recipe = recipe_named(recipe, parameters)
    counted = _what_counts(stage)
    done = _done_before(stage, once)
    if done is not None:
        return done
    begun = timezone.now()
    progress(0, _STEPS, "Reading judgments and deciding")
    decided = decide(stage, named_recipe)
    if not len(decided.columns.ratings):
        raise FilteringError("There are no judgments yet; filters have nothing to look at.")
    progress(1, _STEPS, "Working out scores and storing what was decided")
    stored_runs: list[FilterRun] = []

    def store() -> int:
        # PostgreSQL stores verdicts for so long that scores are there when their turn comes.
        with ThreadPoolExecutor(1) as beside:
            scores = beside.submit(filter_decisions.scores_of, decided)
            stored_runs.append(
                _stored(stage, named_recipe, decided, scores.result, seed, seen, once, actor, begun)
            )
        if _what_counts(stage) != counted:
            # Decided about while we looked, and perhaps reconsidered with the run before: look once more.
            why = "work was decided about while the filters were being applied"
            ask_remake(run=stored_runs[-1], why=why, state="at once")
        return int(stored_runs[-1].pk)

    try:
        (commit or _in_one_transaction)(store)
    except IntegrityError as error:
        raise FiltersChangedError(
            "Another person applied filters at the same moment; look at theirs."
        ) from error
    return stored_runs[-1]


def _in_one_transaction(store: Callable[[], int]) -> None:
    with transaction.atomic():
        store()


def _stored(  # noqa: PLR0917 - made in one place
    stage: Stage,
    named_recipe: "Recipe",
    decided: FilterDecision,
    scores: Callable[[], filter_decisions.Scores],
    seed: int,
    seen: int | None,
    once: str,
    actor: Any,
    begun: datetime,
) -> FilterRun:
    """The run with everything that was decided, in the transaction of the caller."""
    # Two who apply at once wait for each other at the stage's row. Its key is not locked, so that judgments,
    # which refer to it, come in meanwhile.
    Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
    done = _done_before(stage, once)
    if done is not None:
        return done
    _supersede(stage, seen, actor)
    run = FilterRun.objects.create(
        stage=stage,
        recipe=named_recipe.name,
        parameters=stored_parameters(named_recipe),
        seed=seed,
        last_judgment=decided.columns.last,
        summary={"once": once, "title": named_recipe.title, "counts": filter_decisions.counts_of(decided)},
        created_by=actor,
        created_at=begun,
    )
    filter_decisions.store_verdicts(decided, run)
    filter_decisions.store_scores(scores(), decided, run)
    record(
        project=stage.project,
        action="filter.applied",
        subject=stage.slug,
        actor=actor,
        details={"recipe": named_recipe.title, "run": run.pk, **run.summary["counts"]},
    )
    reports.ask(stage=stage)
    return run


def check_seen(stage: Stage, seen: int, once: str) -> None:
    """Raise FiltersChangedError where other filters are in force than `seen`, but for the wish `once`."""
    if _done_before(stage, once) is None:
        _check_seen(_in_force(stage), seen)


def _check_seen(in_force: FilterRun | None, seen: int) -> None:
    if seen != (in_force.pk if in_force else 0):
        raise FiltersChangedError(
            "Somebody applied or undid filters since you looked. Look at the preview again, then decide."
        )


def _supersede(stage: Stage, seen: int | None, actor: Any) -> None:
    """Take the run in force out of force; FiltersChangedError where it is another than the person saw."""
    if seen is not None:
        _check_seen(_in_force(stage), seen)
    FilterRun.objects.in_force().filter(stage=stage).update(
        state=State.SUPERSEDED, ended_by=actor, ended_at=timezone.now()
    )


def undo(run: FilterRun, reason: str, actor: Any) -> FilterRun:
    """Take a run out of force: all good judgments count again. FilteringError unless it is in force."""
    if not reason.strip():
        raise FilteringError("Give a reason for undoing the filters; it stays in the log.")
    with transaction.atomic():
        changed = (
            FilterRun.objects.in_force()
            .filter(pk=run.pk)
            .update(state=State.UNDONE, ended_by=actor, ended_at=timezone.now(), reason=reason.strip()[:300])
        )
        if not changed:
            raise FilteringError("This run is no longer in force; somebody undid or replaced it.")
        record(
            project=run.stage.project,
            action="filter.undone",
            subject=run.stage.slug,
            actor=actor,
            details={"run": run.pk, "why": reason.strip()[:300]},
        )
        reports.ask(stage=run.stage)
    run.refresh_from_db()
    return run


def top_up(*, stage: Stage, most_cents: int, actor: Any, since: datetime | None = None) -> int:
    """Publish what is missing now, for at most what the person confirmed; the number of HITs.

    What the stage published from `since` on counts towards the amount, so that a job that died half way
    spends no more when it is done again. Raises FilteringError, NothingMissingError where that is the reason.
    """
    if stage.status != Stage.Status.OPEN:
        raise FilteringError(
            f"The stage is {stage.status}; only an open one asks for more. Open it again to see the cost."
        )
    # A quote of this moment: judgments came in, and HITs expired, since the person saw the other one.
    offer = quote(stage)
    if not offer.hits:
        raise NothingMissingError("Nothing is missing.")
    cents = offer.total_cents + (_published_since(stage, since) if since else 0)
    if cents > most_cents:
        now, seen = (format_amount(each, stage.endpoint.currency) for each in (cents, most_cents))
        raise FilteringError(
            f"It costs {now} by now, more than the {seen} that you saw. Look again, then decide."
        )
    count = publish_pending(stage, actor=actor)
    record(
        project=stage.project,
        action="stage.topped_up",
        subject=stage.slug,
        actor=actor,
        details={"hits": count, "cents": offer.total_cents},
    )
    return count


def _published_since(stage: Stage, since: datetime) -> int:
    """Cents that were set aside for HITs of a stage from this moment on, with fees."""
    entries = LedgerEntry.objects.filter(
        stage=stage, kind=LedgerEntry.Kind.RESERVE, reason="publish", at__gte=since
    )
    totals = entries.aggregate(rewards=Sum("cents"), fees=Sum("fee_cents"))
    return (totals["rewards"] or 0) + (totals["fees"] or 0)


def _what_counts(stage: Stage) -> tuple[int, int]:
    """Tells which assignments do not count."""
    stamp = stamp_of(stage)
    return stamp.spoilt, stamp.spoilt_sum


def _in_force(stage: Stage) -> FilterRun | None:
    return FilterRun.objects.in_force().filter(stage=stage).first()


def _done_before(stage: Stage, once: str) -> FilterRun | None:
    return FilterRun.objects.filter(stage=stage, summary__once=once).first() if once else None


# The run in force made again, because of work that it saw.

_REMAKE_STEPS = 2


def reconsider_run(stage: Stage, changed: Mapping[int, str]) -> None:
    """Make the run in force again if it saw some of this work: why, by assignment."""
    run = FilterRun.objects.in_force().filter(stage=stage).first()
    saw = _seen_by(run, changed) if run else set()
    if run is None or not saw:
        return
    run.stage = stage
    remake(run=run, why=in_words([changed[work] for work in sorted(saw)]))


def remake(
    *,
    run: FilterRun,
    why: str,
    progress: Progress = silent,
    commit: Callable[[Callable[[], Any]], Any] | None = None,
) -> bool:
    """Decide again what the run decided, on its judgments as they count now; False if nothing was to do.

    Called again it changes nothing more, and nothing where another run is in force by now. `commit` runs the
    transaction instead, for a job whose effect it is.
    """
    state = state_of(run)
    progress(0, _REMAKE_STEPS, "Filters are applied again: reading judgments and deciding")
    decided = _decided(run)
    progress(1, _REMAKE_STEPS, "Storing what was decided")
    done: list[bool] = []

    def store() -> int:
        done.append(_replace_decided(run, why, state, decided))
        return int(run.pk)

    if commit is not None:
        commit(store)
    else:
        with transaction.atomic():
            store()
    return done[-1]


def state_of(run: FilterRun) -> str:
    """What among the judgments and checks that a run saw does not count now, in a few numbers."""
    aside = Assignment.objects.filter(not_counting(), stage=run.stage_id).values("pk")
    judgments = (
        _judged_rows(run)
        .filter(pk__lte=run.last_judgment, assignment__in=aside)
        .aggregate(count=Count("pk"), sum=Sum("pk"))
    )
    checks = CheckAnswer.objects.filter(
        check_item__stage=run.stage_id, at__lte=run.created_at, assignment__in=aside
    ).aggregate(count=Count("pk"), sum=Sum("pk"))
    return "-".join(str(each[name] or 0) for each in (judgments, checks) for name in ("count", "sum"))


def _judged_rows(run: FilterRun) -> QuerySet[Any]:
    """What a run looked at: judgments, or responses to a questionnaire."""
    rows = UnitResponse if run.stage.kind == QUESTIONNAIRE else Judgment
    return rows._default_manager.filter(stage=run.stage_id)


def _seen_by(run: FilterRun, changed: Mapping[int, str]) -> set[int]:
    """Which of this work the run saw judgments or checks of."""
    judgments = _judged_rows(run).filter(assignment__in=changed, pk__lte=run.last_judgment)
    checked = CheckAnswer.objects.filter(assignment__in=changed, at__lte=run.created_at)
    return {pk for rows in (judgments, checked) for pk in rows.values_list("assignment", flat=True)}


def _decided(run: FilterRun) -> FilterDecision:
    recipe = recipe_named(run.recipe, run.parameters)
    return decide(run.stage, recipe, last=run.last_judgment, until=run.created_at)


def _replace_decided(run: FilterRun, why: str, state: str, decided: FilterDecision) -> bool:
    """Replace verdicts and scores, in the transaction of the caller."""
    # First the stage, then its run, as in `_stored`: the other way round, the two could wait for each other.
    stage = (
        Stage.objects.select_for_update(no_key=True)
        .select_related("project", "endpoint")
        .get(pk=run.stage_id)
    )
    now = FilterRun.objects.in_force().select_for_update(no_key=True).filter(pk=run.pk).first()
    if now is None:
        return False
    now.stage = stage
    latest = state_of(now)
    if now.summary.get("state") == latest:
        return False
    if latest != state:
        # More work was decided about while we read, before the lock was ours.
        decided = _decided(now)
    before, counts = now.summary.get("counts", {}), filter_decisions.counts_of(decided)
    now.verdicts.all().delete()
    now.scores.all().delete()
    filter_decisions.store_verdicts(decided, now)
    if len(decided.columns.ratings):
        filter_decisions.store_scores(filter_decisions.scores_of(decided), decided, now)
    now.summary = {
        **now.summary,
        "counts": counts,
        "state": latest,
        "remade": now.remade + 1,
        "remade_at": timezone.now().isoformat(),
        "remade_why": why,
    }
    now.save(update_fields=["summary"])
    record(
        project=stage.project,
        action="filter.remade",
        subject=stage.slug,
        details={
            "run": now.pk,
            "why": why,
            "recipe": now.summary.get("title", now.recipe),
            **counts,
            **{f"{name}_before": before.get(name) for name in ("ratings", "removed_ratings")},
        },
    )
    reports.ask(stage=stage)
    return True


# A judge leaves the study: what they judged counts no more, and runs in force decide again without it.

_KINDS = ("judging", "judge-training", QUESTIONNAIRE)


class JudgedWork(AnswerHolder):
    """Judgments that a person gave."""

    def published_with(self, guest: Guest) -> list[str]:
        """Releases know what they hold."""
        return []

    @transaction.atomic
    def set_aside(self, guest: Guest) -> int:
        """Mark the person's judging as withdrawn; the stage's next round makes its filter run again."""
        mine = Assignment.objects.filter(
            Q(stage__kind__in=_KINDS),
            stage__project=guest.project_id,
            worker__external_id=guest.worker_id,
            withdrawn=False,
        )
        works = list(
            mine.select_for_update(no_key=True, of=("self",)).select_related("worker").order_by("pk")
        )
        Assignment.objects.filter(pk__in=[work.pk for work in works]).update(withdrawn=True)
        recount_all([work for work in works if work.stored_at is not None], "was withdrawn by the person")
        return len(works)
