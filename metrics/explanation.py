"""Why a metric gave an answer its score: what matched, where that is, and the counts of the formula."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import Stemmer

from metrics.answers.bleu import Bleu, bleu
from metrics.answers.importance import importance
from metrics.answers.pa import pairwise
from metrics.catalogue import NOT_PAIRS, metric
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.profiles import profile as profile_named
from metrics.texts import Metric
from metrics.tokens import Span, placed, tokeniser_named

# What of an answer matched references under a family of metrics, and the counts that its formula takes.

Gram = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A run of a text; `order` is the length of the longest match that it is part of, 0 for none."""

    text: str
    order: int


@dataclass(frozen=True, slots=True)
class MarkedText:
    """A text with its matched parts as (begin, end, order); `unplaced` matched tokens were not found."""

    text: str
    marks: tuple[tuple[int, int, int], ...]
    unplaced: int = 0

    @property
    def pieces(self) -> list[Piece]:
        """The whole text in runs; the space between two parts of one match belongs to it."""
        pieces: list[Piece] = []
        at = 0
        for begin, end, order in self.marks:
            if begin > at:
                pieces.append(Piece(self.text[at:begin], 0))
            if end > max(at, begin):
                pieces.append(Piece(self.text[max(at, begin) : end], order))
            at = max(at, end)
        if at < len(self.text):
            pieces.append(Piece(self.text[at:], 0))
        return pieces


@dataclass(frozen=True, slots=True)
class Count:
    """A line of the formula: hits of a total, their ratio, and what matched, most frequent first."""

    what: str
    hits: float
    total: float
    ratio: float | None
    matched: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Match:
    """Two texts with their matched parts, the counts of a formula, its other figures, and what it does."""

    candidate: MarkedText
    reference: MarkedText
    counts: tuple[Count, ...] = ()
    figures: tuple[tuple[str, float], ...] = ()
    says: tuple[str, ...] = ()


def match_of(name: str, profile: Profile, candidate: str, references: Sequence[str], best: str) -> Match:
    """The match of a candidate with references under the metric `name`; `best` is the one to be shown."""
    if name.startswith("bleu-"):
        return _bleu(int(name.removeprefix("bleu-")), profile, candidate, references, best)
    if name.startswith("rouge-"):
        return _rouge(name, profile, candidate, references, best)
    split = tokeniser_named(profile.tokeniser).split
    ours, theirs = split(candidate), split(best)
    tokens = _common(ours, theirs, 1)
    return Match(
        _marked(candidate, split, _covered(ours, tokens, 1)),
        _marked(best, split, _covered(theirs, tokens, 1)),
        says=(
            f"Marked are words that the answer shares with the reference. {name.upper()} has steps of its "
            "own that are not counted out here.",
        ),
    )


def _bleu(order: int, profile: Profile, candidate: str, references: Sequence[str], best: str) -> Match:
    how = Bleu(**{**profile.options("bleu"), "n": order})
    split = tokeniser_named(profile.tokeniser_for("bleu")).split
    says: tuple[str, ...] = ()
    if how.refs == "max":
        references = [best]
        says = ("Each reference is compared alone, and the best counts.",)
    ours, every = split(candidate), [split(text) for text in references]
    best_tokens = split(best)
    longest, longest_shown = [0] * len(ours), [0] * len(best_tokens)
    counts = []
    for n in range(1, order + 1):
        clip: Counter[Gram] = Counter()
        for text in every:
            clip |= _grams(text, n)
        hits = _grams(ours, n) & clip
        total = max(len(ours) - n + 1, 0)
        counts.append(
            Count(
                f"{n}-grams", hits.total(), total, hits.total() / total if total else None, _list_grams(hits)
            )
        )
        longest = _longer(longest, _covered(ours, hits, n))
        both = _common(ours, best_tokens, n)
        longest_shown = _longer(longest_shown, _covered(best_tokens, both, n))
    c = len(ours)
    r = min((abs(len(text) - c), len(text)) for text in every)[1]
    hit, totals = (
        np.array([[getattr(count, part) for count in counts]], np.float64) for part in ("hits", "total")
    )
    score = float(bleu(hit, totals, np.array([c]), np.array([r]), how)[0])
    penalty = 1.0 if c >= r else float(np.exp(1 - r / c)) if c else 0.0
    return Match(
        _marked(candidate, split, longest),
        _marked(best, split, longest_shown),
        tuple(counts),
        (
            ("Tokens of the answer", c),
            ("Tokens of the reference closest in length", r),
            ("Brevity penalty", penalty),
            ("Brevity penalty times geometric mean of the ratios", score),
        ),
        (*says, *_smoothing(how, counts)),
    )


