"""BLEU-1-KPQA and ROUGE-L-KPQA: n-gram metrics that weigh words by the question (Lee et al. 2021, 3.2).

    BLEU-1-KPQA = weight of the candidate's matched tokens / weight of all its tokens
    P = S_c / weight of the candidate,  R = S_r / weight of the reference
    ROUGE-L-KPQA = (1 + beta^2) R P / (R + beta^2 P)

A model gives the weights KPW_t = P(keyphrase | token t, question), of each answer to each question, not of
its words. Each pair of question and text is weighed once for all metrics of a chunk, and of several
references the best counts, as in the authors' code. A text without tokens, or whose weights are all 0, has 0.

Tokens are those of the profile's tokeniser, or with the tokeniser `pieces` the model's own word pieces, as
the authors' code has them. A token has the weight of the word that it is on.

BLEU-1, variants:

- `paper`: a token that is c times in the candidate, r times in the reference, matches min(c, r) times, each
  time with the mean weight of its c places.
- `literal`: equation 1 as printed, which sums over all pairs of equal tokens and can exceed 1.
- `repo`: `paper` times the brevity penalty, with the small numbers that the authors' code adds.

ROUGE-L, variants:

- `weighted`: S_c and S_r are the greatest weights that a common subsequence can have, by the candidate's and
  by the reference's weights; P and R are at most 1.
- `paper`: S_c = S_r is the candidate's weight of one longest common subsequence (equation 5). Of several
  equally long ones it is the one found from the end, taking a match, or else leaving out the candidate's
  token.
- `repo`: S_c = S_r is what the authors' recursion finds with the reference's weights. It takes every match,
  even where two tokens of low weight cross one of high weight, and P can exceed 1.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from distillery_learned.metrics import missing
from distillery_learned.metrics.word_weights import Weigher, on_places, on_tokens, weigher
from metrics.errors import MetricError
from metrics.model_folders import Choice, read_card
from metrics.profiles import KPQA, Profile
from metrics.texts import (
    Chunk,
    ChunkValues,
    Floats,
    Metric,
    Places,
    Tokens,
    best,
    measured,
    owners,
    signature,
)
from metrics.tokens import tokeniser_named
from metrics.word_spans import Span

BLEU_VARIANTS = ("paper", "literal", "repo")
ROUGE_VARIANTS = ("weighted", "paper", "repo")
_TINY, _SMALL = 1e-15, 1e-9
Words = Sequence[Hashable]
Ids = npt.NDArray[np.int64]


class Shares(NamedTuple):
    """Precision, recall and F of a pair."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """B candidates and references as numbers, padded with -1 (B, m) and -2 (B, n), and their weights.

    Weights are 0 where a text is padded. No number is negative otherwise.
    """

    candidates: Ids
    references: Ids
    candidate_weights: Floats
    reference_weights: Floats

    @classmethod
    def of(
        cls,
        candidates: Sequence[Words],
        references: Sequence[Words],
        candidate_weights: Sequence[Sequence[float]],
        reference_weights: Sequence[Sequence[float]],
    ) -> "Pairs":
        """From tokens, and a weight of each; MetricError where their numbers differ."""
        numbers: dict[Hashable, int] = {}
        ids = [
            [[numbers.setdefault(word, len(numbers)) for word in text] for text in texts]
            for texts in (candidates, references)
        ]
        for texts, weights in ((candidates, candidate_weights), (references, reference_weights)):
            for text, token_weights in zip(texts, weights, strict=True):
                if len(text) != len(token_weights):
                    raise MetricError(
                        f"A text of {len(text)} tokens has {len(token_weights)} weights; each token needs "
                        "one."
                    )
        return cls(
            _padded(ids[0], -1).astype(np.int64),
            _padded(ids[1], -2).astype(np.int64),
            _padded(candidate_weights, 0.0),
            _padded(reference_weights, 0.0),
        )

    def __len__(self) -> int:
        return len(self.candidates)


def bleu1_kpqa(
    candidate: Words,
    reference: Words,
    weights_c: Sequence[float],
    weights_r: Sequence[float],
    variant: str = "paper",
) -> float:
    """BLEU-1-KPQA of one pair; the reference's weights have no part in it (equation 1)."""
    return float(bleu1_of(Pairs.of([candidate], [reference], [weights_c], [weights_r]), variant)[0])


