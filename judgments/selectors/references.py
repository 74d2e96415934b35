"""The references of queries: answers that came with them, and answers of people that count."""

from collections.abc import Collection

from annotation.models import Query
from annotation.selectors.answers import references
from judgments.exact import exact_form


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
