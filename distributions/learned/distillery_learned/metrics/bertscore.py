"""BERTScore with any encoder (Zhang et al. 2020) and BERTScore-KPQA (Lee et al. 2021, equations 6-8).

Word pieces of candidate and reference are matched by the vectors that one layer of an encoder gives them;
vectors and matching are those of the package bert-score.

    P = sum over pieces x of the candidate of w(x) max_y cos(x, y) / sum of w(x)
    R = the same for pieces of the reference,  F1 = 2 P R / (P + R)

y are all pieces of the other text, those that frame it included. The package lets a maximum below 0 count as
0 where a text is padded to the length of a longer one beside it; here every text is padded, so that it always
does, whatever is beside it. So F1 lies between 0 and 1. Where weights of a side are all 0, it is 0.

What differs is the weight w of a piece:

- `bertscore`: 1, or its inverse document frequency among all references, and 0 for what frames a text.
- `bertscore-kpqa`: how likely its word is part of the key phrase of that text, given the question.
- `bertscore-kpqa-repo`: how likely the piece itself is.

Equation 6 prints a maximum over the reference of the product of its i-th vector with the candidate's j-th,
for the i-th weight of the candidate; equation 7 has the same product. What is computed is what Zhang et al.
define and the authors' code does: each token of the weighted text is matched with those of the other one.

Of several references the best one counts; an empty candidate, or one whose references are all empty, has 0.
Scores are not rescaled with a baseline.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from importlib.metadata import version
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from distillery_learned.metrics import devices, missing
from distillery_learned.metrics.devices import batches, spread
from distillery_learned.metrics.encoders import encoder, find_encoder
from distillery_learned.metrics.kpqa import said_of
from distillery_learned.metrics.word_weights import Weigher, WordWeights, on_places, weigher
from metrics.errors import MetricError
from metrics.learned_metrics import EncoderFolder
from metrics.model_folders import Choice
from metrics.profiles import BERTSCORE, KPQA, Profile
from metrics.texts import (
    Chunk,
    ChunkValues,
    Floats,
    Metric,
    Places,
    Survey,
    best,
    measured,
    owners,
    signature,
)
from metrics.word_spans import Span

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
        weights: Floats = np.log((self.number + 1) / (self.having + 1))
        return weights

    def merged(self, other: "References") -> "References":
        """Of all references of both."""
        return References(self.number + other.number, self.having + other.having)


# Keyphrase weights laid on the word pieces of an encoder, by their places in the text.
#
# Either every piece has the weight of the word that it belongs to. Or, as in the authors' code, each piece of
# the KPQA model's own tokeniser has its own weight, also those that begin no word, whose weights were never
# trained; an encoder with the same tokeniser then has the authors' weights. A piece that is on several of
# them has the greatest weight; one that is on none, such as those that frame a text, has 0.

Pair = tuple[str, str]
#: Pieces that the KPQA model sees at once.
_PIECES_WEIGHED = 1024


def pieces_weighed(weigher: Weigher, pairs: Sequence[Pair]) -> list[WordWeights]:
    """Pieces of answers under the KPQA model's tokeniser, each with its own weight.

    A pair that is too long for the model is cut, the longer text first; what is cut off has no weight.
    """
    if not pairs:
        return []
    loaded, with_question = weigher.loaded, weigher.with_question
    tokenizer = loaded.tokenizer
    sides = zip(*pairs, strict=True) if with_question else [[answer for _, answer in pairs]]
    encoded = tokenizer(
        *map(list, sides),
        truncation=True,
        max_length=int(weigher.folder.settings["longest"]),
        return_offsets_mapping=True,
    )
    ids = encoded["input_ids"]
    parts = list(batches(range(len(pairs)), lambda pair: len(ids[pair]), _PIECES_WEIGHED))

    def likely(batch: Sequence[int]) -> Floats:
        return _likely(loaded.network, encoded, batch, tokenizer.pad_token_id or 0, loaded.device)

    weights = [WordWeights([], np.zeros(0)) for _ in pairs]
    for batch, values in zip(parts, spread(likely, parts, loaded.device), strict=True):
        for row, pair in enumerate(batch):
            places = [at for at, side in enumerate(encoded.sequence_ids(pair)) if side == int(with_question)]
            spans = [tuple(encoded["offset_mapping"][pair][at]) for at in places]
            weights[pair] = WordWeights(spans, values[row, places])
    return weights


def _likely(network: Any, encoded: Any, batch: Sequence[int], pad: int, device: Any) -> Floats:
    """How likely each piece of some pairs is part of the key phrase, padded."""
    import torch  # takes seconds

    longest = max(len(encoded["input_ids"][pair]) for pair in batch)

    def padded(name: str, fill: int) -> Any:
        rows = [[*encoded[name][pair], *[fill] * (longest - len(encoded[name][pair]))] for pair in batch]
        return torch.tensor(rows, device=device)

    types = padded("token_type_ids", 0) if "token_type_ids" in encoded else None
    logits = network(padded("input_ids", pad), padded("attention_mask", 0), types)
    probabilities: Floats = torch.softmax(logits.float(), -1)[:, :, 1].double().cpu().numpy()
    return probabilities


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
    lacks = missing() or ("" if how.encoder else NO_ENCODER)
    predictor, without = said_of(kpqa.get("model")) if weighed else ({}, "")
    lacks = lacks or without
    if not lacks:
        try:
            folder = find_encoder(str(how.encoder), download=how.download)
        except MetricError as error:
            lacks = _in_a_sentence(str(error))
    new_metric = partial(Metric, name, _TITLES[name], needs=frozenset({"questions"} if weighed else ()))
    if lacks:
        return new_metric(signature(name, VERSION, encoder="none"), _lacking, lacks=lacks)
    layer = Layer(folder, folder.layer(how.layer), how.device)
    by = {"encoder": folder.signature, "layer": layer.number}
    rest = {"refs": how.refs, "baseline": "no", "package": f"bert-score-{version('bert-score')}"}
    if not weighed:
        full_signature = signature(name, VERSION, **by, idf="yes" if how.idf else "no", **rest)
        survey = Survey(partial(_survey, layer=layer), _merged) if how.idf else None
        return new_metric(full_signature, partial(_measure, layer=layer), survey=survey)
    weights = "words" if _OF_WORDS[name] else "pieces"
    full_signature = signature(name, VERSION, **by, **predictor, weights=weights, **rest)
    weigh = WordWeighting(
        kpqa["model"], str(kpqa.get("cache", "")), str(kpqa.get("device", "auto")), _OF_WORDS[name]
    )
    return new_metric(full_signature, partial(_measure_kpqa, layer=layer, weighing=weigh))


def _in_a_sentence(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:].rstrip(".")


def _lacking(_chunk: Chunk, _references: Any) -> NoReturn:
    raise MetricError("BERTScore was made without an encoder.")


def _survey(chunk: Chunk, layer: Layer) -> Any:
    vectors = layer.vectors(chunk)
    ids = [vectors.pieces[text].ids for text in chunk.references.tolist()]
    return References.of(ids, vectors.layers.vocabulary)


def _merged(first: Any, second: Any) -> Any:
    return first.merged(second)


def _measure(chunk: Chunk, survey: Any, layer: Layer) -> ChunkValues:
    vectors = layer.vectors(chunk)
    weigh = vectors.layers.plain() if survey is None else survey.idf()
    weights = [weigh[list(pieces.ids)] for pieces in vectors.pieces]
    return _best(chunk, vectors, [0] * len(chunk), lambda _question, text: weights[text])


def _measure_kpqa(chunk: Chunk, _references: Any, layer: Layer, weighing: WordWeighting) -> ChunkValues:
    vectors = layer.vectors(chunk)
    by = weigher(weighing.model, weighing.cache, weighing.device)
    questions = chunk.answers.questions or []
    numbers: dict[str, int] = {}
    question_numbers = [numbers.setdefault(question, len(numbers)) for question in questions]
    texts = [*chunk.candidates.tolist(), *chunk.references.tolist()]
    of = [*question_numbers, *(question_numbers[owner] for owner in owners(chunk.starts))]
    keys = [key for key in dict.fromkeys(zip(of, texts, strict=True)) if not vectors.pieces[key[1]].empty]
    distinct_questions = list(numbers)
    pairs = [(distinct_questions[question], chunk.texts[text]) for question, text in keys]
    weighed = by.weigh(pairs) if weighing.of_words else pieces_weighed(by, pairs)
    weights = {
        key: np.asarray(on_places(vectors.pieces[key[1]].spans, one), np.float32)
        for key, one in zip(keys, weighed, strict=True)
    }
    return _best(chunk, vectors, question_numbers, lambda question, text: weights[question, text])


def _best(
    chunk: Chunk, vectors: Any, questions: Sequence[int], weights: Callable[[int, int], Any]
) -> ChunkValues:
    """The best F1 of each candidate; equal pairs of texts under one question are matched once."""

    of = owners(chunk.starts)
    every = np.stack([np.asarray(questions, np.intp)[of], chunk.candidates[of], chunk.references])
    pairs, places = np.unique(every, axis=1, return_inverse=True)
    empty = np.array([pieces.empty for pieces in vectors.pieces], np.bool_)
    complete = ~(empty[pairs[1]] | empty[pairs[2]])
    question_numbers, candidates, references = pairs[:, complete]
    values = np.zeros(len(complete))
    values[complete] = f1(
        vectors,
        candidates,
        references,
        list(map(weights, question_numbers.tolist(), candidates.tolist())),
        list(map(weights, question_numbers.tolist(), references.tolist())),
    )
    return measured(best(values[places.ravel()], chunk.starts)[0], chunk.starts)


#: Word pieces that are computed together: what fits into a processor's caches, and what fills a GPU.
_PIECES_AT_ONCE = {"cpu": 1024}
_PIECES_AT_ONCE_ELSEWHERE = 1 << 15
#: Numbers in the vectors that are held at a time (a quarter of a gigabyte).
HELD = 1 << 26
#: Texts that are cut into pieces together, and encoders that a process holds.
_CUT, _LOADED = 512, 2


@dataclass(frozen=True, slots=True)
class Pieces:
    """Word pieces of a text by number, and where each is; those that frame the text stand nowhere.

    A text is `empty` that has no others.
    """

    ids: Sequence[int]
    spans: Sequence[Span]
    empty: bool


@dataclass(frozen=True, slots=True, eq=False)
class Layers:
    """The layers of an encoder up to one, and its tokeniser. Longer texts are cut at `longest` pieces."""

    name: str
    model: Any
    tokenizer: Any
    longest: int
    device: Any

    def pieces(self, texts: Sequence[str]) -> list[Pieces]:
        """The word pieces of each text, without the white space around it."""
        return [one for at in range(0, len(texts), _CUT) for one in self._pieces(texts[at : at + _CUT])]

    def _pieces(self, texts: Sequence[str]) -> list[Pieces]:
        bare = [_encodable(text).strip() for text in texts]
        encoded = self.tokenizer(
            bare,
            truncation=True,
            max_length=self.longest,
            return_offsets_mapping=True,
            return_special_tokens_mask=True,
        )
        if any(encoding.overflowing for encoding in encoded.encodings):
            _tell_cut(self.name, self.longest)
        every = []
        for place, text in enumerate(texts):
            frame = encoded["special_tokens_mask"][place]
            left = len(text) - len(text.lstrip())
            spans = [
                (0, 0) if of_frame else (begin + left, end + left)
                for (begin, end), of_frame in zip(encoded["offset_mapping"][place], frame, strict=True)
            ]
            every.append(Pieces(encoded["input_ids"][place], spans, all(frame)))
        return every

    @property
    def vocabulary(self) -> int:
        """How many pieces there are."""
        return len(self.tokenizer)

    def plain(self) -> Floats:
        """Weight 1 for each piece, 0 for those that frame a text."""
        weights = np.ones(self.vocabulary)
        weights[
            [id for id in (self.tokenizer.sep_token_id, self.tokenizer.cls_token_id) if id is not None]
        ] = 0
        return weights

    def vectors(self, texts: Sequence[Sequence[int]]) -> Any:
        """One vector for each piece of each text: a padded tensor (texts, pieces, units)."""
        from bert_score import utils  # takes seconds

        ids, _, mask = utils.padding(texts, self.tokenizer.pad_token_id or 0)
        return utils.bert_encode(self.model, ids.to(self.device), attention_mask=mask.to(self.device))


@lru_cache(maxsize=_LOADED)
def layers(encoder_folder: EncoderFolder, layer: int, device: str) -> Layers:
    """An encoder without what lies above a layer, loaded once."""
    from distillery_learned.metrics.networks import pack

    loaded = encoder(encoder_folder.folder)
    _cut(loaded.model, layer)
    where = devices.device(device)
    model = loaded.model.to(where).requires_grad_(False)
    pack(model)
    return Layers(encoder_folder.name, model, loaded.tokenizer, loaded.longest, where)


def _cut(model: Any, layer: int) -> None:
    """Take away the layers above one: the package cuts models by name alone, which it loads itself."""
    from torch import nn

    layer_count = int(model.config.num_hidden_layers)
    for stack in list(model.modules()):
        if isinstance(stack, nn.ModuleList) and len(stack) == layer_count:
            del stack[layer:]
            break
    model.config.num_hidden_layers = layer


def _encodable(text: str) -> str:
    """Halves of surrogate pairs, which no tokeniser takes, as question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


