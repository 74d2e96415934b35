"""BERTScore (Zhang et al. 2020) and BERTScore-KPQA (Lee et al. 2021, equations 6-8).

Word pieces of candidate and reference are matched by the vectors that one layer of an encoder gives them;
metrics/learned/bert/greedy.py has the formula. What differs is the weight of a piece:

- `bertscore`: 1, or its inverse document frequency among all references, and 0 for what frames a text.
- `bertscore-kpqa`: how likely its word is part of the key phrase of that text, given the question.
- `bertscore-kpqa-repo`: how likely the piece itself is (metrics/learned/bert/metrics.py).

Equation 6 prints a maximum over the reference of the product of its i-th vector with the candidate's j-th,
for the i-th weight of the candidate; equation 7 has the same product. What is computed is what Zhang et al.
define and the authors' code does: each token of the weighted text is matched with those of the other one.

Of several references the best one counts; an empty candidate, or one whose references are all empty, has 0.
Scores are not rescaled with a baseline.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from metrics.answers.references import best, measured, owners
from metrics.base import ChunkValues, Floats, Metric, Survey, signature
from metrics.errors import MetricError
from metrics.learned import extra
from metrics.learned.batches import batches, spread
from metrics.learned.bert.encoder_folder import EncoderFolder, known
from metrics.learned.kpqa.metrics import said_of
from metrics.learned.kpqa.word_weights import Weigher, WordWeights
from metrics.learned.profile_models import Choice
from metrics.profiles import BERTSCORE, KPQA, Profile
from metrics.texts import Chunk

# Inverse document frequencies of word pieces, as the package bert-score defines them.
#
#     idf(piece) = log((N + 1) / (number of references with the piece + 1))
#
# N is the number of references of the whole data set, each as often as it is there. A piece that is in no
# reference has log(N + 1), one that is in all of them 0, as the pieces that frame every text.


@dataclass(frozen=True, slots=True, eq=False)
class References:
    """How many references there are, and how many have each piece (by its number)."""

    number: int
    having: npt.NDArray[np.int64]

    @classmethod
    def of(cls, references: Iterable[Sequence[int]], pieces: int) -> "References":
        """Of some references as numbers of pieces, out of so many pieces."""
        having = np.zeros(pieces, np.int64)
        number = 0
        for ids in references:
            having[np.unique(np.asarray(ids, np.intp))] += 1
            number += 1
        return cls(number, having)

    def idf(self) -> Floats:
        """The weight of each piece."""
        found: Floats = np.log((self.number + 1) / (self.having + 1))
        return found

    def merged(self, other: "References") -> "References":
        """Of all references of both."""
        return References(self.number + other.number, self.having + other.having)


# Keyphrase weights laid on the word pieces of an encoder, by their places in the text.
#
# Either every piece has the weight of the word that it belongs to. Or, as in the authors' code, each piece of
# the KPQA model's own tokeniser has its own weight, also those that begin no word, whose weights were never
# trained; an encoder with the same tokeniser then has the authors' weights. A piece that stands on several of
# them has the greatest weight; one that stands on none, such as those that frame a text, has 0.

Pair = tuple[str, str]
_TOGETHER = 1024


def pieces_weighed(weigher: Weigher, pairs: Sequence[Pair]) -> list[WordWeights]:
    """Pieces of answers under the KPQA model's tokeniser, each with its own weight.

    A pair that is too long for the model is cut, the longer text first; what is cut off has no weight.
    """
    if not pairs:
        return []
    loaded, asked = weigher.loaded, weigher.with_question
    tokenizer = loaded.tokenizer
    sides = zip(*pairs, strict=True) if asked else [[answer for _, answer in pairs]]
    given = tokenizer(
        *map(list, sides),
        truncation=True,
        max_length=int(weigher.folder.settings["longest"]),
        return_offsets_mapping=True,
    )
    ids = given["input_ids"]
    parts = list(batches(range(len(pairs)), lambda pair: len(ids[pair]), _TOGETHER))

    def likely(batch: Sequence[int]) -> Floats:
        return _likely(loaded.network, given, batch, tokenizer.pad_token_id or 0, loaded.device)

    found = [WordWeights([], np.zeros(0)) for _ in pairs]
    for batch, values in zip(parts, spread(likely, parts, loaded.device), strict=True):
        for row, pair in enumerate(batch):
            places = [at for at, side in enumerate(given.sequence_ids(pair)) if side == int(asked)]
            spans = [tuple(given["offset_mapping"][pair][at]) for at in places]
            found[pair] = WordWeights(spans, values[row, places])
    return found


def _likely(network: Any, given: Any, batch: Sequence[int], pad: int, device: Any) -> Floats:
    """How likely each piece of some pairs is part of the key phrase, padded."""
    import torch  # takes seconds

    longest = max(len(given["input_ids"][pair]) for pair in batch)

    def padded(name: str, fill: int) -> Any:
        rows = [[*given[name][pair], *[fill] * (longest - len(given[name][pair]))] for pair in batch]
        return torch.tensor(rows, device=device)

    types = padded("token_type_ids", 0) if "token_type_ids" in given else None
    logits = network(padded("input_ids", pad), padded("attention_mask", 0), types)
    found: Floats = torch.softmax(logits.float(), -1)[:, :, 1].double().cpu().numpy()
    return found


VERSION = 1
NO_ENCODER = "no encoder is chosen (--encoder NAME|FOLDER, or the setting BERTSCORE_ENCODER)"
#: By whose weights pieces count: each has that of its word, or its own.
_OF_WORDS = {"bertscore-kpqa": True, "bertscore-kpqa-repo": False}
_TITLES = {
    "bertscore": "BERTScore",
    "bertscore-kpqa": "BERTScore-KPQA",
    "bertscore-kpqa-repo": "BERTScore-KPQA (repo)",
}


@dataclass(frozen=True, slots=True)
class Bertscore:
    """The parameters of BERTScore.

    `encoder` is a folder, or a name in the local cache; `download` lets it be fetched. `layer` counts from 0,
    the vectors that go into the first layer; None is the last. `idf` weighs pieces of `bertscore` by their
    inverse document frequency. Of several references the `best` counts.
    """

    encoder: str = ""
    layer: int | None = None
    idf: bool = False
    refs: str = "best"
    download: bool = False
    device: str = "auto"

    def __post_init__(self) -> None:
        if self.refs != "best":
            raise MetricError(f"BERTScore takes the best of several references, not {self.refs!r}.")


@dataclass(frozen=True, slots=True)
class WordWeighting:
    """A KPQA model, where its weights are kept, where it is computed, and whose weights count."""

    model: Choice
    cache: str
    device: str
    of_words: bool


@dataclass(frozen=True, slots=True)
class Layer:
    """A layer of an encoder, and where it is computed."""

    encoder: EncoderFolder
    number: int
    device: str

    def vectors(self, chunk: Chunk) -> Any:
        """The vectors of a chunk's texts, which all metrics of an encoder and layer share."""
        from metrics.learned.bert.vectors import Vectors, layers

        def compute_vectors() -> Vectors:
            loaded = layers(self.encoder, self.number, self.device)
            return Vectors(loaded, loaded.pieces(chunk.texts))

        return chunk.once(("vectors", self.encoder.digest, self.number), compute_vectors)


