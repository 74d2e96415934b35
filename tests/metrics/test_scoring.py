import os
import signal

import numpy as np
import pytest

from metrics import Answers, MetricError, metric
from metrics import scoring as parallel
from metrics.scoring import GrowingCrew, ProcessMetrics, in_chunks, lighter, score, score_chunks
from metrics.texts import ChunkValues, Metric, Survey
from tests.metrics.answers.drawn import WORDS

NAMES = ("bleu-1", "bleu-4", "rouge-1-stem", "rouge-l", "chrf", "exact", "f1", "length")


def answers_of(n, *, seed=0, systems=None):
    rng = np.random.default_rng(seed)

    def text():
        return " ".join(rng.choice(WORDS, rng.integers(0, 12)).tolist())

    return Answers(
        [text() for _ in range(n)],
        [[text() for _ in range(rng.integers(0, 4))] for _ in range(n)],
        systems=systems,
    )


def bits(values):
    return {name: column.tobytes() for name, column in values.items()}


def whole(scoring, names):
    chunks = list(scoring.values())
    return {name: np.concatenate([chunk[name] for chunk in chunks]) for name in names}


def share(chunk, found):
    return ChunkValues(np.array([len(text) / found for text in chunk.answers.candidates]))


def longest(chunk):
    return max(map(len, chunk.answers.candidates))


LONGEST = Metric(
    "share",
    "Share of the longest",
    "metric:share|v:1",
    share,
    survey=Survey(longest, max),
)


def test_any_number_of_processes_gives_the_same_bits_in_the_same_order():
    answers = answers_of(200, systems=["one", "two"] * 100)
    metrics = [*(metric(name) for name in NAMES), LONGEST]  # of which one surveys all chunks before
    chunks = in_chunks(answers, 17)

    alone = score_chunks(chunks, metrics)
    spread = score_chunks(chunks, metrics, processes=2)

    values = whole(alone, [*NAMES, "share"])
    assert bits(whole(spread, [*NAMES, "share"])) == bits(values)
    assert values["share"].max() == 1
    assert spread.corpus() == alone.corpus()
    assert spread.systems() == alone.systems()
    assert spread.undefined == alone.undefined


def test_the_size_of_chunks_makes_no_difference_to_values():
    answers = answers_of(100)
    metrics = [metric(name) for name in NAMES]

    small = whole(score_chunks(in_chunks(answers, 7), metrics), NAMES)

    assert bits(small) == bits(score(answers, metrics).values)


def test_values_that_are_not_defined_are_counted_by_reason():
    answers = Answers(["a", "b", "c"], [["a"], [], []])

    found = score(answers, [metric("rouge-l"), metric("length")])

    assert np.isnan(found.values["rouge-l"]).tolist() == [False, True, True]
    assert found.undefined == {"rouge-l": {"there is no reference": 2}, "length": {}}
    assert found.corpus["rouge-l"] == 1.0


def test_a_corpus_has_no_score_where_nothing_is_defined():
    metrics = [metric(name) for name in ("bleu-4", "chrf", "rouge-l")]

    assert score(Answers([], []), metrics).corpus == {"bleu-4": None, "chrf": None, "rouge-l": None}
    assert score(Answers(["a"], [[]]), metrics).corpus == {"bleu-4": None, "chrf": None, "rouge-l": None}
    assert score(Answers([""], [[""]]), metrics).corpus == {"bleu-4": 0.0, "chrf": 0.0, "rouge-l": 0.0}


def test_each_system_has_the_corpus_scores_of_its_own_answers():
    names = ["one", "two", "two", "three", "one"] * 8
    answers = answers_of(40, systems=names)
    metrics = [metric(name) for name in ("bleu-4", "chrf", "rouge-l")]

    found = score(answers, metrics).systems

    for system in ("one", "two", "three"):
        own = answers.part([row for row, name in enumerate(names) if name == system])
        for name, corpus in score(own, metrics).corpus.items():
            assert found[name][system] == pytest.approx(corpus, rel=1e-12)


def test_a_metric_that_sums_chunks_only_is_measured_system_by_system():
    bleu = metric("bleu-4")
    without_rows = Metric(
        "bleu-4",
        bleu.title,
        bleu.signature,
        lambda chunk, found: ChunkValues(bleu.of(chunk).values, bleu.of(chunk).sums),
        corpus=bleu.corpus,
    )
    answers = answers_of(30, systems=["one", "two"] * 15)

    assert score(answers, [without_rows]).systems == score(answers, [bleu]).systems


def test_what_each_candidate_adds_gives_the_corpus_score_of_any_choice_of_candidates():
    answers = answers_of(30)
    bleu = metric("bleu-4")

    rows = score(answers, [bleu]).rows["bleu-4"]

    chosen = [3, 4, 11, 29]
    assert bleu.corpus(rows[chosen].sum(0)) == score(answers.part(chosen), [bleu]).corpus["bleu-4"]


def test_the_corpus_can_be_asked_for_before_the_values():
    answers = answers_of(20)
    scoring = score_chunks(in_chunks(answers, 5), [metric("bleu-4")])

    assert scoring.corpus() == score(answers, [metric("bleu-4")]).corpus


