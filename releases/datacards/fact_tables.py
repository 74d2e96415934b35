"""Facts about a release out of what was gathered while it was built."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from django.db.models import Count, Max, Min, Q

from core.projects.models import Project
from crowd.selectors.consents import count_consents
from judgments.models import CandidateSource, ImportedScore
from metrics.agreement.quotes import OVERALL
from releases.datacards.facts import (
    Agreement,
    Alpha,
    ConsentFacts,
    Facts,
    File,
    FilterFacts,
    ImportedScoreFacts,
    Privacy,
    RetrievalFacts,
    Rule,
    SourceAgreement,
    SourceFacts,
    StageFacts,
    Step,
)
from releases.groups import ANSWERS, QUERIES, left_out_of
from releases.models import PrivacyFinding
from releases.options import Options
from releases.reports import collected
from releases.rows.scope import FoundPassages, JudgedStage
from releases.tables import Table
from retrieval.models import Corpus

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
    judged: Sequence[JudgedStage],
    verdicts: Counter[tuple[str, str]],
    rows: Mapping[str, Mapping[str, int]],
    tables: tuple[Table, ...],
    files: Sequence[File],
    workers: int,
    simulated: int,
    joined: int,
    found: Mapping[tuple[str, str], FoundPassages],
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
        steps=tuple(Step(_words(each), each["after"]) for each in steps),
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
        filters=tuple(_filters(judged, verdicts, reports)),
        privacy=tuple(_privacy(project)),
        consents=tuple(_consents(project)),
        imported=_imported(project),
        found=tuple(_found(project, found)),
        seed=options.seed,
        shares=options.shares,
        rows=rows,
        tables=tables,
        files=tuple(files),
    )


def _consents(project: Project) -> Iterator[ConsentFacts]:
    for each in count_consents(project):
        yield ConsentFacts(each.language, each.version, each.protocol_number, each.people)


def _words(step: Mapping[str, Any]) -> str:
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


def _agreements(stage: str, report: Mapping[str, Any]) -> Iterator[Agreement]:
    """Agreement about the overall score, and about each aspect where judges were asked about any.

    No filter looks at aspects and responses are not removed from them, so that after means after workers were
    removed.
    """
    yield _agreement(stage, report)
    filtered = bool(report["alpha"]["after_workers"].get("removes"))
    for row in report.get("aspects", ()):
        if row["aspect"] == OVERALL:
            continue
        before, after = row["before"], row["after_workers"]
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
    judged: Sequence[JudgedStage],
    verdicts: Counter[tuple[str, str]],
    reports: Mapping[str, Mapping[str, Any]],
) -> Iterable[FilterFacts]:
    for each in judged:
        if each.run is None:
            continue
        slug = each.stage.slug
        details = reports[slug]["recipe_details"]["parameters"] if slug in reports else {}
        removed = {rule: n for (stage, rule), n in sorted(verdicts.items()) if stage == slug and rule}
        words = ", ".join(f"{name} {value}" for name, value in details.items() if value not in ("", [], ()))
        yield FilterFacts(
            stage=slug,
            recipe=each.run.recipe,
            rules=tuple(Rule(rule, words, n) for rule, n in removed.items()),
            ratings=sum(n for (stage, _), n in verdicts.items() if stage == slug),
            removed=sum(removed.values()),
        )


def _privacy(project: Project) -> Iterable[Privacy]:
    states = PrivacyFinding.State
    rows = PrivacyFinding.objects.filter(project=project, state__in=[states.REDACTED, states.ACCEPTED])
    counts: dict[str, Counter[str]] = {}
    for rule, state, n in rows.order_by("rule").values_list("rule", "state").annotate(n=Count("pk")):
        counts.setdefault(rule, Counter())[state] = n
    for rule, found in sorted(counts.items()):
        yield Privacy(rule, redacted=found[states.REDACTED], accepted=found[states.ACCEPTED])


def _found(project: Project, counts: Mapping[tuple[str, str], FoundPassages]) -> Iterable[RetrievalFacts]:
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
