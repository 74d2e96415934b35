"""ADEM for the catalogue: `adem`, `c-adem` without the reference, `r-adem` without the question.

The question is the context; each of its lines is a turn. Values are on the scale of the scores that the model
was trained on and may lie somewhat outside of it, as nothing cuts them off.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metrics.base import NO_REFERENCE, ChunkValues, Metric, signature
from metrics.errors import MetricError
from metrics.learned.adem.settings import CONTEXT, REFERENCE
from metrics.learned.extra import missing
from metrics.learned.folders import read_card
from metrics.learned.profile_models import Choice
from metrics.profiles import ADEM, Profile
from metrics.texts import Chunk

if TYPE_CHECKING:
    from metrics.learned.adem.encoded_examples import EncodedExamples
    from metrics.learned.adem.model import Scorer

NO_QUESTION = "there is no question"
_TITLES = {"adem": "ADEM", "c-adem": "C-ADEM", "r-adem": "R-ADEM"}
_VERSION = 1


def make(name: str, profile: Profile) -> Metric:
    """A form of ADEM, by the model that the profile's settings choose."""
    choice = profile.options(ADEM).get("model")
    said, lacks = _describe_form(name, choice)
    return Metric(
        name,
        _TITLES[name],
        signature(name, _VERSION, **said),
        partial(_measure, form=name, choice=choice),
        low=float("-inf"),
        high=float("inf"),
        needs=frozenset() if name == REFERENCE else frozenset({"questions"}),
        lacks=lacks,
    )


def _describe_form(form: str, choice: Choice | None) -> tuple[dict[str, object], str]:
    """What the signature says of the model, and why the form cannot be scored, empty if it can."""
    if choice is None:
        return {"model": "none"}, missing() or "no ADEM model is chosen (--model FOLDER)"
    try:
        card = read_card(Path(choice.folder))
    except MetricError as error:
        return {"model": f"{ADEM}-{choice.digest[:12]}"}, missing() or str(error).removesuffix(".")
    settings = card["settings"]
    of_form = settings.get("forms", {}).get(form)
    said = {
        "model": f"{ADEM}-{choice.digest[:12]}",
        "encoder": f"{card.get('encoder', {}).get('name', '')}-{settings['encoder']['digest'][:12]}",
        "n": of_form["n"] if of_form else "none",
        "refs": "none" if form == CONTEXT else "max",
        "scale": f"{settings['low']:g}-{settings['high']:g}",
    }
    why = "" if of_form else f"the model {choice.folder} was trained without {form}"
    return said, missing() or why


def _measure(chunk: Chunk, _: Any, form: str, choice: Choice | None) -> ChunkValues:
    from metrics.learned.adem.model import load  # which takes seconds

    if choice is None:
        raise MetricError(f"{form} needs a model.")
    scorer = load(choice)
    encoded = chunk.once(("adem", choice.digest), lambda: _encoded(chunk, scorer))
    values = scorer.score(encoded, form)
    gone = np.isnan(values)
    alone = np.diff(chunk.starts) == 0 if form != CONTEXT else np.zeros(len(chunk), bool)
    counts = {NO_REFERENCE: int((gone & alone).sum()), NO_QUESTION: int((gone & ~alone).sum())}
    return ChunkValues(values, None, {reason: count for reason, count in counts.items() if count})


def _encoded(chunk: Chunk, scorer: "Scorer") -> "EncodedExamples":
    from metrics.learned.adem.encoded_examples import RatedResponse, encode, turns

    answers = chunk.answers
    questions = answers.questions or [""] * len(answers)
    return encode(
        [
            RatedResponse("", turns(question), tuple(references), candidate, "", float("nan"))
            for question, references, candidate in zip(
                questions, answers.references, answers.candidates, strict=True
            )
        ],
        scorer.encoder,
    )
