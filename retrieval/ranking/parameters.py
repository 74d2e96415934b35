"""Options of a search: their words for form, endpoint and commands, and the check that all of these share.

One option is the conversational query: which earlier turns speak with the question, and how loudly (paper
001, section 2.2, with what its published code does where the two differ; see docs/crown.md). Turns are
numbered from 1, and the question is turn T.

    current          q_T
    cq1              q_T and q_1, unweighted
    cq2              q_T and q_1 with 1, q_(T-1) with (T-1)/T
    cq2-unweighted   the same turns, all with 1: what the published code sends to its search engine
    cq3              q_T and q_1 with 1, every other turn t with t/T
"""

import math
import re
from collections.abc import Container, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Literal, Self

from retrieval.errors import ParametersError

#: Query models by their names here, and what they are called for people.
MODELS: Mapping[str, str] = MappingProxyType(
    {
        "cq1": "current and first turn",
        "cq2": "current, previous and first turn, the previous one weaker",
        "cq2-unweighted": "current, previous and first turn, all alike",
        "cq3": "all turns, later ones stronger",
        "current": "current turn only",
    }
)
DEFAULT_MODEL = "cq2"
#: What the published page and its endpoint call them.
PUBLISHED_MODELS: Mapping[str, str] = MappingProxyType({"conv_uw": "cq1", "conv_w1": "cq2", "conv_w2": "cq3"})


def model_named(name: str) -> str:
    """A query model by its own or its published name. ValueError for others: none is ever guessed."""
    model = PUBLISHED_MODELS.get(name, name)
    if model not in MODELS:
        raise ValueError(f"There is no query model {name!r}. There are {', '.join(MODELS)}.")
    return model


def turn_weights(n_turns: int, model: str) -> list[float]:
    """Weight of each of n turns, oldest first; 0 for turns that do not take part.

    >>> turn_weights(4, "cq2")
    [1.0, 0.0, 0.75, 1.0]
    """
    weights = [0.0] * n_turns
    for place in _members(n_turns, model):
        turn = place + 1
        is_whole = turn in (1, n_turns) or model == "cq2-unweighted"
        weights[place] = 1.0 if is_whole else turn / n_turns
    return weights


def query_terms(
    turns: Sequence[Sequence[str]], model: str, *, vocabulary: Container[str] | None = None
) -> dict[str, float]:
    """Words of the conversational query with their weights, in the published order.

    turns: content words of each turn, oldest first. A word of several turns gets the largest of their
    weights. The order decides which word a passage's word belongs to when two are equally similar: those of
    the question come first, then those of the first turn, then those of the others, the newest first. Words
    not in `vocabulary` are left out (the published code leaves out words without a vector).
    """
    weights = turn_weights(len(turns), model)
    terms: dict[str, float] = {}
    for place in _members(len(turns), model):
        for word in turns[place]:
            if vocabulary is None or word in vocabulary:
                terms[word] = max(terms.get(word, 0.0), weights[place])
    return terms


def _members(n_turns: int, model: str) -> list[int]:
    """Places of the turns that take part, in the order in which their words enter the query."""
    if n_turns < 1:
        return []
    last = n_turns - 1
    match model_named(model):
        case "current":
            places = [last]
        case "cq1":
            places = [last, 0]
        case "cq2" | "cq2-unweighted":
            places = [last, 0, max(last - 1, 0)]
        case _:
            places = [last, 0, *range(last - 1, 0, -1)]
    return list(dict.fromkeys(places))


# What can be chosen of a search, in words: the same for form, endpoint, commands and documentation.

