"""The first three stages in bulk: queries come in, are screened and curated, and answered."""

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from annotation.models import (
    Answer,
    AnswerFlag,
    AnswerReview,
    CandidatePassage,
    CuratedPassage,
    CuratedSet,
    HeldOutWorker,
    PassageSelection,
    Query,
    QueryStep,
    ScreeningVote,
)
from annotation.services.importing import import_queries
from annotation.units import distil_scope, judge_scope, of_query
from core.bulk_rows import BulkTable
from crowd.models import Stage
from tests.campaign.texts import Texts
from tests.campaign.world import Crowd, World

_PER_HIT = 5
_PASSAGES = 10
_STATUS = Query.Status
_FIT = (True, True, "informational", "", False, False)
_UNFIT = (True, False, "navigational", "", False, False)
#: What becomes of the queries that do not pass, in hundredths of all of them.
_LOST = {
    _STATUS.EXCLUDED: 10,
    _STATUS.UNANSWERABLE: 3,
    _STATUS.DISPUTED: 2,
    _STATUS.ACCEPTED: 2,
    _STATUS.TIED: 1,
    _STATUS.WAITING: 1,
    _STATUS.WITHDRAWN: 1,
}
_REASONS = {
    _STATUS.EXCLUDED: "4 of 4: navigational",
    _STATUS.TIED: "2 of 4: navigational",
    _STATUS.ACCEPTED: "4 of 4: fit to be answered",
    _STATUS.UNANSWERABLE: "3 of 3: no passage answers it",
    _STATUS.DISPUTED: "No passage was chosen by more than half.",
    _STATUS.CURATED: "2 of 3 chose the same passages",
    _STATUS.WITHDRAWN: "Asks about the study itself.",
}
_FLAGS = (
    ("copy-share", 0.71, 0.5, {"spans": [{"start": 0, "end": 12}], "tokens": 9, "of": 13}),
    ("typing-rate", 812.0, 600.0, {"typed": 140, "active_s": 11.2, "keystrokes": 151}),
    ("spelling", 0.4, 0.3, {"spans": [{"start": 0, "end": 5}], "of": 12}),
    ("length", 4.2, 3.5, {"length": 320, "median": 90, "compared": 24}),
)


@dataclass(slots=True)
class Written:
    """What judging needs to know: the queries with answers, and held-out answers as (query, answer, text)."""

    queries: list[int] = field(default_factory=list)
    held_out: list[tuple[int, int, str]] = field(default_factory=list)


def queries(world: World, texts: Texts) -> list[int]:
    """Import two logs through the service; the keys of all queries."""
    half = world.size.queries // 2
    with tempfile.TemporaryDirectory() as folder:
        for name, numbers in (("log.jsonl", range(half)), ("more.jsonl", range(half, world.size.queries))):
            path = Path(folder) / name
            lines = (
                json.dumps({
                    "id": f"q{number:06d}",
                    "text": texts.query(number),
                    "count": 1 + number % 40,
                    "type": Query.Type.values[number % 5],
                })
                for number in numbers
            )  # fmt: skip
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            import_queries(project=world.project, path=path, actor=world.owner)
    return list(Query.objects.filter(project=world.project).order_by("pk").values_list("pk", flat=True))


