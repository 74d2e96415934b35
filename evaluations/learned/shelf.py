"""The models in METRIC_MODELS: its sub-folders, by name.

A name from an address, a form or an option is looked up in this list, and never made part of a path.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from metrics.errors import MetricError
from metrics.learned.chosen import KINDS
from metrics.learned.folders import CARD, FORMAT, ModelFolder, opened, read_card
from metrics.learned.kpqa.training.checkpoints import ENDING

#: More than anybody has; a page lists no more.
MOST = 200


@dataclass(frozen=True, slots=True)
class Kept:
    """A sub-folder by its name, and what its card says; `wrong` says why it is no model that can be used.

    `when` is the day on which its card was written.
    """

    name: str
    folder: Path
    kind: str = ""
    digest: str = ""
    card: Mapping[str, Any] = field(default_factory=dict)
    wrong: str = ""
    when: str = ""

    @property
    def signature(self) -> str:
        """As it stands in the signatures of scores."""
        return ModelFolder(self.folder, self.kind, self.name, self.digest, {}, {}).signature


def shelf() -> list[Kept]:
    """All of them by name, each read anew: models come and go while a process lives.

    What is being trained is none yet.
    """
    try:
        folders = sorted(
            each
            for each in Path(settings.METRIC_MODELS).iterdir()
            if not each.name.startswith(".") and not each.name.endswith(ENDING) and each.name.isprintable()
        )
    except OSError:
        return []
    return [_kept(each) for each in folders if each.is_dir()][:MOST]


def named(name: str) -> Kept | None:
    """The one of that name."""
    return next((each for each in shelf() if each.name == name), None)


def of_kind(kind: str) -> list[Kept]:
    """Those of a kind that can be used, as far as cards tell."""
    return [each for each in shelf() if each.kind == kind and not each.wrong]


def damage(kept: Kept) -> str:
    """Why its files are not those of its card, in words; empty if they are. Reads all of them."""
    try:
        opened(kept.folder, kept.kind)
    except MetricError as error:
        return str(error)
    except OSError as error:
        return f"{kept.folder} cannot be read: {error.strerror or error}."
    return ""


def _kept(folder: Path) -> Kept:
    try:
        return _read(folder)
    except MetricError as error:
        return Kept(folder.name, folder, wrong=str(error))
    except OSError as error:
        return Kept(folder.name, folder, wrong=f"It cannot be read: {error.strerror or error}.")


def _read(folder: Path) -> Kept:
    card = read_card(folder)
    kind, digest = str(card["kind"]), str(card["digest"])
    wrong = ""
    if kind not in KINDS:
        wrong = f"It is a model of kind {kind}; there are {', '.join(KINDS)}."
    elif card["format"] != FORMAT:
        wrong = f"It has format {card['format']}; this version reads format {FORMAT}."
    elif gone := [name for name in card["files"] if not (folder / name).is_file()]:
        wrong = f"{gone[0]} is missing. Copy the folder again, whole."
    when = datetime.fromtimestamp((folder / CARD).stat().st_mtime, UTC).date().isoformat()
    return Kept(folder.name, folder, kind, digest, card, wrong, when)
