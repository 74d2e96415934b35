"""How well a predictor finds the key phrases of examples: loss, F1 over words, whole phrases."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from evaluations.training.kpqa.batches import LabelledWindows, batch_of, by_length
from evaluations.training.kpqa.learner import logits_of, loss_of

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
