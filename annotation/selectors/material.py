"""What an answer is written from: the query, the turns before it, and its curated passages."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass

from annotation.flags.registry import FlagQuery
from annotation.models import CuratedPassage, Query

#: Types whose answers name entities.
ENTITY_TYPES = (Query.Type.ENTITY, Query.Type.PERSON, Query.Type.LOCATION)


@dataclass(frozen=True, slots=True)
class Passage:
    """A curated passage as it is shown."""

    text: str
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Turn:
    """An earlier question of the conversation, and its answer where the log has it."""

    text: str
    answer: str


@dataclass(frozen=True, slots=True)
class Material:
    """One query with what belongs to it."""

    query: Query
    passages: tuple[Passage, ...]

    @property
    def turns(self) -> tuple[Turn, ...]:
        """Earlier turns, oldest first."""
        return tuple(
            Turn(str(turn.get("text") or ""), str(turn.get("answer") or ""))
            for turn in self.query.context
            if isinstance(turn, dict)
        )

    @property
    def wants_opinion(self) -> bool:
        """The answer is yes, no or depends."""
        return self.query.yes_no

    @property
    def wants_entities(self) -> bool:
        """The answer names people, places or things."""
        return self.query.type in ENTITY_TYPES

    def asked(self, language: str) -> FlagQuery:
        """As the flags see it."""
        return FlagQuery(self.query.text, tuple(passage.text for passage in self.passages), language)


def materials(queries: Collection[int]) -> dict[int, Material]:
    """The material of queries by their keys, in two statements."""
    passages: dict[int, list[Passage]] = defaultdict(list)
    rows = CuratedPassage.objects.filter(curated_set__query__in=queries).order_by("curated_set", "position")
    for query, text, title, url in rows.values_list(
        "curated_set__query", "candidate__text", "candidate__title", "candidate__url"
    ):
        passages[query].append(Passage(text, title, url))
    return {
        query.pk: Material(query, tuple(passages[query.pk])) for query in Query.objects.filter(pk__in=queries)
    }


def material(query: int) -> Material:
    """The material of one query; Query.DoesNotExist where there is none."""
    found = materials([query])
    if query not in found:
        raise Query.DoesNotExist(f"There is no query {query}.")
    return found[query]
