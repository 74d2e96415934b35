"""What data card, Croissant description and citation are made of: plain values, and how they are gathered.

No database is read here, and nothing may depend on when or where the release is built, because the same
content is the same bytes. Money in integer cents, shares and agreement as fractions, texts as people wrote
them: the describing modules quote them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count, Max, Min, Q

from core.projects.models import Project
from crowd.selectors.people import count_consents
from judgments.models import CandidateSource, ImportedScore
from metrics.agreement.quotes import OVERALL
from releases.models import PrivacyFinding
from releases.options import ANSWERS, QUERIES, Options, left_out_of
from releases.reports import collected
from releases.scope import FoundPassages, JudgedStage
from releases.tables import SPLITS, TABLES, Table
from retrieval.models import Corpus

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

    label: str
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
    parameters: str
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
    queries and answers, `left_out` count by group (`releases.options`), `include` are the groups that a
    person chose to bring in. `collected` are the first and last day on which people worked, as ISO dates,
    empty where not known.
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
    retrievals: tuple[RetrievalFacts, ...] = ()
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
        return tuple(question for key, question in QUESTIONS.items() if not self.answer(key))

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
        by_split = {each.split: each for each in self.files if (each.table, each.format) == (table, format)}
        return tuple(by_split[split] for split in SPLITS if split in by_split)


# Facts about a release out of what was gathered while it was built.

_MEASURE = "Krippendorff's alpha, interval"


def facts_of(
    project: Project,
    *,
    version: str,
    notes: str,
    options: Options,
    costs: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    brought_in: Mapping[str, int],
    reports: Mapping[str, Mapping[str, Any]],
    judged_stages: Sequence[JudgedStage],
    verdicts: Counter[tuple[str, str]],
    rows: Mapping[str, Mapping[str, int]],
    tables: tuple[Table, ...],
    files: Sequence[File],
    workers: int,
    simulated: int,
    joined: int,
    passage_counts: Mapping[tuple[str, str], FoundPassages],
) -> Facts:
    """All that the card, the description and the citation are made of."""
    currencies = list(costs["total"])
    return Facts(
        slug=project.slug,
        title=project.title,
        version=version,
        language=project.language,
        licence=project.licence,
        notes=notes,
        answers=options.answers,
        collected=collected(project),
        currency=currencies[0] if currencies else "USD",
        steps=tuple(Step(_label_step(each), each["after"]) for each in steps),
        include=options.include,
        brought_in=brought_in,
        left_out={of: left_out_of(steps, of) for of in (QUERIES, ANSWERS)},
        stages=tuple(_collecting(each) for each in costs["stages"]),
        workers=workers,
        simulated_workers=simulated,
        joined_workers=joined,
        agreement=tuple(each for name, report in reports.items() for each in _agreements(name, report)),
        agreement_by_source=tuple(
            each for name, report in reports.items() for each in _by_source(name, report)
        ),
        filters=tuple(_filters(judged_stages, verdicts, reports)),
        privacy=tuple(_privacy(project)),
        consents=tuple(_consents(project)),
        imported=_imported(project),
        retrievals=tuple(_collect_retrievals(project, passage_counts)),
        seed=options.seed,
        shares=options.shares,
        rows=rows,
        tables=tables,
        files=tuple(files),
    )


def _consents(project: Project) -> Iterator[ConsentFacts]:
    for each in count_consents(project):
        yield ConsentFacts(each.language, each.version, each.protocol_number, each.people)


def _label_step(step: Mapping[str, Any]) -> str:
    return f"{step['what']}: {step['step']}"


def _collecting(cost: Mapping[str, Any]) -> StageFacts:
    return StageFacts(
        name=cost["stage"],
        kind=cost["kind"],
        title=cost["title"],
        redundancy=cost["redundancy"],
        units=cost["units"],
        assignments=cost["assignments"]["good"],
        approved=cost["assignments"]["approved"],
        rejected=cost["assignments"]["rejected"],
        workers=cost["workers"],
        simulated_workers=cost["simulated_workers"],
        reward_cents=cost["reward_cents"],
        paid_cents=cost["rewards_cents"],
        bonus_cents=cost["bonuses_cents"],
        fee_cents=cost["fees_cents"],
        median_seconds=cost["median_seconds"],
        median_cents_per_hour=cost["cents_per_hour"],
        sources=tuple(
            SourceFacts(
                name=each["source"],
                panel=each["panel"],
                answers=each["answers"],
                workers=each["workers"],
                rejected=each["rejected"],
                failed_checks=each["failed_checks"],
                paid_cents=each["paid_cents"] + each["fees_cents"],
                cents_per_hour=each["cents_per_hour"],
            )
            for each in cost.get("sources", ())
        ),
    )


def _agreement(stage: str, report: Mapping[str, Any]) -> Agreement:
    if own := report.get("in_release", {}).get("alpha"):
        return _agreement_of_rows(stage, report, own)
    alpha = report["alpha"]
    filtered = bool(alpha["after_workers"].get("removes")) or alpha["after_z"].get("interval") is not None
    last = alpha["after_z"] if alpha["after_z"].get("interval") is not None else alpha["after_workers"]
    return Agreement(
        stage=stage,
        about="correctness",
        measure=_MEASURE,
        before=_alpha(alpha["before"]),
        judgments_before=report["n_ratings"],
        after=_alpha(last) if filtered else None,
        judgments_after=report["n_kept"] if filtered else None,
        scale=_scale(report),
    )


def _agreement_of_rows(stage: str, report: Mapping[str, Any], own: Mapping[str, Any]) -> Agreement:
    """The same of the release's own rows, where these are not those of the report."""
    before, after = own["before"], own["after"]
    filtered = after["n"] < before["n"]
    return Agreement(
        stage=stage,
        about="correctness",
        measure=_MEASURE,
        before=_alpha(before),
        judgments_before=before["n"],
        after=_alpha(after) if filtered else None,
        judgments_after=after["n"] if filtered else None,
        scale=_scale(report),
    )


