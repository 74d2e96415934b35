"""ROUGE, chrF, exact match, F1 of tokens, and length: what a candidate and a reference have in common.

    P = matches / units of the candidate,  R = matches / units of the reference
    F = (1 + beta^2) P R / (R + beta^2 P)

ROUGE-1, ROUGE-2 and ROUGE-L (Lin 2004): matches are clipped n-grams, or for ROUGE-L the length of a longest
common subsequence, with lengths in tokens.

chrF (Popovic 2015) and chrF++ (Popovic 2017), as sacrebleu has them: n-grams of characters without white
space, n = 1..6, and for chrF++ also of words, n = 1, 2; beta = 2. P and R are means over the orders that both
texts are long enough for. Of several references that with the highest F counts. In a corpus the counts of
these are summed first.

Exact match and F1 have the normalisation of SQuAD (Rajpurkar et al. 2016, 2018): texts are compared in lower
case, without ASCII punctuation and without the articles a, an, the. Where one text has nothing left, both
metrics say whether the other has nothing left either (SQuAD 2.0). Of several references the best counts.
"""

import re
import string
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
from rapidfuzz.distance import LCSseq
from rapidfuzz.process import cpdist

from metrics.answers.bleu import overlap, overlap_of, totals_of
from metrics.answers.stems import stemmed
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import (
    Chunk,
    ChunkValues,
    Floats,
    Ids,
    Metric,
    Places,
    Tokens,
    best,
    measured,
    owners,
    signature,
)
from metrics.tokens import CHAR, LOWER_CHAR, Runs, Tokeniser, composed, cut, tokeniser_named

# Lengths of longest common subsequences of candidates and references.

_SURROGATES, _AFTER_SURROGATES = 0xD800, 0xE000
#: How many tokens there are characters for.
MOST = 0x110000 - (_AFTER_SURROGATES - _SURROGATES)


def written(tokens: Tokens) -> Sequence[Sequence[int] | str]:
    """Each text with one character per token, so that string algorithms can be used on tokens.

    Surrogates are no characters and are left out. Where there are more distinct tokens than characters, a
    text is a list of its numbers, which is slower.
    """
    bounds = tokens.starts.tolist()
    slices = list(pairwise(bounds))
    if len(tokens.vocabulary) > MOST:
        numbers = tokens.ids.tolist()
        return [numbers[a:b] for a, b in slices]
    characters = _characters(tokens.ids)
    return [characters[a:b] for a, b in slices]


def _characters(ids: Ids) -> str:
    points = ids.astype("<u4")
    points[points >= _SURROGATES] += _AFTER_SURROGATES - _SURROGATES
    return points.tobytes().decode("utf-32-le")


def common(chunk: Chunk, tokens: Tokens) -> Floats:
    """Length of the longest common subsequence of each pair of a chunk, in tokens (P)."""
    texts = written(tokens)
    candidates = np.repeat(chunk.candidates, np.diff(chunk.starts)).tolist()
    if not candidates:
        return np.zeros(0)
    lengths = cpdist(
        [texts[place] for place in candidates],
        [texts[place] for place in chunk.references.tolist()],
        scorer=LCSseq.similarity,
        dtype=np.int32,
        workers=1,
    )
    return lengths.astype(np.float64)


REFERENCES = {"best": "reference with the highest F", "separate": "highest P and highest R, each by itself"}


@dataclass(frozen=True, slots=True)
class Rouge:
    """The parameters of ROUGE.

    `kind` is 1, 2 (n-grams) or 0 (longest common subsequence). `beta` weighs recall (1: as much as precision;
    coco-caption: 1.2). `stem` names a Snowball stemmer, or is empty. `refs`: `best` takes the reference
    with the highest F, `separate` the highest P and the highest R of all, then F (coco-caption).
    """

    kind: int
    beta: float = 1.0
    stem: str = ""
    refs: str = "best"

    def __post_init__(self) -> None:
        if self.refs not in REFERENCES:
            raise MetricError(f"ROUGE takes references as {' or '.join(REFERENCES)}, not as {self.refs!r}.")


