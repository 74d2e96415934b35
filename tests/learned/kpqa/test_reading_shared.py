"""Sets of real questions that are no part of the project: where they do not lie beside it, nothing runs."""

import pytest

from distillery_learned.training import kpqa_examples
from distillery_learned.training.kpqa_files import prepared
from tests.metrics.shared import SHARED

pytestmark = pytest.mark.only_on("shared")


@pytest.fixture(scope="module")
def training_set():
    return prepared([SHARED / "spanqa" / name for name in ("covidqa.json", "xquad.en.json")], seed=1)


@pytest.mark.long
def test_nearly_all_questions_become_examples(training_set):
    assert training_set.counts == {
        "read": 2570,
        "kept": 2559,
        "dropped": {kpqa_examples.MISFIT: 5, kpqa_examples.REPEATED: 6},
        "noted": {kpqa_examples.MOVED: 229, kpqa_examples.WHOLE: 94},
        "train": 2303,
        "dev": 256,
    }


def test_key_phrases_are_short_parts_of_their_sentences(training_set):
    parts = [
        sum(end - begin for begin, end in example.spans) / len(example.answer)
        for example in (*training_set.train, *training_set.dev)
    ]
    assert sorted(parts)[len(parts) // 2] < 0.2
    assert max(len(example.answer) for example in (*training_set.train, *training_set.dev)) < 1500
