"""What study links lead to: a stage whose work is dealt on arrival, or all of a project's in turn."""

from collections.abc import Sequence

from django.db.models import Count, Exists, OuterRef, Prefetch, Q
from django.utils import timezone

from core.origin import Owner
from crowd.models import Assignment, Endpoint, Stage, StageSource, Worker
from crowd.services.deals import NoWork, NoWorkError, deal
from crowd.services.groups import joined_group, put_into
from crowd.sources import stages_at
from people.models import Guest, Outcome, StudyLink, Visit
from people.targets import NextTask, Target

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
    heres = [here for stage in rows.order_by("pk") for here in stages_at(stage)]
    own = [here for here in heres if here.endpoint.protocol == _OWN]
    return list({here.pk: here for here in reversed(own)}.values())[::-1]


def _stages_of(owner: Owner) -> list[Stage]:
    return _own_stages(owner.pk) if owner.kind == Owner.Kind.PROJECT else []


class ProjectTarget(Target):
    """A project's stages on study links, the oldest first, each as long as it has work for the person."""

    kind, label = "project", "Project"

    def choices(self, owner: Owner) -> list[tuple[int, str]]:
        """The project, where it has such a stage."""
        return [(owner.pk, "all its stages on study links")] if _stages_of(owner) else []

    def stages(self, link: StudyLink) -> list[Stage]:
        """What the link leads to; nothing that belongs to another project. Read once for each object."""
        known: list[Stage] | None = link.__dict__.get("_stages")
        if known is None:
            known = link.__dict__["_stages"] = self._read_stages(link)
        return known

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

    def choices(self, owner: Owner) -> list[tuple[int, str]]:
        """The stages whose endpoint is one of study links."""
        return [(stage.pk, stage.title) for stage in _stages_of(owner)]

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
