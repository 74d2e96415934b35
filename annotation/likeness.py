"""Flags about text that is like other text: copied from a passage, or like another answer of the query.

Texts are compared by their words with their offsets, in any script; no dictionary and no segmentation is
asked for. A token is a run of letters, marks and digits; in scripts that are written without spaces (Han,
kana, Thai, Lao, Khmer, Myanmar) it is a single character with its marks. Two tokens are the same when their
folded texts are: compatibility forms, case, vowel marks and the Arabic tatweel make no difference.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, pairwise

from rapidfuzz import fuzz

from annotation.flags import Flag, FlaggedAnswer, Limits

_TATWEEL = "\u0640"
_SPACELESS = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})
#: Inside a word these join what is around them: don't, l'eau.
_JOINERS = frozenset({"'", "\u2019"})


@dataclass(frozen=True, slots=True)
class Token:
    """`text[start:end]` of the original, and its folded form."""

    start: int
    end: int
    folded: str
    spaceless: bool


@lru_cache(maxsize=20_000)
def script_of(character: str) -> str:
    """The first word of a letter's Unicode name, such as LATIN, ARABIC or CJK; empty for others."""
    if not unicodedata.category(character).startswith("L"):
        return ""
    return unicodedata.name(character, "").partition(" ")[0].partition("-")[0]


@lru_cache(maxsize=20_000)
def _class_of(character: str) -> str:
    """`w` of a word, `c` a word by itself, `m` a mark, `f` invisible, empty between words."""
    category = unicodedata.category(character)
    if category.startswith("L"):
        return "c" if script_of(character) in _SPACELESS else "w"
    if category.startswith("M"):
        return "m"
    if category == "Cf":
        return "f"
    return "w" if category.startswith("N") else ""


