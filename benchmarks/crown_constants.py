"""Chooses the constants of `balanced` by nested cross-validation on judged sets; prints what they are worth.

    python benchmarks/crown_constants.py FOLDER [--most 700] [--features FILE.npz] [--markdown FILE]

FOLDER holds one folder per set, as for `retrieval_quality.py`. BM25's best 100 passages of every query are
scored once; then every candidate (a form and its constants) is a sum of columns, and all take a minute.

Outer folds are whole sets (each is left out once) and, apart from that, five folds of queries, by
conversation. For each outer fold the form is chosen by leaving out each of the remaining sets in turn, and
its constants on all that remain; the fold itself is looked at once, for the printed figure. The criterion is
the mean gain over sets in nDCG@10 over BM25, less what a task loses beyond .005.
"""

import argparse
import json
import sys
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.retrieval_quality import DEPTH, table, tasks_of  # noqa: E402  # the path must be there first
from retrieval.errors import EmptyQueryError  # noqa: E402
from retrieval.ranking.crown import Crown, question_length  # noqa: E402
from retrieval.ranking.folder import temporary_collection  # noqa: E402
from retrieval.ranking.parameters import defaults  # noqa: E402
from retrieval.ranking.systems import FUSION_K  # noqa: E402

COLUMNS = ("bm25", "node", "edge", "pos", "coverage", "early", "feedback")
CUTOFF = 10
#: What a task may lose before it counts against a candidate.
ALLOWED_LOSS = 0.005
FOLDS = 5
DRAWS = 2000

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Candidate:
    """A form and its constants: weights beside bm25's 1. `half` 0: whatever the length of the question.

    form: constant (no length), fade (coverage fades), fade+feedback, or either as rrf with bm25.
    """

    form: str
    network: float
    coverage: float
    early: float
    feedback: float = 0.0
    half: float = 0.0
    power: float = 4.0
    fused: bool = False


def candidates() -> Iterator[Candidate]:
    """All that are tried; the first is BM25 itself."""
    yield Candidate("bm25", 0, 0, 0)
    grid = list(product((0.0, 0.05), (0.0, 0.15, 0.3, 0.6), (0.0, 0.15, 0.3, 0.45, 0.6)))
    for network, coverage, early in grid:
        if not network + coverage + early:
            continue
        yield Candidate("constant", network, coverage, early)
        if network:
            yield Candidate("rrf", network, coverage, early, fused=True)
        if not coverage + early:
            continue
        for half, power in product((6.0, 8.0, 11.0), (2.0, 4.0)):
            yield Candidate("fade", network, coverage, early, 0, half, power)
            if network:
                for feedback in (0.1, 0.2, 0.3, 0.4):
                    yield Candidate("fade+feedback", network, coverage, early, feedback, half, power)
                yield Candidate("rrf", network, coverage, early, 0.3, half, power, fused=True)


# What every passage has


@dataclass(frozen=True)
class TaskColumns:
    """A task: columns (queries, 100) as shares of the best, grades, ideal DCG, lengths, folds of queries."""

    name: str
    parts: Mapping[str, Floats]
    there: NDArray[np.bool_]
    grades: Floats
    ideal: Floats
    lengths: Floats
    folds: NDArray[np.int64]
    units: NDArray[np.int64]

    @property
    def set_name(self) -> str:
        """The folder that it is of."""
        return self.name.rsplit(" ", 1)[0]


def task_columns(folder: Path, most: int) -> Iterator[TaskColumns]:
    """The tasks of a set, each query asked once by `balanced`."""
    ranker = Crown(defaults())
    with temporary_collection(folder / "passages.jsonl") as collection:
        for task in tasks_of(folder, most):
            print(task.name, file=sys.stderr, flush=True)
            n = len(task.questions)
            parts = {name: np.zeros((n, DEPTH)) for name in COLUMNS}
            there, grades = np.zeros((n, DEPTH), bool), np.zeros((n, DEPTH))
            ideal, lengths, units = np.zeros(n), np.zeros(n), np.zeros(n, np.int64)
            for row, question in enumerate(task.questions):
                judged = task.qrels.grades[question.id]
                best = sorted((grade for grade in judged.values() if grade > 0), reverse=True)[:CUTOFF]
                ideal[row] = sum(grade / np.log2(rank + 1) for rank, grade in enumerate(best, 1))
                units[row] = zlib.crc32(question.conversation.encode())
                lengths[row] = question_length(collection.language, question.turns, ranker.parameters)
                try:
                    results = ranker.rank([collection], question.turns, DEPTH).results
                except EmptyQueryError:
                    continue
                for hit in results:
                    place = (hit.found_at or hit.rank) - 1
                    there[row, place] = True
                    grades[row, place] = max(judged.get(collection.key(hit.pk), 0), 0)
                    for name in COLUMNS:
                        parts[name][row, place] = (hit.raw or hit.parts).get(name, 0.0)
            shares = {name: _shares(column) for name, column in parts.items()}
            yield TaskColumns(task.name, shares, there, grades, ideal, lengths, units % FOLDS, units)


