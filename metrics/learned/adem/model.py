"""ADEM as a folder: an encoder, its principal components, and the matrices of each form.

`encoder/` is a copy of the encoder, so that the folder needs nothing beside it. With `external` the card
names the encoder's folder instead; another encoder than the one of training is refused by its digest.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from metrics.base import Floats
from metrics.errors import MetricError
from metrics.learned.adem.encoded_examples import EncodedExamples
from metrics.learned.adem.encoders import text_encoder
from metrics.learned.adem.formula import Parameters
from metrics.learned.adem.projection import Projection
from metrics.learned.adem.text_encoder import TextEncoder
from metrics.learned.adem.training import TrainedModel, scored
from metrics.learned.extra import needed
from metrics.learned.folders import ModelFolder, opened, write
from metrics.learned.profile_models import ADEM, Choice

_ENCODER, _LEARNED = "encoder", "adem.safetensors"


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


def save(
    folder: Path, trained: TrainedModel, card: Mapping[str, Any], *, external: str = "", readme: str = ""
) -> ModelFolder:
    """Write a model's folder; `external` is the folder or name of an encoder that is not to be copied."""
    low, high = trained.settings.scale
    forms = {form: {"n": chosen.n, "penalty": chosen.penalty} for form, chosen in trained.chosen.items()}
    encoder = trained.encoder
    settings = {
        "low": low,
        "high": high,
        "forms": forms,
        "encoder": {"kind": encoder.kind, "digest": encoder.digest, "width": encoder.width},
    }

    def fill(made: Path) -> None:
        from safetensors.numpy import save_file

        save_file(_tensors(trained), made / _LEARNED)
        if not external:
            encoder.save(made / _ENCODER)

    said = {"encoder": {"name": encoder.name, "external": external}, "training": described(trained), **card}
    return write(folder, ADEM, settings, said, fill, readme=readme)


def described(trained: TrainedModel) -> dict[str, Any]:
    """How the model was trained and what validation said, as JSON has it."""
    return {
        "settings": asdict(trained.settings),
        "variance": float(trained.projection.shares.sum()),
        "forms": {
            form: {
                "chosen": trained.chosen[form].as_json(),
                "tried": [tried.as_json() for tried in trained.tried[form]],
                "history": [epoch.as_json() for epoch in trained.history[form]],
            }
            for form in trained.forms
        },
    }


@lru_cache(maxsize=4)
def load(choice: Choice, device: str = "auto") -> Scorer:
    """The model of a choice, kept while the process lives; MetricError where it is not that model."""
    needed("ADEM")
    from safetensors.numpy import load_file

    folder = opened(Path(choice.folder), ADEM, choice.digest)
    external = str(folder.card.get("encoder", {}).get("external", ""))
    encoder = text_encoder(external or folder.path / _ENCODER, device=device)
    asked = str(folder.settings["encoder"]["digest"])
    if encoder.digest != asked:
        raise MetricError(
            f"The encoder {external or _ENCODER} of {folder.path} is not the one that the model was trained "
            f"with ({asked[:12]}, not {encoder.digest[:12]}). Put that one there."
        )
    held = load_file(folder.path / _LEARNED)
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


def _tensors(trained: TrainedModel) -> dict[str, Floats]:
    projection = trained.projection
    found = {"mean": projection.mean, "components": projection.components, "shares": projection.shares}
    for form, parameters in trained.forms.items():
        found[f"{form}.alpha"] = np.array([parameters.alpha])
        found[f"{form}.beta"] = np.array([parameters.beta])
        for name, matrix in (("m", parameters.m), ("n", parameters.n)):
            if matrix is not None:
                found[f"{form}.{name}"] = matrix
    return {name: np.ascontiguousarray(value) for name, value in found.items()}
