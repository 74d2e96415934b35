"""Damaged, odd and hostile files for every importer: each is read or refused in words, and none hangs.

Formats that are unpacked in a program of their own are read in this one, where its faults show.
"""

import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from annotation.importing.datasets import read_rewrites
from annotation.importing.detect import FORMATS, open_reader
from annotation.importing.selection import read_words
from core.files.refusals import FileRefusedError
from core.files.text_source import TextSource
from crowd.simulation.accounts import SimulationError, accounts_from
from crowd.study.explain import StudyError
from crowd.study.reader import read as read_study
from distillery_learned.training.kpqa_examples import DropCounts
from distillery_learned.training.kpqa_files import examples_of
from evaluations.errors import EvaluationError
from evaluations.external_scores import Candidates
from evaluations.external_scores import read as read_external_scores
from evaluations.file_table import open_table as open_answer_table
from judgments.answer_files import FORMATS as ANSWER_FORMATS
from judgments.answer_files import open_answers
from judgments.rating_table import read_ratings
from marketplace.batches import results, templates
from marketplace.errors import Refusal
from marketplace.forms.html import task_document
from marketplace.forms.questionform import parse_form
from marketplace.forms.questions import parse_question
from marketplace.forms.sheets import Sheet
from marketplace.heritage.workerfiles import grant_lines, open_grants
from marketplace.models import Batch
from metrics.errors import MetricError
from releases.management.terminal import card
from releases.score_files import Scale, open_table
from retrieval.errors import RetrievalError
from retrieval.evaluation.measures import read_qrels
from retrieval.evaluation.questions import read_questions
from retrieval.evaluation.runs import read_run
from retrieval.network import vectors
from retrieval.passage_files import FORMATS as PASSAGE_FORMATS
from retrieval.passage_files import Layout, open_passages
from tests.questionforms import KEY, TEST
from tests.robustness.files import EXAMPLES, mutated_file, whole_files
from tests.robustness.fuzzing import no_hang, random_for, repeat
from tests.scale import limit_cases

#: Of each importer.
FILES = limit_cases(120)
_ENCODINGS = [
    "",
    "",
    "",
    "utf-8",
    "utf-16",
    "cp1252",
    "shift_jis",
    "zlib",
    "rot13",
    "idna",
    "undefined",
    "\0",
]


def use_up(rows: Iterable[object]) -> None:
    """Read to the end."""
    for _ in rows:
        pass


def _queries(path: Path, chance: random.Random) -> None:
    source = TextSource(path, encoding=chance.choice(_ENCODINGS))
    reader = open_reader(source, path.parent, format=chance.choice([*FORMATS, "auto", "auto"]))
    use_up(reader.records(lambda *_: None))


def _answers(path: Path, chance: random.Random) -> None:
    source = TextSource(path, encoding=chance.choice(_ENCODINGS))
    format = chance.choice([*ANSWER_FORMATS, "auto"])
    use_up(open_answers(source, format=format, system="s").rows(lambda *_: None))


def _scores(path: Path, chance: random.Random) -> None:
    source = TextSource(path, encoding=chance.choice(_ENCODINGS))
    use_up(open_table(source).rows(Scale(1, 5), lambda *_: None))


def _external_scores(path: Path, chance: random.Random) -> None:
    candidates = Candidates({"a", "c1"}, {("q", "s"): "a"})
    read_external_scores(path, name="scores.csv", candidates=candidates, column=chance.choice(["", "score"]))


def _answer_tables(path: Path, chance: random.Random) -> None:
    table = open_answer_table(path, encoding=chance.choice(_ENCODINGS), quotes=chance.randrange(4) > 0)
    use_up(table.rows())


def _ratings(path: Path, chance: random.Random) -> None:
    read_ratings(path, encoding=chance.choice(_ENCODINGS))


def _passages(path: Path, chance: random.Random) -> None:
    layout = Layout(
        columns=chance.choice([{}, {}, {"id": ""}, {"id": "query", "text": "answer"}]),
        encoding=chance.choice(_ENCODINGS),
        delimiter=chance.choice(["", "", "", ";", "|", "::", "\n"]),
        sheet=chance.choice(["", "", "Sheet1", "x"]),
    )
    use_up(open_passages(path, chance.choice([*PASSAGE_FORMATS, "auto", "auto"]), layout=layout).rows_here())


def _sheet(path: Path, chance: random.Random, read: Callable[[Sheet], object]) -> None:
    with path.open("rb") as file:
        read(Sheet(file, "sheet.csv", encoding=chance.choice(["auto", "auto", "utf-8", "cp1252"])))


def _batches(path: Path, chance: random.Random) -> None:
    _sheet(path, chance, lambda sheet: use_up(sheet.rows()))


def _reviews(path: Path, chance: random.Random) -> None:
    _sheet(path, chance, lambda sheet: results.read_decisions(sheet, Batch(pk=0)))