def _agreements(stage: str, report: Mapping[str, Any]) -> Iterator[Agreement]:
    """Agreement about the overall score, and about each aspect where judges were asked about any.

    No filter looks at aspects and responses are not removed from them, so that after means after workers were
    removed.
    """
    yield _agreement(stage, report)
    in_release = report.get("in_release", {})
    own = "alpha" in in_release  # the release's rows are not those of the report
    for row in (in_release if own else report).get("aspects", ()):
        if row["aspect"] == OVERALL:
            continue
        before, after = row["before"], row["after_workers"]
        filtered = (
            after["n_ratings"] < before["n_ratings"]
            if own
            else bool(report["alpha"]["after_workers"].get("removes"))
        )
        yield Agreement(
            stage=stage,
            about=f"{row['aspect']} (further aspect)",
            measure=_MEASURE,
            before=_alpha_of_aspect(before),
            judgments_before=before["n_ratings"],
            after=_alpha_of_aspect(after) if filtered else None,
            judgments_after=after["n_ratings"] if filtered else None,
        )


def _by_source(stage: str, report: Mapping[str, Any]) -> Iterator[SourceAgreement]:
    """Agreement inside each source; nothing of a stage whose people came from one."""
    for row in report.get("sources", ()):
        yield SourceAgreement(
            stage=stage,
            source=row["source"],
            judgments=row["n_ratings"],
            workers=row["n_workers"],
            shared=row["shared_items"],
            mean=row["mean"],
            flagged=row["flagged_share"],
            alpha=_alpha_of_aspect(row),
            reason=row.get("reason", {}).get("alpha", ""),
        )


def _alpha_of_aspect(part: Mapping[str, Any]) -> Alpha:
    return _alpha({"interval": part["alpha"], "ci": part.get("ci")})


def _scale(report: Mapping[str, Any]) -> str:
    """From where to where scores go, in words; nothing where the report does not say so."""
    ends, step = report.get("scale"), report.get("step", 1)
    if not ends:
        return ""
    return f"from {ends[0]:g} to {ends[1]:g}" + ("" if step == 1 else f" in steps of {step:g}")


def _alpha(part: Mapping[str, Any]) -> Alpha:
    low, high = part.get("ci") or (None, None)
    return Alpha(part.get("interval"), low, high)


def _filters(
    judged_stages: Sequence[JudgedStage],
    verdicts: Counter[tuple[str, str]],
    reports: Mapping[str, Mapping[str, Any]],
) -> Iterable[FilterFacts]:
    for each in judged_stages:
        if each.run is None:
            continue
        slug = each.stage.slug
        details = reports[slug]["recipe_details"]["parameters"] if slug in reports else {}
        removed = {rule: n for (stage, rule), n in sorted(verdicts.items()) if stage == slug and rule}
        parameters = ", ".join(
            f"{name} {value}" for name, value in details.items() if value not in ("", [], ())
        )
        yield FilterFacts(
            stage=slug,
            recipe=each.run.recipe,
            rules=tuple(Rule(rule, parameters, n) for rule, n in removed.items()),
            ratings=sum(n for (stage, _), n in verdicts.items() if stage == slug),
            removed=sum(removed.values()),
        )


def _privacy(project: Project) -> Iterable[Privacy]:
    states = PrivacyFinding.State
    rows = PrivacyFinding.objects.filter(project=project, state__in=[states.REDACTED, states.ACCEPTED])
    counts: dict[str, Counter[str]] = {}
    for rule, state, n in rows.order_by("rule").values_list("rule", "state").annotate(n=Count("pk")):
        counts.setdefault(rule, Counter())[state] = n
    for rule, by_state in sorted(counts.items()):
        yield Privacy(rule, redacted=by_state[states.REDACTED], accepted=by_state[states.ACCEPTED])


def _collect_retrievals(
    project: Project, counts: Mapping[tuple[str, str], FoundPassages]
) -> Iterable[RetrievalFacts]:
    """Where the candidate passages of the released queries come from, and who ordered them."""
    corpora = {corpus.slug: corpus for corpus in Corpus.objects.filter(project=project)}
    for (origin, ranker), count in sorted(counts.items(), key=lambda item: item[0]):
        corpus = corpora.get(origin.partition(":")[2])
        yield RetrievalFacts(
            origin,
            ranker,
            count.passages,
            count.queries,
            *((corpus.title, corpus.licence, corpus.attribution) if corpus else ()),
        )


def _imported(project: Project) -> ImportedScoreFacts | None:
    scores = ImportedScore.objects.filter(candidate__system__project=project)
    about = scores.aggregate(
        low=Min("scale_low"),
        high=Max("scale_high"),
        scores=Count("pk"),
        simulated=Count("pk", filter=Q(simulated=True)),
    )
    source = CandidateSource.objects.filter(project=project).order_by("pk").first()
    if about["low"] is None or source is None:
        return None
    return ImportedScoreFacts(source.name, source.sha256, **about)
