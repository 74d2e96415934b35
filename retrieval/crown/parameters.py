"""Options of a search, checked once for form, endpoint and commands."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Self

from retrieval.crown import options
from retrieval.crown.conversation import model_named
from retrieval.crown.options import BALANCED, BALANCED_1, CROWN_2020, PREFIX, WEIGHTS, Option
from retrieval.errors import ParametersError

#: How far from 1 the sum of the weights may be.
TOLERANCE = 1e-4
#: Names of the published endpoint (paper 001, section 4) and ours for them. Its weights are h1, h2, ….
PUBLISHED: Mapping[str, str] = MappingProxyType(
    {
        "profile": "profile",
        "convquery": "query_model",
        "retNbr": "results",
        "indriRetNbr": "candidates",
        "nodeThreshold": "alpha",
        "edgeThreshold": "beta",
    }
)
_NUMBER = re.compile(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,3})?", re.ASCII)
_LONGEST_SHOWN = 40


@dataclass(frozen=True)
class Parameters:
    """Options of a search: profile, query model, how many, thresholds α and β, weights that add up to 1."""

    profile: str
    query_model: str
    results: int
    candidates: int
    alpha: float
    beta: float
    weights: Mapping[str, float] = field(hash=False)

    @property
    def numbers(self) -> bool:
        """Whether runs of digits are words: not in the published profile."""
        return self.profile != CROWN_2020

    def as_dict(self) -> dict[str, Any]:
        """All of them as JSON, which `of` reads again."""
        return asdict(self)

    @classmethod
    def of(cls, raw: Mapping[str, object]) -> Self:
        """Options by name; those that are not given have their defaults.

        Numbers may be written as text. Weights come as `weights` ({"node": 0.3, …}) or one by one
        (`weight_node`), all of the profile or none. ParametersError has a sentence by field; "" where the
        weights do not add up to 1.
        """
        faults: dict[str, str] = {}
        profile = _choice(options.PROFILE, raw, faults)
        if profile == BALANCED and _has_weights_of_version_1(raw):
            profile = BALANCED_1
        checked = cls(
            profile=profile,
            query_model=_choice(options.QUERY_MODEL, raw, faults),
            results=int(_number(options.RESULTS, raw, faults)),
            candidates=int(_number(options.CANDIDATES, raw, faults)),
            alpha=_number(options.ALPHA, raw, faults),
            beta=_number(options.BETA, raw, faults),
            weights=_weights(profile, raw, faults),
        )
        names = {option.name for option in options.describe(profile)} | {"weights"}
        for name in raw:
            if name not in names:
                faults[str(name)] = (
                    f"There is no such option of {profile}. There are {', '.join(sorted(names))}."
                )
        if faults:
            raise ParametersError(faults)
        return checked

    @classmethod
    def published(cls, raw: Mapping[str, object]) -> Self:
        """Options by the names of the published endpoint, for which faults are told too.

        h1 to h4 are the weights of crown-2020, h1 to h6 those of balanced, in the order of `WEIGHTS`. Who
        gives weights and no profile means the published one, which had no name then.
        """
        profile = raw.get("profile", CROWN_2020 if "h1" in raw else BALANCED)
        weights = WEIGHTS.get(str(profile), {})
        names = {
            **PUBLISHED,
            **{f"h{number}": f"{PREFIX}{name}" for number, name in enumerate(weights, 1)},
        }
        known = {names[name]: value for name, value in raw.items() if name in names}
        faults = {
            str(name): f"There is no such option. There are {', '.join(names)}."
            for name in raw
            if name not in names
        }
        try:
            made = cls.of(known | {"profile": profile})
        except ParametersError as error:
            theirs = {ours: name for name, ours in names.items()}
            faults |= {theirs.get(name, name): fault for name, fault in error.faults.items()}
        if faults:
            raise ParametersError(faults)
        return made


@cache
def defaults(profile: str = BALANCED) -> Parameters:
    """The options of a profile where nobody has chosen any."""
    return Parameters.of({"profile": profile})


def _has_weights_of_version_1(raw: Mapping[str, object]) -> bool:
    """Whether somebody gives the six weights that `balanced` had once, by name and no others.

    Searches that were kept, addresses and programs have them: they go on to mean what they meant.
    """
    several = raw.get("weights", {})
    names = {str(name).removeprefix(PREFIX) for name in raw if str(name).startswith(PREFIX)}
    names |= {str(name) for name in several} if isinstance(several, Mapping) else set()
    return names == set(WEIGHTS[BALANCED_1])


def _weights(profile: str, raw: Mapping[str, object], faults: dict[str, str]) -> dict[str, float]:
    """Weights by name, in the order of the profile."""
    wanted = options.weight_options(profile)
    given = {name: value for name, value in raw.items() if str(name).startswith(PREFIX)}
    several = raw.get("weights", {})
    if not isinstance(several, Mapping):
        faults["weights"] = "Give weights by name, as in {" + ", ".join(WEIGHTS[profile]) + "}."
        several = {}
    for name, value in several.items():
        if f"{PREFIX}{name}" in given:
            faults[f"{PREFIX}{name}"] = "This weight is given twice."
        elif name in WEIGHTS[profile]:
            given[f"{PREFIX}{name}"] = value
        else:
            faults["weights"] = (
                f"{_shown(name)} is no weight of {profile}; there are {', '.join(WEIGHTS[profile])}."
            )
    if not given:
        return dict(WEIGHTS[profile])
    before = len(faults)
    found = {}
    for option in wanted:
        if option.name not in given:
            faults[option.name] = f"This weight is missing: give all weights of {profile}, or none."
        found[option.name.removeprefix(PREFIX)] = _number(option, given, faults)
    total = math.fsum(found.values())
    if len(faults) == before and abs(total - 1) > TOLERANCE + 1e-12:
        faults[""] = f"The weights must add up to 1; these add up to {total:.6g}."
    return found


def _choice(option: Option, raw: Mapping[str, object], faults: dict[str, str]) -> str:
    value = raw.get(option.name, option.default)
    if isinstance(value, str):
        name = value.strip()
        if option is options.QUERY_MODEL:
            try:
                return model_named(name)
            except ValueError:
                pass
        elif name in option.choices:
            return name
    faults[option.name] = f"{_shown(value)} is none of {option.range}."
    return str(option.default)


def _number(option: Option, raw: Mapping[str, object], faults: dict[str, str]) -> float:
    """A number within the range of its option; its default, and a fault, where it is none."""
    usual = float(option.default)
    if option.name not in raw:
        return usual
    value, number = raw[option.name], math.nan
    if isinstance(value, str):
        if not value.strip():
            faults[option.name] = f"Enter a number from {option.range}."
            return usual
        if _NUMBER.fullmatch(value.strip()):
            number = float(value)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        number = float(value) if abs(value) < 1e30 else math.nan
    if math.isnan(number):
        hint = " Write it with a point." if isinstance(value, str) and "," in value else ""
        faults[option.name] = f"{_shown(value)} is no number. Enter one from {option.range}.{hint}"
    elif not option.least <= number <= option.most:
        faults[option.name] = f"{_shown(value)} is not in the range from {option.range}."
    elif option.kind == "whole" and number != int(number):
        faults[option.name] = f"{_shown(value)} is no whole number. Enter one from {option.range}."
    else:
        return number
    return usual


def _shown(value: object) -> str:
    """A value as an error names it, without what would flood the page."""
    if isinstance(value, int) and abs(value) >= 10**_LONGEST_SHOWN:
        return "A number of so many digits"
    text = (value if isinstance(value, str) else repr(value)).strip()
    return f"“{text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + '…'}”"
