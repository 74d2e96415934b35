"""Passages from a file of their own: those of each question, or the best of a collection that is searched."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from annotation.importing.records import Passage
from core.files.refusals import FileRefusedError
from distillery.studies.tables import Choices, StudyTable, read_study_table
from metrics.figure import counted
from retrieval.errors import EmptyQueryError
from retrieval.errors import FileRefusedError as PassagesRefusedError

#: Passages that a search gives to each question.
FOUND = 5


def add_passages(table: StudyTable, path: Path, language: str) -> list[str]:
    """Give questions the passages of a file; sentences about what was done. FileRefusedError.

    A file whose rows name their question has the passages of each. Any other is searched with BM25.
    """
    if not path.is_file():
        raise FileRefusedError(f"--passages {path}: there is no such file. Name a table of passages.")
    own = _of_questions(path)
    if own is not None:
        matched = {key: question for key, question in table.questions.items() if key in own.questions}
        for key, question in matched.items():
            question.passages += own.questions[key].passages
        sentences = [
            f"{path.name}: passages of {len(matched):,} of {counted(len(table.questions), 'question')}."
        ]
        if strangers := len(own.questions) - len(matched):
            sentences.append(f"Its rows of {counted(strangers, 'other question')} were left out.")
        return [*sentences, *map(str, own.refused)]
    passages_by_key = _search(table, path, language)
    for key, passages in passages_by_key.items():
        table.questions[key].passages += passages
    return [f"{path.name} was searched (BM25): the best {FOUND} passages are shown with each question."]


def _of_questions(path: Path) -> StudyTable | None:
    """The file as a table of questions with passages; None where it names no questions."""
    try:
        own = read_study_table(path, Choices({"answer": "", "turns": ""}))
        if "passages" not in own.roles:
            own = read_study_table(path, Choices({"answer": "", "turns": "", "passages": "text"}))
    except FileRefusedError:
        return None
    return own if "passages" in own.roles else None


def _search(table: StudyTable, path: Path, language: str) -> Mapping[str, Sequence[Passage]]:
    from retrieval.passage_files import open_passages  # noqa: PLC0415  # search engines are slow to load
    from retrieval.ranking.folder import temporary_collection  # noqa: PLC0415  # the same
    from retrieval.search import ranker_named  # noqa: PLC0415  # the same

    ranker, keys = ranker_named("bm25"), {}
    try:
        with temporary_collection(path, language=language, network=False) as collection:
            for key, question in table.questions.items():
                try:
                    ranking = ranker.rank([collection], [*question.turns, question.text], FOUND)
                except EmptyQueryError:
                    continue
                keys[key] = [collection.key(each.pk) for each in ranking.results]
        row_keys = {each for hits in keys.values() for each in hits}
        rows = {row.key: row for row in open_passages(path).rows() if row.key in row_keys}
    except PassagesRefusedError as error:
        what = "A collection that is searched has a column id and a column text."
        raise FileRefusedError(
            f"--passages {path}: {str(error).partition(' (on the command')[0]} {what}"
        ) from error
    return {
        key: [Passage(rows[each].text, rows[each].title, rows[each].url, each) for each in hits]
        for key, hits in keys.items()
        if hits
    }
