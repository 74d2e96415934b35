"""BERTScore (Zhang et al. 2020) and BERTScore-KPQA (Lee et al. 2021, equations 6-8).

Word pieces of candidate and reference are matched by the vectors that one layer of an encoder gives them;
metrics/learned/bert/greedy.py has the formula. What differs is the weight of a piece:

- `bertscore`: 1, or its inverse document frequency among all references, and 0 for what frames a text.
- `bertscore-kpqa`: how likely its word is part of the key phrase of that text, given the question.
- `bertscore-kpqa-repo`: how likely the piece itself is (metrics/learned/bert/keyphrase.py).

Equation 6 prints a maximum over the reference of the product of its i-th vector with the candidate's j-th,
for the i-th weight of the candidate; equation 7 has the same product. What is computed is what Zhang et al.
define and the authors' code does: each token of the weighted text is matched with those of the other one.

Of several references the best one counts; an empty candidate, or one whose references are all empty, has 0.
Scores are not rescaled with a baseline.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from typing import Any, NoReturn

import numpy as np

from metrics.answers.references import best, measured, owners
from metrics.base import ChunkValues, Metric, Survey, signature
from metrics.errors import MetricError
from metrics.learned import extra
from metrics.learned.bert.encoder_folder import EncoderFolder, known
from metrics.learned.kpqa.metrics import said_of
from metrics.learned.profile_models import BERTSCORE, KPQA, Choice
from metrics.profiles import Profile
from metrics.texts import Chunk

VERSION = 1
NO_ENCODER = "no encoder is chosen (--encoder NAME|FOLDER, or the setting BERTSCORE_ENCODER)"
#: By whose weights pieces count: each has that of its word, or its own.
_OF_WORDS = {"bertscore-kpqa": True, "bertscore-kpqa-repo": False}
_TITLES = {
    "bertscore": "BERTScore",
    "bertscore-kpqa": "BERTScore-KPQA",
    "bertscore-kpqa-repo": "BERTScore-KPQA (repo)",
}
NAMES = tuple(_TITLES)


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

        def made() -> Vectors:
            loaded = layers(self.encoder, self.number, self.device)
            return Vectors(loaded, loaded.pieces(chunk.texts))

        return chunk.once(("vectors", self.encoder.digest, self.number), made)


def make(name: str, profile: Profile) -> Metric:
    """A metric of `NAMES` as the profile's `bertscore` (fields of `Bertscore`) and `kpqa` have it.

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
    from metrics.learned.bert.frequencies import References

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
    from metrics.learned.bert.keyphrase import pieces_weighed
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
