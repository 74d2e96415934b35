"""A study in the database as the document that would make it, and as TOML."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit

from django.db.models import QuerySet

from core.money import dollars
from core.projects.models import Membership, Project
from crowd.models import Endpoint, PanelStudy, Stage, StageSource
from crowd.services import panel_pay
from crowd.services.endpoints import PRESETS
from crowd.services.sources import SourcePlan
from crowd.sources import source_rows, stages_at
from crowd.study.explain import key, pairs, table, value_text, without
from crowd.study.reader import complete_config
from crowd.study.schema import EndpointFields, StageFields, duration

#: Fields of a stage in the file, with the columns that hold them as they are.
SAME = (
    "slug",
    "title",
    "kind",
    "redundancy",
    "units_per_hit",
    "checks_per_hit",
    "max_hits_per_worker",
    "seed",
    "hold_failed_checks",
    "apart_from",
)
_PROLIFIC = Endpoint.Protocol.PROLIFIC
Document = dict[str, Any]
#: The columns of `stage_columns`.
COLUMNS = (
    *(name for name in SAME if name != "slug"),
    "endpoint",
    "reward_cents",
    "expected_seconds",
    "work_seconds",
    "open_seconds",
    "auto_approve_seconds",
    "budget_cents",
    "eligibility",
    "approve_at_once",
    "task_title",
    "task_description",
    "task_keywords",
    "config",
)


def project_document(project: Project) -> Document:
    """A project and its members."""
    return {
        "slug": project.slug,
        "title": project.title,
        "language": project.language,
        "licence": project.licence,
        "wage_floor": dollars(project.wage_floor_cents),
        "budget": dollars(project.budget_cents),
        "members": dict(
            Membership.objects.filter(project=project)
            .order_by("user__username")
            .values_list("user__username", "role")
        ),
    }


def stage_document(stage: Stage) -> Document:
    """A stage with all its options."""
    return {
        **{name: getattr(stage, name) for name in SAME},
        "endpoint": stage.endpoint.name,
        "sources": [_source_document(row) for row in source_rows(stage)],
        "panel": _panel_document(stage),
        "reward": dollars(stage.reward_cents),
        "expected_minutes": expected_minutes(stage),
        "work_time": duration(stage.work_seconds),
        "open_for": duration(stage.open_seconds),
        "auto_approve_after": duration(stage.auto_approve_seconds),
        "budget": dollars(stage.budget_cents),
        "eligibility": [dict(rule) for rule in stage.eligibility],
        "approve": "at-once" if stage.approve_at_once else "by-hand",
        "task": {
            "title": stage.task_title,
            "description": stage.task_description,
            "keywords": stage.task_keywords,
        },
        "config": complete_config(stage.kind, stage.config),
    }


def _panel_document(stage: Stage) -> Document | None:
    """What its study at Prolific pays beside whole rewards; None of a stage that has none there."""
    study = prolific_studies(stage).order_by("pk").first()
    if study is None:
        return None
    cents = study.screen_out_cents
    return {
        "screen_out": dollars(cents) if cents else None,
        "screen_outs": panel_pay.slots_asked(study),
        "pays_in_part": study.pays_in_part,
    }


def prolific_studies(stage: Stage) -> QuerySet[PanelStudy]:
    """The stage's studies at Prolific; the database is not asked for a stage that has no such place."""
    endpoints = [
        source_stage.endpoint.pk
        for source_stage in stages_at(stage)
        if source_stage.endpoint.protocol == _PROLIFIC
    ]
    rows = PanelStudy.objects.filter(stage=stage.pk, endpoint__in=endpoints)
    return rows if endpoints else rows.none()


def _source_document(row: StageSource) -> Document:
    reward, moved = row.reward_cents, row.move_after_seconds
    return {
        "endpoint": row.endpoint.name,
        "share": row.share,
        "answers": row.most_answers,
        "reward": None if reward is None else dollars(reward),
        "move_after": None if moved is None else duration(moved),
    }


def source_plans(fields: StageFields, endpoints: Mapping[str, Endpoint]) -> list[SourcePlan]:
    """The sources of a stage of a file, for the service that makes them."""
    return [
        SourcePlan(
            endpoints[each.endpoint],
            share=each.share,
            most_answers=each.answers,
            reward_cents=each.reward,
            move_after_seconds=each.move_after,
        )
        for each in fields.sources
    ]


def stage_columns(fields: StageFields, endpoint: Endpoint) -> dict[str, Any]:
    """A stage of a file, as it was read, as columns of its row, without the slug."""
    assert fields.task is not None  # the reader makes the texts where a file has none
    return {
        **{name: getattr(fields, name) for name in SAME if name not in ("slug", "apart_from")},
        "apart_from": list(fields.apart_from),
        "endpoint": endpoint,
        "reward_cents": fields.reward,
        "expected_seconds": expected_seconds(fields.expected_minutes),
        "work_seconds": fields.work_time,
        "open_seconds": fields.open_for,
        "auto_approve_seconds": fields.auto_approve_after,
        "budget_cents": fields.budget,
        "eligibility": [rule.model_dump(mode="json") for rule in fields.eligibility],
        "approve_at_once": fields.approve == "at-once",
        "task_title": fields.task.title,
        "task_description": fields.task.description,
        "task_keywords": fields.task.keywords,
        "config": fields.config,
    }


def expected_minutes(stage: Stage) -> float | None:
    """What one HIT takes, as the researcher guesses it, in minutes."""
    return None if stage.expected_seconds is None else stage.expected_seconds / 60


