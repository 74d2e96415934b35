"""When an answer is an exact copy of a reference.

Paper 002 (section 4.2) leaves such answers out: that people call them correct is known beforehand. The paper
does not say how texts were compared; here two are the same when they differ in nothing but case, white space
and punctuation at the end. Articles, other punctuation and the order of words count as differences.
"""

import unicodedata

from annotation.importing.text import folded, normal


def exact_form(text: str) -> str:
    """The text in the form in which copies are equal: NFC, without case, white space collapsed, no end marks.

    A text of nothing but punctuation keeps it, so that it equals only itself.
    """
    whole = folded(normal(text))
    end = len(whole)
    while end and (whole[end - 1] == " " or unicodedata.category(whole[end - 1]).startswith("P")):
        end -= 1
    return whole[:end] or whole
