"""Which form a file has, by what stands in it and not by its name, and its examples."""

from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path

from evaluations.training import require_packages
from evaluations.training.kpqa import hotpotqa, marco, spans, squad
from evaluations.training.kpqa.examples import DropCounts, Example
from evaluations.training.kpqa.streams import Value, entries, lines, opened, sound
from metrics.errors import MetricError

Reading = Callable[[DropCounts], Iterator[Example]]
#: Forms of one object for each question: the members that an object must have, and what reads many.
_ROWS = {form.SOURCE: (form.KEYS, form.examples) for form in (hotpotqa, marco, spans)}
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
        return _rows(path, _first_keys(path), "list", lambda: _listed(path))
    if begin != b"{":
        raise _unknown(path, "it is no JSON" if begin else "it is empty")
    keys, shape = _object(path)
    if shape == _ARTICLES:
        return squad.SOURCE, lambda dropped: squad.examples(entries(path, "data.item", "data[{}]"), dropped)
    if shape == _COLUMNS:
        return f"{marco.SOURCE} columns", lambda dropped: marco.of_columns(path, dropped)
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
            if found := head.lstrip():
                return found[:1]
    return b""


def _listed(path: Path) -> Iterator[Value]:
    return entries(path, "item", "entry {}")


def _first_keys(path: Path) -> set[str]:
    first = next(_listed(path), None)
    if first is None:
        raise MetricError(f"{path} holds no question. Is it the right file?")
    return set(first.given) if isinstance(first.given, dict) else set()


def _object(path: Path) -> tuple[set[str], str]:
    """The keys of the first object, and its shape as far as that is plain before its end."""
    import ijson  # part of the extra

    keys: set[str] = set()
    with opened(path) as file:
        found = ijson.parse(file, use_float=True, multiple_values=True)
        events = (event for _, event in sound(found, path, "part {} of its first object"))
        for prefix, event, value in islice(events, 1, None):
            if not prefix and event == "map_key":
                keys.add(value)
            elif not prefix and event == "end_map":
                break
            elif prefix == "data" and event == "start_array":
                return keys, _ARTICLES
            elif prefix in marco.COLUMNS and event == "start_map" and next(events)[2] not in marco.LISTS:
                return keys, _COLUMNS
    return keys, ""
