"""`manage.py marketplace layout`: templates as scripts name them, by their layout id."""

import json
from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from marketplace import clock
from marketplace.batches import templates
from marketplace.batches.properties import Properties
from marketplace.models import Requester, Template
from marketplace.questions import html_question_xml, parse_question

Facts = dict[str, Any]


def add(commands: Any, show: Callable[[Facts, Facts], None], write: Callable[[str], Any]) -> None:
    """The sub-commands; `show` prints facts as the options ask for, `write` a line."""
    parser = commands.add_parser("layout", help="templates by the layout id that CreateHIT takes")
    actions = parser.add_subparsers(dest="action", required=True)

    listed: ArgumentParser = actions.add_parser("list", help="layout ids and parameters of a requester")
    listed.add_argument("name", help="of the requester")
    listed.add_argument("--json", action="store_true")
    listed.set_defaults(run=partial(_list, show, write))

    shown: ArgumentParser = actions.add_parser("show", help="one layout, with its page where it is asked for")
    shown.add_argument("layout_id")
    shown.add_argument("--html", type=Path, metavar="FILE", help="also write its page into this file")
    shown.add_argument("--json", action="store_true")
    shown.set_defaults(facts=_show)

    create: ArgumentParser = actions.add_parser("create", help="make or change a template of an HTML file")
    create.add_argument("name", help="of the requester")
    create.add_argument("html", type=Path, help="HTML file with ${variables}")
    create.add_argument("--template", default="", help="its name (default: that of the file)")
    create.add_argument("--height", type=int, default=0, help="of the frame in pixels; 0 fits the window")
    create.add_argument("--json", action="store_true")
    create.set_defaults(facts=_create)


def _requester(name: str) -> Requester:
    found = Requester.objects.filter(name=name).first()
    if found is None:
        raise CommandError(f"There is no requester named {name!r}.")
    return found


def _facts(template: Template) -> Facts:
    return {
        "layout_id": templates.layout_id_of(template),
        "name": template.name,
        "parameters": templates.parse(template.html).names,
        "changed_at": template.updated_at.isoformat(),
    }


def _list(show: Callable[[Facts, Facts], None], write: Callable[[str], Any], options: Facts) -> None:
    found = [_facts(each) for each in _requester(options["name"]).templates.order_by("name")]
    if options["json"]:
        write(json.dumps(found))
        return
    for facts in found:
        show(options, facts | {"parameters": " ".join(facts["parameters"])})
    if not found:
        write("There are no templates. Make one in the browser, or with `marketplace layout create`.")


def _show(options: Facts) -> Facts:
    template = Template.objects.filter(layout_id=options["layout_id"]).first()
    if template is None:
        raise CommandError(f"There is no layout {options['layout_id']!r}; see `marketplace layout list`.")
    if options["html"]:
        try:
            options["html"].write_text(template.html, encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{options['html']}: {error}") from error
    return {"requester": template.requester.name, **_facts(template)}


def _create(options: Facts) -> Facts:
    requester, path = _requester(options["name"]), options["html"]
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
    return _facts(template)
