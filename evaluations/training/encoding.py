"""Vectors of a material's texts: from an encoder that is there, or from a GRU trained on its questions."""

import json
from collections.abc import Iterator
from pathlib import Path

from evaluations.errors import EvaluationError
from evaluations.training.protocols import Indices
from evaluations.training.sources import Material
from evaluations.training.study import Encode
from metrics.neural.adem_examples import EncodedExamples, Progress, encode
from metrics.neural.gru import GruSettings, train_gru
from metrics.neural.text_encoders import text_encoder

GRU = "gru"
_FEWEST_TURNS = 2


def encoding(
    material: Material,
    name: str,
    *,
    dialogues: Path | None,
    device: str,
    download: bool,
    seed: int,
    progress: Progress,
) -> Encode:
    """Gives vectors to all rows. MetricError for an encoder that is not there.

    The GRU is trained on `dialogues`; without them again for each training part, on its questions with their
    references, so that no text of a test is in it.
    """
    if name != GRU:
        encoded = encode(material.examples, text_encoder(name, download=download, device=device), progress)
        return lambda _rows: encoded
    if dialogues is not None:
        alone = _of_gru(material, list(turns_of(dialogues)), device=device, seed=seed, progress=progress)
        return lambda _rows: alone

    def anew(rows: Indices) -> EncodedExamples:
        known = talks_of(material, rows)
        return _of_gru(material, known, device=device, seed=seed, progress=progress)

    return anew


def talks_of(material: Material, rows: Indices) -> list[tuple[str, ...]]:
    """Questions of some rows with each of their references, once each; no answer that is to be scored."""
    own = [material.examples[row] for row in rows.tolist()]
    turns = [(*each.context, reference) for each in own for reference in each.references]
    return [each for each in dict.fromkeys(turns) if all(turn.strip() for turn in each)]


def turns_of(path: Path) -> Iterator[tuple[str, ...]]:
    """Dialogues of a JSONL file: a list of turns in each line, or an object with `turns`."""
    try:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                if line.strip():
                    yield _turns(path, number, line)
    except (OSError, UnicodeDecodeError) as error:
        raise EvaluationError(f"--dialogues {path} cannot be read: {error}.") from error


def _turns(path: Path, number: int, line: str) -> tuple[str, ...]:
    try:
        found = json.loads(line)
    except ValueError as error:
        raise EvaluationError(f"{path}, line {number} is no JSON: {error}.") from error
    turns = found.get("turns") if isinstance(found, dict) else found
    if not isinstance(turns, list) or not all(isinstance(turn, str) for turn in turns):
        raise EvaluationError(
            f'{path}, line {number} is no dialogue. Write a list of texts, or {{"turns": [...]}}.'
        )
    kept = tuple(turn for turn in turns if turn.strip())
    if len(kept) < _FEWEST_TURNS:
        raise EvaluationError(f"{path}, line {number} has fewer than two turns; leave it out.")
    return kept


def _of_gru(
    material: Material, dialogues: list[tuple[str, ...]], *, device: str, seed: int, progress: Progress
) -> EncodedExamples:

    encoder = train_gru(dialogues, GruSettings(seed=seed, device=device), progress)
    return encode(material.examples, encoder, progress)