def _shares(column: Floats) -> Floats:
    largest = column.max(axis=1, keepdims=True)
    return np.asarray(column / np.where(largest > 0, largest, 1))


# What a candidate is worth


def score(task: TaskColumns, candidate: Candidate) -> Floats:
    """(queries, 100) final scores, as docs/crown.md has them."""
    parts = task.parts
    fade = np.ones(len(task.lengths))
    if candidate.half:
        fade = 1 / (1 + (task.lengths / candidate.half) ** candidate.power)
    fade = fade[:, np.newaxis]
    found = parts["bm25"] + candidate.network * (parts["node"] + parts["edge"] + parts["pos"])
    found = found + fade * (candidate.coverage * parts["coverage"] + candidate.early * parts["early"])
    found = found + (1 - fade) * candidate.feedback * parts["feedback"]
    if candidate.fused:
        own = np.arange(1, DEPTH + 1)
        found = 1 / (FUSION_K + own) + 1 / (FUSION_K + _ranks(found, task.there))
    return np.asarray(found)


def _ordered(scores: Floats, there: NDArray[np.bool_]) -> Floats:
    return np.where(there, np.round(scores, 10), -np.inf)


def _ranks(scores: Floats, there: NDArray[np.bool_]) -> NDArray[np.int64]:
    order = np.argsort(-_ordered(scores, there), axis=1, kind="stable")
    ranks = np.empty_like(order)
    np.put_along_axis(ranks, order, np.arange(1, DEPTH + 1)[np.newaxis], axis=1)
    return ranks


def ndcg(task: TaskColumns, scores: Floats) -> Floats:
    """(queries,) nDCG@10 with the grade as gain; equals stay in the order of the engine."""
    scores = _ordered(scores, task.there)
    kept = np.argpartition(-scores + np.arange(DEPTH) * 1e-9, CUTOFF - 1, axis=1)[:, :CUTOFF]
    kept.sort(axis=1)
    order = np.argsort(-np.take_along_axis(scores, kept, axis=1), axis=1, kind="stable")
    gains = np.take_along_axis(task.grades, np.take_along_axis(kept, order, axis=1), axis=1)
    return np.asarray(gains @ (1 / np.log2(np.arange(2, CUTOFF + 2))) / task.ideal)


def all_gains(tasks: Sequence[TaskColumns], tried: Sequence[Candidate]) -> list[Floats]:
    """For each task (candidates, queries): nDCG@10 less BM25's."""
    return [
        np.stack([ndcg(task, score(task, each)) for each in tried])
        - ndcg(task, np.asarray(task.parts["bm25"]))
        for task in tasks
    ]


# The choice


@dataclass(frozen=True)
class Fold:
    """What the choice sees: for each set, the (candidates,) means of its tasks."""

    groups: Sequence[Sequence[Floats]]

    def without(self, place: int) -> "Fold":
        """All groups but one."""
        return Fold([group for number, group in enumerate(self.groups) if number != place])

    def criterion(self) -> Floats:
        """(candidates,) mean over sets of the means of their tasks, less what tasks lose too much."""
        means = np.mean([np.mean(group, axis=0) for group in self.groups], axis=0)
        lost = [np.maximum(0, -ALLOWED_LOSS - task) for group in self.groups for task in group]
        return np.asarray(means - np.sum(lost, axis=0) / len(self.groups))


