"""What a new project can begin with: sets of stages that an app has ready.

A beginning is a study without its project: stages in the terms of a study's file, without endpoint and
budget, which the researcher gives. Each is a part of its app's extension:

    StagePreset("reference", "Reference answers", "…", stages=(…,), brings="A query log.")
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from core.extensions import parts_of

StageTable = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StagePreset:
    """A set of stages with its name in addresses, its words, and what the researcher must bring.

    `title` is a first idea for the project's title, `budget` for its budget, as a study's file has it.
    `by_link`: people come by study links, so that is the first endpoint that is offered.
    """

    name: str
    label: str
    what: str
    stages: tuple[StageTable, ...] = ()
    brings: str = ""
    title: str = ""
    budget: str = ""
    by_link: bool = False


EMPTY = StagePreset(
    "empty",
    "Empty",
    "Only the project: you add each stage yourself, when you know what it should ask.",
)


def beginnings() -> list[StagePreset]:
    """All that there are, in the order of the apps; the empty one last."""
    return [*parts_of(StagePreset), EMPTY]


def beginning_named(name: str) -> StagePreset | None:
    """The beginning of this name."""
    return next((each for each in beginnings() if each.name == name), None)
