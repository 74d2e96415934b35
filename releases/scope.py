"""What all tables of a release share: what goes in, people, redactions, splits, consent, one snapshot."""

import hashlib
import json
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from django.db import DEFAULT_DB_ALIAS, connection, connections, transaction
from django.db.models import Case, Exists, Model, OuterRef, Q, QuerySet, Value, When
from django.db.utils import load_backend

from annotation.models import Answer, AnswerFlag, CuratedPassage, HeldOutWorker, Query
from annotation.selectors.answers import GIVEN
from core.projects.models import Event, Project
from core.projects.selectors import pseudonym
from crowd.counted_work import counting
from crowd.models import Assignment, Endpoint, Stage, Worker
from crowd.selectors.pseudonyms import first_panels, has_several_panels, panel_pseudonym
from judgments.models import Candidate, FilterRun, Judgment
from judgments.selectors.candidates import OUT
from people.models import Guest
from releases.models import PrivacyFinding
from releases.options import COMMENTS, Options
from releases.tables import SPLITS


class KeySet:
    """Keys of rows in eight bytes each."""

    def __init__(self, keys: Iterable[int] = ()) -> None:
        self._keys = array("q", sorted(keys))

    def __contains__(self, key: int) -> bool:
        place = bisect_left(self._keys, key)
        return place < len(self._keys) and self._keys[place] == key

    def among(self, keys: Sequence[int]) -> set[int]:
        """Those of some keys that are here, far faster than one by one."""
        import numpy as np  # noqa: PLC0415 - start-up does without numpy

        if not len(self._keys) or not keys:
            return set()
        mine, sought = np.frombuffer(self._keys, np.int64), np.array(keys, np.int64)
        places = np.minimum(np.searchsorted(mine, sought), len(mine) - 1)
        return set(sought[mine[places] == sought].tolist())


# Pseudonyms of workers: one for each person of a panel, whichever endpoints or links they came by.
#
# Workers are rows of an endpoint. Two rows are one person for certain where both are of the same kind of
# marketplace or panel and have the same id there, as with two workspaces of Prolific; or where they are
# guests of links that name the same source of ids (`StudyLink.id_source`) and have the same id. What is only
# likely (`crowd.services.persons`) joins no rows. docs/decisions/0044.


class People:
    """Pseudonyms by worker; each is worked out once. `len()` is the number of different ones."""

    def __init__(self, project: Project, using: str) -> None:
        self._project, self._using = project, using
        self._names: dict[int, str] = {}
        self._simulated: set[int] = set()
        self._ids: dict[int, str] = {}
        self._in_reports: dict[int, str] = {}
        self._several: bool | None = None

    def __len__(self) -> int:
        return len(set(self._names.values()))

    @property
    def simulated(self) -> Collection[int]:
        """Keys of the simulated workers among those who have a pseudonym by now."""
        return self._simulated

    @property
    def simulated_people(self) -> int:
        """How many pseudonyms belong to simulated workers."""
        return len({self._names[worker] for worker in self._simulated})

    @property
    def by_person(self) -> bool:
        """Whether any pseudonym differs from that of the worker's id alone."""
        return any(
            name != pseudonym(self._project, self._ids[worker]) for worker, name in self._names.items()
        )

    @property
    def joined(self) -> int:
        """How many more workers there are than pseudonyms."""
        return len(self._names) - len(self)

    @property
    def renamed(self) -> Mapping[str, str]:
        """Pseudonyms by those that reports on agreement have for the same workers, where they differ."""
        pairs = ((self._in_reports[worker], name) for worker, name in self._names.items())
        return {in_reports: name for in_reports, name in pairs if in_reports != name}

    def names(self, workers: Iterable[int]) -> dict[int, str]:
        """Pseudonyms by key, of at least these workers; a few statements where some are new."""
        new = set(workers).difference(self._names)
        if new:
            rows = list(
                Worker.objects.using(self._using)
                .filter(pk__in=new)
                .values_list("pk", "external_id", "endpoint__protocol", "simulated")
            )
            self._name(rows)
        return self._names

    def _name(self, rows: list[tuple[int, str, str, bool]]) -> None:
        links = [external_id for _, external_id, protocol, _ in rows if protocol == Endpoint.Protocol.LINK]
        first_of = _first_guests(self._project, self._using, links) if links else {}
        ids = {pk: first_of.get(external_id, external_id) for pk, external_id, _, _ in rows}
        if self._several is None:
            self._several = has_several_panels(self._project, self._using)
        external_ids = {*ids.values(), *(external_id for _, external_id, _, _ in rows)}
        first = first_panels(self._project, external_ids, self._using) if self._several else {}
        for pk, external_id, protocol, simulated in rows:
            self._names[pk] = panel_pseudonym(self._project, ids[pk], protocol, first)
            self._in_reports[pk] = panel_pseudonym(self._project, external_id, protocol, first)
            self._ids[pk] = external_id
            if simulated:
                self._simulated.add(pk)