def choose(tried: Sequence[Candidate], seen: Fold) -> int:
    """The candidate: the form by leaving out each group once, then its constants on all groups."""
    forms = sorted({each.form for each in tried})
    of_form = {form: np.array([each.form == form for each in tried]) for form in forms}
    worth = {}
    for form, mine in of_form.items():
        left_out = []
        for place, group in enumerate(seen.groups):
            best = int(np.where(mine, seen.without(place).criterion(), -np.inf).argmax())
            one = Fold([group]).criterion()[best]
            left_out.append(one)
        worth[form] = float(np.mean(left_out))
    form = max(forms, key=lambda name: worth[name])
    return int(np.where(of_form[form], seen.criterion(), -np.inf).argmax())


def by_set(tasks: Sequence[TaskColumns], gains: Sequence[Floats]) -> tuple[list[str], Fold]:
    """Every set as a group."""
    names = list(dict.fromkeys(task.set_name for task in tasks))
    means = [
        [gain.mean(axis=1) for task, gain in zip(tasks, gains, strict=True) if task.set_name == name]
        for name in names
    ]
    return names, Fold(means)


def nested_by_set(
    tasks: Sequence[TaskColumns], gains: Sequence[Floats], tried: Sequence[Candidate]
) -> dict[str, int]:
    """The candidate of every task when its set was left out of the choice."""
    names, fold = by_set(tasks, gains)
    chosen = {name: choose(tried, fold.without(place)) for place, name in enumerate(names)}
    return {task.name: chosen[task.set_name] for task in tasks}


def nested_by_query(
    tasks: Sequence[TaskColumns], gains: Sequence[Floats], tried: Sequence[Candidate]
) -> list[Floats]:
    """For each task (queries,): the gain of the candidate that was chosen without the query's fold."""
    found = [np.zeros(gain.shape[1]) for gain in gains]
    for number in range(FOLDS):
        kept = [gain[:, task.folds != number] for task, gain in zip(tasks, gains, strict=True)]
        _, fold = by_set(tasks, kept)
        best = choose(tried, fold)
        for task, gain, mine in zip(tasks, gains, found, strict=True):
            mine[task.folds == number] = gain[best, task.folds == number]
    return found


def interval(values: Floats, units: NDArray[np.int64]) -> tuple[float, float]:
    """95 %, by drawing whole conversations with replacement."""
    rng = np.random.default_rng(0)
    _, of = np.unique(units, return_inverse=True)
    sums, counts = np.bincount(of, values), np.bincount(of)
    draws = rng.integers(0, len(sums), (DRAWS, len(sums)))
    means = sums[draws].sum(axis=1) / counts[draws].sum(axis=1)
    low, high = np.percentile(means, [2.5, 97.5])
    return float(low), float(high)


# The report


def rows_of(
    tasks: Sequence[TaskColumns], gains: Sequence[Floats], tried: Sequence[Candidate]
) -> tuple[list[dict[str, Any]], Candidate]:
    """A row for each task with the nested figures, and the candidate that all data choose."""
    sets = nested_by_set(tasks, gains, tried)
    queries = nested_by_query(tasks, gains, tried)
    _, fold = by_set(tasks, gains)
    best = choose(tried, fold)
    rows = []
    for task, gain, mine in zip(tasks, gains, queries, strict=True):
        left_out = gain[sets[task.name]]
        rows.append(
            {
                "task": task.name,
                "set": task.set_name,
                "queries": len(task.lengths),
                "length": float(np.median(task.lengths)),
                "bm25": float(ndcg(task, np.asarray(task.parts["bm25"])).mean()),
                "by_set": float(left_out.mean()),
                "by_set_95": interval(left_out, task.units),
                "by_query": float(mine.mean()),
                "by_query_95": interval(mine, task.units),
                "chosen_on_all": float(gain[best].mean()),
                "chosen": asdict(tried[sets[task.name]]),
            }
        )
    return rows, tried[best]


def mean_over_sets(rows: Sequence[Mapping[str, Any]], name: str) -> float:
    """The mean over sets of the means of their tasks."""
    sets = dict.fromkeys(row["set"] for row in rows)
    return float(np.mean([np.mean([row[name] for row in rows if row["set"] == one]) for one in sets]))