def f_measure(precision: Floats, recall: Floats, beta: float) -> Floats:
    """(1 + beta^2) P R / (R + beta^2 P), 0 where both are."""
    above = (1 + beta**2) * precision * recall
    below = recall + beta**2 * precision
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _measure(chunk: Chunk, _: Any, how: Rouge, tokeniser: Tokeniser) -> ChunkValues:
    key = (tokeniser.name, how.stem)
    tokens = stemmed(chunk, tokeniser, how.stem) if how.stem else chunk.tokens(tokeniser)
    matches, lengths = _matches(chunk, tokens, how.kind, key)
    candidates, references = lengths[chunk.candidates], lengths[chunk.references]
    of = owners(chunk.starts)
    precision = matches / np.maximum(candidates, 1)[of]
    recall = matches / np.maximum(references, 1)
    if how.refs == "best":
        values, _pairs = best(f_measure(precision, recall, how.beta), chunk.starts)
    else:
        highest = [best(part, chunk.starts)[0] for part in (precision, recall)]
        values = f_measure(highest[0], highest[1], how.beta)
        values[np.isnan(highest[0])] = np.nan
    return measured(values, chunk.starts)


def _matches(chunk: Chunk, tokens: Tokens, kind: int, key: tuple[str, str]) -> tuple[Floats, Floats]:
    """Matches of each pair, and the number of n-grams (or tokens) of each distinct text."""
    lengths = tokens.lengths
    if kind == 0:
        return chunk.once(("lcs", *key), lambda: common(chunk, tokens)), lengths.astype(np.float64)
    name = ("overlap", *key) if key[1] else ("overlap", key[0])
    shared = chunk.once(name, lambda: overlap_of(chunk, tokens))
    return shared.by_pair(kind).astype(np.float64), np.maximum(lengths - (kind - 1), 0).astype(np.float64)


def make(name: str, profile: Profile) -> Metric:
    """`rouge-1`, `rouge-2`, `rouge-l`, and each with `-stem`, as the profile's `rouge` settings have it.

    Settings are `beta`, `refs`, `stem` (the stemmer for the names with `-stem`; English if none is named)
    and `tokeniser`.
    """
    options = dict(profile.options("rouge"))
    stem = str(options.pop("stem", "english"))
    plain = name.removesuffix("-stem")
    which = plain.rpartition("-")[2]
    how = Rouge(0 if which == "l" else int(which), stem=stem if name != plain else "", **options)
    tokeniser = tokeniser_named(profile.tokeniser_for("rouge"))
    parts = {"tok": tokeniser.label, "stem": how.stem or "no", "beta": f"{how.beta:g}", "refs": how.refs}
    return Metric(
        name=name,
        title=f"ROUGE-{which.upper()}" + (" (stemmed)" if how.stem else ""),
        signature=signature(name, 1, **parts),
        measure=partial(_measure, how=how, tokeniser=tokeniser),
    )


_MARKS = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")


@dataclass(frozen=True, slots=True)
class Chrf:
    """The parameters of chrF: n-gram orders of characters and words, weight of recall, and case."""

    characters: int = 6
    words: int = 0
    beta: float = 2.0
    lower: bool = False


def _split(text: str) -> list[str]:
    """Words, of which one mark is cut off, at the end or else at the start."""
    tokens = []
    for word in text.split():
        if len(word) == 1:
            tokens.append(word)
        elif word[-1] in _MARKS:
            tokens += [word[:-1], word[-1]]
        elif word[0] in _MARKS:
            tokens += [word[0], word[1:]]
        else:
            tokens.append(word)
    return tokens


WORDS = Tokeniser("chrf-words", lambda text: _split(composed(text)))
LOWER_WORDS = Tokeniser("chrf-words-lower", lambda text: _split(composed(text).lower()))


