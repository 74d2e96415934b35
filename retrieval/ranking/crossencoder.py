"""Another ranker's passages in the order of a cross-encoder, which reads question and passage together.

Off unless the operator names a model (`CROSS_ENCODER`): it costs a hundred times what CROWN costs.
"""

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from core.errors import translated_failure
from retrieval.errors import ModelError
from retrieval.ranking.base import Collection, RankedPassage, Ranker, Ranking
from retrieval.ranking.parameters import DEFAULT_MODEL, turn_weights
from retrieval.ranking.scoring import FloatArray

DEPTH = 100
PART = "cross-encoder"


@dataclass(frozen=True)
class CrossEncoder:
    """Reads the first `depth` passages of another ranker with the turns that the query model keeps."""

    inner: Ranker
    folder: Path
    query_model: str = DEFAULT_MODEL
    depth: int = DEPTH

    @property
    def name(self) -> str:
        """cross-encoder(balanced), with what differs from the usual options after it."""
        model = "" if self.query_model == DEFAULT_MODEL else f":{self.query_model}"
        depth = "" if self.depth == DEPTH else f":depth={self.depth}"
        return f"cross-encoder({self.inner.name}){model}{depth}"

    def rank(self, collections: Sequence[Collection], turns: Sequence[str], k: int) -> Ranking:
        """The k passages with the greatest scores of the model; equal ones as the other ranker has them."""
        model = open_model(self.folder)
        first = self.inner.rank(collections, turns, max(k, self.depth))
        texts = {
            (collection.name, pk): text
            for collection in collections
            for pk, text in collection.texts(
                [each.pk for each in first.results if each.collection == collection.name]
            ).items()
        }
        # A passage may have been deleted since the index was asked.
        with_text = [each for each in first.results if (each.collection, each.pk) in texts]
        scores = model.scores(
            self.question(turns), [texts[each.collection, each.pk] for each in with_text]
        ).tolist()
        order = sorted(range(len(with_text)), key=lambda place: (-scores[place], place))[:k]
        return Ranking(
            ranker=self.name,
            parameters={
                "model": model.name,
                "digest": model.digest,
                "query_model": self.query_model,
                "depth": self.depth,
                "inner": {"ranker": first.ranker, **first.parameters},
            },
            generations=first.generations,
            terms=first.terms,
            results=[
                RankedPassage(
                    rank,
                    scores[place],
                    with_text[place].collection,
                    with_text[place].pk,
                    {**with_text[place].parts, self.inner.name: with_text[place].score, PART: scores[place]},
                )
                for rank, place in enumerate(order, 1)
            ],
            notes=first.notes,
        )

    def question(self, turns: Sequence[str]) -> str:
        """What the model reads as the question: the turns that weigh something, oldest first, each once."""
        weights = turn_weights(len(turns), self.query_model)
        weighted_turns = [turn.strip() for turn, weight in zip(turns, weights, strict=True) if weight > 0]
        return " ".join(dict.fromkeys(turn for turn in weighted_turns if turn))


# A cross-encoder in the form that Hugging Face's cross-encoders are shipped in, run by ONNX Runtime.
#
# FOLDER/model.onnx or FOLDER/onnx/model.onnx, FOLDER/tokenizer.json, and if there are any config.json and
# tokenizer_config.json, which say how long a pair may be. Nothing is downloaded.

#: Tokens of question and passage together, unless the model takes fewer.
LONGEST_PAIR = 512
#: Pairs that go through the model at a time.
AT_ONCE = 32
_MODELS = ("model.onnx", "onnx/model.onnx")
_KNOWN_INPUTS = ("input_ids", "attention_mask", "token_type_ids")
_PADDING = ("[PAD]", "<pad>", "<|padding|>")
_INSTALL = (
    "A cross-encoder needs the packages onnxruntime and tokenizers: install Distillery with the extra "
    "`cross-encoder`."
)


