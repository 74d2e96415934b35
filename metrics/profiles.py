"""Named ways of scoring: what we would do today, and what papers did to the letter."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from metrics.errors import MetricError


@dataclass(frozen=True, slots=True)
class Profile:
    """`metrics` are scored where none are named; `settings[family]` holds what a family does differently."""

    name: str
    says: str
    metrics: tuple[str, ...]
    tokeniser: str = "default"
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def tokeniser_for(self, family: str) -> str:
        """Name of the tokeniser of a family of metrics: its setting `tokeniser`, or else the profile's."""
        return str(self.settings.get(family, {}).get("tokeniser", self.tokeniser))

    def options(self, family: str) -> dict[str, Any]:
        """What a family does differently, without the tokeniser."""
        return {key: value for key, value in self.settings.get(family, {}).items() if key != "tokeniser"}


DEFAULT = Profile(
    "default",
    "What we would do today.",
    ("bleu-1", "bleu-4", "rouge-1", "rouge-l", "chrf", "meteor", "cider", "f1", "exact"),
)
PROFILES: dict[str, Profile] = {profile.name: profile for profile in (DEFAULT,)}


def profile(name: str) -> Profile:
    """The profile of that name; MetricError names those that there are."""
    try:
        return PROFILES[name]
    except KeyError:
        raise MetricError(f"There is no profile {name!r}; there are {', '.join(PROFILES)}.") from None
