"""Pages of questionnaires: the figures of each field, the units with their keys, and the tables as files."""

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from django import forms
from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.db.models import Count, Q, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_POST, require_safe

from core.files.reading import reading_lines
from core.files.refusals import FileRefusedError
from core.projects.services import record
from crowd.access import StageAccess, on_stage
from crowd.desk.forms import Form
from crowd.errors import CrowdError
from crowd.models import Stage
from judgments.models import QuestionnaireUnit
from judgments.questionnaire.config import QuestionnaireConfig, questionnaire_config
from judgments.questionnaire.materials import UnitFile, import_units, nugget_stages, take_nuggets
from judgments.questionnaire.rows import (
    STYLES,
    csv_lines,
    pair_table,
    protocol_of,
    protocol_table,
    response_rows,
    written_nuggets,
)
from judgments.questionnaire.units import FROM_FILE, UNASKED, ensure_units
from judgments.selectors.ratings import stamp_of
from judgments.services import reports
from web.access import Role
from web.cells import Cell, Link, Phrase, Post, chip, isolated, more, several
from web.forms import FormError, read_form, run_action
from web.kit import Button, Empty, Facts, FormSection, Listing, Note, Page, Table, Tabs
from web.pages import show, show_table
from web.tables import Choices, Column, Grid, GridRequest, Words

RESULTS, UNITS = "judgments:results", "judgments:units"
_LARGEST = 20 << 20
_NONE = "\N{EN DASH}"
_ALL_STYLES = "all"
#: Comparisons in all fields that a page adjusts for style while it is asked for.
_MOST_ADJUSTED = 50_000
_SHOWN_REFUSALS = 5


def questionnaires_only(access: StageAccess) -> QuestionnaireConfig:
    """The options of the stage; other kinds have no such pages."""
    if access.stage.kind != "questionnaire":
        raise Http404("Only questionnaires have this page.")
    return questionnaire_config(access.stage)


# The page of figures.


def _number(value: float | None, digits: int = 2) -> str:
    return _NONE if value is None else f"{value:.{digits}f}"


def _between(low: float | None, high: float | None, reason: object = "") -> str:
    if low is None or high is None:
        return str(reason or _NONE)
    return f"{low:.2f} to {high:.2f}"


def _interval(row: Mapping[str, Any]) -> str:
    return _between(row["low"], row["high"], row.get("reason"))


def _entry(name: str, draw: Callable[[Any], object] = str) -> Callable[[Mapping[str, Any]], object]:
    return lambda row: draw(row.get(name))


