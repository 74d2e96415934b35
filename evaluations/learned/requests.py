"""From what somebody asks for to the models that score: folders that were compared with their cards."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from django.conf import settings

from core.storage.errors import StorageUnavailableError
from evaluations.errors import EvaluationError
from evaluations.learned import cards, shelf
from evaluations.learned.needs import WORDS, kinds_of, kinds_of_all, model_kinds
from metrics.errors import MetricError
from metrics.learned.bert.encoder_folder import known
from metrics.learned.encoders import encoder
from metrics.learned.folders import CARD, ModelFolder, opened
from metrics.learned.profile_models import BERTSCORE, KINDS, choice, with_models
from metrics.profiles import Profile


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """Options of a command: `models` are folders or names in METRIC_MODELS."""

    models: Sequence[str] = ()
    encoder: str = ""
    layer: int | None = None
    idf: bool = False
    download: bool = False


@dataclass(frozen=True, slots=True)
class Models:
    """What learned metrics score with: models, settings of BERTScore, and sentences about both."""

    folders: tuple[ModelFolder, ...] = ()
    bertscore: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def within(self, profile: Profile) -> Profile:
        """The profile with them; weights of words are kept in the data folder between runs."""
        if not self.folders and not self.bertscore:
            return profile
        return with_models(
            profile,
            [each.path for each in self.folders],
            bertscore=self.bertscore or None,
            cache=str(cache()),
        )

    def used(self, names: Sequence[str]) -> list[dict[str, Any]]:
        """What a report says of those that these metrics score with."""
        needed = kinds_of_all(names)
        said: list[dict[str, Any]] = [
            {
                "kind": each.kind,
                "name": each.name,
                "digest": each.digest,
                "signature": each.signature,
                "card": cards.nested(each.card),
            }
            for each in self.folders
            if each.kind in needed
        ]
        if BERTSCORE in needed and self.bertscore:
            said.append(self._encoder())
        return said

    def _encoder(self) -> dict[str, Any]:
        found = known(str(self.bertscore["encoder"]))
        more = {name: each for name, each in self.bertscore.items() if name != "encoder"}
        return {
            "kind": BERTSCORE,
            "name": found.name,
            "digest": found.digest,
            "signature": found.signature,
            **more,
        }


NO_MODELS = Models()


def cache() -> Path:
    """Where weights of words are kept."""
    return Path(settings.DATA_DIR) / "cache" / "keyphrases"


def models_for(names: Sequence[str], asked: ModelOptions, *, named: bool) -> Models:
    """What the metrics of these names score with: as asked for, else the only one of its kind that there is.

    `named` says that somebody named the metrics: then several models of a kind are an error, else a note.
    EvaluationError or MetricError where a model is not there, damaged, of a kind that no metric uses, or of
    another kind than those that are needed.
    """
    given = [_given(each) for each in asked.models]
    needed = kinds_of_all(names)
    _refuse_idle(given, asked, needed)
    notes: list[str] = []
    for kind in model_kinds(names):
        if any(each.kind == kind for each in given):
            continue
        try:
            given.extend(_only_one(kind, names, notes))
        except EvaluationError as error:
            if named:
                raise
            notes.append(str(error))
    return Models(tuple(given), _bertscore(asked) if BERTSCORE in needed else {}, tuple(notes))


def encoder_settings(name: str, layer: int | None = None, *, idf: bool = False) -> dict[str, Any]:
    """Settings of BERTScore with an encoder; a folder stays the same wherever the process runs."""
    if not name:
        return {}
    said: dict[str, Any] = {"encoder": str(Path(name).resolve()) if Path(name).is_dir() else name}
    if layer is not None:
        said["layer"] = layer
    return {**said, "idf": True} if idf else said


def whole(folder: Path, kind: str = "", digest: str = "") -> ModelFolder:
    """A model after its files were compared with its card; MetricError, EvaluationError where it is none."""
    choice(folder)
    try:
        return opened(folder.resolve(), kind, digest)
    except OSError as error:
        raise EvaluationError(f"The model {folder} cannot be read: {error.strerror or error}.") from error


def _given(text: str) -> ModelFolder:
    folder = Path(text)
    try:
        exists, is_model = folder.exists(), (folder / CARD).is_file()
    except OSError as error:
        raise EvaluationError(f"--model {text} cannot be read: {error.strerror or error}.") from error
    if is_model:
        return whole(folder)
    kept = shelf.named(text)
    if kept is not None:
        return whole(_files_of(kept))
    if exists:
        raise EvaluationError(f"--model {text} is no model: it has no {CARD} that can be read.")
    there = [each.name for each in shelf.shelf() if not each.wrong]
    listed = f"it holds {', '.join(there)}" if there else "it holds none"
    raise EvaluationError(
        f"--model {text}: there is no such folder, and no such model in {settings.METRIC_MODELS} ({listed})."
    )


def _files_of(kept: shelf.ModelEntry) -> Path:
    try:
        return shelf.fetch_files(kept)
    except StorageUnavailableError as error:
        raise EvaluationError(f"The model {kept.name} cannot be fetched: {error}") from error


def _refuse_idle(given: Sequence[ModelFolder], asked: ModelOptions, needed: frozenset[str]) -> None:
    """What is given and used by no metric was meant otherwise."""
    kinds = [each.kind for each in given]
    if double := next((kind for kind in KINDS if kinds.count(kind) > 1), ""):
        raise EvaluationError(f"Two models of kind {double} are given with --model; name one.")
    lacking = [kind for kind in KINDS if kind in needed and kind not in kinds]
    for each in given:
        if each.kind not in needed:
            wanted = f" Metrics named here need one of kind {lacking[0]}." if lacking else ""
            raise EvaluationError(
                f"--model {each.path} is of kind {each.kind}, and no metric that is scored uses it.{wanted} "
                "Name the metrics with --metrics."
            )
    if BERTSCORE not in needed and (asked.encoder or asked.layer is not None or asked.idf or asked.download):
        raise EvaluationError(
            "--encoder, --layer, --idf and --download belong to BERTScore, and no metric that is scored "
            "is one of it. Name it: --metrics bertscore."
        )


def _only_one(kind: str, names: Sequence[str], notes: list[str]) -> list[ModelFolder]:
    """The model of a kind that METRIC_MODELS holds, none where there is none."""
    there = shelf.of_kind(kind)
    if not there:
        return []
    if len(there) > 1:
        first = next(name for name in names if kind in kinds_of(name))
        raise EvaluationError(
            f"{first} needs a {WORDS[kind]} model, and there are several: "
            f"{', '.join(each.name for each in there)}. Name one: --model {there[0].name}."
        )
    found = whole(_files_of(there[0]))
    notes.append(
        f"{WORDS[kind]} metrics use the model {there[0].name} ({found.signature}), the only one in "
        f"{settings.METRIC_MODELS}."
    )
    return [found]


def _bertscore(asked: ModelOptions) -> dict[str, Any]:
    name = asked.encoder or settings.BERTSCORE_ENCODER
    said = encoder_settings(name, asked.layer, idf=asked.idf)
    if not said and (asked.layer is not None or asked.idf or asked.download):
        raise EvaluationError("--layer, --idf and --download need an encoder: --encoder NAME or FOLDER.")
    if said and asked.download:
        try:
            encoder(said["encoder"], download=True)
        except OSError as error:
            raise MetricError(f"The encoder {name} cannot be fetched: {error}.") from error
    return said
