"""Templates of batches: `${variables}`, what is wrong with one, layout ids, and samples to begin with."""

import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, BinaryIO

from django.db import IntegrityError, transaction
from django.templatetags.static import static

from core.revisions import ShownColumns
from marketplace import clock, ids
from marketplace.batches.properties import DAY, MINUTE, Properties
from marketplace.errors import Refusal, invalid_value
from marketplace.forms.html import hosts_in, unknown_elements
from marketplace.forms.questions import html_question_xml
from marketplace.forms.sheets import Limits, Sheet
from marketplace.models import Requester, Template

# `${variables}`: which there are, and a row's values in their places.

#: A name begins with a letter, a digit or a low line. Other `${…}`, as scripts write them, stay as they are.
_PLACEHOLDER = re.compile(r"\$\{(\w[\w .:-]{0,99})\}")
_MANY = 12


@dataclass(frozen=True, slots=True)
class Page:
    """A template taken apart: text, a variable, text, a variable, … and text."""

    texts: tuple[str, ...]
    variables: tuple[str, ...]

    @property
    def names(self) -> list[str]:
        """Every variable once, in the order in which they first occur."""
        return list(dict.fromkeys(self.variables))

    def fill(self, values: Mapping[str, str]) -> str:
        """The page with the values put in as they are; what a value holds is not looked at for variables."""
        filled = (values[name] for name in self.variables)
        return "".join(chain.from_iterable(zip_longest(self.texts, filled, fillvalue="")))

    def line_of(self, name: str) -> int:
        """The line of the template on which a variable first occurs."""
        before = self.texts[: self.variables.index(name) + 1]
        return 1 + sum(text.count("\n") for text in before)


def parse(html: str) -> Page:
    """Take a template apart."""
    parts = _PLACEHOLDER.split(html)
    return Page(texts=tuple(parts[::2]), variables=tuple(name.strip() for name in parts[1::2]))


def check(page: Page, columns: Sequence[str], *, file: str) -> None:
    """Refuse a template with a variable that the table has no column for."""
    if unknown := [name for name in page.names if name not in columns]:
        name = unknown[0]
        also = f" (and {len(unknown) - 1} more)" if len(unknown) > 1 else ""
        raise Refusal(
            "UnknownVariable",
            f"The template uses ${{{name}}} on line {page.line_of(name)}{also}, but {file} has no column of "
            f"that name; its columns are {join_names(columns)}. {_remedy(name, columns)}",
        )


def unused(page: Page, columns: Sequence[str]) -> list[str]:
    """Columns that the template does not show."""
    variables = set(page.variables)
    return [name for name in columns if name not in variables]


def join_names(names: Sequence[str]) -> str:
    """Names in a sentence, the first dozen of them."""
    shortened = ", ".join(name[:60] for name in names[:_MANY])
    return f"{shortened} and {len(names) - _MANY} more" if len(names) > _MANY else shortened


def _remedy(name: str, columns: Sequence[str]) -> str:
    for near in _near(name, columns):
        return f"Did you mean ${{{near[:60]}}}? Change the template or the head of the file."
    return (
        "Change the template or the head of the file. If it belongs to a script of the template, write the "
        "script without ${…}, for example with +."
    )


def _near(name: str, columns: Sequence[str]) -> Iterator[str]:
    folded = {column.casefold(): column for column in columns}
    for match in get_close_matches(name.casefold(), folded, n=1, cutoff=0.75):
        yield folded[match]


# Which hosts a batch's tasks would load from: those of its template, and those that its cells bring in.

#: Hosts of cells that are listed; a table that names more needs a host of its own for its files.
MOST = 100
#: Rows that are also looked at as whole pages: addresses put together of a template and a cell.
WHOLE_PAGES = 20
_ADDRESS = re.compile(r"(https?://[a-z0-9][a-z0-9.-]{0,252}(?::\d{1,5})?)(?=[/?#\s)'\",;]|$)")


class HostCollector:
    """Collects hosts while rows pass by."""

    def __init__(self, page: Page, columns: Sequence[str]) -> None:
        self._page, self._columns = page, columns
        self._seen = 0
        self._hosts: dict[str, None] = {}

    def look(self, cells: Sequence[str], html: str) -> None:
        """Look at one row, and at the page that it makes if it is one of the first."""
        self._seen += 1
        if self._seen <= WHOLE_PAGES:
            self._add(hosts_in(html))
        for cell in cells:
            if "//" in cell and len(self._hosts) < MOST:
                self._add(hosts_in(cell) if "<" in cell else _ADDRESS.findall(cell))

    def beside(self, own: Iterable[str]) -> list[str]:
        """Hosts that the template itself does not name, sorted."""
        return sorted(self._hosts.keys() - set(own))

    def _add(self, hosts: Iterable[str]) -> None:
        for host in hosts:
            if len(self._hosts) < MOST:
                self._hosts[host] = None


def of_template(html: str) -> list[str]:
    """Origins that the template's own text names."""
    return hosts_in(html)


# What is wrong with a template, or may be, with the lines.

