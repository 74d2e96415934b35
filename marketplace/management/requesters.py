"""`manage.py marketplace batch …`, `layout …`: what a requester has, as scripts use it."""

import json
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from core.jobs import runner
from core.jobs.models import Job, JobState
from core.money import dollars, entered_cents
from marketplace import clock
from marketplace.batches import drafts, publication, results, schedule, templates
from marketplace.batches.properties import DAY, MINUTE, Properties
from marketplace.errors import Refusal
from marketplace.forms.questions import html_question_xml, parse_question
from marketplace.forms.sheets import RESULTS, Sheet
from marketplace.lifecycle.hours import Hours
from marketplace.models import Batch, Requester, Template
from marketplace.money.amounts import money

Facts = dict[str, Any]
FactsOf = Callable[[Facts], Facts]
Show = Callable[[Facts, Facts], None]


def add_batches(commands: Any, show: Show) -> None:
    """The sub-commands; `show` prints what one has to say, as its options ask for."""
    parser_of = partial(_parser, show)
    of_batch = partial(_of_batch, show)
    parser = commands.add_parser("batch", help="a template and a table become HITs")
    actions = parser.add_subparsers(dest="action", required=True)

    create = parser_of(actions, "create", "make a draft of a template and a table", create_batch)
    create.add_argument("requester", help="name of the requester")
    create.add_argument("template", type=Path, help="HTML file with ${variables}")
    create.add_argument("table", type=Path, help="CSV file; its first line names the columns")
    create.add_argument("--name", default="", help="of the batch (default: the files)")
    create.add_argument("--title", required=True, help="what workers see in the list")
    create.add_argument("--description", required=True)
    create.add_argument("--keywords", default="")
    create.add_argument("--reward", required=True, help="per assignment, such as 0.15")
    create.add_argument("--assignments", type=int, default=1, metavar="N", help="per task")
    create.add_argument("--minutes", type=int, default=60, help="time allotted per assignment")
    create.add_argument("--days", type=int, default=7, help="until the batch expires")
    create.add_argument(
        "--approve-after-days", type=int, default=3, help="work is approved automatically then"
    )
    create.add_argument(
        "--hours", metavar="HOURS", help='when HITs can be taken, such as "Mon-Fri 09:00-17:00 Europe/Berlin"'
    )
    create.add_argument("--height", type=int, default=0, help="of the frame in pixels; 0 fits the window")
    create.add_argument(
        "--hosts", nargs="*", metavar="ORIGIN", help="load from these only (default: those of the template)"
    )
    _add_reading(create)

    publish = of_batch(actions, "publish", "publish a draft, or go on with one that stopped", publish_batch)
    publish.add_argument("--total", required=True, help="what it costs at most, as `show` says it")
    of_batch(actions, "show", "how far a batch is and what it costs", show_batch)
    hours = of_batch(actions, "hours", "when its HITs can be taken; without an option, as it is", set_hours)
    choice = hours.add_mutually_exclusive_group()
    choice.add_argument("--set", metavar="HOURS", help='such as "Mon-Fri 09:00-17:00 Europe/Berlin"')
    choice.add_argument("--any-time", action="store_true", help="take the hours away")
    of_batch(actions, "cancel", "expire all HITs of a batch", cancel_batch)
    of_batch(actions, "delete", "throw a draft away", delete_batch)
    download = of_batch(actions, "results", "write the answers with MTurk's columns", write_results)
    download.add_argument("file", type=Path, help="CSV file to write")
    download.add_argument("--show", choices=list(results.SHOWN), default="all")
    download.add_argument("--times", choices=list(results.TIMES), default="utc", help="zone; MTurk: pacific")
    review = of_batch(actions, "review", "approve and reject as a results file says", review_batch)
    review.add_argument("file", type=Path, help="the results with x under Approve, reasons under Reject")
    review.add_argument("--override", action="store_true", help="also turn rejections into approvals")
    _add_reading(review)


def _add_reading(parser: ArgumentParser) -> None:
    """How the table is read, where that is not to be found out."""
    parser.add_argument("--encoding", default="auto", help="of the file, such as cp1252 (default: found out)")
    parser.add_argument(
        "--sheet", default="", metavar="NAME", help="of a workbook (default: the first with data)"
    )


def _parser(show: Show, actions: Any, name: str, help_text: str, facts: FactsOf) -> ArgumentParser:
    parser: ArgumentParser = actions.add_parser(name, help=help_text)
    parser.add_argument("--json", action="store_true")
    parser.set_defaults(run=lambda options: show(options, facts(options)))
    return parser


def _of_batch(show: Show, actions: Any, name: str, help_text: str, facts: FactsOf) -> ArgumentParser:
    parser = _parser(show, actions, name, help_text, facts)
    parser.add_argument("requester", help="name of the requester")
    parser.add_argument("number", type=int, help="of the batch")
    return parser


