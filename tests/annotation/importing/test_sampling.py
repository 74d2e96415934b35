"""Samples: exact probabilities, one seed one sample, whatever the file looks like."""

import random
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from annotation.importing import tally
from annotation.importing.selection import Design
from annotation.importing.tally import Block, draw
from core.files import tables, text_source
from core.files.refusals import FileRefusedError
from tests.annotation.importing.conftest import sample

COUNTS = {"one": 50, "two": 20, "three": 10, "four": 8, "five": 6, "six": 3, "seven": 2, "eight": 1}
SEEDS = 3000
#: 99.9 % of the chi-square distribution; the seeds are fixed, so these tests never fail by chance.
CHI_7 = 24.3


def log(counts=COUNTS):
    return "query,count\n" + "".join(f"{text},{count}\n" for text, count in counts.items())


def of_counts(counts, seed, types=None):
    """Blocks with keys drawn from a seed, in two pieces."""
    order = np.random.default_rng(seed).permutation(len(counts))
    numbers, kinds = np.array(counts, dtype=np.int64), np.array(types or [6] * len(counts), dtype=np.uint8)

    def blocks():
        for part in np.array_split(order, 2):
            yield Block(part.astype(np.int64), numbers[part], kinds[part])

    return blocks


def shares(counts, design, types=None):
    """How often each query is drawn, over many seeds, and the weight it then has."""
    hits, weights = np.zeros(len(counts)), {}
    for seed in range(SEEDS):
        for each in draw(of_counts(counts, seed, types), replace(design, seed=seed)):
            hits[each.ordinal] += 1
            weights.setdefault(each.ordinal, set()).add(each.weight)
    return hits / SEEDS, weights


def chi_square(found, expected):
    """Distance of shares from probabilities, each a binomial variable."""
    uncertain = expected < 1
    spread = expected[uncertain] * (1 - expected[uncertain]) / SEEDS
    return float(((found[uncertain] - expected[uncertain]) ** 2 / spread).sum())


@pytest.mark.long
def test_uniform_gives_every_query_the_same_chance():
    found, weights = shares(list(COUNTS.values()), Design(by="uniform", size=3))
    assert chi_square(found, np.full(8, 3 / 8)) < CHI_7
    assert all(weight == {8 / 3} for weight in weights.values())


@pytest.mark.long
def test_uniform_gives_every_pair_the_same_chance():
    pairs = dict.fromkeys(combinations(range(5), 2), 0)
    for seed in range(SEEDS):
        drawn = sorted(each.ordinal for each in draw(of_counts([1] * 5, seed), Design(by="uniform", size=2)))
        pairs[tuple(drawn)] += 1
    assert max(abs(count / SEEDS - 0.1) for count in pairs.values()) < 0.02


@pytest.mark.long
def test_by_count_every_chance_is_proportional_and_the_great_ones_are_certain():
    # One (50 of 100, size 3) is certain; then two (20 of 50, size 2) has 0.8 and so on.
    counts = list(COUNTS.values())
    found, weights = shares(counts, Design(by="count", size=3))
    expected = np.array([1.0, *(2 * count / 50 for count in counts[1:])])
    assert found[0] == 1
    assert chi_square(found, expected) < CHI_7
    for ordinal, each in weights.items():
        assert list(each) == [pytest.approx(1 / expected[ordinal])]


