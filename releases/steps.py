"""How many there were of everything before and after each step of a campaign, with the reasons."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.db.models import Count

from annotation.models import Query, QuerySource
from annotation.selectors.funnel import funnel
from core.projects.models import Project
from crowd.models import Stage
from judgments.models import Judgment
from judgments.selectors.ratings import not_good
from releases.groups import GROUPS
from releases.rows.acceptance import answers_of, inside
from releases.rows.scope import ANSWER_LEFT_OUT, QUERY_LEFT_OUT, Scope

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
    ]


def _queries(scope: Scope) -> list[Step]:
    project, found = scope.project, []
    total = Query.objects.filter(project=project).count()
    records, reasons = _imported(project)
    if total:
        before = max(records, total)
        reasons["not sampled"] = before - total - sum(reasons.values())
        found.append(step("queries", "imported", before, total, **reasons))
    through = funnel(project)
    kinds = set(Stage.objects.filter(project=project).values_list("kind", flat=True))
    for part in through.parts if through else ():
        if part.kind in kinds:
            found.append(
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
        found.append(step("queries", "released", total, len(scope.queries), **reasons))
    return found


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
    mine = answers_of(scope.project, scope.using)
    counts = dict(mine.order_by().values_list("why").annotate(n=Count("pk")))
    written = sum(counts.values())
    if not written:
        return []
    reasons = _in_order({name: n for name, n in counts.items() if name not in inside(scope.include)})
    taken, aside = written - reasons.total(), scope.held_out
    return [
        step("answers", "accepted", written, taken, **reasons),
        step("answers", "released", taken, released, **{QUERY_LEFT_OUT: taken - released}),
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
    found = []
    for judged in scope.judged:
        slug = judged.stage.slug
        mine = Judgment.objects.using(scope.using).filter(stage=judged.stage)
        total, aside = mine.count(), not_good(mine, judged.stage)
        counted = total - sum(aside.values())
        said = sum(n for (name, _), n in verdicts.items() if name == slug)
        passed_over = {why: scope.passed_over[slug, why] for why in (QUERY_LEFT_OUT, ANSWER_LEFT_OUT)}
        kept = verdicts[slug, ""]
        rules = {rule: n for (name, rule), n in sorted(verdicts.items()) if name == slug and rule}
        found += [
            step(f"judgments of {slug}", "good", total, counted, **aside),
            step(f"judgments of {slug}", "released", counted, said, **passed_over),
            step(f"judgments of {slug}", "kept", said, kept, **rules),
        ]
    return found
