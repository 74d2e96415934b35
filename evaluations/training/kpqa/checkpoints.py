"""A training that can go on after it was stopped: its state in a folder beside the model.

    MODEL.training/training.json   what is trained: settings, digests of data and encoder
    MODEL.training/state.pt        weights, optimiser, epoch and step, and what was measured so far
    MODEL.training/best-3.pt       the weights of the best epoch so far

Every file appears whole or not at all. Chance needs no state: what is drawn in a step depends on seed, epoch
and step alone.
"""

import contextlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.failures import translated_failure
from metrics.errors import MetricError

FORMAT = 1
#: What the name of a model's folder gets while it is trained.
ENDING = ".training"
_ABOUT, _STATE = "training.json", "state.pt"


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The folder of a training."""

    folder: Path

    def state(self) -> dict[str, Any] | None:
        """What was kept last; None before the first time."""
        path = self.folder / _STATE
        return self._read(path) if path.exists() else None

    def keep(self, state: Mapping[str, Any]) -> None:
        """Keep this state in place of the last one, and of the best weights those that it names."""
        self._write(self.folder / _STATE, dict(state))
        named = self._best(int(state["best"]))
        for other in self.folder.glob("best-*.pt"):
            if other != named:
                other.unlink(missing_ok=True)

    def keep_best(self, epoch: int, weights: Mapping[str, Any]) -> None:
        """Keep the weights of an epoch beside those that the last state names."""
        self._write(self._best(epoch), dict(weights))

    def best(self, epoch: int) -> dict[str, Any]:
        """The weights of an epoch that were kept as the best."""
        return self._read(self._best(epoch))

    def remove(self) -> None:
        """Throw all of it away: the model stands."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _best(self, epoch: int) -> Path:
        return self.folder / f"best-{epoch}.pt"

    def _write(self, path: Path, what: Any) -> None:
        import torch  # takes seconds

        made = path.with_name(f".{path.name}")
        with _refusing(path):
            with made.open("wb") as file:
                torch.save(what, file)
                file.flush()
                os.fsync(file.fileno())
            made.replace(path)

    def _read(self, path: Path) -> dict[str, Any]:
        import torch

        words = f"{path} cannot be read. Remove the folder {self.folder}, and train from the beginning."
        with translated_failure(lambda _: MetricError(words)):
            found = torch.load(path, map_location="cpu", weights_only=True)
        return dict(found)


def folder_of(out: Path) -> Path:
    """Where the training of a model is kept."""
    return out.with_name(f"{out.name}{ENDING}")


def refuse_existing(out: Path, *, resume: bool) -> None:
    """MetricError where the model is there, or a training of it that nobody asks to go on with."""
    if out.exists() or out.is_symlink():
        raise MetricError(f"{out} is there already. Give another name, or move it away.")
    folder = folder_of(out)
    if folder.exists() and not resume:
        raise MetricError(
            f"{folder} holds a training of this model that was stopped. Go on with --resume, or remove that "
            "folder to train from the beginning."
        )


def begun(out: Path, what: Mapping[str, Any]) -> Checkpoints:
    """The folder of a training, made if it is not there; MetricError if it is the training of something else.

    `what` is trained: `settings`, and digests of `data` and `encoder`.
    """
    folder = folder_of(out)
    said = json.loads(json.dumps({"format": FORMAT, **what}))
    path = folder / _ABOUT
    if path.exists():
        _compare(folder, _about(path), said)
        return Checkpoints(folder)
    if folder.exists() and any(folder.iterdir()):
        raise MetricError(f"{folder} is no folder of a training. Move it away.")
    with _refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        made = folder / f".{_ABOUT}"
        made.write_text(json.dumps(said, indent=2), encoding="utf-8")
        made.replace(path)
    return Checkpoints(folder)


def _about(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MetricError(
            f"{path} cannot be read. Remove the folder {path.parent}, and train from the beginning."
        ) from error
    return found if isinstance(found, dict) else {}


def _compare(folder: Path, was: Mapping[str, Any], now: Mapping[str, Any]) -> None:
    start_again = "or remove that folder to train from the beginning"
    if was.get("format") != FORMAT:
        raise MetricError(f"{folder} was written by another version. Remove it to train from the beginning.")
    settings = was.get("settings")
    old: Mapping[str, Any] = settings if isinstance(settings, dict) else {}
    for name, value in now["settings"].items():
        if old.get(name) != value:
            raise MetricError(
                f"{folder} holds a training with {name.replace('_', ' ')} {old.get(name)}, and {value} is "
                f"asked for. Give the same options, {start_again}."
            )
    if was.get("encoder") != now["encoder"]:
        raise MetricError(f"{folder} holds a training of another encoder. Give the same, {start_again}.")
    if was.get("data") != now["data"]:
        raise MetricError(f"{folder} holds a training on other data. Give the same files, {start_again}.")


@contextlib.contextmanager
def _refusing(path: Path) -> Iterator[None]:
    """Not being able to write is told in a sentence; torch says so with a RuntimeError."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise MetricError(f"{path} cannot be written: {reason}. Is there room on the disk?") from error
