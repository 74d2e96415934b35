"""A table becomes a project with an open stage and a study link; again, it becomes what is new in the table.

Every step finds what an earlier run made, so that a run that was stopped between any two goes on.
"""

import hashlib
import json
import re
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from pathlib import Path
from typing import Any

from django.contrib.auth.models import User
from django.utils.text import slugify

from annotation.importing.selection import RULES
from annotation.models import Query
from annotation.services.importing import Options as QueryOptions
from annotation.services.importing import import_queries
from core.errors import ActionError
from core.files.refusals import FileRefusedError
from core.projects.models import Membership, Project
from crowd.models import Endpoint, Stage
from crowd.services import stages
from crowd.services.publication import Quote, quote
from crowd.services.tick import Round, run_round
from crowd.study import planning, reader
from crowd.study.documents import document_toml
from distillery.studies.presets import Preset
from distillery.studies.tables import StudyTable
from judgments.models import Candidate, UnitMaterial
from judgments.questionnaire.config import questionnaire_config
from judgments.questionnaire.sentences import cut
from judgments.questionnaire.units import keep_materials
from judgments.services.imports import Options as AnswerOptions
from judgments.services.imports import import_candidates
from people.consents import first_values, save_text
from people.links import LinkChanges, LinkPlan, change_link, make_link
from people.models import StudyLink
from people.owners import project_owner
from people.selectors import links_to

#: The endpoint of people who come by links, made where the installation has none.
LINKS = "links"
MOST_PEOPLE = 1000
_LONGEST_NAME = 60
_MOST_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class StudyPlan:
    """What is asked: `people` per unit (None: as the preset has it), consent text, closing time."""

    preset: Preset
    title: str = ""
    people: int | None = None
    consent: str = ""
    closes_at: datetime | None = None
    language: str = "en"


@dataclass(slots=True)
class MadeStudy:
    """The study, and what this run added to it; `refusals` are sentences about rows that were not added.

    `copies` answer like a reference, `gone` answers of the study are no longer in the file.
    """

    project: Project
    stage: Stage
    link: StudyLink | None
    is_new: bool
    questions: int = 0
    answers: int = 0
    copies: int = 0
    gone: int = 0
    refusals: list[str] = field(default_factory=list)


def name_of_study(path: Path, kind: str) -> str:
    """The short name of the project of a file: its own name, and what tells it from one elsewhere."""
    place = hashlib.sha256(f"{kind}\0{path.resolve()}".encode()).hexdigest()[:6]
    return f"{slugify(path.stem)[:_LONGEST_NAME] or 'study'}-{place}"


def make_draft(table: StudyTable, plan: StudyPlan, *, slug: str, owner: User) -> MadeStudy:
    """Project, stage and rows; nothing is open yet. StudyError, ImportRefusedError, CrowdError."""
    project = Project.objects.filter(slug=slug).first()
    owned = Membership.objects.filter(project=project, user=owner, role=Membership.Role.OWNER)
    if project is not None and not owned.exists():
        name = owner.get_username()
        raise ActionError(f"{name} does not own the project {slug}. Name an owner of it: --as USER.")
    is_new = project is None or not project.stages.filter(slug=plan.preset.stage["slug"]).exists()
    if is_new:
        _apply(table, plan, slug, owner)
        project = Project.objects.get(slug=slug)
    assert project is not None
    stage = project.stages.select_related("project", "endpoint").get(slug=plan.preset.stage["slug"])
    if plan.people and plan.people != stage.redundancy:
        stages.change_stage(stage=stage, changes={"redundancy": plan.people}, actor=owner)
    if plan.consent:
        values = first_values(project.language) | {"body": plan.consent}
        save_text(owner=project_owner(project), values=values, actor=owner)
    study = MadeStudy(project, stage, next(iter(links_to("stage", stage.pk)), None), is_new)
    _import(table, study, owner)
    return study


