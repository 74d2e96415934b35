"""Scoring answers beside sacrebleu, rouge-score and coco-caption, and statistics of metrics beside scipy.

    python -m benchmarks.metrics [--answers 40960] [--sample 2000] [--stream 100000 1000000] [--only PART]

Every answer and every reference is another text; a pair is an answer and a reference. Peers score a sample in
the same run, and how far their values are from ours is told. A stream is scored in a process of its own with
three references for each answer, made as it is read. pa-BLEU has 20 references.
"""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from importlib.metadata import version
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import common
from benchmarks.common import Figure, run_step, time_best
from metrics import Answers, metric
from metrics.profiles import Profile
from metrics.scoring import score_chunks

WORDS, CHUNK, LONGEST = 30_000, 4096, 40
TOGETHER, STREAM = ("bleu-4", "rouge-l"), ("bleu-4", "rouge-l", "chrf")
SINGLE = ("bleu-4", "rouge-l", "rouge-1-stem", "chrf", "f1", "cider", "meteor")
#: Pairs a second of BLEU-4 and ROUGE-L in one process, and of all cores; candidates a second of pa-BLEU.
GOAL, GOAL_OF_ALL, GOAL_PA = 100_000, 200_000, 20_000
PA_REFERENCES, PA_PER_QUESTION = 20, 5

Floats = NDArray[np.float64]


# Texts


def chunks(count: int, references: int) -> Iterator[Answers]:
    """Answers of an invented language, made as they are read.

    Words are as frequent as in English texts, a reference shares about six words in ten with its answer, and
    answers have a median of 15 words, as those of MS MARCO do.
    """
    rng = np.random.default_rng(0)
    letters, odds = np.array(list("etaoinshrdlcumwfgypbvkjxqz")), 1 / np.arange(2, 28) ** 0.8
    sizes = np.clip(rng.poisson(1 + np.log1p(np.arange(WORDS)) / 2, WORDS), 1, 14)
    words = np.array(
        ["".join(rng.choice(letters, size, p=odds / odds.sum()).tolist()) for size in sizes.tolist()], object
    )
    steps = np.cumsum(1 / np.arange(1, WORDS + 1))
    steps /= steps[-1]
    for place, start in enumerate(range(0, count, CHUNK)):
        rng = np.random.default_rng((1, place))
        shape = (min(CHUNK, count - start), LONGEST)
        own = np.searchsorted(steps, rng.random(shape))
        texts = [_write(own, words, rng)]
        for _ in range(references):
            other = np.searchsorted(steps, rng.random(shape))
            texts.append(_write(np.where(rng.random(shape) < 0.6, own, other), words, rng))
        yield Answers(texts[0], list(zip(*texts[1:], strict=True)))


def _write(numbers: NDArray[Any], words: NDArray[Any], rng: np.random.Generator) -> list[str]:
    sizes = np.clip(rng.lognormal(np.log(15), 0.4, len(numbers)).astype(int), 2, LONGEST).tolist()
    rows = words[numbers].tolist()
    return [" ".join(row[:size]).capitalize() + "." for row, size in zip(rows, sizes, strict=True)]


# Ours


def measure_ours(count: int, _sample: int) -> Iterator[Figure]:
    """One process, then as many as it is worth, of a table ten times as long."""
    for references in (1, 3):
        data = list(chunks(count, references))
        for names in (TOGETHER, *((name,) for name in SINGLE)):
            rate, note = _rate(data, names, count * references, processes=1)
            goal = f"≥ {GOAL:,}/s" if names == TOGETHER else ""
            title = f"{' and '.join(names)}, {references} reference{'s' if references > 1 else ''}"
            yield Figure(title, f"{rate:,.0f} pairs/s", goal, rate >= GOAL if goal else None, note)
    rate, note = _rate(list(chunks(count * 10, 1)), TOGETHER, count * 10, processes=0)
    title = f"{' and '.join(TOGETHER)}, {count * 10:,} answers, all cores"
    yield Figure(title, f"{rate:,.0f} pairs/s", f"≥ {GOAL_OF_ALL:,}/s", rate >= GOAL_OF_ALL, note)


def _rate(data: list[Answers], names: Sequence[str], pairs: int, *, processes: int) -> tuple[float, str]:
    def score() -> None:
        for _ in score_chunks(
            lambda: iter(data), [metric(name) for name in names], processes=processes
        ).values():
            pass

    clock, processor = time_best(score)
    return pairs / clock, f"{pairs / processor:,.0f} per second of processor"


# Peers


def measure_peers(_count: int, sample: int) -> Iterator[Figure]:
    """Others on a sample with one reference, and how far their values are from ours."""
    data = next(chunks(sample, 1))
    answers, references = list(data.candidates), [list(texts) for texts in data.references]
    for name, score, ours in list_peers(answers, references):
        begin = time.perf_counter()
        values = np.asarray(score())
        seconds = time.perf_counter() - begin
        distance = float(np.abs(values - ours.score(answers, references)).max())
        own, _ = time_best(lambda ours=ours: ours.score(answers, references))
        note = f"ours on the same {sample / own:,.0f}; differs from ours by at most {distance:.0e}"
        yield Figure(name, f"{sample / seconds:,.0f} pairs/s", note=note)


