"""BLEU-1-KPQA and ROUGE-L-KPQA: n-gram metrics that weigh words by the question (Lee et al. 2021).

The formulas and their variants are those of `metrics.answers.keyphrase`; here a model gives the weights.
Each pair of question and text is weighed once for all metrics of a chunk, and of several references the best
counts, as in the authors' code.

Tokens are those of the profile's tokeniser, or with the tokeniser `pieces` the model's own word pieces, as
the authors' code has them. A token has the weight of the word that it stands on.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from metrics.answers.keyphrase import Pairs, bleu1_of, rouge_l_of
from metrics.answers.references import best, measured, owners
from metrics.base import ChunkValues, Floats, Metric, signature
from metrics.errors import MetricError
from metrics.learned.extra import missing
from metrics.learned.folders import read_card
from metrics.learned.kpqa.word_weights import Weigher, on_places, on_tokens, weigher
from metrics.learned.profile_models import Choice
from metrics.learned.words import Span
from metrics.profiles import KPQA, Profile
from metrics.texts import Chunk, Places, Tokens
from metrics.tokens.registry import tokeniser_named

#: Variants of the formulas by name.
VARIANTS = {
    "bleu-1-kpqa": "paper",
    "bleu-1-kpqa-repo": "repo",
    "rouge-l-kpqa": "weighted",
    "rouge-l-kpqa-paper": "paper",
    "rouge-l-kpqa-repo": "repo",
}
#: The tokeniser that is the model's own.
PIECES = "pieces"
NO_MODEL = "no KPQA model is chosen (--model FOLDER)"
#: Tokens of pairs that are worked out together, and how much longer one may be than another.
_CELLS, _STEP = 1 << 17, 8


@dataclass(frozen=True, slots=True)
class MetricSettings:
    """`variant` is one of `keyphrase`; `cache` and `device` are those of `weighing.weigher`."""

    rouge: bool
    variant: str
    beta: float
    tokeniser: str
    model: Choice | None
    cache: str
    device: str


def make(name: str, profile: Profile) -> Metric:
    """`bleu-1-kpqa` and its like, as the profile's `kpqa` settings have it.

    Settings are `model` (a `Choice`; without one the metric says that it lacks it), `cache`, `device`, `beta`
    and `tokeniser`.
    """
    options = profile.options(KPQA)
    how = MetricSettings(
        rouge=name.startswith("rouge"),
        variant=VARIANTS[name],
        beta=float(options.get("beta", 1.0)),
        tokeniser=profile.tokeniser_for(KPQA),
        model=options.get("model"),
        cache=str(options.get("cache", "")),
        device=str(options.get("device", "auto")),
    )
    tokens = PIECES if how.tokeniser == PIECES else tokeniser_named(how.tokeniser).label
    asked, lacks = said_of(how.model)
    said = {"tok": tokens, "variant": how.variant}
    if how.rouge:
        said["beta"] = f"{how.beta:g}"
    title = f"{'ROUGE-L' if how.rouge else 'BLEU-1'}-KPQA"
    return Metric(
        name=name,
        title=title if name == title.lower() else f"{title} ({how.variant})",
        signature=signature(name, 1, **said, refs="best", **asked),
        measure=partial(_measure, how=how),
        high=2.0 if how.rouge and how.variant != "weighted" else 1.0,
        needs=frozenset({"questions"}),
        lacks=missing() or lacks,
    )


def said_of(model: Choice | None) -> tuple[dict[str, str], str]:
    """What a signature says of a model, and why it cannot be used, if so."""
    if model is None:
        return {"question": "yes", "model": "none"}, NO_MODEL
    shown = f"{KPQA}-{model.digest[:12]}"
    try:
        settings = read_card(Path(model.folder))["settings"]
    except MetricError as error:
        return {"question": "unknown", "model": shown}, str(error).removesuffix(".")
    return {"question": "yes" if settings.get("with_question", True) else "no", "model": shown}, ""


def _measure(chunk: Chunk, _: Any, how: MetricSettings) -> ChunkValues:
    if not len(chunk.references):
        return measured(np.full(len(chunk), np.nan), chunk.starts)
    weighed = _weighed(chunk, how)
    of = owners(chunk.starts)
    first, second = weighed.candidates[of], weighed.references
    values = np.zeros(len(of))
    for some in _batches(weighed.lengths[first], weighed.lengths[second]):
        pairs = weighed.pairs(first[some], second[some])
        if how.rouge:
            values[some] = rouge_l_of(pairs, how.variant, how.beta)[2]
        else:
            values[some] = bleu1_of(pairs, how.variant)
    return measured(best(values, chunk.starts)[0], chunk.starts)


@dataclass(frozen=True, slots=True, eq=False)
class _Texts:
    """Distinct pairs of question and text: their tokens as numbers one after another, with weights.

    `candidates` and `references` are places of pairs, as those of texts are in a chunk.
    """

    candidates: Places
    references: Places
    starts: Places
    ids: npt.NDArray[np.int64]
    weights: Floats

    @property
    def lengths(self) -> Places:
        return np.diff(self.starts)

    def pairs(self, first: Places, second: Places) -> Pairs:
        """Some texts beside others."""
        return Pairs(
            self._filled(self.ids, first, -1),
            self._filled(self.ids, second, -2),
            self._filled(self.weights, first, 0),
            self._filled(self.weights, second, 0),
        )

    def _filled(self, values: npt.NDArray[Any], which: Places, fill: int) -> npt.NDArray[Any]:
        lengths = self.lengths[which]
        places = np.arange(lengths.max(initial=0))
        inside = places < lengths[:, None]
        filled = np.full(inside.shape, fill, values.dtype)
        filled[inside] = values[(self.starts[which][:, None] + places)[inside]]
        return filled


def _weighed(chunk: Chunk, how: MetricSettings) -> _Texts:
    assert how.model is not None
    model, cache, device = how.model, how.cache, how.device
    by = chunk.once((KPQA, "weigher", model, device), lambda: weigher(model, cache, device))
    return chunk.once((KPQA, model, device, how.tokeniser), lambda: _of(chunk, by, how.tokeniser))


def _of(chunk: Chunk, by: Weigher, tokeniser: str) -> _Texts:
    questions = chunk.answers.questions
    assert questions is not None
    texts = chunk.texts
    asked = [questions[row] for row in owners(chunk.starts).tolist()]
    places: dict[tuple[str, int], int] = {}
    rows = [*zip(questions, chunk.candidates.tolist(), strict=True)]
    rows += zip(asked, chunk.references.tolist(), strict=True)
    found = np.array([places.setdefault(row, len(places)) for row in rows], np.intp)
    weighed = by.weigh([(question, texts[text]) for question, text in places])
    if tokeniser == PIECES:
        tokens, spans = _pieces(texts, by.loaded.tokenizer)
    else:
        tokens, spans = chunk.tokens(tokeniser_named(tokeniser)), None
    ids, weights = [], []
    for (_, text), each in zip(places, weighed, strict=True):
        own = tokens.ids[tokens.starts[text] : tokens.starts[text + 1]]
        ids.append(own)
        if spans is None:
            weights.append(on_tokens(texts[text], [tokens.words[place] for place in own], each))
        else:
            weights.append(on_places(spans[text], each))
    starts = np.concatenate(([0], np.cumsum([len(own) for own in ids]))).astype(np.intp)
    return _Texts(
        found[: len(chunk)],
        found[len(chunk) :],
        starts,
        np.concatenate([np.zeros(0, np.int64), *ids]).astype(np.int64),
        np.concatenate([np.zeros(0), *weights]),
    )


def _pieces(texts: Sequence[str], tokenizer: Any) -> tuple[Tokens, list[list[Span]]]:
    """Texts as the word pieces of a model, and where each piece stands."""
    cut = tokenizer(
        list(texts), add_special_tokens=False, truncation=False, verbose=False, return_offsets_mapping=True
    )
    starts = np.concatenate(([0], np.cumsum([len(ids) for ids in cut["input_ids"]]))).astype(np.intp)
    ids = np.array([number for ids in cut["input_ids"] for number in ids], np.int32)
    return Tokens(ids, starts, ()), cut["offset_mapping"]


def _batches(first: Places, second: Places) -> Iterator[Places]:
    """Rows of about the same lengths together, as many as fill a bounded number of cells."""
    order = np.lexsort((second, first // _STEP))
    begin, widest = 0, 0
    for at, width in enumerate((first + second)[order].tolist()):
        widest = max(widest, width)
        if at > begin and (at - begin + 1) * widest > _CELLS:
            yield order[begin:at]
            begin, widest = at, width
    yield order[begin:]