_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FIELD = re.compile(r"<(?:input|textarea|select|crowd-(?!form\b|button\b)[a-z])", re.IGNORECASE)
_OPENED = re.compile(r"\$\{([^{}<\n]{0,100})(\}?)")
_LINK = re.compile(r"image|img|picture|photo|url|src", re.IGNORECASE)
#: Liquid, as templates of SageMaker Ground Truth have it; MTurk had none.
_LIQUID = re.compile(r"\{[{%][^{}]{0,200}?\btask\.input\.?([\w.]{0,60})")
_MOST_PROBLEMS = 20
_SAMPLE = Limits(megabytes=1, columns=500, rows=200)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about a line of a template; with `wrong` it cannot be stored so."""

    line: int
    message: str
    wrong: bool = False

    def __str__(self) -> str:
        return f"Line {self.line}: {self.message}" if self.line else self.message


def find_problems(html: str) -> list[Problem]:
    """All that a template's page says by itself, the wrong first."""
    # Comments are blanked out, not cut out: what is found behind them keeps its line.
    bare = _COMMENT.sub(lambda faults: re.sub(r"[^\n]", " ", faults[0]), html)
    faults = [*_unknown_elements(html)]
    for problems in (_odd_placeholders(bare), _liquid(bare)):
        faults += islice(problems, _MOST_PROBLEMS)  # they come by line, and no more are shown
    if not _FIELD.search(bare) and "createElement" not in bare:
        faults.append(
            Problem(0, "The page has no field, so workers have nothing to answer with but a button.")
        )
    return sorted(faults, key=lambda each: (not each.wrong, each.line))[:_MOST_PROBLEMS]


def _line(text: str, at: int) -> int:
    return 1 + text.count("\n", 0, at)


def _unknown_elements(html: str) -> Iterator[Problem]:
    for unknown in unknown_elements(html):
        yield Problem(
            unknown.line,
            f"There is no element <{unknown.name}> in this marketplace. Take another one, or take it out.",
            wrong=True,
        )


def _odd_placeholders(bare: str) -> Iterator[Problem]:
    for match in _OPENED.finditer(bare):
        if not match[2]:
            message = f"${{{match[1][:40]} has no closing brace, so it stays as it is."
        elif not parse(match[0]).variables:
            message = f"{match[0][:60]} is no name of a column, so it stays as it is."
        else:
            continue
        yield Problem(_line(bare, match.start()), message)


def _liquid(bare: str) -> Iterator[Problem]:
    for match in _LIQUID.finditer(bare):
        name = match[1].rpartition(".")[2] or "name"
        yield Problem(
            _line(bare, match.start()),
            f"{match[0][:60]} … is Liquid of Ground Truth, which is not filled in here. Write ${{{name}}}.",
        )


# Rows to look at a page with.


@dataclass(frozen=True, slots=True)
class SampleRows:
    """Values by column, row by row; `problem` says why they are not what was given."""

    rows: list[dict[str, str]]
    made_up: bool
    problem: str = ""


def sample_rows(html: str, text: str) -> SampleRows:
    """The rows of a table as text; made up of the placeholders where there is none, or it does not fit."""
    names = parse(html).names
    invented = {name: made_up_value(name) for name in names}
    if not text.strip():
        return SampleRows([invented], made_up=True)
    try:
        sheet = Sheet(io.BytesIO(text.encode("utf-8", "replace")), "Sample rows", limits=_SAMPLE)
        rows = [dict(zip(sheet.columns, row.cells, strict=True)) for row in sheet.rows()]
    except Refusal as refusal:
        return SampleRows([invented], made_up=True, problem=refusal.message)
    missing = [name for name in names if name not in sheet.columns]
    problem = f"The sample rows have no column {join_names(missing)}; made up." if missing else ""
    return SampleRows([invented | row for row in rows], made_up=False, problem=problem)


def made_up_value(name: str) -> str:
    """A value for a placeholder: a picture of ours where its name sounds like an address, else words."""
    return static("samples/circle.svg") if _LINK.search(name) else f"[{name}]"


def fill(html: str, values: Mapping[str, str]) -> str:
    """The page with a row in it, exactly as a batch fills it."""
    return parse(html).fill(values)


# HIT layouts: a template by its layout id, filled by the parameters of a call instead of by a row.


def layout_id_of(template: Template) -> str:
    """The layout id of a template; one that a process of an older version made gets it now."""
    if template.layout_id is None:
        Template.objects.filter(pk=template.pk, layout_id=None).update(layout_id=ids.new_entity_id())
        template.refresh_from_db(fields=["layout_id"])
    return template.layout_id or ""


def layout_named(requester: Requester, layout_id: str) -> Template:
    """The requester's template with this layout id; Refusal where there is none."""
    layout = requester.templates.filter(layout_id=layout_id).first()
    if layout is None:
        raise Refusal(
            "HITLayoutDoesNotExist",
            f"HITLayout {layout_id} does not exist. The layout id of a template is on its page, and in "
            "`manage.py marketplace layout list`.",
        )
    return layout