def make(name: str, profile: Profile) -> Metric:
    """One of the metrics as the profile's `bertscore` (fields of `Bertscore`) and `kpqa` have it.

    Of the `kpqa` settings `model`, `cache` and `device` are taken.
    """
    how = Bertscore(**profile.options(BERTSCORE))
    kpqa = profile.options(KPQA)
    weighed = name in _OF_WORDS
    lacks = extra.missing() or ("" if how.encoder else NO_ENCODER)
    predictor, without = said_of(kpqa.get("model")) if weighed else ({}, "")
    lacks = lacks or without
    if not lacks:
        try:
            found = known(str(how.encoder), download=how.download)
        except MetricError as error:
            lacks = _in_a_sentence(str(error))
    whole = partial(Metric, name, _TITLES[name], needs=frozenset({"questions"} if weighed else ()))
    if lacks:
        return whole(signature(name, VERSION, encoder="none"), _lacking, lacks=lacks)
    layer = Layer(found, found.layer(how.layer), how.device)
    by = {"encoder": found.signature, "layer": layer.number}
    rest = {"refs": how.refs, "baseline": "no", "package": f"bert-score-{version('bert-score')}"}
    if not weighed:
        said = signature(name, VERSION, **by, idf="yes" if how.idf else "no", **rest)
        survey = Survey(partial(_survey, layer=layer), _merged) if how.idf else None
        return whole(said, partial(_measure, layer=layer), survey=survey)
    weights = "words" if _OF_WORDS[name] else "pieces"
    said = signature(name, VERSION, **by, **predictor, weights=weights, **rest)
    weigh = WordWeighting(
        kpqa["model"], str(kpqa.get("cache", "")), str(kpqa.get("device", "auto")), _OF_WORDS[name]
    )
    return whole(said, partial(_measure_kpqa, layer=layer, weighing=weigh))


