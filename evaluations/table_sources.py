"""The table that a person names: a file, a release in a folder or a database, or one table of a release."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from evaluations.answer_table import AnswerTable
from evaluations.errors import EvaluationError
from evaluations.file_table import open_table

#: Tables of a release that say what answers and scores there are, each by its file's name before the split.
_TABLES = ("candidates", "scores", "ratings", "references", "answers")
_MANIFEST = "manifest.json"
_WHOLE = (
    "The file is a table of a release; all of the release is read, with the answers, references and scores "
    "of its other files and splits."
)
#: How far below the folder of a release its tables may lie.
_DEEP = 4


@contextmanager
def opened(
    source: str,
    *,
    columns: Mapping[str, str] | None = None,
    encoding: str = "",
    sheet: str = "",
    header_row: int = 0,
    quotes: bool = True,
    external: Sequence[str] = (),
    lower_better: Sequence[str] = (),
    scale: tuple[float, float] | None = None,
    stage: str = "",
    scored: bool | None = False,
    response_filter: str | None = None,
    pairs: Path | None = None,
    score: str = "",
) -> Iterator[AnswerTable]:
    """The table of that name. `scored`: it must have human scores; None: it may. `pairs` is a file with
    judgments of pairs of the answers of a file. `score` names where the human score is: a column of `pairs`
    or of the file, or a field of a questionnaire in a release. EvaluationError says what is wrong.

    A database is looked into only where there is no file and no folder of that name.
    """
    path = Path(source)
    release = _release_of(path) if path.is_file() and not columns else None
    if release is not None:
        path, source = release, str(release)
    if path.is_file():
        if stage:
            raise EvaluationError(f"--stage {stage}: {source} is a file; only releases have stages.")
        if score and pairs is None:
            columns = {**(columns or {}), "scores": score}
        table: AnswerTable = open_table(
            path,
            columns=columns,
            encoding=encoding,
            sheet=sheet,
            header_row=header_row,
            quotes=quotes,
            external=external,
            lower_better=lower_better,
            scale=scale,
            scored=scored if pairs is None else False,
            response_filter=response_filter,
        )
        if pairs is not None:
            from evaluations.judged_pairs import pairs_of_file

            table = cast("AnswerTable", pairs_of_file(table, pairs, winner=score))
        yield table
        return
    if pairs is not None:
        raise EvaluationError(
            f"--pairs {pairs}: a release has its own pairs. Name their field: --score FIELD."
        )
    if response_filter is not None:
        raise EvaluationError(
            f"--response-filter {response_filter}: a release says itself what its filters removed."
        )
    if sheet:
        raise EvaluationError(f"--sheet {sheet}: a release has no workbook. Leave the option out.")
    if header_row:
        raise EvaluationError(f"--header-row {header_row}: a release is no table. Leave the option out.")
    if external:
        raise EvaluationError("--external names columns of a file; a release has no scores of other tools.")

    from evaluations.release_table import open_named_release

    with open_named_release(
        source, path, stage=stage, columns=columns, scored=bool(scored), field=score
    ) as table:
        if scale is not None:
            table.scale = scale
        if release is not None:
            table.notes.append(_WHOLE)
        yield table


def _release_of(path: Path) -> Path | None:
    """The folder of the release that a file is a table of: its answers and scores lie in several files."""
    if path.name.split(".")[0].split("-")[0] not in _TABLES:
        return None
    for folder in list(path.resolve().parents)[:_DEEP]:
        if not (folder / _MANIFEST).is_file():
            continue
        try:
            files = json.loads((folder / _MANIFEST).read_bytes())["files"]
            names = {str(each["path"]) for each in files}
        except (OSError, ValueError, LookupError, TypeError):
            continue
        if path.resolve().relative_to(folder).as_posix() in names:
            return folder
    return None
