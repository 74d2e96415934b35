"""From a place in a passage to an example for the keyphrase predictor.

The sentences of the passage are found, and the ones around the answer are kept with the answer's place.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence

from evaluations.training.kpqa.examples import Example
from metrics.neural.pieces import Span

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
    found: list[Span] = []
    begun = 0
    for end in _ends(text):
        if text[begun:end].strip():
            found.append((begun, end))
            begun = end
    if begun < len(text) or not found:
        found.append((begun, len(text)))
    return tuple(found)


def around(cut: Sequence[Span], span: Span) -> Span:
    """Begin and end of the sentence that a span stands in, or of all that it touches."""
    touched = [sentence for sentence in cut if sentence[0] < span[1] and span[0] < sentence[1]]
    return touched[0][0], touched[-1][1]


def _ends(text: str) -> Iterator[int]:
    begun = 0
    for found in _END.finditer(text):
        if found.end() < len(text) and _is_end(text, begun, found):
            begun = found.end()
            yield begun


def _is_end(text: str, begun: int, found: re.Match[str]) -> bool:
    marks, at = found.group(), found.end()
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
    return not _is_abbreviation(text, begun, found.start(), at)


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
        """The example whose key phrase stands at this place of the passage."""
        begin, end = around(self._sentences, span)
        inside = self.text[begin:end]
        begin += len(inside) - len(inside.lstrip())
        place = (span[0] - begin, span[1] - begin)
        return Example(question, inside.strip(), (place,), self._source, self._group)


def digest(*texts: str) -> str:
    """A short name for texts; white space and letter case do not matter."""
    whole = "\0".join(" ".join(text.split()).casefold() for text in texts)
    return hashlib.blake2b(whole.encode(), digest_size=8).hexdigest()


def is_yes_or_no(answer: str) -> bool:
    """Whether an answer is yes or no, which no span of a passage says."""
    return answer.strip().rstrip(".!").casefold() in _YES_OR_NO


def occurrences(text: str, phrase: str, *, any_case: bool = False) -> list[Span]:
    """Where a phrase stands in a text as words of its own; white space may differ."""
    words = phrase.split()
    told = text.lower() if any_case else text
    if not words or not all((word.lower() if any_case else word) in told for word in words):
        return []
    before = r"(?<!\w)" if re.match(r"\w", words[0]) else ""
    after = r"(?!\w)" if re.search(r"\w\Z", words[-1]) else ""
    pattern = before + r"\s+".join(map(re.escape, words)) + after
    return [found.span() for found in re.finditer(pattern, text, re.IGNORECASE if any_case else 0)]
