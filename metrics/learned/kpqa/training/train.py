"""A keyphrase predictor from prepared data: the whole way to its folder."""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import torch

from metrics.errors import MetricError
from metrics.learned import devices
from metrics.learned.encoders import Encoder, encoder
from metrics.learned.folders import ModelFolder, write
from metrics.learned.kpqa.examples import Example
from metrics.learned.kpqa.network import KeyphraseNetwork, save
from metrics.learned.kpqa.training.card import card_of, readme_of
from metrics.learned.kpqa.training.checkpoints import begun, refuse_existing
from metrics.learned.kpqa.training.epochs import Data, Watch, learned
from metrics.learned.kpqa.training.learner import Learner
from metrics.learned.kpqa.training.pieces import LabelledWindows, labelled
from metrics.learned.kpqa.training.settings import Settings, precision_for
from metrics.learned.kpqa.training_files import TrainingFiles
from metrics.learned.profile_models import KPQA


def encoder_for(name: str, settings: Settings, *, download: bool = False) -> Encoder:
    """The encoder that is trained on; weights that its files lack depend on the seed alone."""
    torch.manual_seed(settings.seed)
    return encoder(name, download=download)


def trained(
    base: Encoder,
    origin: dict[str, str],
    prepared: TrainingFiles,
    out: Path,
    settings: Settings,
    *,
    resume: bool = False,
    watch: Watch | None = None,
    distillery: str = "",
) -> ModelFolder:
    """The folder of a trained predictor; MetricError where it cannot be made.

    `origin` are name and digest of the encoder. With `resume` a training that was stopped goes on: the model
    has the digest that it would have had.
    """
    refuse_existing(out, resume=resume)
    device = devices.device(settings.device)
    precision = precision_for(settings.precision, device)
    longest = min(settings.longest, base.longest)
    said = {**settings.as_json(), "longest": longest, "precision": precision}
    digest = _digest([*prepared.train, *prepared.dev], len(prepared.train))
    devices.threads()
    data = Data(
        _pieces(base, prepared.train, longest, settings),
        _pieces(base, prepared.dev, longest, settings),
        [example.source for example in prepared.dev],
        _padding(base),
    )
    if not len(data.train) or (prepared.dev and not len(data.dev)):
        raise MetricError(
            "The examples hold no word that the encoder's tokeniser knows. Is it the right one?"
        )
    checkpoints = begun(out, {"settings": said, "encoder": origin["digest"], "data": digest})
    torch.manual_seed(settings.seed)
    network = KeyphraseNetwork(base.model.float(), settings.units)
    batches = -(-len(data.train) // settings.batch)
    learner = Learner(network, settings, device=device, precision=precision, total=batches * settings.epochs)
    state = learned(learner, data, checkpoints, watch or Watch())
    card = card_of(
        encoder=origin,
        files=prepared.files,
        counts=prepared.counts,
        data=digest,
        training={**said, "device": _device(device), "threads": torch.get_num_threads()},
        history=state.history,
        best=state.best,
        seconds=state.seconds,
        speed=state.windows / state.seconds if state.seconds else 0.0,
        distillery=distillery,
    )
    try:
        made = write(
            out,
            KPQA,
            {"units": settings.units, "longest": longest, "with_question": settings.with_question},
            card,
            lambda folder: save(network.cpu(), base.tokenizer, folder),
            readme=readme_of(out.name, card),
        )
    except OSError as error:
        raise MetricError(
            f"{out} cannot be written: {error.strerror or error}. The training is kept; the same command "
            "with --resume writes the model."
        ) from error
    checkpoints.remove()
    return made


def _pieces(base: Encoder, examples: list[Example], longest: int, settings: Settings) -> LabelledWindows:
    return labelled(base.tokenizer, examples, longest, with_question=settings.with_question)


def _padding(base: Encoder) -> int:
    pad = base.tokenizer.pad_token_id
    return int(pad) if pad is not None else 0


def _device(device: Any) -> str:
    return str(torch.cuda.get_device_name(device)) if device.type == "cuda" else str(device.type)


def _digest(examples: Iterable[Example], train: int) -> str:
    """Of what is learned from: examples in their order, and how many of them are for training."""
    found = hashlib.sha256(str(train).encode())
    for example in examples:
        row = [example.question, example.answer, example.spans, example.source]
        found.update(json.dumps(row).encode())
    return found.hexdigest()
