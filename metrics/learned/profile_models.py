"""Which models a profile's learned metrics use.

They stand in the profile's settings, so that they go wherever a metric's recipe goes: into processes, and to
workers on other machines, where a folder that holds another model is refused by its digest.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from metrics.errors import MetricError
from metrics.learned.folders import read_card
from metrics.profiles import BERTSCORE, KINDS, KPQA, Profile


@dataclass(frozen=True, slots=True)
class Choice:
    """A model's folder and digest, as `settings["kpqa"]` and `settings["adem"]` hold them."""

    folder: str
    digest: str


def choice(folder: Path) -> tuple[str, Choice]:
    """Kind and choice of a model's folder; MetricError where it is none of ours."""
    card = read_card(folder)
    if card["kind"] not in KINDS:
        raise MetricError(f"{folder} is a model of kind {card['kind']}; there are {', '.join(KINDS)}.")
    return card["kind"], Choice(str(folder.resolve()), card["digest"])


def with_models(
    profile: Profile,
    folders: Iterable[Path] = (),
    *,
    bertscore: Mapping[str, Any] | None = None,
    cache: str = "",
) -> Profile:
    """The profile with these models, at most one of a kind.

    `bertscore` are settings of BERTScore: `encoder` (folder or name), `layer`, `idf`. `cache` is a folder
    where weights of words are kept between runs; without one they are kept while the process lives.
    """
    settings: dict[str, Mapping[str, Any]] = dict(profile.settings)
    given: set[str] = set()
    for folder in folders:
        kind, chosen = choice(folder)
        if kind in given:
            raise MetricError(f"Two models of kind {kind} are given; name one.")
        given.add(kind)
        settings[kind] = {**settings.get(kind, {}), "model": chosen}
    if cache:
        settings[KPQA] = {**settings.get(KPQA, {}), "cache": cache}
    if bertscore:
        settings[BERTSCORE] = {**settings.get(BERTSCORE, {}), **bertscore}
    return replace(profile, settings=settings)
