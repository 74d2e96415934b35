"""What apps add to others: each app with something to add has one `Extension`, in its module `extension`.

    EXTENSION = Extension(Tab("Queries", "annotation:queries", "queries"), Screening(), …)

A part is an object of any type. The app that has a use for parts of a type defines it and asks for all there
are with `parts_of`, so it need not know who brings them. Extensions are read when a part is first asked for,
not when Django starts: a command that asks for none loads no page and no kind of stage.
"""

from functools import cache
from importlib import import_module
from typing import TypeVar

from django.apps import apps
from django.utils.module_loading import module_has_submodule

Part = TypeVar("Part")


class Extension:
    """What one app adds; of each type, parts keep their order."""

    def __init__(self, *parts: object) -> None:
        self.parts = parts


def parts_of(part_type: type[Part]) -> tuple[Part, ...]:
    """All parts of this type, in the order of INSTALLED_APPS; first asked once all apps are ready."""
    return tuple(part for part in all_parts() if isinstance(part, part_type))


def name_package(folder: str) -> str:
    """What to say where a package of `distributions/` is needed and not installed."""
    package = f"distillery-{folder}"
    return f"This needs the package {package}, which is not installed: pip install ./distributions/{folder}"


@cache
def all_parts() -> tuple[object, ...]:
    """The parts of all extensions."""
    apps.check_apps_ready()
    parts: list[object] = []
    for config in apps.get_app_configs():
        if config.module is not None and module_has_submodule(config.module, "extension"):
            extension: Extension = import_module(f"{config.name}.extension").EXTENSION
            parts += extension.parts
    return tuple(parts)
