"""Batches, steps and epochs of training, with figures of key phrases after each; the best is kept."""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn.functional import cross_entropy

from distillery_learned.metrics.pieces import windows
from distillery_learned.training.kpqa_examples import Example
from distillery_learned.training.kpqa_runs import Checkpoints, Settings
from metrics.errors import MetricError
from metrics.word_spans import Span

# Examples as labelled word pieces, and the batches that the network sees.

Numbers = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
#: Examples that are cut into pieces at a time.
_TOGETHER = 1000


@dataclass(frozen=True, slots=True, eq=False)
class LabelledWindows:
    """Windows one after another: number k has the pieces `ids[starts[k]:starts[k + 1]]`, of `answers[k]`.

    Its classified words are `begins[k]` to `begins[k + 1]` of `firsts` (places of first pieces),
    `word_numbers` (numbers of words) and `labels` (1 in the key phrase, else 0). `typed`: word pieces have
    types.
    """

    answers: Numbers
    starts: Places
    ids: Numbers
    types: Numbers
    begins: Places
    firsts: Numbers
    word_numbers: Numbers
    labels: Numbers
    typed: bool

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def lengths(self) -> Places:
        """Number of pieces of each window."""
        return np.diff(self.starts)


def labels_of(word_spans: Sequence[Span], spans: Sequence[Span]) -> list[int]:
    """1 for each word that a span touches, else 0; both are in order."""
    labels, at = [], 0
    for begin, end in word_spans:
        while at < len(spans) and spans[at][1] <= begin:
            at += 1
        labels.append(int(at < len(spans) and spans[at][0] < end))
    return labels


def labelled(
    tokenizer: Any, examples: Sequence[Example], longest: int, *, with_question: bool = True
) -> LabelledWindows:
    """The windows of examples with labels; each word of an answer is in one of its windows."""
    answers: list[int] = []
    parts: list[tuple[Numbers, ...]] = []
    sizes: list[tuple[int, int]] = []
    for start in range(0, len(examples), _TOGETHER):
        chunk = examples[start : start + _TOGETHER]
        pairs = [(example.question, example.answer) for example in chunk]
        every, word_spans = windows(tokenizer, pairs, longest, with_question=with_question)
        labels = [labels_of(own, example.spans) for own, example in zip(word_spans, chunk, strict=True)]
        answers += [start + window.pair for window in every]
        sizes += [(len(window.ids), len(window.word_numbers)) for window in every]
        parts.append(
            (
                _flat(window.ids for window in every),
                _flat(window.types for window in every),
                _flat(window.firsts for window in every),
                _flat(window.word_numbers for window in every),
                _flat([labels[window.pair][word] for word in window.word_numbers] for window in every),
            )
        )
    ids, types, firsts, word_numbers, word_labels = (
        np.concatenate([part[column] for part in parts] or [np.zeros(0, np.int32)]) for column in range(5)
    )
    return LabelledWindows(
        answers=np.array(answers, np.int32),
        starts=np.array([0, *accumulate(size for size, _ in sizes)], np.int64),
        ids=ids,
        types=types,
        begins=np.array([0, *accumulate(size for _, size in sizes)], np.int64),
        firsts=firsts,
        word_numbers=word_numbers,
        labels=word_labels,
        typed=len(types) > 0,
    )


def _flat(rows: Iterator[Sequence[int]]) -> Numbers:
    return np.array([number for row in rows for number in row], np.int32)


#: Batches out of which windows of about the same length are put together.
_POOL = 50
#: Label of a place that stands for no word.
NO_WORD = -100


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """Tensors of B windows, L pieces at most, W words at most; `labels` are NO_WORD where there is no word.

    `word_count` says how many words there are.
    """

    ids: Any
    mask: Any
    types: Any
    firsts: Any
    labels: Any
    word_count: int

    @property
    def size(self) -> int:
        """Windows."""
        return int(self.ids.shape[0])


def shuffled(lengths: Sequence[int] | Any, size: int, seed: int, epoch: int) -> list[list[int]]:
    """The windows of an epoch's batches: an order that depends on seed and epoch alone.

    All are shuffled; of 50 batches at a time those of about the same length come together, so that little is
    padded; then these batches are shuffled.
    """
    random = np.random.default_rng([seed, epoch])
    order = random.permutation(len(lengths))
    own = np.asarray(lengths)
    batches: list[list[int]] = []
    for start in range(0, len(order), _POOL * size):
        pool = order[start : start + _POOL * size]
        pool = pool[np.argsort(own[pool], kind="stable")]
        batches += [pool[at : at + size].tolist() for at in range(0, len(pool), size)]
    return [batches[at] for at in random.permutation(len(batches))]