def expected_seconds(minutes: float | Decimal | None) -> int | None:
    """Minutes of one decimal as whole seconds."""
    return None if minutes is None else round(minutes * 60)


def endpoint_document(endpoint: Endpoint) -> Document:
    """An endpoint without its keys, which are never shown."""
    return _at_home(
        {
            "url": endpoint.url,
            "label": endpoint.label,
            "region": endpoint.region,
            "currency": endpoint.currency,
            "real_money": endpoint.real_money,
            "fees": _fees(endpoint),
            "submit_origins": list(endpoint.submit_origins),
            "rate": endpoint.rate,
            "burst": endpoint.burst,
            "protocol": endpoint.protocol,
        }
    )


def _at_home(document: Document) -> Document:
    """Study links have the present address of this installation."""
    if document["protocol"] == Endpoint.Protocol.LINK:
        links = PRESETS["link"]
        document |= {"url": links.address, "submit_origins": links.origins}
    return document


def _fees(endpoint: Endpoint) -> str:
    """Its fee profile; a panel that told the share of this account has what the preset says all the same."""
    if endpoint.is_panel:
        return PRESETS[endpoint.protocol].fee_profile
    return endpoint.fee_profile


def resolved_endpoint(name: str, fields: EndpointFields) -> Document:
    """What an endpoint of a file comes to, with its preset's values, in the same terms."""
    document = fields.model_dump(mode="json", exclude={"preset", "access_key_env", "secret_key_env"})
    if fields.preset is not None:
        preset = PRESETS[fields.preset]
        document |= {
            "url": fields.url or preset.address,
            "label": fields.label or preset.label,
            "region": preset.region,
            "real_money": preset.real_money,
            "fees": preset.fee_profile,
            "submit_origins": [] if fields.url and preset.submit_origins else preset.origins,
            "rate": preset.rate,
            "protocol": preset.protocol,
        }
    document["label"] = document["label"] or name
    document.setdefault("protocol", Endpoint.Protocol.MTURK.value)
    document["submit_origins"] = document["submit_origins"] or [_origin(document["url"])]
    document["rate"] = float(document["rate"])
    return _at_home(document)


def _origin(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}"


def comparable(document: Document) -> Document:
    """A document with nested tables spread out: task.title, config.question, members.mira."""
    flat: Document = {}
    for name, value in document.items():
        if name == "sources":
            flat |= {f"sources.{each['endpoint']}": without(each, "endpoint") for each in value}
        elif name in ("task", "config", "members", "panel"):
            flat |= {f"{name}.{key}": inner for key, inner in (value or {}).items()}
        else:
            flat[name] = value
    return flat


# TOML text of a study in the database: a file that, applied, would change nothing.


def study_toml(project: Project) -> str:
    """The project, the endpoints that its stages use, and its stages."""
    stages = list(Stage.objects.filter(project=project).select_related("endpoint").order_by("pk"))
    endpoints = {
        source_stage.endpoint.name: source_stage.endpoint
        for stage in stages
        for source_stage in stages_at(stage)
    }
    endpoints |= {stage.endpoint.name: stage.endpoint for stage in stages}
    members = project_document(project)
    lines = ["[project]", *pairs(without(members, "members"))]
    if members["members"]:
        lines += ["", "[project.members]", *pairs(members["members"])]
    for name, endpoint in sorted(endpoints.items()):
        lines += ["", *_endpoint(name, endpoint)]
    for stage in stages:
        lines += ["", *_stage(stage)]
    return "\n".join(lines) + "\n"


def _endpoint(name: str, endpoint: Endpoint) -> Iterator[str]:
    document = endpoint_document(endpoint)
    yield f"[endpoints.{key(name)}]  # its keys stay in the installation"
    for preset, terms in PRESETS.items():
        own = {name: document[name] for name in ("label", "currency", "burst")}
        if terms.protocol != Endpoint.Protocol.MTURK and document["url"] != terms.address:
            own["url"] = document["url"]
        fields = EndpointFields.model_validate({"preset": preset, **own})
        if resolved_endpoint(name, fields) == document:
            yield f"preset = {value_text(preset)}"
            document = own
            break
    yield from pairs(without(document, "protocol"))


def _stage(stage: Stage) -> Iterator[str]:
    unsorted = stage_document(stage)
    document = {name: unsorted[name] for name in StageFields.model_fields}
    for name in ("max_hits_per_worker", "expected_minutes"):
        if document[name] is None:
            del document[name]
    yield "[[stages]]"
    yield from pairs(without(document, "task", "config", "sources", "panel"))
    for source in document["sources"]:
        yield ""
        yield "[[stages.sources]]"
        yield from pairs(source)
    for below in ("panel", "task", "config"):
        if document[below] is None:
            continue
        yield ""
        yield from table(f"stages.{below}", document[below])


def document_toml(document: Mapping[str, Any]) -> str:
    """A study in the file's own terms, as tables of the library that reads TOML, as a file again."""
    project = document["project"]
    lines = ["[project]", *pairs(without(project, "members"))]
    if project.get("members"):
        lines += ["", "[project.members]", *pairs(project["members"])]
    for stage in document.get("stages", ()):
        lines += ["", "[[stages]]", *pairs(without(stage, "task", "config", "sources", "panel"))]
        for source in stage.get("sources", ()):
            lines += ["", "[[stages.sources]]", *pairs(source)]
        for below in ("panel", "task", "config"):
            if stage.get(below):
                lines += ["", *table(f"stages.{below}", stage[below])]
    return "\n".join(lines) + "\n"
