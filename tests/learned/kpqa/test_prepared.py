import gzip
import hashlib
import json

import pytest

from distillery_learned.training import kpqa_examples
from distillery_learned.training.kpqa_files import prepared, united
from metrics.errors import MetricError
from tests.learned.kpqa.published import HOTPOTQA, SQUAD_1, SQUAD_2, asked, at, marco_columns, squad, written


def numbered(count, questions=3):
    """A passage for each number, with some questions about it."""
    passages = [f"The passage {number} is about thing {number}. It is new." for number in range(count)]
    return squad(
        *(
            (text, [asked(f"What {which}?", at(text, f"thing {number}")) for which in range(questions)])
            for number, text in enumerate(passages)
        )
    )


@pytest.fixture
def many(tmp_path):
    return written(tmp_path / "many.json", numbered(100))


def test_all_forms_together_with_their_counts_and_digests(tmp_path):
    paths = [
        written(tmp_path / "squad.json", SQUAD_1),
        written(tmp_path / "hotpot.json", HOTPOTQA),
        tmp_path / "marco.json.gz",
    ]
    paths[2].write_bytes(gzip.compress(json.dumps(marco_columns()).encode()))
    found = prepared(paths, seed=1)
    assert [(file["name"], file["form"], file["read"], file["kept"]) for file in found.files] == [
        ("squad.json", "squad", 3, 3),
        ("hotpot.json", "hotpotqa list", 2, 1),
        ("marco.json.gz", "marco columns", 3, 2),
    ]
    assert found.files[2]["sha256"] == hashlib.sha256(paths[2].read_bytes()).hexdigest()
    assert found.files[2]["bytes"] == paths[2].stat().st_size
    assert found.counts == {
        "read": 8,
        "kept": 6,
        "dropped": {kpqa_examples.NO_ANSWER: 1, kpqa_examples.YES_OR_NO: 1},
        "noted": {kpqa_examples.OTHER_CASE: 2},
        "train": 5,
        "dev": 1,
    }
    json.dumps([found.counts, found.files], allow_nan=False)
    assert found.lines() == [
        "squad.json (squad): 3 questions, 3 kept",
        "hotpot.json (hotpotqa list): 2 questions, 1 kept",
        f"  dropped 1: {kpqa_examples.YES_OR_NO}",
        "marco.json.gz (marco columns): 3 questions, 2 kept",
        f"  dropped 1: {kpqa_examples.NO_ANSWER}",
        f"  noted 2: {kpqa_examples.OTHER_CASE}",
        "5 examples for training, 1 for development",
    ]


def test_no_passage_stands_on_both_sides(many):
    found = prepared([many], seed=3)
    train, dev = ({example.group for example in side} for side in (found.train, found.dev))
    assert (len(found.train), len(found.dev)) == (270, 30)
    assert not train & dev
    assert len(dev) == 10


def test_the_split_depends_on_the_seed_and_not_on_the_order_of_files(tmp_path, many):
    other = written(tmp_path / "other.json", SQUAD_1)
    one, same, turned = (prepared(paths, seed=3) for paths in ([many, other], [many, other], [other, many]))
    assert (one.train, one.dev) == (same.train, same.dev)
    assert set(one.dev) == set(turned.dev)
    assert set(one.dev) != set(prepared([many, other], seed=4).dev)


@pytest.mark.parametrize(("share", "size"), [(0, 0), (0.001, 3), (0.1, 30), (0.5, 150), (0.999, 297)])
def test_the_development_set_has_the_share_that_is_asked_for(many, share, size):
    found = prepared([many], seed=1, dev_share=share)
    assert len(found.dev) == size
    assert len(found.train) == 300 - size


def test_the_same_question_and_sentence_stand_once_with_both_key_phrases(tmp_path):
    context = "He was born in Rome in 1856. He died."
    given = [
        asked("Born?", at(context, "Rome")),
        asked("Born?", at(context, "1856")),
        asked("Died?", at(context, "died")),
    ]
    path = written(tmp_path / "a.json", squad((context, given)))
    twice = written(tmp_path / "b.json", squad((context, given[:1])))
    found = prepared([path, twice], seed=1, dev_share=0)
    assert [example.question for example in found.train] == ["Born?", "Died?"]
    assert [found.train[0].answer[begin:end] for begin, end in found.train[0].spans] == ["Rome", "1856"]
    assert [file["dropped"] for file in found.files] == [
        {kpqa_examples.REPEATED: 1},
        {kpqa_examples.REPEATED: 1},
    ]
    assert (found.counts["read"], found.counts["kept"]) == (4, 2)


def test_spans_that_overlap_become_one():
    assert united([(5, 9), (0, 2), (7, 12), (0, 2), (12, 13)]) == ((0, 2), (5, 12), (12, 13))


def test_a_limit_draws_from_all_by_the_seed(many):
    found = prepared([many], seed=1, limit=50)
    every = prepared([many], seed=1)
    assert found.counts["train"] + found.counts["dev"] == 50
    assert {*found.train, *found.dev} < {*every.train, *every.dev}
    assert {*found.train, *found.dev} == {*(again := prepared([many], seed=1, limit=50)).train, *again.dev}
    assert {*found.train, *found.dev} != {*(again := prepared([many], seed=2, limit=50)).train, *again.dev}
    assert len({example.group for example in (*found.train, *found.dev)}) > 20


def test_key_phrases_that_are_all_of_their_sentence_are_noted_or_left_out(tmp_path):
    context = "The Pope. He was born in Rome."
    given = [asked("Who?", at(context, "The Pope")), asked("Where?", at(context, "Rome"))]
    path = written(tmp_path / "a.json", squad((context, given)))
    found = prepared([path], seed=1, dev_share=0)
    assert (len(found.train), found.counts["noted"]) == (2, {kpqa_examples.WHOLE: 1})
    found = prepared([path], seed=1, dev_share=0, whole_answers=False)
    assert (len(found.train), found.counts["dropped"]) == (1, {kpqa_examples.WHOLE: 1})


def test_progress_is_told(tmp_path):
    path = written(tmp_path / "many.json", numbered(500, 5))
    told = []
    prepared([path], seed=1, progress=lambda file, read: told.append((file, read)))
    assert told == [(path, 1000), (path, 2000), (path, 2500)]


def test_what_cannot_be_used_is_refused_with_the_reason(tmp_path):
    none = written(tmp_path / "none.json", squad())
    with pytest.raises(MetricError, match="holds no question"):
        prepared([none], seed=1)
    dull = written(tmp_path / "dull.json", HOTPOTQA[1:])
    with pytest.raises(
        MetricError, match=r"No question of .*dull.json can be used \(1: the answer is yes or no\)"
    ):
        prepared([dull], seed=1)
    one = written(tmp_path / "one.json", SQUAD_2)
    with pytest.raises(MetricError, match=r"All 1 examples stand in one passage"):
        prepared([one], seed=1)
    assert len(prepared([one], seed=1, dev_share=0).train) == 1
    with pytest.raises(MetricError, match="No data is given"):
        prepared([], seed=1)


@pytest.mark.parametrize(
    "wrong", [{"dev_share": 1}, {"dev_share": -0.1}, {"dev_share": float("nan")}, {"limit": 0}]
)
def test_numbers_that_make_no_sense_are_refused(many, wrong):
    with pytest.raises(MetricError, match="must be at least"):
        prepared([many], seed=1, **wrong)