def fold(text: str) -> str:
    """Text for comparing: compatibility forms, case, marks and tatweel are taken away."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    characters = (
        each for each in decomposed if unicodedata.category(each) not in ("Mn", "Cf") and each != _TATWEEL
    )
    return unicodedata.normalize("NFC", "".join(characters)).casefold()


@lru_cache(maxsize=64)
def tokens(text: str) -> tuple[Token, ...]:
    """The tokens of a text in their order, in time linear in its length; kept for the next check of it."""
    token_list: list[Token] = []
    start, alone = -1, False
    for at, character in enumerate(text):
        kind = _class_of(character)
        if not kind and start >= 0 and not alone and _joins(text, at):
            continue
        goes_on = start >= 0 and (kind in ("m", "f") or (kind == "w" and not alone))
        if goes_on:
            continue
        if start >= 0:
            _add(token_list, text, start, at, alone)
            start = -1
        if kind in ("w", "c"):
            start, alone = at, kind == "c"
    if start >= 0:
        _add(token_list, text, start, len(text), alone)
    return tuple(token_list)


def _joins(text: str, at: int) -> bool:
    return text[at] in _JOINERS and at + 1 < len(text) and _class_of(text[at + 1]) == "w"


def _add(token_list: list[Token], text: str, start: int, end: int, alone: bool) -> None:
    folded = fold(text[start:end].replace("\u2019", "'"))
    if folded:
        token_list.append(Token(start, end, folded, alone))


def folded(text: str) -> tuple[str, ...]:
    """The folded tokens alone."""
    return tuple(token.folded for token in tokens(text))


@lru_cache(maxsize=256)
def words_of(texts: tuple[str, ...]) -> frozenset[str]:
    """All folded tokens of some texts, such as a query with its passages; kept, for many answers ask."""
    return frozenset(token.folded for text in texts for token in tokens(text))


def mostly_spaceless(text_tokens: Sequence[Token]) -> bool:
    """More than half of the tokens are single characters of a script without spaces."""
    return sum(token.spaceless for token in text_tokens) * 2 > len(text_tokens)


def shingles(text: str) -> frozenset[str]:
    """What overlap is counted in: words, and pairs of neighbours in scripts without spaces."""
    text_tokens = tokens(text)
    if len(text_tokens) == 1 or not mostly_spaceless(text_tokens):
        return frozenset(token.folded for token in text_tokens)
    return frozenset(a.folded + b.folded for a, b in pairwise(text_tokens))


# Text that is in a passage word for word.
#
# A *run* is a longest sequence of tokens of the answer that is in one passage in the same order without a
# gap. Runs are found with a suffix automaton of the passages (Blumer et al. 1985): building it and reading
# the answer are linear in the number of tokens.
#
# - `copy-run`: the longest run has at least `copy_run` tokens.
# - `copy-share`: the tokens inside runs of `SHORTEST` or more make at least `copy_share` of an answer that
#   has `LEAST` tokens or more. A short answer ("Rome") is a quotation by nature and never flagged.
#
# In scripts without spaces a token is a character, and `copy_run`, `SHORTEST` and `LEAST` count double.

SHORTEST = 5
LEAST = 12


@dataclass(frozen=True, slots=True)
class Run:
    """Tokens `[first, last]` of the answer, which stand in `passage` from its token `at` on."""

    first: int
    last: int
    passage: int
    at: int

    @property
    def length(self) -> int:
        """In tokens."""
        return self.last - self.first + 1


class Passages:
    """The passages of a query, ready to be compared with any number of answers."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.tokens = [tokens(text) for text in texts]
        self._next: list[dict[str, int]] = [{}]
        self._link, self._length, self._where = [-1], [0], [(0, -1)]
        for number, passage_tokens in enumerate(self.tokens):
            last = 0
            for at, token in enumerate(passage_tokens):
                last = self._extend(last, token.folded, (number, at))

    def _extend(self, last: int, word: str, where: tuple[int, int]) -> int:
        """The state of what was read so far with one more word (generalized automaton: states are shared)."""
        if word in self._next[last]:
            following = self._next[last][word]
            return (
                following
                if self._length[following] == self._length[last] + 1
                else self._split(last, word, following)
            )
        state = self._new(self._length[last] + 1, {}, where)
        at = last
        while at >= 0 and word not in self._next[at]:
            self._next[at][word] = state
            at = self._link[at]
        if at < 0:
            self._link[state] = 0
            return state
        following = self._next[at][word]
        if self._length[following] != self._length[at] + 1:
            following = self._split(at, word, following)
        self._link[state] = following
        return state

    def _split(self, at: int, word: str, state: int) -> int:
        copy = self._new(self._length[at] + 1, dict(self._next[state]), self._where[state])
        self._link[copy] = self._link[state]
        self._link[state] = copy
        while at >= 0 and self._next[at].get(word) == state:
            self._next[at][word] = copy
            at = self._link[at]
        return copy

    def _new(self, length: int, following: dict[str, int], where: tuple[int, int]) -> int:
        self._next.append(following)
        self._length.append(length)
        self._where.append(where)
        self._link.append(0)
        return len(self._next) - 1

    def runs(self, answer: Sequence[Token], *, shortest: int = 1) -> list[Run]:
        """Maximal runs of at least `shortest` tokens, by where they begin; none lies inside another."""
        run_list: list[Run] = []
        state = length = 0
        for at, token in enumerate(answer):
            while state and token.folded not in self._next[state]:
                state = self._link[state]
                length = self._length[state]
            if token.folded in self._next[state]:
                state, length = self._next[state][token.folded], length + 1
            if length >= shortest:
                passage, ends_at = self._where[state]
                run = Run(at - length + 1, at, passage, ends_at - length + 1)
                if run_list and run_list[-1].first == run.first:
                    run_list.pop()
                run_list.append(run)
        return run_list


def copied(answer: str, passages: Passages, limits: Limits) -> list[Flag]:
    """The flags `copy-run` and `copy-share` of an answer."""
    answer_tokens = tokens(answer)
    double = 2 if mostly_spaceless(answer_tokens) else 1
    if not answer_tokens:
        return []
    runs = passages.runs(answer_tokens, shortest=min(SHORTEST, limits.copy_run) * double)
    flags = []
    longest = max(runs, key=lambda run: run.length, default=None)
    if longest is not None and longest.length >= limits.copy_run * double:
        evidence = {"spans": [_span(longest, answer_tokens, passages)], "tokens": longest.length}
        flags.append(Flag("copy-run", float(longest.length), float(limits.copy_run * double), evidence))
    covered = {at for run in runs if run.length >= SHORTEST * double for at in range(run.first, run.last + 1)}
    share = len(covered) / len(answer_tokens)
    if len(answer_tokens) >= LEAST * double and covered and share >= limits.copy_share:
        spans = [_span(run, answer_tokens, passages) for run in runs if run.length >= SHORTEST * double]
        evidence = {"spans": spans, "tokens": len(covered), "of": len(answer_tokens)}
        flags.append(Flag("copy-share", round(share, 4), limits.copy_share, evidence))
    return flags


def longest_run(answer: str, passages: Passages) -> int:
    """Length in tokens of the longest run; 0 where no token is shared."""
    return max((run.length for run in passages.runs(tokens(answer))), default=0)


