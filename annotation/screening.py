"""Query screening: is this a query that one short passage settles? Its form, its votes, and what they decide.

Paper 000, section 3.1. Queries are moved on once they have enough votes.
"""

import random
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

from django.db import transaction
from django.utils.translation import gettext_lazy
from django_stubs_ext import StrOrPromise
from pydantic import Field

from annotation.models import CuratedSet, Query, ScreeningVote
from annotation.rules import ScreeningDecision, ScreeningVerdict, Vote, decide_screening
from annotation.selectors.curation import later_work
from annotation.selectors.queries import missing_votes, votes_that_count, with_enough_votes
from annotation.services.steps import decided_in, lift_doubt, move, raise_doubt, reasons_by_query
from annotation.units import PREFIX, distil_scope, of_query, query_of, simulated_truth, texts_of
from crowd.kinds import HitTerms, Listing, Page, ParsedForm, PendingUnit, SimpleKind, StageConfig, config_of
from crowd.models import Assignment, Stage
from crowd.texts import InstructionTexts, Language, in_languages

#: Queries moved in one transaction.
_BATCH = 200
Status = Query.Status
_STATUS = {
    ScreeningVerdict.ACCEPTED: Query.Status.ACCEPTED,
    ScreeningVerdict.EXCLUDED: Query.Status.EXCLUDED,
    ScreeningVerdict.TIED: Query.Status.TIED,
}
#: Statuses that votes lead to, and with a set that is there already the last.
_DECIDED = frozenset(_STATUS.values())


def keep_vote(*, assignment: Assignment, query: int, response: Mapping[str, bool | str]) -> ScreeningVote:
    """Store one editor's form about a query."""
    return ScreeningVote.objects.create(
        stage=assignment.stage, assignment=assignment, query_id=query, **response
    )


@dataclass(frozen=True, slots=True)
class Rules:
    """The stage's options about how votes decide."""

    tolerated_sensitive: int
    tolerated_adult: int
    ties_wait: bool

    def decide(self, votes: Sequence[Vote]) -> ScreeningDecision:
        """What these votes decide."""
        return decide_screening(
            votes,
            tolerated_sensitive=self.tolerated_sensitive,
            tolerated_adult=self.tolerated_adult,
            ties_wait=self.ties_wait,
        )


def settle_screening(stage: Stage, rules: Rules) -> dict[str, int]:
    """Move every waiting query on which enough votes count; how many went where.

    Called twice, or by two processes at once, each query is moved once: by whoever comes first. The votes are
    read while the query is held, so that none of them ceases to count unseen.
    """
    ready = with_enough_votes(stage)
    moved: Counter[str] = Counter()
    for start in range(0, len(ready), _BATCH):
        moved.update(_settle_batch(stage, rules, ready[start : start + _BATCH]))
    return dict(moved)


@transaction.atomic
def _settle_batch(stage: Stage, rules: Rules, ready: Sequence[int]) -> list[str]:
    waiting = (
        Query.objects.select_for_update(of=("self",), no_key=True)
        .filter(pk__in=ready, status=Status.WAITING)
        .only("pk", "status", "status_reason")
        .order_by("pk")
    )
    queries = {query.pk: query for query in waiting}
    has_set = _with_set(queries)
    verdicts: list[str] = []
    for pk, votes in votes_that_count(stage, list(queries)).items():
        if len(votes) < stage.redundancy:
            continue
        decision = rules.decide(votes)
        to = _onward(_STATUS[decision.verdict], pk in has_set)
        move(query=queries[pk], to=to, reason=decision.reason, stage=stage, details={"votes": len(votes)})
        verdicts.append(decision.verdict)
    return verdicts


