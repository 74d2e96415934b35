"""One round of everything that goes on by itself, for the timer, for tests and for the command line."""

import contextlib
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from django.core.cache import cache
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from core.errors import logged_failure
from core.jobs import errors
from core.jobs.handlers import heartbeats
from core.jobs.services import format_span
from crowd import models
from crowd.adapters import registry
from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.kinds import kind_of
from crowd.outbox import epoch
from crowd.outbox.calls import Contact
from crowd.outbox.dispatch import dispatch
from crowd.outbox.reconcile import reconcile
from crowd.rights import why_unentitled
from crowd.selectors.operations import list_outages
from crowd.services import panels
from crowd.services.collection import collect
from crowd.services.decisions import reconsider
from crowd.services.endpoints import round_ended
from crowd.services.publication import publish_pending
from crowd.services.rollback import halt_if_rolled_back
from crowd.services.smaller_hits import replace_untaken
from crowd.services.sources import move_overdue
from crowd.services.stages import pause_stage
from crowd.sources import has_source, stage_at

# One round at a time per endpoint: its lease, and when the endpoint stopped answering and answered again.

logger = logging.getLogger(__name__)
Outcome = models.EndpointRound.Outcome

#: A round whose process says nothing for so long is over.
LEASE = timedelta(seconds=30)
#: How often a caller who waits for the lease asks again.
_ASK_AGAIN_S = 0.1


@contextlib.contextmanager
def lease_round(endpoint: models.Endpoint, *, wait_s: float = 0.0) -> Iterator[Contact | None]:
    """Hold the endpoint's lease during the block; None where another has it, also after `wait_s`.

    The contact says that the round must end when the lease is lost or this worker is asked to stop. What was
    heard of the endpoint is booked at the end.
    """
    owner = uuid4()
    if not _take(endpoint, owner, wait_s):
        yield None
        return
    lost = threading.Event()
    contact = Contact(must_end=lambda: lost.is_set() or errors.stopping.is_set())
    renewing = heartbeats(
        lambda: _renew(endpoint, owner),
        every=lambda: LEASE.total_seconds() / 3,
        name=f"lease of the round of {endpoint.name}",
        after=lambda _: lost.set(),
    )
    began, outcome = time.monotonic(), Outcome.FAILED
    try:
        with renewing:
            yield contact
        outcome = _outcome(contact)
    finally:
        _end(endpoint, owner, outcome, time.monotonic() - began)
    book_contact(endpoint, contact)


def _outcome(contact: Contact) -> Outcome:
    if contact.is_held:
        return Outcome.HELD
    return Outcome.TROUBLE if contact.trouble else Outcome.ANSWERED


def _end(endpoint: models.Endpoint, owner: UUID, outcome: Outcome, seconds: float) -> None:
    succeeded = {"succeeded_at": Now()} if outcome == Outcome.ANSWERED else {}
    _own_rounds(endpoint, owner).update(
        lease_owner=None, lease_until=None, ended_at=Now(), outcome=outcome, seconds=seconds, **succeeded
    )
    round_ended.send(models.EndpointRound, endpoint=endpoint.name, outcome=outcome.value, seconds=seconds)


def leased_endpoints() -> QuerySet[models.EndpointRound]:
    """Rounds that go on now."""
    return models.EndpointRound.objects.filter(lease_until__gte=Now())


def book_contact(endpoint: models.Endpoint, contact: Contact) -> None:
    """Log the beginning and the end of an outage, each once, whichever process notices."""
    row = models.EndpointRound.objects.filter(pk=endpoint.pk)
    if contact.trouble:
        begun = row.filter(down_since=None).update(down_since=Now(), down_cause=contact.trouble[:300])
        if begun:
            logger.warning("%s does not answer as it should: %s", endpoint.name, contact.trouble)
    elif contact.answers:
        down = list_outages().filter(pk=endpoint.pk)
        before = down.first()
        if before and row.exclude(down_since=None).update(down_since=None, down_cause=""):
            logger.warning("%s answers again, after %s.", endpoint.name, format_span(before.span))