def requester_named(name: str) -> Requester:
    """The requester of this name; CommandError where there is none."""
    requester = Requester.objects.filter(name=name).first()
    if requester is None:
        raise CommandError(f"There is no requester named {name!r}.")
    return requester


def _batch(options: Facts) -> Batch:
    requester = requester_named(options["requester"])
    batch = requester.batches.filter(number=options["number"], task_count__gt=0).first()
    if batch is None:
        raise CommandError(f"{requester.name} has no batch {options['number']}.")
    batch.requester = requester
    return batch


def _cents(amount: str) -> int:
    try:
        return entered_cents(amount)
    except ValueError as error:
        raise CommandError(f"{amount!r} is not an amount. {error}") from error


def create_batch(options: Facts) -> Facts:
    """batch create REQUESTER TEMPLATE TABLE."""
    requester = requester_named(options["requester"])
    properties = Properties(
        title=options["title"],
        description=options["description"],
        keywords=options["keywords"],
        reward_cents=_cents(options["reward"]),
        places=options["assignments"],
        duration_s=options["minutes"] * MINUTE,
        lifetime_s=options["days"] * DAY,
        auto_approval_s=options["approve_after_days"] * DAY,
    )
    properties.check()
    hours = Hours.parse(options["hours"]) if options["hours"] else None
    html, now = _text(options["template"]), clock.now()
    values = {
        "html": html,
        "frame_height": options["height"],
        "hosts": templates.of_template(html) if options["hosts"] is None else options["hosts"],
        "properties": properties.stored(),
        "updated_at": now,
    }
    template, _ = Template.objects.update_or_create(
        requester=requester,
        name=options["template"].name[:120],
        defaults=values,
        create_defaults={**values, "created_at": now},
    )
    with _opened(options["table"]) as file:
        batch = drafts.make_draft(
            requester=requester,
            template=template,
            properties=properties,
            sheet=Sheet(file, options["table"].name, encoding=options["encoding"], sheet=options["sheet"]),
            name=options["name"],
        )
    if hours is not None:
        schedule.set_hours(batch=batch, hours=hours)
    return show_batch(options | {"number": batch.number})


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {error}") from error


def _opened(path: Path) -> Any:
    try:
        return path.open("rb")
    except OSError as error:
        raise CommandError(f"{path}: {error}") from error


def show_batch(options: Facts) -> Facts:
    """batch show REQUESTER NUMBER."""
    batch = _batch(options)
    return {
        "number": batch.number,
        "name": batch.name,
        "state": batch.state,
        "tasks": batch.task_count,
        "published": batch.published_count,
        "total": dollars(publication.cost_of(batch).total),
        "available": dollars(batch.requester.available_cents),
        "loads_from": " ".join(batch.hosts),
        "not_loaded_from": " ".join(host for host in batch.hosts_of_cells if host not in batch.hosts),
        "error": batch.error,
        "hours": str(Hours.of(batch.hours)) if batch.hours else "at any time",
    }


def set_hours(options: Facts) -> Facts:
    """batch hours REQUESTER NUMBER [--set HOURS | --any-time]."""
    batch = _batch(options)
    if options["set"] is not None or options["any_time"]:
        hours = None if options["any_time"] else Hours.parse(options["set"])
        schedule.set_hours(batch=batch, hours=hours)
        batch.refresh_from_db(fields=["hours"])
    facts = {"number": batch.number, "hours": "at any time", "open_now": True, "opens_at": ""}
    if batch.hours:
        hours, now = Hours.of(batch.hours), clock.now()
        opens = "" if hours.is_open(now) else f"{hours.next_opening(now):%Y-%m-%dT%H:%M%z}"
        facts |= {"hours": str(hours), "open_now": not opens, "opens_at": opens}
    return facts


def publish_batch(options: Facts) -> Facts:
    """batch publish REQUESTER NUMBER --total AMOUNT; the work is done here and now."""
    batch = _batch(options)
    total = publication.cost_of(batch).total
    if _cents(options["total"]) != total:
        raise CommandError(f"The total is {money(total)}, not {options['total']}. Nothing was published.")
    _finish(publication.publish(batch=batch))
    return show_batch(options)


def cancel_batch(options: Facts) -> Facts:
    """batch cancel REQUESTER NUMBER."""
    _finish(publication.cancel(batch=_batch(options)))
    return show_batch(options)


def delete_batch(options: Facts) -> Facts:
    """batch delete REQUESTER NUMBER."""
    drafts.delete(batch=_batch(options))
    return {"deleted": options["number"]}


def write_results(options: Facts) -> Facts:
    """batch results REQUESTER NUMBER FILE."""
    batch = _batch(options)
    count = results.result_assignments(batch, options["show"]).count()
    with options["file"].open("w", encoding="utf-8", newline="") as file:
        file.writelines(
            results.result_lines(batch, now=clock.now(), state=options["show"], times=options["times"])
        )
    return {"file": str(options["file"]), "assignments": count}


