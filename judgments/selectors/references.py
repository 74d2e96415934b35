"""The reference answers of queries as judges see them: written by people here, or imported."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from annotation.models import Query
from annotation.selectors.answers import references
from judgments.drawing import rank
from judgments.exact import exact_form


@dataclass(frozen=True, slots=True)
class Reference:
    """A reference answer. `key` names it within its query and stays the same when others come or go."""

    key: str
    text: str


def reference_answers(queries: Collection[int]) -> dict[int, list[Reference]]:
    """References of queries, without empty ones and without repetitions; no entry where there is none.

    Two statements, whatever the number of queries.
    """
    found: dict[int, dict[str, Reference]] = {}
    for query, written in references(queries).items():
        for answer in written:
            _add(found.setdefault(query, {}), Reference(f"answer:{answer.pk}", answer.text))
    imported = Query.objects.filter(pk__in=queries).exclude(references=[]).order_by("pk")
    for query, texts in imported.values_list("pk", "references"):
        for number, text in enumerate(texts):
            if isinstance(text, str):
                _add(found.setdefault(query, {}), Reference(f"imported:{number}", text))
    return {query: list(by_text.values()) for query, by_text in found.items() if by_text}


def _add(known: dict[str, Reference], reference: Reference) -> None:
    text = reference.text.strip()
    if text:
        known.setdefault(text, Reference(reference.key, text))


def chosen_reference(query: int, known: Sequence[Reference], seed: int) -> Reference | None:
    """The one that judges see, drawn by the seed; others that come later seldom change the draw."""
    return min(known, key=lambda each: rank("reference", seed, query, each.key), default=None)


def reference_forms(queries: Collection[int]) -> dict[int, frozenset[str]]:
    """The references of queries in the form in which an exact copy equals them, where there are any."""
    return {
        query: frozenset(exact_form(each.text) for each in known)
        for query, known in reference_answers(queries).items()
    }


def reference_texts(queries: Collection[int]) -> dict[int, list[str]]:
    """The texts of all references by query: imported ones first, then people's in the order of writing.

    Held-out answers are no references. A query without references has an empty list. Two statements.
    """
    written = references(queries)
    rows = Query.objects.filter(pk__in=queries).values_list("pk", "references")
    return {pk: [*imported(given), *(answer.text for answer in written.get(pk, []))] for pk, given in rows}


def imported(given: object) -> list[str]:
    """The texts of `Query.references`; what is no text in it is passed over."""
    return (
        [each for each in given if isinstance(each, str) and each.strip()] if isinstance(given, list) else []
    )
