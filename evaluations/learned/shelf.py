"""The models in METRIC_MODELS: its sub-folders, by name.

A name from an address, a form or an option is looked up in this list, and never made part of a path. With
several hosts a model that was chosen for an evaluation, or published by hand, is in their shared storage, and
a host that lacks it fetches it when models are listed.
"""

import json
import logging
import tempfile
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
from storage.bundles import FETCHED, DamagedBundleError, fetch_bundle, prune_bundles, publish_bundle
from storage.store import SharedStore, shared_store

logger = logging.getLogger(__name__)
#: More than anybody has; a page lists no more.
MOST = 200
_CURRENT = "current.json"


@dataclass(frozen=True, slots=True)
class ModelEntry:
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


def shelf() -> list[ModelEntry]:
    """All of them by name, each read anew: models come and go while a process lives.

    What is being trained is none yet.
    """
    _fetch_missing()
    try:
        folders = sorted(
            each
            for each in Path(settings.METRIC_MODELS).iterdir()
            if not each.name.startswith(".") and not each.name.endswith(ENDING) and each.name.isprintable()
        )
    except OSError:
        return []
    return [_kept(each) for each in folders if each.is_dir()][:MOST]


def named(name: str) -> ModelEntry | None:
    """The one of that name."""
    return next((each for each in shelf() if each.name == name), None)


def of_kind(kind: str) -> list[ModelEntry]:
    """Those of a kind that can be used, as far as cards tell."""
    return [each for each in shelf() if each.kind == kind and not each.wrong]


def publish(kept: ModelEntry) -> None:
    """Have all hosts have this model; nothing happens where they do."""
    store = shared_store()
    if (
        kept.wrong
        or not store.is_shared
        or (_published(store).get(kept.name) or {}).get("model") == kept.digest
    ):
        return
    bundle = publish_bundle(
        store, f"models/{kept.name}", kept.folder, [each.name for each in kept.folder.iterdir()]
    )
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as note:
        json.dump({"model": kept.digest, "bundle": bundle}, note)
        note.flush()
        store.put(f"models/{kept.name}/{_CURRENT}", Path(note.name))
    prune_bundles(store, f"models/{kept.name}", {bundle})


def _published(store: SharedStore) -> dict[str, dict[str, str]]:
    """What the shared storage has, by name."""
    found = {}
    for name, _ in store.names("models"):
        parts = name.split("/")
        if parts[2:] == [_CURRENT]:
            with store.open(name) as note:
                found[parts[1]] = json.loads(note.read())
    return found


def _fetch_missing() -> None:
    """Have here what other hosts published; a folder that is here is never changed."""
    store, root = shared_store(), Path(settings.METRIC_MODELS)
    if not store.is_shared:
        return
    for name, published in _published(store).items():
        if (root / name).exists():
            continue
        try:
            fetch_bundle(store, f"models/{name}", published["bundle"], root / name)
            (root / name / FETCHED).unlink()
        except (FileNotFoundError, DamagedBundleError):
            logger.warning("The model %s could not be fetched from the shared storage.", name, exc_info=True)


def damage(kept: ModelEntry) -> str:
    """Why its files are not those of its card, in words; empty if they are. Reads all of them."""
    try:
        opened(kept.folder, kept.kind)
    except MetricError as error:
        return str(error)
    except OSError as error:
        return f"{kept.folder} cannot be read: {error.strerror or error}."
    return ""


def _kept(folder: Path) -> ModelEntry:
    try:
        return _read(folder)
    except MetricError as error:
        return ModelEntry(folder.name, folder, wrong=str(error))
    except OSError as error:
        return ModelEntry(folder.name, folder, wrong=f"It cannot be read: {error.strerror or error}.")


def _read(folder: Path) -> ModelEntry:
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
    return ModelEntry(folder.name, folder, kind, digest, card, wrong, when)