@transaction.atomic
def reconsider_screening(stage: Stage, rules: Rules, changed: Mapping[int, str]) -> None:
    """Decide again about queries whose votes began or ceased to count: why, by assignment.

    With too few votes left a query waits again, and more people are asked. Where later work was built on its
    acceptance, a person has to say what holds. What a person decided stays.
    """
    votes = ScreeningVote.objects.filter(stage=stage, assignment__in=changed).order_by("pk")
    why = reasons_by_query(votes.values_list("query", "assignment"), changed)
    rows = decided_in(stage, [*_DECIDED, Status.CURATED], list(why))
    rows = rows.filter(by_hand=False).exclude(status=Status.WAITING)
    queries = list(rows.only("pk", "status", "status_reason"))
    pks = [query.pk for query in queries]
    later, counted, has_set = later_work("screening", pks), votes_that_count(stage, pks), _with_set(pks)
    for query in queries:
        to, finding = _now(stage, rules, counted[query.pk])
        reason = f"{finding}; decided again, for {why[query.pk]}"
        details = {"votes": len(counted[query.pk])}
        step = partial(move, query=query, reason=reason, stage=stage, details=details)
        in_force = query.status if query.status in _DECIDED else Status.ACCEPTED
        if to == in_force:
            lift_doubt(query, stage)
            if query.status == to and not query.status_reason.startswith(finding):
                step(to=to)
        elif in_force == Status.ACCEPTED and later.get(query.pk):
            raise_doubt(query, stage, why=why[query.pk], says=finding)
        else:
            lift_doubt(query, stage)
            step(to=_onward(to, query.pk in has_set))


def _with_set(queries: Collection[int]) -> set[int]:
    """Those whose passages were chosen before."""
    return set(CuratedSet.objects.filter(query__in=queries).values_list("query", flat=True))


def _onward(to: Query.Status, has_set: bool) -> Query.Status:
    """An accepted query whose passages were chosen before needs no choice any more."""
    return Status.CURATED if to == Status.ACCEPTED and has_set else to


def _now(stage: Stage, rules: Rules, votes: Sequence[Vote]) -> tuple[Query.Status, str]:
    """What the votes that count say: the status, and why."""
    if len(votes) < stage.redundancy:
        return Status.WAITING, f"{len(votes)} of {stage.redundancy} votes count"
    decision = rules.decide(votes)
    return _STATUS[decision.verdict], decision.reason


@dataclass(frozen=True, slots=True)
class Option:
    """An answer that can be chosen."""

    value: str
    text: StrOrPromise
    help: StrOrPromise


@dataclass(frozen=True, slots=True)
class Question:
    """A question; `missing` is what somebody reads who left it out. `short`: its answers fit side by side."""

    name: str
    text: StrOrPromise
    missing: StrOrPromise
    options: tuple[Option, ...]
    short: bool = True


def _yes_no(
    name: str, sentence: StrOrPromise, missing: StrOrPromise, yes: StrOrPromise, no: StrOrPromise
) -> Question:
    return Question(
        name,
        sentence,
        missing,
        (Option("yes", gettext_lazy("Yes"), yes), Option("no", gettext_lazy("No"), no)),
    )


KIND = Question(
    "kind",
    gettext_lazy("What kind of query is it?"),
    gettext_lazy("Say what kind of query it is."),
    (
        Option(
            "informational",
            gettext_lazy("Looks for one piece of information"),
            gettext_lazy("such as “boiling point of water” or “how to get a passport”"),
        ),
        Option(
            "directions",
            gettext_lazy("Directions, or what is near a place"),
            gettext_lazy("such as “pharmacy near me”"),
        ),
        Option(
            "list",
            gettext_lazy("A list that is never complete"),
            gettext_lazy("such as “holiday classroom activities”"),
        ),
        Option(
            "topic", gettext_lazy("Anything about a topic"), gettext_lazy("such as “leaning tower of pisa”")
        ),
        Option(
            "navigational",
            gettext_lazy("Navigational: wants to get to a certain site"),
            gettext_lazy("such as “facebook”"),
        ),
        Option(
            "transactional",
            gettext_lazy("Transactional: wants to watch, buy or download something"),
            gettext_lazy("such as “watch game of thrones”"),
        ),
    ),
    short=False,
)
YES_NO = (
    _yes_no(
        "unambiguous",
        gettext_lazy("Is it clear what this person wants to know?"),
        gettext_lazy("Say whether it is clear what this person wants to know."),
        gettext_lazy("everyone would understand it in the same way"),
        gettext_lazy("such as “mercury”: the planet, the metal or the singer?"),
    ),
    _yes_no(
        "answerable",
        gettext_lazy("Could one short passage of text settle it for good?"),
        gettext_lazy("Say whether one short passage could settle it."),
        gettext_lazy("a few sentences could answer it completely"),
        gettext_lazy("it needs much more, or has no definite answer"),
    ),
    _yes_no(
        "sensitive",
        gettext_lazy("Does it contain sensitive information?"),
        gettext_lazy("Say whether it contains sensitive information."),
        gettext_lazy("name, number or address of a private person; their health, faith or money"),
        gettext_lazy("nothing about a private person"),
    ),
    _yes_no(
        "adult",
        gettext_lazy("Is it about adult content?"),
        gettext_lazy("Say whether it is about adult content."),
        gettext_lazy("sexual, very violent or offensive"),
        gettext_lazy("fit for everybody"),
    ),
)
QUESTIONS = (KIND, *YES_NO)


