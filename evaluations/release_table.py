"""A release as a table: answers of systems, references, scores of a stage; found by folder or by version."""

import json
import math
import sqlite3
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from operator import attrgetter
from pathlib import Path
from statistics import fmean
from typing import Any, cast

from django.core.exceptions import ImproperlyConfigured
from django.db import DatabaseError

from core.files.cells import unguarded
from core.files.reading import Reading
from evaluations.answer_table import AnswerTable, AspectRating, Row, simulated_of
from evaluations.errors import EvaluationError
from evaluations.judged_pairs import PairedTable, PairJudgment
from evaluations.score_fields import ends_of, fields_in, score_of
from judgments.questionnaire.config import QuestionnaireField
from metrics.agreement.recipes import Z
from releases.diff import manifest_in
from releases.errors import ReleaseError
from releases.models import Release
from releases.storage import fetched_folder, files_of, formats_of, records
from releases.tables import ELSEWHERE, TABLES, Kind

#: Columns of the table of scores that may be the human score.
SCORES = ("mean", "median", "trimmed", "adjusted")
_FIELDS = frozenset(
    {"question", "answer", "references", "scores", "ratings", "system", "type", "label", "labels", "entities",
     "question_id", "id", "response_filter"}
)  # fmt: skip
_WITHDRAWN = "withdrawn"
#: Rules of ratings whose worker no filter removed: kept, or taken out one by one.
_STANDING = frozenset({"", Z})
_ONLY_FILTERED = (
    "the release has only the ratings that its response filter ({}) left, and such a filter makes raters "
    "agree also where they gave nothing but noise; a ceiling needs the table `ratings`"
)
_UNKNOWN_FILTERS = (
    "The release has no table of all ratings and no report of its filters: the ceiling takes the kept "
    "ratings as if no filter had removed single ones for being far from the others."
)
_ELSEWHERE = (
    "The ratings were collected elsewhere. The ceiling takes them as if no filter had removed single ones "
    "for being far from the others."
)
_OF_FIELD = (
    "Human scores are answers to “{}” (stage {}) in work that no filter removed, also those of the ceiling."
)
_ONE = (Kind.TEXT, Kind.INTEGER, Kind.NUMBER, Kind.FLAG)
_KINDS = {table.name: {column.name: column.kind for column in table.columns} for table in TABLES}


