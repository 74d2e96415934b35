"""Files of an evaluation: JSON, values of single queries, runs. All are written, or none."""

import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import IO

from core.files import atomic
from core.files.atomic import Write
from core.files.cells import cell
from retrieval.errors import EvaluationError
from retrieval.evaluation.report import Evaluation, as_json
from retrieval.evaluation.runs import Run, write_run

_UNSAFE = re.compile(r"[^\w.=-]+")
_READABLE = 0o644


def write_json(evaluation: Evaluation, file: IO[bytes]) -> None:
    """Everything but the values of single queries."""
    text = json.dumps(as_json(evaluation), ensure_ascii=False, indent=2, default=str, allow_nan=False)
    file.write(text.encode("utf-8", "replace") + b"\n")


def write_queries(evaluation: Evaluation, file: IO[bytes]) -> None:
    """A row per query and system, as CSV in UTF-8: query, conversation, system, a column per measure.

    An id that a spreadsheet would run as a formula gets an apostrophe before it.
    """
    text = io.TextIOWrapper(file, encoding="utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    names = [measure.name for measure in evaluation.measures]
    writer.writerow(["query", "conversation", "system", *names])
    for at, question in enumerate(evaluation.questions):
        for each in evaluation.systems:
            values = evaluation.values[each.run.name]
            about = (question.id, question.conversation, each.run.name)
            writer.writerow([*map(cell, about), *(repr(float(values[name][at])) for name in names)])
    text.detach()


def run_files(folder: Path, runs: Sequence[Run]) -> dict[Path, Write]:
    """A TREC run file for each run, named after it."""
    names: dict[str, Run] = {}
    for run in runs:
        stem = _UNSAFE.sub("-", run.name).strip("-.") or "run"
        name, number = stem, 1
        while name.lower() in names:
            number += 1
            name = f"{stem}-{number}"
        names[name.lower()] = run
    return {folder / f"{name}.run": partial(_write_run, run) for name, run in names.items()}


def write_together(files: Mapping[Path, Write]) -> None:
    """Write all files or none; EvaluationError names one that cannot be written."""
    try:
        atomic.write_together(files, mode=_READABLE)
    except atomic.FileWriteError as error:
        raise EvaluationError(str(error)) from error


def _write_run(run: Run, file: IO[bytes]) -> None:
    write_run(file, run)