def forms_table(
    tasks: Sequence[TaskColumns], gains: Sequence[Floats], tried: Sequence[Candidate]
) -> list[list[str]]:
    """Every form with its constants nested by set: mean over sets, worst task."""
    found = []
    for form in dict.fromkeys(each.form for each in tried):
        mine = [number for number, each in enumerate(tried) if each.form == form]
        few = [gain[mine] for gain in gains]
        own = [tried[number] for number in mine]
        chosen = nested_by_set(tasks, few, own)
        values = {
            task.name: float(gain[chosen[task.name]].mean()) for task, gain in zip(tasks, few, strict=True)
        }
        rows = [{"set": task.set_name, "value": values[task.name]} for task in tasks]
        worst = min(values, key=lambda name: values[name])
        found.append([form, f"{mean_over_sets(rows, 'value'):+.4f}", f"{values[worst]:+.4f} ({worst})"])
    return found


def page(rows: Sequence[Mapping[str, Any]], best: Candidate, forms: Sequence[Sequence[str]]) -> str:
    """Everything as Markdown."""

    def spread(ends: Sequence[float]) -> str:
        return f"{ends[0]:+.4f} … {ends[1]:+.4f}"

    body = [
        [
            row["task"],
            f"{row['queries']:,}",
            f"{row['length']:g}",
            f"{row['bm25']:.3f}",
            f"{row['by_set']:+.4f}",
            spread(row["by_set_95"]),
            f"{row['by_query']:+.4f}",
            spread(row["by_query_95"]),
        ]
        for row in rows
    ]
    means = [f"{mean_over_sets(rows, name):+.4f}" for name in ("by_set", "by_query")]
    body.append(["**mean over sets**", "", "", "", f"**{means[0]}**", "", f"**{means[1]}**", ""])
    head = [
        "nDCG@10",
        "queries",
        "words",
        "BM25",
        "set left out",
        "95 %",
        "fifth of queries left out",
        "95 %",
    ]
    return "\n".join(
        [
            table(head, body),
            table(["form", "mean over sets, set left out", "worst task"], forms),
            f"Chosen on all sets: {best}\n",
        ]
    )


def load(path: Path) -> list[TaskColumns]:
    """Tasks from a file of `--features`."""
    with np.load(path) as data:
        names = [str(name) for name in data["names"]]
        return [
            TaskColumns(
                name,
                {part: data[f"{at}-{part}"].astype(np.float64) for part in COLUMNS},
                *(data[f"{at}-{field}"] for field in _FIELDS),
            )
            for at, name in enumerate(names)
        ]


_FIELDS = ("there", "grades", "ideal", "lengths", "folds", "units")


def save(path: Path, tasks: Sequence[TaskColumns]) -> None:
    """Keep what every passage has, to choose again without asking again."""
    arrays: dict[str, Any] = {"names": np.array([task.name for task in tasks])}
    for at, task in enumerate(tasks):
        arrays |= {f"{at}-{part}": column.astype(np.float32) for part, column in task.parts.items()}
        arrays |= {f"{at}-{field}": getattr(task, field) for field in _FIELDS}
    np.savez_compressed(path, **arrays)


def main() -> None:
    """Ask, try, choose, print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, help="folder with one folder per judged set")
    parser.add_argument("--most", type=int, default=700, metavar="N", help="queries of a task (0: all)")
    parser.add_argument(
        "--features", type=Path, help="keep what every passage has here, or read it from here"
    )
    parser.add_argument("--markdown", type=Path, help="write the tables to this file too")
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args()
    if options.features and options.features.is_file():
        tasks = load(options.features)
    else:
        folders = sorted(path.parent for path in options.folder.glob("*/qrels.tsv"))
        if len(folders) < 3:
            sys.exit(f"{options.folder} holds {len(folders)} sets; to leave out sets, three are needed.")
        tasks = [task for folder in folders for task in task_columns(folder, options.most)]
        if options.features:
            save(options.features, tasks)
    tried = list(candidates())
    gains = all_gains(tasks, tried)
    rows, best = rows_of(tasks, gains, tried)
    text = page(rows, best, forms_table(tasks, gains, tried))
    print(text)
    if options.markdown:
        options.markdown.write_text(text, encoding="utf-8")
    if options.json:
        facts = {"tasks": rows, "chosen": asdict(best), "candidates": len(tried)}
        options.json.write_text(json.dumps(facts, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