class ReleaseTable:
    """Candidates of a release in the order in which it has them; withdrawn ones are left out.

    Single ratings are those of workers whom no filter removed, with what a response filter took: from its
    table of all ratings. Where a release lacks it, the kept ratings stand in for them if no response filter
    ran.

    Rows come from a temporary database of references and scores, so that memory does not grow with the
    release. Gold entities of a query are those that were marked in any of its references.

    With a `field` of a questionnaire the human score is the mean of what people answered there. Of a field
    that compares two answers `pairs_judged` are its judgments, and answers have no score of their own.
    """

    external: Sequence[str] = ()
    reading: Reading | None = None
    unit = ""
    has: frozenset[str] = _FIELDS

    def __init__(
        self,
        folder: Path,
        room: sqlite3.Connection,
        *,
        stage: str,
        score: str,
        scored: bool,
        field: str = "",
    ) -> None:
        manifest = _manifest(folder)
        self._folder, self._manifest, self._room = folder, manifest, room
        self._format = _format(folder, manifest)
        self.title = f"{manifest.get('name', folder.name)} {manifest.get('version', '')}".strip()
        self.description = f"release {self.title}, {self._format}"
        self.notes: list[str] = []
        self.simulated = simulated_of(manifest)
        if self.simulated:
            self.has = _FIELDS | {"simulated"}
            self.notes.append(self.simulated["what"])
        self._fill(score)
        self.pairs_judged: list[PairJudgment] = []
        self.no_ratings, self._whole = "", False
        if field:
            self._take_field(stage, field)
            return
        self.stage = self._stage(stage, scored=scored)
        agreement = _agreement(folder, self.stage)
        self.scale = _scale(agreement)
        self.alpha = _alpha(agreement)
        self._whole = self._fill_ratings()
        if not self._whole:
            self._judge_kept(agreement)

    def rows(self) -> Iterator[Row]:
        """Every candidate with what belongs to it; those that nobody scored have no human score."""
        find = (
            "SELECT query.text, query.type, query.answers, score.mean, score.kept, score.simulated FROM "
            "(SELECT 1) LEFT JOIN query ON query.id = ? LEFT JOIN score ON score.candidate = ? AND "
            "score.stage = ?"
        )
        for number, each in enumerate(self._records("candidates"), 1):
            if each.get("aside") == _WITHDRAWN:
                continue
            key, query = str(each.get("candidate_id") or ""), str(each.get("query_id") or "")
            record = self._room.execute(find, (query, key, self.stage)).fetchone()
            text, kind, answers, mean, kept_judgments, simulated = record
            references_of = json.loads(answers) if answers else []
            yield Row(
                line=number,
                answer=str(each.get("answer") or ""),
                references=[answer for answer, _opinion, _entities in references_of],
                question=text or "",
                question_id=query,
                id=key,
                system=str(each.get("system") or ""),
                type=kind or "",
                label=str(each.get("opinion") or ""),
                labels=[opinion for _answer, opinion, _entities in references_of],
                entities=list(
                    dict.fromkeys(entity for *_rest, entities in references_of for entity in entities)
                ),
                human=math.nan if mean is None else mean,
                ratings=self._ratings(key, kept_judgments),
                simulated=bool(simulated or each.get("simulated")),
            )

    def _ratings(self, candidate: str, kept_judgments: str | None) -> list[tuple[str, float]]:
        if self._whole:
            find = "SELECT worker, score FROM rating WHERE candidate = ? ORDER BY place"
            return self._room.execute(find, (candidate,)).fetchall()
        if self.no_ratings or not kept_judgments:
            return []
        return [(worker, score) for worker, score in json.loads(kept_judgments)]

    def _fill(self, score: str) -> None:
        for statement in (
            "PRAGMA journal_mode=OFF",
            "PRAGMA synchronous=OFF",
            "CREATE TABLE query (id TEXT PRIMARY KEY, text TEXT, type TEXT, answers TEXT) WITHOUT ROWID",
            "CREATE TABLE score (stage TEXT, candidate TEXT, mean REAL, kept TEXT, simulated INTEGER,"
            " PRIMARY KEY (stage, candidate)) WITHOUT ROWID",
        ):
            self._room.execute(statement)
        with self._readable(), self._room:
            self._room.executemany(
                "INSERT OR REPLACE INTO query VALUES (?, ?, ?, ?)",
                map(_query, self._records("references")),
            )
            self._room.executemany(
                "INSERT OR REPLACE INTO score VALUES (?, ?, ?, ?, ?)",
                (_score(each, score) for each in self._records("scores")),
            )

    def _take_field(self, stage: str, name: str) -> None:
        """What people answered in one field as human scores of answers, or as judgments of pairs."""
        self.stage, field = self._field(stage, name)
        self.scale, self.alpha = ends_of(field), None
        values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        simulated: set[str] = set()
        with self._readable():
            for each in self._records("responses"):
                if (each["stage"], each["field"]) != (self.stage, name) or not each["candidate_id"]:
                    continue
                first, value = each["candidate_id"], json.loads(each["value"])
                if field.compares:
                    lead = (value == each["system"]) - (value == each["second_system"])
                    self.pairs_judged.append((first, each["second_id"], lead))
                elif (score := score_of(field, value)) is not None:
                    values[first][each["worker"]].append(score)
                    simulated |= {first} if each.get("simulated") else set()
        with self._room:
            self._room.executemany(
                "INSERT INTO score VALUES (?, ?, ?, ?, ?)",
                (
                    (
                        self.stage,
                        candidate,
                        fmean(score for scores in by_worker.values() for score in scores),
                        json.dumps([(worker, fmean(scores)) for worker, scores in by_worker.items()]),
                        candidate in simulated,
                    )
                    for candidate, by_worker in values.items()
                ),
            )
        self.notes.append(_OF_FIELD.format(field.label, self.stage))

    def _field(self, stage: str, name: str) -> tuple[str, QuestionnaireField]:
        """The questionnaire with the field, and the field."""
        fields = {
            (slug, each.name): each
            for slug, all_fields in fields_in(self._folder, self._manifest).items()
            for each in all_fields
        }
        fitting = [slug for slug, each in fields if each == name and stage in ("", slug)]
        if len(fitting) == 1:
            return fitting[0], fields[fitting[0], name]
        if fitting:
            raise EvaluationError(
                f"{self.title} has a field {name!r} of several stages. Name one: --stage "
                f"{' or '.join(fitting)}."
            )
        others = ", ".join(f"{each} ({slug})" for slug, each in fields) or "none"
        raise EvaluationError(
            f"{self.title} has no field {name!r} that scores answers or compares two; there are: {others}."
        )

    @contextmanager
    def _readable(self) -> Iterator[None]:
        """What the files may hold is read; EvaluationError where they are not those of a release."""
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise EvaluationError(
                f"{self._folder}: the files of this release cannot be read: {error}. Check them with: "
                f"manage.py release verify {self._folder}"
            ) from error

    def _fill_ratings(self) -> bool:
        """The stage's ratings by workers who stay; False where the release has no table of ratings."""
        if not files_of(self._manifest, self._format, "ratings"):
            return False
        self._room.execute(
            "CREATE TABLE rating (candidate TEXT, place INTEGER, worker TEXT, score REAL,"
            " PRIMARY KEY (candidate, place)) WITHOUT ROWID"
        )
        standing = (
            (str(each["candidate_id"]), place, str(each.get("worker") or place), float(each["score"]))
            for place, each in enumerate(self._records("ratings"))
            if each["stage"] == self.stage
            and (each.get("rule") or "") in _STANDING
            and each.get("score") is not None
        )
        with self._readable(), self._room:
            self._room.executemany("INSERT INTO rating VALUES (?, ?, ?, ?)", standing)
        first = self._room.execute("SELECT 1 FROM rating LIMIT 1").fetchone()
        return first is not None or self.stage != ELSEWHERE

    def aspect_ratings(self) -> Iterator[AspectRating]:
        """Candidate, worker, score and scores of aspects of the stage's ratings by workers who stay, in their
        order."""
        if not files_of(self._manifest, self._format, "ratings"):
            return
        with self._readable():
            for place, each in enumerate(self._records("ratings")):
                if (
                    each["stage"] != self.stage
                    or (each.get("rule") or "") not in _STANDING
                    or each.get("score") in (None, "")
                ):
                    continue
                cell = each.get("aspects") or []
                entries = json.loads(cell) if isinstance(cell, str) else cell
                aspects = {
                    str(one["name"]): float(one["score"]) for one in entries if one["score"] is not None
                }
                worker = str(each.get("worker") or place)
                yield str(each["candidate_id"]), worker, float(each["score"]), aspects

    def _judge_kept(self, agreement: Mapping[str, Any]) -> None:
        """Whether the kept ratings can stand in for all: not behind a response filter."""
        details = agreement.get("recipe_details")
        rules = details.get("rules") if isinstance(details, dict) else None
        if isinstance(rules, list) and Z in rules:
            self.no_ratings = _ONLY_FILTERED.format(agreement.get("recipe", Z))
        elif self.stage == ELSEWHERE:
            self.notes.append(_ELSEWHERE)
        elif not isinstance(rules, list):
            self.notes.append(_UNKNOWN_FILTERS)

    def _records(self, table: str) -> Iterator[Mapping[str, Any]]:
        files = files_of(self._manifest, self._format, table)
        rows: Iterable[Mapping[str, Any]] = records(self._folder, self._format, files)
        if self._format == "csv":
            return ({name: _of_cell(table, name, cell) for name, cell in row.items()} for row in rows)
        return iter(rows)

    def _stage(self, named_stage: str, *, scored: bool) -> str:
        """The stage that was asked for, or the newest that has scores."""
        stages = [stage for (stage,) in self._room.execute("SELECT DISTINCT stage FROM score ORDER BY stage")]
        if not stages and not scored and not named_stage:
            return ""
        if not stages:
            raise EvaluationError(
                f"{self.title} has no human scores, so nothing can be compared with people. Have answers "
                "judged, or import scores, and build a release again."
            )
        if named_stage:
            if named_stage not in stages:
                raise EvaluationError(
                    f"{self.title} has no scores of a stage {named_stage!r}; there are {', '.join(stages)}."
                )
            return named_stage
        order = [str(stage.get("stage")) for stage in self._manifest.get("stages") or ()]
        scored_rows = self._room.execute("SELECT DISTINCT stage FROM score WHERE mean IS NOT NULL")
        scored_stages = [stage for (stage,) in scored_rows] or stages
        newest = max(scored_stages, key=lambda stage: (order.index(stage) if stage in order else -1, stage))
        if len(stages) > 1:
            self.notes.append(
                f"The release has scores of several stages ({', '.join(stages)}); those of {newest} were "
                "taken. Another one: --stage NAME."
            )
        return str(newest)


