"""What a study found: figures with their n or why one is missing, files of scores and of responses."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from django.db.models import F, QuerySet
from django.utils import timezone

from annotation.models import Answer, Query
from core.files.atomic import Write, write_together
from core.files.cells import cell, csv_line_writer
from core.progress import silent
from crowd.counted_work import counting
from crowd.models import Stage, Worker
from crowd.selectors.pseudonyms import worker_pseudonyms
from judgments.judging_config import judging_config
from judgments.models import Candidate, Judgment
from judgments.questionnaire.config import questionnaire_config
from judgments.questionnaire.report import make_report
from judgments.questionnaire.rows import csv_lines, pair_table, protocol_table, response_rows
from judgments.selectors.judges import judges
from judgments.selectors.live import SystemScore, live
from judgments.selectors.scores import random_scores_caution, raw_scores, with_candidates
from judgments.services import reports

_CHUNK = 2_000
_LEVELS = ("interval", "ordinal", "nominal")
UNFILTERED = (
    "Filters were applied on the desk: these figures are from before them, the release has those after."
)
ONE_QUESTION = "an interval needs answers to two questions"


def results_of(stage: Stage) -> dict[str, Any]:
    """All figures of a stage as JSON. Those of a release of the same rows are the same."""
    about = {
        "project": stage.project.slug,
        "title": stage.project.title,
        "stage": stage.slug,
        "kind": stage.kind,
        "made_at": timezone.now().isoformat(timespec="seconds"),
    }
    if stage.kind == "questionnaire":
        return about | make_report(stage) | {"kind": stage.kind}
    return about | (_judging_results(stage) if stage.kind == "judging" else _answer_results(stage))


def _judging_results(stage: Stage) -> dict[str, Any]:
    report, figures = reports.make(stage, silent).report, live(stage)
    simulated = _judgments(stage).filter(worker__simulated=True).count()
    misleading = random_scores_caution(stage)
    empty = Candidate.objects.filter(query__project=stage.project, aside=Candidate.UnjudgedReason.EMPTY)
    no_answer = Counter(empty.values_list("system__name", flat=True))
    return {
        "n_ratings": figures.judgments,
        "n_answers": figures.items,
        "n_people": figures.workers,
        "simulated_ratings": simulated,
        "scale": list(figures.scale.ends),
        "systems": [_system(row, misleading, figures.scale.ends, no_answer) for row in figures.systems],
        "agreement": {
            **_agreement(report, misleading),
            "n_ratings": figures.judgments,
            "n_people": figures.workers,
        },
        "people": _people(stage),
        "warnings": [
            *([misleading] if misleading else []),
            *(
                f"{name} gave no answer to {n:,} of its questions: its mean is without them."
                for name, n in sorted(no_answer.items())
            ),
            *([UNFILTERED] if figures.kept_scores else []),
            *report["warnings"],
        ],
        "seed": report["seed"],
        "signatures": report["signatures"],
    }


def _system(
    row: SystemScore, misleading: str, ends: tuple[Any, Any], no_answer: Mapping[str, int]
) -> dict[str, Any]:
    """A system's mean over its answers, one to a question; null with a reason where it would mislead.

    Its interval ends where the scale does. Questions to which it gave `no_answer` are not in the mean.
    """
    figures: dict[str, Any] = {
        "system": row.system,
        "n": row.items,
        "no_answer": no_answer.get(row.system, 0),
    }
    if misleading:
        return figures | {"mean": None, "low": None, "high": None, "reason": misleading}
    if row.low is None or row.high is None:
        return figures | {"mean": row.mean, "low": None, "high": None, "reason": ONE_QUESTION}
    return figures | {
        "mean": row.mean,
        "low": max(row.low, float(ends[0])),
        "high": min(row.high, float(ends[1])),
    }


def _agreement(report: Mapping[str, Any], misleading: str) -> dict[str, Any]:
    alpha = report["alpha"]["before"]
    if misleading:
        nothing = dict.fromkeys((*_LEVELS, "low", "high"))
        return {"alpha": nothing, "percent": None, "reason": misleading}
    low, high = alpha["ci"] or (None, None)
    levels = {level: alpha[level] for level in _LEVELS}
    figures = {
        "alpha": levels | {"low": low, "high": high},
        "percent": report["agreement"]["before"]["percent"],
    }
    reasons = "; ".join(dict.fromkeys(alpha.get("reason", {}).values()))
    return figures | {"reason": reasons} if reasons else figures


def _people(stage: Stage) -> list[dict[str, Any]]:
    """The judges by pseudonym, those with something to look at first."""
    rows = judges(stage)
    names = worker_pseudonyms(stage.project, [row.worker for row in rows])
    people = [
        {
            "person": names[row.worker],
            "ratings": row.ratings,
            "mean": row.mean,
            "kappa": row.kappa,
            "kappa_n": row.kappa_n,
            "seconds_per_hit": row.seconds,
            "checks": row.presented,
            "failed_checks": row.failed,
            "flags": list(row.flags),
            "simulated": row.simulated,
        }
        for row in rows
    ]
    return sorted(people, key=lambda person: (not person["flags"], person["person"]))


def _answer_results(stage: Stage) -> dict[str, Any]:
    answers = _answers(stage)
    workers = Worker.objects.filter(pk__in=answers.values("worker")).distinct()
    questions = answers.values("query").distinct().count()
    flagged = answers.filter(flags__isnull=False).distinct().count()
    return {
        "n_answers": answers.count(),
        "n_questions": questions,
        "n_people": workers.count(),
        "simulated_answers": answers.filter(worker__simulated=True).count(),
        "flagged_answers": flagged,
        "states": {state: answers.filter(state=state).count() for state in Answer.State.values},
        "warnings": [] if questions else ["There are no answers."],
    }


def _judgments(stage: Stage) -> QuerySet[Judgment]:
    """Those of work that counts, which means and agreement are made of."""
    return Judgment.objects.filter(counting("assignment"), stage=stage)


def _answers(stage: Stage) -> Any:
    return Answer.objects.filter(counting("assignment"), stage=stage)


def write_results(stage: Stage, results: Mapping[str, Any], folder: Path) -> list[str]:
    """`results.json`, `scores.csv` (or `answers.csv`), `responses.jsonl`, all or none; their names."""
    if stage.kind == "questionnaire":
        return _write_questionnaire(stage, results, folder)
    table = _score_lines if stage.kind == "judging" else _answer_lines
    name = "scores.csv" if stage.kind == "judging" else "answers.csv"
    text = json.dumps(results, indent=2, ensure_ascii=False) + "\n"
    files: dict[Path, Write] = {
        folder / "results.json": lambda file: _write_lines(file, [text]),
        folder / name: lambda file: _write_lines(file, table(stage)),
        folder / "responses.jsonl": lambda file: _write_lines(file, _responses(stage)),
    }
    folder.mkdir(parents=True, exist_ok=True)
    write_together(files)
    return [path.name for path in files]


def _write_questionnaire(stage: Stage, results: Mapping[str, Any], folder: Path) -> list[str]:
    """Figures, single responses, and the table that `preferences`, `support` or `nuggets` reads."""
    config = questionnaire_config(stage)
    text = json.dumps(results, indent=2, ensure_ascii=False) + "\n"
    rows = (json.dumps(row, ensure_ascii=False) + "\n" for row in response_rows(stage, config))
    files: dict[Path, Write] = {
        folder / "results.json": lambda file: _write_lines(file, [text]),
        folder / "responses.jsonl": lambda file: _write_lines(file, rows),
    }
    if any(field.compares for field in config.fields):
        files[folder / "pairs.csv"] = lambda file: _write_lines(file, csv_lines(pair_table(stage, config)))
    if (labels := protocol_table(stage, config)) is not None:
        files[folder / "labels.csv"] = lambda file: _write_lines(file, csv_lines(labels))
    folder.mkdir(parents=True, exist_ok=True)
    write_together(files)
    return [path.name for path in files]


def _write_lines(file: Any, lines: Iterable[str]) -> None:
    for line in lines:
        file.write(line.encode())


def _score_lines(stage: Stage) -> Iterator[str]:
    """A line for each judged answer: how many ratings, their mean and standard deviation."""
    line = csv_line_writer()
    yield line(["question_id", "question", "system", "answer", "n", "mean", "sd", "median"])
    rows = raw_scores(stage, live(stage).stamp, "query", "", down=False)
    for start in range(0, len(rows), _CHUNK):
        scored = with_candidates(rows[start : start + _CHUNK])
        queries = Query.objects.in_bulk({row.candidate.query_id for row in scored})
        for row in scored:
            query, candidate = queries[row.candidate.query_id], row.candidate
            texts = (query.key, query.text, candidate.system.name, candidate.text)
            yield line([*map(cell, texts), row.n_kept, row.mean, row.sd, row.median])


def _answer_lines(stage: Stage) -> Iterator[str]:
    """A line for each answer of a person."""
    line = csv_line_writer()
    yield line(["question_id", "question", "answer", "person", "state"])
    for row in _response_rows(stage):
        yield line(
            [cell(str(row[name])) for name in ("question_id", "question", "answer", "person", "state")]
        )


def _responses(stage: Stage) -> Iterator[str]:
    for row in _response_rows(stage):
        yield json.dumps(row, ensure_ascii=False) + "\n"


def _response_rows(stage: Stage) -> Iterator[dict[str, Any]]:
    """What people said, one row each, under their pseudonyms, in the order in which it came."""
    judging = stage.kind == "judging"
    if judging:
        scale = judging_config(stage).rating_scale
        rows = _judgments(stage).annotate(
            key=F("candidate__query__key"),
            question=F("candidate__query__text"),
            system=F("candidate__system__name"),
            answer=F("candidate__text"),
        )
        columns: tuple[str, ...] = ("system", "answer", "score", "aspects", "comment", "at")
    else:
        rows = _answers(stage).annotate(
            key=F("query__key"), question=F("query__text"), answer=F("text"), at=F("created_at")
        )
        columns = ("answer", "opinion", "state", "at")
    names: dict[int, str] = {}
    values = ("worker", "worker__simulated", "key", "question", *columns)
    for row in rows.order_by("pk").values(*values).iterator(_CHUNK):
        worker = row.pop("worker")
        if worker not in names:
            names |= worker_pseudonyms(stage.project, [worker])
        response = {
            "person": names[worker],
            "simulated": row.pop("worker__simulated"),
            "question_id": row.pop("key"),
            **row,
            "at": row["at"].isoformat(timespec="seconds"),
        }
        yield response | {"score": scale.number(row["score"])} if judging else response
