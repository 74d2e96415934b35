"""How a keyphrase predictor is trained; the defaults are the paper's where it says something."""

import math
from dataclasses import dataclass
from typing import Any

from metrics.errors import MetricError
from metrics.neural.pieces import SHORTEST

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


def precision_for(asked: str, device: Any) -> str:
    """The precision to compute in: on a GPU bf16 where it can, else fp16; on a CPU fp32."""
    import torch  # takes seconds

    if device.type != "cuda":
        if asked == "fp16":
            raise MetricError("--precision fp16 needs a GPU. Use fp32, bf16 or auto.")
        return "fp32" if asked == "auto" else asked
    if asked == "auto":
        return "bf16" if torch.cuda.is_bf16_supported() else "fp16"
    return asked