@cache
def _tell_cut(name: str, longest: int) -> None:
    logging.getLogger(__name__).warning(
        "BERTScore reads no more than %d word pieces of a text with the encoder %s; there are longer texts.",
        longest,
        name,
    )


@dataclass(eq=False)
class Vectors:
    """Vectors of the distinct texts of a chunk, computed when they are needed.

    They are held while they fit into `capacity` numbers, so that several metrics share them.
    """

    layers: Layers
    pieces: Sequence[Pieces]
    capacity: int = HELD
    _by_text: dict[int, Any] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """Units of a vector."""
        return int(self.layers.model.config.hidden_size)

    def size(self, text: int) -> int:
        """Numbers in the vectors of a text."""
        return len(self.pieces[text].ids) * self.width

    def of(self, texts: Sequence[int]) -> dict[int, Any]:
        """The vectors (pieces, units) of some texts."""
        distinct = set(texts)
        missing = distinct - self._by_text.keys()
        if sum(map(self.size, self._by_text)) + sum(map(self.size, missing)) > self.capacity:
            self._by_text = {text: vectors for text, vectors in self._by_text.items() if text in distinct}
        most = _PIECES_AT_ONCE.get(self.layers.device.type, _PIECES_AT_ONCE_ELSEWHERE)
        parts = list(batches(sorted(missing), lambda text: len(self.pieces[text].ids), most))
        for part in spread(self._computed, parts, self.layers.device):
            self._by_text |= part
        return self._by_text

    def _computed(self, texts: Sequence[int]) -> dict[int, Any]:
        vectors = self.layers.vectors([self.pieces[text].ids for text in texts])
        return {text: vectors[row, : len(self.pieces[text].ids)].clone() for row, text in enumerate(texts)}


