"""Training and development data of a key phrase predictor from question answering sets as published.

Examples of one group (a passage; the pages of a question of HotpotQA) stand on one side. Groups are taken in
the order of a digest of their name and the seed; those that still fit into the share that is asked for are
the development set, or the smallest where none does. So the split depends on data and seed alone, not on the
order of files.

All examples are in memory: the paper's three sets, about 400,000, take about half a gigabyte.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

from distillery_learned.training import require_packages
from distillery_learned.training.kpqa_examples import (
    EMPTY_QUESTION,
    IMPOSSIBLE,
    LOST_FACT,
    MISFIT,
    MOVED,
    NO_ANSWER,
    NO_FACTS,
    NOT_FOUND,
    NOTHING_SELECTED,
    OTHER_CASE,
    REPEATED,
    WHOLE,
    YES_OR_NO,
    DropCounts,
    Example,
    NoExampleError,
    Passage,
    Value,
    digest,
    entries,
    is_yes_or_no,
    lines,
    members,
    occurrences,
    opened,
    sound,
)
from metrics.errors import MetricError
from metrics.word_spans import Span

# The simplest form, for sets of one's own: an object with question, answer and span in each line.
#
#     {"question": "Where did he live?", "answer": "He lived in Rome for a year.", "span": "Rome"}
#
# The key phrase is labelled wherever it is in the answer. With a text `group` in all lines, those of one
# group stay on one side of the split; without it, those of one answer do.

SPANS = "spans"
SPANS_KEYS = frozenset({"question", "answer", "span"})


def spans_examples(rows: Iterable[Value], dropped: DropCounts) -> Iterator[Example]:
    """An example for each row whose span is in its answer."""
    for row in rows:
        with dropped.counting():
            yield _spans_example(row, dropped)


def _spans_example(row: Value, dropped: DropCounts) -> Example:
    question, answer, span = (row[key].text().strip() for key in ("question", "answer", "span"))
    group = row.get("group")
    if not question:
        raise NoExampleError(EMPTY_QUESTION)
    if not answer or not span:
        raise NoExampleError(NO_ANSWER)
    exact = occurrences(answer, span)
    places = exact or occurrences(answer, span, any_case=True)
    if not places:
        raise NoExampleError(NOT_FOUND)
    if not exact:
        dropped.note(OTHER_CASE)
    return Example(question, answer, tuple(places), SPANS, digest(group.text() if group else answer))


# MS-MARCO question answering as published: v2.1 by columns, v1.1 by lines.
#
#     {"answers": {"0": […], …}, "passages": {"0": [{"is_selected": …, "passage_text": …, "url": …}, …], …},
#      "query": {"0": …, …}, "query_id": {…}, "query_type": {…}, "wellFormedAnswers": {…}}
#     {"answers": […], "passages": [{"is_selected": …, "passage_text": …, "url": …}, …], "query": …, …}
#
# People wrote the answers; those count that are a span of a passage which was selected for the question (Lee
# et al. 2021, C.1). Of several answers the first such counts, at the first place where it is in a
# selected passage; the dot at its end is no part of it. Well-formed answers are not looked at.
#
# Columns may take gigabytes: they are read beside one another, each in a pass of its own through the file, so
# that one row is in memory at a time.

MARCO = "marco"
MARCO_KEYS = frozenset({"query", "passages"})
MARCO_COLUMNS = frozenset({"answers", "passages", "query", "query_id", "query_type", "wellFormedAnswers"})
#: Members of `passages` in rows of parallel lists, which no column has as rows.
MARCO_LISTS = frozenset({"is_selected", "passage_text", "url"})
_MARCO_READ = ("query", "passages", "answers")
_MARCO_NO_ANSWER = "no answer present"


def marco_examples(rows: Iterable[Value], dropped: DropCounts) -> Iterator[Example]:
    """An example for each row whose answer is a span of a selected passage."""
    for row in rows:
        with dropped.counting():
            yield _marco_example(row["query"], row["passages"], row.get("answers"), dropped)


def marco_columns(path: Path, dropped: DropCounts) -> Iterator[Example]:
    """The same from a file that holds column after column."""
    for row_members in zip_longest(*(members(path, name) for name in _MARCO_READ)):
        rows = [member[0] if member else None for member in row_members]
        if len(set(rows)) > 1:
            raise _columns_apart(path, rows)
        query, passages, answers = (value for _, value in row_members)
        with dropped.counting():
            yield _marco_example(query, passages, None if answers.content is None else answers, dropped)


def _columns_apart(path: Path, rows: Iterable[str | None]) -> MetricError:
    """The error that columns do not hold the same rows in the same order."""
    descriptions = ["no row" if row is None else f"row {row}" for row in rows]
    has = ", ".join(f"{name} has {row}" for name, row in zip(_MARCO_READ, descriptions, strict=True))
    return MetricError(
        f"{path}: in one place {has}. The columns must hold the same rows in the same order; give the "
        "training or development file as it was published."
    )


def _marco_example(query: Value, passages: Value, answers: Value | None, dropped: DropCounts) -> Example:
    question = query.text().strip()
    phrases = [_bare_phrase(answer.text()) for answer in answers or ()]
    phrases = [phrase for phrase in phrases if phrase and phrase.casefold() != _MARCO_NO_ANSWER]
    spoken = [phrase for phrase in phrases if not is_yes_or_no(phrase)]
    if not question:
        raise NoExampleError(EMPTY_QUESTION)
    if not phrases:
        raise NoExampleError(NO_ANSWER)
    if not spoken:
        raise NoExampleError(YES_OR_NO)
    selected = list(_selected_passages(passages))
    if not selected:
        raise NoExampleError(NOTHING_SELECTED)
    exact = _found_phrase(selected, spoken, any_case=False)
    match = exact or _found_phrase(selected, spoken, any_case=True)
    if not match:
        raise NoExampleError(NOT_FOUND)
    if not exact:
        dropped.note(OTHER_CASE)
    passage, span = match
    return Passage(passage, MARCO).example(question, span)


def _bare_phrase(answer: str) -> str:
    return answer.strip().rstrip(".").rstrip()


def _selected_passages(passages: Value) -> Iterator[str]:
    if isinstance(passages.content, dict):
        for is_selected, text in passages.pairs("is_selected", "passage_text"):
            if is_selected.yes():
                yield text.text()
    else:
        for passage in passages:
            chosen_or_none = passage.get("is_selected")
            if chosen_or_none is not None and chosen_or_none.yes():
                yield passage["passage_text"].text()


def _found_phrase(texts: list[str], phrases: list[str], *, any_case: bool) -> tuple[str, Span] | None:
    for phrase in phrases:
        for text in texts:
            if places := occurrences(text, phrase, any_case=any_case):
                return text, places[0]
    return None


# HotpotQA as published, and as rows of two parallel lists.
#
#     {"_id": …, "question": …, "answer": …, "type": …, "level": …,
#      "supporting_facts": [[title, number of the sentence], …], "context": [[title, [sentence, …]], …]}
#
# All supporting sentences, in the order of the context, are the answer sentences; the key phrase is labelled
# wherever the answer is in them. Lee et al. (2021, 3.1) resolve coreferences by SpanBERT to find the
# supporting sentences; here they are those that people marked, and nothing is resolved. Questions whose
# answer is yes or no are left out, as in the paper.

HOTPOTQA = "hotpotqa"
HOTPOTQA_KEYS = frozenset({"question", "supporting_facts", "context"})


def hotpotqa_examples(rows: Iterable[Value], dropped: DropCounts) -> Iterator[Example]:
    """An example for each question whose answer is in its supporting sentences."""
    for row in rows:
        with dropped.counting():
            yield _hotpotqa_example(row, dropped)


def _hotpotqa_example(row: Value, dropped: DropCounts) -> Example:
    question = row["question"].text().strip()
    answer_value = row.get("answer")
    phrase = answer_value.text().strip() if answer_value else ""
    titles, sentences, lost = _supporting(row)
    answer = " ".join(sentences)
    if not question:
        raise NoExampleError(EMPTY_QUESTION)
    if not phrase:
        raise NoExampleError(NO_ANSWER)
    if is_yes_or_no(phrase):
        raise NoExampleError(YES_OR_NO)
    if not sentences:
        raise NoExampleError(NO_FACTS)
    exact = occurrences(answer, phrase)
    spans = exact or occurrences(answer, phrase, any_case=True)
    if not spans:
        raise NoExampleError(NOT_FOUND)
    if not exact:
        dropped.note(OTHER_CASE)
    if lost:
        dropped.note(LOST_FACT)
    return Example(question, answer, tuple(spans), HOTPOTQA, digest(*titles))


def _supporting(row: Value) -> tuple[list[str], list[str], bool]:
    """Titles and sentences of the supporting facts, and whether some fact is not there."""
    marked = {
        (title.text(), number.number()) for title, number in row["supporting_facts"].pairs("title", "sent_id")
    }
    by_place: dict[tuple[str, int], str] = {}
    for title, sentences in row["context"].pairs("title", "sentences"):
        for number, sentence in enumerate(sentences):
            if (place := (title.text(), number)) in marked and place not in by_place:
                by_place[place] = sentence.text().strip()
    titles = sorted({title for title, _ in marked})
    return titles, [sentence for sentence in by_place.values() if sentence], len(by_place) < len(marked)


# SQuAD 1.1 and 2.0, and sets in their form such as XQuAD and COVID-QA.
#
#     {"data": [{"title": …, "paragraphs": [{"context": …, "qas": [
#         {"id": …, "question": …, "is_impossible": …, "answers": [{"text": …, "answer_start": …}]}]}]}]}
#
# The key phrase is labelled where the answer was marked, not wherever its words recur. Where several people
# answered, as in the development sets, the span that most of them chose counts; the first of those where
# none is ahead.

SQUAD = "squad"
#: An answer may stand this many characters from its place: files whose texts were trimmed after the places
#: had been counted are not rare.
_NEAR = 10
_SHIFTS = sorted(range(-_NEAR, _NEAR + 1), key=abs)


def squad_examples(articles: Iterable[Value], dropped: DropCounts) -> Iterator[Example]:
    """An example for each question that has a span of its paragraph as answer."""
    for article in articles:
        for paragraph in article["paragraphs"]:
            passage = Passage(paragraph["context"].text(), SQUAD)
            for entry in paragraph["qas"]:
                with dropped.counting():
                    yield _squad_example(entry, passage, dropped)


def _squad_example(entry: Value, passage: Passage, dropped: DropCounts) -> Example:
    question = entry["question"].text().strip()
    impossible = entry.get("is_impossible")
    answers = [
        (answer["text"].text(), answer["answer_start"].number()) for answer in entry.get("answers") or ()
    ]
    written = [(text, start) for text, start in answers if text.strip()]
    if not question:
        raise NoExampleError(EMPTY_QUESTION)
    if impossible and impossible.yes():
        raise NoExampleError(IMPOSSIBLE)
    if not written:
        raise NoExampleError(NO_ANSWER)
    spans = [span for text, start in written if (span := _marked_place(passage.text, text, start))]
    if not spans:
        raise NoExampleError(MISFIT)
    span = Counter(spans).most_common(1)[0][0]
    if all(span[0] != _bare_start(text, start) for text, start in written):
        dropped.note(MOVED)
    return passage.example(question, span)


def _marked_place(context: str, text: str, start: int) -> Span | None:
    """Where an answer is: at its place, or as words of their own near it."""
    text, start = text.strip(), _bare_start(text, start)
    for begin in (start + shift for shift in _SHIFTS):
        end = begin + len(text)
        if (
            begin >= 0
            and context.startswith(text, begin)
            and (begin == start or not (_inside_word(context, begin) or _inside_word(context, end)))
        ):
            return begin, end
    return None


def _bare_start(text: str, start: int) -> int:
    """Where an answer without the white space before it should begin."""
    return start + len(text) - len(text.lstrip())


def _inside_word(context: str, at: int) -> bool:
    return 0 < at < len(context) and context[at - 1].isalnum() and context[at].isalnum()


# Which form a file has, by what is in it and not by its name, and its examples.

Reading = Callable[[DropCounts], Iterator[Example]]
#: Forms of one object for each question: the members that an object must have, and what reads many.
_ROWS = {
    HOTPOTQA: (HOTPOTQA_KEYS, hotpotqa_examples),
    MARCO: (MARCO_KEYS, marco_examples),
    SPANS: (SPANS_KEYS, spans_examples),
}
_ARTICLES, _COLUMNS = "data", "columns"
_KNOWN = (
    "SQuAD's JSON, HotpotQA's JSON, MS-MARCO's JSON or lines, or lines of objects with question, answer and"
    " span, plain or compressed by gzip"
)
_HEAD = 1 << 16


def form_of(path: Path) -> str:
    """The name of a file's form; MetricError where it is none that is known."""
    require_packages("Reading question answering sets")
    return _form(path)[0]