def test_long_texts_are_scored_in_lighter_parts_with_the_same_result(monkeypatch):
    answers = answers_of(60, systems=["one", "two", "three"] * 20)
    metrics = [metric(name) for name in (*NAMES, "cider")]
    whole = score(answers, metrics)

    monkeypatch.setattr("metrics.scoring.HEAVIEST", 300)
    assert len(list(lighter(answers))) > 10
    parts = score(answers, metrics)

    assert bits(parts.values) == bits(whole.values)
    assert parts.undefined == whole.undefined
    for name in NAMES:
        assert parts.corpus[name] == pytest.approx(whole.corpus[name], rel=1e-12)
        assert parts.systems[name] == pytest.approx(whole.systems[name], rel=1e-12)


def test_an_answer_that_is_too_heavy_is_a_part_of_its_own(monkeypatch):
    monkeypatch.setattr("metrics.scoring.HEAVIEST", 10)

    parts = list(lighter(Answers(["a" * 30, "b", "c", "d" * 9], [["x"], ["y"], [], []])))

    assert [len(part) for part in parts] == [1, 2, 1]
    assert [list(part.candidates) for part in parts[1:]] == [["b", "c"], ["d" * 9]]


def test_progress_is_told_in_candidates():
    heard = []

    list(score_chunks(in_chunks(answers_of(10), 4), [metric("exact")], progress=heard.append).values())

    assert heard == [4, 8, 10]


def test_chunks_are_taken_only_as_they_are_needed():
    taken = []

    def chunks():
        for place in range(20):
            taken.append(place)
            yield answers_of(3)

    values = score_chunks(chunks, [metric("exact")], processes=2).values()
    next(values)
    values.close()

    assert len(taken) <= 5


def fails(chunk, found):
    raise MetricError("This metric cannot do that.")


def kills(chunk, found):
    os.kill(os.getpid(), signal.SIGKILL)


def tell_process(chunk, found):
    return ChunkValues(np.full(len(chunk), float(os.getpid())))


TELLS_PROCESS = Metric("process", "Process", "metric:process", tell_process)


def processes_of(metric, *, patience):
    with GrowingCrew(ProcessMetrics([metric], [None]), 2, patience) as crew:
        return [int(part.values[0]) for [part] in crew.score(answers_of(1) for _ in range(5))]


def test_work_that_takes_no_time_is_done_in_this_process_alone():
    assert processes_of(TELLS_PROCESS, patience=float("inf")) == [os.getpid()] * 5


def test_work_that_goes_on_is_done_by_others_after_the_first_chunk():
    first, *rest = processes_of(TELLS_PROCESS, patience=0)

    assert first == os.getpid()
    assert len(rest) == 4
    assert os.getpid() not in rest


def test_a_metric_that_cannot_travel_stays_where_the_number_of_processes_is_left_open(monkeypatch):
    asked = []
    monkeypatch.setattr(
        parallel, "_packed", lambda here, pack=parallel._packed: asked.append(1) or pack(here)
    )
    at_home = Metric("mine", "Mine", "metric:mine", lambda *given: tell_process(*given))  # noqa: PLW0108

    assert processes_of(at_home, patience=0) == [os.getpid()] * 5
    assert len(asked) == 1


def kills_others(chunk, found):
    if os.getpid() != found:
        os.kill(os.getpid(), signal.SIGKILL)
    return ChunkValues(np.zeros(len(chunk)))


def test_others_that_are_killed_end_the_work_with_an_error():
    killed = Metric("killed", "Killed", "metric:killed", kills_others)

    with (
        GrowingCrew(ProcessMetrics([killed], [os.getpid()]), 2, 0) as crew,
        pytest.raises(MetricError, match=r"ended from outside.*fewer processes"),
    ):
        list(crew.score(answers_of(1) for _ in range(5)))


def test_an_open_number_of_processes_gives_the_same_bits(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(parallel, "PATIENCE", 0.0)
    answers = answers_of(60, systems=["one", "two"] * 30)
    metrics = [metric("bleu-4"), metric("cider")]

    alone = score_chunks(in_chunks(answers, 17), metrics)
    grown = score_chunks(in_chunks(answers, 17), metrics, processes=0)

    assert bits(whole(grown, ["bleu-4", "cider"])) == bits(whole(alone, ["bleu-4", "cider"]))
    assert grown.corpus() == alone.corpus()


def test_the_error_of_a_metric_in_another_process_is_its_own():
    broken = Metric("broken", "Broken", "metric:broken", fails)

    with pytest.raises(MetricError, match="This metric cannot do that"):
        score(answers_of(5), [broken], processes=2)


def test_a_process_that_is_killed_is_an_error_with_a_remedy():
    killed = Metric("killed", "Killed", "metric:killed", kills)

    with pytest.raises(MetricError, match=r"ended from outside.*fewer processes"):
        score(answers_of(5), [killed], processes=2)


def test_a_metric_that_cannot_travel_says_how_it_could():
    at_home = Metric("mine", "Mine", "metric:mine", lambda chunk, found: ChunkValues(np.zeros(len(chunk))))

    with pytest.raises(MetricError, match=r"mine cannot be sent.*metrics\.metric"):
        score(answers_of(5), [at_home], processes=2)


def test_a_metric_without_what_it_needs_says_what_is_missing():
    needy = Metric("needy", "Needy", "metric:needy", fails, needs=frozenset({"reference_labels"}))

    with pytest.raises(MetricError, match="needy needs reference labels, which are not given"):
        score(answers_of(2), [needy])


def test_a_metric_named_twice_is_refused():
    with pytest.raises(ValueError, match="named twice: exact"):
        score(answers_of(2), [metric("exact"), metric("EXACT")])
