"""What the form of a new evaluation offers: profiles, and metrics with what each of them needs.

It knows the library of metrics, so only pages that offer them import it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from django.conf import settings

from evaluations.learned import shelf
from evaluations.learned.needs import WORDS, kinds_of, kinds_of_all
from evaluations.learned.shelf import ModelEntry
from metrics.catalogue import MAKERS, metric, missing
from metrics.errors import MetricError
from metrics.learned import extra
from metrics.learned.profile_models import BERTSCORE, KINDS
from metrics.metaeval.papers import PROTOCOLS
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
LEARNED, _OTHERS = "Learned", "Others"
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


@dataclass(frozen=True, slots=True)
class Models:
    """What learned metrics can score with here; it may change while a process lives."""

    of_kind: Mapping[str, Sequence[ModelEntry]]
    encoder: str

    def missing(self, name: str) -> str:
        """Why a learned metric cannot be chosen, in words; empty if it can."""
        if why := extra.missing():
            return why
        needed = kinds_of(name)
        if kinds := [WORDS[kind] for kind in KINDS if kind in needed and not self.of_kind[kind]]:
            return f"there is no {kinds[0]} model"
        return "there is no encoder" if BERTSCORE in needed and not self.encoder else ""

    def lacking(self) -> list[str]:
        """Kinds of which there is none, in words."""
        kinds = [f"{WORDS[kind]} model" for kind in KINDS if not self.of_kind[kind]]
        return [*kinds, *([] if self.encoder else [f"encoder for {WORDS[BERTSCORE]}"])]


def models() -> Models:
    """The models that are here now."""
    there = [each for each in shelf.shelf() if not each.wrong]
    found = {kind: [each for each in there if each.kind == kind] for kind in KINDS}
    return Models(found, settings.BERTSCORE_ENCODER)


@cache
def offers(profile_name: str = "default") -> tuple[Offer, ...]:
    """All metrics by name. What is installed does not change while a process lives, but models may come."""
    return tuple(_offer(name, profile_name) for name in MAKERS)


def by_family(profile_name: str = "default", learned: Models | None = None) -> list[tuple[str, list[Offer]]]:
    """Metrics in families, the best known ones first; learned ones where `learned` says what there is."""
    groups: dict[str, list[Offer]] = {family: [] for family in (*_FAMILIES, LEARNED, _OTHERS)}
    for each in offers(profile_name):
        if not kinds_of(each.name):
            groups[_family(each.name)].append(each)
        elif learned is not None:
            groups[LEARNED].append(replace(each, missing=learned.missing(each.name)))
    return [(family, sorted(found, key=lambda each: each.name)) for family, found in groups.items() if found]


def known_metrics() -> list[str]:
    """The names of all metrics."""
    return list(MAKERS)


def models_needed(names: Iterable[str]) -> int:
    """How many models and encoders these metrics score with."""
    return len(kinds_of_all(names))


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
