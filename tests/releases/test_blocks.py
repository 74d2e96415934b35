"""Rows as columns: the same lines, counts and rows as those that are made of them one by one."""

import numpy as np
import pyarrow as pa
import pytest

from releases.blocks import Block, Lists, Objects, coded, constant, truths
from releases.formats.jsonl import line_maker
from releases.tables import RATINGS, SCORES

HOSTILE = [
    "plain",
    'with "quotes" and \\ back',
    "line\nfeed\tand\r\x00\x1f",
    "seps \u0085 \u2028 \u2029",
    '},{"rating_id":',
    "日本 🙂 ü",
    "",
]


def rating_block(aspects=None):
    count = len(HOSTILE)
    return Block(
        RATINGS,
        (
            pa.array(HOSTILE),
            constant("judging", count),
            pa.array(HOSTILE[::-1]),
            pa.array(["q"] * count),
            coded(HOSTILE),
            coded(["w1", "w2", "w1", 'w"3', "w1", "w2", "w1"]),
            coded([1, 4.5, 5, 1, 1, 2, 3]),
            Objects(aspects) if aspects else constant([], count),
            coded([True, False, True, True, True, False, True]),
            coded(["", "rule", "", "", "", "other", ""]),
            coded(["", "why\n", "", "", "", "because", ""]),
            truths(np.array([True] + [False] * 6)),
            coded(["test", "train", "train", "test", "train", "validation", "train"]),
        ),
    )


def score_block():
    return Block(
        SCORES,
        (
            constant("judging", 3),
            pa.array(["c1", "c2", "c3"]),
            pa.array(["q1", "q1", "q2"]),
            coded(["a", "b", "a"]),
            [3, 1, None],
            [2, 0, None],
            [2.5, None, 1 / 3],
            [0.7071067811865476, None, 1e-7],
            [2.5, None, 1e22],
            [2.5, None, 3.0],
            [None, None, None],
            Lists(
                np.array([0, 2, 2, 3]), {"worker": coded(["w1", 'w"2', "w1"]), "score": coded([4, 4.5, 1])}
            ),
            truths(np.array([True, False, False])),
            coded(["train", "train", "test"]),
        ),
    )


@pytest.mark.parametrize(
    "block",
    [
        rating_block(),
        rating_block([[], [{"name": 'a"b', "score": 3}], [], [], [], [{"name": "c", "score": 1}], []]),
        score_block(),
    ],
)
def test_lines_are_those_of_the_rows(block):
    rows = [row for batch in block.batches() for row in batch]
    place, lines = block.table.place("split"), line_maker(block.table)
    made = block.lines()
    for split in {row[place] for row in rows}:
        mine = [row for row in rows if row[place] == split]
        assert bytes(made[split].lines) == lines(mine)
        assert made[split].rows == len(mine)
        assert made[split].longest == max(map(len, lines(mine).split(b"\n")))
    assert sum(each.rows for each in made.values()) == len(block) == len(rows)


def test_rows_come_without_lists_where_nobody_reads_them():
    (with_lists,), (without,) = (list(score_block().batches(lists=each)) for each in (True, False))
    kept = SCORES.place("kept")
    assert [row[kept] for row in with_lists] == [
        [{"worker": "w1", "score": 4}, {"worker": 'w"2', "score": 4.5}],
        [],
        [{"worker": "w1", "score": 1}],
    ]
    assert [row[kept] for row in without] == [None] * 3
    assert [row[:kept] + row[kept + 1 :] for row in with_lists] == [
        row[:kept] + row[kept + 1 :] for row in without
    ]


def test_values_of_a_coded_column_are_counted():
    assert rating_block().counts("rule") == {"": 5, "rule": 1, "other": 1}