def examples_of(path: Path, dropped: DropCounts) -> Iterator[Example]:
    """The examples of a file, in its order; what became none is counted in `dropped`.

    MetricError where the file cannot be read, has no known form, or is wrong somewhere; examples that stand
    before that place were given by then.
    """
    require_packages("Reading question answering sets")
    yield from _form(path)[1](dropped)


def _form(path: Path) -> tuple[str, Reading]:
    """The form's name, and what reads the file."""
    begin = _begin(path)
    if begin == b"[":
        return _rows(path, _first_keys(path), "list", lambda: _iterate_entries(path))
    if begin != b"{":
        raise _unknown(path, "it is no JSON" if begin else "it is empty")
    keys, shape = _object(path)
    if shape == _ARTICLES:
        return SQUAD, lambda dropped: squad_examples(entries(path, "data.item", "data[{}]"), dropped)
    if shape == _COLUMNS:
        return f"{MARCO} columns", lambda dropped: marco_columns(path, dropped)
    return _rows(path, keys, "lines", lambda: lines(path))


def _rows(path: Path, keys: set[str], shape: str, rows: Callable[[], Iterator[Value]]) -> tuple[str, Reading]:
    source = next((source for source, (needs, _) in _ROWS.items() if keys >= needs), "")
    if not source:
        raise _unknown(
            path, f"its first object has {', '.join(key[:60] for key in sorted(keys)[:8]) or 'nothing'}"
        )
    examples = _ROWS[source][1]
    return f"{source} {shape}", lambda dropped: examples(rows(), dropped)


