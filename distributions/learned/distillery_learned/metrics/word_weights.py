"""Keyphrase weights: how likely each word of an answer is part of the key phrase, given the question; cached.

    KPW_t = P(key phrase | word t, question)

Lee et al. (2021), section 3.2. A word has the probability of its first word piece; a word that the tokeniser
drops, such as a lone control character, has 0. Weights belong to a question and an answer together, never to
an answer alone.
"""

import contextlib
import hashlib
import sqlite3
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from distillery_learned.metrics import devices, needed
from distillery_learned.metrics.devices import spread
from distillery_learned.metrics.pieces import Window, windows
from metrics.answers.importance import SizedCache
from metrics.model_folders import Choice, ModelFolder, opened
from metrics.profiles import KPQA
from metrics.texts import Floats
from metrics.tokens import placed
from metrics.word_spans import VERSION, Span, cut_words

# Weights of words that were computed before: in the process, and in a file for each model.
#
# A file is SQLite, `kpqa-DIGEST.sqlite` in the folder of the cache, and may be used by several processes at a
# time. It never is an error: one that cannot be read is set aside under another name, one that cannot be
# written is left alone, and what is in it is used only if it is whole and fits the words of the answer.

Weights = npt.NDArray[np.float32]
#: Bytes that a process keeps of a model, and what an entry takes beside its weights.
IN_PROCESS, _ENTRY = 1 << 27, 400
#: Bytes of a file; where they are reached, its oldest quarter is dropped.
ON_DISK = 1 << 29
_FORMAT, _ASKED, _WAIT = 1, 500, 20.0
_SUM = 4


@dataclass(frozen=True, slots=True, eq=False)
class Store:
    """What is kept of one model. Without a `file` it is kept while the process lives."""

    cache: SizedCache[Weights] = field(default_factory=lambda: SizedCache(IN_PROCESS))
    file: Path | None = None
    most: int = ON_DISK

    def get(self, sizes: Mapping[bytes, int]) -> dict[bytes, Weights]:
        """The weights of those keys that are kept, given how many words each has."""
        cached = {key: self.cache.get(key) for key in sizes}
        weights_by_key = {key: weights for key, weights in cached.items() if weights is not None}
        missing = {key: size for key, size in sizes.items() if key not in weights_by_key}
        if self.file is not None and missing:
            read = _read(self.file, missing)
            self._remember(read)
            weights_by_key |= read
        return weights_by_key

    def put(self, weights: Mapping[bytes, Weights]) -> None:
        """Keep the weights of keys."""
        self._remember(weights)
        if self.file is not None and weights:
            _write(self.file, weights, self.most)

    def _remember(self, weights: Mapping[bytes, Weights]) -> None:
        for key, each in weights.items():
            self.cache.put(key, each, each.nbytes + _ENTRY)


def key(question: str, answer: str) -> bytes:
    """What the weights of an answer to a question are kept under."""
    question_bytes = question.encode("utf-8", "surrogatepass")
    checksum = hashlib.sha256(f"{VERSION} {len(question_bytes)} ".encode())
    checksum.update(question_bytes)
    checksum.update(answer.encode("utf-8", "surrogatepass"))
    return checksum.digest()


def file_of(cache: str, model: ModelFolder) -> Path | None:
    """Where a model's weights are kept in a cache; None without a cache."""
    return Path(cache) / f"kpqa-{model.digest}.sqlite" if cache else None


def _read(file: Path, sizes: Mapping[bytes, int]) -> dict[bytes, Weights]:
    if not file.exists():
        return {}
    weights_by_key: dict[bytes, Weights] = {}
    with _forgiving(file), closing(_opened(file)) as database:
        names = list(sizes)
        for at in range(0, len(names), _ASKED):
            batch = names[at : at + _ASKED]
            marks = ",".join("?" * len(batch))
            query = f"SELECT key, weights FROM kept WHERE key IN ({marks})"  # noqa: S608  # question marks alone
            rows = database.execute(query, batch)
            for name, blob in rows:
                weights = _unpacked(name, blob, sizes[name])
                if weights is not None:
                    weights_by_key[name] = weights
    return weights_by_key


