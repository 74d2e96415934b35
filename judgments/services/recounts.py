"""A filter run in force is made again when work that it saw begins or ceases to count, or a judge withdraws.

The run stays the same: recipe, parameters, seed and the judgments up to the newest that it saw. What it
decided and the scores that follow are replaced in one transaction, and the log says why.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.db import transaction
from django.db.models import Count, Q, Sum
from django.utils import timezone

from annotation.services.steps import in_words
from core.projects.services import record
from crowd.counted_work import not_counting
from crowd.models import Assignment, Stage
from crowd.selectors.stage_sizes import is_large
from crowd.services.decisions import recount_all
from judgments.models import CheckAnswer, FilterRun, Judgment
from judgments.services import filter_decisions, filter_runs, reports
from judgments.services.filter_decisions import FilterDecision, decide, recipe_named
from people.models import Guest
from people.withdrawal import AnswerHolder

Progress = Callable[[int, int, str], object]
_STEPS = 2


def reconsider_run(stage: Stage, changed: Mapping[int, str]) -> None:
    """Make the run in force again if it saw some of this work: why, by assignment.

    Of a large stage a job does it, which is asked for in the transaction of the caller.
    """
    run = FilterRun.objects.in_force().filter(stage=stage).first()
    saw = _seen_by(run, changed) if run else set()
    if run is None or not saw:
        return
    run.stage = stage
    why = in_words([changed[work] for work in sorted(saw)])
    if is_large(stage):
        filter_runs.ask_remake(run=run, why=why, state=state_of(run))
    else:
        remake(run=run, why=why)


def remake(
    *,
    run: FilterRun,
    why: str,
    progress: Progress = lambda *_: None,
    commit: Callable[[Callable[[], Any]], Any] | None = None,
) -> bool:
    """Decide again what the run decided, on its judgments as they count now; False if nothing was to do.

    Called again it changes nothing more, and nothing where another run is in force by now. `commit` runs the
    transaction instead, for a job whose effect it is.
    """
    state = state_of(run)
    progress(0, _STEPS, "Filters are applied again: reading judgments and deciding")
    decided = _decided(run)
    progress(1, _STEPS, "Storing what was decided")
    done: list[bool] = []

    def store() -> int:
        done.append(_stored(run, why, state, decided))
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
    judgments = Judgment.objects.filter(
        stage=run.stage_id, pk__lte=run.last_judgment, assignment__in=aside
    ).aggregate(count=Count("pk"), sum=Sum("pk"))
    checks = CheckAnswer.objects.filter(
        check_item__stage=run.stage_id, at__lte=run.created_at, assignment__in=aside
    ).aggregate(count=Count("pk"), sum=Sum("pk"))
    return "-".join(str(each[name] or 0) for each in (judgments, checks) for name in ("count", "sum"))


def _seen_by(run: FilterRun, changed: Mapping[int, str]) -> set[int]:
    """Which of this work the run saw judgments or checks of."""
    judged = Judgment.objects.filter(assignment__in=changed, pk__lte=run.last_judgment)
    checked = CheckAnswer.objects.filter(assignment__in=changed, at__lte=run.created_at)
    return {pk for rows in (judged, checked) for pk in rows.values_list("assignment", flat=True)}


def _decided(run: FilterRun) -> FilterDecision:
    recipe = recipe_named(run.recipe, run.parameters)
    return decide(run.stage, recipe, last=run.last_judgment, until=run.created_at)


def _stored(run: FilterRun, why: str, state: str, decided: FilterDecision) -> bool:
    """Replace verdicts and scores, in the transaction of the caller."""
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

_KINDS = ("judging", "judge-training")


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