def _unknown(path: Path, reason: str) -> MetricError:
    return MetricError(f"{path} has no form that is known: {reason}. Give {_KNOWN}.")


def _begin(path: Path) -> bytes:
    """The first character that is no white space; none in an empty file."""
    with opened(path) as file:
        while head := file.read(_HEAD):
            if stripped := head.lstrip():
                return stripped[:1]
    return b""


def _iterate_entries(path: Path) -> Iterator[Value]:
    return entries(path, "item", "entry {}")


def _first_keys(path: Path) -> set[str]:
    first = next(_iterate_entries(path), None)
    if first is None:
        raise MetricError(f"{path} holds no question. Is it the right file?")
    return set(first.content) if isinstance(first.content, dict) else set()


def _object(path: Path) -> tuple[set[str], str]:
    """The keys of the first object, and its shape as far as that is plain before its end."""
    import ijson  # part of the extra

    keys: set[str] = set()
    with opened(path) as file:
        parsed = ijson.parse(file, use_float=True, multiple_values=True)
        events = (event for _, event in sound(parsed, path, "part {} of its first object"))
        for prefix, event, value in islice(events, 1, None):
            if not prefix and event == "map_key":
                keys.add(value)
            elif not prefix and event == "end_map":
                break
            elif prefix == "data" and event == "start_array":
                return keys, _ARTICLES
            elif prefix in MARCO_COLUMNS and event == "start_map" and next(events)[2] not in MARCO_LISTS:
                return keys, _COLUMNS
    return keys, ""