def review_batch(options: Facts) -> Facts:
    """batch review REQUESTER NUMBER FILE."""
    batch = _batch(options)
    with _opened(options["file"]) as file:
        sheet = Sheet(
            file,
            options["file"].name,
            encoding=options["encoding"],
            sheet=options["sheet"],
            limits=RESULTS,
        )
        decisions, reading = results.read_decisions(sheet, batch)
    job = results.start_decisions(
        batch=batch,
        decisions=decisions,
        reading=reading,
        file_name=sheet.name,
        override=options["override"],
        once=f"{clock.now():%Y%m%d%H%M%S%f}",
    )
    _finish(job)
    job.refresh_from_db()
    return {**results.count_outcomes(job), "read_as": reading.as_json()}


def _finish(job: Job) -> None:
    """Do the job in this process, unless a worker was faster; Refusal with its error where it failed."""
    runner.run(job_id=job.pk)
    job.refresh_from_db()
    if job.state == JobState.FAILED:
        raise Refusal("JobFailed", job.error)


# Templates as scripts name them, by the layout id that CreateHIT takes.


def add_layouts(commands: Any, show: Show, write: Callable[[str], Any]) -> None:
    """The sub-commands; `show` prints facts as the options ask for, `write` a line."""
    parser = commands.add_parser("layout", help="templates by the layout id that CreateHIT takes")
    actions = parser.add_subparsers(dest="action", required=True)

    list_parser: ArgumentParser = actions.add_parser("list", help="layout ids and parameters of a requester")
    list_parser.add_argument("name", help="of the requester")
    list_parser.add_argument("--json", action="store_true")
    list_parser.set_defaults(run=partial(_list_layouts, show, write))

    show_parser: ArgumentParser = actions.add_parser(
        "show", help="one layout, with its page where it is asked for"
    )
    show_parser.add_argument("layout_id")
    show_parser.add_argument("--html", type=Path, metavar="FILE", help="also write its page into this file")
    show_parser.add_argument("--json", action="store_true")
    show_parser.set_defaults(facts=_show_layout)

    create: ArgumentParser = actions.add_parser("create", help="make or change a template of an HTML file")
    create.add_argument("name", help="of the requester")
    create.add_argument("html", type=Path, help="HTML file with ${variables}")
    create.add_argument("--template", default="", help="its name (default: that of the file)")
    create.add_argument("--height", type=int, default=0, help="of the frame in pixels; 0 fits the window")
    create.add_argument("--json", action="store_true")
    create.set_defaults(facts=_create_layout)


def _layout_facts(template: Template) -> Facts:
    return {
        "layout_id": templates.layout_id_of(template),
        "name": template.name,
        "parameters": templates.parse(template.html).names,
        "changed_at": template.updated_at.isoformat(),
    }


def _list_layouts(show: Show, write: Callable[[str], Any], options: Facts) -> None:
    layouts = [_layout_facts(each) for each in requester_named(options["name"]).templates.order_by("name")]
    if options["json"]:
        write(json.dumps(layouts))
        return
    for facts in layouts:
        show(options, facts | {"parameters": " ".join(facts["parameters"])})
    if not layouts:
        write("There are no templates. Make one in the browser, or with `marketplace layout create`.")


def _show_layout(options: Facts) -> Facts:
    template = Template.objects.filter(layout_id=options["layout_id"]).first()
    if template is None:
        raise CommandError(f"There is no layout {options['layout_id']!r}; see `marketplace layout list`.")
    if options["html"]:
        try:
            options["html"].write_text(template.html, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{options['html']}: {error}") from error
    return {"requester": template.requester.name, **_layout_facts(template)}


def _create_layout(options: Facts) -> Facts:
    requester, path = requester_named(options["name"]), options["html"]
    try:
        html = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{path}: {error}") from error
    if not 0 <= options["height"] <= 99_999:
        raise CommandError("--height is between 0 and 99999 pixels.")
    parse_question(html_question_xml(html, options["height"]))
    name, now = (options["template"].strip() or path.name)[:120], clock.now()
    values = {
        "html": html,
        "frame_height": options["height"],
        "hosts": templates.of_template(html),
        "updated_at": now,
    }
    properties = Properties(title=name, description=name).stored()
    template, _ = Template.objects.update_or_create(
        requester=requester,
        name=name,
        defaults=values,
        create_defaults={**values, "properties": properties, "created_at": now},
    )
    return _layout_facts(template)


def write_all(
    show: Show, write: Callable[[str], Any], read: Callable[[Facts], list[Facts]], options: Facts
) -> None:
    """Print a list as JSON, or each of it as `show` does with a line between."""
    records = read(options)
    if options["json"]:
        write(json.dumps(records))
        return
    for facts in records:
        show(options, facts)
        write("")
    if not records:
        write("There are none.")
