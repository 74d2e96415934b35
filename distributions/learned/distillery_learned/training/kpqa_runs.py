"""How a key phrase predictor is trained, and the state of a training that can go on after it was stopped.

    MODEL.training/training.json   what is trained: settings, digests of data and encoder
    MODEL.training/state.pt        weights, optimiser, epoch and step, and what was measured so far
    MODEL.training/best-3.pt       the weights of the best epoch so far

Every file appears whole or not at all. Chance needs no state: what is drawn in a step depends on seed, epoch
and step alone. Settings have the paper's values where it says something.
"""

import contextlib
import json
import math
import os
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.errors import translated_failure
from distillery_learned.metrics.pieces import SHORTEST
from metrics.errors import MetricError
from metrics.model_folders import TRAINING_ENDING

FORMAT = 1
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
        """Throw all of it away: the model is complete."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _best(self, epoch: int) -> Path:
        return self.folder / f"best-{epoch}.pt"

    def _write(self, path: Path, what: Any) -> None:
        import torch  # takes seconds

        temporary = path.with_name(f".{path.name}")
        with _refusing(path):
            with temporary.open("wb") as file:
                torch.save(what, file)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)

    def _read(self, path: Path) -> dict[str, Any]:
        import torch

        message = f"{path} cannot be read. Remove the folder {self.folder}, and train from the beginning."
        with translated_failure(lambda _: MetricError(message)):
            state = torch.load(path, map_location="cpu", weights_only=True)
        return dict(state)


def folder_of(out: Path) -> Path:
    """Where the training of a model is kept."""
    return out.with_name(f"{out.name}{TRAINING_ENDING}")


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
    origin = json.loads(json.dumps({"format": FORMAT, **what}))
    path = folder / _ABOUT
    if path.exists():
        _compare(folder, _about(path), origin)
        return Checkpoints(folder)
    if folder.exists() and any(folder.iterdir()):
        raise MetricError(f"{folder} is no folder of a training. Move it away.")
    with _refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        temporary = folder / f".{_ABOUT}"
        temporary.write_text(json.dumps(origin, indent=2), encoding="utf-8")
        temporary.replace(path)
    return Checkpoints(folder)


def _about(path: Path) -> dict[str, Any]:
    try:
        origin = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MetricError(
            f"{path} cannot be read. Remove the folder {path.parent}, and train from the beginning."
        ) from error
    return origin if isinstance(origin, dict) else {}


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


PRECISIONS = ("auto", "fp32", "bf16", "fp16")
#: Greatest values, so that a slip of the finger is told before hours are spent.
MOST_EPOCHS, MOST_BATCH, MOST_UNITS, MOST_SEED = 10_000, 65_536, 65_536, 2**63 - 1


@dataclass(frozen=True, slots=True)
class Settings:
    """Settings of a training.

    Lee et al. (C.1) say epochs, batch, rate, length, units and AdamW. They do not say whether the rate
    changes: here it stays as it is, unless `warm_up` (the share of steps in which it rises from 0) or `decay`
    (it falls to 0 with the last step) are asked for. `clip` is the greatest norm of a gradient.
    """

    epochs: int = 5
    batch: int = 16
    learning_rate: float = 2e-5
    longest: int = 256
    units: int = 768
    seed: int = 13
    with_question: bool = True
    precision: str = "auto"
    device: str = "auto"
    warm_up: float = 0.0
    decay: bool = False
    weight_decay: float = 0.01
    clip: float = 1.0

    def __post_init__(self) -> None:
        for name, low, high in (
            ("epochs", 1, MOST_EPOCHS),
            ("batch", 1, MOST_BATCH),
            ("longest", SHORTEST, 1 << 20),
            ("units", 1, MOST_UNITS),
            ("seed", 0, MOST_SEED),
        ):
            value = getattr(self, name)
            if not low <= value <= high:
                raise MetricError(f"{_WORDS[name]} must be from {low} to {high}, not {value}.")
        if not 0 < self.learning_rate <= 1:
            raise MetricError(f"The learning rate must be above 0 and at most 1, not {self.learning_rate}.")
        if not 0 <= self.warm_up < 1:
            raise MetricError(f"The share of warm-up must be at least 0 and below 1, not {self.warm_up}.")
        if not 0 <= self.weight_decay < math.inf or not 0 < self.clip < math.inf:
            raise MetricError("Weight decay must be a number from 0, and the norm of gradients one above 0.")
        if self.precision not in PRECISIONS:
            raise MetricError(f"There is no precision {self.precision}; there are {', '.join(PRECISIONS)}.")

    def as_json(self) -> dict[str, Any]:
        """What decides the model, for its card and for whoever goes on with a training."""
        return {
            "epochs": self.epochs,
            "batch": self.batch,
            "learning_rate": self.learning_rate,
            "longest": self.longest,
            "units": self.units,
            "seed": self.seed,
            "with_question": self.with_question,
            "precision": self.precision,
            "optimiser": "AdamW",
            "warm_up": self.warm_up,
            "decay": "linear" if self.decay else "none",
            "weight_decay": self.weight_decay,
            "clip": self.clip,
        }


_WORDS = {
    "epochs": "The number of epochs",
    "batch": "The size of a batch",
    "longest": "The length in word pieces",
    "units": "The number of units",
    "seed": "The seed",
}


def precision_for(precision: str, device: Any) -> str:
    """The precision to compute in: on a GPU bf16 where it can, else fp16; on a CPU fp32."""
    import torch  # takes seconds

    if device.type != "cuda":
        if precision == "fp16":
            raise MetricError("--precision fp16 needs a GPU. Use fp32, bf16 or auto.")
        return "fp32" if precision == "auto" else precision
    if precision == "auto":
        return "bf16" if torch.cuda.is_bf16_supported() else "fp16"
    return precision
