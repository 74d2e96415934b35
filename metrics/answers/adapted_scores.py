"""BLEU and ROUGE-L with a bonus for the right opinion and for the right entities.

Yang et al. (2018), Adaptations of ROUGE and BLEU to Better Evaluate Machine Reading Comprehension Task, 3.

    p_n = (hits_n + bonus_n) / (n-grams of the candidate + bonus_n), BLEU as ever with these p_n
    P_i = (LCS_i + bonus_i) / (|c| + bonus_i),  R_i = (LCS_i + bonus_i) / (|ref_i| + bonus_i)
    ROUGE-L = (1 + gamma^2) R P / (R + gamma^2 P) with P = max P_i and R = max R_i, each by itself

Yes-no questions: bonus_n is alpha times the n-grams clipped by the references that have the candidate's
opinion, bonus_i is alpha LCS_i for such references and 0 for others. Other questions: bonus_n is beta times
the n-grams clipped by the gold entities, and bonus_i is beta times the summed length of the distinct gold
entities that stand in the candidate, token by token.

A question is a yes-no question if a reference has an opinion label. Then entities do not count, and a
candidate without a label, or with one that no reference has, gets no bonus. Labels are compared without case.
A corpus BLEU sums the numerators, the denominators, c and r; the ROUGE-L of a corpus is the mean.

The paper's alpha is 2 and its beta 1 (section 4.3); DuReader's evaluator takes 1 and 1 on characters (profile
`dureader-2018`). With the marks of Examples 1-4 as tokens these printed figures come out: .67 and .78
(Example 1), .31 and .39 (2), P .92 and R .67 (3), P .52, R .61, .45 and .56 (4). These do not: adapted .78 in
Example 3 is .774 unless P and R are rounded first; vanilla .59 there is .632 with the full stops; the
differences "0.28" and "0.09" are those of rounded figures (.274 and .132); "0.53 vs 0.45" sets an adapted
score beside a vanilla one (.462); the bound "beta > 2.6" is 2/11, or 14/9 if the short answer keeps its full
stop.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.answers.bleu import Bleu, bleu, overlap, totals_of
from metrics.answers.overlap import common, f_measure, written
from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.texts import (
    Answers,
    Chunk,
    ChunkValues,
    Floats,
    Metric,
    best,
    closest,
    measured,
    owners,
    signature,
)
from metrics.tokens import Tokeniser, tokeniser_named

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Bonus:
    """Weights of the bonus: `alpha` for opinions, `beta` for entities; `gamma` weighs ROUGE-L's recall."""

    alpha: float = 2.0
    beta: float = 1.0
    gamma: float = 1.2


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Numerators and denominators of p_1..p_N with the bonus, each (n, N), and the bonus alone (n, N)."""

    hits: Floats
    totals: Floats
    bonus: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Subsequences:
    """P and R of each pair with the bonus, and what they are made of: LCS and bonus of each pair."""

    precision: Floats
    recall: Floats
    common: Floats
    bonus: Floats


def hits_of(chunk: Chunk, tokeniser: Tokeniser, order: int, how: Bonus) -> Hits:
    """Counts of adapted BLEU (3.1, equations 4 and 5)."""
    hits = _clipped(chunk, tokeniser, order)
    totals = totals_of(chunk.tokens(tokeniser).lengths[chunk.candidates], order)
    yes_no, agrees = opinions(chunk.answers)
    bonus = np.zeros_like(hits)
    if how.alpha and agrees.any():
        bonus += how.alpha * _clipped(Chunk(_agreeing(chunk.answers, agrees)), tokeniser, order)
    entities = _entities(chunk.answers, yes_no)
    if how.beta and entities:
        bonus += how.beta * _clipped(Chunk(Answers(chunk.answers.candidates, entities)), tokeniser, order)
    return Hits(hits + bonus, totals + bonus, bonus)


def subsequences_of(chunk: Chunk, tokeniser: Tokeniser, how: Bonus) -> Subsequences:
    """Counts of adapted ROUGE-L (3.2)."""
    tokens = chunk.tokens(tokeniser)
    lcs = chunk.once(("lcs", tokeniser.name, ""), lambda: common(chunk, tokens))
    of = owners(chunk.starts)
    yes_no, agrees = opinions(chunk.answers)
    bonus = how.alpha * lcs * agrees
    entities = _entities(chunk.answers, yes_no)
    if how.beta and entities:
        bonus = bonus + how.beta * _contained(chunk.answers.candidates, entities, tokeniser)[of]
    lengths = tokens.lengths.astype(np.float64)
    above = lcs + bonus
    return Subsequences(
        _share(above, lengths[chunk.candidates][of] + bonus),
        _share(above, lengths[chunk.references] + bonus),
        lcs,
        bonus,
    )


def opinions(answers: Answers) -> tuple[Flags, Flags]:
    """Which questions are yes-no (n), and which references have the opinion of their candidate (pairs)."""
    n = len(answers)
    sizes = [len(references) for references in answers.references]
    if answers.reference_labels is None:
        return np.zeros(n, np.bool_), np.zeros(sum(sizes), np.bool_)
    labels = [""] * n if answers.labels is None else [label.strip().casefold() for label in answers.labels]
    theirs = [[label.strip().casefold() for label in every] for every in answers.reference_labels]
    yes_no = np.fromiter((any(every) for every in theirs), np.bool_, n)
    agrees = np.fromiter(
        (
            bool(label) and other == label
            for label, every in zip(labels, theirs, strict=True)
            for other in every
        ),
        np.bool_,
        sum(sizes),
    )
    return yes_no, agrees


def _agreeing(answers: Answers, agrees: Flags) -> Answers:
    """The answers with those references only that have the candidate's opinion."""
    flags = iter(agrees.tolist())
    agreeing = [[text for text in references if next(flags)] for references in answers.references]
    return Answers(answers.candidates, agreeing)


