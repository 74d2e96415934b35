"""What a paper's report is made of: the data, a table or figure beside the printed one, and the paper."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import file_digest
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, model_validator

from evaluations.choices import MetricChoice, choose, scoring_processes
from evaluations.model_options import NO_MODELS, Models
from evaluations.scores import MetricScores, scored
from evaluations.tables.first_pass import AnswerColumns, gather
from evaluations.tables.rows import CHUNK, AnswerTable
from evaluations.tables.sources import opened
from metrics.metaeval.data import ScoredAnswers

Value = str | int | float | bool | None
PaperRow = dict[str, Value]
CANNOT = "cannot be made from this data because "
SAME = "same"
#: Half a unit of the last of three printed digits, and what arithmetic in another order may add.
PRINTED = 0.0005 + 1e-9


class PaperItem(BaseModel):
    """A table or figure of a paper, made from the data or not.

    `rows` are made here and `printed` are the paper's, each row a mapping of the same columns. `differs` says
    "same" or "differs by … because …" of what is made, `reason` "cannot be made from this data because …" of
    what is not.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str
    status: Literal["made", "not made"]
    reason: str = ""
    rows: list[PaperRow] = []
    printed: list[PaperRow] = []
    differs: str = ""

    @model_validator(mode="after")
    def _whole(self) -> "PaperItem":
        if self.status == "made" and (self.reason or not (self.rows and self.differs)):
            raise ValueError(f"{self.name} is made: it has rows and says how they differ, and no reason")
        if self.status == "not made" and (not self.reason or self.rows or self.differs):
            raise ValueError(f"{self.name} is not made: it says why, and nothing else")
        return self


def not_made(name: str, reason: str, printed: Sequence[PaperRow] = ()) -> PaperItem:
    """What cannot be made; `reason` goes on after "because"."""
    return PaperItem(
        name=name, status="not made", reason=f"{CANNOT}{reason.strip().rstrip('.')}", printed=list(printed)
    )


def compared(
    name: str,
    rows: Sequence[PaperRow],
    printed: Sequence[PaperRow],
    *,
    keys: Sequence[str],
    because: str,
    lacking: str = "",
    tolerance: float = PRINTED,
) -> PaperItem:
    """What was made, beside what is printed: rows that agree in `keys` are the same row.

    Numbers that differ by more than `tolerance`, and other words, count as differences; cells that one side
    lacks are counted apart. `because` says why there may be differences and goes on after "because", as does
    `lacking` for printed cells that are not here, where their reason is another one.
    """
    found = {tuple(row.get(key) for key in keys): row for row in rows}
    cells = different = missing = 0
    largest = 0.0
    for expected in printed:
        here = found.get(tuple(expected.get(key) for key in keys), {})
        for column, value in expected.items():
            if column in keys or value is None:
                continue
            cells += 1
            own = here.get(column)
            if own is None:
                missing += 1
            elif isinstance(value, str) or isinstance(own, str):
                different += value != own
            elif abs(own - value) > tolerance:
                different += 1
                largest = max(largest, abs(own - value))
    by = f"up to {largest:.3g} in " if largest else ""
    differs = _difference(
        f"{by}{different} of {cells} cells" if different else "",
        f"{missing} of {cells} printed cells that are not here" if missing else "",
        because,
        lacking,
    )
    if not cells:
        differs = f"differs by standing alone because {because.strip().rstrip('.')}"
    return PaperItem(name=name, status="made", rows=list(rows), printed=list(printed), differs=differs)


def _difference(changed: str, gone: str, because: str, lacking: str) -> str:
    """How rows differ from the printed ones: cells that `changed`, cells that are `gone`, and why each."""
    why, why_gone = (each.strip().rstrip(".") for each in (because, lacking))
    if not changed and not gone:
        return SAME
    if changed and gone and why_gone:
        return f"differs by {changed} because {why}, and by {gone} because {why_gone}"
    together = " and ".join(each for each in (changed, gone) if each)
    return f"differs by {together} because {why if changed else why_gone or why}"


@dataclass(frozen=True, slots=True)
class PaperSource:
    """Data that somebody brings: `name` is how reports call it, `given` a file, folder or PROJECT/VERSION."""

    name: str
    given: str

    @property
    def digest(self) -> str:
        """SHA-256 of the file, or of the manifest of a release's folder; empty for what is neither."""
        path = Path(self.given)
        for file in (path, path / "manifest.json"):
            if file.is_file():
                with file.open("rb") as stream:
                    return file_digest(stream, "sha256").hexdigest()
        return ""

    @property
    def folder(self) -> Path | None:
        """The folder, where it is one."""
        return Path(self.given) if Path(self.given).is_dir() else None

    def file(self, name: str) -> Path | None:
        """A file in the folder, where there is one of that name."""
        path = Path(self.given) / name
        return path if path.is_file() else None