def _templates(path: Path, chance: random.Random) -> None:
    html = path.read_bytes().decode("utf-8", "replace")
    page = templates.parse(html)
    task_document(html, submit_url="/s/x/mturk/externalSubmit")
    templates.check(page, ["question", "image_url"], file="sheet.csv")


def _grants(path: Path, chance: random.Random) -> None:
    name = chance.choice(["grants.csv", "grants.csv", "grants.xlsx"])
    with path.open("rb") as file:
        use_up(grant_lines(open_grants(name, file)))


def _questions(path: Path, chance: random.Random) -> None:
    parse_question(path.read_bytes().decode("utf-8", "replace"))


def _question_forms(path: Path, chance: random.Random) -> None:
    parse_form(path.read_bytes().decode("utf-8", "replace"))


def _training_sets(path: Path, chance: random.Random) -> None:
    use_up(examples_of(path, DropCounts()))


def _vectors(path: Path, chance: random.Random) -> None:
    vectors.load(path, ["the", "a", "query"])


_Import = Callable[[Path, random.Random], None]
IMPORTS: dict[str, tuple[_Import, tuple[type[Exception], ...]]] = {
    "queries": (_queries, (FileRefusedError,)),
    "words of the screening": (lambda path, _: use_up(read_words(path)), (UnicodeDecodeError,)),
    "rewrites": (lambda path, _: use_up(read_rewrites(path)), (FileRefusedError,)),
    "passages": (_passages, (RetrievalError,)),
    "judgments of passages": (lambda path, _: use_up(read_qrels(path).items()), (RetrievalError,)),
    "queries to evaluate with": (lambda path, _: use_up([read_questions(path)]), (RetrievalError,)),
    "runs": (lambda path, _: use_up([read_run(path)]), (RetrievalError,)),
    "word vectors": (_vectors, (RetrievalError,)),
    "answers": (_answers, (FileRefusedError,)),
    "ratings": (_ratings, (FileRefusedError,)),
    "scores": (_scores, (FileRefusedError,)),
    "scores from elsewhere": (_external_scores, (EvaluationError,)),
    "answer tables": (_answer_tables, (EvaluationError,)),
    "question answering sets": (_training_sets, (MetricError,)),
    "answers of a data card": (lambda path, _: use_up(card(path)), (CommandError,)),
    "studies": (lambda path, _: use_up([read_study(str(path))]), (StudyError,)),
    "tokens of workers": (lambda path, _: use_up(accounts_from(path, 1)), (SimulationError,)),
    "batches": (_batches, (Refusal,)),
    "reviews of batches": (_reviews, (Refusal,)),
    "templates": (_templates, (Refusal,)),
    "grants": (_grants, (Refusal,)),
    "questions": (_questions, (Refusal,)),
    "question forms": (_question_forms, (Refusal,)),
}


@pytest.fixture(scope="module")
def good_files() -> list[bytes]:
    """The examples that people begin with, and whole files of formats that are not text."""
    examples = [path.read_bytes()[:4000] for path in sorted(EXAMPLES.rglob("*.*"))]
    return [*examples, *whole_files(), TEST.encode(), KEY.encode()]


@pytest.mark.parametrize("name", IMPORTS)
def test_a_file_is_read_or_refused_in_words(
    name: str, seed: int, good_files: list[bytes], tmp_path: Path
) -> None:
    read, refusals = IMPORTS[name]
    for number in range(FILES):
        chance = random_for(seed, name, number)
        path = tmp_path / f"file-{number % 10}{chance.choice(['', '.csv', '.jsonl', '.tsv', '.xlsx'])}"
        path.write_bytes(data := mutated_file(chance, good_files))
        case = f"{name}, file {number}: {data[:300]!r}"
        try:
            with no_hang(case):
                read(path, chance)
        except refusals as refused:
            assert 10 < len(str(refused)) < 20_000
        except Exception as error:
            raise AssertionError(f"{repeat(seed)}\n{type(error).__name__} for {case}") from error


_LONG = "x" * 100_000
_LONG_FILES = {
    "columns of a table": f"{_LONG},{_LONG}1\na,b\n",
    "one column twice": f"{_LONG},{_LONG}\na,b\n",
    "cells of a table": f"id,text,query,score,worker\n{_LONG},{_LONG},{_LONG},{_LONG},{_LONG}\n" * 3,
    "members of an object": f'{{"{_LONG}": 1, "id": "{_LONG}"}}\n',
    "a list": f'[{{"{_LONG}": 1}}]',
    "an element": f"<{_LONG}/>",
    "a table of TOML": f"[{_LONG}]\n{_LONG} = 1\n",
    "a placeholder": f"${{{_LONG}}}",
    "words": f"{_LONG} {_LONG} {_LONG} {_LONG}\n",
}


def test_a_refusal_repeats_no_long_name_or_text(tmp_path: Path) -> None:
    path = tmp_path / "file.csv"
    for name, (read, refusals) in IMPORTS.items():
        for what, text in _LONG_FILES.items():
            path.write_text(text)
            try:
                read(path, random.Random(0))
            except refusals as refused:
                assert len(str(refused)) < 20_000, (name, what)