Intent = Literal["navigational", "transactional", "informational"]
_CHECK = "check:"
#: Answers to "what kind of query": the stored class, and which excluded kind of informational queries.
_KINDS = {
    "informational": ("informational", ""),
    "directions": ("informational", "directions"),
    "list": ("informational", "list"),
    "topic": ("informational", "topic"),
    "navigational": ("navigational", ""),
    "transactional": ("transactional", ""),
}
#: Made-up truths for simulated editors, with their weights: most queries of a log are fit.
_TRUTHS = ["informational"] * 13 + ["directions", "list", "topic", "navigational", "transactional"]


class ScreeningConfig(StageConfig):
    """Options of screening."""

    instructions: str = Field(
        default="",
        max_length=5000,
        description="What editors should know besides the explanations beside every question. "
        "Three people per unit are usual.",
    )
    tolerated_sensitive: int = Field(
        default=0,
        ge=0,
        le=100,
        description="How many editors may flag sensitive information before the query is excluded for it.",
    )
    tolerated_adult: int = Field(
        default=0,
        ge=0,
        le=100,
        description="How many editors may flag adult content before the query is excluded for it.",
    )
    ties_wait: bool = Field(
        default=True,
        description="A tie waits for a researcher's decision; otherwise it excludes. "
        "Only an even number of votes can be a tie.",
    )
    advanced: ClassVar[frozenset[str]] = frozenset({"tolerated_sensitive", "tolerated_adult", "ties_wait"})
    checks: Mapping[str, Intent] = Field(
        default_factory=dict,
        description="Attention checks: queries with the class that is right, "
        "such as facebook with navigational.",
    )
    languages: Mapping[Language, InstructionTexts] = in_languages()


def _config(stage: Stage) -> ScreeningConfig:
    config = config_of(stage)
    assert isinstance(config, ScreeningConfig)
    return config


def _rules(stage: Stage) -> Rules:
    config = _config(stage)
    return Rules(config.tolerated_sensitive, config.tolerated_adult, config.ties_wait)


