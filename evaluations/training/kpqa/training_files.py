"""Training and development data of a keyphrase predictor from files as published.

Examples of one group (a passage; the pages of a question of HotpotQA) stand on one side. Groups are taken in
the order of a digest of their name and the seed; those that still fit into the share that is asked for are
the development set, or the smallest where none does. So the split depends on data and seed alone, not on the
order of files.

All examples are in memory: the paper's three sets, about 400,000, take about half a gigabyte.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evaluations.training.kpqa.examples import REPEATED, WHOLE, DropCounts, Example
from evaluations.training.kpqa.file_forms import examples_of, form_of
from metrics.errors import MetricError
from metrics.neural.pieces import Span

#: Told of a file and how many of its questions were read so far.
Progress = Callable[[Path, int], None]
_OFTEN = 1000
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class TrainingFiles:
    """What a predictor is trained and chosen on.

    `files` say of each file `name`, `bytes`, `sha256`, `form`, and how many questions were `read`, `kept`,
    `dropped` and `noted` by reason; `counts` say the same of all, with the sizes of `train` and `dev`. Both
    are plain values for a card. A question is kept or dropped: `read` is the sum.
    """

    train: list[Example]
    dev: list[Example]
    files: list[dict[str, Any]]
    counts: dict[str, Any]

    def lines(self) -> list[str]:
        """The counts in sentences for people."""
        found: list[str] = []
        for file in self.files:
            kept = f"{file['read']:,} questions, {file['kept']:,} kept"
            found.append(f"{file['name']} ({file['form']}): {kept}")
            found += [f"  dropped {number:,}: {reason}" for reason, number in file["dropped"].items()]
            found += [f"  noted {number:,}: {remark}" for remark, number in file["noted"].items()]
        return [*found, f"{len(self.train):,} examples for training, {len(self.dev):,} for development"]


def prepared(
    paths: Sequence[Path],
    *,
    seed: int,
    dev_share: float = 0.1,
    limit: int | None = None,
    whole: bool = True,
    progress: Progress | None = None,
) -> TrainingFiles:
    """The examples of all files, each once, split; MetricError where a file is wrong or nothing is kept.

    `limit` keeps that many at most, drawn by the seed from all of them. Without `whole`, those are dropped
    whose key phrase is all of the answer sentence; Lee et al. (2021) do not say that they drop them.
    """
    if not paths:
        raise MetricError("No data is given: name at least one file.")
    if not 0 <= dev_share < 1:
        raise MetricError(f"The share for development must be at least 0 and below 1, not {dev_share}.")
    if limit is not None and limit < 1:
        raise MetricError(f"The limit must be at least 1, not {limit}.")
    pool = _Pool()
    files = [_read(path, pool, whole=whole, progress=progress) for path in paths]
    if not pool.examples:
        reasons = "; ".join(f"{count:,}: {reason}" for reason, count in _summed(files, "dropped").items())
        raise MetricError(
            f"No question of {', '.join(map(str, paths))} can be used ({reasons}). Give others."
        )
    train, dev = _split(_drawn(pool.examples, limit, seed), seed, dev_share)
    counts: dict[str, Any] = {
        "read": sum(file["read"] for file in files),
        "kept": len(pool.examples),
        "dropped": _summed(files, "dropped"),
        "noted": _summed(files, "noted"),
        "train": len(train),
        "dev": len(dev),
    }
    return TrainingFiles(train, dev, files, counts)


class _Pool:
    """Examples, each question and answer sentence once."""

    def __init__(self) -> None:
        self.examples: list[Example] = []
        self._places: dict[tuple[str, str], int] = {}

    def add(self, found: Example) -> bool:
        """Whether it is new; if not, its key phrases are united with those that were there."""
        place = self._places.setdefault((found.question, found.answer), len(self.examples))
        if place == len(self.examples):
            self.examples.append(found)
            return True
        there = self.examples[place]
        spans = united((*there.spans, *found.spans))
        self.examples[place] = replace(there, spans=spans, group=min(there.group, found.group))
        return False


def _read(path: Path, pool: _Pool, *, whole: bool, progress: Progress | None) -> dict[str, Any]:
    """Add the examples of a file to a pool; what the file is, and its counts."""
    form, dropped, kept = form_of(path), DropCounts(), 0
    told = _OFTEN
    for found in examples_of(path, dropped):
        kept += _is_added(found, pool, dropped, whole=whole)
        if progress and kept + dropped.total() >= told:
            told += _OFTEN
            progress(path, kept + dropped.total())
    read = kept + dropped.total()
    if not read:
        raise MetricError(f"{path} holds no question. Is it the right file?")
    if progress:
        progress(path, read)
    with path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    return {
        "name": path.name,
        "bytes": path.stat().st_size,
        "sha256": sha256,
        "form": form,
        "read": read,
        "kept": kept,
        "dropped": dict(sorted(dropped.reasons.items())),
        "noted": dict(sorted(dropped.noted.items())),
    }


def _is_added(found: Example, pool: _Pool, dropped: DropCounts, *, whole: bool) -> bool:
    rest = found.answer[: found.spans[0][0]] + found.answer[found.spans[-1][1] :]
    all_of_it = len(found.spans) == 1 and not _WORD.search(rest)
    if all_of_it and not whole:
        dropped.add(WHOLE)
        return False
    if not pool.add(found):
        dropped.add(REPEATED)
        return False
    if all_of_it:
        dropped.note(WHOLE)
    return True


def united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order and apart: those that overlap are one."""
    found: list[Span] = []
    for begin, end in sorted(spans):
        if found and begin < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((begin, end))
    return tuple(found)


def _split(examples: list[Example], seed: int, share: float) -> tuple[list[Example], list[Example]]:
    sizes = Counter(example.group for example in examples)
    asked = max(1, min(round(share * len(examples)), len(examples) - 1)) if share else 0
    if asked and len(sizes) == 1:
        raise MetricError(
            f"All {len(examples):,} examples stand in one passage, so that none can be set aside for "
            "development. Give more data."
        )
    groups = sorted(sizes, key=lambda name: _lot(seed, name))
    chosen: set[str] = set()
    for group in groups:
        if sizes[group] <= asked:
            chosen.add(group)
            asked -= sizes[group]
    if share and not chosen:
        chosen = {min(groups, key=sizes.__getitem__)}
    sides: tuple[list[Example], list[Example]] = ([], [])
    for example in examples:
        sides[example.group in chosen].append(example)
    return sides


def _drawn(examples: list[Example], limit: int | None, seed: int) -> list[Example]:
    if limit is None or limit >= len(examples):
        return examples
    lots = [_lot(seed, example.question, example.answer) for example in examples]
    first = sorted(range(len(examples)), key=lots.__getitem__)[:limit]
    return [examples[place] for place in sorted(first)]


def _lot(seed: int, *names: str) -> bytes:
    whole = "\0".join((str(seed), *names))
    return hashlib.blake2b(whole.encode(), digest_size=16).digest()


def _summed(files: Iterable[dict[str, Any]], what: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for file in files:
        total.update(file[what])
    return dict(sorted(total.items()))
