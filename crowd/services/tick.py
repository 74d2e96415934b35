"""One round of everything that goes on by itself, for the timer, for tests and for the command line."""

import logging
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from crowd.adapters.base import MarketplaceDownError, MarketplaceRefusedError
from crowd.models import Assignment, Endpoint, Hit, MarketOperation, Recount, Stage
from crowd.outbox.dispatch import dispatch
from crowd.outbox.reconcile import reconcile
from crowd.services.collecting import collect
from crowd.services.publishing import publish_pending
from crowd.services.settling import settle_news

logger = logging.getLogger(__name__)


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
    """Reconcile what is in doubt, send what is due, collect what came in, top up what is missing.

    An endpoint that is down stops its own part of the round only.
    """
    done = Round()
    for endpoint in Endpoint.objects.filter(_with_work()).distinct():
        try:
            done.reconciled += reconcile(endpoint)
            done.sent += dispatch(endpoint).total
            for stage in list(living_stages(endpoint)):
                _go_on(stage, done)
            done.sent += dispatch(endpoint).total
        except (MarketplaceDownError, MarketplaceRefusedError, ValueError) as error:
            logger.warning("%s: %s", endpoint.name, error)
    return done


def _go_on(stage: Stage, done: Round) -> None:
    """Collect and top up one stage; what goes wrong in it is recorded and stops no other."""
    try:
        done.collected += collect(stage)
        settle_news(stage)
        if stage.status == Stage.Status.OPEN:
            done.planned += publish_pending(stage)
    except (MarketplaceDownError, MarketplaceRefusedError, ValueError):
        raise
    except Exception:
        logger.exception("Stage %s of %s", stage.slug, stage.project.slug)


def _with_work() -> Q:
    going = MarketOperation.objects.filter(endpoint=OuterRef("pk")).exclude(state__in=MarketOperation.FINAL)
    living = [Stage.Status.OPEN, Stage.Status.PAUSED, Stage.Status.CLOSED]
    return Q(stages__status__in=living) | Q(Exists(going))


def living_stages(endpoint: Endpoint) -> QuerySet[Stage]:
    """Stages that publish, still have HITs or undecided work out there, or have to decide again."""
    on_offer = Hit.objects.filter(stage=OuterRef("pk"), state=Hit.State.OPEN)
    undecided = Assignment.objects.filter(
        stage=OuterRef("pk"), state__in=[Assignment.State.STORED, Assignment.State.SUBMITTED]
    )
    recounts = Recount.objects.filter(stage=OuterRef("pk"))
    return (
        Stage.objects.select_related("project", "endpoint")
        .filter(endpoint=endpoint)
        .filter(Q(status=Stage.Status.OPEN) | Exists(on_offer) | Exists(undecided) | Exists(recounts))
        .order_by("pk")
    )
