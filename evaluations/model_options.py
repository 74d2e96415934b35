"""Which metrics need a model or an encoder, and what a command was told about them.

What looks for models and reads them is `evaluations.learned_models`, for those who need one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from metrics.catalogue import ALIASES
from metrics.profiles import ADEM, BERTSCORE, KINDS, KPQA, Profile

#: Kinds of models and encoders as people call them.
WORDS = {KPQA: "KPQA", ADEM: "ADEM", BERTSCORE: "BERTScore"}


def kinds_of(name: str) -> frozenset[str]:
    """`kpqa`, `adem`, and `bertscore` for what needs an encoder; empty for a metric that needs no model."""
    plain = name.strip().lower().replace("_", "-")
    plain = ALIASES.get(plain, plain)
    found = {KPQA} if plain.endswith(("-kpqa", "-kpqa-repo", "-kpqa-paper")) else set()
    if plain.endswith("adem"):
        found.add(ADEM)
    if plain.startswith("bertscore"):
        found.add(BERTSCORE)
    return frozenset(found)


def kinds_of_all(names: Iterable[str]) -> frozenset[str]:
    """What any of these metrics needs."""
    return frozenset().union(*map(kinds_of, names))


def model_kinds(names: Iterable[str]) -> list[str]:
    """Kinds of models that these metrics need, in the order of `KINDS`."""
    needed = kinds_of_all(names)
    return [kind for kind in KINDS if kind in needed]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a command: `models` are folders or names in METRIC_MODELS."""

    models: Sequence[str] = ()
    encoder: str = ""
    layer: int | None = None
    idf: bool = False
    download: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing was asked for."""
        return not (self.models or self.encoder or self.layer is not None or self.idf or self.download)


@dataclass(frozen=True, slots=True)
class Models:
    """What learned metrics score with: nothing here. `notes` are sentences about it."""

    notes: tuple[str, ...] = ()

    def within(self, profile: Profile) -> Profile:
        """The profile with them."""
        return profile

    def used(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """What a report says of those that these metrics score with."""
        return []


NO_MODELS = Models()