def list_peers(
    answers: Sequence[str], references: Sequence[list[str]]
) -> Iterator[tuple[str, Callable[[], Sequence[float]], Any]]:
    """The name of each, what scores the sample, and our metric of the same definition."""
    from pycocoevalcap.cider.cider import Cider
    from pycocoevalcap.rouge.rouge import Rouge
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.tokenizers import DefaultTokenizer
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    from metrics import tokens

    # rouge-score's own tokeniser, so that values can be compared
    tokens.TOKENISERS["rouge-score"] = tokens.Tokeniser("rouge-score", DefaultTokenizer(False).tokenize)
    plain = Profile("spaces", "", (), "whitespace", {"rouge": {"beta": 1.2, "refs": "separate"}})
    words = Profile("words", "", (), "default", {"rouge": {"tokeniser": "rouge-score"}})
    rows = list(zip(answers, references, strict=True))
    bleu, chrf = BLEU(tokenize="none", effective_order=True), CHRF()
    rouge, coco = RougeScorer(["rougeL"]), Rouge()
    numbered = {place: [answer] for place, answer in enumerate(answers)}
    sacrebleu, caption = f"sacrebleu {version('sacrebleu')}", f"coco-caption {version('pycocoevalcap')}"
    yield (
        f"{sacrebleu}, sentence BLEU",
        lambda: [bleu.sentence_score(answer, texts).score / 100 for answer, texts in rows],
        metric("bleu-4", plain),
    )
    yield (
        f"{sacrebleu}, chrF",
        lambda: [chrf.sentence_score(answer, texts).score / 100 for answer, texts in rows],
        metric("chrf", plain),
    )
    yield (
        f"rouge-score {version('rouge-score')}, ROUGE-L",
        lambda: [rouge.score(texts[0], answer)["rougeL"].fmeasure for answer, texts in rows],
        metric("rouge-l", words),
    )
    yield (
        f"{caption}, ROUGE-L",
        lambda: [coco.calc_score([answer], texts) for answer, texts in rows],
        metric("rouge-l", plain),
    )
    yield (
        f"{caption}, CIDEr-D",
        lambda: Cider().compute_score(dict(enumerate(references)), numbered)[1],
        metric("cider", plain),
    )


# pa-BLEU