def question_of(template: Template, parameters: Sequence[Mapping[str, str]]) -> str:
    """The HTMLQuestion of a layout with its placeholders filled, as a batch fills them with a row.

    Values are put in as they are, HTML and all. Raises Refusal for names that are missing, surplus or given
    twice.
    """
    page = parse(template.html)
    values = {each["Name"].strip(): each["Value"] for each in parameters}
    if len(values) != len(parameters):
        raise invalid_value("HITLayoutParameters", "a name is given twice.")
    if missing := [name for name in page.names if name not in values]:
        raise Refusal(
            "AWS.MissingParameters",
            "Your request is missing required parameters. Required parameters include HITLayoutParameter. "
            "You have not provided all required HITLayout parameters. Missing parameter names: "
            f"{join_names(missing)}",
        )
    if surplus := [name for name in values if name not in page.variables]:
        raise invalid_value(
            "HITLayoutParameters",
            f"the HITLayout does not use these parameter names: {join_names(surplus)}. "
            f"It uses {join_names(page.names) or 'none'}.",
        )
    return html_question_xml(page.fill(values), template.frame_height)


# What happens to templates: made, and changed; batches that were made of one keep what they were made of.


def create_template(
    *, requester: Requester, name: str, html: str, properties: Properties, frame_height: int = 0
) -> Template:
    """A new template. Raises Refusal where the requester has one of this name."""
    now = clock.now()
    values = _values(name, html, properties, frame_height)
    try:
        with transaction.atomic():
            return Template.objects.create(requester=requester, created_at=now, updated_at=now, **values)
    except IntegrityError as error:
        raise _name_is_taken() from error


def change_template(
    *,
    template: Template,
    name: str,
    html: str,
    properties: Properties,
    frame_height: int,
    seen: ShownColumns,
) -> Template:
    """Change a template. Raises Refusal for a name that is taken, ConflictError where it is not as `seen`."""
    values = _values(name, html, properties, frame_height)
    try:
        with transaction.atomic():
            row = Template.objects.select_for_update(no_key=True).get(pk=template.pk)
            if all(getattr(row, each) == value for each, value in values.items()):
                return row
            seen.check(row)
            for each, value in values.items():
                setattr(row, each, value)
            row.updated_at = clock.now()
            row.save()
    except IntegrityError as error:
        raise _name_is_taken() from error
    return row


def _values(name: str, html: str, properties: Properties, frame_height: int) -> dict[str, Any]:
    return {
        "name": name,
        "html": html,
        "frame_height": frame_height,
        "hosts": of_template(html),
        "properties": properties.stored(),
    }


def _name_is_taken() -> Refusal:
    return Refusal("InvalidTemplateName", "You have a template of this name already. Choose another one.")


# Templates of our own to begin with, each with a table: text, pictures and a survey, in both styles.

#: Each has a folder here with `template.html` and `tasks.csv`.
_FOLDER = Path(__file__).parent / "samples"


@dataclass(frozen=True, slots=True)
class Sample:
    """One of them; `slug` is its folder."""

    slug: str
    name: str
    what: str
    style: str
    properties: Properties

    @property
    def html(self) -> str:
        """The template."""
        return (_FOLDER / self.slug / "template.html").read_text(encoding="utf-8")

    def table(self) -> BinaryIO:
        """The table, opened."""
        return (_FOLDER / self.slug / "tasks.csv").open("rb")


FORM, CROWD = "an ordinary form", "crowd elements"
_SENTIMENT = Properties(
    title="How does this review sound?",
    description="Read a short review of a product and say whether its writer was pleased.",
    keywords="sentiment, review, text, quick",
    reward_cents=5,
    places=3,
    duration_s=10 * MINUTE,
    lifetime_s=7 * DAY,
    auto_approval_s=3 * DAY,
)
_PICTURES = Properties(
    title="What is in this picture?",
    description="Look at a picture and choose what it shows.",
    keywords="image, picture, choice, quick",
    reward_cents=4,
    places=3,
    duration_s=10 * MINUTE,
    lifetime_s=7 * DAY,
    auto_approval_s=3 * DAY,
)
_SURVEY = Properties(
    title="A survey of five questions about reading",
    description="Tell us what you read, how often, and on what. It takes about three minutes.",
    keywords="survey, reading, opinion",
    reward_cents=60,
    places=20,
    duration_s=30 * MINUTE,
    lifetime_s=14 * DAY,
    auto_approval_s=3 * DAY,
)
SAMPLES = (
    Sample("text", "Mood of a text", "One text, one choice, a line for doubts.", FORM, _SENTIMENT),
    Sample("pictures", "Choice for a picture", "One picture, several answers to tick.", FORM, _PICTURES),
    Sample("survey", "Survey", "Several kinds of questions on one page.", FORM, _SURVEY),
    Sample("text-crowd", "Mood of a text", "A classifier with instructions.", CROWD, _SENTIMENT),
    Sample("pictures-crowd", "Choice for a picture", "A picture and radio buttons.", CROWD, _PICTURES),
    Sample("survey-crowd", "Survey", "Inputs, a slider and a text area.", CROWD, _SURVEY),
)


def sample_named(slug: str) -> Sample | None:
    """The sample of this name."""
    return next((each for each in SAMPLES if each.slug == slug), None)
