"""How tools describe stages, quotes, figures and releases: values for JSON, with nothing about people."""

from collections.abc import Sequence
from html import unescape
from typing import Any

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.html import strip_tags

from annotation.selectors.agreement import curation_agreement, screening_agreement
from core.files.reading import NAMES, SHAPES, plain_name
from core.money import dollars
from core.projects.models import Project
from crowd.kinds import kind_of
from crowd.models import Stage
from crowd.selectors.queues import QueueCount
from crowd.selectors.stage_status import standing
from crowd.services.publication import Quote
from crowd.sources import spends_real_money
from judgments.selectors.live import SystemScore, live
from judgments.selectors.scores import random_scores_caution
from releases.models import PrivacyFinding, Release
from releases.storage import folder_of

Description = dict[str, Any]
_FINDINGS = "Texts or small groups that may tell who somebody is; no release is built before a decision."
_NO_INTERVAL = "An interval needs scores of two answers."
_NO_SCORES = "Nothing was judged yet."
_NO_AGREEMENT = "For stages of this kind there is no figure of agreement."


def address_of_page(name: str, *arguments: str) -> str:
    """The whole address of a page of the desk."""
    return address_of_path(reverse(name, args=arguments))


def address_of_path(path: str) -> str:
    """The whole address of a path of this installation."""
    return f"{settings.PUBLIC_URL or settings.TASK_URL}{path}"


def columns_by_role(columns: Sequence[str]) -> dict[str, list[str]]:
    """Headers by what their names say that they hold; headers that nothing knows are left out."""
    headers: dict[str, list[str]] = {}
    for header in columns:
        name = plain_name(header)
        role = next((role for role, names in NAMES.items() if name in names), "")
        role = role or next((role for role, shape in SHAPES.items() if shape.fullmatch(name)), "")
        if role:
            headers.setdefault(role, []).append(header)
    return headers


def describe_first_unit(stage: Stage) -> Description:
    """What a worker reads of the first unit that is asked about, line by line; None where none is left."""
    kind = kind_of(stage)
    pending = next(iter(kind.pending(stage)), None)
    if pending is None:
        return {"instructions": "", "texts": None, "reason": "No unit is left to ask about."}
    page = kind.pages(stage, [pending.unit], stage.seed)[pending.unit]
    context = {**page.context, "prefix": "u|", "id": "u-", "values": {}, "errors": {}, "preview": True}
    lines = unescape(strip_tags(render_to_string(page.template, context))).splitlines()
    texts = [" ".join(line.split()) for line in lines]
    return {"instructions": page.instructions, "texts": list(filter(None, texts))}


def describe_quote(stage: Stage, offer: Quote) -> Description:
    """What opening a stage costs, as amounts with two decimals in its currency."""
    return {
        "units": offer.units,
        "places": offer.assignments,
        "rewards": dollars(offer.reward_cents),
        "fees": dollars(offer.fee_cents + offer.screen_out_cents),
        "total": dollars(offer.total_cents),
        "currency": stage.endpoint.currency,
        "reward_of_a_task": dollars(stage.reward_cents),
        "budget": dollars(stage.budget_cents),
        "affordable": offer.affordable,
        "real_money": spends_real_money(stage),
    }


def describe_progress(stage: Stage) -> Description:
    """How far a stage is, what it spent, and what is urgent."""
    status = standing(stage)
    progress, pace = status.progress, status.progress.pace
    return {
        **_name_stage(stage),
        "places": progress.places,
        "open_places": progress.open_places,
        "submitted_and_good": progress.answered,
        "on_hold": progress.held,
        "by_simulated_workers": progress.simulated,
        "units_missing": progress.units_missing,
        "answers_missing": progress.answers_missing,
        "likely_end": pace.likely.isoformat() if pace else None,
        "spent": dollars(stage.spent_cents),
        "set_aside": dollars(stage.reserved_cents),
        "currency": stage.endpoint.currency,
        "urgent": [alarm.sentence for alarm in status.alarms],
        "page": address_of_page("desk:stage", stage.project.slug, stage.slug),
    }