def _first_guests(project: Project, using: str, worker_ids: Collection[str]) -> Mapping[str, str]:
    """For guests with an id of a source: the worker id of the first guest who has the same one."""
    person_of = dict(_persons(project, using, worker_id__in=worker_ids))
    if not person_of:
        return {}
    identities = {identity for _, identity in person_of.values()}
    first = {person: worker_id for worker_id, person in _persons(project, using, identity__in=identities)}
    return {worker_id: first[person] for worker_id, person in person_of.items()}


def _persons(project: Project, using: str, **conditions: Any) -> Iterator[tuple[str, tuple[str, str]]]:
    """Worker ids of guests, the newest first, each with its source and its id there."""
    rows = (
        Guest.objects.using(using)
        .filter(project=project, visits__link__id_source__gt="", **conditions)
        .order_by("-pk")
        .values_list("worker_id", "identity", "identity_kind", "visits__link__id_source")
        .distinct()
    )
    for worker_id, identity, kind, source in rows:
        # Guests without an id, or from a class list, are identified by something that is not the source's.
        if kind.startswith(f"{source}/"):
            yield worker_id, (source, identity)


# Which queries and answers are accepted, and why each of the others is not (`releases.options`).

_State, _Status = Answer.State, Query.Status
_UNDECIDED_QUERIES = (_Status.TIED, _Status.DISPUTED)


def inside(include: Collection[str]) -> list[str]:
    """Values of `why` that are in a release: accepted, and the groups that were brought in."""
    return ["", *include]


def answers_with_why(rows: QuerySet[Answer]) -> QuerySet[Any]:
    """Answers with `why`: the group to which each belongs for itself, empty where it is accepted."""
    flags = AnswerFlag.objects.filter(answer=OuterRef("pk"))
    held_work = Q(assignment__held=True) & ~Q(assignment__state=Assignment.State.APPROVED)
    on_hold = held_work | (Q(state=_State.APPROVED) & ~counting("assignment"))
    withdrew = Guest.objects.filter(
        project=OuterRef("query__project"),
        worker_id=OuterRef("worker__external_id"),
        withdrawn_at__isnull=False,
    )
    why = Case(
        When(Exists(withdrew), then=Value("withdrawn")),
        When(state=_State.EXCLUDED, then=Value("excluded")),
        When(state=_State.REPLACED, then=Value("replaced")),
        When(~Q(assignment__state__in=Assignment.GOOD), then=Value("work_not_accepted")),
        When(on_hold, then=Value("held")),
        When(state=_State.REWRITE, then=Value("rewrite")),
        When(state=_State.APPROVED, then=Value("")),
        When(Exists(flags), then=Value("flagged")),
        default=Value("undecided"),
    )
    return rows.annotate(why=why)


def answers_of(project: Project, using: str) -> QuerySet[Any]:
    """All answers that people wrote, each with `why`."""
    return answers_with_why(Answer.objects.using(using).filter(query__project=project))


def taken_answers(project: Project, using: str, include: Collection[str]) -> QuerySet[Any]:
    """Answers that go in for themselves, also those of queries that do not."""
    return answers_of(project, using).filter(why__in=inside(include))


#: The group of queries for which a reference is missing.
UNANSWERED = "unanswered"


