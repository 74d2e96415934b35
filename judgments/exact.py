"""When an answer is an exact copy of a reference.

Paper 002 (section 4.2) leaves such answers out: that people call them correct is known beforehand. The paper
does not say how texts were compared; here two are the same when they differ in nothing but case, white space
and punctuation at the end. Articles, other punctuation and the order of words count as differences.
"""

import unicodedata

from annotation.importing.text import folded, normal

#: White space and the punctuation (not the symbols) of ASCII, by the categories of Unicode.
_MARKS = " !\"#%&'()*,-./:;?@[\\]_{}"


def exact_form(text: str) -> str:
    """The text in the form in which copies are equal: NFC, without case, white space collapsed, no end marks.

    A text of nothing but punctuation keeps it, so that it equals only itself.
    """
    whole = folded(normal(text))
    bare = whole.rstrip(_MARKS)
    while bare and not bare[-1].isascii() and unicodedata.category(bare[-1]).startswith("P"):
        bare = bare[:-1].rstrip(_MARKS)
    return bare or whole
