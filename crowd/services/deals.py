"""Work that is dealt out on arrival, where people come by a link or from a panel instead of accepting a HIT.

Study links lead to a stage whose work is dealt so, or to all of a project's in turn.
"""

import contextlib
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from django.conf import settings
from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from core.jobs.services import enqueue
from core.origin import Owner
from crowd.adapters.link import ARRIVAL, TAKEN, sign_arrival
from crowd.errors import BudgetError, WorkRefusedError
from crowd.kinds import kind_of
from crowd.models import (
    Assignment,
    Claim,
    Endpoint,
    Exclusion,
    Group,
    Hit,
    HitUnit,
    MarketOperation,
    Stage,
    StageSource,
    Worker,
)
from crowd.selectors.hits_on_offer import free_hits, units_of_hits
from crowd.services import persons
from crowd.services.arrivals import arrive, most_reached
from crowd.services.groups import PASSED, joined_group, joined_name, put_into, refuse_apart
from crowd.services.smaller_hits import arrive_at_part, barred_units
from crowd.sources import hits_of, stages_at
from people.errors import PeopleError
from people.models import Guest, Outcome, StudyLink, Visit
from people.owners import LinkChoice, NextTask, Target
from people.visits import why_closed

State = Assignment.State
#: The job in which simulated people work on a stage.
SIMULATE = "crowd.simulate"
#: HITs that are tried for one person before they are told that nothing is left for them.
_TRIES = 40


class NoWork(StrEnum):
    """Why a person gets nothing now."""

    CLOSED = "closed"
    NOTHING_LEFT = "nothing_left"
    EXCLUDED = "excluded"
    LIMIT = "limit"


class NoWorkError(WorkRefusedError):
    """Nothing of this stage for this person now; `reason` says which kind of no it is."""

    def __init__(self, reason: NoWork, sentence: str) -> None:
        super().__init__(sentence)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Dealt:
    """What a person was given, and the address of its page, ready to open in their browser."""

    assignment_pk: int
    task_address: str


def deal(
    stage: Stage, *, worker_id: str, submit_to: str, session: str = "", simulated: bool = False
) -> Dealt:
    """Give a person a HIT of the stage: the one they have open, or else the oldest that has a place for them.

    `stage` may be the stage as one of its sources meets it. `worker_id` names the person at its endpoint.
    `session` names this piece of work there; it is made up where it is empty. The page sends the browser to
    `submit_to` by GET when the work is stored; it must be an address of one of the endpoint's submit origins.
    Where the session's work is answered already, the page says so and leads to `submit_to` as well.

    Raises NoWorkError with a sentence for the person and the reason.
    """
    assignment = _begun(stage, worker_id, session)
    if assignment is not None:
        return _dealt(assignment, submit_to)
    if stage.status != Stage.Status.OPEN:
        raise NoWorkError(
            NoWork.CLOSED, gettext("This study takes no answers at the moment. Thank you for coming.")
        )
    worker, _ = Worker.objects.get_or_create(
        endpoint=stage.endpoint,
        external_id=worker_id,
        defaults={"first_seen_at": timezone.now(), "simulated": simulated},
    )
    persons.find_matches(worker, stage.project)
    people = persons.same_person(worker, stage.project_id)
    _refuse_stage(stage, worker, people)
    external_id = session or uuid.uuid4().hex

    def take(hit: Hit) -> Dealt | None:
        with contextlib.suppress(WorkRefusedError):
            units = arrive(hit=hit, external_id=external_id, worker_id=worker_id, is_compared=True)
            return _dealt(units.assignment, submit_to)
        return None

    small: list[Hit] = []
    for hit in _whole_hits(stage, people, small):
        if dealt := take(hit):
            return dealt
    with contextlib.suppress(WorkRefusedError, BudgetError):
        keys = [hit.pk for hit in small]
        part = arrive_at_part(stage, worker, external_id=external_id, unsplit=keys)
        if part is not None:
            return _dealt(part.assignment, submit_to)
    for hit in small:
        if dealt := take(hit):
            return dealt
    if not _has_a_place(stage):
        raise NoWorkError(
            NoWork.NOTHING_LEFT, gettext("All places are taken at the moment. Thank you for coming.")
        )
    mine = Claim.objects.filter(stage=stage, worker__in=people).values("unit")
    own = HitUnit.objects.filter(hit=OuterRef("pk"), role=HitUnit.Role.UNIT, unit__in=mine)
    free = Hit.objects.filter(_on_offer(stage)).annotate(taken=TAKEN).filter(taken__lt=F("places"))
    raise NoWorkError(
        NoWork.EXCLUDED if free.exclude(Exists(own)).exists() else NoWork.NOTHING_LEFT,
        gettext("You have done all that you may do here. What is left needs other people. Thank you."),
    )