def held_out() -> QuerySet[HeldOutWorker]:
    """What says of an answer in an outer question that it is no reference but a candidate."""
    return HeldOutWorker.objects.filter(query=OuterRef("query"), worker=OuterRef("worker"))


def queries_of(
    project: Project, using: str, include: Collection[str], *, answers: bool = True
) -> QuerySet[Any]:
    """All queries, each with `why`: the group to which it belongs, empty where it goes in anyway.

    A reference is an answer that goes in and is not held out, or one that came with the query. A query has to
    have one only in a project that asks people for answers: one that only judges has none to miss. Without
    `answers` no answer is looked at: then UNANSWERED are also those that only have such references.
    """
    written = answers_with_why(Answer.objects.filter(query=OuterRef("pk")))
    has_reference = ~Q(references=[])
    if answers:
        has_reference |= Q(Exists(written.filter(~Exists(held_out()), why__in=inside(include))))
    collected = Exists(Answer.objects.filter(GIVEN, query=OuterRef("pk"))) | Exists(
        Candidate.objects.filter(query=OuterRef("pk"))
    )
    why = Case(
        When(status__in=OUT, then=Value("taken_out")),
        When(~collected, then=Value("nothing_collected")),
        When(status__in=_UNDECIDED_QUERIES, then=Value("disputed")),
        When(has_reference, then=Value("")),
        default=Value(UNANSWERED if _asks_for_answers(project, using) else ""),
    )
    return Query.objects.using(using).filter(project=project).annotate(why=why)


def released(project: Project, using: str, include: Collection[str]) -> QuerySet[Any]:
    """Queries that go in."""
    return queries_of(project, using, include).filter(why__in=inside(include))


def _asks_for_answers(project: Project, using: str) -> bool:
    stages = Stage.objects.using(using).filter(project=project, kind="distillation")
    written = Answer.objects.using(using).filter(query__project=project).exclude(stage__kind="continuation")
    return stages.exists() or written.exists()


def comments_of(project: Project, using: str) -> QuerySet[Judgment]:
    """Judgments of a project beside which something was written."""
    return Judgment.objects.using(using).filter(stage__project=project).exclude(comment="")


#: In the log of a privacy check: the newest comment of a judge and the newest response that it read.
LAST_COMMENT, LAST_RESPONSE = "last_comment", "last_response"


def last_checked(project: Project, using: str, what: str) -> int:
    """The newest row of these that the last privacy check of a project read; 0 where it read none."""
    checks = Event.objects.using(using).filter(project=project, action="privacy.checked")
    check = checks.order_by("-pk").first()
    return int(check.details.get(what, 0)) if check else 0


# Blacking out what the privacy check found and a person decided to hide.

BLACK = "\u2588"


class Redactions:
    """The spans to black out, by the text that they are in.

    A text is named by its subject and field: `answer:17` and `text`, `query:3` and `text`, `context.0.text`,
    `context.0.answer` or `references.1`, `passage:5` and `text` or `title`, `candidate:8` and `text`,
    `judgment:4` and `text`, `response:6` and its field, of a part `response:6:1.2`. A span keeps its length,
    so that other spans of the same text still fit.
    """

    def __init__(self, project: Project, using: str) -> None:
        findings = PrivacyFinding.objects.using(using).filter(
            project=project, state=PrivacyFinding.State.REDACTED, end__gt=0
        )
        self._spans: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        for subject, place, start, end in findings.values_list("subject", "field", "start", "end"):
            self._spans[subject, place].append((start, end))

    def __bool__(self) -> bool:
        return bool(self._spans)

    def __len__(self) -> int:
        return sum(map(len, self._spans.values()))

    def of(self, subject: str, field: str, text: str) -> str:
        """The text as it is published."""
        spans = self._spans.get((subject, field))
        if not spans:
            return text
        for start, upto in spans:
            end = min(upto, len(text))
            if start < end:
                text = f"{text[:start]}{BLACK * (end - start)}{text[end:]}"
        return text


def fit(text: Any) -> str:
    """A text out of a JSON column as one that every file can hold: no lone surrogates, no NUL."""
    if not isinstance(text, str):
        return ""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