@dataclass(frozen=True, slots=True)
class PaperModels:
    """Folders or names of KPQA and ADEM models, and the encoder of BERTScore.

    Several of one kind are trainings with different seeds. `without_marco` and `without_question` are the
    ablations of paper 002.
    """

    models: tuple[str, ...] = ()
    without_marco: tuple[str, ...] = ()
    without_question: tuple[str, ...] = ()
    encoder: str = ""
    layer: int | None = None
    idf: bool = False
    download: bool = False


@dataclass(frozen=True, slots=True)
class PaperData:
    """All that `manage.py paper` was given; `sample` says that it is the one that comes with Distillery.

    `simulated` gets the names of sources in which programs took the place of people, as they are read.
    """

    sources: tuple[PaperSource, ...]
    models: PaperModels = PaperModels()
    columns: Mapping[str, str] = field(default_factory=dict)
    encoding: str = ""
    quotes: bool = True
    sample: bool = False
    simulated: list[str] = field(default_factory=list)

    @contextmanager
    def opened(self, source: PaperSource, *, scored: bool | None = True) -> Iterator[AnswerTable]:
        """A source as a table of answers, `scored` as in `opened`; EvaluationError says what is wrong."""
        with opened(
            source.given, columns=self.columns, encoding=self.encoding, quotes=self.quotes, scored=scored
        ) as table:
            yield table

    @property
    def why_other(self) -> str:
        """Why figures differ from the paper's, as far as it lies in the data."""
        if self.sample:
            return "the sample is small and not the paper's data"
        return "the data are not the paper's"


@dataclass(frozen=True, slots=True)
class PaperSettings:
    """How to calculate: random seed, replicates of intervals, draws of tests, processes (0: as fit).

    `samples` of references are drawn at each number of them.
    """

    seed: int = 0
    samples: int = 20
    replicates: int = 1000
    draws: int = 9999
    processes: int = 1
    version: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class SourceScores:
    """A source under metrics: `judged` for statistics, `gathered` what the table said, `found` all scores."""

    source: PaperSource
    judged: ScoredAnswers
    gathered: AnswerColumns
    chosen: MetricChoice
    found: MetricScores


def score_source(
    data: PaperData,
    source: PaperSource,
    settings: PaperSettings,
    *,
    profile: str,
    metrics: Sequence[str] = (),
    models: Models = NO_MODELS,
    keep_rows: bool = False,
    tokeniser: str = "",
) -> SourceScores:
    """Score a source by metrics of a profile (all of the profile's that can be scored, if none are named).

    A `tokeniser` takes the place of the profile's.
    """
    with data.opened(source) as table:
        gathered = gather(table)
        chosen = choose(table, metrics=metrics, profile=profile, models=models, tokeniser=tokeniser)
        found = scored(
            table,
            gathered,
            chosen.metrics,
            chosen.tokeniser,
            processes=scoring_processes(settings.processes, chosen, small=len(gathered) < 5 * CHUNK),
            keep_rows=keep_rows,
        )
    if gathered.simulated and source.name not in data.simulated:
        data.simulated.append(source.name)
    judged = gathered.judged(
        found.values,
        signatures={metric.name: metric.signature for metric in chosen.metrics},
        lengths=found.lengths,
        reference_lengths=found.reference_lengths,
    )
    return SourceScores(source, judged, gathered, chosen, found)


def number(value: Any, places: int | None = None) -> float | None:
    """A finite number, rounded where wanted; None for all else."""
    if value is None or isinstance(value, str) or not math.isfinite(value):
        return None
    return float(value) if places is None else round(float(value), places)


Build = Callable[[PaperData, PaperSettings], list[PaperItem]]


@dataclass(frozen=True, slots=True, eq=False)
class Paper:
    """A paper: `items` are all its tables and figures with their captions, in its order.

    `needs` says in a sentence what data it takes; `sample` are files of `examples/` (NAME=PATH or PATH), and
    `several` says whether more than one source makes sense. `made_up`: programs gave the ratings of the
    sample, which its table does not say.
    """

    number: str
    title: str
    needs: str
    items: Mapping[str, str]
    sample: tuple[str, ...]
    build: Build
    several: bool = False
    made_up: bool = False
