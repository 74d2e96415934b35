"""A stage's life: draft → open → paused → closed, what it lists, and what a person can do meanwhile.

Everything here plans operations; `crowd.outbox` performs them. Calling any of it again after a crash goes
on where it stopped.

In a closed project nothing new is asked of people: no stage is made, opened or reopened. Everything else
goes on: work that is on its way comes in and is paid, and people look, decide, filter, release and
evaluate.

Texts in the marketplace's list are made from a stage's terms until a person writes others. A text that
equals what the old terms made is made again when they change; any other is a person's and stays.
"""

from collections.abc import Iterator, Mapping
from copy import copy
from datetime import datetime
from typing import Any, TypeVar

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.db.models import Count, Model, QuerySet
from django.utils import timezone
from pydantic import ValidationError as ConfigError

from core.accounts import security
from core.money import dollars, format_amount
from core.projects.models import Project
from core.projects.services import record, why_read_only
from core.revisions import ShownColumns
from crowd import budget, bundles, rights
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.budget import MovementPurpose
from crowd.errors import (
    BudgetError,
    CrowdError,
    NotArmedError,
    ReadOnlyError,
    StageNameTakenError,
    StageStateError,
)
from crowd.kinds import Listing, config_of, kind_named, kind_of, made_listing
from crowd.models import Assignment, Endpoint, Hit, MarketOperation, Stage
from crowd.outbox.calls import plan
from crowd.services.endpoints import request_round
from crowd.services.groups import PASSED, with_groups
from crowd.services.instructions import instructions_of, keep_versions, only_says_otherwise
from crowd.services.panels import prepare_stage, take_fees
from crowd.services.persons import note_marks_of_project
from crowd.services.publication import Quote, publish_pending, quote
from crowd.sources import forget_rows, is_closed, source_rows, stages_at
from crowd.study.explain import not_known

# Texts in the marketplace's list

#: Columns of a stage whose values a made text may name.
_WORDED = frozenset({"units_per_hit", "checks_per_hit", "expected_seconds", "config"})


def listing_of(stage: Stage) -> Listing:
    """What the kind makes of a stage's terms as they are."""
    return made_listing(
        kind_named(stage.kind),
        units_per_hit=stage.units_per_hit,
        checks_per_hit=stage.checks_per_hit,
        minutes=None if stage.expected_seconds is None else stage.expected_seconds / 60,
        config=stage.config,
    )


def is_made(text: str, generated: str) -> bool:
    """The text was made, or is empty, so that it may be made again."""
    return text.split() in ([], generated.split())