# The two sides: training and development.

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
        texts: list[str] = []
        for file in self.files:
            counts = f"{file['read']:,} questions, {file['kept']:,} kept"
            texts.append(f"{file['name']} ({file['form']}): {counts}")
            texts += [f"  dropped {number:,}: {reason}" for reason, number in file["dropped"].items()]
            texts += [f"  noted {number:,}: {remark}" for remark, number in file["noted"].items()]
        return [*texts, f"{len(self.train):,} examples for training, {len(self.dev):,} for development"]


def prepared(
    paths: Sequence[Path],
    *,
    seed: int,
    dev_share: float = 0.1,
    limit: int | None = None,
    whole_answers: bool = True,
    progress: Progress | None = None,
) -> TrainingFiles:
    """The examples of all files, each once, split; MetricError where a file is wrong or nothing is kept.

    `limit` keeps that many at most, drawn by the seed from all of them. Without `whole_answers`, those are
    dropped whose key phrase is all of the answer sentence; Lee et al. (2021) do not say that they drop them.
    """
    if not paths:
        raise MetricError("No data is given: name at least one file.")
    if not 0 <= dev_share < 1:
        raise MetricError(f"The share for development must be at least 0 and below 1, not {dev_share}.")
    if limit is not None and limit < 1:
        raise MetricError(f"The limit must be at least 1, not {limit}.")
    pool = _Pool()
    files = [_read(path, pool, whole_answers=whole_answers, progress=progress) for path in paths]
    if not pool.examples:
        reasons = "; ".join(f"{count:,}: {reason}" for reason, count in _summed(files, "dropped").items())
        raise MetricError(
            f"No question of {', '.join(map(str, paths))} can be used ({reasons}). Give others."
        )
    train, dev = _split(_draw_examples(pool.examples, limit, seed), seed, dev_share)
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

    def add(self, example: Example) -> bool:
        """Whether it is new; if not, its key phrases are united with those that were there."""
        place = self._places.setdefault((example.question, example.answer), len(self.examples))
        if place == len(self.examples):
            self.examples.append(example)
            return True
        earlier = self.examples[place]
        spans = united((*earlier.spans, *example.spans))
        self.examples[place] = replace(earlier, spans=spans, group=min(earlier.group, example.group))
        return False