def measure_pa_bleu(_count: int, sample: int) -> Iterator[Figure]:
    """Candidates a second, with the importance of references made on the way and known; sacrebleu."""
    from sacrebleu.metrics.bleu import BLEU

    draw = random.Random(7)
    vocabulary = [f"w{number}" for number in range(20_000)]
    odds = [1 / (1 + number) for number in range(len(vocabulary))]

    def vary(text: Sequence[str]) -> str:
        other = draw.choices(vocabulary, odds, k=len(text))
        return " ".join(b if draw.random() < 0.3 else a for a, b in zip(text, other, strict=True))

    candidates, references = [], []
    for _ in range(sample):
        answer = draw.choices(vocabulary, odds, k=20)
        candidates += [vary(answer) for _ in range(PA_PER_QUESTION)]
        references += [[vary(answer) for _ in range(PA_REFERENCES)]] * PA_PER_QUESTION
    ours, bleu = metric("pa-bleu-4"), BLEU(tokenize="none", effective_order=True)

    def score() -> list[Floats]:
        starts = range(0, len(candidates), CHUNK)
        return [ours.score(candidates[at : at + CHUNK], references[at : at + CHUNK]) for at in starts]

    def score_naively(candidate: str, texts: Sequence[str]) -> float:
        def similarity(one: str, other: str) -> float:
            return float(bleu.sentence_score(one, [other]).score) / 100

        weights = [sum(similarity(one, other) for other in texts) for one in texts]
        return sum(similarity(candidate, one) * w for one, w in zip(texts, weights, strict=True)) / sum(
            weights
        )

    for name in ("importance made on the way", "importance known"):
        begin = time.perf_counter()
        values = np.concatenate(score())
        rate = len(candidates) / (time.perf_counter() - begin)
        title = f"pa-bleu-4, {PA_REFERENCES} references, {name}"
        yield Figure(title, f"{rate:,.0f} candidates/s", f"≥ {GOAL_PA:,}/s", rate >= GOAL_PA)
    few = range(0, len(candidates), max(1, len(candidates) // 10))
    begin = time.perf_counter()
    naive = [score_naively(candidates[row], references[row]) for row in few]
    rate = len(few) / (time.perf_counter() - begin)
    distance = float(np.abs(values[list(few)] - naive).max())
    yield Figure("sacrebleu, every pair", f"{rate:,.0f} candidates/s", note=f"differs by {distance:.0e}")


# Metrics and people


def measure_statistics(count: int, _sample: int) -> Iterator[Figure]:
    """Tests of all pairs of 20 metrics, 9,999 draws, beside scipy's correlation in a loop; correlations."""
    from scipy import stats

    from metrics.metaeval.bootstrap import KINDS, intervals
    from metrics.metaeval.correlation import correlate
    from metrics.metaeval.significance import compared

    scores = make_scores(max(20, count // 40), 20)
    pairs = list(combinations(scores.metrics, 2))
    for statistic, method in (
        ("pearson", "perm_inputs"),
        ("kendall", "perm_inputs"),
        ("pearson", "bootstrap"),
    ):
        clock, _ = time_best(
            lambda s=statistic, m=method: compared(scores, pairs, s, "global", m, draws=9999), 1
        )
        yield Figure(f"{method} of {statistic}, {len(pairs)} pairs", f"{clock:.2f} s", "< 30 s", clock < 30)
    one, two = (stats.zscore(scores.metrics[name]) for name in list(scores.metrics)[:2])
    swaps = np.random.default_rng(1).integers(0, 2, (100, scores.questions.max() + 1)) > 0

    def correlate_in_loop() -> None:
        for swap in swaps:
            stats.pearsonr(scores.human, np.where(swap[scores.questions], one, two))
            stats.pearsonr(scores.human, np.where(swap[scores.questions], two, one))

    clock, _ = time_best(correlate_in_loop, 1)
    total = clock * 9999 * len(pairs) / 100
    yield Figure("scipy: pearsonr in a loop", f"{total:,.0f} s", note="from 100 draws of one pair")
    for kind in KINDS:
        clock, _ = time_best(lambda kind=kind: intervals(scores, ["metric-00"], kind=kind), 1)
        yield Figure(f"{kind}: intervals of one metric, 1,000 samples", f"{clock:.2f} s")
    large = make_scores(count, 1)
    for statistic, peer in (
        ("pearson", stats.pearsonr),
        ("spearman", stats.spearmanr),
        ("kendall", stats.kendalltau),
    ):
        clock, _ = time_best(lambda s=statistic: correlate(large, "metric-00", s, "global").value)
        other, _ = time_best(lambda peer=peer: peer(large.human, large.metrics["metric-00"]))
        yield Figure(f"{statistic} of {count * 5:,} answers", f"{clock:.3f} s", note=f"scipy {other:.3f} s")


def make_scores(questions: int, metrics: int) -> Any:
    """Scores of five systems whose truth is known: metric k has a noise of 1 + k / 10 deviations."""
    from metrics.metaeval.data import ScoredAnswers

    rng = np.random.default_rng(7)
    quality = rng.normal(0, 1, questions * 5)
    return ScoredAnswers(
        human=np.round(np.clip(3 + quality, 1, 5) * 3) / 3,
        metrics={f"metric-{k:02}": quality + rng.normal(0, 1 + k / 10, len(quality)) for k in range(metrics)},
        systems=np.tile(np.arange(5), questions).astype(np.int32),
        questions=np.repeat(np.arange(questions), 5).astype(np.int32),
        system_names=[f"system {k}" for k in range(5)],
        question_names=[f"question {k:07}" for k in range(questions)],
    )


# Streams


def score_stream(count: int, processes: int) -> None:
    """Score a stream that is made as it is read."""
    scoring = score_chunks(lambda: chunks(count, 3), [metric(name) for name in STREAM], processes=processes)
    assert sum(len(values[STREAM[0]]) for values in scoring.values()) == count


def measure_streams(sizes: Sequence[int], processes: int) -> Iterator[Figure]:
    """Streams of several sizes: their memory should be the same."""
    for count in sizes:
        answer = run_step("benchmarks.metrics", "stream", count, processes)
        rate = count * 3 / answer["seconds"]
        title = f"{count:,} answers with 3 references, {', '.join(STREAM)}, {processes} processes"
        yield Figure(title, f"{rate:,.0f} pairs/s, {answer['peak_mib']:.0f} MiB", "constant memory")


PARTS = {
    "ours": measure_ours,
    "peers": measure_peers,
    "pa-bleu": measure_pa_bleu,
    "statistics": measure_statistics,
}


def main() -> None:
    """Print the tables."""
    parser = common.parser_of(__doc__)
    parser.add_argument("--answers", type=int, default=40_960)
    parser.add_argument("--sample", type=int, default=2_000)
    parser.add_argument("--stream", type=int, nargs="*", default=[100_000, 1_000_000])
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", choices=[*PARTS, "streams"])
    options = parser.parse_args()
    if options.step:
        common.answer_step({"stream": score_stream}, options.step)
        return
    print(common.describe_machine("numpy", "scipy", "rapidfuzz"))
    for name, part in PARTS.items():
        if options.only in (None, name):
            common.print_table(f"Metrics: {name}", part(options.answers, options.sample))
    if options.only in (None, "streams"):
        common.print_table("Metrics: streams", measure_streams(options.stream, options.processes))


if __name__ == "__main__":
    main()