# Queries into train, validation and test, so that no two splits share a conversation or a passage.
#
# Pure: from keys and what they share to the name of a split. Queries that share something, directly or
# through others, form a group and stay together (paper 004, section 2, splits by context). Where a group goes
# depends on the seed and the group alone, so that data which are added later move nothing that is there.

_WHOLE = float(2**64)


def groups(shared: Iterable[tuple[str, str]], queries: Iterable[str]) -> dict[str, list[str]]:
    """Queries that hang together, by the least key among them; `shared` has pairs of a query and what it has.

    Each list is sorted.
    """
    parent: dict[str, str] = {query: query for query in queries}
    first: dict[str, str] = {}

    def root(query: str) -> str:
        while parent[query] != query:
            parent[query] = parent[parent[query]]
            query = parent[query]
        return query

    for query, thing in shared:
        if query not in parent:
            continue
        one, other = root(query), root(first.setdefault(thing, query))
        if one != other:
            parent[max(one, other)] = min(one, other)
    by_root: dict[str, list[str]] = defaultdict(list)
    for query in sorted(parent):
        by_root[root(query)].append(query)
    return dict(by_root)


def assigned(together: Mapping[str, Sequence[str]], *, seed: int, shares: Sequence[float]) -> dict[str, str]:
    """The split of each query. `shares` are those of train, validation and test.

    A group larger than a whole split should be stays in train. Where a split that has a share would be empty
    and there are groups enough, it gets the smallest group of the fullest split.
    """
    total = sum(map(len, together.values()))
    order = sorted(together, key=lambda name: (_place(name, seed), name))
    at: dict[str, str] = {}
    for name in order:
        split = _split_at(_place(name, seed), shares)
        most = max(1.0, shares[SPLITS.index(split)] * total)
        at[name] = split if split == SPLITS[0] or len(together[name]) <= most else SPLITS[0]
    for split, share in zip(SPLITS, shares, strict=True):
        if share and split not in at.values():
            _fill(split, at, together, order)
    return {query: at[name] for name, queries in together.items() for query in queries}


