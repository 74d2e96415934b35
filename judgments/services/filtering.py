"""Filters over a stage's judgments: what they would do, applying them, undoing that, asking again.

A filter never changes a judgment: it writes verdicts into a `FilterRun`. One run of a stage is in force at
most, which the database holds; what is stored is stored whole or not at all.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from crowd.kinds import Pending
from crowd.models import Stage
from crowd.services.publishing import publish_pending
from crowd.services.quoting import Quote, left_to_ask, quote
from judgments.errors import FilteringError
from judgments.models import FilterRun, Score, Verdict
from judgments.services import reporting, verdicts
from judgments.services.deciding import Decided, decide, recipe_named
from judgments.units import of_candidate
from money.amounts import dollars
from projects.services import record

State = FilterRun.State
#: Rows written in one statement's batch.
_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Reason:
    """How much one rule removes."""

    rule: str
    workers: int
    ratings: int


@dataclass(frozen=True, slots=True)
class Preview:
    """What a recipe would do to a stage's judgments now. `seen` is the run in force, 0 for none.

    `below` items would have fewer kept judgments than the `target`, `fallen` of them because of this recipe:
    with all their judgments they have enough. Asking again for what it removes costs `top_up`.
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
    below: int
    fallen: int
    top_up: Quote
    currency: str
    seen: int

    @property
    def sentence(self) -> str:
        """All of it in words."""
        cost = f"{dollars(self.top_up.total_cents)} {self.currency}"
        return (
            f"Would remove {self.removed_workers:,} of {_some(self.workers, 'worker')}, "
            f"{self.removed_ratings:,} of {_some(self.ratings, 'rating')}; "
            f"{_some(self.fallen, 'item falls', 'items fall')} below the target of {self.target}; "
            f"topping up costs {cost}."
        )


def preview(stage: Stage, recipe: str, parameters: Mapping[str, Any], seed: int = 0) -> Preview:
    """What applying would do; nothing is stored. Filters decide by rule, so the seed changes nothing here."""
    found = recipe_named(recipe, parameters)
    in_force = _in_force(stage)
    decided = decide(stage, found)
    columns, run = decided.columns, decided.run
    import numpy as np  # noqa: PLC0415 - not before a recipe runs

    raw = np.bincount(columns.ratings.items, minlength=columns.ratings.n_items)
    then = np.bincount(columns.ratings.items[run.kept], minlength=columns.ratings.n_items)
    left = _asked_again(stage, columns.candidates, raw, then)
    because = run.removed_because(columns.ratings)
    gone = run.removed_by
    reasons = [Reason("duplicate", 0, int((because == 0).sum()))]
    reasons += [
        Reason(verdict.rule, int((gone == place).sum()), int((because == place + 1).sum()))
        for place, verdict in enumerate(run.verdicts)
    ]
    reasons.append(Reason("z", 0, int((because == len(run.verdicts) + 1).sum())))
    return Preview(
        title=found.title,
        parameters=stored_parameters(found),
        workers=columns.ratings.n_workers,
        ratings=len(columns.ratings),
        items=columns.ratings.n_items,
        removed_workers=int(run.removed_workers.sum()),
        removed_ratings=int((~run.kept).sum()),
        undetermined=int(run.undetermined.sum()),
        capped=int(run.capped_items.sum()),
        reasons=tuple(each for each in reasons if each.workers or each.ratings),
        target=stage.redundancy,
        below=int((then < stage.redundancy).sum()),
        fallen=int(((then < stage.redundancy) & (raw >= stage.redundancy)).sum()),
        top_up=quote(stage, left),
        currency=stage.endpoint.currency,
        seen=in_force.pk if in_force else 0,
    )


