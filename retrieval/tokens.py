"""Content words of a text: what the network counts and CROWN scores (paper 001, section 2.1: no stop words).

A word is a run of letters in compatibility form (NFKC), in lower case, without marks that writers may leave
out (Arabic and Hebrew points). Function words, and words longer than anybody's, are no content words. Runs of
digits are words only when asked for. Languages that put no spaces between words are cut into pairs of
neighbouring characters, as the index cuts them; see `retrieval.engine.analysis`. What is known of a language
goes by its BCP 47 tag.

The same function serves network, queries and passages: a word that is cut in two ways never meets itself.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Set
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tantivy import TextAnalyzer


#: Languages with a Snowball stemmer, by code: Snowball's name of each.
SNOWBALL = {
    "ar": "arabic",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "fi": "finnish",
    "fr": "french",
    "hu": "hungarian",
    "it": "italian",
    "nb": "norwegian",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
}
#: Languages that put no spaces between words, or that we cut as if they did not.
UNSPACED = frozenset({"bo", "dz", "ja", "km", "ko", "lo", "my", "th", "yue", "zh"})
#: Inside of a character class: the letters of those languages.
UNSPACED_CHARACTERS = (
    r"\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3130-\u318f"
    r"\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)


@cache
@lru_cache(maxsize=1_000)
def primary(language: str) -> str:
    """The language of a BCP 47 tag: zh of zh-Hans-CN."""
    return re.split(r"[-_]", language.strip().lower(), maxsplit=1)[0]


# Function words, by language: one list for index, network, queries and passages.
#
# Part of the rules for words: whoever stores words stores `tokens.fingerprint` with them. The index holds
# function words too, so that a query of nothing else still finds something. For languages without a list
# here, tantivy has Snowball's; it cannot be listed, so it is asked word by word.

_ENGLISH = """
a about above after again against all also am an and any are aren as at be because been before being below
between both but by can cannot could couldn d did didn do does doesn doing don down during each either else
ever few for from further had hadn has hasn have haven having he her here hers herself him himself his how
however i if in into is isn it its itself just let ll m me mean means might mightn more most must mustn my
myself no nor not of off on once one only or other our ours ourselves out over own per please re s same shall
shan she should shouldn so some such t than that the their theirs them themselves then there these they this
those through thus to too under until up upon us ve very was wasn we were weren what when where whether which
while who whom whose why will with within without would wouldn yet you your yours yourself yourselves
"""
_ARABIC = """
من إلى الى عن على في مع هو هي هم هن نحن أنا انا أنت انت هذا هذه ذلك تلك هؤلاء التي الذي الذين ما
ماذا متى أين اين كيف لماذا لم لن لا هل كم أي اي أو او ثم قد كان كانت يكون تكون إن ان أن كل بعض بين
بعد قبل عند منذ حتى إذا اذا لكن غير كما مثل فيه فيها منه منها له لها به بها و ف ب ل ك
"""

LISTS: dict[str, tuple[str, ...]] = {
    language: tuple(words.split())
    for language, words in {
        "arabic": _ARABIC,
        "english": _ENGLISH,
    }.items()
}
#: Languages that Snowball stems and has no function words of.
UNLISTED = frozenset({"greek", "romanian", "tamil", "turkish"})
#: Words whose answers are kept, by language; a vocabulary of its own is more than the answers save.
_MOST_KEPT = 500_000


class FunctionWords:
    """The function words of a language, as far as they are known."""

    def __init__(self, code: str) -> None:
        self._list = SNOWBALL.get(code, "")
        self._words = set(LISTS.get(self._list, ()))
        self._others: set[str] = set()
        self._is_asked = bool(self._list) and self._list not in LISTS and self._list not in UNLISTED

    @property
    def name(self) -> str:
        """Which list it is: it changes whenever one of ours does."""
        if self._list in LISTS:
            return f"{self._list}-{hashlib.sha256(' '.join(LISTS[self._list]).encode()).hexdigest()[:8]}"
        return f"snowball-{self._list}" if self._is_asked else "none"

    def among(self, words: Iterable[str]) -> Set[str]:
        """All function words among lower-case words, and maybe others that are known."""
        if self._is_asked:
            if len(self._others) > _MOST_KEPT:
                self._others = set()
            for word in set(words).difference(self._others, self._words):
                (self._words if _is_in_snowball(word, self._list) else self._others).add(word)
        return self._words


@cache
def function_words(code: str) -> FunctionWords:
    """The function words of a language, by its code as `languages.primary` gives it."""
    return FunctionWords(code)


def _is_in_snowball(word: str, name: str) -> bool:
    return not _snowball(name).analyze(word)


@cache
def _snowball(name: str) -> "TextAnalyzer":
    from tantivy import Filter, TextAnalyzerBuilder, Tokenizer  # only where it is asked

    return TextAnalyzerBuilder(Tokenizer.raw()).filter(Filter.stopword(name)).build()


# What is searched of a passage: its text, and before it its title as a sentence of its own.
#
# Titles say what a passage is about and seldom say it again in it. Measured on judged sets whose passages
# have titles, leaving them out costs CROWN more than it gains; see benchmarks/RESULTS.md.


def with_title(title: str, text: str) -> str:
    """Both with an empty line between, which ends a sentence; the text alone where there is no title."""
    return f"{title}\n\n{text}" if title else text


#: Version of the rules. Change it with any change that gives other words: networks are then built again.
RULES = 1
#: Words of more characters than this are left out: sequences, keys, addresses.
LONGEST_WORD = 40

_LETTERS = re.compile(r"[a-z]+")
_LETTERS_AND_DIGITS = re.compile(r"[a-z]+|[0-9]+")
#: Points and stretching that Arabic and Hebrew writers may leave out.
_OPTIONAL = re.compile(r"[\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06ed]+")
#: Where combining marks are, and most of what is not Latin.
_BEYOND_LATIN = re.compile("[\u0300-\u1fff\u20d0-\U0010ffff]")
_LATIN_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN_LETTERS_AND_DIGITS = re.compile(r"[^\W\d_]+|\d+")
#: Letters whose lower case is longer, or depends on their neighbours.
_ODD_CASE = re.compile("[\u0130\u03a3]")
_FIRST_UNSPACED = re.compile(rf"[{UNSPACED_CHARACTERS}]")


class WordPosition(NamedTuple):
    """A content word and where it is in the text it was taken from: text[start:end]."""

    word: str
    start: int
    end: int


def fingerprint(language: str) -> str:
    """Name of the rules for a language: another name, other words."""
    code = primary(language)
    return f"words-{RULES}:{'pairs' if code in UNSPACED else 'words'}:{function_words(code).name}"


def tokens(text: str, language: str, *, numbers: bool = False) -> list[str]:
    """Content words of a text in their order; with `numbers` its runs of digits too."""
    code, plain = primary(language), _composed(text)
    simple = _simple(plain, numbers=numbers)
    if simple is not None:
        return _content(simple.findall(plain.lower()), code)
    if code in UNSPACED or _ODD_CASE.search(plain) or _OPTIONAL.search(plain):
        return [word for word, _, _ in _locate_words(plain, code, numbers=numbers)]
    content_words = _content(_pattern(numbers).findall(plain.lower()), code)
    return [_digits(word) for word in content_words] if numbers else content_words


def located(text: str, language: str, *, numbers: bool = False) -> list[WordPosition]:
    """The same words as `tokens`, each with its place in the text as it was given."""
    code, plain = primary(language), _composed(text)
    simple = _simple(plain, numbers=numbers)
    if simple is not None:
        lower = plain.lower()
        content = set(_content(simple.findall(lower), code))
        positions = [
            WordPosition(match[0], match.start(), match.end())
            for match in simple.finditer(lower)
            if match[0] in content
        ]
    else:
        positions = [WordPosition(*word) for word in _locate_words(plain, code, numbers=numbers)]
    if plain == text:
        return positions
    starts, ends = _places(text, plain)
    return [WordPosition(word, starts[start], ends[end - 1]) for word, start, end in positions]


def _simple(plain: str, *, numbers: bool) -> re.Pattern[str] | None:
    """What cuts a text of Latin letters without marks of their own, for most texts; None for others."""
    if plain.isascii():
        return _LETTERS_AND_DIGITS if numbers else _LETTERS
    if _BEYOND_LATIN.search(plain) or "\u0130" in plain:
        return None
    return _LATIN_LETTERS_AND_DIGITS if numbers else _LATIN_LETTERS


def _content(candidates: list[str], code: str) -> list[str]:
    stop = function_words(code).among(candidates)
    return [word for word in candidates if word not in stop and len(word) <= LONGEST_WORD]


def _locate_words(plain: str, code: str, *, numbers: bool) -> Iterator[tuple[str, int, int]]:
    """Content words of normalised text, with their places in it."""
    stop_words = function_words(code)
    for match in _pattern(numbers).finditer(plain):
        for run, start in _runs(match.group(), match.start(), code):
            word = run.lower() if run.isascii() else _usual(run)
            if word and len(word) <= LONGEST_WORD and word not in stop_words.among((word,)):
                yield word, start, start + len(run)


def _runs(run: str, start: int, code: str) -> Iterator[tuple[str, int]]:
    """A word as it is; unspaced writing in pairs, a single character alone."""
    if code not in UNSPACED:
        yield run, start
        return
    for piece in _pieces().finditer(run):
        run_text, at = piece.group(), start + piece.start()
        if len(run_text) < 2 or not _FIRST_UNSPACED.match(run_text):
            yield run_text, at
        else:
            yield from ((run_text[i : i + 2], at + i) for i in range(len(run_text) - 1))


def _composed(text: str) -> str:
    return (
        text
        if text.isascii() or unicodedata.is_normalized("NFKC", text)
        else unicodedata.normalize("NFKC", text)
    )


def _usual(run: str) -> str:
    return _digits(_OPTIONAL.sub("", run).replace("\u0130", "i").lower())


def _digits(word: str) -> str:
    """Digits of any script as 0 to 9; other words as they are."""
    if word.isascii() or not word.isdecimal():
        return word
    return "".join(str(unicodedata.digit(character)) for character in word)


@cache
def _pattern(numbers: bool) -> re.Pattern[str]:
    """Words of any script. Vowel signs and accents that stand alone belong to the word they stand in."""
    letters = rf"[^\W\d_]+(?:[{_marks()}]+[^\W\d_]*)*"
    return re.compile(rf"{letters}|\d+" if numbers else letters)


@cache
def _pieces() -> re.Pattern[str]:
    return re.compile(rf"[{UNSPACED_CHARACTERS}]+|[^{UNSPACED_CHARACTERS}]+")


@cache
def _marks() -> str:
    """Inside of a character class: all combining marks."""
    ranges: list[list[int]] = []
    for code in (*range(0x300, 0x1F000), *range(0xE0100, 0xE01F0)):
        if unicodedata.category(chr(code))[0] == "M":
            if ranges and ranges[-1][1] == code - 1:
                ranges[-1][1] = code
            else:
                ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


def _places(text: str, plain: str) -> tuple[list[int], list[int]]:
    """For each character of the normalised text, where it comes from: first and last + 1 in the original.

    Normalisation never reaches over a character that starts again: pieces between such are normalised alone.
    Where that is not the same as all at once (rare scripts), words are the pieces, with the spaces between.
    """
    for pattern in (_clusters(), re.compile(r"\s+|\S+")):
        starts: list[int] = []
        ends: list[int] = []
        pieces: list[str] = []
        for match in pattern.finditer(text):
            piece = unicodedata.normalize("NFKC", match.group())
            pieces.append(piece)
            starts += [match.start()] * len(piece)
            ends += [match.end()] * len(piece)
        if "".join(pieces) == plain:
            return starts, ends
    return [0] * len(plain), [len(text)] * len(plain)


@cache
def _clusters() -> re.Pattern[str]:
    """One character with the marks, vowels of Hangul and voicing signs that may melt into it."""
    return re.compile(rf"(?s:.)[{_marks()}\u1160-\u11ff\uff9e\uff9f]*")