def _place(name: str, seed: int) -> float:
    digest = hashlib.sha256(f"split:{seed}:{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / _WHOLE


def _split_at(place: float, shares: Sequence[float]) -> str:
    """Test lies at the beginning of the interval, then validation, then train."""
    for split, upto in ((SPLITS[2], shares[2]), (SPLITS[1], shares[2] + shares[1])):
        if place < upto:
            return split
    return SPLITS[0]


def _fill(
    split: str, at: dict[str, str], together: Mapping[str, Sequence[str]], order: Sequence[str]
) -> None:
    members: dict[str, list[str]] = defaultdict(list)
    for name in order:
        members[at[name]].append(name)
    able = [member_names for member_names in members.values() if len(member_names) > 1]
    if able:
        fullest = max(able, key=lambda member_names: sum(len(together[name]) for name in member_names))
        at[min(fullest, key=lambda name: len(together[name]))] = split


Rows = TypeVar("Rows", bound=Model)
#: Rows of one batch, and queries of one batch, which are larger.
AT_ONCE, QUERIES_AT_ONCE = 5_000, 200
_KEYS_AT_ONCE = 10_000
#: Why answers of systems, and the ratings of them, are not in a release.
QUERY_LEFT_OUT, ANSWER_LEFT_OUT = "query_left_out", "answer_left_out"


@dataclass(frozen=True, slots=True)
class JudgedStage:
    """A stage in which people judged, and the filter run that is in force in it."""

    stage: Stage
    run: FilterRun | None


@dataclass(slots=True)
class FoundPassages:
    """How many candidate passages there are, and of how many queries."""

    passages: int = 0
    queries: int = 0


@dataclass(slots=True)
class Scope:
    """One state of a project's data. `queries` are key and split by primary key, in its order.

    `include` are the groups that were brought in. With `few` only rows of these queries are read, not all of
    the project. `candidates` are id, query's key, system and split by primary key, `without` says why others
    are not in, `asides` counts those that are in by why nobody judges them. `left_out` counts the project's
    other queries by their group. `accepted_answers` are the answers that go in for themselves, those of them
    that are held out are `aside`, and `written` counts all answers by why. All queries have one of
    `statuses`, unless none is named. Once they were read, `held_out` is how many answers are no references,
    `comments` how many ratings have one that goes in, `texts` counts what people wrote into questionnaires by
    whether the privacy check has read it, `passed_over` counts ratings that are not in by stage and reason,
    and `passage_counts` candidate passages by origin and ranker.
    """

    project: Project
    using: str
    people: People
    redactions: Redactions
    queries: dict[int, tuple[str, str]]
    judged_stages: tuple[JudgedStage, ...]
    include: tuple[str, ...] = ()
    few: bool = False
    candidates: dict[int, tuple[str, str, str, str]] = field(default_factory=dict)
    without: dict[int, str] = field(default_factory=dict)
    asides: Counter[str] = field(default_factory=Counter)
    held_out: int = 0
    comments: int = 0
    texts: Counter[bool] = field(default_factory=Counter)
    passed_over: Counter[tuple[str, str]] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    accepted_answers: KeySet = field(default_factory=KeySet)
    aside: KeySet = field(default_factory=KeySet)
    statuses: frozenset[str] = frozenset()
    written: Counter[str] = field(default_factory=Counter)
    passage_counts: dict[tuple[str, str], FoundPassages] = field(default_factory=dict)

    def of_queries(self, rows: QuerySet[Rows], query: str = "query") -> QuerySet[Rows]:
        """Rows of these queries alone where they are few; all rows where they are most of the project's."""
        return rows.filter(**{f"{query}__in": list(self.queries)}) if self.few else rows

    def brings_comments(self) -> bool:
        """Whether the table `ratings` has the column `comment`."""
        return COMMENTS in self.include and comments_of(self.project, self.using).exists()

    def of_candidates(self, rows: QuerySet[Rows]) -> QuerySet[Rows]:
        """Rows of these candidates alone where they are few."""
        return rows.filter(candidate__in=list(self.candidates)) if self.few else rows


class AnswersIn(NamedTuple):
    """Answers that go in for themselves, those held out, queries that have another one, and all by why."""

    accepted_answers: KeySet
    aside: KeySet
    answered: KeySet
    written: Counter[str]


def answers_in(rows: QuerySet[Any], include: Collection[str]) -> AnswersIn:
    """Ask once why each answer of people goes in or not: it takes the database long."""
    going_in = frozenset(inside(include))
    accepted, aside, answered, written = array("q"), array("q"), set[int](), Counter[str]()
    columns = rows.annotate(aside=Exists(held_out())).order_by()
    for pk, query, out, why in columns.values_list("pk", "query_id", "aside", "why").iterator(_KEYS_AT_ONCE):
        written[why] += 1
        if why in going_in:
            accepted.append(pk)
            if out:
                aside.append(pk)
            else:
                answered.add(query)
    return AnswersIn(KeySet(accepted), KeySet(aside), KeySet(answered), written)


def scope_of(project: Project, options: Options, using: str) -> Scope:
    """Read what all tables need; the memory that it takes grows with queries and systems' answers alone."""
    keys: dict[int, str] = {}
    left_out: Counter[str] = Counter()
    going_in = inside(options.include)
    answers = answers_in(answers_of(project, using), options.include)
    rows = queries_of(project, using, options.include, answers=False).order_by("pk")
    statuses = set()
    for pk, key, why, status in rows.values_list("pk", "key", "why", "status").iterator(AT_ONCE):
        if why in going_in or (why == UNANSWERED and pk in answers.answered):
            keys[pk] = key
            statuses.add(status)
        else:
            left_out[why] += 1
    together = groups(_shared(project, using, keys), keys.values())
    splits = assigned(together, seed=options.seed, shares=options.shares)
    scope = Scope(
        project,
        using,
        People(project, using),
        Redactions(project, using),
        {pk: (key, splits[key]) for pk, key in keys.items()},
        tuple(judged_in(project, using)),
        options.include,
        left_out=left_out,
        accepted_answers=answers.accepted_answers,
        aside=answers.aside,
        statuses=frozenset(statuses),
        written=answers.written,
    )
    find_candidates(scope)
    return scope


def find_candidates(scope: Scope) -> None:
    """Look up which answers of systems are in; `scope.taken` is known.

    An answer that was held out is one of the system `human`, and is in only where the answer itself is.
    """
    every = Candidate.objects.using(scope.using).filter(system__project=scope.project).order_by("pk")
    rows = scope.of_queries(every)
    systems: dict[str, str] = {}
    columns = rows.values_list("pk", "query_id", "answer_id", "aside", "system__name")
    for pk, query, answer, aside, system in columns.iterator(AT_ONCE):
        if query not in scope.queries:
            scope.without[pk] = QUERY_LEFT_OUT
        elif answer is not None and answer not in scope.accepted_answers:
            scope.without[pk] = ANSWER_LEFT_OUT
        else:
            key, split = scope.queries[query]
            scope.candidates[pk] = (f"c{pk}", key, systems.setdefault(system, system), split)
            scope.asides[aside] += 1


def _shared(project: Project, using: str, keys: dict[int, str]) -> Iterator[tuple[str, str]]:
    """What queries have in common: the conversation, the turns before, the texts of curated passages."""
    rows = Query.objects.using(using).filter(project=project).exclude(conversation="", context=[])
    for pk, conversation, context in rows.values_list("pk", "conversation", "context").iterator(AT_ONCE):
        if pk in keys and conversation:
            yield keys[pk], f"conversation:{conversation}"
        if pk in keys and context:
            yield keys[pk], f"turns:{_digest(json.dumps(context, sort_keys=True))}"
    passages = CuratedPassage.objects.using(using).filter(curated_set__query__project=project)
    texts = passages.order_by().values_list("curated_set__query_id", "candidate__text")
    for pk, text in texts.iterator(AT_ONCE):
        if pk in keys:
            yield keys[pk], f"passage:{_digest(' '.join(text.split()))}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:24]


def judged_in(project: Project, using: str) -> Iterator[JudgedStage]:
    """Stages with judgments, in the order in which they were made."""
    has_judgments = Exists(Judgment.objects.filter(stage=OuterRef("pk")))
    stages = (
        Stage.objects.using(using)
        .filter(has_judgments, project=project)
        .select_related("project", "endpoint")
    )
    for stage in stages.order_by("pk"):
        runs = FilterRun.objects.using(using).in_force().filter(stage=stage)
        yield JudgedStage(stage, runs.first())


# One state of the database for all tables of a release, while people go on working.
#
# The rows of a release are read with many statements. On a connection of its own, in one transaction that
# sees the database as it was at its first statement, they fit together: no rating without its answer.
# Progress is meanwhile written through the ordinary connection.

ALIAS = "snapshot"


@contextmanager
def snapshot() -> Iterator[str]:
    """The alias through which to read. Inside of a transaction it is that one, with its own view."""
    if connection.in_atomic_block:
        yield DEFAULT_DB_ALIAS
        return
    settings = _settings()
    wrapper = load_backend(settings["ENGINE"]).DatabaseWrapper(settings, ALIAS)
    connections[ALIAS] = wrapper
    try:
        with transaction.atomic(using=ALIAS):
            if wrapper.vendor == "postgresql":
                with wrapper.cursor() as cursor:
                    # Each of the statements is sent once: compiling one takes longer than it saves.
                    cursor.execute("SET LOCAL jit = off")
            yield ALIAS
    finally:
        wrapper.close()
        del connections[ALIAS]


def _settings() -> dict[str, Any]:
    """Those of the ordinary connection, for a reader that sees one state and blocks no writer."""
    settings: dict[str, Any] = {**connection.settings_dict, "CONN_MAX_AGE": 0}
    settings["OPTIONS"] = dict(settings.get("OPTIONS") or {})
    if connection.vendor == "sqlite":
        # Not our own engine, which would take the queue of writers; a reader of the log blocks nobody.
        settings["ENGINE"] = "django.db.backends.sqlite3"
        settings["OPTIONS"]["transaction_mode"] = "DEFERRED"
    elif connection.vendor == "postgresql":
        from django.db.backends.postgresql.psycopg_any import IsolationLevel  # noqa: PLC0415 - PostgreSQL only

        settings["OPTIONS"]["isolation_level"] = IsolationLevel.REPEATABLE_READ
    return settings