def _smoothing(how: Bleu, counts: Sequence[Count]) -> tuple[str, ...]:
    sentences = []
    if any(count.total == 0 for count in counts):
        sentences.append(
            "The answer is too short for the longer n-grams; they are left out of the mean."
            if how.effective and how.smoothing != "kpqa"
            else "The answer is too short for the longer n-grams, which counts as no match."
        )
    if any(count.total and not count.hits for count in counts):
        sentences.append(
            "Some n-grams have no match, and without smoothing that alone makes the score 0."
            if how.smoothing == "none"
            else f"A count of 0 is smoothed ({how.smoothing}): one missing order does not make the score 0."
        )
    return tuple(sentences)


def _rouge(name: str, profile: Profile, candidate: str, references: Sequence[str], best: str) -> Match:
    options = profile.options("rouge")
    beta = float(options.get("beta", 1.0))
    plain = tokeniser_named(profile.tokeniser_for("rouge")).split
    split = plain
    if name.endswith("-stem"):
        stemmer = Stemmer.Stemmer(str(options.get("stem", "english")))

        def split(text: str) -> list[str]:
            return list(stemmer.stemWords(plain(text)))

    ours, theirs = split(candidate), split(best)
    kind = name.removesuffix("-stem").rpartition("-")[2]
    matched: tuple[str, ...]
    if kind == "l":
        own_places, their_places = subsequence(ours, theirs)
        covered, covered_there = _flags(own_places, len(ours)), _flags(their_places, len(theirs))
        hits, what, matched = (
            len(own_places),
            "Longest common subsequence",
            (" ".join(ours[at] for at in own_places),),
        )
        totals = len(ours), len(theirs)
    else:
        n = int(kind)
        both = _common(ours, theirs, n)
        covered, covered_there = _covered(ours, both, n), _covered(theirs, both, n)
        hits, what, matched = both.total(), f"{n}-grams", _list_grams(both)
        totals = max(len(ours) - n + 1, 0), max(len(theirs) - n + 1, 0)
    p, r = (hits / total if total else 0.0 for total in totals)
    f = (1 + beta**2) * p * r / (r + beta**2 * p) if p and r else 0.0
    says = [f"Beta is {beta:g}: recall weighs {beta**2:g} times as much as precision." if beta != 1 else ""]
    if options.get("refs") == "separate" and len(references) > 1:
        says.append(
            "The score takes the highest precision and the highest recall, which may come from different "
            "references; shown is the reference with the highest value of its own."
        )
    return Match(
        _marked(candidate, plain, covered),
        _marked(best, plain, covered_there),
        (
            Count(f"{what}, of the answer (precision)", hits, totals[0], p, matched),
            Count(f"{what}, of the reference (recall)", hits, totals[1], r),
        ),
        (("F of precision and recall", f),),
        tuple(sentence for sentence in says if sentence),
    )


