"""A stage's first HIT as a worker would get it, for somebody who tries the task before it is published.

Nothing of it stays: what kinds prepare to show it (candidates, attention checks) is taken back, too.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice

from django.db import transaction

from crowd import bundles
from crowd.bundles import order_for
from crowd.kinds import kind_of
from crowd.models import Stage
from crowd.selectors.stage_sizes import is_large


@contextmanager
def nothing_stays() -> Iterator[None]:
    """Whatever is written in here is undone at its end."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


def units_to_try(stage: Stage) -> dict[str, str]:
    """Units of a HIT with their places, in a worker's order: what is next to ask, else what was asked first.

    Attention checks and units that everybody gets are among them. Empty where there is nothing to ask about.
    In a large stage it is what was asked first: looking for what is next reads all that was answered, which
    takes minutes where there are millions.
    """
    kind = kind_of(stage)
    pending = [] if is_large(stage) else list(islice(kind.pending(stage), stage.units_per_hit))
    made = bundles.bundle(
        pending,
        units_per_hit=stage.units_per_hit,
        overlap=kind.overlap(stage),
        checks=kind.checks(stage),
        checks_per_hit=stage.checks_per_hit,
        seed=stage.seed,
        together=kind.together(stage, [item.unit for item in pending]) if len(pending) > 1 else {},
    )
    units = [unit for unit, _ in made[0].units] if made else _asked_first(stage)
    places = {unit: str(place) for place, unit in enumerate(units)}
    together = kind.together(stage, units) if len(units) > 1 else {}
    ordered = order_for(units, seed=stage.seed, worker="trial", together=together)
    return {unit: places[unit] for unit in ordered}


def _asked_first(stage: Stage) -> list[str]:
    hit = stage.hits.filter(compensates=None).order_by("ordinal").first()
    return list(hit.units.order_by("position").values_list("unit", flat=True)) if hit else []