def _counts(chunk: Chunk, tokeniser: Tokeniser, orders: int) -> Floats:
    """(P, orders, 3): n-grams of the candidate, of the reference, and those that match, for each pair."""
    lengths = chunk.tokens(tokeniser).lengths
    shared = overlap(chunk, tokeniser)
    shared.reach(orders)
    own = totals_of(lengths[chunk.candidates], orders)[owners(chunk.starts)]
    theirs = totals_of(lengths[chunk.references], orders)
    counts = np.empty((len(chunk.references), orders, 3))
    counts[:, :, 0] = np.where(theirs > 0, own, 0)
    counts[:, :, 1] = theirs
    for n in range(orders):
        counts[:, n, 2] = shared.by_pair(n + 1)
    return counts


def chrf(counts: Floats, beta: float) -> Floats:
    """chrF of counts (m, orders, 3) of n-grams of candidate, reference and both -> (m)."""
    own, theirs, both = counts[:, :, 0], counts[:, :, 1], counts[:, :, 2]
    effective = (own > 0) & (theirs > 0)
    orders = np.maximum(effective.sum(1), 1)
    precision = np.divide(both, own, out=np.zeros_like(both), where=effective).sum(1) / orders
    recall = np.divide(both, theirs, out=np.zeros_like(both), where=effective).sum(1) / orders
    return f_measure(precision, recall, beta)


def _measure_chrf(chunk: Chunk, _: Any, how: Chrf) -> ChunkValues:
    parts = [_counts(chunk, LOWER_CHAR if how.lower else CHAR, how.characters)]
    if how.words:
        parts.append(_counts(chunk, LOWER_WORDS if how.lower else WORDS, how.words))
    counts = np.concatenate(parts, axis=1)
    values, pairs = best(chrf(counts, how.beta), chunk.starts)
    scored = np.flatnonzero(pairs >= 0)
    rows = np.zeros((len(chunk), 3 * counts.shape[1] + 1))
    rows[scored, :-1] = counts.reshape(len(counts), rows.shape[1] - 1)[pairs[scored]]
    rows[scored, -1] = 1
    return measured(values, chunk.starts, rows)


def _corpus_chrf(sums: Floats, how: Chrf) -> float | None:
    if not sums[-1]:
        return None
    return float(chrf(sums[:-1].reshape(1, how.characters + how.words, 3), how.beta)[0])


def make_chrf(name: str, profile: Profile) -> Metric:
    """`chrf` and `chrf++`, as the profile's `chrf` settings (fields of `Chrf`) have them."""
    how = Chrf(**{"words": 2 if name == "chrf++" else 0, **profile.options("chrf")})
    parts = {
        "nc": how.characters,
        "nw": how.words,
        "beta": f"{how.beta:g}",
        "case": "lower" if how.lower else "mixed",
        "space": "no",
        "eff": "yes",
        "refs": "best",
    }
    return Metric(
        name=name,
        title="chrF" + "+" * how.words,
        signature=signature(name, 2, **parts),
        measure=partial(_measure_chrf, how=how),
        corpus=partial(_corpus_chrf, how=how),
    )


# Length as a metric: what a metric that only looked at length would say. A floor for all others.
#
# length            = tokens of the candidate
# length-difference = -|tokens of the candidate - tokens of a reference|, the reference closest in length


def _length(chunk: Chunk, _: Any, tokeniser: Tokeniser) -> ChunkValues:
    return ChunkValues(chunk.tokens(tokeniser).lengths[chunk.candidates].astype(np.float64))


def _difference(chunk: Chunk, _: Any, tokeniser: Tokeniser) -> ChunkValues:
    lengths = chunk.tokens(tokeniser).lengths
    apart = np.abs(lengths[chunk.candidates][owners(chunk.starts)] - lengths[chunk.references])
    return measured(best(-apart.astype(np.float64), chunk.starts)[0], chunk.starts)


def make_length(name: str, profile: Profile) -> Metric:
    """`length`, which needs no reference."""
    tokeniser = tokeniser_named(profile.tokeniser_for("length"))
    full_signature = signature(name, 1, tok=tokeniser.label)
    return Metric(name, "Length", full_signature, partial(_length, tokeniser=tokeniser), high=float("inf"))


