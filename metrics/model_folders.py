"""A trained model as a folder with a card and a digest of all of it, and which models a profile uses.

`card.json` says where the model comes from and names every file with its SHA-256. The digest is taken over
kind, format, settings and files; what a card says beside that can be corrected without making it another
model. A folder whose files are not those of its card is refused.

A profile holds its models in its settings, so that they go wherever a metric's recipe goes: into processes,
and to workers on other machines, where a folder that holds another model is refused by its digest.
"""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from metrics.errors import MetricError
from metrics.profiles import BERTSCORE, KINDS, KPQA, Profile

CARD, README = "card.json", "README.md"
FORMAT = 1
#: What the name of a model's folder gets while it is trained.
TRAINING_ENDING = ".training"
_SHORT = 12


@dataclass(frozen=True, slots=True)
class ModelFolder:
    """A model that was looked at: `digest` is 64 hex digits, `settings` what its code needs to load it."""

    path: Path
    kind: str
    name: str
    digest: str
    settings: Mapping[str, Any]
    card: Mapping[str, Any]

    @property
    def signature(self) -> str:
        """As it is in the signature of every score."""
        return f"{self.kind}-{self.digest[:_SHORT]}"


def write(
    folder: Path,
    kind: str,
    settings: Mapping[str, Any],
    card: Mapping[str, Any],
    fill: Callable[[Path], None],
    *,
    readme: str = "",
) -> ModelFolder:
    """Make a model's folder from what `fill` puts into an empty one; all of it appears at once.

    `card` is anything that readers of a model want to know: data with digests, results, time. MetricError
    where the folder is there already or cannot be made.
    """
    if folder.exists():
        raise MetricError(f"{folder} is there already. Give another name, or move it away.")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    except OSError as error:
        raise MetricError(f"{folder} cannot be made: {error.strerror or error}.") from error
    with ExitStack() as undoing:
        undoing.callback(shutil.rmtree, temporary, ignore_errors=True)
        fill(temporary)
        files = {name: _sha256(temporary / name) for name in _files(temporary)}
        full_card = {
            "format": FORMAT,
            "kind": kind,
            "name": folder.name,
            "digest": _digest(kind, FORMAT, settings, files),
            "settings": dict(settings),
            **card,
            "files": files,
        }
        (temporary / CARD).write_text(
            json.dumps(full_card, indent=2, ensure_ascii=False, allow_nan=False), encoding="utf-8"
        )
        if readme:
            (temporary / README).write_text(readme, encoding="utf-8")
        _open_to_all(temporary)
        temporary.rename(folder)
        undoing.pop_all()  # all is there
    return opened(folder, kind)


def _open_to_all(folder: Path) -> None:
    """The rights that a new folder and new files have here, which temporary ones have not."""
    mask = os.umask(0)
    os.umask(mask)
    folder.chmod(0o777 & ~mask)
    for path in folder.rglob("*"):
        path.chmod((0o777 if path.is_dir() else 0o666) & ~mask)


def opened(folder: Path, kind: str = "", digest: str = "") -> ModelFolder:
    """The model of a folder after its files were compared with its card.

    MetricError where it is no model, of another kind, not the one of that digest, or not what its card says.
    """
    card = read_card(folder)
    own_kind = str(card["kind"])
    if kind and own_kind != kind:
        raise MetricError(f"{folder} is a model of kind {own_kind}, and one of kind {kind} is needed.")
    if card["format"] != FORMAT:
        raise MetricError(f"{folder} has format {card['format']}; this version reads format {FORMAT}.")
    files = {name: _sha256(folder / name) for name in _files(folder)}
    wrong = sorted(name for name in {*files, *card["files"]} if files.get(name) != card["files"].get(name))
    if wrong:
        raise MetricError(
            f"{folder} is not the model that its card describes: {wrong[0]} "
            f"{'is missing' if wrong[0] not in files else 'differs'}. Copy the folder again, whole."
        )
    now = _digest(own_kind, FORMAT, card["settings"], files)
    if now != card["digest"]:
        raise MetricError(f"{folder} is not the model that its card describes: its settings were changed.")
    if digest and now != digest:
        raise MetricError(
            f"{folder} holds the model {own_kind}-{now[:_SHORT]}, and {own_kind}-{digest[:_SHORT]} is asked "
            "for."
        )
    return ModelFolder(folder, own_kind, str(card["name"]), now, card["settings"], card)


def read_card(folder: Path) -> dict[str, Any]:
    """The card of a model's folder, without a look at its files; MetricError where there is none."""
    try:
        card = json.loads((folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MetricError(f"{folder} is no model: it has no {CARD} that can be read.") from error
    needs = {"format": int, "kind": str, "name": str, "digest": str, "settings": dict, "files": dict}
    if not isinstance(card, dict) or any(not isinstance(card.get(key), of) for key, of in needs.items()):
        raise MetricError(f"{folder}/{CARD} is no card of a model.")
    return card


def _files(folder: Path) -> list[str]:
    return sorted(
        path.relative_to(folder).as_posix()
        for path in folder.rglob("*")
        if path.is_file() and path.relative_to(folder).as_posix() not in (CARD, README)
    )


def _digest(kind: str, form: int, settings: Mapping[str, Any], files: Mapping[str, str]) -> str:
    fields = {"kind": kind, "format": form, "settings": settings, "files": files}
    return hashlib.sha256(json.dumps(fields, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class Choice:
    """A model's folder and digest, as `settings["kpqa"]` and `settings["adem"]` hold them."""

    folder: str
    digest: str


def choice(folder: Path) -> tuple[str, Choice]:
    """Kind and choice of a model's folder; MetricError where it is none of ours."""
    card = read_card(folder)
    if card["kind"] not in KINDS:
        raise MetricError(f"{folder} is a model of kind {card['kind']}; there are {', '.join(KINDS)}.")
    return card["kind"], Choice(str(folder.resolve()), card["digest"])


def with_models(
    profile: Profile,
    folders: Iterable[Path] = (),
    *,
    bertscore: Mapping[str, Any] | None = None,
    cache: str = "",
) -> Profile:
    """The profile with these models, at most one of a kind.

    `bertscore` are settings of BERTScore: `encoder` (folder or name), `layer`, `idf`. `cache` is a folder
    where weights of words are kept between runs; without one they are kept while the process lives.
    """
    settings: dict[str, Mapping[str, Any]] = dict(profile.settings)
    kinds: set[str] = set()
    for folder in folders:
        kind, model = choice(folder)
        if kind in kinds:
            raise MetricError(f"Two models of kind {kind} are given; name one.")
        kinds.add(kind)
        settings[kind] = {**settings.get(kind, {}), "model": model}
    if cache:
        settings[KPQA] = {**settings.get(KPQA, {}), "cache": cache}
    if bertscore:
        settings[BERTSCORE] = {**settings.get(BERTSCORE, {}), **bertscore}
    return replace(profile, settings=settings)