CROWN_2020, BALANCED = "crown-2020", "balanced"
#: `balanced` as it was before its second version: six weights, whatever the length of the question.
BALANCED_1 = "balanced-1"
#: The engine's own order: a profile of the search page and its endpoint, without weights.
BM25_ONLY = "bm25"
#: Weights of each profile by name, in the order of h1, h2, …, with their defaults.
WEIGHTS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        BALANCED: MappingProxyType(
            {
                "bm25": 0.3846,
                "node": 0.0192,
                "edge": 0.0192,
                "pos": 0.0192,
                "coverage": 0.2308,
                "early": 0.1731,
                "feedback": 0.1539,
            }
        ),
        BM25_ONLY: MappingProxyType({}),
        BALANCED_1: MappingProxyType(
            {
                "bm25": 0.4878,
                "node": 0.0244,
                "edge": 0.0244,
                "pos": 0.0244,
                "coverage": 0.2927,
                "early": 0.1463,
            }
        ),
        CROWN_2020: MappingProxyType({"prior": 0.4, "node": 0.3, "edge": 0.2, "pos": 0.1}),
    }
)
PROFILES: Mapping[str, str] = MappingProxyType(
    {
        BALANCED: "balanced: BM25 scores, coverage of the question's rare words, CROWN",
        BM25_ONLY: "BM25: the search engine's own order",
        CROWN_2020: "CROWN as published in 2020",
        BALANCED_1: "balanced, version 1: to repeat earlier searches",
    }
)


@dataclass(frozen=True, slots=True)
class Option:
    """One option: its name in forms and JSON, what it is called, what it does, and what may be chosen.

    kind: "choice" (one of `choices`, value to label), "whole" or "number" (from least to most).
    """

    name: str
    label: str
    help: str
    kind: Literal["choice", "whole", "number"]
    default: str | int | float
    least: float = 0
    most: float = 1
    step: float = 1
    choices: Mapping[str, str] = field(default_factory=dict)

    @property
    def range(self) -> str:
        """What may be chosen, in words."""
        if self.kind == "choice":
            return ", ".join(self.choices)
        return f"{self.least:g} to {self.most:g}"


PROFILE = Option(
    "profile",
    "Profile",
    "How passages are scored. Balanced is the best of them on most of our tests; BM25 is the search engine "
    "alone; CROWN 2020 is the published one.",
    "choice",
    BALANCED,
    choices=PROFILES,
)
QUERY_MODEL = Option(
    "query_model",
    "Conversational query",
    "Which turns speak with the question. Current and first: all questions are about the topic of the first. "
    "Current, previous and first: the conversation drifts. All turns: a mix of both.",
    "choice",
    DEFAULT_MODEL,
    choices=MODELS,
)
RESULTS = Option("results", "Number of results", "How many passages are shown.", "whole", 3, 1, 20)
CANDIDATES = Option(
    "candidates",
    "Number of candidates",
    "How many passages the search engine finds, which are then scored. More take longer.",
    "whole",
    100,
    10,
    1000,
)
ALPHA = Option(
    "alpha",
    "Node threshold α",
    "How similar a word of a passage must be to a word of the question to count (cosine of word vectors). "
    "At 1 only the word itself counts.",
    "number",
    0.75,
    0.5,
    1,
    0.01,
)
BETA = Option(
    "beta",
    "Edge threshold β",
    "How strongly two words must go together in the corpus (NPMI) for their being close to count.",
    "number",
    0.01,
    0,
    0.1,
    0.005,
)
_WEIGHT_WORDS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "prior": ("Engine's rank", "One over the rank that the search engine gave the passage."),
        "bm25": ("BM25 score", "The search engine's score, as a share of the best candidate's."),
        "node": ("Nodes", "How many words are similar to words of the question, and how similar they are."),
        "edge": ("Edges", "How strongly neighbouring similar words go together in the corpus."),
        "pos": ("Position", "Whether such words and pairs stand in early sentences."),
        "coverage": (
            "Coverage",
            "How much of the question the passage has a similar word for; rare words count for more.",
        ),
        "early": ("Early coverage", "The same within one sentence; later sentences count for less."),
        "feedback": (
            "Likeness to the best",
            "How much the passage is like the search engine's first five; counts for long questions.",
        ),
    }
)
#: What is before the name of a weight in forms, JSON and commands: weight_node.
PREFIX = "weight_"