def _take(endpoint: models.Endpoint, owner: UUID, wait_s: float) -> bool:
    end = time.monotonic() + wait_s
    models.EndpointRound.objects.bulk_create([models.EndpointRound(endpoint=endpoint)], ignore_conflicts=True)
    free = models.EndpointRound.objects.filter(Q(lease_until=None) | Q(lease_until__lt=Now()), pk=endpoint.pk)
    while not free.update(lease_owner=owner, lease_until=Now() + LEASE, began_at=Now()):
        if time.monotonic() >= end:
            return False
        time.sleep(_ASK_AGAIN_S)
    return True


def _renew(endpoint: models.Endpoint, owner: UUID) -> bool:
    return bool(_own_rounds(endpoint, owner).update(lease_until=Now() + LEASE))


def _own_rounds(endpoint: models.Endpoint, owner: UUID) -> QuerySet[models.EndpointRound]:
    return models.EndpointRound.objects.filter(pk=endpoint.pk, lease_owner=owner)


#: A transaction may write a time and be seen only later; what is younger than this is settled once more.
_COMMIT_DELAY = timedelta(seconds=30)


def settle_news(stage: models.Stage) -> bool:
    """Call the kind's `settle` if anything was answered or decided since it last saw it all.

    Before that it decides again what rested on work that began or ceased to count.
    """
    begun = timezone.now()
    recounted = reconsider(stage)
    latest = latest_news(stage)
    unchanged = stage.settled_until is not None and latest is not None and latest <= stage.settled_until
    if latest is None or (unchanged and not recounted):
        return bool(recounted)
    if cache.get(f"stage-was-settled:{stage.pk}") and not recounted:
        return False
    _settle(stage)
    stage.settled_until = min(begun - _COMMIT_DELAY, latest)
    models.Stage.objects.filter(pk=stage.pk).update(settled_until=stage.settled_until)
    return True


def latest_news(stage: models.Stage) -> datetime | None:
    """When an answer of this stage last came in, was seen by its marketplace or was decided about."""
    rows = models.Assignment.objects.filter(stage=stage).annotate(news=models.LATEST_NEWS)
    dates = rows.exclude(news=None).order_by("-news").values_list("news", flat=True)
    return dates.first()


#: Seconds from which settling a large stage, or looking for what it lacks, costs much, and after how many
#: times as long it is done again: a million candidates take half a minute, a round begins every 5 s. What the
#: database does counts, so a small stage on a busy machine may take as long; it waits for nothing.
COSTLY_SECONDS = 1.0
_WORTH = 20
#: Answers that came in are decided about after so long at the latest.
_SETTLED_AGAIN_S = 300.0
#: How long a person's command waits for a round that goes on already.
_PATIENCE_S = 60.0


@dataclass(slots=True)
class Round:
    """What one round did."""

    sent: int = 0
    collected: int = 0
    planned: int = 0
    reconciled: int = 0

    @property
    def idle(self) -> bool:
        """Nothing was left to do."""
        return not (self.sent or self.collected or self.planned or self.reconciled)


def tick() -> Round:
    """A round of every endpoint that has something going on, one after another, for people and programs."""
    done = Round()
    for endpoint in endpoints_with_work():
        run_round(endpoint, done, wait_s=_PATIENCE_S)
    return done


def endpoints_with_work() -> QuerySet[models.Endpoint]:
    """Endpoints with stages that are not over, or with operations that are not finished, and not halted."""
    return models.Endpoint.objects.filter(_with_work(), halt=None).distinct().order_by("pk")


def run_round(endpoint: models.Endpoint, done: Round, *, wait_s: float = 0.0) -> None:
    """A round of one endpoint, unless one is going on already; it waits so long for that one's end."""
    with lease_round(endpoint, wait_s=wait_s) as contact:
        if contact is not None:
            go_round(endpoint, done, contact)


def go_round(endpoint: models.Endpoint, done: Round, contact: Contact) -> None:
    """Reconcile what is in doubt, send what is due, collect what came in, top up what is missing.

    Where the endpoint seems to be down, no further stage is collected: each would wait as long again. After
    a restore nothing goes on until the endpoint was compared with what we know.
    """
    if epoch.obstacle() or epoch.is_halted(endpoint):
        contact.is_held = True
        return
    epoch.vouch()
    try:
        if halt_if_rolled_back(endpoint):
            contact.is_held = True
            return
        done.reconciled += reconcile(endpoint)
        done.sent += dispatch(endpoint, contact=contact).total
        for stage in list(living_stages(endpoint)):
            if contact.is_down or contact.must_end():
                break
            _go_on(stage, endpoint, done, contact)
        if endpoint.is_panel and not contact.is_down:
            _ask_panel(endpoint)
        done.sent += dispatch(endpoint, contact=contact).total
    except (MarketplaceDownError, MarketplaceRefusedError, ValueError) as error:
        contact.note_trouble(error)


