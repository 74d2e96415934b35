"""Which metrics need a model, and of which kind, by their names."""

from collections.abc import Iterable

from metrics.catalogue import ALIASES
from metrics.learned.profile_models import ADEM, BERTSCORE, KINDS, KPQA

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