@require_safe
@on_stage()
def results(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """What people answered, by field and system; made by a job, and how old it is."""
    config = questionnaires_only(access)
    status = reports.standing(access.stage, stamp_of(access.stage))
    style = request.GET.get("style", "")
    calculate = Post(
        "Work out the figures", access.address("judgments:calculate_results"), plain=status.fresh
    )
    again = Post("Work them out again", calculate.address, plain=True)
    page = Page(
        "Results",
        list(_parts(access, config, status, style)),
        lead="Each field with its counts, how far people agree, and the mean of each system over questions.",
        primary=[again if status.newest else calculate] if access.manages and not status.under_way else (),
    )
    answer = show(request, page, access, tab="results")
    if status.under_way:
        answer["Refresh"] = "3"
    return answer


def _parts(
    access: StageAccess, config: QuestionnaireConfig, status: reports.ReportStatus, style: str
) -> Iterator[Any]:
    if status.under_way:
        yield Note("The figures are being worked out. This page shows them when they are there.")
    elif status.failed and status.job is not None:
        yield Note(f"The figures could not be worked out: {status.job.error}", "error")
    report = status.report
    if not report.get("n_responses"):
        text = "Responses come in while the stage is open; figures are worked out by themselves from 100 on."
        yield Empty("No figures yet", text)
        return
    for warning in report["warnings"]:
        yield Note(warning, "warning")
    if not status.fresh:
        yield Note("Responses came in, or work was decided about, since these figures were made.")
    facts = ("Responses", "n_responses"), ("Units", "n_units"), ("People", "n_people")
    yield Facts([(label, f"{report[name]:,}") for label, name in facts], look="facts")
    yield from _headline(config, report)
    if "preferences" in report:
        yield from _style_parts(access, config, report["preferences"], style)
    yield _field_table(report)
    yield Note("Alpha with its 95 % interval over units and people; sets by MASI, marks as unitized alpha.")
    yield from _system_tables(report)
    yield Note(("Files: ", *_files(access, config)))


def _headline(config: QuestionnaireConfig, report: Mapping[str, Any]) -> Iterator[Any]:
    """The result that the protocol is about."""
    labels = {field.name: field.label for field in config.fields}
    for name, facts in report.get("preferences", {}).items():
        yield _strength_table(labels.get(name, name), facts)
        yield from _strength_notes(facts)
    if support := report.get("support"):
        names = (
            ("attributable", "not_interpretable") if support["protocol"] == "ais" else ("precision", "recall")
        )
        yield _mean_table("Support of answers by the passages that they cite", support["systems"], names)
    if nuggets := report.get("nuggets"):
        yield _nugget_table(nuggets["systems"])
    if rubric := report.get("rubric"):
        yield _mean_table("Share of the points that answers met", rubric["systems"], ("score",))


def _strength_table(label: str, facts: Mapping[str, Any]) -> Table:
    halves = {each["system"]: each["strength"] for each in facts["half_wins"]}
    columns = (
        Column("system", "System", _entry("system"), head=True),
        Column("strength", "Strength", _entry("strength", _number), number=True),
        Column("interval", "95 % interval", _interval),
        Column("half", "With half wins", lambda row: _number(halves.get(row["system"])), number=True),
        *(Column(name, name.capitalize(), _entry(name), number=True) for name in ("wins", "losses", "ties")),
    )
    rows = sorted(facts["strengths"], key=lambda row: -(row["strength"] or 0))
    return Table(label, columns, rows, heading=label)


def _strength_notes(facts: Mapping[str, Any]) -> Iterator[Note]:
    side, counts = facts["side"], facts["counts"]
    yield Note(
        f"{facts['n']:,} comparisons by {facts['judges']:,} people; ties {counts['ties_share'] or 0:.0%}"
        f", of them both bad {counts['both_bad']:,}. Effect of standing first: {_number(side['effect'])}"
        f" ({_between(side['low'], side['high'], side.get('reason'))}). Strengths are log odds with mean "
        "0: ties by Davidson's model, beside them ties as half wins."
    )
    yield from (Note(warning, "warning") for warning in facts["warnings"])


def _style_parts(
    access: StageAccess, config: QuestionnaireConfig, preferences: Mapping[str, Any], style: str
) -> Iterator[Any]:
    """By choice the rates of wins as they are beside those without the effects of style."""
    chosen = list(STYLES) if style == _ALL_STYLES else [style] if style in STYLES else []
    words = {"": "As judged", **{name: name.capitalize() for name in STYLES}, _ALL_STYLES: "All three"}
    address = access.address(RESULTS)
    links = [(label, f"{address}?style={name}" if name else address) for name, label in words.items()]
    yield Tabs("Adjust for style", words[style if chosen else ""], links)
    if not chosen:
        return
    if sum(facts["n"] for facts in preferences.values()) > _MOST_ADJUSTED:
        yield Note("So many comparisons take a while: give pairs.csv to the command preferences --style.")
        return
    from judgments.questionnaire.report import adjust_for_style, win_rates  # noqa: PLC0415 - loads numpy

    try:
        adjusted = adjust_for_style(access.stage, chosen)
    except FileRefusedError:
        adjusted = {}
    if not adjusted:
        yield Note("Answers differ in the same way in every pair, or not at all: nothing to adjust for.")
        return
    labels = {field.name: field.label for field in config.fields}
    for name, facts in preferences.items():
        yield _rate_table(labels.get(name, name), win_rates(facts), win_rates(adjusted[name]))
        yield _style_note(adjusted[name])


def _style_note(facts: Mapping[str, Any]) -> Note:
    if facts.get("reason"):
        return Note(f"Not adjusted: {facts['reason']['strengths']}.")
    effects = ", ".join(f"{each['column']} {_number(each['effect'])}" for each in facts["style"])
    return Note(
        f"Effect on the log odds of one standard deviation of the difference over the sum: {effects}. For "
        "intervals give the file pairs.csv, which has these numbers, to the command preferences --style."
    )


def _rate_table(label: str, rates: Mapping[str, float], adjusted: Mapping[str, float]) -> Table:
    columns = (
        Column("system", "System", str, head=True),
        Column("rate", "Wins against the others", lambda row: _share(rates.get(row)), number=True),
        Column("adjusted", "Adjusted for style", lambda row: _share(adjusted.get(row)), number=True),
    )
    heading = f"{label} Share of wins, ties half"
    return Table(heading, columns, sorted(rates, key=lambda system: -rates[system]), heading=heading)


def _share(value: float | None) -> str:
    return _NONE if value is None else f"{value:.0%}"


def _mean_table(heading: str, systems: Sequence[Mapping[str, Any]], names: Sequence[str]) -> Table:
    def value(name: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: _number(row[name]["value"])

    def interval(name: str) -> Callable[[Mapping[str, Any]], str]:
        return lambda row: _between(row[name]["low"], row[name]["high"], row[name].get("reason"))

    columns = [Column("system", "System", _entry("system"), head=True)]
    for name in names:
        label = name.replace("_", " ").capitalize()
        columns += [
            Column(name, label, value(name), number=True),
            Column(f"{name}_ci", "95 % interval", interval(name)),
        ]
    columns.append(Column("n", "Answers", lambda row: row.get("n_answers", row.get("n")), number=True))
    return Table(heading, columns, systems, heading=heading)


def _nugget_table(systems: Sequence[Mapping[str, Any]]) -> Table:
    columns = [Column("system", "System", _entry("system"), head=True)]
    columns += [
        Column(name, name.replace("_", " ").capitalize(), _entry(name, _number), number=True)
        for name in systems[0]
        if name not in ("system", "low", "high", "n", "reason")
    ]
    interval = Column("interval", "95 % of vital strict", lambda row: _between(row["low"], row["high"]))
    columns += [interval, Column("n", "Answers", _entry("n"), number=True)]
    heading = "Share of the nuggets that answers have"
    return Table(heading, columns, systems, heading=heading)


def _field_table(report: Mapping[str, Any]) -> Table:
    def agreement(row: Mapping[str, Any]) -> str:
        if row["alpha"] is None:
            return str(row["reason"])
        between = "" if row["low"] is None else f" ({row['low']:.2f} to {row['high']:.2f})"
        return f"{row['alpha']:.2f}{between}"

    def counts(row: Mapping[str, Any]) -> str:
        return ", ".join(f"{value} {count:,}" for value, count in row["counts"].items() if count) or _NONE

    columns = (
        Column("name", "Field", _entry("name"), head=True),
        Column("n", "Answers", _entry("n"), number=True),
        Column("counts", "How often", counts),
        Column("alpha", "Krippendorff's alpha", agreement),
        Column("level", "Level", lambda row: row["level"] or _NONE),
    )
    return Table("Fields", columns, report["fields"], heading="Fields")


def _system_tables(report: Mapping[str, Any]) -> Iterator[Table]:
    for each in report["fields"]:
        if systems := each.get("systems"):
            columns = (
                Column("system", "System", _entry("system"), head=True),
                Column("value", "Mean", _entry("value", _number), number=True),
                Column(
                    "interval",
                    "95 % interval",
                    lambda row: _between(row["low"], row["high"], row.get("reason")),
                ),
                Column("n", "Questions", _entry("n"), number=True),
            )
            heading = f"{each['label']} ({each['name']})"
            yield Table(heading, columns, systems, heading=heading)


def _files(access: StageAccess, config: QuestionnaireConfig) -> list[object]:
    names = ["responses.jsonl", "results.json"]
    if any(field.compares for field in config.fields):
        names.append("pairs.csv")
    if protocol_of(config):
        names.append("labels.csv")
    if config.takes_nuggets:
        names.append("nuggets.csv")
    links: list[object] = []
    for name in names:
        links += [
            ", " if links else "",
            Link(name, access.address("judgments:results_file", name), download=True),
        ]
    return [*links, ". The commands preferences, agreement, support and nuggets read them."]


@require_POST
@on_stage(Role.MANAGER)
def calculate(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Have the figures made of the responses as they are now."""
    questionnaires_only(access)

    def action() -> str:
        reports.ask(stage=access.stage)
        return "The figures are being worked out."

    return run_action(request, action, RESULTS, access.project.slug, access.stage.slug)


@require_safe
@on_stage()
def results_file(request: HttpRequest, access: StageAccess, *, path: str) -> HttpResponseBase:
    """Responses, figures, or a table that a command reads."""
    config, stage = questionnaires_only(access), access.stage
    lines: Iterator[str]
    if path == "responses.jsonl":
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in response_rows(stage, config))
    elif path == "results.json":
        report = reports.standing(stage, stamp_of(stage)).report
        lines = iter([json.dumps(report, ensure_ascii=False, indent=1) + "\n"])
    elif path == "pairs.csv" and any(field.compares for field in config.fields):
        lines = csv_lines(pair_table(stage, config))
    elif path == "labels.csv" and (table := protocol_table(stage, config)) is not None:
        lines = csv_lines(table)
    elif path == "nuggets.csv" and config.takes_nuggets:
        lines = csv_lines(written_nuggets(stage))
    else:
        raise Http404("There is no such file.")
    kind = "text/csv" if path.endswith(".csv") else "application/json"
    answer = StreamingHttpResponse(lines, content_type=f"{kind}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{stage.slug}-{path}"'
    return answer


# The page of units: what is shown, under which keys, and the file that brings or corrects it.


def _draw_unit(cell: Cell) -> object:
    unit = cell.row
    gold, unasked = bool(unit.gold), UNASKED in unit.content
    marks = (gold and chip("check", "wait"), unasked and chip("cites nothing"))
    text = unit.query.text if unit.query is not None else _first_text(unit)
    return several(unit.key, *marks, more(isolated(text, most=140)))


def _first_text(unit: QuestionnaireUnit) -> str:
    texts = [
        *(unit.content.get("columns") or {}).values(),
        *(turn["text"] for turn in unit.content.get("turns", ())),
    ]
    return str(next(iter(texts), ""))


def _parts_text(unit: QuestionnaireUnit) -> str:
    content = unit.content
    if "sentences" in content:
        cited = sum(len(sentence["citations"]) for sentence in content["sentences"])
        return f"{len(content['sentences'])} sentences, {cited} citations"
    for name in ("nuggets", "turns", "columns"):
        if name in content:
            return f"{len(content[name])} {name}"
    return _NONE


UNIT_GRID = Grid(
    "units",
    columns=(
        Column("key", "Unit", by="key", cell=_draw_unit),
        Column("parts", "Parts", _parts_text),
        Column("responses", "Responses", "n", by="n", down=True, number=True),
    ),
    filters=(
        Choices("show", "Which units", {"": "All", "checks": "Checks"}, tabs=True),
        Words("q", "Key or question"),
    ),
    order="key",
)


class UnitsForm(Form):
    """A file of units."""

    file = forms.FileField(
        label="File",
        max_length=200,
        help_text="CSV, TSV, XLSX, JSON or JSONL; up to 20 MB. The guide to questionnaires says what each "
        "kind of unit reads.",
    )

    def clean_file(self) -> Any:
        """Not larger than one page load can read."""
        file = self.cleaned_data["file"]
        if file.size > _LARGEST:
            raise forms.ValidationError(
                "This file is larger than 20 MB. Give it to manage.py import-units instead."
            )
        return file


_FROM_ANSWERS = "Units are made of the systems' answers. A file can bring values to begin with."
_WANTS: Mapping[str, Phrase] = {
    "nuggets": "Nuggets by question: columns question_id (or question), nugget, importance (vital, okay); of "
    "a rubric criterion and points. Questions without any are not asked about.",
    "support": "Sentences are cut by the program, and citations such as [1] read. A file corrects them: "
    "question_id, system, sentences, citations, passages.",
    "conversation": "A conversation in each line: id and turns, each with role and text.",
    "row": "A row for each unit; a column id names it, and a column system says whose answer it is.",
}


@require_safe
@on_stage()
def units(request: HttpRequest, access: StageAccess) -> HttpResponseBase:
    """What is shown under which key, and the file that brings it."""
    config, stage = questionnaires_only(access), access.stage
    is_from_file = config.unit in (*FROM_FILE, "nuggets")
    if stage.opened_at is None:
        try:
            ensure_units(stage)
        except CrowdError as error:
            messages.error(request, str(error))
    brings = FormSection(
        UnitsForm(),
        [Button("Bring in")],
        action=access.address("judgments:import_units"),
        heading="Bring in a file",
        lead=_WANTS.get(
            config.unit, "Units are made of the systems' answers. A file can bring values to begin with."
        ),
        folded="" if is_from_file and not _has_units(access) else "Bring in a file",
    )
    takes = [
        Post(f"Take the nuggets of {each.slug}", access.address("judgments:take_nuggets", each.slug))
        for each in nugget_stages(stage)
        if access.manages and stage.opened_at is None
    ]
    none = "Bring in a file of them." if is_from_file else "Import systems' answers first."
    listing = Listing("Which units to show", "unit", "units", Empty("No units yet", none))
    page = Page(
        "Units",
        [brings, listing] if access.manages else [listing],
        lead="What people see at once, by its key. Gold names units by these keys.",
        primary=[
            *takes,
            Link("As a file", access.address("judgments:units_file"), plain=True, download=True),
        ],
    )

    def rows(grid: GridRequest) -> QuerySet[Any]:
        found = QuestionnaireUnit.objects.filter(stage=stage).select_related("query")
        if grid["show"] == "checks":
            found = found.exclude(gold={})
        if text := grid["q"]:
            found = found.filter(Q(key__icontains=text) | Q(query__text__icontains=text))
        return found.annotate(n=Count("responses"))

    return show_table(request, access, UNIT_GRID, rows, page, file=f"{stage.slug}-units", tab="units")


def _has_units(access: StageAccess) -> bool:
    return QuestionnaireUnit.objects.filter(stage=access.stage).exists()


@require_POST
@on_stage(Role.MANAGER)
def bring_units(request: HttpRequest, access: StageAccess) -> HttpResponse:
    """Read an uploaded file of units; what is wrong with it is said on the page of units."""
    questionnaires_only(access)

    def action() -> str:
        upload: UploadedFile[bytes] = read_form(UnitsForm(request.POST, files=request.FILES))["file"]
        name = upload.name or "units"
        with tempfile.NamedTemporaryFile(prefix="units-", suffix=Path(name).suffix) as copy:
            for piece in upload.chunks():
                copy.write(piece)
            copy.flush()
            return _bring(request, access, name, partial(import_units, path=Path(copy.name), name=name))

    return run_action(request, action, UNITS, access.project.slug, access.stage.slug)


@require_POST
@on_stage(Role.MANAGER)
def take_written_nuggets(request: HttpRequest, access: StageAccess, *, source: str) -> HttpResponse:
    """Bring in the nuggets that people wrote in another stage of the project."""
    questionnaires_only(access)
    get_object_or_404(Stage, project=access.project, slug=source)

    def action() -> str:
        return _bring(request, access, source, partial(take_nuggets, source=source))

    return run_action(request, action, UNITS, access.project.slug, access.stage.slug)


def _bring(request: HttpRequest, access: StageAccess, name: str, read: Callable[..., UnitFile]) -> str:
    """Keep what a file or another stage brings, and say what was read."""
    try:
        file = read(stage=access.stage)
    except FileRefusedError as error:
        raise FormError(str(error)) from error
    ensure_units(access.stage)
    record(
        project=access.project,
        action="units.imported",
        subject=access.stage.slug,
        actor=access.user,
        details={"file": name, "units": len(file.materials), "refused": len(file.refused)},
    )
    for line in file.refused[:_SHOWN_REFUSALS]:
        messages.warning(request, line)
    if len(file.refused) > _SHOWN_REFUSALS:
        messages.warning(request, f"{len(file.refused) - _SHOWN_REFUSALS:,} more rows were left out.")
    return f"{len(file.materials):,} read. {' '.join(reading_lines(file.read_as))}"


@require_safe
@on_stage()
def units_file(request: HttpRequest, access: StageAccess) -> StreamingHttpResponse:
    """The units as JSON Lines, in the form in which a file of them comes in again."""
    questionnaires_only(access)
    rows = QuestionnaireUnit.objects.filter(stage=access.stage).select_related(
        "query", "candidate__system", "other__system"
    )

    def lines() -> Iterator[str]:
        for unit in rows.order_by("key").iterator(1000):
            yield json.dumps(_unit_json(unit), ensure_ascii=False) + "\n"

    answer = StreamingHttpResponse(lines(), content_type="application/json; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{access.stage.slug}-units.jsonl"'
    return answer


def _unit_json(unit: QuestionnaireUnit) -> dict[str, Any]:
    row: dict[str, Any] = {"id": unit.key}
    if unit.query is not None:
        row |= {"question_id": unit.query.key, "question": unit.query.text}
    if unit.candidate is not None and unit.other is None:
        row |= {"system": unit.candidate.system.name, "answer": unit.candidate.text}
    content = dict(unit.content)
    content.pop(UNASKED, None)
    return row | dict(content.pop("columns", {})) | content
