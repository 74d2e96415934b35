"""What can be chosen of a search, in words: the same for form, endpoint, commands and documentation."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Literal

from retrieval.crown.conversation import DEFAULT as USUAL_MODEL
from retrieval.crown.conversation import MODELS

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
    USUAL_MODEL,
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
#: What stands before the name of a weight in forms, JSON and commands: weight_node.
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
