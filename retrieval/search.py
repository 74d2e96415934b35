"""Searching a project's corpora with a conversation: ranked passages, why, and what must be said of it.

Corpora of a project are collections that rankers and evaluations search.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from django.conf import settings

from core.projects.models import Project
from retrieval.copies import engine_of, opened, readable_folder
from retrieval.engine import Engine
from retrieval.errors import NetworkBrokenError, NotIndexedError
from retrieval.models import Corpus, Index, Passage, WordNetwork
from retrieval.ranking.parameters import defaults
from retrieval.selectors import NOTHING_YET, corpus_called, searchable
from retrieval.tokens import with_title

if TYPE_CHECKING:
    from retrieval.network import Network
    from retrieval.ranking.base import Collection, RankedPassage, Ranker
    from retrieval.ranking.explanation import Explanation
    from retrieval.ranking.parameters import Parameters
    from retrieval.ranking.scoring import Evidence, Passages


class CorpusCollection:
    """Passages of one corpus. Make one for each search: it stays with the network that it has begun with."""

    def __init__(self, corpus: Corpus, *, name: str = "") -> None:
        self.corpus = corpus
        self.name = name or corpus.slug
        self.language = corpus.language
        self.engine: Engine = engine_of(corpus)
        self._texts: dict[int, str] = {}

    @cached_property
    def network(self) -> "Network | None":
        """Its word proximity network. NetworkBrokenError where its files cannot be used."""
        row: WordNetwork | None = getattr(self.corpus, "network", None)
        return None if row is None else opened(readable_folder(row))

    @property
    def evidence(self) -> "Evidence | None":
        """The same, as scoring asks for it."""
        return self.network

    @property
    def generation(self) -> Mapping[str, Any]:
        """Which index and which network answered."""
        from retrieval.engine.analysis import chain_name

        state = {
            "engine": self.corpus.index.engine,
            "index": self.engine.generation(),
            "chain": chain_name(self.language),
        }
        network = self.__dict__.get("network")  # only one that was asked
        if network is not None:
            state |= {"network": network.generation, "rules": network.pointer.rules}
        return state

    def columns(self, pks: Sequence[int], *, numbers: bool) -> "Passages":
        """Tokens of passages: those that the network holds; cut now where one of them came after it."""
        if self.network is not None and (stored := self.network.columns(pks, numbers=numbers)) is not None:
            return stored
        from retrieval.ranking.base import columns

        texts = self.texts(pks)
        return columns([texts.get(pk, "") for pk in pks], self.language, numbers=numbers)

    def texts(self, pks: Sequence[int]) -> Mapping[int, str]:
        """What is searched of passages, in one query; those that went in the meantime are left out."""
        missing = [pk for pk in pks if pk not in self._texts]
        if missing:
            rows = Passage.objects.filter(pk__in=missing).values_list("pk", "title", "text")
            self._texts.update((pk, with_title(title, text)) for pk, title, text in rows)
        return {pk: self._texts[pk] for pk in pks if pk in self._texts}


# Corpora of projects as what an evaluation searches.

_AT_ONCE = 5_000


class CorpusHaystack:
    """Corpora by names such as `capitals/textbooks`; CorpusError, NotIndexedError say what is missing."""

    def __init__(self, names: Sequence[str]) -> None:
        self._corpora = {name: _corpus(name) for name in dict.fromkeys(names)}

    @property
    def collections(self) -> "Sequence[Collection]":
        """Fresh ones, as each remembers the texts of one search."""
        return [CorpusCollection(corpus, name=name) for name, corpus in self._corpora.items()]

    def keys(self, collection: str, pks: Sequence[int]) -> Mapping[int, str]:
        """Own ids of passages; those that went meanwhile are left out."""
        by_pk: dict[int, str] = {}
        for start in range(0, len(pks), _AT_ONCE):
            rows = Passage.objects.filter(pk__in=pks[start : start + _AT_ONCE])
            by_pk.update(rows.values_list("pk", "key"))
        return by_pk

    def find_keys(self, keys: Iterable[str]) -> set[str]:
        """Those of the ids that some passage of the corpora has."""
        ordered, existing = sorted(keys), set[str]()
        for start in range(0, len(ordered), _AT_ONCE):
            rows = Passage.objects.filter(
                corpus__in=self._corpora.values(), key__in=ordered[start : start + _AT_ONCE]
            )
            existing.update(rows.values_list("key", flat=True))
        return existing

    def as_json(self) -> dict[str, Any]:
        """The corpora, and how many passages are searched."""
        passages = sum(corpus.index.passages for corpus in self._corpora.values())
        return {"corpora": list(self._corpora), "passages": passages}


def _corpus(name: str) -> Corpus:
    corpus = corpus_called(name)
    if not corpus.index.generation:
        slug = corpus.project.slug
        raise NotIndexedError(
            f"{name} has no index yet. Run: manage.py index build {slug} --corpus {corpus.slug}"
        )
    return corpus


#: Decimals of what a candidate keeps of its scores.
_KEPT = 6
STALE_INDEX = (
    "Passages of {} came or went since its index was built. "
    "Bring it up to date on the page of the corpus, or: manage.py index build."
)
STALE_NETWORK = (
    "Passages of {} came or went since its network was built. "
    "Bring it up to date on the page of the corpus, or: manage.py wpn build."
)


@dataclass(frozen=True)
class FoundPassage:
    """A passage of the answer.

    rank: from 1, without gaps. score: of the ranker; bigger is better; comparable within one answer only.
    parts: what the score is made of, by name, as shares that the profile's weights multiply (of bm25 alone:
    its score). raw: the same before they were made comparable. found_at: its rank by BM25 among the
    candidates; None where rankers are fused. corpus: slug. explanation: words, edges and sentences with their
    places in `passage.text`; None where nobody asked for explanations.
    """

    rank: int
    score: float
    parts: Mapping[str, float]
    corpus: str
    passage: Passage
    explanation: "Explanation | None" = None
    raw: Mapping[str, float] = field(default_factory=dict)
    found_at: int | None = None


@dataclass(frozen=True)
class FoundAnswer:
    """An answer to the last turn of a conversation, with everything that tells later how it came about.

    ranker: name of what ranked in truth (bm25 where a network is missing). parameters: its options; those of
    the profiles are `Parameters.as_dict()`. generations: by corpus, {"index": 3, "network": 2, …}. terms:
    words of the conversational query with their weights. notes: sentences for the person who searches.
    """

    ranker: str
    parameters: Mapping[str, Any]
    generations: Mapping[str, Mapping[str, Any]]
    terms: Mapping[str, float]
    results: Sequence[FoundPassage]
    notes: Sequence[str] = ()

    def provenance(self, passage: FoundPassage) -> dict[str, Any]:
        """What a candidate keeps of its search, as JSON."""
        fields = {
            "ranker": self.ranker,
            "parameters": dict(self.parameters),
            "generation": dict(self.generations[passage.corpus]),
            "rank": passage.rank,
            "score": round(passage.score, _KEPT),
            "parts": {name: round(value, _KEPT) for name, value in passage.parts.items()},
        }
        if passage.raw:
            fields["raw"] = {name: round(value, _KEPT) for name, value in passage.raw.items()}
        if passage.found_at is not None:
            fields["found_at"] = passage.found_at
        return fields


def search_conversation(
    where: Project | Sequence[Corpus],
    turns: Sequence[str],
    parameters: "Parameters | None" = None,
    *,
    ranker: "Ranker | str" = "",
    results: int | None = None,
    explain: bool = True,
) -> FoundAnswer:
    """The best passages for the last of `turns` (oldest first), of a project's corpora or of some corpora.

    `parameters` choose profile, query model, weights and how many candidates are fetched (None: defaults of
    `balanced`); `ranker` is another system instead of the profile, as an object or by name (`bm25`,
    `rrf(bm25+balanced)`, see `ranking.systems`), which takes its own options from its name; `results` is how
    many passages come back (None: as `parameters` say). Passages come in one query of the database whatever
    the number of corpora. EmptyQueryError: the last turn has no word. NotIndexedError: nothing to search yet.
    """
    from retrieval.ranking.crown import ranker_of

    corpora = searchable(where) if isinstance(where, Project) else list(where)
    if not corpora:
        raise NotIndexedError(NOTHING_YET)
    parameters = parameters or defaults()
    collections = _collections(corpora)
    if isinstance(ranker, str):
        ranker = ranker_named(ranker) if ranker else ranker_of(parameters)
    ranking = ranker.rank(collections, turns, parameters.results if results is None else results)
    passages = Passage.objects.in_bulk([each.pk for each in ranking.results])
    # A passage may have been deleted since the index was asked.
    stored = [(each, passages[each.pk]) for each in ranking.results if each.pk in passages]
    why = _explanations(collections, stored, turns, parameters) if explain else {}
    return FoundAnswer(
        ranker=ranking.ranker,
        parameters=ranking.parameters,
        generations=ranking.generations,
        terms=ranking.terms,
        results=[
            FoundPassage(
                rank=rank,
                score=each.score,
                parts=each.parts,
                corpus=each.collection,
                passage=passage,
                explanation=why.get(each.pk),
                raw=each.raw,
                found_at=each.found_at,
            )
            for rank, (each, passage) in enumerate(stored, 1)
        ],
        notes=[*ranking.notes, *_stale(collections)],
    )


def _collections(corpora: Sequence[Corpus]) -> list[CorpusCollection]:
    """Collections with names that tell them apart: slugs, with the project's before where two are equal."""
    slugs = Counter(corpus.slug for corpus in corpora)
    return [
        CorpusCollection(
            corpus, name=corpus.slug if slugs[corpus.slug] == 1 else f"{corpus.project.slug}/{corpus.slug}"
        )
        for corpus in corpora
    ]


