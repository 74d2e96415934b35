"""A cross-encoder in the form that Hugging Face's cross-encoders are shipped in, run by ONNX Runtime.

FOLDER/model.onnx or FOLDER/onnx/model.onnx, FOLDER/tokenizer.json, and if there are any config.json and
tokenizer_config.json, which say how long a pair may be. Nothing is downloaded.
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

from core.failures import translated_failure
from retrieval.crown.passages import FloatArray
from retrieval.errors import ModelError

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
        found = np.empty(len(passages))
        # Pairs of like length go together, as all of a batch are padded to its longest.
        order = sorted(range(len(passages)), key=lambda place: len(passages[place]))
        for start in range(0, len(order), AT_ONCE):
            places = order[start : start + AT_ONCE]
            found[places] = self._batch(question, [passages[place] for place in places])
        if not np.isfinite(found).all():
            raise ModelError(f"The cross-encoder {self.name!r} gives scores that are no numbers.")
        return found

    def _batch(self, question: str, passages: Sequence[str]) -> FloatArray:
        encoded = self.tokenizer.encode_batch([(question, passage) for passage in passages])
        columns = {
            "input_ids": [each.ids for each in encoded],
            "attention_mask": [each.attention_mask for each in encoded],
            "token_type_ids": [each.type_ids for each in encoded],
        }
        given = {
            each.name: np.array(columns[each.name], np.int32 if "int32" in each.type else np.int64)
            for each in self.session.get_inputs()
        }
        # ONNX Runtime has no base class of its own for its errors.
        with translated_failure(
            lambda error: ModelError(f"The cross-encoder {self.name!r} cannot be run: {error}")
        ):
            answer = np.asarray(self.session.run(None, given)[0], np.float64)
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
    path = next(
        (path for path in (folder / "model.onnx", folder / "onnx" / "model.onnx") if path.is_file()), None
    )
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
    found = [LONGEST_PAIR]
    for name, field in (
        ("config.json", "max_position_embeddings"),
        ("tokenizer_config.json", "model_max_length"),
    ):
        try:
            value = json.loads((folder / name).read_bytes())[field]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if isinstance(value, int) and value >= 8:
            found.append(value)
    return min(found)