def by_length(lengths: Sequence[int] | Any, size: int) -> list[list[int]]:
    """Batches without chance, shortest first."""
    order = np.argsort(np.asarray(lengths), kind="stable")
    return [order[at : at + size].tolist() for at in range(0, len(order), size)]


def batch_of(data: LabelledWindows, which: Sequence[int], pad: int, device: Any) -> Batch:
    """These windows, padded to the longest of them, on a device."""
    pieces = [slice(data.starts[at], data.starts[at + 1]) for at in which]
    word_slices = [slice(data.begins[at], data.begins[at + 1]) for at in which]

    def padded(values: Numbers, places: list[slice], filler: int) -> Any:
        longest = max(place.stop - place.start for place in places)
        rows = np.full((len(places), longest), filler, np.int64)
        for row, place in zip(rows, places, strict=True):
            row[: place.stop - place.start] = values[place]
        return torch.from_numpy(rows).to(device)

    lengths = torch.tensor([place.stop - place.start for place in pieces])
    ids = padded(data.ids, pieces, pad)
    mask = (torch.arange(ids.shape[1])[None, :] < lengths[:, None]).long().to(device)
    return Batch(
        ids,
        mask,
        padded(data.types, pieces, 0) if data.typed else None,
        padded(data.firsts, word_slices, 0),
        padded(data.labels, word_slices, NO_WORD),
        sum(int(place.stop - place.start) for place in word_slices),
    )


# The loss of a batch, and the optimiser's steps.

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
        random_state = np.random.SeedSequence([self.settings.seed, epoch, step]).generate_state(1, np.uint64)
        torch.manual_seed(int(random_state[0]))
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


# Epochs, each measured on the development set.


class StoppedError(MetricError):
    """A training that was asked to stop, and can go on."""


@dataclass(frozen=True, slots=True)
class Step:
    """How far a training is: `done` of `total` steps, mean loss of the epoch so far, windows a second."""

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
        if (saved := checkpoints.state()) is not None:
            try:
                self.state = State(**{name: saved[name] for name in asdict(self.state)})
                learner.restore(saved)
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
            state.loss += loss * batch.word_count
            state.words += batch.word_count
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
        total = self.learner.settings.epochs * len(self.data.train)
        self.watch.on_step(
            Step(
                state.epoch + 1,
                self.learner.settings.epochs,
                done,
                self.learner.total,
                state.loss / state.words,
                speed,
                (total - state.windows) / speed if speed else 0.0,
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
    data: LabelledWindows, predicted: npt.NDArray[np.bool_], loss: float, sources: Sequence[str]
) -> Figures:
    """Figures of what was said of each word of `data`."""
    gold = data.labels.astype(bool)
    answers = np.repeat(data.answers, np.diff(data.begins))
    precision, recall, f1 = _agreement(int((predicted & gold).sum()), int(predicted.sum()), int(gold.sum()))
    spans = _spans(answers, data.word_numbers, predicted), _spans(answers, data.word_numbers, gold)
    exact = _agreement(len(spans[0] & spans[1]), len(spans[0]), len(spans[1]))
    by_source: dict[str, float] = {}
    names = np.array([sources[answer] for answer in answers.tolist()])
    for name in sorted(set(sources)):
        own = names == name
        by_source[name] = _agreement(
            int((predicted & gold & own).sum()), int((predicted & own).sum()), int((gold & own).sum())
        )[2]
    return Figures(loss, f1, precision, recall, exact[0], exact[1], by_source)


def _agreement(both: int, predicted: int, gold: int) -> tuple[float, float, float]:
    """Precision, recall, F1; 0 where there is nothing to divide by."""
    return (
        both / predicted if predicted else 0.0,
        both / gold if gold else 0.0,
        2 * both / (predicted + gold) if predicted + gold else 0.0,
    )


def _spans(answers: Any, word_numbers: Any, true: Any) -> set[tuple[int, int, int]]:
    """Answer, first and last word of each run of words that are true."""
    spans = set()
    order = np.lexsort((word_numbers, answers))
    true_words = [(int(answers[at]), int(word_numbers[at])) for at in order if true[at]]
    begin = None
    for place, (answer, word) in enumerate(true_words):
        begin = word if begin is None else begin
        after = true_words[place + 1] if place + 1 < len(true_words) else None
        if after != (answer, word + 1):
            spans.add((answer, begin, word))
            begin = None
    return spans


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    return round(value, 6)
