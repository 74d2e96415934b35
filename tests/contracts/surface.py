"""What people and programs hold on to from outside, rendered from what Django and Celery have registered."""

import argparse
import importlib
import inspect
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from celery import current_app
from django.apps import apps
from django.conf import settings
from django.core.management import get_commands, load_command_class
from django.core.management.base import BaseCommand
from django.db.models import Field
from django.utils.module_loading import autodiscover_modules

from core.jobs import handlers
from tests.access.addresses import addresses, admin_addresses
from tests.repository import ROOT, find_added_apps, find_variables, list_packages


def list_commands() -> list[str]:
    """Names of the management commands of our packages."""
    packages = [*list_packages(), *find_added_apps()]
    return sorted(name for name, app in get_commands().items() if _is_in(str(app), packages))


def render_command(name: str) -> str:
    """Every option of a command and of its subcommands with its help, without what all of Django's have."""
    command = load_command_class(get_commands()[name], name)
    parser = command.create_parser("manage.py", name)
    common = {action.dest for action in _base_parser(name)._actions}
    lines = [*_describe_parser(parser, f"manage.py {name}", common)]
    return _replace_places("\n".join(lines) + "\n")


def _base_parser(name: str) -> argparse.ArgumentParser:
    """Options that all commands have, or those of Django's own command which ours extends."""
    try:
        base = load_command_class("django.core", name)
    except ModuleNotFoundError:
        base = BaseCommand()
    return base.create_parser("manage.py", name)


def _describe_parser(parser: argparse.ArgumentParser, title: str, common: set[str]) -> Iterator[str]:
    yield f"{title}: {_join_words(parser.description or '')}"
    below: list[tuple[str, argparse.ArgumentParser]] = []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            below = list(action.choices.items())
            yield f"  one of: {', '.join(action.choices)}{'' if action.required else ' (or none)'}"
        elif action.dest not in common:
            yield f"  {_describe_argument(action)}"
            if action.help:
                yield f"      {_join_words(_expand_help(action, parser))}"
    for group in parser._mutually_exclusive_groups:
        names = " | ".join("/".join(each.option_strings) or each.dest for each in group._group_actions)
        yield f"  {'one of' if group.required else 'at most one of'}: {names}"
    for name, child in below:
        yield ""
        yield from _describe_parser(child, f"{title} {name}", common)


def _describe_argument(action: argparse.Action) -> str:
    name = ", ".join(action.option_strings) or str(action.metavar or action.dest)
    parts = [f"-> {action.dest}"]
    if action.option_strings and action.nargs != 0:
        parts.append(f"value {action.metavar or action.dest.upper()}")
    if action.nargs not in (None, 0):
        parts.append(f"nargs {action.nargs}")
    if action.choices is not None:
        parts.append(f"choices {', '.join(map(str, action.choices))}")
    if type(action).__name__ in ("_AppendAction", "_CountAction"):
        parts.append("repeated")
    if action.required:
        parts.append("required")
    if action.dest == "processes" and action.default:
        parts.append("default the number of processors")
    elif action.default not in (None, argparse.SUPPRESS):
        parts.append(f"default {_describe_value(action.default)}")
    return f"{name}  [{'; '.join(parts)}]"


def _expand_help(action: argparse.Action, parser: argparse.ArgumentParser) -> str:
    return parser._get_formatter()._expand_help(action) if "%" in (action.help or "") else action.help or ""


def _join_words(text: str) -> str:
    return " ".join(text.split())


def _replace_places(text: str) -> str:
    return text.replace(str(settings.DATA_DIR), "DATA_DIR").replace(str(ROOT), "ROOT")


def _describe_value(value: Any) -> str:
    """A value in words that no move of code changes: of classes and functions only the name."""
    if isinstance(value, timedelta):
        return f"{value.total_seconds():g} s"
    if isinstance(value, (bool, int, float, str, bytes, type(None))):
        return repr(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        found = map(_describe_value, sorted(value, key=repr) if isinstance(value, set | frozenset) else value)
        return f"({', '.join(found)})"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {_describe_value(each)}" for key, each in value.items()) + "}"
    return str(getattr(value, "__name__", None) or value)


def render_urls() -> str:
    """Name and path of every address, in the order of the names; of the admin a line for each model."""
    lines = {f"{each.name}  /{re.sub(r'[$^]', '', each.route)}" for each in addresses()}
    pages: dict[str, set[str]] = {}
    for each in admin_addresses():
        model, _, page = each.name.rpartition("_")
        if page in _ADMIN_PAGES:
            pages.setdefault(f"{model}  /{_ADMIN_PAGES[page].sub('', each.route)}", set()).add(page)
        else:
            lines.add(f"{each.name}  /{re.sub(r'[$^]', '', each.route)}")
    lines |= {f"{model}: {', '.join(sorted(names))}" for model, names in pages.items()}
    return "\n".join(sorted(lines)) + "\n"