def fates(world: World, keys: Sequence[int]) -> dict[int, _STATUS]:
    """What becomes of each query, by key; two in a hundred that pass lack an answer again."""
    total, passed = len(keys), world.size.passed
    drawn: list[_STATUS] = [_STATUS.ANSWERED] * passed
    for status, share in _LOST.items():
        drawn += [status] * (total * share // 100)
    drawn += [_STATUS.EXCLUDED] * (total - len(drawn))
    world.chance.shuffle(drawn)
    found = dict(zip(keys, drawn, strict=True))
    answered = [key for key, status in found.items() if status == _STATUS.ANSWERED]
    return found | dict.fromkeys(world.chance.sample(answered, passed // 50), _STATUS.CURATED)


def screened(world: World, stage: Stage, fate: dict[int, _STATUS]) -> None:
    """Votes of four editors about every query but those that wait."""
    crowd = Crowd(world, stage, world.editors, 2)
    votes = BulkTable(
        ScreeningVote, "stage_id", "assignment_id", "query_id", "unambiguous", "answerable", "intent",
        "excluded_kind", "sensitive", "adult",
    )  # fmt: skip
    names = ("unambiguous", "answerable", "intent", "excluded_kind", "sensitive", "adult")
    for some in _bundles([key for key, status in fate.items() if status != _STATUS.WAITING], 10):
        units = [(of_query(key), "unit") for key in some]
        for hit, workers in crowd.hits(units, [distil_scope(key) for key in some]):
            for number, worker in enumerate(workers):
                given = {key: _vote(fate[key], number) for key in some}
                response = {of_query(key): dict(zip(names, vote, strict=True)) for key, vote in given.items()}
                work = crowd.work(hit, worker, len(workers), response)
                votes.add_all((stage.pk, work.pk, key, *vote) for key, vote in given.items())
    votes.close()
    crowd.close(status=Stage.Status.CLOSED)


def _vote(status: _STATUS, number: int) -> tuple[object, ...]:
    against = status == _STATUS.EXCLUDED or (status == _STATUS.TIED and number % 2)
    return _UNFIT if against else _FIT


def curated(world: World, stage: Stage, texts: Texts, fate: dict[int, _STATUS]) -> None:
    """Candidate passages, choices of three editors, and the sets that come of them."""
    crowd = Crowd(world, stage, world.editors, 8)
    candidates = BulkTable(
        CandidatePassage, "query_id", "rank", "origin", "key", "text", "title", "url", "page"
    )
    selections = BulkTable(
        PassageSelection, "stage_id", "assignment_id", "query_id", "answerable", "passages", "conflicts",
        "highlights",
    )  # fmt: skip
    sets = BulkTable(CuratedSet, "query_id", "rule", "stage_id", "created_at")
    members = BulkTable(CuratedPassage, "curated_set_id", "candidate_id", "position")
    passed = (_STATUS.ANSWERED, _STATUS.CURATED)
    asked = [key for key, status in fate.items() if status in (*passed, *(_STATUS.UNANSWERABLE, "disputed"))]
    for key in asked:
        pks = []
        for rank in range(1, _PASSAGES + 1):
            page = f"https://example.org/page/{world.chance.randrange(100_000)}"
            name = f"{key}#{rank}"
            pks.append(candidates.add(key, rank, "imported", name, texts.passage(), name, page, page))
        if fate[key] in passed:
            made = sets.add(key, "majority", stage.pk, world.at(14))
            members.add_all((made, pk, position) for position, pk in enumerate(pks[:2], 1))
    for some in _bundles(asked, _PER_HIT):
        units = [(of_query(key), "unit") for key in some]
        for hit, workers in crowd.hits(units, [distil_scope(key) for key in some]):
            for number, worker in enumerate(workers):
                given = {key: _choice(key, fate[key], number) for key in some}
                response = {of_query(key): choice for key, choice in given.items()}
                work = crowd.work(hit, worker, len(workers), response)
                selections.add_all(
                    (stage.pk, work.pk, key, *choice.values()) for key, choice in given.items()
                )
    for table in (candidates, selections, sets, members):
        table.close()
    crowd.close(status=Stage.Status.CLOSED)


def _choice(key: int, status: _STATUS, number: int) -> dict[str, object]:
    ranks = (1, 2)
    if status == _STATUS.UNANSWERABLE:
        ranks = ()
    elif status == _STATUS.DISPUTED:
        ranks = (3 * number + 1,)
    elif number == 2:
        ranks = (1, 4)
    chosen = [f"{key}#{rank}" for rank in ranks]
    return {"answerable": bool(chosen), "passages": chosen, "conflicts": [], "highlights": []}


def answered(world: World, stage: Stage, texts: Texts, fate: dict[int, _STATUS]) -> Written:
    """Answers with their flags and the reviewers' decisions; some are held out."""
    crowd = Crowd(world, stage, world.writers, 15)
    chance, done = world.chance, Written()
    answers = BulkTable(
        Answer, "stage_id", "assignment_id", "worker_id", "query_id", "text", "state", "created_at",
        "checked_at",
    )  # fmt: skip
    flags = BulkTable(AnswerFlag, "answer_id", "name", "value", "limit", "evidence", "created_at")
    reviews = BulkTable(AnswerReview, "answer_id", "actor_id", "action", "reason", "at")
    apart = BulkTable(HeldOutWorker, "query_id", "worker_id", "seed", "created_at")
    done.queries = [key for key, status in fate.items() if status in (_STATUS.ANSWERED, _STATUS.CURATED)]
    held_out = set(done.queries[:: max(1, len(done.queries) // max(1, world.size.held_out))])
    waiting, seen = set(list(held_out)[: world.size.held_out]), Counter[int]()
    reviewed = set(done.queries[: len(done.queries) // 2])
    for some in _bundles(done.queries, _PER_HIT):
        units = [(of_query(key), "unit") for key in some]
        for hit, workers in crowd.hits(units, [judge_scope(key) for key in some]):
            for worker in workers:
                said = {key: texts.answer() for key in some}
                length = sum(map(len, said.values()))
                response = {of_query(key): {"text": text} for key, text in said.items()}
                draft = {f"{of_query(key)}|text": text for key, text in said.items()}
                work = crowd.work(hit, worker, len(workers), response, characters=length, draft=draft)
                for key, text in said.items():
                    state, seen[key] = Answer.State.UNDECIDED, seen[key] + 1
                    if seen[key] == 1 and fate[key] == _STATUS.CURATED:
                        state = Answer.State.EXCLUDED
                    elif key in reviewed:
                        state = Answer.State.APPROVED
                    made = answers.add(
                        stage.pk, work.pk, worker, key, text, state, work.stored_at, work.stored_at
                    )
                    if chance.random() < 0.08:
                        name, value, limit, evidence = chance.choice(_FLAGS)
                        flags.add(made, name, value, limit, evidence, work.stored_at)
                    if state != Answer.State.UNDECIDED:
                        out = state == Answer.State.EXCLUDED
                        reviews.add(
                            made, world.owner.pk, "exclude" if out else "approve",
                            "It answers something else." if out else "",
                            work.stored_at + timedelta(days=1),
                        )  # fmt: skip
                    if key in waiting and work.good and state != Answer.State.EXCLUDED:
                        waiting.remove(key)
                        apart.add(key, worker, stage.seed, work.stored_at)
                        done.held_out.append((key, made, text))
    for table in (answers, flags, reviews, apart):
        table.close()
    crowd.close(status=Stage.Status.PAUSED)
    return done


def settled(world: World, fate: dict[int, _STATUS]) -> None:
    """Each query's status, with the steps of its way."""
    steps = BulkTable(
        QueryStep, "query_id", "at", "stage_id", "actor_id", "before", "after", "reason", "details"
    )
    by_reason: dict[tuple[str, str], list[int]] = {}
    many = f"It has {world.size.answers_per_query} answers."
    for key, status in fate.items():
        reason = ""
        for before, after, kind, day in _way(status):
            reason = many if after == _STATUS.ANSWERED else _REASONS[after]
            stage = world.stages[kind].pk if kind else None
            actor = None if kind else world.owner.pk
            steps.add(key, world.at(day), stage, actor, before, after, reason, {})
        if status == _STATUS.CURATED:
            reason = "It lacks one answer: an answer was excluded."
            steps.add(
                key, world.at(22), world.stages["distillation"].pk, world.owner.pk, _STATUS.ANSWERED,
                _STATUS.CURATED, reason, {},
            )  # fmt: skip
        by_reason.setdefault((status, reason), []).append(key)
    steps.close()
    for (status, reason), keys in by_reason.items():
        for some in _bundles(keys, 500):
            Query.objects.filter(pk__in=some).update(status=status, status_reason=reason)


def _way(status: _STATUS) -> Iterator[tuple[str, _STATUS, str, float]]:
    waiting, accepted = _STATUS.WAITING, _STATUS.ACCEPTED
    if status in (_STATUS.EXCLUDED, _STATUS.TIED):
        yield waiting, status, "screening", 7
    elif status == _STATUS.WITHDRAWN:
        yield waiting, status, "", 7
    elif status != waiting:
        yield waiting, accepted, "screening", 7
        if status in (_STATUS.UNANSWERABLE, _STATUS.DISPUTED):
            yield accepted, status, "curation", 14
        elif status != accepted:
            yield accepted, _STATUS.CURATED, "curation", 14
            yield _STATUS.CURATED, _STATUS.ANSWERED, "distillation", 21


def _bundles(keys: Sequence[int], size: int) -> Iterator[Sequence[int]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]
