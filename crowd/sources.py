"""The sources of a stage: endpoints from which its people come, for code that knows of one endpoint.

    for here in stages_at(stage):      # the stage as each of its sources meets it
        here.endpoint, here.reward_cents, here.status

A stage without rows of sources is its only source. Places are divided over sources by their quotas: the
same result for the same input.
"""

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from django.db.models import Exists, OuterRef, Q
from django.db.models.expressions import Combinable

from crowd.bundles import Bundle
from crowd.models import Endpoint, Stage, StageSource
from people.models import StudyLink


@dataclass(frozen=True, slots=True)
class Quota:
    """A source's part: so many answers and no more, or a weight among those who share what is left.

    `filled` is what it has already: answers that count, and places on offer. `taken_away` is what was taken
    from its part for the others.
    """

    share: int | None = None
    most: int | None = None
    filled: int = 0
    taken_away: int = 0


def divide(demands: Sequence[int], quotas: Sequence[Quota]) -> list[list[int]]:
    """How many of each demand's places each quota gets; fewer in all only where no quota takes the rest.

    What the quotas had before counts, so a source that lags behind its share gets more. The parts are spread
    over the demands evenly, whatever their order: after any number of them each quota is within a place of
    its part.
    """
    targets = part_targets(sum(demands), quotas)
    total = sum(targets)
    parts = [[0] * len(quotas) for _ in demands]
    had = [0] * len(quotas)
    step = 0
    # Places that no quota takes are missing at the end of the list, in whole demands where possible.
    for number, demand in enumerate(demands):
        for _ in range(demand):
            if step == total:
                return parts
            step += 1
            open_to = [at for at in range(len(quotas)) if had[at] < targets[at]]
            source = max(open_to, key=lambda at: (targets[at] * step - had[at] * total, -at))
            had[source] += 1
            parts[number][source] += 1
    return parts


def part_targets(total: int, quotas: Sequence[Quota]) -> list[int]:
    """How many of `total` new places each quota gets: counts first, the rest by shares."""
    targets = [0] * len(quotas)
    free = [
        max(0, quota.most - quota.filled - quota.taken_away) if quota.most is not None else 0
        for quota in quotas
    ]
    counted = min(total, sum(free))
    _hand_out(counted, [Fraction(each) for each in free], targets)
    left = total - counted
    weights = [quota.share or 0 for quota in quotas]
    if left and any(weights):
        parts = _parts(left + sum(quota.filled for quota in quotas if quota.share), weights, quotas)
        lacking = [
            max(Fraction(0), part - quota.filled) if quota.share else Fraction(0)
            for part, quota in zip(parts, quotas, strict=True)
        ]
        _hand_out(left, lacking, targets)
    return targets


def _parts(total_answers: int, weights: Sequence[int], quotas: Sequence[Quota]) -> list[Fraction]:
    """Each one's part of the whole by its weight, less what was taken from it, which the others share."""
    total = sum(weights)
    parts = [Fraction(weight * total_answers, total) for weight in weights]
    for at, quota in enumerate(quotas):
        others = total - weights[at]
        if not weights[at] or not others or not quota.taken_away:
            continue
        taken_away = min(Fraction(quota.taken_away), parts[at])
        parts[at] -= taken_away
        for other, weight in enumerate(weights):
            if other != at:
                parts[other] += taken_away * weight / others
    return parts


def _hand_out(total: int, weights: Sequence[Fraction], targets: list[int]) -> None:
    """Add whole parts of `total` in proportion, by largest remainders; ties go to the first."""
    weight_sum = sum(weights)
    if not total or not weight_sum:
        return
    exact = [weight * total / weight_sum for weight in weights]
    parts = [int(each) for each in exact]
    by_rest = sorted(range(len(exact)), key=lambda at: (parts[at] - exact[at], at))
    for at in by_rest[: total - sum(parts)]:
        parts[at] += 1
    for at, part in enumerate(parts):
        targets[at] += part


#: What a stage is for a source of it, the later one where both say something.
_ORDER = (
    Stage.Status.DRAFT.value,
    Stage.Status.OPEN.value,
    Stage.Status.PAUSED.value,
    Stage.Status.CLOSED.value,
)


def source_rows(stage: Stage) -> list[StageSource]:
    """The rows of a stage's sources in their order; none where its own endpoint is the only one.

    Read once for each object of a stage.
    """
    cached: list[StageSource] | None = stage.__dict__.get("_source_rows")
    if cached is None:
        fetched = getattr(stage, "_prefetched_objects_cache", {}).get("sources")
        rows = StageSource.objects.filter(stage=stage).select_related("endpoint").order_by("position")
        cached = list(rows if fetched is None else fetched)
        stage.__dict__["_source_rows"] = cached
    return cached


def forget_rows(stage: Stage) -> None:
    """Have the rows read again."""
    stage.__dict__.pop("_source_rows", None)


def spends_real_money(stage: Stage) -> bool:
    """Whether any source of the stage pays real money."""
    return stage.endpoint.real_money or any(row.endpoint.real_money for row in source_rows(stage))


