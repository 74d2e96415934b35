"""Rankers by name, with what the operator has set up."""

from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from retrieval.ranking.base import Ranker


def cross_encoder_folder() -> Path | None:
    """The folder of the cross-encoder, where the operator names one."""
    return Path(settings.CROSS_ENCODER) if settings.CROSS_ENCODER else None


def ranker_named(name: str) -> "Ranker":
    """The ranker of a name such as `balanced:cq3`; see `ranking.systems`. ParametersError, ModelError."""
    from retrieval.ranking.systems import parse_system  # noqa: PLC0415  # heavy

    return parse_system(name, cross_encoder=cross_encoder_folder())