def _ask_panel(endpoint: models.Endpoint) -> None:
    """What is asked of a panel for all its studies, every few minutes: its balance, and what people wrote."""
    if models.PanelStudy.objects.filter(endpoint=endpoint).exclude(external_id="").exists():
        panels.ask_balance(endpoint)
        if registry.adapter(endpoint).capabilities().messages:
            panels.sync_messages(endpoint)


def _go_on(stage: models.Stage, endpoint: models.Endpoint, done: Round, contact: Contact) -> None:
    """Collect one stage from this endpoint, and top it up; what goes wrong in it stops no other."""
    with logged_failure(
        logger,
        "Stage %s of %s",
        stage.slug,
        stage.project.slug,
        passing=(MarketplaceDownError, MarketplaceRefusedError, ValueError),
    ):
        source_stage = stage_at(stage, endpoint)
        at_panel = endpoint.is_panel
        if at_panel:
            done.collected += panels.sync(source_stage, contact)
        done.collected += collect(source_stage, contact=contact)
        settle_news(stage)
        if stage.status == models.Stage.Status.OPEN and (why := why_unentitled(stage)):
            pause_stage(stage=stage, why=why)
        if stage.status == models.Stage.Status.OPEN:
            done.planned += move_overdue(source_stage) + replace_untaken(source_stage) + _top_up(stage)
        if at_panel:
            done.planned += panels.ask_for_people(source_stage)


def _settle(stage: models.Stage) -> None:
    """Have the kind decide; where that took long, later news wait for a while, in this process."""
    begun = time.monotonic()
    kind_of(stage).settle(stage)
    took = time.monotonic() - begun
    if took > COSTLY_SECONDS:
        cache.set(f"stage-was-settled:{stage.pk}", True, min(_WORTH * took, _SETTLED_AGAIN_S))


def _top_up(stage: models.Stage) -> int:
    """Plan what is missing; where looking costs much and found nothing, look again only after a while.

    People's own wishes (opening a stage, asking again after a filter) plan at once, on their own way.
    """
    nothing_new = f"stage-lacks-nothing:{stage.pk}"
    if cache.get(nothing_new):
        return 0
    begun = time.monotonic()
    planned = publish_pending(stage)
    took = time.monotonic() - begun
    if not planned and took > COSTLY_SECONDS:
        cache.set(nothing_new, True, _WORTH * took)
    return planned


def _with_work() -> Q:
    going = models.MarketOperation.objects.filter(endpoint=OuterRef("pk")).exclude(
        state__in=models.MarketOperation.FINAL
    )
    living = [models.Stage.Status.OPEN, models.Stage.Status.PAUSED, models.Stage.Status.CLOSED]
    sources = models.StageSource.objects.filter(endpoint=OuterRef("pk"), stage__status__in=living)
    return Q(stages__status__in=living) | Exists(sources) | Q(Exists(going))


def living_stages(endpoint: models.Endpoint) -> QuerySet[models.Stage]:
    """Stages that publish, still have HITs or undecided work out there, or have to decide again."""
    on_offer = models.Hit.objects.filter(stage=OuterRef("pk"), state=models.Hit.State.OPEN)
    undecided = models.Assignment.objects.filter(
        stage=OuterRef("pk"), state__in=[models.Assignment.State.STORED, models.Assignment.State.SUBMITTED]
    )
    recounts = models.Recount.objects.filter(stage=OuterRef("pk"))
    running_studies = models.PanelStudy.objects.filter(
        stage=OuterRef("pk"),
        endpoint=endpoint,
        state__in=[models.PanelStudy.State.OPEN, models.PanelStudy.State.PAUSED],
    )
    return (
        models.Stage.objects.select_related("project", "endpoint")
        .filter(has_source(endpoint))
        .filter(
            Q(status=models.Stage.Status.OPEN)
            | Exists(on_offer)
            | Exists(undecided)
            | Exists(recounts)
            | Exists(running_studies)
        )
        .order_by("pk")
    )
