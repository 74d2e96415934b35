"""System checks: settings of the marketplace that cannot work."""

from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error

from core.money import FEE_PROFILES


def check_fee_profile(**_: Any) -> list[CheckMessage]:
    """The fee profile of new requesters must exist."""
    if settings.MARKETPLACE_FEE_PROFILE in FEE_PROFILES:
        return []
    return [
        Error(
            f"MARKETPLACE_FEE_PROFILE is {settings.MARKETPLACE_FEE_PROFILE!r}, which is not a fee profile.",
            hint=f"Use one of {', '.join(FEE_PROFILES)}.",
            id="marketplace.E001",
        )
    ]
