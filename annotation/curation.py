"""Passage curation: which passages together answer a query (paper 000, section 3.2)."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal
from urllib.parse import urlsplit

from django.contrib.humanize.templatetags.humanize import intcomma
from django.utils.text import get_text_list
from django.utils.translation import gettext
from pydantic import Field

from annotation.candidates import FETCHED, Recipe
from annotation.importing.records import quoted
from annotation.models import Query
from annotation.rules import LONGEST, CurationVerdict, decide_curation, locate
from annotation.selectors.curation import ShownCandidate, first, selection_counts, shown_candidates, undecided
from annotation.services.candidates import provide_for
from annotation.services.curation import (
    decidable_queries,
    keep_selection,
    reconsider_curation,
    settle_curation,
)
from annotation.units import distil_scope, of_query, query_of, simulated_truth, texts_of
from crowd.kinds import HitTerms, Listing, Page, ParsedForm, PendingUnit, SimpleKind, StageConfig, config_of
from crowd.models import Assignment, Stage
from crowd.texts import InstructionTexts, Language, in_languages

NONE = "none"
#: A choice of the lists that says nothing; a list always has a value.
NOTHING = "-"
#: Pairs of conflicting passages that a form has room for.
PAIRS = 3
_MOST_HIGHLIGHTS = 20


@dataclass(frozen=True, slots=True)
class Limits:
    """What the stage allows."""

    most_passages: int
    highlights: bool


class _Reader:
    """Reads one form; `errors` has words for the worker by field."""

    def __init__(self, candidates: Sequence[ShownCandidate], form: Mapping[str, str], limits: Limits) -> None:
        self.errors: dict[str, str] = {}
        self._candidates, self._form, self._limits = candidates, form, limits
        self._by_rank = {str(candidate.rank): candidate for candidate in candidates}

    def read(self) -> dict[str, Any]:
        selected = self._read_selected()
        conflicts = list(self._conflicts({candidate.key for candidate in selected}))
        highlights = list(self._highlights(selected)) if self._limits.highlights else []
        return {
            "answerable": bool(selected),
            "passages": sorted(candidate.key for candidate in selected),
            "conflicts": conflicts,
            "highlights": highlights,
        }

    def _read_selected(self) -> list[ShownCandidate]:
        picked = [each for each in self._candidates if self._form.get(f"passage_{each.rank}")]
        none, most = bool(self._form.get(NONE)), self._limits.most_passages
        if not picked and not none:
            self.errors["passages"] = gettext(
                "Choose the passages that answer the query, or say that none of these can answer it."
            )
        elif picked and none:
            self.errors["passages"] = gettext(
                "You chose passages, and also said that none of these can answer it. Take one of them back."
            )
        elif len(picked) > most:
            self.errors["passages"] = gettext(
                "Choose at most %(most)s; you chose %(picked)s. Keep those without which "
                "the answer would not be complete."
            ) % {"most": most, "picked": len(picked)}
        return picked

    def _conflicts(self, selected_keys: set[str]) -> Iterator[dict[str, str | None]]:
        seen: set[frozenset[str]] = set()
        for number in range(1, PAIRS + 1):
            name = f"conflict_{number}"
            parts = {part: self._form.get(f"{name}_{part}", NOTHING) for part in ("a", "b", "trusted")}
            if parts["a"] not in self._by_rank and parts["b"] not in self._by_rank:
                continue
            if parts["a"] not in self._by_rank or parts["b"] not in self._by_rank:
                self.errors[name] = gettext("Name both passages of this pair, or neither.")
                continue
            if parts["a"] == parts["b"]:
                self.errors[name] = gettext("A passage cannot conflict with itself; name two different ones.")
                continue
            pair = {part: self._by_rank[parts[part]] for part in ("a", "b")}
            keys = frozenset(each.key for each in pair.values())
            if keys <= selected_keys:
                self.errors[name] = gettext(
                    "You chose passages %(one)s and %(other)s, and say that they "
                    "contradict each other. Keep the one that you trust more."
                ) % {"one": parts["a"], "other": parts["b"]}
            if keys in seen:
                continue
            seen.add(keys)
            first, second = sorted(pair.values(), key=lambda each: each.rank)
            trusted = pair[parts["trusted"]].key if parts["trusted"] in pair else None
            yield {"a": first.key, "b": second.key, "trusted": trusted}

    def _highlights(self, selected: Sequence[ShownCandidate]) -> Iterator[dict[str, str | int]]:
        for candidate in selected:
            name = f"highlight_{candidate.rank}"
            lines = [line for line in self._form.get(name, "").splitlines() if line.strip()]
            if len(lines) > _MOST_HIGHLIGHTS:
                self.errors[name] = gettext(
                    "Mark at most %(most_highlights)s places in passage %(rank)s."
                ) % {"most_highlights": _MOST_HIGHLIGHTS, "rank": candidate.rank}
                continue
            for start, end in self._spans(name, candidate, lines):
                yield {"passage": candidate.key, "start": start, "end": end}

    def _spans(self, name: str, candidate: ShownCandidate, lines: Sequence[str]) -> list[tuple[int, int]]:
        spans = set()
        for line in lines:
            span = locate(candidate.text, line)
            if span is None:
                self.errors[name] = (
                    gettext("These words are more than %(longest)s characters; mark the few that matter.")
                    % {"longest": intcomma(LONGEST)}
                    if len(line) > LONGEST
                    else gettext(
                        "%(line)s does not occur in passage %(rank)s in this form. Copy its exact words."
                    )
                    % {"line": quoted(line), "rank": candidate.rank}
                )
            else:
                spans.add(span)
        return sorted(spans)


def read_form(
    candidates: Sequence[ShownCandidate], form: Mapping[str, str], limits: Limits
) -> tuple[dict[str, Any], dict[str, str]]:
    """The response and the errors in a form about these candidates; the response counts without errors.

    Words that are marked in a passage that was not chosen are left out: they carry no answer.
    """
    reader = _Reader(candidates, form, limits)
    return reader.read(), reader.errors


_WORDS_MARKED = 8
#: Share of made-up truths in which no passage answers.
_UNANSWERABLE = 0.06
#: Characters from which a passage scrolls in a box of its own.
_LONG = 2_500


class CurationConfig(StageConfig):
    """Options of curation."""

    instructions: str = Field(
        default="",
        max_length=5000,
        description="What editors should know besides what the page says. One person per unit is usual.",
    )
    candidates: int = Field(
        default=10, ge=1, le=50, description="How many passages editors see of each query, the best first."
    )
    most_passages: int = Field(
        default=3, ge=1, le=50, description="How many passages one answer may be put together from."
    )
    highlights: bool = Field(
        default=False, description="Editors may also mark the words that carry the answer."
    )
    merging: Literal["majority", "exact"] = Field(
        default="majority",
        description="How the choices of two or more editors become one: majority keeps each passage that "
        "more than half of them chose; exact asks one more editor where they differ, and then a researcher.",
    )
    ranker: Literal["balanced", "crown-2020", "bm25", "pool"] = Field(
        default="balanced",
        description="What orders the passages of an index: balanced is BM25 with CROWN's evidence as we "
        "weigh it, crown-2020 as it was published, bm25 the index alone; pool fuses bm25 and balanced, so "
        "that no single ranker decides what editors see. Imported passages keep their order.",
    )
    query_model: Literal["cq2", "cq1", "cq3", "current"] = Field(
        default="cq2",
        description="Which turns of a conversation are searched for: cq2 the first, the previous one with "
        "less weight, and the query; cq1 without the previous one; cq3 all; current the query alone.",
    )
    fetched: int = Field(
        default=FETCHED, ge=10, le=1000, description="How many passages of the index are ranked for a query."
    )
    below: int = Field(
        default=0,
        ge=0,
        le=10,
        description="Passages drawn at random from below those that editors see of a query, and shown after "
        "them, so that it can be estimated how many good ones remain unseen.",
    )
    advanced: ClassVar[frozenset[str]] = frozenset(
        {"highlights", "merging", "screened", "query_model", "fetched", "below"}
    )
    screened: bool = Field(
        default=True,
        description="Only queries that screening accepted; otherwise also those that still wait for it.",
    )
    languages: Mapping[Language, InstructionTexts] = in_languages()

    def recipe(self) -> Recipe:
        """How the stage finds candidates for queries that came without."""
        return Recipe(self.candidates, self.ranker, self.query_model, self.fetched, self.below)


def _config(stage: Stage) -> CurationConfig:
    config = config_of(stage)
    assert isinstance(config, CurationConfig)
    return config


@dataclass(frozen=True, slots=True)
class Row:
    """A passage on the page; `link` is its address where that is one of the web.

    `beside` has the ranks of passages on the page that it overlaps with.
    """

    passage: ShownCandidate
    link: str
    beside: tuple[int, ...]

    @property
    def field(self) -> str:
        """The name of its box to tick."""
        return f"passage_{self.passage.rank}"

    @property
    def long(self) -> bool:
        """Longer than what fits well between others."""
        return len(self.passage.text) > _LONG

    @property
    def highlight(self) -> str:
        """The name of the field for its marked words."""
        return f"highlight_{self.passage.rank}"

    @property
    def overlaps(self) -> str:
        """Ranks of the passages that it overlaps with: "2", "2 and 5", "2, 5 and 7"."""
        *before, last = [str(rank) for rank in self.beside] or [""]
        return get_text_list([*before, last], gettext("and")) if before else last


@dataclass(frozen=True, slots=True)
class PairList:
    """One of the lists of a pair: its field, its label, and what can be chosen."""

    field: str
    label: str
    options: Sequence[tuple[str, str]]


def _pairs(rows: Sequence[Row]) -> Iterator[tuple[str, list[PairList]]]:
    """Room for each pair of conflicting passages, with its three lists."""
    ranks = [
        (NOTHING, gettext("none")),
        *((str(row.passage.rank), gettext("Passage %(rank)s") % {"rank": row.passage.rank}) for row in rows),
    ]
    trust = [
        (NOTHING, gettext("neither more")),
        ("a", gettext("the first more")),
        ("b", gettext("the second more")),
    ]
    lists = (
        ("a", gettext("The first passage"), ranks),
        ("b", gettext("The second"), ranks),
        ("trusted", gettext("I trust"), trust),
    )
    for number in range(1, PAIRS + 1):
        name = f"conflict_{number}"
        yield name, [PairList(f"{name}_{part}", label, options) for part, label, options in lists]


class Curation(SimpleKind):
    """Units are `query:PK`, accepted queries with candidate passages."""

    name = "curation"
    label = "Passage curation: which passages answer it?"
    config = CurationConfig
    suggested: ClassVar[Mapping[str, Any]] = {
        "title": "Curation",
        "reward": "0.50",
        "redundancy": 1,
        "expected_minutes": 3.0,
    }

    def listing(self, terms: HitTerms) -> Listing:
        """Passages to choose from."""
        most = terms.config.candidates if isinstance(terms.config, CurationConfig) else None
        passages = f"Up to {most} short passages" if most and most > 1 else "Short passages"
        one = terms.units == 1
        return Listing(
            f"Choose the passages that answer {terms.count('a query', 'queries')}{terms.time}",
            f"{passages}{'' if one else ' for each query'}; choose the one, or the few, that answer "
            f"{'the query' if one else 'it'}.",
            "reading, passages",
        )

    def pending(self, stage: Stage) -> Iterable[PendingUnit]:
        """Queries with fewer good selections than wanted, and one more where equal ones are asked for."""

        config = _config(stage)
        provide_for(stage.project, config.recipe())
        more = set(self._wants_more(stage, config))
        for pk, selection_count in selection_counts(stage, screened=config.screened):
            missing = max(0, stage.redundancy - selection_count)
            if selection_count == stage.redundancy and pk in more:
                missing = 1
            if missing:
                yield PendingUnit(of_query(pk), missing)

    def _wants_more(self, stage: Stage, config: CurationConfig) -> Iterator[int]:
        if config.merging != "exact":
            return
        for query, selections in undecided(stage, screened=config.screened).items():
            if len(selections) == stage.redundancy:
                decision = decide_curation(selections, needed=stage.redundancy, merging=config.merging)
                if decision.verdict == CurationVerdict.MORE:
                    yield query

    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        """The query and its candidates in the order of their ranks."""
        config, pk = _config(stage), query_of(unit)
        text, context = Query.objects.values_list("text", "context").get(pk=pk)
        candidates = self._candidates(stage, pk)
        ranks = {candidate.rank for candidate in candidates}
        rows = [
            Row(each, _link(each.url), tuple(rank for rank in each.overlaps if rank in ranks))
            for each in candidates
        ]
        return Page(
            "annotation/curation.html",
            {
                "query": text,
                "turns": context,
                "instructions": config.instructions,
                "rows": rows,
                "most": min(config.most_passages, len(rows)),
                "highlights": config.highlights,
                "pairs": list(_pairs(rows)) if len(rows) > 1 else [],
                "nothing": NOTHING,
                "language": stage.project.language,
            },
        )

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        """Passages or none, conflicting pairs, marked words."""
        config = _config(stage)
        limits = Limits(config.most_passages, config.highlights)
        response, errors = read_form(self._candidates(stage, query_of(unit)), form, limits)
        return ParsedForm(errors=errors) if errors else ParsedForm(response)

    def marks(self, stage: Stage, unit: str) -> list[str]:
        """Who curates a query writes no answer to it."""
        return [distil_scope(query_of(unit))]

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Keep the selection."""
        keep_selection(assignment=assignment, query=query_of(unit), response=response)

    def settle(self, stage: Stage) -> dict[str, Any]:
        """Make curated sets of the selections of queries that have enough of them."""
        config = _config(stage)
        return settle_curation(stage, screened=config.screened, merging=config.merging)

    def count_waiting_decisions(self, stage: Stage) -> int:
        """Queries with enough selections and without a curated set."""
        config = _config(stage)
        return len(decidable_queries(stage, screened=config.screened, merging=config.merging))

    def reconsider(self, stage: Stage, changed: Mapping[int, str]) -> None:
        """Decide again about queries whose selections began or ceased to count."""
        reconsider_curation(stage, _config(stage).merging, changed)

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """The query's text."""
        texts = texts_of(units)
        return {unit: texts.get(unit, unit) for unit in units}

    def simulate(self, stage: Stage, unit: str, profile: object, rng: random.Random) -> Mapping[str, str]:
        """What simulated editors who understand query and passages choose.

        The column `truth` of the query's file may name the keys of the right `passages`, none for an
        unanswerable query; else the seed draws one or two of the best ranked.
        """
        pk = query_of(unit)
        candidates = self._candidates(stage, pk)
        extra = Query.objects.values_list("extra", flat=True).get(pk=pk)
        chance = random.Random(f"curation:{stage.seed}:{unit}")
        right = _right(simulated_truth(extra), candidates, chance)
        selected = [each for each in candidates if each.key in right][: _config(stage).most_passages]
        entries = {f"passage_{each.rank}": "on" for each in selected} or {NONE: "on"}
        for number in range(1, PAIRS + 1):
            entries |= {f"conflict_{number}_{part}": NOTHING for part in ("a", "b", "trusted")}
        marked = {f"highlight_{each.rank}": _first_words(each.text) for each in candidates}
        return entries | marked

    def _candidates(self, stage: Stage, query: int) -> list[ShownCandidate]:
        return first(shown_candidates([query]).get(query, []), _config(stage).candidates)


def _right(truth: Mapping[str, Any], candidates: Sequence[ShownCandidate], chance: random.Random) -> set[str]:
    if isinstance(truth.get("passages"), list):
        return {str(key) for key in truth["passages"]}
    if chance.random() < _UNANSWERABLE:
        return set()
    likely = [each.key for each in candidates[:4]]
    return set(chance.sample(likely, min(len(likely), chance.choice([1, 1, 1, 2]))))


def _first_words(text: str) -> str:
    return " ".join(text.split()[:_WORDS_MARKED])


def _link(url: str) -> str:
    """The address where a browser may be sent to it, else nothing."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    return url if parts.scheme in ("http", "https") and parts.netloc else ""
