"""Variables of the environment that look like settings and are none."""

import os
from collections.abc import Iterable, Mapping
from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Warning
from rapidfuzz.distance import OSA

from distillery import env

#: Names with fewer letters are too near to those of other programs.
_SHORTEST = 6
_MOST_EDITS = 2


def check_names(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """A variable whose name is nearly that of a setting: it changes nothing, which its author cannot see."""
    return [
        Warning(
            f"{name} is no setting of Distillery and changes nothing; {meant} is one.",
            hint=f"Set {meant} instead, or remove {name}.",
            id="distillery.W003",
        )
        for name, meant in sorted(resembling_names(os.environ).items())
    ]


def resembling_names(environment: Mapping[str, str]) -> dict[str, str]:
    """Names in the environment that no setting has, with the setting that each resembles."""
    known = env.names_asked_for()
    found = {}
    for name in environment.keys() - known:
        base = name.removesuffix("_FILE")
        if base in known or len(base) < _SHORTEST:
            continue
        distance, meant = min((OSA.distance(base, each, score_cutoff=_MOST_EDITS), each) for each in known)
        if distance <= _MOST_EDITS and len(meant) >= _SHORTEST:
            found[name] = f"{meant}_FILE" if base != name else meant
    return found
