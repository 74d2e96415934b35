"""ADEM as a folder: an encoder, its principal components, and the matrices of each form.

`encoder/` is a copy of the encoder, so that the folder needs nothing beside it. With `external` the card
names the encoder's folder instead; another encoder than the one of training is refused by its digest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from metrics.base import Floats
from metrics.errors import MetricError
from metrics.learned.adem.encoded_examples import EncodedExamples
from metrics.learned.adem.encoders import text_encoder
from metrics.learned.adem.formula import Parameters, Projection, Terms, scores
from metrics.learned.adem.text_encoder import TextEncoder
from metrics.learned.extra import needed
from metrics.learned.folders import ModelFolder, opened
from metrics.learned.profile_models import Choice
from metrics.profiles import ADEM
from metrics.texts import Places

#: What the folder holds: the encoder, and the matrices with the projection.
ENCODER, LEARNED = "encoder", "adem.safetensors"


@dataclass(frozen=True, slots=True, eq=False)
class Scorer:
    """A model that was loaded."""

    folder: ModelFolder
    encoder: TextEncoder
    projection: Projection
    forms: Mapping[str, Parameters]

    def score(self, encoded: EncodedExamples, which: str = "adem") -> Floats:
        """Scores (k), nan where an example lacks what the form compares with."""
        if which not in self.forms:
            raise MetricError(f"{self.folder.path} has no {which}; it has {', '.join(self.forms)}.")
        return scored(self.projection, self.forms[which], encoded)


@lru_cache(maxsize=4)
def load(choice: Choice, device: str = "auto") -> Scorer:
    """The model of a choice, kept while the process lives; MetricError where it is not that model."""
    needed("ADEM")
    from safetensors.numpy import load_file

    folder = opened(Path(choice.folder), ADEM, choice.digest)
    external = str(folder.card.get("encoder", {}).get("external", ""))
    encoder = text_encoder(external or folder.path / ENCODER, device=device)
    asked = str(folder.settings["encoder"]["digest"])
    if encoder.digest != asked:
        raise MetricError(
            f"The encoder {external or ENCODER} of {folder.path} is not the one that the model was trained "
            f"with ({asked[:12]}, not {encoder.digest[:12]}). Put that one there."
        )
    held = load_file(folder.path / LEARNED)
    projection = Projection(held["mean"], held["components"], held["shares"])
    forms = {
        form: Parameters(
            held.get(f"{form}.m"),
            held.get(f"{form}.n"),
            float(held[f"{form}.alpha"][0]),
            float(held[f"{form}.beta"][0]),
        )
        for form in folder.settings["forms"]
    }
    return Scorer(folder, encoder, projection, forms)


def scored(projection: Projection, parameters: Parameters, encoded: EncodedExamples) -> Floats:
    """Scores (k) under some parameters, nan where an example lacks what they compare with."""
    found = np.full(len(encoded), np.nan)
    needs = {"context": parameters.m is not None, "reference": parameters.n is not None}
    rows = complete_rows(encoded, **needs)
    if len(rows):
        found[rows] = scores(parameters, terms_of(projection, encoded.part(rows), parameters.size))
    return found


def complete_rows(encoded: EncodedExamples, *, context: bool, reference: bool) -> Places:
    """The examples that have a context, a reference, or both, as wanted."""
    there = np.ones(len(encoded), bool)
    if context:
        there &= encoded.contexts >= 0
    if reference:
        there &= np.diff(encoded.starts) > 0
    return np.flatnonzero(there)


def terms_of(projection: Projection, encoded: EncodedExamples, n: int | None) -> Terms:
    """The examples along n components; of references that are not there the first text stands in."""
    places = np.unique(
        np.concatenate((encoded.contexts[encoded.contexts >= 0], encoded.responses, encoded.references))
    )
    vectors = projection(encoded.vectors[places], n)
    counts = np.diff(encoded.starts)
    most = max(1, int(counts.max(initial=0)))
    nth = np.arange(most)[None, :]
    which = encoded.starts[:-1, None] + np.where(nth < counts[:, None], nth, 0)
    references = (
        encoded.references[np.minimum(which, len(encoded.references) - 1)]
        if len(encoded.references)
        else np.repeat(encoded.responses[:, None], most, 1)
    )
    contexts = np.where(encoded.contexts >= 0, encoded.contexts, encoded.responses)
    return Terms(
        vectors[np.searchsorted(places, contexts)],
        vectors[np.searchsorted(places, references)],
        vectors[np.searchsorted(places, encoded.responses)],
    )
