"""Sentences of a text as character offsets.

The rule: a sentence ends at . ! ? … and their like with the quotes and brackets that close after it, before
white space. Not after abbreviations, initials, and numbers of a list, and not before a small letter. Marks of
Chinese, Japanese, Hindi, Arabic and others end a sentence as they are. An empty line, or a line that begins a
list, does so without any mark.
"""

import re
from collections.abc import Iterator

from retrieval.text.abbreviations import BEFORE_NUMBERS, MIDDLE_OR_END, ORDINAL_DOT, STARTERS, TITLES
from retrieval.text.languages import primary

_CLOSING = r"[\"'”’»›)\]}」』）】〉》]|\[\d{1,3}\]|[ \u00a0\u202f]»"
_OPENING = "\"'“‘«‹([{¿¡「『（【〈《„‚–—-*_ \t\r\n"
_BREAK = re.compile(
    # 1: marks that need no space after them; 2: the others; 3: an empty line, or one before an item of a list
    rf"([。！？｡．।॥؟۔։።፧။។]+(?:{_CLOSING})*\s*)"
    rf"|([.!?…]+(?:{_CLOSING})*)(?=\s)\s+"
    r"|(\s*\n(?:[^\S\n]*\n\s*|[^\S\n]*(?=[•▪◦‣*–-]\s)))"
)
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
    found, start = [], 0
    for end in _ends(text, primary(language)):
        if text[start:end].strip():
            found.append((start, end))
            start = end
    if text[start:].strip() or not found:
        found.append((start, len(text)))
    else:
        found[-1] = (found[-1][0], len(text))
    return found


def _ends(text: str, code: str) -> Iterator[int]:
    """Where sentences may end; the last character of the text is no question."""
    begun = 0
    for match in _BREAK.finditer(text):
        if match.end() >= len(text):
            return
        if match.group(1) is not None:
            ends = not (match.group().startswith("．") and text[match.end()].isdigit())
        elif match.group(2) is not None:
            ends = _is_end(text, begun, match, code)
        else:
            ends = True
        if ends:
            begun = match.end()
            yield begun


def _is_end(text: str, begun: int, match: re.Match[str], code: str) -> bool:
    """Whether a mark with white space after it ends a sentence that began at `begun`."""
    if "\n" in match.group() and _is_empty_line(match.group()):
        return True
    at = match.end()
    while at < len(text) and text[at] in _OPENING:
        at += 1
    following = text[at : at + 1]
    if following.islower():
        return False
    marks = match.group(2)
    if marks[0] != "." or marks[1:2] in tuple(".!?…"):
        return True
    return not _is_abbreviation(text, begun, match.start(), at, code)


def _is_abbreviation(text: str, begun: int, dot: int, at: int, code: str) -> bool:
    """Whether the dot belongs to the word before it rather than to the sentence."""
    found = _WORD_BEFORE.search(text, max(begun, dot - _REACH), dot)
    word = found.group() if found else ""
    following = _NEXT_WORD.match(text, at)
    after = following.group() if following else ""
    if word.isdecimal():
        begins_list = not text[begun : dot - len(word)].strip(_OPENING)
        return (begins_list and len(word) <= 3) or (code in ORDINAL_DOT and len(word) <= 2)
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


def _is_empty_line(space: str) -> bool:
    return len(re.findall(r"\n", space)) > 1