#: Numbers in the vectors of pairs that are matched together.
_PAIR_NUMBERS = 1 << 22
Weights = Sequence[Sequence[float] | npt.NDArray[np.floating[Any]]]


def f1(
    vectors: Vectors, candidates: Places, references: Places, weights: Weights, reference_weights: Weights
) -> Floats:
    """F1 of pairs (P) of texts by their places, none of them empty.

    `weights` has a weight for each piece of each pair's candidate, `reference_weights` of its reference.
    """
    values = np.zeros(len(candidates))
    for block in _blocks(vectors, candidates, references):
        mine, theirs = [[of[pair] for pair in block.tolist()] for of in (weights, reference_weights)]
        values[block] = _of_block(vectors, candidates[block], references[block], mine, theirs)
    return np.clip(values, 0, 1)


def _of_block(
    vectors: Vectors, candidates: Places, references: Places, weights: Weights, reference_weights: Weights
) -> Floats:
    """F1 of pairs whose vectors are held together."""
    by_text = vectors.of(sorted({*candidates.tolist(), *references.tolist()}))
    lengths = np.array([len(pieces.ids) for pieces in vectors.pieces], np.intp)
    parts = list(_batches(lengths[candidates], lengths[references], vectors.width))

    def matched(pairs: Places) -> Floats:
        sides = [
            _padded([by_text[text] for text in texts[pairs].tolist()], [of[pair] for pair in pairs.tolist()])
            for texts, of in ((references, reference_weights), (candidates, weights))
        ]
        return _matched(*sides)

    values = np.zeros(len(candidates))
    for pairs, part in zip(parts, spread(matched, parts, vectors.layers.device), strict=True):
        values[pairs] = part
    return values


