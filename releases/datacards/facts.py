"""What a data card, a Croissant description and a citation are made of: plain values, no database.

Whoever builds a release fills them. Nothing in them may depend on when or where the release is built, because
the same content is the same bytes. Money in integer cents, shares and agreement as fractions, texts as people
wrote them: the describing modules quote them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from releases.tables import SPLITS, TABLES, Table

#: What only people can say about a data set, by key: the wizard asks, the card lists what nobody answered.
QUESTIONS: dict[str, str] = {
    "purpose": "What was the data set made for, and for what should it not be used?",
    "source": "Where do the queries come from, and over which time were they collected?",
    "population": "Whose queries are they, and who is missing?",
    "passages": "Where do the passages come from, and under which terms may they be passed on?",
    "people": "Who were the workers: where do they live, which languages do they speak?",
    "consent": "What were the workers told, and what did they agree to?",
    "ethics": "Did an ethics board look at the work, and what did it say?",
    "sensitive": "Which sensitive or offensive content may be left in the texts?",
    "limits": "Which errors and biases are known?",
    "maintenance": "Who maintains the data set, and whom does one write to?",
}
#: Further answers that have a place of their own: authors (one a line), how to cite, address, summary.
DETAILS = ("authors", "citation", "url", "summary")


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the funnel: how many there were after it, and of what."""

    words: str
    count: int


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """The part of a stage that one of several sources had; money in cents with fees."""

    name: str
    panel: str
    answers: int
    workers: int
    rejected: int
    failed_checks: int
    paid_cents: int
    cents_per_hour: float | None = None


@dataclass(frozen=True, slots=True)
class StageFacts:
    """One stage of the campaign: who was asked for what, and what it came to.

    `kind` is the stage's (screening, curation, distillation, judging, or another app's). None is not known.
    """

    name: str
    kind: str
    title: str
    redundancy: int
    units: int
    assignments: int
    approved: int
    rejected: int
    workers: int
    simulated_workers: int
    reward_cents: int
    paid_cents: int
    bonus_cents: int
    fee_cents: int
    median_seconds: float | None = None
    median_cents_per_hour: float | None = None
    marketplace: str = ""
    sources: tuple[SourceFacts, ...] = ()


@dataclass(frozen=True, slots=True)
class Alpha:
    """Krippendorff's alpha with its interval; None where it is not defined."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far people agreed in one stage about one thing; `after` is None where nothing was filtered.

    `measure` names the coefficient and its distance, such as "Krippendorff's alpha, interval"; `scale` says
    from where to where scores go.
    """

    stage: str
    about: str
    measure: str
    before: Alpha
    judgments_before: int
    after: Alpha | None = None
    judgments_after: int | None = None
    scale: str = ""


@dataclass(frozen=True, slots=True)
class SourceAgreement:
    """How far the people of one source of a stage agreed before filters, and how much of theirs was flagged.

    `flagged` is a share, None where no filter is in force; `shared` are units with two responses from here.
    """

    stage: str
    source: str
    judgments: int
    workers: int
    shared: int
    mean: float | None
    flagged: float | None
    alpha: Alpha
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Rule:
    """One filter of a recipe: its name, its parameters in words, and how many ratings it removed."""

    name: str
    words: str
    removed: int


@dataclass(frozen=True, slots=True)
class FilterFacts:
    """The filter run that is in force in a stage, its rules in the order in which they ran."""

    stage: str
    recipe: str
    rules: tuple[Rule, ...]
    ratings: int
    removed: int


@dataclass(frozen=True, slots=True)
class ConsentFacts:
    """How many people agreed to a version of the consent text, which names the ethics board's protocol."""

    language: str
    version: int
    protocol_number: str
    people: int


@dataclass(frozen=True, slots=True)
class Privacy:
    """What the privacy check found by rule, and what people decided: counts of findings."""

    rule: str
    redacted: int
    accepted: int


@dataclass(frozen=True, slots=True)
class File:
    """One file of the release that holds data; `table` and `split` are empty where it is no table's."""

    path: str
    format: str
    bytes: int
    sha256: str
    rows: int | None = None
    table: str = ""
    split: str = ""


@dataclass(frozen=True, slots=True)
class ImportedScoreFacts:
    """Where imported human scores come from: the file, its digest, and the scale of its scores.

    The file says of `simulated` of its `scores` that programs gave them.
    """

    file: str
    sha256: str
    low: float
    high: float
    scores: int = 0
    simulated: int = 0


@dataclass(frozen=True, slots=True)
class RetrievalFacts:
    """Candidate passages of one origin that one ranker ordered; `ranker` is empty for imported ones.

    `corpus`, `licence` and `attribution` are what the project says about the corpus, empty where unknown.
    """

    origin: str
    ranker: str
    passages: int
    queries: int
    corpus: str = ""
    licence: str = ""
    attribution: str = ""


@dataclass(frozen=True, slots=True)
class Facts:
    """All that is known about a release.

    `answers` are what people said to `QUESTIONS` and `DETAILS`, by key; an empty one is no answer. `files`
    hold data; `rows` counts them by table and split, and `tables` have their columns. `brought_in` and, for
    queries and answers, `left_out` count by group (`releases.groups`), `include` are the groups that a person
    chose to bring in. `collected` are the first and last day on which people worked, as ISO dates, empty
    where not known.
    """

    slug: str
    title: str
    version: str
    language: str = "en"
    licence: str = ""
    notes: str = ""
    answers: Mapping[str, str] = field(default_factory=dict)
    collected: tuple[str, str] = ("", "")
    currency: str = "USD"
    steps: tuple[Step, ...] = ()
    include: tuple[str, ...] = ()
    brought_in: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    stages: tuple[StageFacts, ...] = ()
    workers: int = 0
    simulated_workers: int = 0
    joined_workers: int = 0
    agreement: tuple[Agreement, ...] = ()
    agreement_by_source: tuple[SourceAgreement, ...] = ()
    filters: tuple[FilterFacts, ...] = ()
    privacy: tuple[Privacy, ...] = ()
    consents: tuple[ConsentFacts, ...] = ()
    imported: ImportedScoreFacts | None = None
    found: tuple[RetrievalFacts, ...] = ()
    seed: int = 0
    shares: tuple[float, ...] = (1.0, 0.0, 0.0)
    rows: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    tables: tuple[Table, ...] = TABLES
    files: tuple[File, ...] = ()

    @property
    def simulated(self) -> bool:
        """Programs did something in place of people: as workers, or in scores that were imported."""
        return self.simulated_workers > 0 or (self.imported is not None and self.imported.simulated > 0)

    def answer(self, key: str) -> str:
        """What people said to a question, stripped; empty where nobody did."""
        return self.answers.get(key, "").strip()

    @property
    def open_questions(self) -> tuple[str, ...]:
        """The questions that nobody answered, in words."""
        return tuple(words for key, words in QUESTIONS.items() if not self.answer(key))

    @property
    def authors(self) -> tuple[str, ...]:
        """Names of the authors, one a line in the answer."""
        return tuple(line.strip() for line in self.answer("authors").splitlines() if line.strip())

    @property
    def size(self) -> int:
        """Rows of the largest table."""
        return max((sum(splits.values()) for splits in self.rows.values()), default=0)

    def files_of(self, table: str, format: str) -> tuple[File, ...]:
        """The files of a table in one format, one per split, in the order of the splits."""
        found = {each.split: each for each in self.files if (each.table, each.format) == (table, format)}
        return tuple(found[split] for split in SPLITS if split in found)
