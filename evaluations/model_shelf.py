"""The models in METRIC_MODELS: its sub-folders, by name.

A name from an address, a form or an option is looked up in this list, and never made part of a path. With
several hosts a model that was chosen for an evaluation, or published by hand, is in their shared storage.
Every host lists it by its card; its files, which may be large, are fetched only where they are used.
"""

import json
import logging
import tempfile
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from core.storage.bundles import FETCHED, DamagedBundleError, fetch_bundle, prune_bundles, publish_bundle
from core.storage.outages import StorageUnavailableError
from core.storage.store import SharedStore, shared_store
from evaluations.errors import EvaluationError
from evaluations.training.kpqa.checkpoints import ENDING
from metrics.errors import MetricError
from metrics.neural.folders import CARD, FORMAT, ModelFolder, opened, read_card
from metrics.profiles import KINDS

logger = logging.getLogger(__name__)
#: More than anybody has; a page lists no more.
MOST = 200
_CURRENT = "current.json"


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A sub-folder by its name, and what its card says; `wrong` says why it is no model that can be used.

    `when` is the day on which its card was written. `bundle` is empty where the files are on this host, else
    the digest of the state that another host published.
    """

    name: str
    folder: Path
    kind: str = ""
    digest: str = ""
    card: Mapping[str, Any] = field(default_factory=dict)
    wrong: str = ""
    when: str = ""
    bundle: str = ""

    @property
    def signature(self) -> str:
        """As it stands in the signatures of scores."""
        return ModelFolder(self.folder, self.kind, self.name, self.digest, {}, {}).signature


def shelf() -> list[ModelEntry]:
    """All of them by name, each read again: models come and go while a process lives.

    A model that is being trained is not listed. While the shared storage does not answer, only those of this
    host are.
    """
    here = _models_here()
    try:
        elsewhere = _models_elsewhere({each.name for each in here})
    except StorageUnavailableError as error:
        logger.warning("Models of other hosts are not listed: %s", error)
        elsewhere = []
    return sorted([*here, *elsewhere], key=lambda each: each.name)[:MOST]


def named(name: str) -> ModelEntry | None:
    """The one of that name."""
    return next((each for each in shelf() if each.name == name), None)


def of_kind(kind: str) -> list[ModelEntry]:
    """Those of a kind that can be used, as far as cards tell."""
    return [each for each in shelf() if each.kind == kind and not each.wrong]


def publish(kept: ModelEntry) -> None:
    """Have all hosts list this model; nothing happens where they do."""
    store = shared_store()
    if kept.wrong or kept.bundle or not store.is_shared:
        return
    if (_published(store).get(kept.name) or {}).get("model") == kept.digest:
        return
    bundle = publish_bundle(
        store, f"models/{kept.name}", kept.folder, [each.name for each in kept.folder.iterdir()]
    )
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as note:
        json.dump({"model": kept.digest, "bundle": bundle, "card": kept.card, "when": kept.when}, note)
        note.flush()
        store.put(f"models/{kept.name}/{_CURRENT}", Path(note.name))
    prune_bundles(store, f"models/{kept.name}", {bundle})


def fetch_files(kept: ModelEntry) -> Path:
    """The folder of a model, after its files were fetched where another host has them. Not for a web request.

    EvaluationError where they are gone or damaged, StorageUnavailableError while the storage does not answer.
    """
    if kept.bundle and not kept.folder.exists():  # a folder that is here is never changed
        try:
            fetch_bundle(shared_store(), f"models/{kept.name}", kept.bundle, kept.folder)
        except (FileNotFoundError, DamagedBundleError) as error:
            raise EvaluationError(
                f"The model {kept.name} cannot be fetched from the shared storage: its files there are "
                "missing or damaged. Run manage.py storage publish on a host that has it."
            ) from error
        (kept.folder / FETCHED).unlink(missing_ok=True)  # another process may have been as fast
    return kept.folder


def fetch_all() -> None:
    """Have here what other hosts published; raises what `fetch_files` raises."""
    for each in _models_elsewhere({each.name for each in _models_here()}):
        fetch_files(each)


def _published(store: SharedStore) -> dict[str, dict[str, Any]]:
    """Notes of what the shared storage has, by the model's name."""
    notes = {}
    for name, _ in store.names("models"):
        parts = name.split("/")
        if parts[2:] == [_CURRENT]:
            with store.open(name) as note:
                notes[parts[1]] = json.loads(note.read())
    return notes


def _models_here() -> list[ModelEntry]:
    try:
        folders = [
            each
            for each in Path(settings.METRIC_MODELS).iterdir()
            if not each.name.startswith(".") and not each.name.endswith(ENDING) and each.name.isprintable()
        ]
    except OSError:
        return []
    return [_kept(each) for each in folders if each.is_dir()]


def _models_elsewhere(here: Collection[str]) -> list[ModelEntry]:
    """Models that other hosts published, without those whose name is `here`; a look at small files only."""
    store, root = shared_store(), Path(settings.METRIC_MODELS)
    if not store.is_shared:
        return []
    return [
        _entry(root / name, note["card"], missing=[], when=note["when"], bundle=note["bundle"])
        for name, note in _published(store).items()
        if name not in here
    ]


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
    missing = [name for name in card["files"] if not (folder / name).is_file()]
    when = datetime.fromtimestamp((folder / CARD).stat().st_mtime, UTC).date().isoformat()
    return _entry(folder, card, missing=missing, when=when)


def _entry(
    folder: Path, card: Mapping[str, Any], *, missing: Sequence[str], when: str, bundle: str = ""
) -> ModelEntry:
    kind, digest = str(card["kind"]), str(card["digest"])
    wrong = ""
    if kind not in KINDS:
        wrong = f"It is a model of kind {kind}; there are {', '.join(KINDS)}."
    elif card["format"] != FORMAT:
        wrong = f"It has format {card['format']}; this version reads format {FORMAT}."
    elif missing:
        wrong = f"{missing[0]} is missing. Copy the folder again, whole."
    return ModelEntry(folder.name, folder, kind, digest, card, wrong, when, bundle)
