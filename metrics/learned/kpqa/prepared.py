"""Training and development data of a keyphrase predictor from files as published.

Examples of one group (a passage; the pages of a question of HotpotQA) stand on one side. Groups are put in
the order of a digest of their name and the seed, and the first of them, until they hold the share that is
asked for, are the development set. So the split depends on data and seed alone, not on the order of files.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from metrics.errors import MetricError
from metrics.learned.kpqa.examples import Example
from metrics.learned.kpqa.reading import dropped as why
from metrics.learned.kpqa.reading.dropped import Dropped
from metrics.learned.kpqa.reading.opening import examples_of, form_of
from metrics.learned.words import Span

#: Told of a file and how many of its questions were read so far.
Progress = Callable[[Path, int], None]
_OFTEN = 1000


@dataclass(frozen=True, slots=True)
class Prepared:
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
            found.append(
                f"{file['name']} ({file['form']}): {file['read']:,} questions, {file['kept']:,} kept"
            )
            found += [f"  dropped {number:,}: {reason}" for reason, number in file["dropped"].items()]
            found += [f"  noted {number:,}: {remark}" for remark, number in file["noted"].items()]
        return [*found, f"{len(self.train):,} examples for training, {len(self.dev):,} for development"]


def prepared(
    paths: Sequence[Path],
    *,
    seed: int,
    dev_share: float = 0.1,
    limit: int | None = None,
    progress: Progress | None = None,
) -> Prepared:
    """The examples of all files, each once, split; MetricError where a file is wrong or nothing is kept.

    `limit` keeps that many at most, drawn by the seed from all of them.
    """
    if not paths:
        raise MetricError("No data is given: name at least one file.")
    if not 0 <= dev_share < 1:
        raise MetricError(f"The share for development must be at least 0 and below 1, not {dev_share}.")
    if limit is not None and limit < 1:
        raise MetricError(f"The limit must be at least 1, not {limit}.")
    places: dict[tuple[str, str], int] = {}
    examples: list[Example] = []
    files = [_read(path, places, examples, progress) for path in paths]
    if not examples:
        reasons = "; ".join(f"{count:,}: {reason}" for reason, count in _summed(files, "dropped").items())
        raise MetricError(f"No question of {', '.join(map(str, paths))} can be used ({reasons}).")
    if limit is not None and len(examples) > limit:
        examples = _drawn(examples, limit, seed)
    train, dev = _split(examples, seed, dev_share)
    counts: dict[str, Any] = {
        "read": sum(file["read"] for file in files),
        "kept": sum(file["kept"] for file in files),
        "dropped": _summed(files, "dropped"),
        "noted": _summed(files, "noted"),
        "train": len(train),
        "dev": len(dev),
    }
    return Prepared(train, dev, files, counts)


def _read(
    path: Path, places: dict[tuple[str, str], int], examples: list[Example], progress: Progress | None
) -> dict[str, Any]:
    """Add what is new of a file to `examples`; what the file is, and its counts."""
    dropped, seen = Dropped(), 0
    form = form_of(path)
    for seen, found in enumerate(examples_of(path, dropped), start=1):
        at = places.setdefault((found.question, found.answer), len(examples))
        if at == len(examples):
            examples.append(found)
        else:
            united = united_spans((*examples[at].spans, *found.spans))
            examples[at] = replace(examples[at], spans=united)
            dropped.add(why.REPEATED)
        if progress and seen % _OFTEN == 0:
            progress(path, seen + dropped.total() - dropped.reasons[why.REPEATED])
    read = seen + dropped.total() - dropped.reasons[why.REPEATED]
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
        "kept": read - dropped.total(),
        "dropped": dict(sorted(dropped.reasons.items())),
        "noted": dict(sorted(dropped.noted.items())),
    }


def united_spans(spans: Iterable[Span]) -> tuple[Span, ...]:
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
    asked = round(share * len(examples)) or int(share > 0)
    if not asked:
        return examples, []
    if len(sizes) == 1:
        raise MetricError(
            f"All {len(examples):,} examples stand in one passage, so that none can be set aside for "
            "development. Give more data."
        )
    chosen: set[str] = set()
    held = 0
    for group in sorted(sizes, key=lambda name: _drawing(seed, name)):
        if held >= asked or len(chosen) == len(sizes) - 1:
            break
        chosen.add(group)
        held += sizes[group]
    sides: tuple[list[Example], list[Example]] = ([], [])
    for example in examples:
        sides[example.group in chosen].append(example)
    return sides


def _drawn(examples: list[Example], limit: int, seed: int) -> list[Example]:
    order = sorted(
        range(len(examples)), key=lambda at: _drawing(seed, examples[at].question, examples[at].answer)
    )
    return [examples[at] for at in sorted(order[:limit])]


def _drawing(seed: int, *names: str) -> bytes:
    whole = "\0".join((str(seed), *names))
    return hashlib.blake2b(whole.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _summed(files: Iterable[dict[str, Any]], what: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for file in files:
        total.update(file[what])
    return dict(sorted(total.items()))
