"""States of a folder, for hosts that did not make them: an index, a network, a learned model.

A state is published as its files, each under its SHA-256, and a list of them under the SHA-256 of that list.
The database keeps the list's digest, so a host that fetches a state knows that it got just that. Files that
two states have in common are kept and carried once.

NAME/files/SHA-256     the files
NAME/DIGEST.json       {"current": {"sha256": "…", "bytes": 36}, "g3/meta.json": …}
"""

import hashlib
import json
import os
import re
import tempfile
from collections.abc import Collection, Iterable
from pathlib import Path

from core.files.atomic import scratch_dir
from core.storage.store import SharedStore, fetch, inside

_LIST = re.compile(r"([0-9a-f]{64})\.json")
_Listed = dict[str, dict[str, str | int]]


class DamagedBundleError(Exception):
    """What the storage gave is not what was published."""


def publish_bundle(store: SharedStore, name: str, folder: Path, parts: Iterable[str]) -> str:
    """Publish files and folders of a folder as one state; its digest.

    The list is put there last, so that what a killed host left is no state.
    """
    listed: _Listed = {}
    for path in sorted(_files(folder, parts)):
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        size = path.stat().st_size
        listed[path.relative_to(folder).as_posix()] = {"sha256": digest, "bytes": size}
        if store.size(_file(name, digest)) != size:
            store.put(_file(name, digest), path)
    text = json.dumps(listed, sort_keys=True).encode()
    digest = hashlib.sha256(text).hexdigest()
    with tempfile.NamedTemporaryFile() as written:
        written.write(text)
        written.flush()
        store.put(_list(name, digest), Path(written.name))
    return digest


def fetch_bundle(
    store: SharedStore, name: str, digest: str, target: Path, *, like: Iterable[Path] = ()
) -> None:
    """Have a published state in a folder that is not there yet.

    Files that a folder of `like` has are linked from there. FileNotFoundError where the state is no longer
    published, DamagedBundleError where a file is not the one that was.
    """
    listed = _read(store, name, digest)
    near = {sha256: path for folder in like for sha256, path in _known(folder).items()}
    with scratch_dir(target.parent, f".{target.name}-") as beside:
        state = beside / "state"
        state.mkdir(mode=0o700)
        for path, facts in listed.items():
            place, sha256 = state / inside(path), str(facts["sha256"])
            place.parent.mkdir(parents=True, exist_ok=True)
            if sha256 in near and _linked(near[sha256], place):
                continue
            if fetch(store, _file(name, sha256), place) != sha256:
                raise DamagedBundleError(f"{name}/{path} in the shared storage is damaged.")
        (state / FETCHED).write_text(json.dumps(listed), encoding="utf-8")
        try:
            state.rename(target)
        except OSError:
            if not target.is_dir():  # another process was as fast
                raise


def prune_bundles(store: SharedStore, name: str, keep: Collection[str]) -> None:
    """Remove all published states but these, and files that none of these has."""
    used: set[str] = set()
    for digest in keep:
        try:
            used |= {str(facts["sha256"]) for facts in _read(store, name, digest).values()}
        except FileNotFoundError:
            continue
    for each in [found for found, _ in store.names(name)]:
        own = each.removeprefix(f"{name}/")
        listed = _LIST.fullmatch(own)
        if (listed and listed[1] not in keep) or (
            own.startswith("files/") and own.removeprefix("files/") not in used
        ):
            store.delete(each)


#: List of a fetched state, in its folder.
FETCHED = ".fetched.json"


def is_fetched(folder: Path) -> bool:
    """Whether the folder holds a state that was fetched whole."""
    return (folder / FETCHED).is_file()


def _known(folder: Path) -> dict[str, Path]:
    """Files of a fetched state by digest; they are never changed in place."""
    try:
        listed: _Listed = json.loads((folder / FETCHED).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return {str(facts["sha256"]): folder / path for path, facts in listed.items()}


def _linked(source: Path, place: Path) -> bool:
    try:
        os.link(source, place)
    except OSError:
        return False
    return True


def _read(store: SharedStore, name: str, digest: str) -> _Listed:
    with store.open(_list(name, digest)) as file:
        text = file.read()
    if hashlib.sha256(text).hexdigest() != digest:
        raise DamagedBundleError(f"The list of {name} in the shared storage is damaged.")
    listed: _Listed = json.loads(text)
    return listed


def _files(folder: Path, parts: Iterable[str]) -> Iterable[Path]:
    for part in parts:
        place = folder / part
        every = [place] if place.is_file() else place.rglob("*")
        yield from (each for each in every if each.is_file() and each.suffix != ".lock")


def _file(name: str, digest: str) -> str:
    return f"{name}/files/{digest}"


def _list(name: str, digest: str) -> str:
    return f"{name}/{digest}.json"