def rouge_l_kpqa(
    candidate: Words,
    reference: Words,
    weights_c: Sequence[float],
    weights_r: Sequence[float],
    variant: str = "weighted",
    *,
    beta: float = 1.0,
) -> Shares:
    """ROUGE-L-KPQA of one pair: P, R, and F with `beta`."""
    shares = rouge_l_of(Pairs.of([candidate], [reference], [weights_c], [weights_r]), variant, beta)
    return Shares(*(float(part[0]) for part in shares))


def bleu1_of(pairs: Pairs, variant: str = "paper") -> Floats:
    """BLEU-1-KPQA of many pairs (B)."""
    if variant not in BLEU_VARIANTS:
        raise MetricError(f"BLEU-1-KPQA has no variant {variant!r}; it has {', '.join(BLEU_VARIANTS)}.")
    matches = _times(pairs.candidates, pairs.references)
    total = pairs.candidate_weights.sum(1)
    if variant == "literal":
        return _share((matches * pairs.candidate_weights).sum(1), total)
    times = np.maximum(_times(pairs.candidates, pairs.candidates), 1)
    matched = (np.minimum(matches / times, 1) * pairs.candidate_weights).sum(1)
    if variant == "paper":
        return _share(matched, total)
    ratio = ((pairs.candidates >= 0).sum(1) + _TINY) / ((pairs.references >= 0).sum(1) + _SMALL)
    penalty = np.exp(1 - 1 / np.minimum(ratio, 1))
    scores: Floats = (matched + _TINY) / (total + _SMALL) * penalty
    return scores


def rouge_l_of(pairs: Pairs, variant: str = "weighted", beta: float = 1.0) -> tuple[Floats, Floats, Floats]:
    """P, R and F of ROUGE-L-KPQA of many pairs, each (B)."""
    if variant not in ROUGE_VARIANTS:
        raise MetricError(f"ROUGE-L-KPQA has no variant {variant!r}; it has {', '.join(ROUGE_VARIANTS)}.")
    if variant == "weighted":
        by_candidate = _subsequence(pairs, _heaviest, by_reference=False)
        by_reference = _subsequence(pairs, _heaviest, by_reference=True)
    elif variant == "paper":
        by_candidate = by_reference = _subsequence(pairs, _longest, by_reference=False)
    else:
        by_candidate = by_reference = _subsequence(pairs, _first_match, by_reference=True)
    precision = _share(by_candidate, pairs.candidate_weights.sum(1))
    recall = _share(by_reference, pairs.reference_weights.sum(1))
    f = _share((1 + beta**2) * precision * recall, recall + beta**2 * precision)
    return precision, recall, f


#: Of the cells without the candidate's token, without the reference's, and without both (length and weight,
#: each (2, B, m)), of which tokens match and their weights (B, m): the cell with them.
Rule = Callable[[Floats, Floats, Floats, npt.NDArray[np.bool_], Floats], Floats]


