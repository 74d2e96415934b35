"""Sentences of a text, and windows of them, as character offsets.

The rule: a sentence ends at . ! ? … and their like with the quotes and brackets that close after it, before
white space. Not after abbreviations, initials, and numbers of a list, and not before a small letter. Marks of
Chinese, Japanese, Hindi, Arabic and others end a sentence as they are. An empty line, or a line that begins a
list, does so without any mark.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from retrieval.tokens import UNSPACED, primary

#: A name or a number follows: the dot never ends a sentence before a letter in upper case.
_TITLES = """
mr mrs ms mx messrs mmes dr prof st sts sr sra jr fr rev hon gov sen rep pres gen col maj capt cpt cmdr lt
sgt cpl pvt adm ald supt insp mt ft vs v cf e.g i.e viz resp ca approx al ibid op cit ed eds trans repr
mme mlle mgr ste herr fr frl dipl ing mag dhr mevr mej dña exc ud uds vd vds
jan feb mar apr jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri
z.b d.h u.a z.t o.ä i.d.r v.a bzw vgl sog geb gest evtl ggf bspw bijv o.a d.w.z p.ex c.-à-d p.ej
"""
#: A number follows; before anything else they are words ("no.") or end a sentence.
_BEFORE_NUMBERS = """
no nos nr num fig figs eq eqs vol vols p pp pg sec sect ch chap chaps art arts par para app tab pt bd s abb
kap abs núm pág págs §
"""
#: Whatever follows decides: they end a sentence where a word follows that often begins one.
_MIDDLE_OR_END = """
inc ltd co corp bros llc plc etc a.m p.m u.s u.k u.n e.u d.c u.s.a l.a n.y b.c a.d b.c.e c.e ph.d m.d b.a
m.a b.sc m.sc d.phil ll.b ll.m esq ave blvd rd sq dept univ assn est min max avg lb lbs oz hr hrs sec
secs mins yr yrs mi usw u.s.w usf etw enz ee.uu
"""
#: Words that begin sentences far more often than they follow an abbreviation within one.
_STARTERS = """
The A An This That These Those It Its He She They We You I His Her Their Our My In On At By For From To With
Under After Before During When While Where Who What Why How If Although Though Because Since As And But Or
So Yet However Moreover Furthermore Therefore Thus Then There Here Some Many Most All Each Every No Not One
Also Another Both Other According Today Now Once Unlike Like Such Is Are Was Were Do Does Did Can Could
Should Would Will May Might
Der Die Das Ein Eine Er Sie Es Wir Ich Dies Diese Dieser Dieses Im Am Auf Bei Nach Seit Mit Und Aber Doch
Le La Les Un Une Il Elle Ils Elles Nous Vous Ce Cette Ces Dans En Sur Pour Mais Et
El Los Las Una Él Ella Ellos Esto Este Esta Pero Y Según
"""
#: Languages that write ordinals with a dot: "am 3. Oktober".
_ORDINAL_DOT = "cs da de et fi hr hu is lt lv nb nn no pl sk sl sr tr"

TITLES, BEFORE_NUMBERS, MIDDLE_OR_END, STARTERS, ORDINAL_DOT = (
    frozenset(words.split()) for words in (_TITLES, _BEFORE_NUMBERS, _MIDDLE_OR_END, _STARTERS, _ORDINAL_DOT)
)


_ALONE = "。！？｡．।॥؟۔։።፧။។"
_CLOSING = r"[\"'”’»›)\]}」』）】〉》]|\[\d{1,3}\]|[ \u00a0\u202f]»"
_OPENING = frozenset("\"'“‘«‹([{¿¡「『（【〈《„‚–—-*_ \t\r\n")
#: The end of a line, or marks with what closes after them; then white space. One class of characters to begin
#: with, so that the search for it is fast.
_BREAK = re.compile(rf"[{_ALONE}.!?…\n](?:(?<=\n)|[{_ALONE}.!?…]*(?:{_CLOSING})*)(\s*)")
_IS_ALONE = re.compile(f"[{_ALONE}]")
_ITEM = re.compile(r"[•▪◦‣*–-]\s")
_WORD_BEFORE = re.compile(r"[^\s(\[{\"'“‘«]*\Z")
_NEXT_WORD = re.compile(r"\w+")
_ONE_LETTER = re.compile(r"(?:[^\W\d_]\.-?)*[^\W\d_]\Z")
#: How far back a word before a dot may begin.
_REACH = 40


def sentences(text: str, language: str) -> list[tuple[int, int]]:
    """Offsets (start, end) of the sentences of a text, in order.

    They cover it: the first begins at 0, each begins where the one before ends, the last ends with the text.
    White space belongs to the sentence before it. A text of no characters has none.
    """
    if not text:
        return []
    spans, start = [], 0
    for end in _ends(text, primary(language)):
        if text[start:end].strip():
            spans.append((start, end))
            start = end
    if text[start:].strip() or not spans:
        spans.append((start, len(text)))
    else:
        spans[-1] = (spans[-1][0], len(text))
    return spans


def _ends(text: str, code: str) -> Iterator[int]:
    """Where sentences may end; the last character of the text is no question."""
    begun = 0
    for match in _BREAK.finditer(text):
        if match.end() < len(text) and _is_end(text, begun, match, code):
            begun = match.end()
            yield begun


def _is_end(text: str, begun: int, match: re.Match[str], code: str) -> bool:
    """Whether a line's end or a mark ends a sentence that began at `begun`."""
    marks, at = match.group(), match.end()
    lines = marks.count("\n")
    if lines > 1 or (lines and _ITEM.match(text, at)):
        return True
    if _IS_ALONE.search(marks):
        return not (marks[0] == "．" and text[at].isdigit())
    if marks[0] == "\n" or not match.group(1):
        return False
    while at < len(text) and text[at] in _OPENING:
        at += 1
    if text[at : at + 1].islower():
        return False
    if marks[0] != "." or marks[1:2] in tuple(".!?…"):
        return True
    return not _is_abbreviation(text, begun, match.start(), at, code)


