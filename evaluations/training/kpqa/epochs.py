"""Epochs of training, with figures of key phrases after each; the best is kept, checkpoints in between."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from evaluations.training.kpqa.batches import LabelledWindows, batch_of, by_length, shuffled
from evaluations.training.kpqa.checkpoints import Checkpoints
from evaluations.training.kpqa.learner import Learner, logits_of, loss_of
from metrics.errors import MetricError


class StoppedError(MetricError):
    """A training that was asked to stop, and can go on."""


@dataclass(frozen=True, slots=True)
class Step:
    """Where a training stands: `done` of `total` steps, mean loss of the epoch so far, windows a second."""

    epoch: int
    epochs: int
    done: int
    total: int
    loss: float
    speed: float
    left: float


@dataclass(slots=True)
class State:
    """What was done so far. `history` has an entry per epoch, `best` is the number of the best, from 1."""

    epoch: int = 0
    step: int = 0
    loss: float = 0.0
    words: int = 0
    windows: int = 0
    seconds: float = 0.0
    best: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True, slots=True, eq=False)
class Watch:
    """Who is told of a training, who may stop it, and how often it is kept.

    `keep_steps` besides `keep_seconds`, if it is given.
    """

    on_step: Callable[[Step], None] = lambda step: None
    on_epoch: Callable[[dict[str, Any]], None] = lambda epoch: None
    stop: Callable[[], bool] = lambda: False
    keep_seconds: float = 600.0
    keep_steps: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class Data:
    """What is learned from, what epochs are compared on, and the source of each answer of the latter."""

    train: LabelledWindows
    dev: LabelledWindows
    sources: Sequence[str]
    pad: int


def learned(learner: Learner, data: Data, checkpoints: Checkpoints, watch: Watch) -> State:
    """Train until the last epoch, from the last checkpoint if there is one.

    The learner's network has the weights of the best epoch at the end. StoppedError where it is told to stop.
    """
    run = _Run(learner, data, checkpoints, watch)
    while run.state.epoch < learner.settings.epochs:
        run.epoch()
    learner.network.load_state_dict(checkpoints.best(run.state.best))
    return run.state


class _Run:
    def __init__(self, learner: Learner, data: Data, checkpoints: Checkpoints, watch: Watch) -> None:
        self.learner, self.data, self.checkpoints, self.watch = learner, data, checkpoints, watch
        self.state = State()
        if (kept := checkpoints.state()) is not None:
            try:
                self.state = State(**{name: kept[name] for name in asdict(self.state)})
                learner.restore(kept)
            except (KeyError, TypeError, ValueError, RuntimeError) as error:
                raise MetricError(
                    f"{checkpoints.folder} was written by another version. Remove it to train from the "
                    "beginning."
                ) from error
        self.began = self.kept = time.monotonic()
        self.before, self.windows = self.state.seconds, self.state.windows

    def epoch(self) -> None:
        """The steps of an epoch that are left, and its figures."""
        state, settings = self.state, self.learner.settings
        order = shuffled(self.data.train.lengths, settings.batch, settings.seed, state.epoch)
        while state.step < len(order):
            batch = batch_of(self.data.train, order[state.step], self.data.pad, self.learner.device)
            done = state.epoch * len(order) + state.step
            loss = self.learner.step(batch, epoch=state.epoch, step=state.step, done=done)
            state.loss += loss * batch.words
            state.words += batch.words
            state.windows += batch.size
            state.step += 1
            self._tell(done + 1)
            self._stop_if_asked()
            if self._is_due():
                self._keep()
        self._finish()

    def _finish(self) -> None:
        state, data, settings = self.state, self.data, self.learner.settings
        dev = None
        if len(data.dev):
            dev = evaluated(
                self.learner.network,
                data.dev,
                data.sources,
                batch=settings.batch,
                pad=data.pad,
                device=self.learner.device,
                check=self._stop_if_asked,
            )
        if dev is not None and not math.isfinite(dev.loss):
            raise MetricError(
                "The loss on the development set is no number. Train with a lower --learning-rate."
            )
        number = state.epoch + 1
        losses = [entry["dev"]["loss"] for entry in state.history if entry["dev"]]
        if dev is None or not losses or round(dev.loss, 6) < min(losses):
            self.checkpoints.keep_best(number, self.learner.network.state_dict())
            state.best = number
        seconds = self._seconds()
        state.history.append(
            {
                "epoch": number,
                "train_loss": round(state.loss / max(1, state.words), 6),
                "dev": dev.as_json() if dev else None,
                "seconds": round(seconds - sum(entry["seconds"] for entry in state.history), 3),
            }
        )
        state.epoch, state.step, state.loss, state.words = number, 0, 0.0, 0
        self._keep()
        self.watch.on_epoch(state.history[-1])

    def _tell(self, done: int) -> None:
        state, spent = self.state, time.monotonic() - self.began
        speed = (state.windows - self.windows) / spent if spent else 0.0
        whole = self.learner.settings.epochs * len(self.data.train)
        self.watch.on_step(
            Step(
                state.epoch + 1,
                self.learner.settings.epochs,
                done,
                self.learner.total,
                state.loss / state.words,
                speed,
                (whole - state.windows) / speed if speed else 0.0,
            )
        )

    def _stop_if_asked(self) -> None:
        if not self.watch.stop():
            return
        self._keep()
        raise StoppedError(
            f"Stopped in epoch {self.state.epoch + 1} of {self.learner.settings.epochs} after "
            f"{self.state.step} of its steps. The same command with --resume goes on from there."
        )

    def _is_due(self) -> bool:
        every = self.watch.keep_steps
        if every and self.state.step % every == 0:
            return True
        return time.monotonic() - self.kept >= self.watch.keep_seconds

    def _keep(self) -> None:
        self.state.seconds = self._seconds()
        self.checkpoints.keep({**self.learner.state(), **asdict(self.state)})
        self.kept = time.monotonic()

    def _seconds(self) -> float:
        return self.before + time.monotonic() - self.began


# How well a predictor finds the key phrases of examples: loss, F1 over words, whole phrases.

#: A word is said to be in the key phrase when that is more likely than not.
THRESHOLD = 0.5


@dataclass(frozen=True, slots=True)
class Figures:
    """`f1`, `precision`, `recall` are over words; those of spans over whole key phrases, first to last word.

    `sources` are F1 over words by the form of the file that examples came from.
    """

    loss: float
    f1: float
    precision: float
    recall: float
    span_precision: float
    span_recall: float
    sources: dict[str, float]

    def as_json(self) -> dict[str, Any]:
        """Plain values, as a card holds them."""
        return {key: _rounded(value) for key, value in asdict(self).items()}


def evaluated(
    network: Any,
    data: LabelledWindows,
    sources: Sequence[str],
    *,
    batch: int,
    pad: int,
    device: Any,
    check: Callable[[], None] = lambda: None,
) -> Figures:
    """Figures of a network on examples, always in full precision; `sources` has an entry per answer.

    `check` is called before every batch and may raise.
    """
    likely = np.zeros(len(data.labels))
    loss = 0.0
    network.eval()
    with torch.inference_mode():
        for which in by_length(data.lengths, batch):
            check()
            one = batch_of(data, which, pad, device)
            logits = logits_of(network, one)
            loss += float(loss_of(logits, one, mean=False))
            values = torch.softmax(logits, -1)[:, :, 1].cpu().numpy()
            for row, at in enumerate(which):
                begin, end = data.begins[at], data.begins[at + 1]
                likely[begin:end] = values[row, : end - begin]
    return figures(data, likely > THRESHOLD, loss / max(1, len(likely)), sources)


def figures(
    data: LabelledWindows, said: npt.NDArray[np.bool_], loss: float, sources: Sequence[str]
) -> Figures:
    """Figures of what was said of each word of `data`."""
    gold = data.labels.astype(bool)
    answers = np.repeat(data.answers, np.diff(data.begins))
    precision, recall, f1 = _agreement(int((said & gold).sum()), int(said.sum()), int(gold.sum()))
    spans = _spans(answers, data.words, said), _spans(answers, data.words, gold)
    whole = _agreement(len(spans[0] & spans[1]), len(spans[0]), len(spans[1]))
    by_source: dict[str, float] = {}
    names = np.array([sources[answer] for answer in answers.tolist()])
    for name in sorted(set(sources)):
        own = names == name
        by_source[name] = _agreement(
            int((said & gold & own).sum()), int((said & own).sum()), int((gold & own).sum())
        )[2]
    return Figures(loss, f1, precision, recall, whole[0], whole[1], by_source)


def _agreement(both: int, said: int, gold: int) -> tuple[float, float, float]:
    """Precision, recall, F1; 0 where there is nothing to divide by."""
    return (
        both / said if said else 0.0,
        both / gold if gold else 0.0,
        2 * both / (said + gold) if said + gold else 0.0,
    )


def _spans(answers: Any, words: Any, true: Any) -> set[tuple[int, int, int]]:
    """Answer, first and last word of each run of words that are true."""
    found = set()
    order = np.lexsort((words, answers))
    chosen = [(int(answers[at]), int(words[at])) for at in order if true[at]]
    begin = None
    for place, (answer, word) in enumerate(chosen):
        begin = word if begin is None else begin
        after = chosen[place + 1] if place + 1 < len(chosen) else None
        if after != (answer, word + 1):
            found.add((answer, begin, word))
            begin = None
    return found


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return round(value, 6)