def _explanations(
    collections: Sequence[CorpusCollection],
    ranked_passages: "Sequence[tuple[RankedPassage, Passage]]",
    turns: Sequence[str],
    parameters: "Parameters",
) -> "dict[int, Explanation]":
    """Why each passage was found, by number; by exact words where there is no network."""
    from retrieval.ranking.crown import content_terms
    from retrieval.ranking.explanation import explain

    explained: dict[int, Explanation] = {}
    for collection in collections:
        theirs = [passage for each, passage in ranked_passages if each.collection == collection.name]
        if theirs:
            explanations = explain(
                [passage.text for passage in theirs],
                collection.language,
                content_terms(collection.language, turns, parameters),
                _evidence(collection),
                parameters,
            )
            explained.update(zip((passage.pk for passage in theirs), explanations, strict=True))
    return explained


def _evidence(collection: CorpusCollection) -> "Evidence":
    """The network of a collection; exact words where there is none that can be used."""
    from retrieval.ranking.crown import ExactWords

    try:
        return collection.network or ExactWords()
    except NetworkBrokenError:
        return ExactWords()


def _stale(collections: Sequence[CorpusCollection]) -> list[str]:
    """What a search may have missed."""
    notes = []
    for collection in collections:
        corpus = collection.corpus
        if corpus.index.state == Index.State.STALE:
            notes.append(STALE_INDEX.format(collection.name))
        network: WordNetwork | None = getattr(corpus, "network", None)
        if network is not None and network.state == WordNetwork.State.STALE:
            notes.append(STALE_NETWORK.format(collection.name))
    return notes


# Rankers by name, with what the operator has set up.


def cross_encoder_folder() -> Path | None:
    """The folder of the cross-encoder, where the operator names one."""
    return Path(settings.CROSS_ENCODER) if settings.CROSS_ENCODER else None


def ranker_named(name: str) -> "Ranker":
    """The ranker of a name such as `balanced:cq3`; see `ranking.systems`. ParametersError, ModelError."""
    from retrieval.ranking.systems import parse_system

    return parse_system(name, cross_encoder=cross_encoder_folder())
