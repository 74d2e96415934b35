"""What the form of a new evaluation offers: profiles, and metrics with what each of them needs.

It knows the library of metrics, so only pages that offer them import it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from metrics.catalogue import MAKERS, metric, missing
from metrics.errors import MetricError
from metrics.meta.protocols import PROTOCOLS
from metrics.profiles import PROFILES, profile

#: Families by the beginnings of names, in the order of the page.
_FAMILIES = {
    "BLEU": ("bleu",),
    "ROUGE": ("rouge",),
    "Meaning and consensus": ("meteor", "cider"),
    "Characters and words": ("chrf", "exact", "f1"),
    "References weighed by their agreement": ("pa-",),
    "Opinions and entities": ("adapted",),
    "Length": ("length",),
}
_OTHERS = "Others"
#: The papers' own protocols with what each shows.
_PROTOCOLS = {
    "resample_overall": "Corpus scores of samples of questions (Yang et al. 2018)",
    "adem-table3": "Single answers (ADEM, Table 3)",
    "adem-table4": "Systems (ADEM, Table 4)",
    "adem-table5": "One system left out (ADEM, Table 5)",
    "adem-table6": "Where metrics and people part (ADEM, Table 6)",
    "adem-table8": "Length bias (ADEM, Table 8)",
    "adem-table14": "Learning curve (ADEM, Table 14)",
    "kpqa-table7": "Pairs far apart (KPQA, Table 7)",
}
_NEEDS = {
    "questions": "questions",
    "labels": "opinions of answers",
    "reference_labels": "opinions of references",
    "entities": "entities of questions",
}


@dataclass(frozen=True, slots=True)
class Offer:
    """A metric; `missing` says why it cannot be computed here, `needs` what the data must have."""

    name: str
    title: str
    needs: str
    missing: str


@dataclass(frozen=True, slots=True)
class ProfileOffer:
    """A profile with the metrics that it scores where none are named."""

    name: str
    says: str
    metrics: Sequence[str]


def profiles() -> list[ProfileOffer]:
    """All profiles, `default` first."""
    return [ProfileOffer(each.name, each.says, each.metrics) for each in PROFILES.values()]


@cache
def offers(profile_name: str = "default") -> tuple[Offer, ...]:
    """All metrics by name. What is installed does not change while a process lives."""
    return tuple(_offer(name, profile_name) for name in MAKERS)


def by_family(profile_name: str = "default") -> list[tuple[str, list[Offer]]]:
    """Metrics in families, the best known ones first."""
    groups: dict[str, list[Offer]] = {family: [] for family in (*_FAMILIES, _OTHERS)}
    for each in offers(profile_name):
        groups[_family(each.name)].append(each)
    return [(family, sorted(found, key=lambda each: each.name)) for family, found in groups.items() if found]


def known_metrics() -> list[str]:
    """The names of all metrics."""
    return list(MAKERS)


def protocols() -> dict[str, str]:
    """The papers' own protocols by name, in words."""
    return {name: _PROTOCOLS.get(name, name) for name in PROTOCOLS}


def metrics_of_profile(name: str) -> Sequence[str]:
    """The metrics that a profile scores where none are named."""
    return profile(name).metrics


def _family(name: str) -> str:
    found = [family for family, beginnings in _FAMILIES.items() if name.startswith(beginnings)]
    return found[0] if found else _OTHERS


def _offer(name: str, profile_name: str) -> Offer:
    try:
        made = metric(name, profile_name)
    except MetricError as error:
        return Offer(name, name, "", str(error))
    needs = ", ".join(_NEEDS.get(each, each) for each in sorted(made.needs))
    return Offer(name, made.title, needs, missing(made))
