"""Loss, F1 over words and whole phrases, by hand."""

import numpy as np
import pytest
import torch

from distillery_learned.metrics.encoders import encoder
from distillery_learned.metrics.networks import KeyphraseNetwork
from distillery_learned.training.kpqa_epochs import LabelledWindows, evaluated, figures, labelled
from tests.learned import tiny


def of(rows):
    """Data of answers (answer, first word, labels), one window each."""
    words = [list(range(first, first + len(labels))) for _, first, labels in rows]
    sizes = [len(each) for each in words]
    none = np.zeros(0, np.int32)
    return LabelledWindows(
        answers=np.array([answer for answer, _, _ in rows], np.int32),
        starts=np.zeros(len(rows) + 1, np.int64),
        ids=none,
        types=none,
        begins=np.array([0, *np.cumsum(sizes)], np.int64),
        firsts=none,
        word_numbers=np.array([word for own in words for word in own], np.int32),
        labels=np.array([label for _, _, labels in rows for label in labels], np.int32),
        typed=False,
    )


def test_words_and_whole_phrases_are_counted() -> None:
    data = of([(0, 0, [0, 1, 1, 0]), (1, 0, [1, 0, 0, 1])])
    said = np.array([0, 1, 1, 0, 1, 1, 0, 0], bool)
    found = figures(data, said, 0.25, ["squad", "marco"])
    assert (found.precision, found.recall) == (3 / 4, 3 / 4)
    assert found.f1 == 3 / 4
    assert (found.span_precision, found.span_recall) == (1 / 2, 1 / 3)
    assert found.sources == {"marco": 2 * 1 / (2 + 2), "squad": 1.0}
    assert found.as_json()["loss"] == 0.25


def test_a_phrase_is_whole_across_the_windows_of_an_answer() -> None:
    data = of([(0, 3, [1, 0]), (0, 0, [0, 1, 1]), (1, 0, [1])])  # words 1, 2, 3 of the first answer
    found = figures(data, data.labels.astype(bool), 0.0, ["made", "made"])
    assert (found.f1, found.span_precision, found.span_recall) == (1, 1, 1)
    only = figures(data, np.array([1, 0, 0, 1, 0, 1], bool), 0.0, ["made", "made"])
    assert (only.span_precision, only.span_recall) == (1 / 3, 1 / 2)


def test_nothing_said_or_nothing_to_say_is_zero_and_no_error() -> None:
    data = of([(0, 0, [0, 0])])
    found = figures(data, np.zeros(2, bool), 0.0, ["made"])
    assert (found.f1, found.precision, found.recall, found.span_precision) == (0, 0, 0, 0)


def test_figures_of_a_network_do_not_depend_on_the_batch(tmp_path) -> None:
    base = encoder(tiny.bert(tmp_path))
    torch.manual_seed(0)
    network = KeyphraseNetwork(base.model, 16)
    data = labelled(base.tokenizer, tiny.costs(20), 24)
    sources = ["made"] * 20
    one, many = (
        evaluated(network, data, sources, batch=batch, pad=0, device=torch.device("cpu")) for batch in (1, 16)
    )
    literal = tiny.literal_loss(network.eval(), base.tokenizer, tiny.costs(20), 24)
    assert one.loss == pytest.approx(many.loss, abs=1e-6)
    assert one.loss == pytest.approx(float(literal.detach()), abs=1e-6)
    assert one.f1 == many.f1