def _begun(stage: Stage, worker_id: str, session: str) -> Assignment | None:
    """What the person has open, or what this session is about."""
    mine = Assignment.objects.filter(
        stage=stage, worker__external_id=worker_id, worker__endpoint=stage.endpoint_id
    ).select_related("hit", "worker")
    if session:
        return mine.filter(external_id=session).exclude(state=State.ENDED).first()
    return mine.filter(state=State.WORKING).order_by("-pk").first()


def _dealt(assignment: Assignment, submit_to: str) -> Dealt:
    hit = assignment.hit
    signed = sign_arrival(
        listing=hit.external_id,
        submission=assignment.external_id,
        worker=assignment.worker.external_id,
        submit_to=submit_to,
    )
    address = f"{settings.TASK_URL}{reverse('crowd:task', args=[hit.key])}?{ARRIVAL}={signed}"
    return Dealt(assignment.pk, address)


def _refuse_stage(stage: Stage, worker: Worker, people: Sequence[int]) -> None:
    """Refuse whom the whole stage does not take, before any HIT is tried."""
    if Exclusion.objects.filter(worker__in=people, scope=f"stage:{stage.pk}").exists():
        raise NoWorkError(
            NoWork.EXCLUDED, gettext("This study does not take people who did its other parts.")
        )
    try:
        refuse_apart(stage, people)
    except WorkRefusedError as error:
        raise NoWorkError(
            NoWork.EXCLUDED,
            gettext("You worked on another part of this study, and one person may not do both."),
        ) from error
    if not _is_in_groups(stage, worker):
        raise NoWorkError(
            NoWork.EXCLUDED, gettext("This part is for people who passed a test of this study.")
        )
    if most_reached(stage, people):
        raise NoWorkError(
            NoWork.LIMIT, gettext("You have done as many of these tasks as one person can. Thank you.")
        )


def _is_in_groups(stage: Stage, worker: Worker) -> bool:
    """Whether the person has what the stage's rules ask for; only rules about our own groups can be kept."""
    for rule in stage.eligibility:
        if rule["kind"] == "group" and stage.endpoint.protocol == Endpoint.Protocol.LINK:
            if _has_joined(stage, worker, str(rule["values"][0])) != (rule["op"] == "Exists"):
                return False
            continue
        if rule["kind"] != PASSED:
            continue
        tests = Stage.objects.filter(project=stage.project_id, slug=rule["values"][0])
        groups = Group.objects.filter(
            endpoint=stage.endpoint_id, stage__in=tests, name__contains=": passed (#"
        )
        granted = MarketOperation.objects.filter(
            kind=MarketOperation.Kind.GRANT,
            target__in=[f"group:{pk}" for pk in groups.values_list("pk", flat=True)],
            purpose=f"grant {worker.external_id}",
        )
        if not granted.exclude(state=MarketOperation.State.REFUSED).exists():
            return False
    return True


def _has_joined(stage: Stage, worker: Worker, name: str) -> bool:
    """Whether the person joined by a link of the project that grants this name."""
    groups = Group.objects.filter(endpoint=stage.endpoint_id, name=joined_name(stage.project, name))
    targets = [f"group:{pk}" for pk in groups.values_list("pk", flat=True)]
    granted = MarketOperation.objects.filter(
        kind=MarketOperation.Kind.GRANT, target__in=targets, purpose=f"grant {worker.external_id}"
    )
    return granted.exclude(state=MarketOperation.State.REFUSED).exists()