def _write(file: Path, weights: Mapping[bytes, Weights], most: int) -> None:
    with _forgiving(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(_opened(file)) as database:
            database.execute("BEGIN IMMEDIATE")
            rows = ((name, _packed(name, each)) for name, each in weights.items())
            database.executemany("INSERT OR REPLACE INTO kept (key, weights) VALUES (?, ?)", rows)
            _prune(database, most)
            database.execute("COMMIT")


def _prune(database: sqlite3.Connection, most: int) -> None:
    pages, free, size = (
        database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    if (pages - free) * size > most:
        database.execute(
            "DELETE FROM kept WHERE place <= (SELECT min(place) + (max(place) - min(place)) / 4 FROM kept)"
        )


def _opened(file: Path) -> sqlite3.Connection:
    database = sqlite3.connect(file, timeout=_WAIT, isolation_level=None)
    with ExitStack() as undoing:
        undoing.callback(database.close)
        if database.execute("PRAGMA user_version").fetchone()[0] != _FORMAT:
            _create_table(database)
        undoing.pop_all()  # it is open and good
    return database


def _create_table(database: sqlite3.Connection) -> None:
    """The table, where no other process has made it meanwhile; a file of another format is a broken one."""
    database.execute("BEGIN IMMEDIATE")
    version = database.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, _FORMAT) or (
        not version and database.execute("PRAGMA schema_version").fetchone()[0]
    ):
        raise sqlite3.DatabaseError("another format")
    database.execute(
        "CREATE TABLE IF NOT EXISTS kept"
        " (place INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, weights BLOB NOT NULL)"
    )
    database.execute(f"PRAGMA user_version = {_FORMAT}")
    database.execute("COMMIT")


@contextlib.contextmanager
def _forgiving(file: Path) -> Iterator[None]:
    """A file that is busy, full or out of reach is left alone, and one that is broken is set aside."""
    try:
        yield
    except (sqlite3.OperationalError, OSError):
        return
    except sqlite3.DatabaseError:
        _set_aside(file)


def _set_aside(file: Path) -> None:
    with contextlib.suppress(OSError):
        file.replace(file.with_name(f"{file.name}.broken"))
        file.with_name(f"{file.name}-journal").unlink(missing_ok=True)


def _packed(name: bytes, weights: Weights) -> bytes:
    values = weights.astype("<f4").tobytes()
    return zlib.crc32(name + values).to_bytes(_SUM) + values


def _unpacked(name: bytes, blob: object, size: int) -> Weights | None:
    """The weights in a blob; None where it is not whole, or not as many as the words."""
    if not isinstance(blob, bytes) or len(blob) != _SUM + size * 4:
        return None
    if zlib.crc32(name + blob[_SUM:]).to_bytes(_SUM) != blob[:_SUM]:
        return None
    return np.frombuffer(blob[_SUM:], "<f4").astype(np.float32)


Pair = tuple[str, str]
#: Word pieces that are computed together on a CPU and on a GPU.
ON_CPU, ON_GPU = 1024, 1 << 15
#: Characters of answers that are computed, and kept, at a time, and models that a process holds.
AT_ONCE, _LOADED = 1 << 20, 4
#: How often the places of tokens may be lost in a text, and how many tokens are looked at to find them again.
_LOST, _AHEAD = 64, 8


@dataclass(frozen=True, slots=True, eq=False)
class WordWeights:
    """The words of an answer by their places, and a weight in [0, 1] for each."""

    spans: list[Span]
    weights: Floats


@dataclass(frozen=True, slots=True, eq=False)
class Weigher:
    """A keyphrase predictor that weighs the words of answers, each pair once as long as it is kept."""

    folder: ModelFolder
    loaded: "LoadedModel"
    store: Store

    @property
    def with_question(self) -> bool:
        """Whether the predictor sees the question."""
        return self.loaded.with_question

    def weigh(self, pairs: Sequence[Pair]) -> list[WordWeights]:
        """The words of each answer with their weights, for pairs (question, answer)."""
        seen = pairs if self.with_question else [("", answer) for _, answer in pairs]
        keys = {pair: key(*pair) for pair in dict.fromkeys(seen)}
        word_spans = {pair: cut_words(pair[1]) for pair in keys}
        by_key = self.store.get({keys[pair]: len(word_spans[pair]) for pair in keys})
        for part in _parts([pair for pair in keys if keys[pair] not in by_key]):
            new = dict(zip(map(keys.__getitem__, part), self.loaded.weights(part), strict=True))
            self.store.put(new)
            by_key |= new
        return [WordWeights(word_spans[pair], by_key[keys[pair]].astype(np.float64)) for pair in seen]


def weigher(choice: Choice, cache: str = "", device: str = "auto") -> Weigher:
    """The weigher of a model; MetricError where the folder does not hold it, or packages are missing.

    `cache` is a folder where weights are kept between runs. The network is loaded when the first weight is
    computed, once in a process.
    """
    needed("KPQA")
    with _LOCK:
        loaded = _load(choice.folder, choice.digest, device)
    return Weigher(loaded.folder, loaded, Store(loaded.kept, file_of(cache, loaded.folder)))


class LoadedModel:
    """A model of a process, and what it weighed; its network is loaded when it is first asked for."""

    def __init__(self, folder: ModelFolder, device: str) -> None:
        self.folder = folder
        self.kept: SizedCache[Weights] = SizedCache(IN_PROCESS)
        self._asked = device
        self._lock = Lock()

    @property
    def with_question(self) -> bool:
        """Whether it sees the question."""
        return bool(self.folder.settings.get("with_question", True))

    @property
    def network(self) -> Any:
        """Says of each word piece how likely its word is part of the key phrase; without gradients."""
        return self._parts[0]

    @property
    def tokenizer(self) -> Any:
        """What cuts texts into its word pieces."""
        return self._parts[1]

    @property
    def device(self) -> Any:
        """Where the network lies."""
        return self._parts[2]

    @property
    def _parts(self) -> tuple[Any, Any, Any]:
        with self._lock:
            return self._loading

    @cached_property
    def _loading(self) -> tuple[Any, Any, Any]:
        from distillery_learned.metrics.networks import load_network, pack  # PyTorch takes seconds

        where = devices.device(self._asked)
        network, encoder = load_network(self.folder.path, int(self.folder.settings["units"]))
        network = network.to(where).requires_grad_(False)
        pack(network)
        return network, encoder.tokenizer, where

    def weights(self, pairs: Sequence[Pair]) -> list[Weights]:
        """The weights of the words of each answer, computed."""
        network, tokenizer, device = self._parts
        longest = int(self.folder.settings["longest"])
        cut_windows, word_spans = windows(tokenizer, pairs, longest, with_question=self.with_question)
        batches = _batches(cut_windows, ON_GPU if device.type == "cuda" else ON_CPU)
        pad = tokenizer.pad_token_id or 0
        weights = [np.zeros(len(of), np.float32) for of in word_spans]
        likely_of = partial(_likely, network, pad=pad, device=device)
        for batch, likely in zip(batches, spread(likely_of, batches, device), strict=True):
            for row, window in enumerate(batch):
                weights[window.pair][list(window.word_numbers)] = likely[row, : len(window.word_numbers)]
        return weights


_LOCK = Lock()


@lru_cache(maxsize=_LOADED)
def _load(path: str, digest: str, device: str) -> LoadedModel:
    return LoadedModel(opened(Path(path), KPQA, digest), device)


def _parts(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Pairs of about the same length together, as many as have a bounded number of characters."""
    part: list[Pair] = []
    size = 0
    for pair in sorted(pairs, key=lambda pair: len(pair[0]) + len(pair[1])):
        if part and size + len(pair[0]) + len(pair[1]) > AT_ONCE:
            yield part
            part, size = [], 0
        part.append(pair)
        size += len(pair[0]) + len(pair[1])
    if part:
        yield part


def _batches(windows: Sequence[Window], budget: int) -> list[list[Window]]:
    """Windows of about the same length together, as many as the budget of word pieces allows."""
    batches: list[list[Window]] = []
    for window in sorted((one for one in windows if one.word_numbers), key=lambda one: -len(one.ids)):
        if not batches or (len(batches[-1]) + 1) * len(batches[-1][0].ids) > budget:
            batches.append([])
        batches[-1].append(window)
    return batches


def _likely(network: Any, batch: Sequence[Window], pad: int, device: Any) -> Weights:
    """How likely the words of windows are part of key phrases: windows x words, filled up."""
    import torch

    def tensor(rows: list[Sequence[int]], fill: int = 0) -> Any:
        width = max(map(len, rows))
        return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows], device=device)

    logits = network(
        tensor([window.ids for window in batch], pad),
        tensor([[1] * len(window.ids) for window in batch]),
        tensor([window.types for window in batch]) if batch[0].types else None,
        tensor([window.firsts for window in batch]),
    )
    probabilities: Weights = torch.softmax(logits.float(), -1)[:, :, 1].cpu().numpy()
    return probabilities


def on_tokens(text: str, tokens: Sequence[str], weighed: WordWeights) -> list[float]:
    """A weight for each token of any tokeniser: the greatest of the words that it is on in the text.

    A token that says something else than the text, such as a number written out, has the words between its
    neighbours; a token that is on no word has 0.
    """
    spans: list[Span] = weighed.spans
    weights: list[float] = weighed.weights.tolist()
    if len(tokens) == len(spans) and all(
        text[begin:end].lower() == token.lower() for (begin, end), token in zip(spans, tokens, strict=True)
    ):
        return weights
    return on_places(_filled(_places(text, tokens), len(text)), weighed)


def on_places(places: Sequence[Span], weighed: WordWeights) -> list[float]:
    """A weight for each place in the text: the greatest of the words that stand there, or 0."""
    spans, weights = weighed.spans, weighed.weights.tolist()
    return [_greatest(spans, weights, place) for place in places]


def _places(text: str, tokens: Sequence[str]) -> list[Span | None]:
    """Places of tokens; after one that is written otherwise in the text the nearest of the next leads on."""
    places: list[Span | None] = []
    at = 0
    for _ in range(_LOST):
        part = placed(text[at:], tokens[len(places) :])
        while part and part[-1] is None:
            part.pop()
        places += [None if place is None else (place[0] + at, place[1] + at) for place in part]
        at = next((place[1] for place in reversed(places) if place), 0)
        nearest = min(_later(text, tokens[len(places) : len(places) + _AHEAD], at), default=None)
        if nearest is None:
            break
        at, ahead, end = nearest
        places += [*[None] * ahead, (at, end)]
        at = end
    return [*places, *[None] * (len(tokens) - len(places))]


def _later(text: str, tokens: Sequence[str], at: int) -> Iterator[tuple[int, int, int]]:
    """Where tokens stand next as they are: begin, number of the token, end."""
    lower = text.lower() if len(text.lower()) == len(text) else text
    for ahead, token in enumerate(tokens):
        begin = lower.find(token.lower(), at)
        while begin > 0 and lower[begin - 1].isalnum() and token[:1].isalnum():
            begin = lower.find(token.lower(), begin + 1)
        if begin >= 0 and token:
            yield begin, ahead, begin + len(token)


def _filled(places: Sequence[Span | None], end: int) -> list[Span]:
    """Places of tokens, those of tokens that were not found being what lies between their neighbours."""
    after = [end]
    for place in reversed(places):
        after.append(place[0] if place else after[-1])
    before = 0
    filled = []
    for at, place in enumerate(places, 1):
        filled.append(place or (before, after[len(places) - at]))
        before = place[1] if place else before
    return filled


def _greatest(spans: Sequence[Span], weights: Sequence[float], place: Span) -> float:
    first = max(bisect_right(spans, (place[0],)) - 1, 0)
    greatest = 0.0
    for at in range(first, len(spans)):
        begin, end = spans[at]
        if begin >= place[1]:
            break
        if end > place[0]:
            greatest = max(greatest, weights[at])
    return greatest