def _is_abbreviation(text: str, begun: int, dot: int, at: int, code: str) -> bool:
    """Whether the dot belongs to the word before it rather than to the sentence."""
    match = _WORD_BEFORE.search(text, max(begun, dot - _REACH), dot)
    word = match.group() if match else ""
    following = _NEXT_WORD.match(text, at)
    after = following.group() if following else ""
    if word.isdecimal():
        begins_list = len(word) <= 3 and _OPENING.issuperset(text[begun : dot - len(word)])
        return begins_list or (code in ORDINAL_DOT and len(word) <= 2)
    name = word.lower()
    if name in TITLES:
        return True
    if name in BEFORE_NUMBERS and after[:1].isdigit():
        return True
    if name == "etc":
        return False
    if name in MIDDLE_OR_END or (_ONE_LETTER.match(word) and word != "I"):
        return after not in STARTERS
    return False


# Documents cut into passages: windows of whole sentences, as character offsets.
#
# `sentences`: so many sentences, the next window a stride of sentences later. `words`: whole sentences up to
# so many words, the next window at the first sentence that begins a stride of words later. Windows overlap
# where the stride is shorter than the size. The last one ends with the document, and no window lies within
# another.

#: By sentences and by words: the largest window, and the one that is offered.
LARGEST = {"sentences": 100, "words": 2_000}
USUAL = {"sentences": (5, 3), "words": (150, 150)}
#: A sentence longer than this is a list or a table: it is cut at a space.
LONGEST_SENTENCE = 1_000
_WORD = re.compile(r"\S+")
_CHARACTER = re.compile(r"\S")
Span = tuple[int, int]


@dataclass(frozen=True)
class WindowOptions:
    """How documents are cut. ValueError, in words, for sizes that cannot be."""

    size: int
    stride: int
    by: str = "sentences"

    def __post_init__(self) -> None:
        """Check sizes once, wherever they come from."""
        if self.by not in LARGEST:
            raise ValueError(f"Documents are split by {' or by '.join(LARGEST)}, not by {self.by}.")
        if not 1 <= self.size <= LARGEST[self.by]:
            raise ValueError(f"A window has 1 to {LARGEST[self.by]:,} {self.by}, not {self.size:,}.")
        if not 1 <= self.stride <= self.size:
            raise ValueError(f"The stride is 1 to {self.size:,} {self.by}, not {self.stride:,}.")


def windows(text: str, language: str, splitting: WindowOptions) -> list[Span]:
    """Windows (start, end) of a document, without white space at their ends; none of a document of spaces."""
    by_words = splitting.by == "words"
    unit = _CHARACTER if primary(language) in UNSPACED else _WORD
    parts, sizes = [], []
    for part in _parts(text, language):
        pieces = _cut(text, part, unit, splitting.size) if by_words else [(*part, 1)]
        parts += [(start, end) for start, end, _ in pieces]
        sizes += [size for _, _, size in pieces]
    return list(_windows(parts, sizes, splitting))


def _windows(parts: list[Span], sizes: list[int], splitting: WindowOptions) -> Iterator[Span]:
    first = 0
    while first < len(parts):
        last, total = first, sizes[first]
        while last + 1 < len(parts) and total + sizes[last + 1] <= splitting.size:
            last += 1
            total += sizes[last]
        yield parts[first][0], parts[last][1]
        if last + 1 == len(parts):
            return
        passed, following = sizes[first], first + 1
        while following <= last and passed < splitting.stride:
            passed += sizes[following]
            following += 1
        # A window that ends where the last one did would lie within it.
        total = sum(sizes[following : last + 1])
        while following <= last and total + sizes[last + 1] > splitting.size:
            total -= sizes[following]
            following += 1
        first = following


def _parts(text: str, language: str) -> Iterator[Span]:
    """Sentences without white space around them, long ones in pieces."""
    for begin, end in sentences(text, language):
        start, last = begin, begin + len(text[begin:end].rstrip())
        while start < last:
            start += len(text[start:last]) - len(text[start:last].lstrip())
            cut = last
            if last - start > LONGEST_SENTENCE:
                space = text.rfind(" ", start + 1, start + LONGEST_SENTENCE)
                cut = space if space > start else start + LONGEST_SENTENCE
            yield start, cut
            start = cut


def _cut(text: str, part: Span, unit: re.Pattern[str], size: int) -> list[tuple[int, int, int]]:
    """A sentence with the number of its words, in pieces of `size` words where it has more."""
    word_spans = [match.span() for match in unit.finditer(text, *part)]
    return [
        (piece[0][0], piece[-1][1], len(piece))
        for piece in (word_spans[at : at + size] for at in range(0, len(word_spans), size))
    ]
