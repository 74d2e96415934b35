"""Reports of a release: agreement, what the campaign paid, counts at each step. They name no worker."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from django.db.models import Count, Max, Min, Q

from annotation.models import Query, QuerySource
from annotation.selectors.queries import funnel
from core.progress import Progress
from core.projects.models import Project
from crowd.budget import spent_in
from crowd.models import Assignment, HitUnit, LedgerEntry, Stage
from crowd.selectors.stage_status import source_status
from crowd.selectors.wage import wage
from judgments.models import AgreementReport, Judgment
from judgments.selectors.ratings import good, not_good, stamp_of
from judgments.services import reports
from releases.options import GROUPS
from releases.scope import ANSWER_LEFT_OUT, QUERY_LEFT_OUT, JudgedStage, People, Scope, inside

#: Lists of the stored report that a release keeps; ratings and items are tables of their own.
_LISTS = ("workers", "removed_workers", "undetermined_workers")
_BONUS = "bonus"


def agreement(judged_stage: JudgedStage, people: People, progress: Progress) -> dict[str, Any]:
    """The honest report of a stage as its ratings are now, made again unless it is there already.

    It is made on the ordinary connection, which is where reports are kept.
    """
    stage = Stage.objects.select_related("project", "endpoint").get(pk=judged_stage.stage.pk)
    stamp = reports.made_of(stamp_of(stage))
    # Not all its rows: those of a million ratings are 40 MB of JSON.
    columns = ("report", *(f"rows__{name}" for name in _LISTS))
    stored = AgreementReport.objects.filter(stage=stage, stamp=stamp).values_list(*columns).first()
    if stored is None:
        row = reports.make(stage, progress)
        stored = (row.report, *(row.rows.get(name) for name in _LISTS))
    report: dict[str, Any] = {"stage": stage.slug, "title": stage.title, "simulated": _simulated(stage)}
    report |= stored[0]
    renamed = people.renamed
    report |= {
        name: [row | {"worker": renamed.get(row["worker"], row["worker"])} for row in rows]
        for name, rows in zip(_LISTS, stored[1:], strict=True)
        if rows is not None
    }
    pairs = report.get("pairs")
    if isinstance(pairs, dict) and pairs.get("workers"):
        names = people.names(pairs["workers"])
        report["pairs"] = {**pairs, "workers": [names[worker] for worker in pairs["workers"]]}
    # In order of their names: PostgreSQL stores keys in an order of its own, and bytes must not depend on it.
    cleaned = json.dumps(without_accounts(report, accounts_of(judged_stage)), sort_keys=True)
    in_order: dict[str, Any] = json.loads(cleaned)
    return in_order


def _simulated(stage: Stage) -> dict[str, int] | None:
    """How many of the good ratings programs gave in place of people; None where they gave none."""
    rows = good(Judgment.objects.filter(stage=stage), stage)
    by_programs = rows.filter(worker__simulated=True).count()
    return {"ratings": by_programs, "of": rows.count()} if by_programs else None


def accounts_of(judged_stage: JudgedStage) -> tuple[str, ...]:
    """Accounts of testers that a recipe names: ids of workers, which leave the installation nowhere."""
    names = judged_stage.run.parameters.get("test_accounts") if judged_stage.run else None
    return tuple(str(name) for name in names or ())


def without_accounts(value: Any, names: Iterable[str]) -> Any:
    """A JSON value without the names, wherever they stand in it."""
    names = tuple(sorted(names, key=len, reverse=True))
    if not names:
        return value
    if isinstance(value, str):
        for name in names:
            value = value.replace(name, "(an account)")
        return value
    if isinstance(value, Mapping):
        return {key: without_accounts(each, names) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [without_accounts(each, names) for each in value]
    return value


def costs(project: Project) -> dict[str, Any]:
    """What each stage asked for, got and paid; money in integer cents of the stage's currency."""
    stages = [_costs(stage) for stage in _stages(project)]
    return {
        "floor_cents_per_hour": project.wage_floor_cents,
        "stages": stages,
        "total": {
            currency: {
                name: sum(each[name] for each in stages if each["currency"] == currency)
                for name in ("rewards_cents", "bonuses_cents", "fees_cents")
            }
            for currency in sorted({each["currency"] for each in stages})
        },
    }