def _on_offer(stage: Stage) -> Q:
    return hits_of(stage) & Q(state=Hit.State.OPEN, expires_at__gt=timezone.now(), compensates=None)


def _has_a_place(stage: Stage) -> bool:
    return Hit.objects.filter(_on_offer(stage)).annotate(taken=TAKEN).filter(taken__lt=F("places")).exists()


def _whole_hits(stage: Stage, people: Sequence[int], small: list[Hit]) -> Iterator[Hit]:
    """HITs on offer with a free place that the person may do as they are, the oldest first.

    Those that have half of what a HIT can have, or less, are put into `small`: they make larger ones first.
    """
    rows = Hit.objects.select_related("stage__project", "stage__endpoint", "source__endpoint")
    tries = 0
    for page in free_hits(stage):
        by_hit = units_of_hits(page)
        barred, had = barred_units(
            stage, people, sorted({unit for units in by_hit.values() for unit in units})
        )
        for key in page:
            own = {unit for unit, role in by_hit[key].items() if role == HitUnit.Role.UNIT}
            if own & had or by_hit[key].keys() & barred:
                continue
            if len(own) * 2 <= stage.units_per_hit:
                small.append(rows.get(pk=key))
                if len(small) == _TRIES:
                    return
                continue
            yield rows.get(pk=key)
            tries += 1
            if tries == _TRIES:
                return


# What study links lead to

#: Protocols whose people come by our own links.
_OWN = Endpoint.Protocol.LINK
_OUTCOMES = {
    NoWork.CLOSED: Outcome.NOTHING_LEFT,
    NoWork.NOTHING_LEFT: Outcome.NOTHING_LEFT,
    NoWork.EXCLUDED: Outcome.SCREENED_OUT,
    NoWork.LIMIT: Outcome.COMPLETED,
}


def _own_stages(project: int, only: int | None = None) -> list[Stage]:
    """Stages with a source of study links, each as that source meets it; `only` is the key of one of them."""
    sources = StageSource.objects.filter(stage=OuterRef("pk"), endpoint__protocol=_OWN)
    rows = Stage.objects.filter(Q(endpoint__protocol=_OWN) | Exists(sources), project=project)
    if only is not None:
        rows = rows.filter(pk=only)
    rows = rows.select_related("endpoint", "project").prefetch_related(
        Prefetch("sources", StageSource.objects.select_related("endpoint").order_by("position"))
    )
    source_stages = [source_stage for stage in rows.order_by("pk") for source_stage in stages_at(stage)]
    own = [source_stage for source_stage in source_stages if source_stage.endpoint.protocol == _OWN]
    return list({source_stage.pk: source_stage for source_stage in reversed(own)}.values())[::-1]


def _stages_of(owner: Owner) -> list[Stage]:
    return _own_stages(owner.pk) if owner.kind == Owner.Kind.PROJECT else []