def follow(stage: Stage, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes, and texts made again for them, where they give none themselves."""
    followed = dict(changes)
    if not _WORDED.intersection(changes):
        return followed
    changed = copy(stage)
    for name, value in changes.items():
        setattr(changed, name, value)
    before, after = listing_of(stage), listing_of(changed)
    for column, old, new in (
        ("task_title", before.title, after.title),
        ("task_description", before.description, after.description),
    ):
        if column not in changes and new and is_made(getattr(stage, column), old):
            followed[column] = new
    return followed


# Projects whose work is over

_NAMED = 5


def why_closed(project: Project) -> str:
    """Why nothing new is asked in a project, as a sentence; empty where it is not closed."""
    if project.closed_at is None:
        return ""
    return f"The project {project.slug!r} was closed on {project.closed_at:%-d %b %Y}. Reopen it first."


def lock_open_project(project: Project) -> None:
    """Keep a project from being closed until the transaction ends; StageStateError where it is closed."""
    row = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if why := why_closed(row):
        raise StageStateError(why)


@transaction.atomic
def close_project(*, project: Project, actor: Any = None, why: str = "") -> Project:
    """Close a project whose stages are drafts or closed; CrowdError names the others."""
    row = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if row.closed_at is not None:
        raise CrowdError("The project is closed already.")
    living = Stage.objects.filter(project=row, status__in=(Stage.Status.OPEN, Stage.Status.PAUSED))
    slugs = list(living.order_by("slug").values_list("slug", flat=True)[: _NAMED + 1])
    if slugs:
        more = " and others" if len(slugs) > _NAMED else ""
        raise CrowdError(f"Close these stages first: {', '.join(slugs[:_NAMED])}{more}.")
    _set(row, timezone.now(), "project.closed", actor, why)
    return row


@transaction.atomic
def reopen_project(*, project: Project, actor: Any = None, why: str = "") -> Project:
    """Let stages be made and opened again; no stage is opened by this."""
    row = Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    if row.closed_at is None:
        raise CrowdError("The project is not closed.")
    _set(row, None, "project.reopened", actor, why)
    return row


def _set(row: Project, closed_at: Any, action: str, actor: Any, why: str) -> None:
    row.closed_at = closed_at
    row.save(update_fields=["closed_at"])
    details = {"why": why} if why else {}
    record(project=row, action=action, subject=row.slug, actor=actor, details=details)
    security.log(action, project=row.slug)


# Rows in pages by key, for those who write while they read.
#
# An open cursor keeps SQLite's view of the database as it was; a write on the same connection is refused at
# once ("database is locked") when another process has written since.

Row = TypeVar("Row", bound=Model)


def by_key(rows: "QuerySet[Row]", *, size: int = 500) -> Iterator[Row]:
    """All rows in the order of their keys; between two pages no cursor is open."""
    last = None
    while True:
        page = list((rows if last is None else rows.filter(pk__gt=last)).order_by("pk")[:size])
        yield from page
        if len(page) < size:
            return
        last = page[-1].pk


# Projects in which nothing is collected or changed.


def refuse_read_only(project: Project) -> None:
    """ReadOnlyError, in words, for a project whose data come from elsewhere."""
    if why := why_read_only(project):
        raise ReadOnlyError(why)


# Stages

Status = Stage.Status
#: What cannot change once HITs of an opened stage were planned: people are working under these terms.
FIXED_ONCE_OPENED = frozenset(
    {"kind", "endpoint", "units_per_hit", "checks_per_hit", "reward_cents", "config"}
)

#: Options on which it depends whether work counts before a person saw it; the next round settles all again.
_DECIDE_WHAT_COUNTS = frozenset({"approve_at_once", "hold_failed_checks", "redundancy"})


def create_stage(*, project: Project, slug: str, actor: Any = None, **fields: Any) -> Stage:
    """A draft of a stage. `fields` are the model's; raises CrowdError, in words, for what cannot be."""
    refuse_read_only(project)
    if why := why_closed(project):
        raise StageStateError(why)
    stage = Stage(project=project, slug=slug, created_at=timezone.now(), **fields)
    _check(stage)
    try:
        with transaction.atomic():
            stage.save(force_insert=True)
            record(project=project, action="stage.created", subject=slug, actor=actor)
    except IntegrityError as error:
        raise StageNameTakenError(f"There is already a stage {slug!r} in this project.") from error
    return stage


def change_stage(
    *,
    stage: Stage,
    changes: dict[str, Any],
    actor: Any = None,
    seen: ShownColumns | None = None,
    texts_follow: bool = False,
) -> Stage:
    """Change a stage; what people already work under stays as it is.

    With `seen`, ConflictError where the stage is not as the form showed it; nothing is changed then. Where it
    holds these values already, nothing is done. With `texts_follow`, listed texts that were made from the
    terms are made again for the new ones, unless people may already work under them.
    """
    try:
        with transaction.atomic():
            Stage.objects.select_for_update(no_key=True).get(pk=stage.pk)
            _change(stage, changes, actor, seen, texts_follow=texts_follow)
    except IntegrityError as error:
        stage.refresh_from_db()
        raise BudgetError("More than that budget is already spent or reserved.") from error
    return stage


def _change(
    stage: Stage, changes: dict[str, Any], actor: Any, seen: ShownColumns | None, *, texts_follow: bool
) -> None:
    stage.refresh_from_db()
    changes = {name: value for name, value in changes.items() if getattr(stage, name) != value}
    if not changes:
        return
    if seen is not None:
        seen.check(stage)
    fixed = FIXED_ONCE_OPENED.intersection(changes)
    if "config" in fixed and only_says_otherwise(stage.kind, stage.config, changes["config"]):
        fixed -= {"config"}
    has_people = has_fixed_terms(stage)
    if fixed and has_people:
        raise StageStateError(
            f"HITs of the stage are published, so {', '.join(sorted(fixed))} cannot change. Make a new stage."
        )
    if "endpoint" in changes and source_rows(stage):
        raise StageStateError(
            "The stage has several sources, and its own marketplace is one of them. Change them on its page "
            "Sources."
        )
    if texts_follow and not has_people:
        changes = follow(stage, changes)
    before = instructions_of(stage)
    for name, value in changes.items():
        setattr(stage, name, value)
    _check(stage)
    fields = list(changes)
    if has_people and instructions_of(stage) != before:
        keep_versions(stage, before, actor)
        fields.append("instructions_version")
    if _DECIDE_WHAT_COUNTS.intersection(changes):
        stage.settled_until = None
        fields.append("settled_until")
    stage.save(update_fields=fields)
    record(
        project=stage.project,
        action="stage.changed",
        subject=stage.slug,
        actor=actor,
        details={name: str(value)[:200] for name, value in changes.items()},
    )


def has_fixed_terms(stage: Stage) -> bool:
    """HITs were planned or published, so that people may work under the stage's terms."""
    return stage.opened_at is not None and Hit.objects.filter(stage=stage).exists()


def refuse_unknown_names(stage: Stage) -> None:
    """CrowdError where an option names something that its project does not have (`StageKind.choices`)."""
    for option, valid_names in kind_of(stage).choices(stage.project).items():
        for name in stage.config.get(option, ()):
            if name not in valid_names:
                finding = not_known("no-such-name", (option,), "", str(name), list(valid_names))
                raise CrowdError(
                    f"{option.capitalize()}: the project has none called {name!r}. {finding.remedy} Change "
                    "it in the stage's settings."
                )


#: Comparisons by which a group of those who joined by a link can be asked for.
_MEMBERSHIP = ("Exists", "DoesNotExist")


def _refuse_rules_that_cannot_be_kept(stage: Stage) -> None:
    """CrowdError for rules about what a study link does not know of its people."""
    if stage.endpoint.protocol != Endpoint.Protocol.LINK:
        return
    for rule in stage.eligibility:
        if rule["kind"] != PASSED and not (rule["kind"] == "group" and rule["op"] in _MEMBERSHIP):
            raise CrowdError(
                f"People who come by a study link cannot be chosen by {rule['kind'].replace('_', ' ')}: "
                "nothing is known of them before they come. Take this rule out of the stage; only "
                f"“{PASSED}” works, and “group” with Exists or DoesNotExist and a name that a link grants."
            )


def opening_problems(stage: Stage) -> Iterator[str]:
    """Why a stage cannot be opened by what it says and by its status, in sentences; looks at no money."""
    if stage.status not in (Status.DRAFT, Status.PAUSED):
        yield f"The stage is {stage.status}; only a draft or paused stage can be opened."
    if why := why_read_only(stage.project):
        yield why
    if why := why_closed(stage.project):
        yield why
    try:
        _check(stage)
    except CrowdError as error:
        yield str(error)
        return
    for refuse in (refuse_unknown_names, _refuse_rules_that_cannot_be_kept):
        try:
            refuse(stage)
        except CrowdError as error:
            yield str(error)


def set_stage_budget(
    *, stage: Stage, budget_cents: int, actor: Any = None, seen: ShownColumns | None = None
) -> Stage:
    """Change the stage's cap; it cannot go below what is spent or reserved."""
    return change_stage(stage=stage, changes={"budget_cents": budget_cents}, actor=actor, seen=seen)


def _check(stage: Stage) -> None:
    try:
        kind_named(stage.kind).config.model_validate(stage.config)
    except KeyError as error:
        raise CrowdError(str(error.args[0])) from error
    except ConfigError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise CrowdError(f"config.{where}: {first['msg']}") from error
    try:
        stage.clean_fields(exclude=["planner", "planner_until", "eligibility", "config"])
    except ValidationError as error:
        name, messages = next(iter(error.message_dict.items()))
        raise CrowdError(f"{name}: {messages[0]}") from error


def open_stage(
    *, stage: Stage, actor: Any = None, typed_cents: int | None = None, quoted_cents: int | None = None
) -> Quote:
    """Open a draft or paused stage and plan its HITs.

    Raises SpendingRightError where the person may not spend from the stage's endpoints, NotArmedError where
    real money would be spent and `typed_cents` is not the stage's budget, or where the quote is not
    `quoted_cents`, and BudgetError where the budget does not cover the quote.
    """
    if why := why_closed(stage.project):
        raise StageStateError(why)
    config_of(stage)
    refuse_unknown_names(stage)
    forget_rows(stage)
    person = rights.acting_person(actor)
    stage.opened_by = person
    rights.refuse_stage(stage, person)
    for source_stage in stages_at(stage):
        prepare_source(source_stage)
    if stage.status not in (Status.DRAFT, Status.PAUSED):
        raise StageStateError(f"The stage is {stage.status}; only a draft or paused stage can be opened.")
    arm_stage(stage, typed_cents)
    kind_of(stage).prepare(stage)
    offer = quote(stage)
    if quoted_cents not in (None, offer.total_cents):
        cost = format_amount(offer.total_cents, stage.endpoint.currency)
        raise NotArmedError(f"Publishing costs {cost} now, which is not the sum that was confirmed.")
    if not offer.affordable:
        sums, currency = (offer.total_cents, offer.budget_left_cents), stage.endpoint.currency
        cost, left = (format_amount(each, currency) for each in sums)
        raise BudgetError(
            f"Publishing costs {cost}, and {left} is left of the budget. "
            "Raise the budget, or ask fewer people."
        )
    with transaction.atomic():
        lock_open_project(stage.project)
        Stage.objects.filter(pk=stage.pk).update(
            status=Status.OPEN, opened_at=stage.opened_at or timezone.now(), opened_by=person
        )
        record(project=stage.project, action="stage.opened", subject=stage.slug, actor=actor)
    stage.refresh_from_db()
    note_marks_of_project(stage.project)
    publish_pending(stage, actor=person)
    for source_stage in stages_at(stage):
        request_round(source_stage.endpoint_id)
    return offer


def prepare_source(source_stage: Stage) -> None:
    """Refuse what a source of a stage cannot keep, and take its own fee into the books; nothing is sent.

    `source_stage` is the stage as its people meet it. A source that is closed is asked nothing.
    """
    if is_closed(source_stage):
        return
    with_groups(source_stage)
    _refuse_rules_that_cannot_be_kept(source_stage)
    if source_stage.endpoint.is_panel:
        prepare_stage(source_stage)


def take_panel_fees(stage: Stage) -> list[str]:
    """Take what the panels of a stage charge into the books; a caution for each that does not say it."""
    cautions = []
    for source_stage in stages_at(stage):
        if source_stage.endpoint.is_panel and not is_closed(source_stage):
            try:
                take_fees(source_stage)
            except (MarketplaceDownError, MarketplaceRefusedError) as error:
                is_told = str(source_stage.reward_cents) in (source_stage.endpoint.told_fees or {})
                they_are = "what it said last" if is_told else "an estimate"
                cautions.append(
                    f"{source_stage.endpoint.label} does not say its fees, so they are {they_are}: {error}"
                )
    return cautions


def arm_stage(stage: Stage, typed_cents: int | None) -> None:
    """Note that a person typed the budget of a stage that spends real money; NotArmedError where not."""
    paid = [
        source_stage.endpoint.label for source_stage in stages_at(stage) if source_stage.endpoint.real_money
    ]
    if paid and stage.armed_cents < stage.budget_cents:
        if typed_cents != stage.budget_cents:
            raise NotArmedError(
                f"This stage spends real money at {', '.join(paid)}. "
                f"Type its budget, {dollars(stage.budget_cents)}, to confirm."
            )
        Stage.objects.filter(pk=stage.pk).update(armed_cents=typed_cents)
        stage.armed_cents = typed_cents


def pause_stage(*, stage: Stage, actor: Any = None, why: str = "") -> None:
    """Publish nothing more for now; what is on offer stays, and is collected."""
    _move(stage, (Status.OPEN,), Status.PAUSED, "stage.paused", actor=actor, why=why)


def close_stage(*, stage: Stage, actor: Any = None, why: str = "") -> None:
    """Expire all HITs; work in progress may still come in and is paid.

    Done again after a crash, it goes on where it stopped.
    """
    before = (Status.DRAFT, Status.OPEN, Status.PAUSED)
    stage.refresh_from_db(fields=["status"])
    if stage.status != Status.CLOSED:
        _move(stage, before, Status.CLOSED, "stage.closed", actor=actor, why=why)
    on_offer = Hit.objects.filter(stage=stage, state=Hit.State.OPEN)
    for hit in by_key(on_offer.select_related("stage__endpoint", "source__endpoint")):
        expire_hit(hit=hit, purpose="close")


def reopen_stage(*, stage: Stage, actor: Any = None, why: str = "") -> None:
    """A closed stage back to paused; open it to publish what is still missing."""
    _move(stage, (Status.CLOSED,), Status.PAUSED, "stage.reopened", actor=actor, why=why)


@transaction.atomic
def _move(stage: Stage, before: tuple[str, ...], after: str, action: str, *, actor: Any, why: str) -> None:
    if before == (Status.CLOSED,):
        lock_open_project(stage.project)
    moved = Stage.objects.filter(pk=stage.pk, status__in=before).update(status=after)
    if not moved:
        raise StageStateError(f"The stage is {stage.status}; this is possible from: {', '.join(before)}.")
    record(
        project=stage.project,
        action=action,
        subject=stage.slug,
        actor=actor,
        details={"why": why} if why else {},
    )
    stage.status = after


def expire_hit(*, hit: Hit, purpose: str) -> MarketOperation:
    """Plan to expire one HIT; once per purpose, and once more after each refusal."""
    target = f"hit:{hit.pk}"
    refused = MarketOperation.objects.filter(
        kind=MarketOperation.Kind.CLOSE, target=target, state=MarketOperation.State.REFUSED
    ).count()
    return plan(
        kind=MarketOperation.Kind.CLOSE,
        endpoint=hit.endpoint,
        stage=hit.stage,
        hit=hit,
        target=target,
        purpose=f"{purpose} {refused + 1}" if refused else purpose,
        payload={"ref": hit.external_id},
    )


def extend_hit_time(*, hit: Hit, until: datetime) -> MarketOperation:
    """Plan to keep one HIT on offer longer."""
    return plan(
        kind=MarketOperation.Kind.DEADLINE,
        endpoint=hit.endpoint,
        stage=hit.stage,
        hit=hit,
        target=f"hit:{hit.pk}",
        purpose=f"until {until:%Y-%m-%dT%H:%M:%S}",
        payload={"ref": hit.external_id, "when": until.isoformat()},
    )


def extend_hit_places(*, hit: Hit, places: int, purpose: str) -> MarketOperation:
    """Plan more places for one HIT on offer; never from fewer than ten to ten or more."""
    hit.refresh_from_db(fields=["places", "state"])
    if hit.state != Hit.State.OPEN:
        raise StageStateError(f"The HIT is {hit.state}; only one on offer can get more places.")
    if hit.places < bundles.SMALL_HIT + 1 <= hit.places + places:
        raise StageStateError(
            f"A HIT of {hit.places} places cannot grow to {hit.places + places}: "
            "from ten on the marketplace charges the higher fee. Publish another HIT instead."
        )
    return plan(
        kind=MarketOperation.Kind.EXTEND,
        endpoint=hit.endpoint,
        stage=hit.stage,
        hit=hit,
        target=f"hit:{hit.pk}",
        purpose=purpose,
        payload={"ref": hit.external_id, "places": places},
        cost=budget.unit_cost(hit) * places,
    )


def settle_closed_hit(hit: Hit, *, at: datetime, places: int | None = None) -> bool:
    """`settle_closed_hits` for one."""
    return bool(settle_closed_hits(hit.stage_id, {hit.pk: places}, at=at))


@transaction.atomic
def settle_closed_hits(stage_pk: int, hits: Mapping[int, int | None], *, at: datetime) -> int:
    """Close the books of HITs that take nobody any more and have all their work in; how many were closed.

    What their unused places had reserved goes back; submitted work that nobody decided keeps its
    reservation. With each HIT comes how many places the marketplace says there are: where we know of fewer
    or an extension is on its way, the books stay open.
    """
    stage = Stage.objects.select_for_update(no_key=True).get(pk=stage_pk)
    extending = MarketOperation.objects.filter(hit__in=list(hits), kind=MarketOperation.Kind.EXTEND).exclude(
        state__in=MarketOperation.FINAL
    )
    rows = Hit.objects.filter(pk__in=list(hits), state=Hit.State.OPEN).exclude(pk__in=extending.values("hit"))
    over = [hit for hit in rows.order_by("pk") if hits[hit.pk] in (None, hit.places)]
    used = dict(
        Assignment.objects.filter(hit__in=[hit.pk for hit in over])
        .exclude(submitted_at=None)
        .values_list("hit")
        .annotate(n=Count("pk"))
    )
    Hit.objects.filter(pk__in=[hit.pk for hit in over]).update(state=Hit.State.CLOSED)
    for hit in over:
        unused = budget.unit_cost(hit) * (hit.places - used.get(hit.pk, 0))
        budget.release(stage, unused, MovementPurpose("unused places", hit=hit), at=at)
    return len(over)