@dataclass(frozen=True)
class CrossEncoderModel:
    """A model that gives a pair of question and passage a score; bigger means a better answer."""

    name: str
    digest: str
    session: Any
    tokenizer: Any

    def scores(self, question: str, passages: Sequence[str]) -> FloatArray:
        """One score for each passage, in their order. ModelError for a model of another kind."""
        scores_found = np.empty(len(passages))
        # Pairs of like length go together, as all of a batch are padded to its longest.
        order = sorted(range(len(passages)), key=lambda place: len(passages[place]))
        for start in range(0, len(order), AT_ONCE):
            places = order[start : start + AT_ONCE]
            scores_found[places] = self._batch(question, [passages[place] for place in places])
        if not np.isfinite(scores_found).all():
            raise ModelError(f"The cross-encoder {self.name!r} gives scores that are no numbers.")
        return scores_found

    def _batch(self, question: str, passages: Sequence[str]) -> FloatArray:
        encoded = self.tokenizer.encode_batch([(question, passage) for passage in passages])
        columns = {
            "input_ids": [each.ids for each in encoded],
            "attention_mask": [each.attention_mask for each in encoded],
            "token_type_ids": [each.type_ids for each in encoded],
        }
        inputs = {
            each.name: np.array(columns[each.name], np.int32 if "int32" in each.type else np.int64)
            for each in self.session.get_inputs()
        }
        # ONNX Runtime has no base class of its own for its errors.
        with translated_failure(
            lambda error: ModelError(f"The cross-encoder {self.name!r} cannot be run: {error}")
        ):
            answer = np.asarray(self.session.run(None, inputs)[0], np.float64)
        return self._one_column(answer, len(passages))

    def _one_column(self, answer: FloatArray, count: int) -> FloatArray:
        """The score; of a model with two classes, how far the second (relevant) is above the first."""
        if answer.shape in {(count,), (count, 1)}:
            return answer.reshape(count)
        if answer.shape == (count, 2):
            return np.asarray(answer[:, 1] - answer[:, 0])
        raise ModelError(
            f"The model {self.name!r} gives {answer.shape[1:]} numbers for a pair; a cross-encoder gives one "
            "number, or two classes."
        )


def open_model(folder: Path) -> CrossEncoderModel:
    """The model of a folder; kept open by the process until its file changes."""
    path = next((path for path in (folder / name for name in _MODELS) if path.is_file()), None)
    tokenizer = folder / "tokenizer.json"
    if path is None or not tokenizer.is_file():
        missing = "model.onnx" if path is None else "tokenizer.json"
        raise ModelError(
            f"{folder} holds no cross-encoder: {missing} is missing. CROSS_ENCODER names a folder with "
            "model.onnx and tokenizer.json."
        )
    return _opened(folder, path, (path.stat().st_mtime_ns, tokenizer.stat().st_mtime_ns), os.getpid())


@lru_cache(maxsize=2)
def _opened(folder: Path, path: Path, state: tuple[int, int], process: int) -> CrossEncoderModel:
    try:
        import onnxruntime  # optional
        import tokenizers  # optional
    except ImportError as error:
        raise ModelError(_INSTALL) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    # Both libraries raise bare Exception for damaged files.
    with translated_failure(
        lambda error: ModelError(f"The cross-encoder in {folder} cannot be opened: {error}")
    ):
        tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    unknown = [each.name for each in session.get_inputs() if each.name not in _KNOWN_INPUTS]
    if unknown:
        raise ModelError(f"The model in {folder} wants {', '.join(unknown)}, which no cross-encoder does.")
    for mark in _PADDING:
        if (number := tokenizer.token_to_id(mark)) is not None:
            tokenizer.enable_padding(pad_id=number, pad_token=mark)
            break
    else:
        tokenizer.enable_padding()  # with token 0; the mask leaves it out
    tokenizer.enable_truncation(_longest(folder))
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return CrossEncoderModel(folder.name, digest, session, tokenizer)


def _longest(folder: Path) -> int:
    """Tokens of a pair, as the model's own files say; some of them say "without end"."""
    limits = [LONGEST_PAIR]
    for name, field in (
        ("config.json", "max_position_embeddings"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        try:
            value = json.loads((folder / name).read_bytes())[field]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if isinstance(value, int) and value >= 8:
            limits.append(value)
    return min(limits)