def apply(
    *,
    stage: Stage,
    recipe: str,
    parameters: Mapping[str, Any],
    actor: Any,
    seed: int = 0,
    seen: int | None = None,
    once: str = "",
) -> FilterRun:
    """Run the recipe and put what it decides in force; the run before gives way.

    `once` names this wish: asked for twice, it is done once. `seen` is the run (0: none) that was in force
    when the person looked; where another is by now, FilteringError says so and nothing is changed. Judgments
    that arrive meanwhile are not in the run, which notes the newest that it saw.
    """
    found = recipe_named(recipe, parameters)
    done = _done_before(stage, once)
    if done is not None:
        return done
    begun = timezone.now()
    decided = decide(stage, found)
    if not len(decided.columns.ratings):
        raise FilteringError("There are no judgments yet; filters have nothing to look at.")
    scores = verdicts.scores_of(decided)
    try:
        with transaction.atomic():
            Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
            done = _done_before(stage, once)
            if done is not None:
                return done
            _supersede(stage, seen, actor)
            run = FilterRun.objects.create(
                stage=stage,
                recipe=found.name,
                parameters=stored_parameters(found),
                seed=seed,
                last_judgment=decided.columns.last,
                summary={"once": once, "title": found.title, "counts": verdicts.counts_of(decided)},
                created_by=actor,
                created_at=begun,
            )
            Verdict.objects.bulk_create(verdicts.verdicts_of(decided, run), batch_size=_BATCH)
            Score.objects.bulk_create(verdicts.rows_of(scores, decided, run), batch_size=_BATCH)
            record(
                project=stage.project,
                action="filter.applied",
                subject=stage.slug,
                actor=actor,
                details={"recipe": found.title, "run": run.pk, **run.summary["counts"]},
            )
            reporting.ask(stage=stage)
    except IntegrityError as error:
        raise FilteringError("Somebody else applied filters at the same moment; look at theirs.") from error
    return run


def _supersede(stage: Stage, seen: int | None, actor: Any) -> None:
    """Take the run in force out of force; FilteringError where it is another than the person saw."""
    in_force = _in_force(stage)
    if seen is not None and seen != (in_force.pk if in_force else 0):
        raise FilteringError(
            "Somebody applied or undid filters since you looked. Look at the preview again, then decide."
        )
    FilterRun.objects.filter(stage=stage, state=State.IN_FORCE).update(
        state=State.SUPERSEDED, ended_by=actor, ended_at=timezone.now()
    )


def undo(run: FilterRun, reason: str, actor: Any) -> FilterRun:
    """Take a run out of force: all good judgments count again. FilteringError unless it is in force."""
    if not reason.strip():
        raise FilteringError("Undoing filters needs a reason; it stays in the log.")
    with transaction.atomic():
        changed = FilterRun.objects.filter(pk=run.pk, state=State.IN_FORCE).update(
            state=State.UNDONE, ended_by=actor, ended_at=timezone.now(), reason=reason.strip()[:300]
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
        reporting.ask(stage=run.stage)
    run.refresh_from_db()
    return run


def top_up(*, stage: Stage, most_cents: int, actor: Any) -> int:
    """Publish what is missing now, for at most what the person confirmed; the number of HITs."""
    if stage.status != Stage.Status.OPEN:
        raise FilteringError(
            f"The stage is {stage.status}; only an open one asks for more. Open it again; that shows the cost."
        )
    offer = quote(stage)
    if not offer.hits:
        raise FilteringError("Nothing is missing.")
    if offer.total_cents > most_cents:
        raise FilteringError(
            f"It costs {dollars(offer.total_cents)} by now, more than the {dollars(most_cents)} that you "
            "saw. Look again, then decide."
        )
    count = publish_pending(stage)
    record(
        project=stage.project,
        action="stage.topped_up",
        subject=stage.slug,
        actor=actor,
        details={"hits": count, "cents": offer.total_cents},
    )
    return count


def stored_parameters(recipe: Any) -> dict[str, Any]:
    """All parameters with the rules, as a run keeps them: enough to make the recipe again."""
    plain = {
        name: list(value) if isinstance(value, tuple) else value for name, value in recipe.parameters.items()
    }
    return {"rules": list(recipe.rules), **plain}


def _in_force(stage: Stage) -> FilterRun | None:
    return FilterRun.objects.filter(stage=stage, state=State.IN_FORCE).first()


def _done_before(stage: Stage, once: str) -> FilterRun | None:
    return FilterRun.objects.filter(stage=stage, summary__once=once).first() if once else None


def _asked_again(stage: Stage, candidates: Any, raw: Any, then: Any) -> list[Pending]:
    """Units with how many people have to be asked again because of what was removed."""
    missing = stage.redundancy - then
    short = [
        (of_candidate(int(key)), int(lacks), int(removed))
        for key, lacks, removed in zip(candidates, missing, raw - then, strict=True)
        if lacks > 0 and removed > 0
    ]
    removed = {unit: count for unit, _, count in short}
    left = left_to_ask(stage, [Pending(unit, lacks) for unit, lacks, _ in short])
    return [Pending(item.unit, min(item.missing, removed[item.unit])) for item in left]


def _some(count: int, one: str, many: str = "") -> str:
    return f"{count:,} {one if count == 1 else many or one + 's'}"