def _entities(answers: Answers, yes_no: Flags) -> list[list[str]]:
    """Gold entities of each question, none for yes-no questions; an empty list where no question has any."""
    if answers.entities is None:
        return []
    of_answers = [
        [] if opinion else list(entities)
        for opinion, entities in zip(yes_no.tolist(), answers.entities, strict=True)
    ]
    return of_answers if any(of_answers) else []


def _clipped(chunk: Chunk, tokeniser: Tokeniser, order: int) -> Floats:
    shared = overlap(chunk, tokeniser)
    return np.stack([shared.clipped(n + 1) for n in range(order)], axis=1).astype(np.float64)


def _contained(candidates: Any, entities: list[list[str]], tokeniser: Tokeniser) -> Floats:
    """Summed length, in tokens, of the distinct entities that stand in each candidate."""
    chunk = Chunk(Answers(candidates, entities))
    texts = written(chunk.tokens(tokeniser))
    places = chunk.references.tolist()
    sums = np.zeros(len(chunk))
    for row, candidate in enumerate(chunk.candidates.tolist()):
        distinct = {_key(texts[place]) for place in places[chunk.starts[row] : chunk.starts[row + 1]]}
        candidate_key = _key(texts[candidate])
        sums[row] = sum(len(entity) for entity in distinct if _stands(entity, candidate_key))
    return sums


def _key(text: Any) -> str | tuple[int, ...]:
    return text if isinstance(text, str) else tuple(text)


def _stands(part: Any, text: Any) -> bool:
    if isinstance(text, str):
        return part in text
    return any(text[at : at + len(part)] == part for at in range(len(text) - len(part) + 1))


def _share(above: Floats, below: Floats) -> Floats:
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _checked(chunk: Chunk, name: str) -> None:
    answers = chunk.answers
    opinion = answers.labels is not None and answers.reference_labels is not None
    if not opinion and answers.entities is None:
        raise MetricError(
            f"{name} needs opinion labels of answers and references, or entities of questions, and there are "
            "neither; name their columns, or leave this metric out."
        )


def _measure_bleu(
    chunk: Chunk, _: Any, name: str, how: Bonus, plain: Bleu, tokeniser: Tokeniser
) -> ChunkValues:
    _checked(chunk, name)
    every = chunk.tokens(tokeniser).lengths
    lengths = every[chunk.candidates]
    counts = hits_of(chunk, tokeniser, plain.n, how)
    r = closest(lengths, every[chunk.references], chunk.starts)
    with_references = np.flatnonzero(np.diff(chunk.starts))
    rows = np.zeros((len(chunk), 2 * plain.n + 2))
    rows[with_references] = np.column_stack((counts.hits, counts.totals, lengths, r))[with_references]
    values = np.full(len(chunk), np.nan)
    values[with_references] = bleu(
        counts.hits[with_references],
        counts.totals[with_references],
        lengths[with_references],
        r[with_references],
        plain,
    )
    return measured(values, chunk.starts, rows)


def _corpus_bleu(sums: Floats, plain: Bleu) -> float | None:
    n = plain.n
    if not sums[2 * n + 1] and not sums[2 * n]:
        return None
    corpus_how = Bleu(n, plain.smoothing, plain.value, effective=False)
    return float(bleu(sums[None, :n], sums[None, n : 2 * n], sums[-2:-1], sums[-1:], corpus_how)[0])


def _measure_rouge(chunk: Chunk, _: Any, name: str, how: Bonus, tokeniser: Tokeniser) -> ChunkValues:
    _checked(chunk, name)
    shares = subsequences_of(chunk, tokeniser, how)
    precision, recall = (best(part, chunk.starts)[0] for part in (shares.precision, shares.recall))
    values = f_measure(precision, recall, how.gamma)
    values[np.isnan(precision)] = np.nan
    return measured(values, chunk.starts)


def make(name: str, profile: Profile) -> Metric:
    """`adapted-bleu-1` to `adapted-bleu-4` and `adapted-rouge-l`; settings `adapted` are fields of `Bonus`.

    The smoothing of BLEU is that of the profile's `bleu`. They need the labels of candidates and references,
    or the entities of questions.
    """
    how = Bonus(**profile.options("adapted"))
    tokeniser = tokeniser_named(profile.tokeniser_for("adapted"))
    parts: dict[str, object] = {"tok": tokeniser.label, "alpha": f"{how.alpha:g}", "beta": f"{how.beta:g}"}
    if name == "adapted-rouge-l":
        parts |= {"gamma": f"{how.gamma:g}", "refs": "separate"}
        measure = partial(_measure_rouge, name=name, how=how, tokeniser=tokeniser)
        return Metric(name, "Adapted ROUGE-L", signature(name, 1, **parts), measure)
    plain = Bleu(**{**profile.options("bleu"), "n": int(name.rpartition("-")[2]), "refs": "clip"})
    return Metric(
        name,
        f"Adapted BLEU-{plain.n}",
        signature(name, 1, **parts, **plain.as_json()),
        partial(_measure_bleu, name=name, how=how, plain=plain, tokeniser=tokeniser),
        corpus=partial(_corpus_bleu, plain=plain),
    )