def subsequence(first: Sequence[str], second: Sequence[str]) -> tuple[list[int], list[int]]:
    """Places of a longest common subsequence in two token lists."""
    table = np.zeros((len(first) + 1, len(second) + 1), np.int32)
    second_tokens = np.asarray(second, dtype=object)
    for i in range(len(first) - 1, -1, -1):
        best = np.maximum(table[i + 1, :-1], np.where(second_tokens == first[i], table[i + 1, 1:] + 1, 0))
        table[i, :-1] = np.maximum.accumulate(best[::-1])[::-1]
    first_places, second_places = [], []
    i = j = 0
    while i < len(first) and j < len(second):
        if first[i] == second[j]:
            first_places.append(i)
            second_places.append(j)
            i, j = i + 1, j + 1
        elif table[i + 1, j] >= table[i, j + 1]:
            i += 1
        else:
            j += 1
    return first_places, second_places


def _grams(tokens: Sequence[str], n: int) -> Counter[Gram]:
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def _common(first: Sequence[str], second: Sequence[str], n: int) -> Counter[Gram]:
    return _grams(first, n) & _grams(second, n)


def _covered(tokens: Sequence[str], matched: Counter[Gram], n: int) -> list[int]:
    """n for each token that is part of a matched n-gram, counted from the front as often as it matched."""
    covered = [0] * len(tokens)
    left = Counter(matched)
    for at in range(len(tokens) - n + 1):
        gram = tuple(tokens[at : at + n])
        if left[gram] > 0:
            left[gram] -= 1
            covered[at : at + n] = [n] * n
    return covered


def _longer(before: Sequence[int], now: Sequence[int]) -> list[int]:
    return [max(pair) for pair in zip(before, now, strict=True)]


def _flags(places: Sequence[int], size: int) -> list[int]:
    flags = [0] * size
    for place in places:
        flags[place] = 1
    return flags


def _list_grams(matched: Counter[Gram]) -> tuple[str, ...]:
    return tuple(
        " ".join(gram) + (f" ({count} times)" if count > 1 else "") for gram, count in matched.most_common()
    )


def _marked(text: str, split: Callable[[str], list[str]], orders: Sequence[int]) -> MarkedText:
    """The text with neighbouring tokens of one order as one part."""
    spans = placed(text, split(text))
    marks: list[tuple[int, int, int]] = []
    unplaced = 0
    before = False
    for span, order in zip(spans, orders, strict=True):
        unplaced += bool(order) and span is None
        if order and span is not None:
            joins = before and bool(marks) and marks[-1][2] == order and _apart(text, marks[-1], span)
            begin = marks.pop()[0] if joins else span[0]
            marks.append((begin, span[1], order))
        before = bool(order) and span is not None
    return MarkedText(text, tuple(marks), unplaced)


def _apart(text: str, mark: tuple[int, int, int], span: Span) -> bool:
    """Only white space is between a part and the next token."""
    return not text[mark[1] : span[0]].strip()


PA = "pa-"


@dataclass(frozen=True, slots=True)
class ReferenceShare:
    """One reference: `place` among those given, the metric's value against it alone, its importance.

    `importance` is the sum of its likeness to all references, itself included, and `share` its share of all
    importance; None where the metric has no pairs. `part` is what it adds to a phrasing-aware score.
    """

    place: int
    text: str
    value: float | None
    importance: float | None
    share: float | None
    part: float | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """A score with its reasons; `references` are sorted by importance, the weightiest first.

    `candidate` and `reference` are texts with their matched parts; `reference` is the one that matched best,
    which is `best` of those given (None without references). `match` has the counts of the formula;
    a metric whose steps are not shown has none in it. `says` are sentences for people.
    """

    name: str
    title: str
    signature: str
    score: float | None
    high: float
    says: tuple[str, ...]
    references: tuple[ReferenceShare, ...]
    best: int | None = None
    candidate: MarkedText | None = None
    reference: MarkedText | None = None
    match: Match | None = None