def give_link(study: MadeStudy, plan: StudyPlan, *, owner: User) -> StudyLink:
    """The study link of the stage, made where it has none. PeopleError."""
    if study.link is not None and plan.closes_at:
        now = {each.name: getattr(study.link, each.name) for each in fields(LinkChanges)}
        changes = LinkChanges(**now | {"expires_at": plan.closes_at})
        study.link = change_link(link=study.link, changes=changes, actor=owner)
    if study.link is None:
        link_plan = LinkPlan(
            title=study.project.title,
            target=f"stage:{study.stage.slug}",
            quota=MOST_PEOPLE,
            expires_at=plan.closes_at,
        )
        study.link = make_link(owner=project_owner(study.project), plan=link_plan, actor=owner)
    return study.link


def open_study(study: MadeStudy, plan: StudyPlan, *, owner: User) -> Quote:
    """Open the stage, and make its link; what it costs and how many HITs it is. CrowdError, PeopleError."""
    stage = study.stage
    if stage.status == Stage.Status.DRAFT:
        stages.open_stage(stage=stage, actor=owner)
    settle(stage)  # so that the first person finds something to do
    stage.refresh_from_db()
    give_link(study, plan, owner=owner)
    return quote(stage)


def settle(stage: Stage) -> None:
    """Do for a stage on study links what the timer of a running server does, until nothing is left to do.

    Nothing leaves this machine. Stages of marketplaces and panels wait for their server.
    """
    if stage.endpoint.protocol != Endpoint.Protocol.LINK:
        return
    for _ in range(_MOST_ROUNDS):
        done = Round()
        run_round(stage.endpoint, done)
        if done.idle:
            return


def _apply(table: StudyTable, plan: StudyPlan, slug: str, owner: User) -> None:
    """Make project and stage as a study file does."""
    endpoint = Endpoint.objects.filter(protocol=Endpoint.Protocol.LINK).order_by("pk").first()
    terms = dict(plan.preset.stage)
    config = dict(terms.pop("config", {}))
    if plan.preset.kind == "questionnaire":
        config |= {} if "passages" in table.roles else {"passages": False}
        if "references" in table.roles and plan.preset.shows_references:
            config["reference"] = "central"
    if plan.preset.kind == "judging":
        config |= {} if "passages" in table.roles else {"passages": False}
        config |= {} if "references" in table.roles else {"reference": "none", "reference_checks": 0}
    document: dict[str, Any] = {
        "project": {
            "slug": slug,
            "title": plan.title or _title_of(table.name),
            "language": plan.language,
            "budget": "0.00",
            "members": {owner.get_username(): "owner"},
        },
        "stages": [
            terms
            | {
                "endpoint": endpoint.name if endpoint else LINKS,
                "redundancy": plan.people or terms["redundancy"],
                "reward": "0.00",
                "budget": "0.00",
                "open_for": "365d",
                "expected_minutes": round(plan.preset.minutes * terms.get("units_per_hit", 1), 1),
                "config": config,
            }
        ],
    }
    text = document_toml(document)
    if endpoint is None:
        text += f'\n[endpoints.{LINKS}]\npreset = "link"\n'
    study = reader.parse(f"the study of {table.name}", text.encode())
    planning.apply(study, planning.plan(study, {}, to_apply=True), {}, actor=owner)


def _title_of(name: str) -> str:
    title = re.sub(r"[_\-]+", " ", Path(name).stem).strip()
    return (title[:1].upper() + title[1:])[:200] or "Study"


