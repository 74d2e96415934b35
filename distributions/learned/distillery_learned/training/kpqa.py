"""Training of a key phrase predictor for the KPQA metrics, from examples to a model folder with its card."""

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch

from distillery_learned.metrics import devices
from distillery_learned.metrics.encoders import Encoder, encoder
from distillery_learned.metrics.networks import KeyphraseNetwork, save_network
from distillery_learned.training.kpqa_epochs import Data, LabelledWindows, Learner, Watch, labelled, learned
from distillery_learned.training.kpqa_examples import Example
from distillery_learned.training.kpqa_files import TrainingFiles
from distillery_learned.training.kpqa_runs import Settings, begun, precision_for, refuse_existing
from metrics.errors import MetricError
from metrics.model_folders import ModelFolder, write
from metrics.profiles import KPQA

PAPER = {
    "reference": (
        "Hwanhee Lee, Seunghyun Yoon, Franck Dernoncourt, Doo Soon Kim, Trung Bui, Joongbo Shin, Kyomin "
        "Jung: KPQA: A Metric for Generative Question Answering Using Keyphrase Weights. NAACL 2021"
    ),
    "encoder": "bert-base-uncased",
    "f1": {"SQuAD": 0.5581, "MS-MARCO Q&A": 0.5926},
}
LICENCE = "The licences of the data and of the encoder hold for the model."
_PACKAGES = ("torch", "transformers", "tokenizers", "numpy")


def versions(distillery: str) -> dict[str, str]:
    """Of what took part in a training."""
    own = {"distillery": distillery} if distillery else {}
    return {**own, "python": platform.python_version(), **{name: version(name) for name in _PACKAGES}}


def card_of(
    *,
    encoder: Mapping[str, str],
    files: Sequence[Mapping[str, Any]],
    counts: Mapping[str, Any],
    data: str,
    training: Mapping[str, Any],
    history: Sequence[Mapping[str, Any]],
    best: int,
    seconds: float,
    speed: float,
    distillery: str,
) -> dict[str, Any]:
    """The card of a predictor, as plain values. `data` is the digest of all examples, in their order."""
    return {
        "title": "A predictor of key phrases (KPQA)",
        "paper": PAPER,
        "licence": LICENCE,
        "encoder": dict(encoder),
        "data": {"digest": data, "counts": dict(counts), "files": [dict(file) for file in files]},
        "training": dict(training),
        "epochs": [dict(epoch) for epoch in history],
        "best": dict(history[best - 1]),
        "seconds": round(seconds, 1),
        "examples_per_second": round(speed, 1),
        "versions": versions(distillery),
    }


def readme_of(name: str, card: Mapping[str, Any]) -> str:
    """The card as a page."""
    training, counts, best = card["training"], card["data"]["counts"], card["best"]
    inputs = "a question and an answer" if training["with_question"] else "an answer alone (-KP)"
    lines = [
        f"# {_plain(name)}",
        "",
        f"A predictor of key phrases for KPQA metrics: it reads {inputs} and says of each word of the "
        "answer how likely it is part of the key phrase.",
        "",
        f"After {card['paper']['reference']}.",
        "",
        "## Use",
        "",
        "    manage.py score answers.csv --metrics bleu-1-kpqa,rouge-l-kpqa --model THIS_FOLDER",
        "",
        "## Figures",
        "",
        *_figures(card),
        "",
        "## Made of",
        "",
        f"- Encoder {_plain(card['encoder']['name'])}, digest {card['encoder']['digest']}",
        *(f"- {_plain(file['name'])}, SHA-256 {file['sha256']}" for file in card["data"]["files"]),
        f"- {counts['train']:,} examples for training and {counts['dev']:,} for development, of "
        f"{counts['read']:,} questions",
        *(f"- dropped {number:,}: {_plain(reason)}" for reason, number in counts["dropped"].items()),
        "",
        "## Training",
        "",
        f"- {training['epochs']} epochs, of which number {best['epoch']} was kept",
        f"- {training['optimiser']}, learning rate {training['learning_rate']:g}, batches of "
        f"{training['batch']}, at most {training['longest']} word pieces, layer of {training['units']} "
        f"units, seed {training['seed']}",
        f"- {training['precision']} on {training['device']}, {training['threads']} threads: "
        f"{card['seconds']:,.0f} s, {card['examples_per_second']:,.0f} examples/s",
        f"- {', '.join(f'{package} {number}' for package, number in card['versions'].items())}",
        "",
        "## Licence",
        "",
        card["licence"],
        "",
    ]
    return "\n".join(lines)