def _stages(project: Project) -> Iterable[Stage]:
    return Stage.objects.filter(project=project).select_related("project", "endpoint").order_by("pk")


def _costs(stage: Stage) -> dict[str, Any]:
    work = Assignment.objects.filter(stage=stage)
    states = dict(work.order_by().values_list("state").annotate(n=Count("pk")))
    good = work.filter(state__in=Assignment.GOOD)
    people = good.aggregate(
        all=Count("worker", distinct=True),
        simulated=Count("worker", distinct=True, filter=Q(worker__simulated=True)),
    )
    movements = LedgerEntry.objects.filter(stage=stage)
    spent, bonuses = spent_in(movements), spent_in(movements.filter(reason=_BONUS)).cents
    hours = wage(stage)
    units = HitUnit.objects.filter(hit__stage=stage).exclude(role=HitUnit.Role.CHECK)
    return {
        "stage": stage.slug,
        "kind": stage.kind,
        "title": stage.title,
        "currency": stage.endpoint.currency,
        "redundancy": stage.redundancy,
        "units": units.aggregate(n=Count("unit", distinct=True))["n"],
        "assignments": {
            "good": sum(states.get(state, 0) for state in Assignment.GOOD),
            "approved": states.get(Assignment.State.APPROVED, 0),
            "rejected": states.get(Assignment.State.REJECTED, 0),
        },
        "workers": people["all"],
        "simulated_workers": people["simulated"],
        "reward_cents": stage.reward_cents,
        "rewards_cents": spent.cents - bonuses,
        "bonuses_cents": bonuses,
        "fees_cents": spent.fee_cents,
        "median_seconds": hours.median_seconds if hours.assignments else None,
        "cents_per_hour": hours.cents_per_hour if hours.assignments else None,
        "below_floor": hours.below if hours.assignments and not hours.unpaid else None,
    } | _sources(stage)


def _sources(stage: Stage) -> dict[str, Any]:
    """The same by source, of a stage that asked people at several places."""
    rows = source_status(stage)
    if not rows:
        return {}
    work = Assignment.objects.filter(stage=stage, state__in=Assignment.GOOD).order_by()
    counts = work.values_list("worker__endpoint").annotate(
        n=Count("worker", distinct=True), failed=Count("pk", filter=Q(failed_checks__gt=0))
    )
    people = {endpoint: (workers, failed) for endpoint, workers, failed in counts}
    return {
        "sources": [
            {
                "source": each.endpoint.name,
                "panel": each.endpoint.protocol,
                "answers": each.places.answers,
                "rejected": each.states.get(Assignment.State.REJECTED, 0),
                "workers": people.get(each.endpoint.pk, (0, 0))[0],
                "failed_checks": people.get(each.endpoint.pk, (0, 0))[1],
                "paid_cents": each.money.spent_cents,
                "fees_cents": each.money.fee_cents,
                "median_seconds": each.pay.median_seconds if each.pay.assignments else None,
                "cents_per_hour": each.pay.cents_per_hour if each.pay.assignments else None,
            }
            for each in rows
        ]
    }


def collected(project: Project) -> tuple[str, str]:
    """The first and the last day on which people worked, as ISO dates in UTC; empty where nobody did."""
    days = Assignment.objects.filter(stage__project=project, state__in=Assignment.GOOD).aggregate(
        first=Min("stored_at"), last=Max("stored_at")
    )
    return tuple(day.date().isoformat() if day else "" for day in (days["first"], days["last"]))  # type: ignore[return-value]


# How many there were of everything before and after each step of a campaign, with the reasons.

Step = dict[str, Any]
_WORDS = {"screening": "screened", "curation": "curated", "distillation": "answered"}


def step(what: str, name: str, before: int, after: int, **reasons: int) -> Step:
    """One step: `before` came in, `after` went on, and `reasons` say what became of the others."""
    return {
        "what": what,
        "step": name,
        "before": before,
        "after": after,
        "reasons": {reason: count for reason, count in reasons.items() if count > 0},
    }


def steps_of(
    scope: Scope, rows: Mapping[str, Mapping[str, int]], verdicts: Counter[tuple[str, str]]
) -> list[Step]:
    """All steps of a project in their order; `rows` are those of the release by table and split."""
    return [
        *_queries(scope),
        *_answers(scope, sum(rows.get("answers", {}).values())),
        *_candidates(scope),
        *_judgments(scope, verdicts),
        *_texts(scope),
    ]


