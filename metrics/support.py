"""How far the passages that an answer cites support it: TREC RAG 2024's support, ALCE, AIS.

One entry for each sentence of an answer, with labels that several workers agreed on by majority.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from metrics.item_means import mean_or_none

Protocol = Literal["ais", "alce", "trec"]
PROTOCOLS: tuple[Protocol, ...] = ("ais", "alce", "trec")
#: Labels of a citation in rising order, with their weights.
LABELS = ("none", "partial", "full")
WEIGHTS = (0.0, 0.5, 1.0)


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence with the label of each citation; `is_supported` by all of them together (ALCE)."""

    citations: Sequence[int]
    is_supported: bool | None = None


@dataclass(frozen=True, slots=True)
class AttributedSentence:
    """A sentence by AIS: whether it can be understood, and whether the source says it."""

    is_interpretable: bool
    is_attributable: bool


@dataclass(frozen=True, slots=True)
class AnswerSupport:
    """Precision over the citations of an answer and recall over its sentences."""

    precision: float
    recall: float
    n_sentences: int
    n_citations: int


@dataclass(frozen=True, slots=True)
class AnswerAttribution:
    """Shares of an answer's sentences: attributable of the interpretable ones (None without), and not so."""

    attributable: float | None
    not_interpretable: float
    n_sentences: int


def trec_support(sentences: Sequence[CitedSentence]) -> AnswerSupport:
    """Weighted precision and recall (Thakur et al. 2025): a sentence counts by its best citation, 0 without.

    An answer without citations has the precision 0.
    """
    weights = [[WEIGHTS[label] for label in sentence.citations] for sentence in sentences]
    n_citations = sum(map(len, weights))
    return AnswerSupport(
        sum(map(sum, weights)) / n_citations if n_citations else 0.0,
        sum(max(each, default=0.0) for each in weights) / len(weights),
        len(weights),
        n_citations,
    )


def alce_support(sentences: Sequence[CitedSentence]) -> AnswerSupport:
    """Gao et al. (2023): a sentence is recalled where its citations together support it.

    A citation is precise where its sentence is recalled and it supports that fully or partly.
    """
    recalled = [bool(sentence.citations) and bool(sentence.is_supported) for sentence in sentences]
    precise = [
        is_recalled and label > 0
        for sentence, is_recalled in zip(sentences, recalled, strict=True)
        for label in sentence.citations
    ]
    return AnswerSupport(
        sum(precise) / len(precise) if precise else 0.0,
        sum(recalled) / len(recalled),
        len(recalled),
        len(precise),
    )


def ais_attribution(sentences: Sequence[AttributedSentence]) -> AnswerAttribution:
    """Rashkin et al. (2023): what cannot be understood is not asked about its source, and counted apart."""
    understood = [sentence for sentence in sentences if sentence.is_interpretable]
    return AnswerAttribution(
        mean_or_none(float(sentence.is_attributable) for sentence in understood),
        1 - len(understood) / len(sentences),
        len(sentences),
    )