def is_unpaid(stage: Stage) -> bool:
    """Whether its people get no money: all come by study links, which promise none.

    As long as a project has no links, a reward of nothing says so.
    """
    if any(source_stage.endpoint.protocol != Endpoint.Protocol.LINK for source_stage in stages_at(stage)):
        return False
    links = StudyLink.objects.filter(project=stage.project_id)
    promised = set(links.order_by().values_list("compensation", flat=True).distinct())
    if not promised:
        return stage.reward_cents == 0
    return not promised & {StudyLink.Compensation.PANEL, StudyLink.Compensation.MONEY}


def is_closed(source_stage: Stage) -> bool:
    """Whether the source is closed whose people meet the stage so."""
    return source_stage.source is not None and source_stage.source.status == StageSource.Status.CLOSED


def stages_at(stage: Stage) -> list[Stage]:
    """The stage as each of its sources meets it, in their order; itself where it has one."""
    return [_at(stage, row) for row in source_rows(stage)] or [stage]


def stage_at(stage: Stage, endpoint: Endpoint | int) -> Stage:
    """The stage as people of this endpoint meet it; itself where it has no such source.

    It is a copy for reading: the source's endpoint and reward, paused or closed where either is.
    """
    pk = endpoint if isinstance(endpoint, int) else endpoint.pk
    if stage.source is not None and stage.endpoint_id == pk:
        return stage
    return next((_at(stage, row) for row in source_rows(stage) if row.endpoint_id == pk), stage)


def _at(stage: Stage, row: StageSource) -> Stage:
    source_stage = copy.copy(stage)
    source_stage.source = row
    source_stage.endpoint = row.endpoint
    source_stage.reward_cents = stage.reward_cents if row.reward_cents is None else row.reward_cents
    source_stage.status = max(stage.status, row.status, key=_ORDER.index)
    return source_stage


def hits_of(stage: Stage, prefix: str = "") -> Q:
    """Condition of the HITs of a stage; where it is the stage as a source meets it, of that source's HITs."""
    condition = Q(**{f"{prefix}stage": stage.pk})
    if stage.source is None:
        return condition
    own = Q(**{f"{prefix}source": stage.source.pk})
    if stage.source.position == 0:
        own |= Q(**{f"{prefix}source": None})
    return condition & own


def hits_at(endpoint: Endpoint | int) -> Q:
    """Condition of the HITs that are on offer at an endpoint, whichever stage they belong to."""
    return Q(source=None, stage__endpoint=endpoint) | Q(source__endpoint=endpoint)


def has_source(endpoint: Endpoint | int) -> Combinable:
    """Condition of stages that have this endpoint among their sources."""
    rows = StageSource.objects.filter(stage=OuterRef("pk"), endpoint=endpoint)
    return Q(endpoint=endpoint) | Exists(rows)


def is_closed_at(stage: Stage, endpoint: int) -> bool:
    """Whether the stage's source at this endpoint takes nothing any more."""
    return StageSource.objects.filter(
        stage=stage, endpoint=endpoint, status=StageSource.Status.CLOSED
    ).exists()


def source_for_hit(source_stage: Stage) -> StageSource | None:
    """What a new HIT of the stage, as a source meets it, names as its source."""
    return source_stage.source


# What is to be asked, divided over the sources.


@dataclass(slots=True)
class SourcePlaces:
    """What counts towards a source's quota: answers that count, places on offer, places taken away."""

    answers: int = 0
    on_offer: int = 0
    taken_away: int = 0

    def __add__(self, other: "SourcePlaces") -> "SourcePlaces":
        return SourcePlaces(
            self.answers + other.answers, self.on_offer + other.on_offer, self.taken_away + other.taken_away
        )


#: Places by the source that HITs name.
PlacesBySource = Mapping[int | None, SourcePlaces]


def places_of(row: StageSource, places: PlacesBySource) -> SourcePlaces:
    """The places of one source; HITs that name none are the first one's."""
    nothing = SourcePlaces()
    return places.get(row.pk, nothing) + (nothing if row.position else places.get(None, nothing))


def _quotas(rows: Sequence[StageSource], places: PlacesBySource) -> list[Quota]:
    had = [places_of(row, places) for row in rows]
    return [
        Quota(row.share, row.most_answers, each.answers + each.on_offer, each.taken_away)
        for row, each in zip(rows, had, strict=True)
    ]


def divided(
    stage: Stage, stage_bundles: Iterable[Bundle], places: PlacesBySource
) -> list[tuple[Stage, Bundle]]:
    """Bundles as parts for sources, each with the stage as that source meets it.

    Closed sources get nothing, and what paused ones would get waits for them.
    """
    rows = [row for row in source_rows(stage) if row.status != StageSource.Status.CLOSED]
    bundles = list(stage_bundles)
    if not source_rows(stage):
        return [(stage, bundle) for bundle in bundles]
    parts = divide([bundle.people for bundle in bundles], _quotas(rows, places))
    source_stages = [_at(stage, row) for row in rows]
    return [
        (source_stage, Bundle(bundle.units, people))
        for bundle, counts in zip(bundles, parts, strict=True)
        for source_stage, row, people in zip(source_stages, rows, counts, strict=True)
        if people and row.status == StageSource.Status.OPEN
    ]
