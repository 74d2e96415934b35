"""The last stage in bulk: systems answer, judges score; filters and the report come from the services."""

from collections.abc import Iterator
from typing import Any

from annotation.units import distil_scope
from core.bulk_rows import BulkTable
from crowd.models import Stage
from judgments.judging_config import judging_config
from judgments.models import AttentionCheck, Candidate, CandidateSource, CheckAnswer, Judgment, System
from judgments.services.judging import ensure_checks
from judgments.units import of_candidate, of_check
from tests.campaign.annotated import Written
from tests.campaign.texts import Texts
from tests.campaign.world import Crowd, World

_PER_HIT = 10
_SPAM, _HONEST_BIAS, _NOISE = 0.12, 0.37, 0.8
#: Further answers that nobody judges: copies of references, no answers, answers taken out.
_ASIDE = ("exact", "empty", "withdrawn")


def systems(world: World, texts: Texts, written: Written) -> list[tuple[int, int]]:
    """All candidates; those to judge as (key, query), those of a query together."""
    project, at = world.project, world.at(22)
    source = CandidateSource.objects.create(
        project=project, name="systems.jsonl", format="jsonl", sha256="0" * 64, created_by=world.owner,
        report=_report(written, world.size.systems), created_at=at,
    )  # fmt: skip
    programs = [_system(world, f"system-{number}", "program") for number in range(world.size.systems)]
    people = _system(world, System.PEOPLE, "human") if written.held_out else None
    table = BulkTable(
        Candidate, "query_id", "system_id", "source_id", "answer_id", "text", "aside", "aside_reason",
        "line", "created_at",
    )  # fmt: skip
    held: dict[int, tuple[int, str]] = {query: (answer, text) for query, answer, text in written.held_out}
    made, line = [], 0
    for query in written.queries:
        for system in programs:
            line += 1
            made.append((table.add(query, system, source.pk, None, texts.answer(), "", "", line, at), query))
        if people is not None and query in held:
            answer, text = held[query]
            made.append((table.add(query, people, None, answer, text, "", "", None, at), query))
    echo = _system(world, "echo", "program")
    for number, query in enumerate(written.queries[::20]):
        aside, line = _ASIDE[number % 3], line + 1
        reason = "It repeats the passage." if aside == "withdrawn" else ""
        text = "" if aside == "empty" else texts.answer()
        table.add(query, echo, source.pk, None, text, aside, reason, line, at)
    table.close()
    return made


def _system(world: World, name: str, kind: str) -> int:
    made = System.objects.create(project=world.project, name=name, kind=kind, created_at=world.at(22))
    return int(made.pk)


def _report(written: Written, count: int) -> dict[str, Any]:
    records = len(written.queries) * count
    counts = dict.fromkeys(("kept", "exact", "empty", "unchanged", "repeated", "unknown", "conflict"), 0)
    each = {"new": len(written.queries), "refused": 0} | counts
    return {
        "file": "systems.jsonl", "sha256": "0" * 64, "format_words": "JSON lines", "unit": "line",
        "records": records, "refused": 0, "refusals": [], "without_reference": 0, "query_out": 0,
        "further": 0, "rules": {"new": {"words": "new answers", "count": records, "examples": []}},
        "systems": {f"system-{number}": each for number in range(count)},
    }  # fmt: skip


def judged(world: World, stage: Stage, candidates: list[tuple[int, int]]) -> None:
    """Judgments of as many judges as the stage asks for; about one in eight judges does not read."""
    checks = _checks(stage)
    crowd = Crowd(world, stage, world.judges, 24)
    chance = world.chance
    careless = {judge for judge in world.judges if chance.random() < _SPAM}
    bias = {judge: chance.gauss(0, _HONEST_BIAS) for judge in world.judges}
    judgments = BulkTable(
        Judgment, "stage_id", "assignment_id", "worker_id", "candidate_id", "score", "comment", "at"
    )
    passes = BulkTable(CheckAnswer, "check_item_id", "assignment_id", "worker_id", "score", "passed", "at")
    for bundle in _bundles(candidates):
        quality = {key: chance.choice((1.2, 1.5, 3.0, 4.6, 4.8)) for key, _ in bundle}
        check, accepted = chance.choice(checks) if checks else (0, [])
        asked = [(of_candidate(key), "unit") for key, _ in bundle]
        if checks:
            asked.insert(chance.randrange(len(asked)), (of_check(check), "check"))
        marks = sorted({distil_scope(query) for _, query in bundle})
        for hit, workers in crowd.hits(asked, marks):
            for worker in workers:
                blind = worker in careless
                scores = {
                    key: chance.randrange(1, 6) if blind else _near(chance.gauss(mean + bias[worker], _NOISE))
                    for key, mean in quality.items()
                }
                response = {of_candidate(key): {"score": score} for key, score in scores.items()}
                right, passed = 0, True
                if checks:
                    passed = chance.random() < (0.4 if blind else 0.998)
                    right = accepted[0] if passed else _other(accepted)
                    response[of_check(check)] = {"score": right}
                work = crowd.work(hit, worker, len(workers), response, failed=int(not passed))
                judgments.add_all(
                    (stage.pk, work.pk, worker, key, score, "", work.stored_at)
                    for key, score in scores.items()
                )
                if checks:
                    passes.add(check, work.pk, worker, right, passed, work.stored_at)
    for bundle in _bundles(candidates[: len(candidates) // 100]):
        crowd.open_hit([(of_candidate(key), "unit") for key, _ in bundle], 3, 2)
    judgments.close()
    passes.close()
    crowd.close(status=Stage.Status.OPEN)


def _checks(stage: Stage) -> list[tuple[int, list[int]]]:
    made = ensure_checks(stage, judging_config(stage))
    return list(AttentionCheck.objects.filter(pk__in=made).order_by("pk").values_list("pk", "accepted"))


def _near(score: float) -> int:
    return min(5, max(1, round(score)))


def _other(accepted: list[int]) -> int:
    return next(score for score in (1, 5, 3, 2, 4) if score not in accepted)


def _bundles(candidates: list[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    for start in range(0, len(candidates), _PER_HIT):
        yield candidates[start : start + _PER_HIT]