def _read(path: Path, pool: _Pool, *, whole_answers: bool, progress: Progress | None) -> dict[str, Any]:
    """Add the examples of a file to a pool; what the file is, and its counts."""
    form, dropped, kept_count = form_of(path), DropCounts(), 0
    next_report = _OFTEN
    for example in examples_of(path, dropped):
        kept_count += _is_added(example, pool, dropped, whole_answers=whole_answers)
        if progress and kept_count + dropped.total() >= next_report:
            next_report += _OFTEN
            progress(path, kept_count + dropped.total())
    read = kept_count + dropped.total()
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
        "kept": kept_count,
        "dropped": dict(sorted(dropped.reasons.items())),
        "noted": dict(sorted(dropped.noted.items())),
    }


def _is_added(example: Example, pool: _Pool, dropped: DropCounts, *, whole_answers: bool) -> bool:
    rest = example.answer[: example.spans[0][0]] + example.answer[example.spans[-1][1] :]
    all_of_it = len(example.spans) == 1 and not _WORD.search(rest)
    if all_of_it and not whole_answers:
        dropped.add(WHOLE)
        return False
    if not pool.add(example):
        dropped.add(REPEATED)
        return False
    if all_of_it:
        dropped.note(WHOLE)
    return True


def united(spans: Iterable[Span]) -> tuple[Span, ...]:
    """Spans in order and apart: those that overlap are one."""
    merged: list[Span] = []
    for begin, end in sorted(spans):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((begin, end))
    return tuple(merged)


def _split(examples: list[Example], seed: int, share: float) -> tuple[list[Example], list[Example]]:
    sizes = Counter(example.group for example in examples)
    dev_size = max(1, min(round(share * len(examples)), len(examples) - 1)) if share else 0
    if dev_size and len(sizes) == 1:
        raise MetricError(
            f"All {len(examples):,} examples stand in one passage, so that none can be set aside for "
            "development. Give more data."
        )
    groups = sorted(sizes, key=lambda name: _lot(seed, name))
    dev_groups: set[str] = set()
    for group in groups:
        if sizes[group] <= dev_size:
            dev_groups.add(group)
            dev_size -= sizes[group]
    if share and not dev_groups:
        dev_groups = {min(groups, key=sizes.__getitem__)}
    sides: tuple[list[Example], list[Example]] = ([], [])
    for example in examples:
        sides[example.group in dev_groups].append(example)
    return sides


def _draw_examples(examples: list[Example], limit: int | None, seed: int) -> list[Example]:
    if limit is None or limit >= len(examples):
        return examples
    lots = [_lot(seed, example.question, example.answer) for example in examples]
    first = sorted(range(len(examples)), key=lots.__getitem__)[:limit]
    return [examples[place] for place in sorted(first)]


def _lot(seed: int, *names: str) -> bytes:
    joined = "\0".join((str(seed), *names))
    return hashlib.blake2b(joined.encode(), digest_size=16).digest()


def _summed(files: Iterable[dict[str, Any]], what: str) -> dict[str, int]:
    total: Counter[str] = Counter()
    for file in files:
        total.update(file[what])
    return dict(sorted(total.items()))