def test_by_count_the_probabilities_are_exact_over_all_starts():
    # Every start of the systematic walk once: the number of hits is n · count, to the last one.
    counts, size = np.array([7, 1, 5, 3, 4], dtype=np.int64), 2
    total, ends = int(counts.sum()), np.cumsum(counts)
    hits = np.zeros(5, dtype=int)
    for start in range(total):
        points = np.array([(k * total + start) // size for k in range(size)])
        hits += np.searchsorted(points, ends) > np.searchsorted(points, ends - counts)
    assert hits.tolist() == (size * counts).tolist()


def test_by_count_has_its_size_always_and_estimates_without_bias():
    counts = [random.Random(seed).randint(1, 40) for seed in range(60)]
    estimates = []
    for seed in range(400):
        drawn = draw(of_counts(counts, seed), Design(by="count", size=20, seed=seed))
        assert len(drawn) == len({each.ordinal for each in drawn}) == 20
        estimates.append(sum(each.weight for each in drawn))
        assert sum(each.weight * each.count for each in drawn) == pytest.approx(sum(counts))
    assert np.mean(estimates) == pytest.approx(60, rel=0.05)


def test_by_count_draws_as_many_as_there_are_to_draw(write):
    for counts in ([1000, 1, 1, 1], [5, 5, 5, 5], [9, 9, 9, 1, 1, 1, 1], [1]):
        for size in (1, 2, 3, 10):
            drawn = draw(of_counts(counts, 1), Design(by="count", size=size))
            assert len(drawn) == min(size, len(counts)), (counts, size)
    found, _ = sample(write("log.csv", log()), Design(by="count", size=100))
    assert {drawn.weight for drawn, _ in found.values()} == {1.0}
    assert sorted(found) == sorted(COUNTS)


def test_strata_by_count_have_a_third_of_the_lines_each_or_bounds_and_their_quotas():
    counts = [30, 10, 10, 10, *[2] * 10, *[1] * 10]
    design = Design(by="strata", quotas={"head": 1, "torso": 2, "tail": 5})
    drawn = draw(of_counts(counts, 7), design)
    by_name = {name: [each for each in drawn if each.stratum == name] for name in ("head", "torso", "tail")}
    assert [(len(each), each[0].weight) for each in by_name.values()] == [(1, 1.0), (2, 1.5), (5, 4.0)]
    assert {each.count for each in by_name["torso"]} == {10}
    design = Design(by="strata", quotas={"head": 9, "tail": 1}, head_from=20, torso_from=2)
    drawn = draw(of_counts([30, 20, 19, 2, 1, 1], 7), design)
    assert sorted((each.stratum, each.count) for each in drawn) == [("head", 20), ("head", 30), ("tail", 1)]


def test_strata_by_type_take_small_ones_whole_and_share_the_rest():
    types = [0, 1, 1, 1, 1, 1, 6, 6, 6, 6, 6]
    drawn = draw(of_counts([1] * 11, 3, types), Design(by="strata", strata="type", size=7))
    assert sorted(each.stratum for each in drawn) == ["NONE"] * 3 + ["NUMERIC"] * 3 + ["PERSON"]
    assert {each.stratum: each.weight for each in drawn} == {
        "PERSON": 1.0,
        "NUMERIC": pytest.approx(5 / 3),
        "NONE": pytest.approx(5 / 3),
    }


@pytest.mark.parametrize("by", ["uniform", "count", "strata"])
def test_one_seed_gives_one_sample_whatever_the_order_and_the_duplicates(write, by):
    counts = {f"query {number}": number % 9 + 1 for number in range(400)}
    lines = [text for text, count in counts.items() for _ in range(count)]
    shuffled = random.Random(5).sample([line.upper() for line in lines], len(lines))
    design = Design(by=by, size=40, seed=11)
    drawn = [
        {text.casefold(): each.weight for text, (each, _) in sample(path, design)[0].items()}
        for path in (
            write("a.csv", log(counts)),
            write("b.csv", "query\n" + "\n".join(lines)),
            write("c.tsv", "query\n" + "\n".join(shuffled)),
            write("d.jsonl", [{"query": text, "count": count} for text, count in counts.items()]),
        )
    ]
    assert len(drawn[0]) == 40
    assert drawn[0] == drawn[1] == drawn[2] == drawn[3]


@pytest.mark.parametrize(("block", "batch", "hold"), [(64, 3, 5), (1000, 100, 50), (17, 1, 1)])
def test_the_size_of_chunks_changes_nothing(write, monkeypatch, block, batch, hold):
    path = write(
        "log.csv", log({f"query {number}": number + 1 for number in range(200)}) + '"quoted, one",3\n'
    )
    whole = sample(path, Design(by="count", size=20))
    monkeypatch.setattr(text_source, "BLOCK", block)
    monkeypatch.setattr(tables, "BATCH", batch)
    monkeypatch.setattr(tally, "_HOLD", hold)
    small = sample(path, Design(by="count", size=20))
    assert {text: drawn for text, (drawn, _) in small[0].items()} == {
        text: drawn for text, (drawn, _) in whole[0].items()
    }
    assert small[1]["distinct"] == whole[1]["distinct"] == 201


def test_another_seed_gives_another_sample(write):
    path = write("log.csv", log({f"query {number}": 1 for number in range(200)}))
    first, second = (set(sample(path, Design(by="uniform", size=20, seed=seed))[0]) for seed in (1, 2))
    assert len(first & second) < 10


@pytest.mark.long
def test_samples_of_a_file_have_the_distribution_too(write):
    path = write("log.csv", log(dict.fromkeys(COUNTS, 1)))
    hits = dict.fromkeys(COUNTS, 0)
    for seed in range(300):
        for text in sample(path, Design(by="uniform", size=2, seed=seed))[0]:
            hits[text] += 1
    spread = 300 * 0.25 * 0.75
    assert sum((count - 75) ** 2 for count in hits.values()) / spread < CHI_7


@pytest.mark.parametrize(
    ("design", "words"),
    [
        (Design(by="magic"), "no design 'magic'"),
        (Design(by="uniform"), "A sample has 1 to 1,000,000 queries, not 0"),
        (Design(by="uniform", quotas={"head": 1}), "Quotas are for"),
        (Design(by="strata", quotas={"nose": 1}), "no stratum 'nose'; there are: head, torso, tail"),
        (Design(by="strata", size=3, head_from=3), "bounded both"),
        (Design(by="uniform", size=1, seed=2**63), "64 bits"),
    ],
)
def test_designs_that_make_no_sense_are_refused(design, words):
    with pytest.raises(ValueError, match=words):
        draw(of_counts([1], 1), design)


def test_more_than_a_million_queries_are_not_imported_at_once():
    def blocks():
        yield Block(np.arange(1_000_001), np.ones(1_000_001, dtype=np.int64), np.full(1_000_001, 6, np.uint8))

    with pytest.raises(FileRefusedError, match="one import takes 1,000,000 at most: draw a sample"):
        draw(blocks, Design())
