"""Single answers for the plots of an evaluation: kept beside its files, for the page of the desk."""

import json
from dataclasses import asdict
from typing import IO

from core.files.atomic import Write
from evaluations.reporting.points import NONE, Points, Sample
from evaluations.table_evaluation import EvaluationResult

FILE = "points.json"


def points_of(done: EvaluationResult, seed: int) -> Points:
    """A sample of answers that does not depend on the order of the rows."""
    judged = done.judged
    names = sorted(judged.metrics)
    sample = Sample(names, seed=seed)
    columns = [judged.metrics[name].tolist() for name in names]
    questions, systems = judged.questions.tolist(), judged.systems.tolist()
    for row, human in enumerate(judged.human.tolist()):
        question = questions[row]
        sample.add(
            judged.question_names[question],
            human,
            [column[row] for column in columns],
            system=judged.system_names[systems[row]],
            type=judged.types[question] if judged.types else "",
        )
    return sample.points()


def points_file(points: Points) -> Write:
    """Points as a file."""

    def write(file: IO[bytes]) -> None:
        file.write(json.dumps(asdict(points), ensure_ascii=False, allow_nan=False).encode())

    return write


def points_in(file: IO[bytes]) -> Points:
    """Points from a file; none where it is not one."""
    try:
        return Points(**json.load(file))
    except (TypeError, ValueError):
        return NONE