def _texts(scope: Scope) -> list[Step]:
    """What people wrote into questionnaires, once the table of responses was read."""
    total = scope.texts.total()
    unread = {"not read by the privacy check": scope.texts[False]}
    return [step("texts of questionnaires", "released", total, scope.texts[True], **unread)] if total else []


def _queries(scope: Scope) -> list[Step]:
    project, steps = scope.project, []
    total = Query.objects.filter(project=project).count()
    records, reasons = _imported(project)
    if total:
        before = max(records, total)
        reasons["not sampled"] = before - total - sum(reasons.values())
        steps.append(step("queries", "imported", before, total, **reasons))
    through = funnel(project)
    kinds = set(Stage.objects.filter(project=project).values_list("kind", flat=True))
    for part in through.parts if through else ():
        if part.kind in kinds:
            steps.append(
                step(
                    "queries",
                    _WORDS[part.kind],
                    part.entered,
                    part.passed,
                    waiting=part.waiting,
                    undecided=part.undecided,
                    excluded=part.out,
                    withdrawn=part.withdrawn,
                )
            )
    if total:
        reasons = _in_order(scope.left_out)
        steps.append(step("queries", "released", total, len(scope.queries), **reasons))
    return steps


def _imported(project: Project) -> tuple[int, Counter[str]]:
    """Records of all imported files, and why some of them are no queries of the project."""
    records, reasons = 0, Counter[str]()
    sources = QuerySource.objects.filter(project=project, state=QuerySource.State.READY)
    for report in sources.values_list("report", flat=True):
        if not isinstance(report, dict) or not isinstance(report.get("records"), int):
            continue
        records += report["records"]
        reasons["refused"] += int(report.get("refused") or 0)
        reasons["repeats another"] += int(report.get("duplicates") or 0)
        for name, rule in (report.get("rules") or {}).items():
            reasons[str(name)] += int(rule.get("dropped") or 0)
    return records, reasons


def _in_order(counts: Mapping[str, int]) -> Counter[str]:
    """Counts by group, in the order of the groups."""
    return Counter({name: counts[name] for name in GROUPS if name in counts})


def _answers(scope: Scope, released: int) -> list[Step]:
    counts = scope.written
    written = sum(counts.values())
    if not written:
        return []
    reasons = _in_order({name: n for name, n in counts.items() if name not in inside(scope.include)})
    accepted, aside = written - reasons.total(), scope.held_out
    return [
        step("answers", "accepted", written, accepted, **reasons),
        step("answers", "released", accepted, released, **{QUERY_LEFT_OUT: accepted - released}),
        step("answers", "references", released, released - aside, held_out=aside),
    ]


def _candidates(scope: Scope) -> list[Step]:
    inside, reasons = len(scope.candidates), Counter(scope.without.values())
    total = inside + reasons.total()
    if not total:
        return []
    by = {name: count for name, count in sorted(scope.asides.items()) if name}
    return [
        step("candidates", "released", total, inside, **reasons),
        step("candidates", "judged", inside, inside - sum(by.values()), **by),
    ]


def _judgments(scope: Scope, verdicts: Counter[tuple[str, str]]) -> list[Step]:
    steps = []
    for judged_stage in scope.judged_stages:
        slug = judged_stage.stage.slug
        mine = Judgment.objects.using(scope.using).filter(stage=judged_stage.stage)
        total, aside = mine.count(), not_good(mine, judged_stage.stage)
        counted = total - sum(aside.values())
        released = sum(n for (name, _), n in verdicts.items() if name == slug)
        passed_over = {why: scope.passed_over[slug, why] for why in (QUERY_LEFT_OUT, ANSWER_LEFT_OUT)}
        n_kept = verdicts[slug, ""]
        rules = {rule: n for (name, rule), n in sorted(verdicts.items()) if name == slug and rule}
        steps += [
            step(f"judgments of {slug}", "good", total, counted, **aside),
            step(f"judgments of {slug}", "released", counted, released, **passed_over),
            step(f"judgments of {slug}", "kept", released, n_kept, **rules),
        ]
    return steps