def explain(
    name: str, profile: str | Profile, candidate: str, references: Sequence[str], question: str = ""
) -> Explanation:
    """Why `candidate` has its score; MetricError for a metric that cannot score one answer by itself.

    A metric that needs the whole data set (CIDEr weighs by rarity there), or labels or entities, is refused.
    """
    profile = profile_named(profile) if isinstance(profile, str) else profile
    scorer, base = _fitting(name, profile)
    score = float(scorer.score([candidate], [references], [question])[0])
    weighed = weights(name, profile, references, candidate)
    if not references:
        return _build_explanation(scorer, math.nan, ("There is no reference to compare with.",), ())
    phrasing_aware = scorer.name.startswith(PA)
    by_place = sorted(weighed, key=lambda one: one.place)
    worth = [(one.part if phrasing_aware else one.value) or 0.0 for one in by_place]
    best = int(np.argmax(worth))
    compared = [references[best]] if phrasing_aware else list(references)
    match = match_of(base.name, profile, candidate, compared, references[best])
    says = (*_sentences(scorer, by_place, best), *match.says)
    return Explanation(
        scorer.name,
        scorer.title,
        scorer.signature,
        None if math.isnan(score) else score,
        scorer.high,
        says,
        weighed,
        best,
        match.candidate,
        match.reference,
        match,
    )


def weights(
    name: str, profile: str | Profile, references: Sequence[str], candidate: str | None = None
) -> tuple[ReferenceShare, ...]:
    """The references by their importance under a metric's likeness, and how a candidate does against each."""
    scorer, base = _fitting(name, profile)
    similarity = pairwise(base)
    every = importance(references, similarity) if references else np.zeros(0)
    total = float(every.sum())
    k = len(references)
    shares = every / total if total else np.full(k, 1 / k if k else 0.0)
    values = similarity([candidate] * k, references).tolist() if candidate is not None else [None] * k
    reference_shares = [
        ReferenceShare(
            place,
            text,
            value,
            float(weight),
            float(share),
            value * float(share) if value is not None and scorer.name.startswith(PA) else None,
        )
        for place, (text, value, weight, share) in enumerate(
            zip(references, values, every, shares, strict=True)
        )
    ]
    return tuple(sorted(reference_shares, key=lambda one: (-(one.importance or 0), one.place)))


def explainable(names: Sequence[str], profile: str | Profile) -> list[str]:
    """Those of the metrics that one answer can be explained under."""
    names_explained = []
    for name in names:
        try:
            _fitting(name, profile)
        except MetricError:
            continue
        names_explained.append(name)
    return names_explained


def _fitting(name: str, profile: str | Profile) -> tuple[Metric, Metric]:
    """The metric and, for a phrasing-aware one, the metric of pairs below it."""
    scorer = metric(name, profile)
    base = metric(scorer.name.removeprefix(PA), profile) if scorer.name.startswith(PA) else scorer
    if base.survey is not None:
        raise MetricError(
            f"{base.title} weighs words by how rare they are in the references of a whole data set, so an "
            "answer alone has no score. Evaluate a release instead."
        )
    if base.needs or base.name.startswith(NOT_PAIRS):
        raise MetricError(
            f"{base.title} is not a comparison of two texts alone, so it is not explained here."
        )
    return scorer, base


def _build_explanation(
    scorer: Metric, score: float, says: tuple[str, ...], references: tuple[ReferenceShare, ...]
) -> Explanation:
    value = None if math.isnan(score) else score
    return Explanation(scorer.name, scorer.title, scorer.signature, value, scorer.high, says, references)


def _sentences(scorer: Metric, by_place: Sequence[ReferenceShare], best: int) -> tuple[str, ...]:
    if not scorer.name.startswith(PA):
        return ()
    one = by_place[best]
    if not any(against.importance for against in by_place):
        return ("No reference is like any other, or like itself, so all of them count alike.",)
    return (
        f"The score is the mean of the answer's likeness to each of {len(by_place)} references, weighted by "
        "importance.",
        f"Reference {one.place + 1} adds most to it: likeness {one.value:.3f} times {one.share:.1%} of all "
        f"importance is {one.part:.3f}. Below, the answer is compared with that reference alone.",
    )
