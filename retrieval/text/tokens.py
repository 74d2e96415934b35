"""Content words of a text: what the network counts and CROWN scores (paper 001, section 2.1: no stop words).

A word is a run of letters in compatibility form (NFKC), in lower case, without marks that writers may leave
out (Arabic and Hebrew points). Function words, and words longer than anybody's, are no content words. Runs of
digits are words only when asked for. Languages that put no spaces between words are cut into pairs of
neighbouring characters, as the index cuts them; see `retrieval.engine.analysis`.

The same function serves network, queries and passages: a word that is cut in two ways never meets itself.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from retrieval.text.languages import UNSPACED, UNSPACED_CHARACTERS, function_words, primary

# What is searched of a passage: its text, and before it its title as a sentence of its own.
#
# Titles say what a passage is about and seldom say it again in it. Measured on judged sets whose passages
# have titles, leaving them out costs CROWN more than it gains; see docs/crown.md.


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
    """A content word and where it stands in the text it was taken from: text[start:end]."""

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
        return [word for word, _, _ in _words(plain, code, numbers=numbers)]
    found = _content(_pattern(numbers).findall(plain.lower()), code)
    return [_digits(word) for word in found] if numbers else found


def located(text: str, language: str, *, numbers: bool = False) -> list[WordPosition]:
    """The same words as `tokens`, each with its place in the text as it was given."""
    code, plain = primary(language), _composed(text)
    simple = _simple(plain, numbers=numbers)
    if simple is not None:
        lower = plain.lower()
        content = set(_content(simple.findall(lower), code))
        words = [
            WordPosition(match[0], match.start(), match.end())
            for match in simple.finditer(lower)
            if match[0] in content
        ]
    else:
        words = [WordPosition(*word) for word in _words(plain, code, numbers=numbers)]
    if plain == text:
        return words
    starts, ends = _places(text, plain)
    return [WordPosition(word, starts[start], ends[end - 1]) for word, start, end in words]


def _simple(plain: str, *, numbers: bool) -> re.Pattern[str] | None:
    """What cuts a text of Latin letters without marks of their own, for most texts; None for others."""
    if plain.isascii():
        return _LETTERS_AND_DIGITS if numbers else _LETTERS
    if _BEYOND_LATIN.search(plain) or "\u0130" in plain:
        return None
    return _LATIN_LETTERS_AND_DIGITS if numbers else _LATIN_LETTERS


def _content(found: list[str], code: str) -> list[str]:
    stop = function_words(code).among(found)
    return [word for word in found if word not in stop and len(word) <= LONGEST_WORD]


def _words(plain: str, code: str, *, numbers: bool) -> Iterator[tuple[str, int, int]]:
    """Content words of normalised text, with their places in it."""
    known = function_words(code)
    for match in _pattern(numbers).finditer(plain):
        for run, start in _runs(match.group(), match.start(), code):
            word = run.lower() if run.isascii() else _usual(run)
            if word and len(word) <= LONGEST_WORD and word not in known.among((word,)):
                yield word, start, start + len(run)


def _runs(run: str, start: int, code: str) -> Iterator[tuple[str, int]]:
    """A word as it is; unspaced writing in pairs, a single character alone."""
    if code not in UNSPACED:
        yield run, start
        return
    for piece in _pieces().finditer(run):
        found, at = piece.group(), start + piece.start()
        if len(found) < 2 or not _FIRST_UNSPACED.match(found):
            yield found, at
        else:
            yield from ((found[i : i + 2], at + i) for i in range(len(found) - 1))


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
    found: list[list[int]] = []
    for code in (*range(0x300, 0x1F000), *range(0xE0100, 0xE01F0)):
        if unicodedata.category(chr(code))[0] == "M":
            if found and found[-1][1] == code - 1:
                found[-1][1] = code
            else:
                found.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in found)


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