class Screening(SimpleKind):
    """Units are `query:PK`, waiting queries of the project, and `check:N` for attention checks."""

    name = "screening"
    label = "Query screening: can one short passage settle it?"
    config = ScreeningConfig
    suggested: ClassVar[Mapping[str, Any]] = {
        "title": "Screening",
        "reward": "0.30",
        "redundancy": 3,
        "units_per_hit": 5,
        "expected_minutes": 1.5,
    }

    def listing(self, terms: HitTerms) -> Listing:
        """Queries to look at."""
        query = "it is" if terms.units == 1 else "each is"
        return Listing(
            f"Look at {terms.count('a search query', 'search queries')}{terms.time}",
            f"Say what kind of query {query}, and whether a short text could answer it. Nothing to write.",
            "queries, reading, short",
        )

    def pending(self, stage: Stage) -> Iterable[PendingUnit]:
        """Waiting queries with fewer good votes than the stage wants."""
        for pk, missing in missing_votes(stage):
            yield PendingUnit(of_query(pk), missing)

    def checks(self, stage: Stage) -> list[str]:
        """One unit per check."""
        return [f"{_CHECK}{number}" for number in range(len(_config(stage).checks))]

    def page(self, stage: Stage, unit: str, seed: int) -> Page:
        """The query with the turns before it, and the questions; a check looks like any other query."""
        config = _config(stage)
        if unit.startswith(_CHECK):
            text, context = list(config.checks)[_number(unit)], ()
        else:
            text, context = Query.objects.values_list("text", "context").get(pk=query_of(unit))
        return Page(
            "annotation/screening.html",
            {
                "query": text,
                "turns": context,
                "instructions": config.instructions,
                "questions": QUESTIONS,
            },
        )

    def parse(self, stage: Stage, unit: str, form: Mapping[str, str]) -> ParsedForm:
        """Every question answered."""
        errors = {
            question.name: str(question.missing)
            for question in QUESTIONS
            if form.get(question.name) not in {option.value for option in question.options}
        }
        if errors:
            return ParsedForm(errors=errors)
        intent, excluded_kind = _KINDS[form["kind"]]
        answers = {question.name: form[question.name] == "yes" for question in YES_NO}
        return ParsedForm({"intent": intent, "excluded_kind": excluded_kind, **answers})

    def passes(self, stage: Stage, unit: str, response: Any) -> bool:
        """The check's class was chosen."""
        right = list(_config(stage).checks.values())[_number(unit)]
        return bool(response["intent"] == right)

    def marks(self, stage: Stage, unit: str) -> list[str]:
        """Who screens a query writes no answer to it."""
        return [] if unit.startswith(_CHECK) else [distil_scope(query_of(unit))]

    def record(self, assignment: Assignment, unit: str, response: Any) -> None:
        """Keep the vote; answers to checks stay in the assignment."""
        if not unit.startswith(_CHECK):
            keep_vote(assignment=assignment, query=query_of(unit), response=response)

    def settle(self, stage: Stage) -> dict[str, Any]:
        """Accept, exclude or set aside the queries that have enough votes."""
        return settle_screening(stage, _rules(stage))

    def count_waiting_decisions(self, stage: Stage) -> int:
        """Waiting queries with enough votes."""
        return len(with_enough_votes(stage))

    def reconsider(self, stage: Stage, changed: Mapping[int, str]) -> None:
        """Decide again about queries whose votes began or ceased to count."""
        reconsider_screening(stage, _rules(stage), changed)

    def wording(self, stage: Stage, units: Sequence[str]) -> Mapping[str, str]:
        """The query's text."""
        texts = texts_of(units)
        if any(unit.startswith(_CHECK) for unit in units):
            texts |= {f"{_CHECK}{n}": text for n, text in enumerate(_config(stage).checks)}
        return {unit: texts.get(unit, unit) for unit in units}

    def simulate(self, stage: Stage, unit: str, profile: object, rng: random.Random) -> Mapping[str, str]:
        """What simulated editors who understand the query answer.

        The column `truth` of the query's file names it as the form does (`kind`, and `unambiguous`,
        `answerable`, `sensitive`, `adult` as yes or no); what is left out comes from the seed.
        """
        truth: Mapping[str, Any] = {}
        if unit.startswith(_CHECK):
            truth = {"kind": list(_config(stage).checks.values())[_number(unit)]}
        elif unit.startswith(PREFIX):
            extra = Query.objects.values_list("extra", flat=True).get(pk=query_of(unit))
            truth = simulated_truth(extra)
        return _truth(truth, random.Random(f"screening:{stage.seed}:{unit}"))


def _truth(truth: Mapping[str, Any], chance: random.Random) -> dict[str, str]:
    """A whole form: what is known of it, and the rest by chance, always in the same order."""
    kind, draws = chance.choice(_TRUTHS), [chance.random() for _ in range(4)]
    kind = truth["kind"] if truth.get("kind") in _KINDS else kind
    fit = kind == "informational"
    entries = {
        "kind": kind,
        "unambiguous": "yes" if draws[0] > 0.08 else "no",
        "answerable": "yes" if fit and draws[1] > 0.08 else "no",
        "sensitive": "yes" if draws[2] < 0.02 else "no",
        "adult": "yes" if draws[3] < 0.02 else "no",
    }
    return entries | {q.name: truth[q.name] for q in YES_NO if truth.get(q.name) in ("yes", "no")}


def _number(unit: str) -> int:
    return int(unit.removeprefix(_CHECK))