def make_difference(name: str, profile: Profile) -> Metric:
    """`length-difference`, at most 0."""
    tokeniser = tokeniser_named(profile.tokeniser_for("length"))
    full_signature = signature(name, 1, tok=tokeniser.label, refs="closest")
    measure = partial(_difference, tokeniser=tokeniser)
    return Metric(name, "Length difference", full_signature, measure, low=float("-inf"), high=0.0)


_PUNCTUATION = str.maketrans("", "", string.punctuation)
_MARK_BYTES = string.punctuation.encode()
_ARTICLES = frozenset(("a", "an", "the"))
_ARTICLE = re.compile(r"\b(a|an|the)\b")
_SPACES = Runs(lower=False, alone="none")
_CHARACTERS = Runs(lower=False, alone="all")


def normalised(text: str) -> str:
    """A text in lower case without ASCII punctuation and without articles."""
    return _ARTICLE.sub(" ", text.lower().translate(_PUNCTUATION))


def _without_marks(text: str) -> str:
    """A normalised text, but for articles that are words between spaces."""
    if text.isascii() and text.isprintable():
        return text.lower().encode().translate(None, _MARK_BYTES).decode()
    return normalised(text)


def _tokens(chunk: Chunk, rule: Runs) -> Tokens:
    """The normalised texts of a chunk as words, or as characters."""
    return chunk.once(("squad", rule), lambda: _cut(chunk.texts, rule))


def _cut(texts: Sequence[str], rule: Runs) -> Tokens:
    if rule.alone == "all":
        return Tokens(*cut(list(map(normalised, texts)), rule))
    ids, starts, vocabulary = cut(list(map(_without_marks, texts)), rule)
    article = np.fromiter((word in _ARTICLES for word in vocabulary), np.bool_, len(vocabulary))
    is_kept = ~article[ids]
    before = np.concatenate(([0], np.cumsum(is_kept)))
    return Tokens(ids[is_kept], before[starts], vocabulary)


def _numbered(tokens: Tokens) -> Places:
    """A number for each text, the same for texts of the same tokens."""
    bounds = tokens.starts.tolist()
    numbers: dict[bytes, int] = {}
    written = tokens.ids.tobytes()
    size = tokens.ids.itemsize
    slices = pairwise(bounds)
    numbers_of_texts = [numbers.setdefault(written[size * a : size * b], len(numbers)) for a, b in slices]
    return np.asarray(numbers_of_texts, np.intp)


def _exact(chunk: Chunk, _: Any, rule: Runs) -> ChunkValues:
    numbers = _numbered(_tokens(chunk, rule))
    same = numbers[chunk.candidates][owners(chunk.starts)] == numbers[chunk.references]
    return measured(best(same.astype(np.float64), chunk.starts)[0], chunk.starts)


def _f1(chunk: Chunk, _: Any, rule: Runs) -> ChunkValues:
    tokens = _tokens(chunk, rule)
    lengths = tokens.lengths
    own, theirs = lengths[chunk.candidates][owners(chunk.starts)], lengths[chunk.references]
    both = overlap_of(chunk, tokens).by_pair(1)
    scores = f_measure(both / np.maximum(own, 1), both / np.maximum(theirs, 1), 1.0)
    scores[(own == 0) & (theirs == 0)] = 1.0
    return measured(best(scores, chunk.starts)[0], chunk.starts)


def _rule(profile: Profile, family: str) -> tuple[Runs, str]:
    """Words between spaces, or characters under a profile of characters, and how a signature names them."""
    if profile.tokeniser_for(family) == "char":
        return _CHARACTERS, "squad-char.2"
    return _SPACES, "squad"


def make_exact(name: str, profile: Profile) -> Metric:
    """`exact`; under a profile of characters white space makes no difference."""
    rule, rule_name = _rule(profile, "exact")
    return Metric(
        name, "Exact match", signature(name, 2, tok=rule_name, refs="best"), partial(_exact, rule=rule)
    )


def make_f1(name: str, profile: Profile) -> Metric:
    """`f1` of tokens, under a profile of characters of characters."""
    rule, rule_name = _rule(profile, "f1")
    return Metric(
        name, "F1 of tokens", signature(name, 2, tok=rule_name, refs="best"), partial(_f1, rule=rule)
    )