def _import(table: StudyTable, study: MadeStudy, owner: User) -> None:
    """Questions with all their passages, then answers; what is there already changes nothing."""
    with tempfile.TemporaryDirectory(prefix="distillery-study-") as folder:
        questions = list(table.questions.values())
        path = Path(folder) / "questions.jsonl"
        lines = _write(path, ((question.line, _query(question)) for question in questions))
        report = import_queries(
            project=study.project,
            path=path,
            name=table.name,
            # People chose these questions for this study: no rule of query logs screens them.
            options=QueryOptions(
                format="jsonl", without=tuple(RULES), start_at="distillation", shortest=1, longest=20_000
            ),
            actor=owner,
        )
        study.questions = report["stored"]
        study.refusals += _refusals(table, report, lines)
        if not table.answers:
            return
        path = Path(folder) / "answers.jsonl"
        lines = _write(
            path,
            (
                (each.line, {**_name(each.question), "system": each.system, "answer": each.text})
                for each in table.answers
            ),
        )
        report = import_candidates(
            project=study.project,
            path=path,
            name=table.name,
            # A copy of a reference is one of the system's answers, too: without it the mean would be lower.
            options=AnswerOptions(format="jsonl", keep_exact=True),
            actor=owner,
        )
        study.answers = report["stored"]
        study.copies = report["rules"]["kept"]["count"]
        study.refusals += _refusals(table, report, lines)
        if study.stage.kind == "questionnaire":
            study.refusals += _keep_materials(table, study.stage)
        unchanged = sum(report["rules"][rule]["count"] for rule in ("conflict", "unchanged"))
        stored = Candidate.objects.filter(query__project=study.project).count()
        study.gone = stored - study.answers - unchanged


def _keep_materials(table: StudyTable, stage: Stage) -> list[str]:
    """What the file has for the units of a questionnaire; sentences about what its open stage keeps."""
    unit = questionnaire_config(stage).unit
    if unit not in ("support", "nuggets"):
        return []
    queries = dict(Query.objects.filter(project=stage.project_id).values_list("text", "key"))
    keys = {each.key: each.id or queries.get(each.text, "") for each in table.questions.values()}
    materials: dict[str, dict[str, Any]] = {}
    if unit == "nuggets":
        materials = {
            keys[each.key]: {"nuggets": each.nuggets} for each in table.questions.values() if each.nuggets
        }
    for each in table.answers if unit == "support" else ():
        content: dict[str, Any] = {"passages": list(each.passages)} if each.passages else {}
        if each.citations:
            sentences = cut(each.text)
            if len(each.citations) != len(sentences):
                counts = f"they are for {len(each.citations)} sentences, and the answer has {len(sentences)}"
                raise FileRefusedError(
                    f"{table.name}, line {each.line}, citations: {counts}. Give each sentence a list, also "
                    "an empty one."
                )
            content["citations"] = [list(numbers) for numbers in each.citations]
        if content:
            materials[f"{keys[each.question.key]}/{each.system}"] = content
    if stage.opened_at is None:
        keep_materials(stage, materials)
        return []
    known = dict(UnitMaterial.objects.filter(stage=stage).values_list("key", "content"))
    keep_materials(stage, {key: content for key, content in materials.items() if key not in known})
    changed = sum(key in known and known[key] != content for key, content in materials.items())
    kept = f"{table.name}: {changed:,} units have other nuggets, passages or citations now."
    return [f"{kept} People saw the former ones, which stay."] if changed else []


def _query(question: Any) -> dict[str, Any]:
    passages = [
        {"id": each.key, "text": each.text, "title": each.title, "url": each.url, "is_selected": True}
        for each in question.passages
    ]
    return {**_name(question), "passages": passages, "references": question.references}


def _name(question: Any) -> dict[str, Any]:
    turns = {"context_turns": question.turns} if question.turns else {}
    return {"query": question.text, **turns, **({"id": question.id} if question.id else {})}


def _write(path: Path, rows: Iterable[tuple[int, Mapping[str, Any]]]) -> dict[int, int]:
    """Rows as lines of JSON, on the lines that they have in the person's file where that can be.

    The imports name and keep lines: here is which line of the person's file each of them is.
    """
    lines: dict[int, int] = {}
    at = 0
    with path.open("w", encoding="utf-8") as file:
        for line, row in rows:
            file.write("\n" * max(0, line - at - 1) + json.dumps(row, ensure_ascii=False) + "\n")
            at = max(at + 1, line)
            lines[at] = line
    return lines


def _refusals(table: StudyTable, report: Mapping[str, Any], lines: Mapping[int, int]) -> list[str]:
    """What an import refused, by the lines of the person's file."""
    return [
        f"{table.name}, line {lines[each['line']]}: {each['reason']} {each.get('remedy', '')}".rstrip()
        for each in report["refusals"]
    ]