@contextmanager
def open_release(
    folder: Path,
    *,
    stage: str = "",
    columns: Mapping[str, str] | None = None,
    scored: bool = True,
    field: str = "",
) -> Iterator[AnswerTable]:
    """The folder of a release as a table. EvaluationError where it is none, or has no human scores and
    `scored` wants them.

    `columns` may name another column of its scores: `scores=median`, `trimmed` or `adjusted`; `field` one of
    a questionnaire in their place.
    """
    score = _score_column(columns or {})
    with (
        tempfile.TemporaryDirectory(prefix="evaluation-") as place,
        closing(sqlite3.connect(Path(place, "rows.sqlite"))) as room,
    ):
        table = ReleaseTable(folder, room, stage=stage, score=score, scored=scored, field=field)
        if table.pairs_judged:
            yield cast("AnswerTable", PairedTable(table, table.pairs_judged, attrgetter("id")))
        else:
            yield table


def _score_column(columns: Mapping[str, str]) -> str:
    for field, column in columns.items():
        if field not in ("scores", "score") or column not in SCORES:
            raise EvaluationError(
                f"--column {field}={column}: a release has its own columns. Only the human score can be "
                f"chosen: --column scores=NAME, of {', '.join(SCORES)}."
            )
    return next(iter(columns.values()), "mean")