def _span(run: Run, answer: Sequence[Token], passages: Passages) -> dict[str, int]:
    passage = passages.tokens[run.passage]
    return {
        "start": answer[run.first].start,
        "end": answer[run.last].end,
        "passage": run.passage,
        "passage_start": passage[run.at].start,
        "passage_end": passage[run.at + run.length - 1].end,
    }


# Answers of one query that are like each other.
#
# - `identical`: another author's answer has the same folded tokens in the same order, and the answer has at
#   least `same_from` characters: that two people both write "Rome" is no offence.
# - `near-identical`: the similarity with another author's answer is at least `near_ratio`, both have at least
#   `same_from` characters, and they are not identical.
#
# In scripts without spaces a text says more in fewer characters: there half of `same_from` is enough.
#
# The similarity of two answers is symmetric and between 0 and 1: rapidfuzz's token sort ratio (one minus the
# normalized insertion-deletion distance of the sorted words, as text), and where either answer is mostly
# written without spaces, the same of the tokens in their own order.

#: Evidence names so many other answers at most.
_MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class _Form:
    key: int
    author: int
    length: int
    folded_text: str
    sorted_words: str
    spaceless: bool


def _form(answer: FlaggedAnswer) -> _Form:
    answer_tokens = tokens(answer.text)
    folded = [token.folded for token in answer_tokens]
    return _Form(
        key=answer.key,
        author=answer.author,
        length=len(answer.text.strip()),
        folded_text=" ".join(folded),
        sorted_words=" ".join(sorted(folded)),
        spaceless=mostly_spaceless(answer_tokens),
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two answers of different authors, and how alike they are: 1 is identical."""

    a: int
    b: int
    ratio: float
    identical: bool


def similarity(a: str, b: str) -> float:
    """How alike two texts are, from 0 to 1; the order of the two makes no difference."""
    return _ratio(_form(FlaggedAnswer(0, 0, a)), _form(FlaggedAnswer(1, 1, b)))


def _ratio(a: _Form, b: _Form) -> float:
    if not a.folded_text or not b.folded_text:
        return 0.0
    if a.folded_text == b.folded_text:
        return 1.0
    if a.spaceless or b.spaceless:
        return fuzz.ratio(a.folded_text.replace(" ", ""), b.folded_text.replace(" ", "")) / 100
    return fuzz.ratio(a.sorted_words, b.sorted_words) / 100


def pairs(answers: Sequence[FlaggedAnswer], *, least: float = 0.0) -> list[Pair]:
    """Pairs of different authors that are at least so alike, the likest first, then by their keys."""
    return sorted(_pairs(answers, least), key=lambda pair: (-pair.ratio, pair.a, pair.b))


def _pairs(answers: Sequence[FlaggedAnswer], least: float) -> Iterator[Pair]:
    forms = sorted((_form(answer) for answer in answers), key=lambda form: form.key)
    for a, b in combinations(forms, 2):
        if a.author == b.author:
            continue
        ratio = _ratio(a, b)
        if ratio >= least:
            yield Pair(a.key, b.key, round(ratio, 4), bool(a.folded_text) and a.folded_text == b.folded_text)


def alike(answers: Sequence[FlaggedAnswer], limits: Limits) -> dict[int, list[Flag]]:
    """The flags `identical` and `near-identical` by the answers' keys."""
    long_enough = {
        form.key
        for form in map(_form, answers)
        if form.length >= limits.same_from / (2 if form.spaceless else 1)
    }
    same: dict[int, list[tuple[float, int]]] = {}
    near: dict[int, list[tuple[float, int]]] = {}
    candidates = [answer for answer in answers if answer.key in long_enough]
    for pair in pairs(candidates, least=limits.near_ratio):
        table = same if pair.identical else near
        table.setdefault(pair.a, []).append((pair.ratio, pair.b))
        table.setdefault(pair.b, []).append((pair.ratio, pair.a))
    flags: dict[int, list[Flag]] = {}
    for name, table in (("identical", same), ("near-identical", near)):
        for key, others in table.items():
            others.sort(key=lambda other: (-other[0], other[1]))
            evidence = {
                "answers": [
                    {"answer": other, "ratio": round(ratio, 3)} for ratio, other in others[:_MOST_NAMED]
                ],
                "count": len(others),
            }
            limit = None if name == "identical" else limits.near_ratio
            flags.setdefault(key, []).append(Flag(name, round(others[0][0], 4), limit, evidence))
    return flags
