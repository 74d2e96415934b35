"""The loss of a batch, and the optimiser's steps."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from evaluations.training.kpqa.batches import NO_WORD, Batch
from evaluations.training.kpqa.settings import Settings
from metrics.errors import MetricError

_HALVES = (torch.float16, torch.bfloat16)


def logits_of(network: Any, batch: Batch) -> Any:
    """Logits (B, W, 2) of the words of a batch, in half precision never."""
    logits = network(batch.ids, batch.mask, batch.types, batch.firsts)
    return logits.float() if logits.dtype in _HALVES else logits


def loss_of(logits: Any, batch: Batch, *, mean: bool = True) -> Any:
    """Cross entropy over the words of a batch, their mean or their sum.

    Question, marks of the tokeniser and pieces that do not begin a word have no logits, and places that stand
    for no word are left out: none has a part.
    """
    return cross_entropy(
        logits.flatten(0, 1),
        batch.labels.flatten(),
        ignore_index=NO_WORD,
        reduction="mean" if mean else "sum",
    )


_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


class Learner:
    """A network with its optimiser, on a device, in a precision; `total` steps are planned."""

    def __init__(self, network: Any, settings: Settings, *, device: Any, precision: str, total: int) -> None:
        self.network = network.to(device)
        self.settings, self.device, self.precision, self.total = settings, device, precision, total
        self.optimiser = torch.optim.AdamW(
            self.network.parameters(), lr=settings.learning_rate, weight_decay=settings.weight_decay
        )
        self.scaler = torch.amp.GradScaler(device.type, enabled=precision == "fp16")

    def step(self, batch: Batch, *, epoch: int, step: int, done: int) -> float:
        """Learn from a batch, the `done`-th of all; its loss.

        MetricError where it is no number. What is dropped out depends on seed, epoch and step alone.
        """
        drawn = np.random.SeedSequence([self.settings.seed, epoch, step]).generate_state(1, np.uint64)
        torch.manual_seed(int(drawn[0]))
        for group in self.optimiser.param_groups:
            group["lr"] = rate(self.settings, done, self.total)
        self.network.train()
        half = self.precision != "fp32"
        with torch.autocast(self.device.type, dtype=_DTYPES[self.precision] if half else None, enabled=half):
            logits = logits_of(self.network, batch)
        loss = loss_of(logits, batch)
        value = float(loss.detach())
        if not math.isfinite(value) and (self.precision != "fp16" or self.scaler.get_scale() < 1):
            raise MetricError(
                f"The loss is no number any more in epoch {epoch + 1}, step {step + 1}. Train with a lower "
                f"--learning-rate{'' if self.precision == 'fp32' else ', or with --precision fp32'}."
            )
        self.optimiser.zero_grad(set_to_none=True)
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimiser)
        torch.nn.utils.clip_grad_norm_(self.network.parameters(), self.settings.clip)
        self.scaler.step(self.optimiser)
        self.scaler.update()
        return value

    def state(self) -> dict[str, Any]:
        """What a checkpoint keeps of it."""
        return {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "scaler": self.scaler.state_dict(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what a checkpoint kept."""
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        if state["scaler"]:
            self.scaler.load_state_dict(state["scaler"])


def rate(settings: Settings, done: int, total: int) -> float:
    """The learning rate of a step after `done` others."""
    warm = round(settings.warm_up * total)
    if done < warm:
        return settings.learning_rate * (done + 1) / (warm + 1)
    if settings.decay:
        return settings.learning_rate * (total - done) / max(1, total - warm)
    return settings.learning_rate