def _manifest(folder: Path) -> Mapping[str, Any]:
    try:
        return manifest_in(folder)
    except ReleaseError as error:
        raise EvaluationError(
            f"{error} Give the folder of a release, PROJECT/VERSION, or a file of answers."
        ) from error


def _format(folder: Path, manifest: Mapping[str, Any]) -> str:
    for name in formats_of(manifest):
        files = files_of(manifest, name, "candidates")
        if files and all((folder / str(file["path"])).is_file() for file in files):
            return name
    raise EvaluationError(
        f"{folder} has no answers of systems in a format that can be read here (jsonl, parquet or csv). "
        "Build the release with one of them, or get its files again."
    )


def _query(row: Mapping[str, Any]) -> tuple[str, str, str, str]:
    answers = [
        (each["text"], each.get("opinion") or "", [one["text"] for one in each.get("entities") or ()])
        for each in row["answers"] or ()
        if (each.get("text") or "").strip()
    ]
    return row["query_id"], row.get("query") or "", row.get("type") or "", json.dumps(answers)


def _score(row: Mapping[str, Any], column: str) -> tuple[str, str, float | None, str, bool]:
    ratings = [
        (str(each.get("worker") or place), float(each["score"]))
        for place, each in enumerate(row.get("kept") or (), 1)
        if each.get("score") is not None
    ]
    mean = row.get(column)
    human, simulated = None if mean is None else float(mean), bool(row.get("simulated"))
    return row["stage"], row["candidate_id"], human, json.dumps(ratings), simulated