def _in_a_sentence(said: str) -> str:
    return said[:1].lower() + said[1:].rstrip(".")


def _lacking(_chunk: Chunk, _found: Any) -> NoReturn:
    raise MetricError("BERTScore was made without an encoder.")


def _survey(chunk: Chunk, layer: Layer) -> Any:
    vectors = layer.vectors(chunk)
    ids = [vectors.pieces[text].ids for text in chunk.references.tolist()]
    return References.of(ids, vectors.layers.vocabulary)


def _merged(first: Any, second: Any) -> Any:
    return first.merged(second)


def _measure(chunk: Chunk, found: Any, layer: Layer) -> ChunkValues:
    vectors = layer.vectors(chunk)
    weigh = vectors.layers.plain() if found is None else found.idf()
    weights = [weigh[list(pieces.ids)] for pieces in vectors.pieces]
    return _best(chunk, vectors, [0] * len(chunk), lambda _question, text: weights[text])


def _measure_kpqa(chunk: Chunk, _found: Any, layer: Layer, weighing: WordWeighting) -> ChunkValues:
    from metrics.learned.kpqa.word_weights import on_places, weigher

    vectors = layer.vectors(chunk)
    by = weigher(weighing.model, weighing.cache, weighing.device)
    questions = chunk.answers.questions or []
    numbers: dict[str, int] = {}
    asked = [numbers.setdefault(question, len(numbers)) for question in questions]
    texts = [*chunk.candidates.tolist(), *chunk.references.tolist()]
    of = [*asked, *(asked[owner] for owner in owners(chunk.starts))]
    keys = [key for key in dict.fromkeys(zip(of, texts, strict=True)) if not vectors.pieces[key[1]].empty]
    words = list(numbers)
    pairs = [(words[question], chunk.texts[text]) for question, text in keys]
    weighed = by.weigh(pairs) if weighing.of_words else pieces_weighed(by, pairs)
    weights = {
        key: np.asarray(on_places(vectors.pieces[key[1]].spans, one), np.float32)
        for key, one in zip(keys, weighed, strict=True)
    }
    return _best(chunk, vectors, asked, lambda question, text: weights[question, text])


def _best(
    chunk: Chunk, vectors: Any, questions: Sequence[int], weights: Callable[[int, int], Any]
) -> ChunkValues:
    """The best F1 of each candidate; equal pairs of texts under one question are matched once."""
    from metrics.learned.bert.greedy import f1

    of = owners(chunk.starts)
    every = np.stack([np.asarray(questions, np.intp)[of], chunk.candidates[of], chunk.references])
    pairs, places = np.unique(every, axis=1, return_inverse=True)
    empty = np.array([pieces.empty for pieces in vectors.pieces], np.bool_)
    whole = ~(empty[pairs[1]] | empty[pairs[2]])
    asked, candidates, references = pairs[:, whole]
    values = np.zeros(len(whole))
    values[whole] = f1(
        vectors,
        candidates,
        references,
        list(map(weights, asked.tolist(), candidates.tolist())),
        list(map(weights, asked.tolist(), references.tolist())),
    )
    return measured(best(values[places.ravel()], chunk.starts)[0], chunk.starts)