def describe_queue(queue_count: QueueCount, first: str) -> Description:
    """Decisions that wait for a person, and the page with the first of them."""
    queue, page = queue_count.queue, address_of_path(first)
    about = {"name": queue.name, "label": queue.label, "what": queue.what, "pressing": queue.pressing}
    return {**about, "count": queue_count.count, "page": page}


def describe_findings(project: Project) -> list[Description]:
    """The same for what the privacy check found before a release; nothing where none of it is open."""
    count = PrivacyFinding.objects.filter(project=project, state=PrivacyFinding.State.OPEN).count()
    page = address_of_page("releases:privacy", project.slug)
    about = {"name": "privacy", "label": "Privacy of releases", "what": _FINDINGS, "pressing": False}
    return [{**about, "count": count, "page": page}] if count else []


def describe_results(stage: Stage) -> Description:
    """Means of systems, agreement and counts of a stage, as far as its kind has them."""
    if stage.kind == "judging":
        return {**_name_stage(stage), **_describe_judging(stage)}
    if stage.kind == "screening":
        rows = screening_agreement(stage)
        figures = {f"{row.name}.alpha": row.alpha for row in rows}
        figures |= {f"{row.name}.percent": row.percent for row in rows}
        counts = {"queries": rows[0].queries, "answers": rows[0].answers} if rows else {}
    elif stage.kind == "curation":
        agreement = curation_agreement(stage)
        figures = {"alpha": agreement.alpha, "jaccard": agreement.jaccard}
        counts = {"queries": agreement.queries, "selections": agreement.selections}
    else:
        return {**_name_stage(stage), "agreement": None, "reason": _NO_AGREEMENT}
    return {
        **_name_stage(stage),
        "counts": counts,
        "agreement": {name: figure.as_json() for name, figure in figures.items()},
    }


def describe_release(release: Release) -> Description:
    """A release, where its files lie and what is in it."""
    folder = folder_of(release)
    return {
        "version": release.version,
        "digest": release.digest,
        "bytes": release.bytes,
        "folder": str(folder) if folder else None,
        "tables": {each["name"]: sum(each["rows"].values()) for each in release.manifest.get("tables", ())},
        "by_simulated_workers": release.simulated,
        "public": release.public,
        "page": address_of_page("releases:release", release.project.slug, release.version),
    }


def _name_stage(stage: Stage) -> Description:
    return {"stage": stage.slug, "title": stage.title, "kind": stage.kind, "status": stage.status}


def _describe_judging(stage: Stage) -> Description:
    now, misleading = live(stage), random_scores_caution(stage)
    figures = {f"alpha.{level}": figure for level, figure in now.alpha.items()}
    figures |= {"percent": now.percent, "icc1": now.icc, "icc1_k": now.icc_mean}
    low, high = now.scale.ends
    return {
        "counts": {"judgments": now.judgments, "answers": now.items, "judges": now.workers},
        "scale": {"least": float(low), "most": float(high)},
        "systems": [_describe_score(row, misleading) for row in now.systems],
        "systems_after_filters": [_describe_score(row, misleading) for row in now.kept_scores.values()]
        or None,
        "agreement": {
            name: {"value": None, "reason": misleading} if misleading else figure.as_json()
            for name, figure in figures.items()
        },
        "reason": misleading or ("" if now.judgments else _NO_SCORES),
    }


def _describe_score(row: SystemScore, misleading: str) -> Description:
    about: Description = {"system": row.system, "answers": row.items}
    if misleading:
        return {**about, "mean": None, "interval": None, "reason": misleading}
    if row.low is None:
        return {**about, "mean": row.mean, "interval": None, "reason": _NO_INTERVAL}
    return {**about, "mean": row.mean, "interval": [row.low, row.high], "reason": ""}