def _blocks(vectors: Vectors, candidates: Places, references: Places) -> Iterator[Places]:
    """Pairs whose vectors can be held together; those that share a reference stand beside each other."""
    block: list[int] = []
    texts: set[int] = set()
    size = 0
    for pair in np.lexsort((candidates, references)).tolist():
        both = {int(candidates[pair]), int(references[pair])}
        more = sum(vectors.size(text) for text in both - texts)
        if block and size + more > vectors.capacity:
            yield np.array(block, np.intp)
            block, texts, size = [], set(), 0
            more = sum(map(vectors.size, both))
        block.append(pair)
        texts |= both
        size += more
    if block:
        yield np.array(block, np.intp)


def _batches(lengths: Places, other_lengths: Places, width: int) -> Iterator[Places]:
    """Pairs of about the same lengths together."""
    order = np.lexsort((other_lengths, lengths))
    batch: list[int] = []
    first = second = 0
    for pair in order.tolist():
        longer, other = max(first, int(lengths[pair])), max(second, int(other_lengths[pair]))
        if batch and (len(batch) + 1) * (longer + other) * width > _PAIR_NUMBERS:
            yield np.array(batch, np.intp)
            batch, longer, other = [], int(lengths[pair]), int(other_lengths[pair])
        batch.append(pair)
        first, second = longer, other
    if batch:
        yield np.array(batch, np.intp)


def _padded(vectors: Sequence[Any], weights: Weights) -> tuple[Any, Any, Any]:
    """Vectors, mask and weights as the package takes them, all with room for one piece more than there is."""
    import torch

    device = vectors[0].device
    longest = max(map(len, vectors)) + 1
    lengths = torch.tensor([len(of) for of in vectors], device=device)
    filled = torch.ones((len(vectors), longest, vectors[0].shape[-1]), device=device)
    rows = torch.zeros((len(vectors), longest))
    for row, (of, weight) in enumerate(zip(vectors, weights, strict=True)):
        filled[row, : len(of)] = of
        rows[row, : len(of)] = torch.as_tensor(weight, dtype=torch.float32)
    mask = torch.arange(longest, device=device) < lengths[:, None]
    return filled, mask, rows.to(device)


def _matched(reference: tuple[Any, Any, Any], candidate: tuple[Any, Any, Any]) -> Floats:
    from bert_score.utils import greedy_cos_idf

    scores: Floats = greedy_cos_idf(*reference, *candidate)[2].double().cpu().numpy()
    return scores
