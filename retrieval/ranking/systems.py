"""Systems by name, as commands and settings write them.

    bm25 · crown-2020 · balanced (crown means the same) · rrf(bm25+balanced) · cross-encoder(balanced)

Options follow after colons: a query model (`bm25:cq1`), or NAME=VALUE (`balanced:cq3:alpha=0.8`,
`rrf(bm25+balanced:cq3):k=60`). Several systems are separated by commas.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from retrieval.errors import ModelError, ParametersError
from retrieval.ranking import crossencoder
from retrieval.ranking.base import Collection, RankedPassage, Ranker, Ranking
from retrieval.ranking.bm25 import BM25, generations
from retrieval.ranking.crown import Crown
from retrieval.ranking.parameters import (
    BALANCED,
    BALANCED_1,
    CROWN_2020,
    DEFAULT_MODEL,
    PREFIX,
    WEIGHTS,
    Parameters,
    model_named,
)

FUSION_K = 60
DEPTH = 100


@dataclass(frozen=True)
class ReciprocalRankFusion:
    """Pools what several rankers find: a passage that two of them rank high comes first."""

    rankers: Sequence[Ranker]
    k: int = FUSION_K
    depth: int = DEPTH

    @property
    def name(self) -> str:
        """rrf(bm25+balanced), with what differs from the usual options after it."""
        inner = "+".join(ranker.name for ranker in self.rankers)
        options = "".join(
            f":{name}={value}"
            for name, value, usual in (("k", self.k, FUSION_K), ("depth", self.depth, DEPTH))
            if value != usual
        )
        return f"rrf({inner}){options}"

    def rank(self, collections: Sequence[Collection], turns: Sequence[str], k: int) -> Ranking:
        """The k passages of the greatest fused score; equal ones in the order of their best single rank.

        The parts of a passage are what each ranker gave to its score, by the ranker's name.
        """
        rankings = [ranker.rank(collections, turns, max(k, self.depth)) for ranker in self.rankers]
        pooled: dict[tuple[str, int], _PoolEntry] = {}
        terms: dict[str, float] = {}
        for ranker, ranking in zip(self.rankers, rankings, strict=True):
            for term, weight in ranking.terms.items():
                terms[term] = max(terms.get(term, 0.0), weight)
            for each in ranking.results:
                pooled.setdefault((each.collection, each.pk), _PoolEntry()).add(
                    ranker.name, self.k, each.rank
                )
        places = {collection.name: place for place, collection in enumerate(collections)}
        order = sorted(
            pooled.items(), key=lambda item: (-item[1].score, item[1].best, places[item[0][0]], item[0][1])
        )
        return Ranking(
            ranker=self.name,
            parameters={
                "k": self.k,
                "depth": self.depth,
                "rankers": {
                    ranker.name: {"ranker": ranking.ranker, **ranking.parameters}
                    for ranker, ranking in zip(self.rankers, rankings, strict=True)
                },
            },
            generations=generations(collections),
            terms=terms,
            results=[
                RankedPassage(rank, one.score, name, pk, one.parts)
                for rank, ((name, pk), one) in enumerate(order[:k], 1)
            ],
            notes=list(dict.fromkeys(note for ranking in rankings for note in ranking.notes)),
        )


@dataclass
class _PoolEntry:
    """One passage of the pool."""

    parts: dict[str, float] = field(default_factory=dict)
    best: int = 0

    def add(self, ranker: str, k: int, rank: int) -> None:
        self.parts[ranker] = 1 / (k + rank)
        self.best = min(self.best or rank, rank)

    @property
    def score(self) -> float:
        return sum(self.parts.values())


#: For help texts and errors.
EXAMPLES = "bm25, crown-2020, balanced, bm25:cq1, balanced:cq3:alpha=0.8, rrf(bm25+balanced)"
LONGEST = 500
#: Brackets in brackets: enough for every fusion that anybody can explain.
_DEEPEST = 3
_HEAD = re.compile(r"([a-z0-9-]+)(?:\((.*)\))?", re.DOTALL)


@dataclass(frozen=True)
class _ParsedName:
    """A name, the systems in its brackets, its options by name."""

    text: str
    name: str
    inner: Sequence[Ranker]
    options: dict[str, str]


def parse_system(text: str, *, cross_encoder: Path | None = None) -> Ranker:
    """The ranker of a name. ParametersError (field `system`) says what is wrong and which there are.

    `cross_encoder` is the folder of the model that `cross-encoder(…)` uses.
    """
    if len(text) > LONGEST:
        raise _refused(f"The name of a system has at most {LONGEST} characters.")
    return _system(text.strip(), cross_encoder, depth=0)


def _system(text: str, cross_encoder: Path | None, depth: int) -> Ranker:
    head, *options = _split(text, ":")
    match = _HEAD.fullmatch(head.strip().lower())
    if match is None or match[1] not in _MAKERS:
        raise _refused(f"There is no system {text!r}. There are, for example: {EXAMPLES}.")
    if depth > _DEEPEST:
        raise _refused(f"{text!r} has brackets in brackets in brackets.")
    inner = [
        _system(name.strip(), cross_encoder, depth + 1)
        for name in (_split(match[2], "+") if match[2] is not None else ())
    ]
    parsed = _ParsedName(text, match[1], inner, _options(text, options))
    return _MAKERS[parsed.name](parsed, cross_encoder)


def _options(text: str, options: Sequence[str]) -> dict[str, str]:
    by_name: dict[str, str] = {}
    for option in options:
        name, equals, value = option.partition("=")
        name, value = (name.strip(), value.strip()) if equals else ("query_model", name.strip())
        if name in by_name:
            raise _refused(f"{text!r} says {name} twice.")
        by_name[name] = value
    return by_name


def _bm25(parsed: _ParsedName, _: Path | None) -> Ranker:
    _no_inner(parsed)
    model = _query_model(parsed)
    _no_more_options(parsed, "a query model")
    return BM25(model)


def _crown(profile: str) -> Callable[[_ParsedName, Path | None], Ranker]:
    def make(parsed: _ParsedName, _: Path | None) -> Ranker:
        _no_inner(parsed)
        for name in ("profile", "results"):
            if name in parsed.options:
                raise _refused(f"{parsed.text!r} has no option {name!r}.")
        named = {
            f"{PREFIX}{name}" if name in WEIGHTS[profile] else name: value
            for name, value in parsed.options.items()
        }
        try:
            return Crown(Parameters.of({**named, "profile": profile}))
        except ParametersError as error:
            raise _refused(f"{parsed.text!r}: {error}") from error

    return make


def _fusion(parsed: _ParsedName, _: Path | None) -> Ranker:
    if len(parsed.inner) < 2:
        raise _refused(f"{parsed.text!r}: give at least two systems to fuse, as in rrf(bm25+balanced).")
    if len({ranker.name for ranker in parsed.inner}) < len(parsed.inner):
        raise _refused(f"{parsed.text!r} fuses a system with itself.")
    k = _read_integer(parsed, "k", FUSION_K, 1, 1000)
    depth = _read_integer(parsed, "depth", DEPTH, 1, 1000)
    _no_more_options(parsed, "k and depth")
    return ReciprocalRankFusion(tuple(parsed.inner), k, depth)


def _cross_encoder(parsed: _ParsedName, folder: Path | None) -> Ranker:
    if len(parsed.inner) != 1:
        raise _refused(f"{parsed.text!r}: name the one system that it reads: cross-encoder(balanced).")
    if folder is None:
        raise ModelError("There is no cross-encoder here: CROSS_ENCODER names the folder of one.")
    model = _query_model(parsed)
    depth = _read_integer(parsed, "depth", crossencoder.DEPTH, 1, 1000)
    _no_more_options(parsed, "a query model and depth")
    return crossencoder.CrossEncoder(parsed.inner[0], folder, model, depth)


def _query_model(parsed: _ParsedName) -> str:
    model = parsed.options.pop("query_model", DEFAULT_MODEL)
    try:
        return model_named(model)
    except ValueError as error:
        raise _refused(f"{parsed.text!r}: {error}") from error


_MAKERS: dict[str, Callable[[_ParsedName, Path | None], Ranker]] = {
    "bm25": _bm25,
    "crown": _crown(BALANCED),
    BALANCED: _crown(BALANCED),
    BALANCED_1: _crown(BALANCED_1),
    CROWN_2020: _crown(CROWN_2020),
    "rrf": _fusion,
    "cross-encoder": _cross_encoder,
}


def _no_inner(parsed: _ParsedName) -> None:
    if parsed.inner:
        raise _refused(f"{parsed.text!r}: {parsed.name} takes no systems in brackets.")


def _no_more_options(parsed: _ParsedName, available: str) -> None:
    if parsed.options:
        raise _refused(f"{parsed.text!r} has no option {next(iter(parsed.options))!r}; it has {available}.")


def _read_integer(parsed: _ParsedName, name: str, usual: int, least: int, most: int) -> int:
    text = parsed.options.pop(name, str(usual))
    if not text.isascii() or not text.isdigit() or not least <= int(text[:9]) <= most:
        raise _refused(f"{parsed.text!r}: {name} is a whole number from {least} to {most}.")
    return int(text)


def _split(text: str, separator: str) -> Iterator[str]:
    """Parts between separators that are outside of brackets."""
    depth, start = 0, 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth < 0:
            break
        if character == separator and depth == 0:
            yield text[start:place]
            start = place + 1
    if depth:
        raise _refused(f"The brackets of {text!r} do not match.")
    yield text[start:]


def _refused(why: str) -> ParametersError:
    return ParametersError({"system": why})
