"""The references of queries: answers that came with them, and answers of people that count."""

import unicodedata
from collections.abc import Collection

from annotation.importing.text import folded, normal
from annotation.models import Query
from annotation.selectors.answers import references

# When an answer is an exact copy of a reference.
#
# Paper 002 (section 4.2) leaves such answers out: that people call them correct is known beforehand. The
# paper does not say how texts were compared; here two are the same when they differ in nothing but case,
# white space and punctuation at the end. Articles, other punctuation and the order of words count as
# differences.

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


def reference_texts(queries: Collection[int]) -> dict[int, list[str]]:
    """The texts of all references by query: imported ones first, then people's in the order of writing.

    Held-out answers are no references. A query without references has an empty list. Two statements.
    """
    written = references(queries)
    rows = Query.objects.filter(pk__in=queries).values_list("pk", "references")
    return {pk: [*imported(given), *(answer.text for answer in written.get(pk, []))] for pk, given in rows}


def accepted_texts(queries: Collection[int]) -> dict[int, list[str]]:
    """References that nobody has to doubt, each text once: imported ones, and answers that were approved.

    An answer that waits for review, with flags or without, is none of them.
    """
    written = references(queries)
    rows = Query.objects.filter(pk__in=queries).values_list("pk", "references")
    found: dict[int, list[str]] = {}
    for pk, given in rows:
        approved = [answer.text for answer in written.get(pk, []) if answer.approved]
        texts = (text.strip() for text in (*imported(given), *approved))
        found[pk] = list(dict.fromkeys(text for text in texts if text))
    return found


def imported(given: object) -> list[str]:
    """The texts of `Query.references`; what is no text in it is passed over."""
    return (
        [each for each in given if isinstance(each, str) and each.strip()] if isinstance(given, list) else []
    )


def reference_forms(queries: Collection[int]) -> dict[int, frozenset[str]]:
    """The references of queries in the form in which an exact copy equals them."""
    return {pk: frozenset(map(exact_form, texts)) for pk, texts in reference_texts(queries).items()}
