"""What people are asked in a one-file study: each file of `presets/` is a stage in terms of study files.

The presets of questionnaires (`judgments.questionnaire.config`) are others: a stage of each.
"""

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from judgments.questionnaire.config import presets as questionnaire_presets

FOLDER = Path(__file__).with_name("presets")


@dataclass(frozen=True, slots=True)
class Preset:
    """A stage in the terms of a study file, without what the file and the command line say.

    `needs` are the roles of columns that a file must have for it, `minutes` what one unit takes a person.
    """

    name: str
    title: str
    needs: frozenset[str]
    minutes: float
    stage: Mapping[str, Any]

    @property
    def shows_references(self) -> bool:
        """It asks about one answer, beside which a correct one helps."""
        config = self.stage.get("config", {})
        preset = questionnaire_presets().get(config.get("preset", ""))
        return preset is not None and preset.config["unit"] == "answer"

    @property
    def kind(self) -> str:
        """The kind of its stage."""
        return str(self.stage["kind"])


@cache
def all_presets() -> dict[str, Preset]:
    """All presets by their names."""
    presets = {}
    for file in sorted(FOLDER.glob("*.toml")):
        document = tomllib.loads(file.read_text(encoding="utf-8"))
        about = document["preset"]
        presets[file.stem] = Preset(
            file.stem, about["title"], frozenset(about["needs"]), float(about["minutes"]), document["stage"]
        )
    for each in questionnaire_presets().values():
        if not each.of_answers:
            continue
        stage = {
            "slug": "judging",
            "title": each.subtitle,
            "kind": "questionnaire",
            "redundancy": 3,
            "units_per_hit": each.units_per_hit,
            "config": {"preset": each.name},
        }
        presets[each.name] = Preset(each.name, each.title, frozenset(each.needs), each.minutes, stage)
    return presets


def presets_of(kind: str) -> dict[str, Preset]:
    """The presets of one kind of stage; for judging also those of questionnaires."""
    kinds = (kind, "questionnaire") if kind == "judging" else (kind,)
    return {name: preset for name, preset in all_presets().items() if preset.kind in kinds}


def fitting_preset(kind: str, roles: Collection[str]) -> Preset:
    """The preset of a kind that makes most of what a file has; a questionnaire is asked for by its name."""
    of_kind = [preset for preset in all_presets().values() if preset.kind == kind]
    presets = sorted(of_kind, key=lambda preset: len(preset.needs))
    fits = [preset for preset in presets if preset.needs <= set(roles)]
    return fits[-1] if fits else presets[0]