def _of_cell(table: str, name: str, cell: str) -> Any:
    """A cell of a release's CSV as the value it was written from."""
    kind = _KINDS[table].get(name, Kind.TEXT)
    if kind == Kind.TEXT:
        return unguarded(cell)
    if kind == Kind.FLAG:
        return cell == "true"
    if kind in _ONE:
        return float(cell) if cell else None
    return json.loads(cell) if cell else []


def _agreement(folder: Path, stage: str) -> Mapping[str, Any]:
    """The report of the stage's agreement, empty where the release has none."""
    try:
        report = json.loads((folder / "reports" / f"agreement-{stage}.json").read_bytes())
    except (OSError, ValueError):
        return {}
    return report if isinstance(report, dict) else {}


def _scale(agreement: Mapping[str, Any]) -> tuple[float, float] | None:
    scale = agreement.get("scale")
    if isinstance(scale, list) and len(scale) == 2 and all(isinstance(each, int | float) for each in scale):
        return float(scale[0]), float(scale[1])
    return None


def _alpha(agreement: Mapping[str, Any]) -> tuple[float | None, float | None] | None:
    """Krippendorff's alpha (interval) of all ratings, and after noisy workers were removed."""
    alpha = agreement.get("alpha")
    if not isinstance(alpha, dict):
        return None
    before, after = ((alpha.get(name) or {}).get("interval") for name in ("before", "after_workers"))
    return before, after


# The table of a release that is named by its folder, or by project and version in the database.


@contextmanager
def open_named_release(
    name: str, path: Path, *, stage: str, columns: Mapping[str, str] | None, scored: bool, field: str = ""
) -> Iterator[AnswerTable]:
    """The table of the release in the folder `path`, or else of the one that `name` names."""
    with (
        _folder(name, path) as folder,
        open_release(folder, stage=stage, columns=columns, scored=scored, field=field) as table,
    ):
        yield table


@contextmanager
def _folder(name: str, path: Path) -> Iterator[Path]:
    """The folder of a release, on disk or out of its storage."""
    if path.is_dir():
        yield path
        return
    slug, _sign, version = name.replace("@", "/").partition("/")
    if path.suffix in {".csv", ".tsv", ".jsonl", ".json", ".gz", ".txt"} or "/" in version or not slug:
        raise EvaluationError(f"There is no file {name}.")

    try:
        release = _release(slug, version, name)
    except (DatabaseError, ImproperlyConfigured) as error:
        raise EvaluationError(
            f"There is no file or folder {name}, and no database in which to look for a release: {error}."
        ) from error
    try:
        with fetched_folder(release) as folder:
            yield folder
    except ReleaseError as error:
        raise EvaluationError(str(error)) from error


def _release(slug: str, version: str, name: str) -> Release:
    """The release of that version, or the newest one that is ready."""

    ready = Release.objects.select_related("project").filter(project__slug=slug, state=Release.State.READY)
    matching = ready.filter(version=version) if version else ready
    release = matching.order_by("-pk").first()
    if release is not None:
        return release
    versions = ", ".join(ready.order_by("pk").values_list("version", flat=True))
    if versions:
        raise EvaluationError(f"{slug} has no release {version!r}; there are {versions}.")
    raise EvaluationError(
        f"There is no file or folder {name}, and no project {slug!r} with a release. Give a file of "
        "answers, the folder of a release, or PROJECT/VERSION."
    )