def _figures(card: Mapping[str, Any]) -> list[str]:
    best = card["best"]["dev"]
    if best is None:
        return ["No data was set aside for development, so that nothing was measured."]
    rows = [
        "| epoch | training loss | development loss | F1 | precision | recall | whole phrases P / R |",
        "|---|---|---|---|---|---|---|",
    ]
    for epoch in card["epochs"]:
        dev = epoch["dev"]
        rows.append(
            f"| {epoch['epoch']} | {epoch['train_loss']:.4f} | {dev['loss']:.4f} | {100 * dev['f1']:.1f} | "
            f"{100 * dev['precision']:.1f} | {100 * dev['recall']:.1f} | "
            f"{100 * dev['span_precision']:.1f} / {100 * dev['span_recall']:.1f} |"
        )
    ours = ", ".join(f"{100 * f1:.1f} ({_plain(source)})" for source, f1 in best["sources"].items())
    printed = ", ".join(f"{100 * f1:.1f} ({name})" for name, f1 in card["paper"]["f1"].items())
    return [
        *rows,
        "",
        "F1 is over words that are more likely than not in the key phrase. On the development set, in "
        f"percent: {ours}. The paper prints {printed} for {card['paper']['encoder']}, on development data of "
        "its own.",
    ]


def _plain(text: str) -> str:
    """A name of strangers as text, not as markup."""
    printable = "".join(sign if sign.isprintable() else "\ufffd" for sign in text)
    return "".join(f"\\{sign}" if sign in "\\`*_[]<>|#" else sign for sign in printable)


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
    settings_json = {**settings.as_json(), "longest": longest, "precision": precision}
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
    checkpoints = begun(out, {"settings": settings_json, "encoder": origin["digest"], "data": digest})
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
        training={**settings_json, "device": _device(device), "threads": torch.get_num_threads()},
        history=state.history,
        best=state.best,
        seconds=state.seconds,
        speed=state.windows / state.seconds if state.seconds else 0.0,
        distillery=distillery,
    )
    try:
        model = write(
            out,
            KPQA,
            {"units": settings.units, "longest": longest, "with_question": settings.with_question},
            card,
            lambda folder: save_network(network.cpu(), base.tokenizer, folder),
            readme=readme_of(out.name, card),
        )
    except OSError as error:
        raise MetricError(
            f"{out} cannot be written: {error.strerror or error}. The training is kept; the same command "
            "with --resume writes the model."
        ) from error
    checkpoints.remove()
    return model


def _pieces(base: Encoder, examples: list[Example], longest: int, settings: Settings) -> LabelledWindows:
    return labelled(base.tokenizer, examples, longest, with_question=settings.with_question)


def _padding(base: Encoder) -> int:
    pad = base.tokenizer.pad_token_id
    return int(pad) if pad is not None else 0


def _device(device: Any) -> str:
    return str(torch.cuda.get_device_name(device)) if device.type == "cuda" else str(device.type)


def _digest(examples: Iterable[Example], train: int) -> str:
    """Of what is learned from: examples in their order, and how many of them are for training."""
    checksum = hashlib.sha256(str(train).encode())
    for example in examples:
        row = [example.question, example.answer, example.spans, example.source]
        checksum.update(json.dumps(row).encode())
    return checksum.hexdigest()