def _heaviest(up: Floats, left: Floats, both: Floats, match: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    return np.maximum(np.maximum(up, left), np.where(match, both + _step(weight), 0))


def _longest(up: Floats, left: Floats, both: Floats, match: npt.NDArray[np.bool_], weight: Floats) -> Floats:
    other = np.where(up[0] >= left[0], up, left)
    return np.where(match, both + _step(weight), other)


def _first_match(
    up: Floats, left: Floats, both: Floats, match: npt.NDArray[np.bool_], weight: Floats
) -> Floats:
    return np.where(match, both + _step(weight), np.maximum(up, left))


def _step(weight: Floats) -> Floats:
    return np.stack((np.ones_like(weight), weight))


def _subsequence(pairs: Pairs, rule: Rule, *, by_reference: bool) -> Floats:
    """Weight of each pair's common subsequence by a rule (B), from the table of prefixes by diagonals.

    Weights are those of the candidate's tokens, or those of the reference's. A diagonal holds the cells (i, d
    - i) of all pairs; they need the two diagonals before only.
    """
    (size, m), n = pairs.candidates.shape, pairs.references.shape[1]
    ends = (pairs.candidates >= 0).sum(1), (pairs.references >= 0).sum(1)
    lengths = np.zeros(size)
    before = last = np.zeros((2, size, m + 1))
    for d in range(2, m + n + 1):
        i = np.arange(max(1, d - n), min(m, d - 1) + 1)
        j = d - i
        match = pairs.candidates[:, i - 1] == pairs.references[:, j - 1]
        weight = pairs.reference_weights[:, j - 1] if by_reference else pairs.candidate_weights[:, i - 1]
        now = np.zeros_like(last)
        now[:, :, i] = rule(last[:, :, i - 1], last[:, :, i], before[:, :, i - 1], match, weight)
        done = np.flatnonzero(ends[0] + ends[1] == d)
        lengths[done] = now[1, done, ends[0][done]]
        before, last = last, now
    lengths[(ends[0] == 0) | (ends[1] == 0)] = 0
    return lengths


def _times(tokens: Ids, texts: Ids) -> Ids:
    """How often each token of a row occurs in the same row of `texts`; 0 for what is padded."""
    size = max(int(tokens.max(initial=0)), int(texts.max(initial=0))) + 1
    rows = np.arange(len(texts))[:, None] * size
    distinct, times = np.unique((rows + texts)[texts >= 0], return_counts=True)
    if not len(distinct):
        return np.zeros(tokens.shape, np.int64)
    keys = rows + tokens
    places = np.minimum(np.searchsorted(distinct, keys), len(distinct) - 1)
    counts: Ids = np.where((tokens >= 0) & (distinct[places] == keys), times[places], 0)
    return counts


def _padded(rows: Sequence[Sequence[float]], fill: float) -> Floats:
    padded = np.full((len(rows), max(map(len, rows), default=0)), fill, np.float64)
    for place, row in enumerate(rows):
        padded[place, : len(row)] = row
    return padded


def _share(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


#: Variants of the formulas by name.
VARIANTS = {
    "bleu-1-kpqa": "paper",
    "bleu-1-kpqa-repo": "repo",
    "rouge-l-kpqa": "weighted",
    "rouge-l-kpqa-paper": "paper",
    "rouge-l-kpqa-repo": "repo",
}
#: The tokeniser that is the model's own.
PIECES = "pieces"
NO_MODEL = "no KPQA model is chosen (--model FOLDER)"
#: Tokens of pairs that are worked out together, and how much longer one may be than another.
_CELLS, _STEP = 1 << 17, 8


@dataclass(frozen=True, slots=True)
class MetricSettings:
    """`variant` is one of `keyphrase`; `cache` and `device` are those of `weighing.weigher`."""

    rouge: bool
    variant: str
    beta: float
    tokeniser: str
    model: Choice | None
    cache: str
    device: str


def make(name: str, profile: Profile) -> Metric:
    """`bleu-1-kpqa` and its like, as the profile's `kpqa` settings have it.

    Settings are `model` (a `Choice`; without one the metric says that it lacks it), `cache`, `device`, `beta`
    and `tokeniser`.
    """
    options = profile.options(KPQA)
    how = MetricSettings(
        rouge=name.startswith("rouge"),
        variant=VARIANTS[name],
        beta=float(options.get("beta", 1.0)),
        tokeniser=profile.tokeniser_for(KPQA),
        model=options.get("model"),
        cache=str(options.get("cache", "")),
        device=str(options.get("device", "auto")),
    )
    tokens = PIECES if how.tokeniser == PIECES else tokeniser_named(how.tokeniser).label
    model_parts, lacks = said_of(how.model)
    parts = {"tok": tokens, "variant": how.variant}
    if how.rouge:
        parts["beta"] = f"{how.beta:g}"
    title = f"{'ROUGE-L' if how.rouge else 'BLEU-1'}-KPQA"
    return Metric(
        name=name,
        title=title if name == title.lower() else f"{title} ({how.variant})",
        signature=signature(name, 1, **parts, refs="best", **model_parts),
        measure=partial(_measure, how=how),
        high=2.0 if how.rouge and how.variant != "weighted" else 1.0,
        needs=frozenset({"questions"}),
        lacks=missing() or lacks,
    )


def said_of(model: Choice | None) -> tuple[dict[str, str], str]:
    """What a signature says of a model, and why it cannot be used, if so."""
    if model is None:
        return {"question": "yes", "model": "none"}, NO_MODEL
    model_name = f"{KPQA}-{model.digest[:12]}"
    try:
        settings = read_card(Path(model.folder))["settings"]
    except MetricError as error:
        return {"question": "unknown", "model": model_name}, str(error).removesuffix(".")
    return {"question": "yes" if settings.get("with_question", True) else "no", "model": model_name}, ""


def _measure(chunk: Chunk, _: Any, how: MetricSettings) -> ChunkValues:
    if not len(chunk.references):
        return measured(np.full(len(chunk), np.nan), chunk.starts)
    weighed = _weighed(chunk, how)
    of = owners(chunk.starts)
    first, second = weighed.candidates[of], weighed.references
    values = np.zeros(len(of))
    for batch in _batches(weighed.lengths[first], weighed.lengths[second]):
        pairs = weighed.pairs(first[batch], second[batch])
        if how.rouge:
            values[batch] = rouge_l_of(pairs, how.variant, how.beta)[2]
        else:
            values[batch] = bleu1_of(pairs, how.variant)
    return measured(best(values, chunk.starts)[0], chunk.starts)


@dataclass(frozen=True, slots=True, eq=False)
class _Texts:
    """Distinct pairs of question and text: their tokens as numbers one after another, with weights.

    `candidates` and `references` are places of pairs, as those of texts are in a chunk.
    """

    candidates: Places
    references: Places
    starts: Places
    ids: npt.NDArray[np.int64]
    weights: Floats

    @property
    def lengths(self) -> Places:
        return np.diff(self.starts)

    def pairs(self, first: Places, second: Places) -> Pairs:
        """Some texts beside others."""
        return Pairs(
            self._filled(self.ids, first, -1),
            self._filled(self.ids, second, -2),
            self._filled(self.weights, first, 0),
            self._filled(self.weights, second, 0),
        )

    def _filled(self, values: npt.NDArray[Any], which: Places, fill: int) -> npt.NDArray[Any]:
        lengths = self.lengths[which]
        places = np.arange(lengths.max(initial=0))
        inside = places < lengths[:, None]
        filled = np.full(inside.shape, fill, values.dtype)
        filled[inside] = values[(self.starts[which][:, None] + places)[inside]]
        return filled


def _weighed(chunk: Chunk, how: MetricSettings) -> _Texts:
    assert how.model is not None
    model, cache, device = how.model, how.cache, how.device
    by = chunk.once((KPQA, "weigher", model, device), lambda: weigher(model, cache, device))
    return chunk.once((KPQA, model, device, how.tokeniser), lambda: _of(chunk, by, how.tokeniser))


def _of(chunk: Chunk, by: Weigher, tokeniser: str) -> _Texts:
    questions = chunk.answers.questions
    assert questions is not None
    texts = chunk.texts
    own_questions = [questions[row] for row in owners(chunk.starts).tolist()]
    places: dict[tuple[str, int], int] = {}
    rows = [*zip(questions, chunk.candidates.tolist(), strict=True)]
    rows += zip(own_questions, chunk.references.tolist(), strict=True)
    numbers = np.array([places.setdefault(row, len(places)) for row in rows], np.intp)
    weighed = by.weigh([(question, texts[text]) for question, text in places])
    if tokeniser == PIECES:
        tokens, spans = _pieces(texts, by.loaded.tokenizer)
    else:
        tokens, spans = chunk.tokens(tokeniser_named(tokeniser)), None
    ids, weights = [], []
    for (_, text), each in zip(places, weighed, strict=True):
        own = tokens.ids[tokens.starts[text] : tokens.starts[text + 1]]
        ids.append(own)
        if spans is None:
            weights.append(on_tokens(texts[text], [tokens.vocabulary[place] for place in own], each))
        else:
            weights.append(on_places(spans[text], each))
    starts = np.concatenate(([0], np.cumsum([len(own) for own in ids]))).astype(np.intp)
    return _Texts(
        numbers[: len(chunk)],
        numbers[len(chunk) :],
        starts,
        np.concatenate([np.zeros(0, np.int64), *ids]).astype(np.int64),
        np.concatenate([np.zeros(0), *weights]),
    )


def _pieces(texts: Sequence[str], tokenizer: Any) -> tuple[Tokens, list[list[Span]]]:
    """Texts as the word pieces of a model, and where each piece is."""
    cut = tokenizer(
        list(texts), add_special_tokens=False, truncation=False, verbose=False, return_offsets_mapping=True
    )
    starts = np.concatenate(([0], np.cumsum([len(ids) for ids in cut["input_ids"]]))).astype(np.intp)
    ids = np.array([number for ids in cut["input_ids"] for number in ids], np.int32)
    return Tokens(ids, starts, ()), cut["offset_mapping"]


def _batches(first: Places, second: Places) -> Iterator[Places]:
    """Rows of about the same lengths together, as many as fill a bounded number of cells."""
    order = np.lexsort((second, first // _STEP))
    begin, widest = 0, 0
    for at, width in enumerate((first + second)[order].tolist()):
        widest = max(widest, width)
        if at > begin and (at - begin + 1) * widest > _CELLS:
            yield order[begin:at]
            begin, widest = at, width
    yield order[begin:]