#: Pages that Django's admin has of a model, each with what stands behind the path of the model.
_ADMIN_PAGES = {
    "changelist": re.compile("$"),
    "add": re.compile("add/$"),
    **{name: re.compile(f"<path:object_id>/{name}/$") for name in ("change", "delete", "history")},
}


def render_jobs() -> str:
    """Celery tasks, queues, the timetable, and the kinds of jobs with the longest time of each."""
    current_app.loader.import_default_modules()
    autodiscover_modules("tasks")
    packages = list_packages()
    tasks = sorted(name for name, task in current_app.tasks.items() if _is_in(task.__module__, packages))
    routes = settings.CELERY_TASK_ROUTES
    return "\n".join(
        [
            "# Celery tasks and their queues",
            *(
                f"{name}  {routes.get(name, {}).get('queue', settings.CELERY_TASK_DEFAULT_QUEUE)}"
                for name in tasks
            ),
            "",
            "# Queues and their threads",
            *(f"{queue.name}  {settings.QUEUE_THREADS[queue.name]}" for queue in settings.CELERY_TASK_QUEUES),
            "",
            "# Timetable",
            *(
                f"{name}  {each['task']} every {each['schedule']:g} s"
                for name, each in sorted(settings.CELERY_BEAT_SCHEDULE.items())
            ),
            "",
            "# Kinds of jobs and how long an attempt may take",
            *(
                f"{kind}  {handlers.longest_of(kind).total_seconds():g} s"
                for kind, handler in sorted(handlers._handlers.items())
                if _is_in(handler.__module__, packages)
            ),
            "",
        ]
    )


def _is_in(module: str, packages: list[str]) -> bool:
    return module.split(".", maxsplit=1)[0] in packages


def render_variables() -> str:
    """Environment variables and how each is read."""
    return (
        "\n".join(f"{name}  {', '.join(sorted(ways))}" for name, ways in sorted(find_variables().items()))
        + "\n"
    )


def render_schema() -> str:
    """Every table of our apps: label, model, columns, constraints, indexes."""
    packages = list_packages()
    lines: list[str] = []
    for config in sorted(apps.get_app_configs(), key=lambda config: config.label):
        if config.name.split(".")[0] not in packages:
            continue
        lines += [f"# app {config.label}"]
        for model in sorted(
            config.get_models(include_auto_created=True), key=lambda model: model._meta.db_table
        ):
            meta = model._meta
            lines += ["", f"{meta.db_table}  {meta.label}"]
            lines += [f"  {_describe_column(field)}" for field in meta.local_concrete_fields]
            lines += [f"  constraint {name}" for name in sorted(each.name for each in meta.constraints)]
            lines += [f"  index {name}" for name in sorted(each.name for each in meta.indexes)]
            lines += [f"  unique together {', '.join(names)}" for names in sorted(meta.unique_together)]
        lines += [""]
    return "\n".join(lines)


def _describe_column(field: "Field[Any, Any]") -> str:
    parts = [field.get_internal_type()]
    if field.max_length:
        parts.append(f"at most {field.max_length}")
    if field.is_relation and field.related_model:
        parts.append(f"to {field.related_model._meta.db_table}")
    for name in ("primary_key", "unique", "db_index", "null"):
        if getattr(field, name) and not (name in ("unique", "db_index") and field.primary_key):
            parts.append(name.replace("_", " "))
    return f"{field.column}: {', '.join(parts)}"


def render_client() -> str:
    """Every public name of the Python client: methods with their arguments, models with their fields."""
    client = importlib.import_module("distillery_client")
    lines = []
    for name in sorted(client.__all__):
        lines.append(name)
        member = getattr(client, name)
        if inspect.isclass(member):
            lines += [f"  {line}" for line in _describe_class(member)]
    for name, model in sorted(vars(client.models).items()):
        if inspect.isclass(model) and issubclass(model, client.models.Model):
            lines.append(f"models.{name}: {', '.join(model.model_fields)}")
    return "\n".join(lines) + "\n"


def _describe_class(of: type) -> Iterator[str]:
    for name, member in sorted(inspect.getmembers(of)):
        if name.startswith("_") or name in dir(Exception):
            continue
        if callable(member):
            arguments = [each for each in inspect.signature(member).parameters if each != "self"]
            yield f"{name}({', '.join(arguments)})"
        else:
            yield name