class ProjectTarget(Target):
    """A project's stages on study links, the oldest first, each as long as it has work for the person."""

    kind, label = "project", "Project"

    def choices(self, owner: Owner) -> list[LinkChoice]:
        """The project, where it has such a stage."""
        return [
            LinkChoice(owner.pk, stage.project.slug, "all its stages on study links")
            for stage in _stages_of(owner)[:1]
        ]

    def stages(self, link: StudyLink) -> list[Stage]:
        """What the link leads to; nothing that belongs to another project. Read once for each object."""
        stages: list[Stage] | None = link.__dict__.get("_stages")
        if stages is None:
            stages = link.__dict__["_stages"] = self._read_stages(link)
        return stages

    def _read_stages(self, link: StudyLink) -> list[Stage]:
        return _stages_of(link.owner)

    def welcome(self, link: StudyLink, guest: Guest) -> None:
        """Put the person into the link's group, at each endpoint that it leads to; again, nothing changes."""
        if not link.granted or link.project is None:
            return
        endpoints = {stage.endpoint_id: stage.endpoint for stage in self.stages(link)}
        for endpoint in endpoints.values():
            worker, _ = Worker.objects.get_or_create(
                endpoint=endpoint,
                external_id=guest.worker_id,
                defaults={"first_seen_at": timezone.now()},
            )
            put_into(joined_group(endpoint, link.project, link.granted), worker)

    def begin(self, visit: Visit, back: str) -> NextTask | Outcome:
        """Open work first, wherever it is; then the first stage that has some."""
        link, guest = visit.link, visit.guest
        assert guest is not None
        stages = self.stages(link)
        finished = self.finished(link, [guest.worker_id]).get(guest.worker_id, 0)
        mine = Assignment.objects.filter(
            stage__in=stages, worker__external_id=guest.worker_id, state=Assignment.State.WORKING
        )
        open_in = set(mine.values_list("stage", flat=True))
        reasons = []
        for stage in sorted(stages, key=lambda each: each.pk not in open_in):
            if stage.pk not in open_in and link.most_tasks and finished >= link.most_tasks:
                return Outcome.COMPLETED
            try:
                dealt = deal(stage, worker_id=guest.worker_id, submit_to=back)
            except NoWorkError as error:
                reasons.append(error.reason)
                continue
            return NextTask(dealt.task_address)
        if finished:
            return Outcome.FAILED_CHECKS if self._all_rejected(stages, guest) else Outcome.COMPLETED
        first = next((reason for reason in reasons if reason == NoWork.EXCLUDED), None)
        return _OUTCOMES[first or (reasons[0] if reasons else NoWork.NOTHING_LEFT)]

    def finished(self, link: StudyLink, worker_ids: list[str]) -> dict[str, int]:
        """HITs that were answered."""
        rows = Assignment.objects.filter(
            stage__in=self.stages(link), worker__external_id__in=worker_ids, stored_at__isnull=False
        )
        counts = rows.order_by().values_list("worker__external_id").annotate(Count("pk"))
        return dict(counts)

    def plan_rehearsal(self, link: StudyLink, *, people: int) -> None:
        """They work on the stages that are open."""
        if why := why_closed(link):
            raise PeopleError(f"No one can join by this link now: {why}")
        stage = next((each for each in self.stages(link) if each.status == Stage.Status.OPEN), None)
        if stage is None:
            raise PeopleError("No stage that the link leads to is open. Open one first.")
        crowd = {"workers": people, "mix": "clean", "seed": 1}
        place = {"stage": stage.pk, "project": stage.project_id, "link": link.pk}
        enqueue(kind=SIMULATE, payload={**place, **crowd})

    def has_work_for_others(self, link: StudyLink) -> bool:
        """Whether any stage has places that are free and still needed."""
        return any(
            _has_a_place(stage) and any(True for _ in kind_of(stage).pending(stage))
            for stage in self.stages(link)
            if stage.status == Stage.Status.OPEN
        )

    def title(self, link: StudyLink) -> str:
        """In words."""
        return "All stages on study links"

    def _all_rejected(self, stages: list[Stage], guest: Guest) -> bool:
        rows = Assignment.objects.filter(
            stage__in=stages, worker__external_id=guest.worker_id, stored_at__isnull=False
        )
        return set(rows.order_by().values_list("state", flat=True)) == {Assignment.State.REJECTED}


class StageTarget(ProjectTarget):
    """One stage."""

    kind, label = "stage", "Stage"

    def choices(self, owner: Owner) -> list[LinkChoice]:
        """The stages whose endpoint is one of study links."""
        return [
            LinkChoice(stage.pk, stage.slug, f"{stage.title} ({stage.slug})") for stage in _stages_of(owner)
        ]

    def _read_stages(self, link: StudyLink) -> list[Stage]:
        owner = link.owner
        return _own_stages(owner.pk, link.target_id) if owner.kind == Owner.Kind.PROJECT else []

    def title(self, link: StudyLink) -> str:
        """The stage's title."""
        return next((f"Stage {stage.title}" for stage in self.stages(link)), "A stage that is gone")

    def titles(self, links: Sequence[StudyLink]) -> dict[int, str]:
        """The stages' titles, read at once."""
        stages = Stage.objects.in_bulk([link.target_id for link in links])
        return {
            link.pk: f"Stage {stages[link.target_id].title}"
            if link.target_id in stages
            else "A stage that is gone"
            for link in links
        }