@cache
def weight_options(profile: str) -> tuple[Option, ...]:
    """The weights of a profile. They add up to 1."""
    return tuple(
        Option(f"{PREFIX}{name}", *_WEIGHT_WORDS[name], "number", default, 0, 1, 0.0001)
        for name, default in WEIGHTS[profile].items()
    )


def describe(profile: str = BALANCED) -> tuple[Option, ...]:
    """All options of a profile, in the order in which people read them."""
    return (PROFILE, QUERY_MODEL, RESULTS, CANDIDATES, ALPHA, BETA, *weight_options(profile))


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
        profile = _choice(PROFILE, raw, faults)
        if profile == BALANCED and _has_weights_of_version_1(raw):
            profile = BALANCED_1
        checked = cls(
            profile=profile,
            query_model=_choice(QUERY_MODEL, raw, faults),
            results=int(_number(RESULTS, raw, faults)),
            candidates=int(_number(CANDIDATES, raw, faults)),
            alpha=_number(ALPHA, raw, faults),
            beta=_number(BETA, raw, faults),
            weights=_weights(profile, raw, faults),
        )
        names = {option.name for option in describe(profile)} | {"weights"}
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
        options = {names[name]: value for name, value in raw.items() if name in names}
        faults = {
            str(name): f"There is no such option. There are {', '.join(names)}."
            for name in raw
            if name not in names
        }
        try:
            parameters = cls.of(options | {"profile": profile})
        except ParametersError as error:
            theirs = {ours: name for name, ours in names.items()}
            faults |= {theirs.get(name, name): fault for name, fault in error.faults.items()}
        if faults:
            raise ParametersError(faults)
        return parameters


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
    options = weight_options(profile)
    raw_weights = {name: value for name, value in raw.items() if str(name).startswith(PREFIX)}
    several = raw.get("weights", {})
    if not isinstance(several, Mapping):
        faults["weights"] = "Give weights by name, as in {" + ", ".join(WEIGHTS[profile]) + "}."
        several = {}
    for name, value in several.items():
        if f"{PREFIX}{name}" in raw_weights:
            faults[f"{PREFIX}{name}"] = "This weight is given twice."
        elif name in WEIGHTS[profile]:
            raw_weights[f"{PREFIX}{name}"] = value
        else:
            faults["weights"] = (
                f"{_shorten_value(name)} is no weight of {profile}; there are {', '.join(WEIGHTS[profile])}."
            )
    if not raw_weights:
        return dict(WEIGHTS[profile])
    before = len(faults)
    weights = {}
    for option in options:
        if option.name not in raw_weights:
            faults[option.name] = f"This weight is missing: give all weights of {profile}, or none."
        weights[option.name.removeprefix(PREFIX)] = _number(option, raw_weights, faults)
    total = math.fsum(weights.values())
    if len(faults) == before and abs(total - 1) > TOLERANCE + 1e-12:
        faults[""] = f"The weights must add up to 1; these add up to {total:.6g}."
    return weights


def _choice(option: Option, raw: Mapping[str, object], faults: dict[str, str]) -> str:
    value = raw.get(option.name, option.default)
    if isinstance(value, str):
        name = value.strip()
        if option is QUERY_MODEL:
            try:
                return model_named(name)
            except ValueError:
                pass
        elif name in option.choices:
            return name
    faults[option.name] = f"{_shorten_value(value)} is none of {option.range}."
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
        faults[option.name] = f"{_shorten_value(value)} is no number. Enter one from {option.range}.{hint}"
    elif not option.least <= number <= option.most:
        faults[option.name] = f"{_shorten_value(value)} is not in the range from {option.range}."
    elif option.kind == "whole" and number != int(number):
        faults[option.name] = f"{_shorten_value(value)} is no whole number. Enter one from {option.range}."
    else:
        return number
    return usual


def _shorten_value(value: object) -> str:
    """A value as an error names it, without what would flood the page."""
    if isinstance(value, int) and abs(value) >= 10**_LONGEST_SHOWN:
        return "A number of so many digits"
    text = (value if isinstance(value, str) else repr(value)).strip()
    return f"“{text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + '…'}”"
