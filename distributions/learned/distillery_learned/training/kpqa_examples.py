"""What a key phrase predictor learns from: entries of JSON files, sentences around an answer, key phrases."""

import gzip
import hashlib
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import IO, Any, cast

from metrics.errors import MetricError
from metrics.word_spans import Span

# Why questions of a file became no examples, counted in words for people.

EMPTY_QUESTION = "the question is empty"
NO_ANSWER = "there is no answer"
IMPOSSIBLE = "it is marked as impossible to answer"
YES_OR_NO = "the answer is yes or no"
NOTHING_SELECTED = "no passage is selected"
NO_FACTS = "no supporting fact is in the context"
NOT_FOUND = "the answer is no span of where it should stand"
MISFIT = "the answer does not stand at its answer_start"
REPEATED = "question and answer sentence were there before; the key phrases are united"
WHOLE = "the key phrase is all of the answer sentence"

#: What was kept, and yet should be known.
MOVED = "the answer stands a few characters from its answer_start"
OTHER_CASE = "the answer was found without regard to letter case"
LOST_FACT = "a supporting fact is not in the context"


class NoExampleError(Exception):
    """A question becomes no example, for the reason that is said."""


@dataclass(slots=True)
class DropCounts:
    """Counts by reason: `reasons` of questions that were dropped, `noted` of remarks on those that were kept.

    A question is dropped for one reason, the first that is found.
    """

    reasons: Counter[str] = field(default_factory=Counter)
    noted: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count a question that turns out inside to become no example."""
        try:
            yield
        except NoExampleError as reason:
            self.add(str(reason))

    def add(self, reason: str) -> None:
        """One more question is dropped."""
        self.reasons[reason] += 1

    def note(self, remark: str) -> None:
        """One more question is kept with a remark."""
        self.noted[remark] += 1

    def total(self) -> int:
        """Questions that were dropped."""
        return self.reasons.total()


@dataclass(frozen=True, slots=True)
class Example:
    """`spans` are places of the key phrase in `answer`, in characters, in order and apart.

    `source` names the form of the file it came from; examples of one `group` (a passage, a document) stand on
    the same side of the split into training and development.
    """

    question: str
    answer: str
    spans: tuple[Span, ...]
    source: str
    group: str


# Sentences of English prose as places in it.
#
# A sentence ends at . ! ? or … with the quotes, brackets and note numbers that close after it, where white
# space follows and then no small letter, except that of an item: b). A dot after an abbreviation, an initial
# or the number of a list ends none. An empty line always ends one, and so does the line before an item of a
# list; no other end of a line does.

_CLOSING = r"""(?:["'”’»)\]}]|\[[\d,\s–-]{1,12}\]|(?<=[^\W\d_][.!?])\d{1,2}(?:[,'’–-]\d{1,2})*(?=\s))*"""
_END = re.compile(rf"[.!?…]+{_CLOSING}\s+|\n\s*")
_OPENING = "\"'“‘«([{¿¡—–-* \t\r\n"
_ITEM = re.compile(r"(?:[•▪◦‣*–-]|\d{1,2}[.)])\s")
_LETTER = re.compile(r"[a-z]\)\s")
_BEFORE = re.compile(r"[^\s(\[{\"'“‘«—–]*\Z")
_NEXT = re.compile(r"\w+")
_INITIALS = re.compile(r"(?:[^\W\d_]\.-?)*[^\W\d_]\Z")
#: How far back the word before a dot may begin.
_REACH = 40

#: A name or a number follows: no sentence ends here.
_NAMES = """
mr mrs ms messrs dr prof st sr jr fr rev hon gov sen rep pres gen col maj capt lt sgt cpl adm mt ft vs v cf
e.g eg i.e viz ca approx al et ibid op ed eds trans jan feb mar apr jun jul aug sep sept oct nov dec resp incl
esp pvt
"""
#: Within a sentence where a number follows; words of their own, or ends, where none does.
_NUMBERS = """
no nos nr fig figs eq eqs vol vols p pp sec ch chap art para tab ref refs suppl table
"""
#: The word that follows decides.
_EITHER_WAY = """
inc ltd co corp bros llc plc a.m p.m u.s u.k u.n e.u d.c u.s.a b.c a.d b.c.e c.e ph.d m.d b.a m.a b.sc m.sc
ave blvd rd dept univ est sp spp subsp var
"""
#: Words that far more often begin a sentence than follow an abbreviation.
_BEGINNINGS = """
The A An This That These Those It Its He She They We You I His Her Their Our My In On At By For From To With
Under After Before During When While Where Who What Why How If Although Though Because Since As And But Or So
Yet However Moreover Furthermore Therefore Thus Then There Here Some Many Most All Each Every No Not One Also
Another Both Other According Today Now Once Unlike Like Such Is Are Was Were Do Does Did Can Could Should
Would Will May Might
"""
_WITHIN, _BEFORE_NUMBERS, _EITHER, _STARTERS = (
    frozenset(words.split()) for words in (_NAMES, _NUMBERS, _EITHER_WAY, _BEGINNINGS)
)


def sentences(text: str) -> tuple[Span, ...]:
    """Begin and end of the sentences, which cover the text; white space belongs to the one before it."""
    spans: list[Span] = []
    begun = 0
    for end in _ends(text):
        if text[begun:end].strip():
            spans.append((begun, end))
            begun = end
    if begun < len(text) or not spans:
        spans.append((begun, len(text)))
    return tuple(spans)


def around(cut: Sequence[Span], span: Span) -> Span:
    """Begin and end of the sentence that a span is in, or of all that it touches."""
    touched = [sentence for sentence in cut if sentence[0] < span[1] and span[0] < sentence[1]]
    return touched[0][0], touched[-1][1]


def _ends(text: str) -> Iterator[int]:
    begun = 0
    for match in _END.finditer(text):
        if match.end() < len(text) and _is_end(text, begun, match):
            begun = match.end()
            yield begun


def _is_end(text: str, begun: int, match: re.Match[str]) -> bool:
    marks, at = match.group(), match.end()
    if marks.count("\n") > 1 or ("\n" in marks and _ITEM.match(text, at)):
        return True
    if marks[0] == "\n":
        return False
    while at < len(text) and text[at] in _OPENING:
        at += 1
    if text[at : at + 1].islower() and not _LETTER.match(text, at):
        return False
    if marks[0] != "." or marks[1:2] in tuple(".!?…"):
        return True
    return not _is_abbreviation(text, begun, match.start(), at)


def _is_abbreviation(text: str, begun: int, dot: int, at: int) -> bool:
    """Whether the dot belongs to the word before it rather than to the sentence."""
    before = _BEFORE.search(text, max(begun, dot - _REACH), dot)
    word = before.group() if before else ""
    following = _NEXT.match(text, at)
    after = following.group() if following else ""
    name = word.lower()
    if word.isdecimal():
        return len(word) <= 2 and not text[begun : dot - len(word)].strip(_OPENING)
    if name in _WITHIN:
        return True
    if name in _BEFORE_NUMBERS and not (len(word) == 1 and word.isupper()):
        return after[:1].isdigit()
    if name in _EITHER or (_INITIALS.match(word) and word != "I"):
        return after not in _STARTERS
    return False


_YES_OR_NO = frozenset({"yes", "no"})


class Passage:
    """A passage that several questions may be asked about; its digest is the group of their examples."""

    def __init__(self, text: str, source: str) -> None:
        self.text = text
        self._source = source
        self._group = digest(text)
        self._sentences = sentences(text)

    def example(self, question: str, span: Span) -> Example:
        """The example whose key phrase is at this place of the passage."""
        begin, end = around(self._sentences, span)
        inside = self.text[begin:end]
        begin += len(inside) - len(inside.lstrip())
        place = (span[0] - begin, span[1] - begin)
        return Example(question, inside.strip(), (place,), self._source, self._group)


def digest(*texts: str) -> str:
    """A short name for texts; white space and letter case do not matter."""
    joined = "\0".join(" ".join(text.split()).casefold() for text in texts)
    return hashlib.blake2b(joined.encode(), digest_size=8).hexdigest()


def is_yes_or_no(answer: str) -> bool:
    """Whether an answer is yes or no, which no span of a passage says."""
    return answer.strip().rstrip(".!").casefold() in _YES_OR_NO


def occurrences(text: str, phrase: str, *, any_case: bool = False) -> list[Span]:
    """Where a phrase is in a text as words of its own; white space may differ."""
    phrase_words = phrase.split()
    searched = text.lower() if any_case else text
    if not phrase_words or not all((word.lower() if any_case else word) in searched for word in phrase_words):
        return []
    before = r"(?<!\w)" if re.match(r"\w", phrase_words[0]) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", phrase_words[-1]) else ""
    pattern = before + r"\s+".join(map(re.escape, phrase_words)) + after
    return [match.span() for match in re.finditer(pattern, text, re.IGNORECASE if any_case else 0)]


# Values of JSON from people, with the place where each stands for the message when it is wrong.

_KINDS = {str: "text", bool: "true or false", dict: "an object", list: "a list", type(None): "null"}
_REMEDY = "Correct the file, or leave this entry out."
_HALVES = re.compile("[\ud800-\udfff]")


class Value:
    """A value of a file.

    `place` names the entry that it was read with; beside it is its way from there.
    """

    __slots__ = ("_above", "_file", "_key", "_place", "content")

    def __init__(
        self, content: Any, file: Path, place: str, *, above: "Value | None" = None, key: str | int = ""
    ) -> None:
        self.content = content
        self._file = file
        self._place = place
        self._above = above
        self._key = key

    def __getitem__(self, key: str) -> "Value":
        """A member of an object that has to be there."""
        member = self.get(key)
        if member is None:
            raise self.wrong(f"has no {key}")
        return member

    def get(self, key: str) -> "Value | None":
        """A member of an object, or None where there is none or it is null."""
        if type(self.content) is not dict:
            raise self._unlike("an object")
        member = self.content.get(key)
        return None if member is None else self._below(member, key)

    def __iter__(self) -> Iterator["Value"]:
        """The entries of a list."""
        if type(self.content) is not list:
            raise self._unlike("a list")
        for number, element in enumerate(self.content):
            yield self._below(element, number)

    def text(self) -> str:
        """Itself as text; a half of a character, which no file may hold, becomes the mark for a lost one."""
        if type(self.content) is not str:
            raise self._unlike("text")
        return self.content if self.content.isascii() else _HALVES.sub("\ufffd", self.content)

    def number(self) -> int:
        """Itself as a whole number."""
        if type(self.content) is not int:
            raise self._unlike("a whole number")
        return self.content

    def yes(self) -> bool:
        """Itself as true or false, which some write as 1 or 0."""
        if type(self.content) not in (bool, int):
            raise self._unlike("true or false")
        return bool(self.content)

    def pairs(self, first: str, second: str) -> Iterator[tuple["Value", "Value"]]:
        """Its entries as pairs: a list of lists of two, or an object of two lists of one length."""
        if type(self.content) is dict:
            left, right = list(self[first]), list(self[second])
            if len(left) != len(right):
                raise self.wrong(f"has {len(left)} entries of {first} and {len(right)} of {second}")
            yield from zip(left, right, strict=True)
            return
        for entry in self:
            both = list(entry)
            if len(both) != 2:
                raise entry.wrong(f"has {len(both)} entries where {first} and {second} are needed")
            yield both[0], both[1]

    def wrong(self, what: str) -> MetricError:
        """The error that this is wrong with it."""
        way = self._way()
        return MetricError(f"{self._file}, {self._place}{': ' if way else ''}{way} {what}. {_REMEDY}")

    def _below(self, content: Any, key: str | int) -> "Value":
        return Value(content, self._file, self._place, above=self, key=key)

    def _unlike(self, needed: str) -> MetricError:
        return self.wrong(f"is {_KINDS.get(type(self.content), 'a number')} where {needed} is needed")

    def _way(self) -> str:
        if self._above is None:
            return ""
        above = self._above._way()
        if isinstance(self._key, int):
            return f"{above}[{self._key}]"
        return f"{above}.{self._key}" if above else self._key


_GZIP, _MARK = b"\x1f\x8b", b"\xef\xbb\xbf"


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file without gzip and byte order mark; MetricError where they cannot be read."""
    try:
        with path.open("rb") as plain:
            if _begins(plain, _GZIP):
                plain.seek(0)
                with gzip.open(plain, "rb") as file:
                    _begins(file, _MARK)
                    yield cast("IO[bytes]", file)
            else:
                _begins(plain, _MARK)
                yield plain
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise MetricError(f"{path} is no whole gzip file: {error} Fetch it again.") from error
    except IsADirectoryError as error:
        raise MetricError(f"{path} is a folder. Name the files in it.") from error
    except OSError as error:
        raise MetricError(f"{path} cannot be read: {error.strerror or error}.") from error


def _begins(file: IO[bytes] | gzip.GzipFile, with_what: bytes) -> bool:
    """Whether a file begins so; it is read on after that, or else from its begin."""
    matches = file.read(len(with_what)) == with_what
    if not matches:
        file.seek(0)
    return matches


_BUFFER = 1 << 20


def lines(path: Path) -> Iterator[Value]:
    """The objects of a file with one in each line; empty lines are none."""
    with opened(path) as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                content = json.loads(line.decode("utf-8"))
            except (ValueError, RecursionError) as error:
                raise MetricError(
                    f"{path}, line {number} is no JSON: {error}. Each line must hold one whole object."
                ) from error
            yield Value(content, path, f"line {number}")


def entries(path: Path, prefix: str, name: str) -> Iterator[Value]:
    """The entries of the list at a prefix (`data.item`); `name` calls each by its number (`data[{}]`)."""
    import ijson  # part of the extra

    with opened(path) as file:
        elements = ijson.items(file, prefix, buf_size=_BUFFER, use_float=True)
        for place, content in sound(elements, path, name):
            yield Value(content, path, place)


def members(path: Path, key: str) -> Iterator[tuple[str, Value]]:
    """The members of the object that a file's object holds under a key."""
    import ijson

    with opened(path) as file:
        pairs = ijson.kvitems(file, key, buf_size=_BUFFER, use_float=True)
        for _, (row, content) in sound(pairs, path, f"member {{}} of {key}"):
            yield row, Value(content, path, f"row {row} of {key}")


def sound(elements: Iterator[Any], path: Path, name: str) -> Iterator[tuple[str, Any]]:
    """What ijson finds in a file, with its place; MetricError that names the place where it is no JSON."""
    import ijson

    for place in map(name.format, count()):
        try:
            element = next(elements)
        except StopIteration:
            return
        except (ijson.JSONError, UnicodeError) as error:
            reason = "it ends too early" if "EOF" in str(error) else _reason(error)
            raise MetricError(
                f"{path} is no whole JSON file: {reason}, at {place}. Fetch it again, or correct it."
            ) from error
        yield place, element


def _reason(error: Exception) -> str:
    first = str(error).removeprefix("b'").removeprefix('b"').replace("\\n", "\n").splitlines()
    return first[0].strip(" .") if first else "an error"
