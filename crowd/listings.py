"""Texts in the marketplace's list that are made from a stage's terms, until a person writes others.

A text that equals what the old terms made is made again when they change; any other is a person's and stays.
"""

from collections.abc import Mapping
from copy import copy
from typing import Any

from pydantic import ValidationError

from crowd.kinds import HitTerms, Listing, StageConfig, StageKind, kind_named
from crowd.models import Stage

#: Columns of a stage whose values a made text may name.
_NAMED = frozenset({"units_per_hit", "checks_per_hit", "expected_seconds", "config"})


def made_listing(
    kind: StageKind,
    *,
    units_per_hit: int = 1,
    checks_per_hit: int = 0,
    minutes: float | None = None,
    config: StageConfig | Mapping[str, Any] | None = None,
) -> Listing:
    """What the kind makes of these terms; nothing where it makes no texts."""
    make = getattr(kind, "listing", None)
    if make is None:
        return Listing()
    if config is not None and not isinstance(config, StageConfig):
        try:
            config = kind.config.model_validate(config)
        except ValidationError:
            config = None
    made: Listing = make(HitTerms(units_per_hit + checks_per_hit, minutes, config))
    return made


def listing_of(stage: Stage) -> Listing:
    """What the kind makes of a stage's terms as they are."""
    return made_listing(
        kind_named(stage.kind),
        units_per_hit=stage.units_per_hit,
        checks_per_hit=stage.checks_per_hit,
        minutes=None if stage.expected_seconds is None else stage.expected_seconds / 60,
        config=stage.config,
    )


def is_made(text: str, made: str) -> bool:
    """The text was made, or is empty, so that it may be made again."""
    return text.split() in ([], made.split())


def follow(stage: Stage, changes: Mapping[str, Any]) -> dict[str, Any]:
    """The changes, and texts made again for them, where they give none themselves."""
    followed = dict(changes)
    if not _NAMED.intersection(changes):
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
