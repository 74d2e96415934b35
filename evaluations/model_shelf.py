"""The models of learned metrics: the sub-folders of METRIC_MODELS, and those that an evaluation scores with.

A name from an address, a form or an option is looked up in this list, and never made part of a path. With
several hosts a model that was chosen for an evaluation, or published by hand, is in their shared storage.
Every host lists it by its card; its files, which may be large, are fetched only where they are used.
"""

import json
import logging
import math
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings

from core.storage import (
    FETCHED,
    DamagedBundleError,
    SharedStore,
    fetch_bundle,
    prune_bundles,
    publish_bundle,
    shared_store,
)
from core.storage_outages import StorageUnavailableError
from evaluations.choices import WORDS, ModelOptions, Models, kinds_of, kinds_of_all, model_kinds
from evaluations.errors import EvaluationError
from evaluations.plans import EvaluationPlan, PinnedModel
from metrics.errors import MetricError
from metrics.learned_metrics import learned_metrics
from metrics.model_folders import (
    CARD,
    FORMAT,
    TRAINING_ENDING,
    ModelFolder,
    choice,
    opened,
    read_card,
    with_models,
)
from metrics.profiles import BERTSCORE, KINDS, Profile

logger = logging.getLogger(__name__)
#: More than anybody has; a page lists no more.
MOST = 200
_CURRENT = "current.json"


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """A sub-folder by its name, and what its card says; `wrong` says why it is no model that can be used.

    `when` is the day on which its card was written. `bundle` is empty where the files are on this host, else
    the digest of the state that another host published.
    """

    name: str
    folder: Path
    kind: str = ""
    digest: str = ""
    card: Mapping[str, Any] = field(default_factory=dict)
    wrong: str = ""
    when: str = ""
    bundle: str = ""

    @property
    def signature(self) -> str:
        """As it is in the signatures of scores."""
        return ModelFolder(self.folder, self.kind, self.name, self.digest, {}, {}).signature


def shelf() -> list[ModelEntry]:
    """All of them by name, each read again: models come and go while a process lives.

    A model that is being trained is not listed. While the shared storage does not answer, only those of this
    host are.
    """
    local = _models_here()
    try:
        elsewhere = _models_elsewhere({each.name for each in local})
    except StorageUnavailableError as error:
        logger.warning("Models of other hosts are not listed: %s", error)
        elsewhere = []
    return sorted([*local, *elsewhere], key=lambda each: each.name)[:MOST]


def model_named(name: str) -> ModelEntry | None:
    """The one of that name."""
    return next((each for each in shelf() if each.name == name), None)


def of_kind(kind: str) -> list[ModelEntry]:
    """Those of a kind that can be used, as far as cards tell."""
    return [each for each in shelf() if each.kind == kind and not each.wrong]


def publish(model: ModelEntry) -> None:
    """Have all hosts list this model; nothing happens where they do."""
    store = shared_store()
    if model.wrong or model.bundle or not store.is_shared:
        return
    if (_published(store).get(model.name) or {}).get("model") == model.digest:
        return
    bundle = publish_bundle(
        store, f"models/{model.name}", model.folder, [each.name for each in model.folder.iterdir()]
    )
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as note:
        json.dump({"model": model.digest, "bundle": bundle, "card": model.card, "when": model.when}, note)
        note.flush()
        store.put(f"models/{model.name}/{_CURRENT}", Path(note.name))
    prune_bundles(store, f"models/{model.name}", {bundle})


def fetch_files(model: ModelEntry) -> Path:
    """The folder of a model, after its files were fetched where another host has them. Not for a web request.

    EvaluationError where they are gone or damaged, StorageUnavailableError while the storage does not answer.
    """
    if model.bundle and not model.folder.exists():  # a folder that is here is never changed
        try:
            fetch_bundle(shared_store(), f"models/{model.name}", model.bundle, model.folder)
        except (FileNotFoundError, DamagedBundleError) as error:
            raise EvaluationError(
                f"The model {model.name} cannot be fetched from the shared storage: its files there are "
                "missing or damaged. Run manage.py storage publish on a host that has it."
            ) from error
        (model.folder / FETCHED).unlink(missing_ok=True)  # another process may have been as fast
    return model.folder


def fetch_all() -> None:
    """Have here what other hosts published; raises what `fetch_files` raises."""
    for each in _models_elsewhere({each.name for each in _models_here()}):
        fetch_files(each)


def _published(store: SharedStore) -> dict[str, dict[str, Any]]:
    """Notes of what the shared storage has, by the model's name."""
    notes = {}
    for name, _ in store.names("models"):
        parts = name.split("/")
        if parts[2:] == [_CURRENT]:
            with store.open(name) as note:
                notes[parts[1]] = json.loads(note.read())
    return notes


def _models_here() -> list[ModelEntry]:
    try:
        folders = [
            each
            for each in Path(settings.METRIC_MODELS).iterdir()
            if not each.name.startswith(".")
            and not each.name.endswith(TRAINING_ENDING)
            and each.name.isprintable()
        ]
    except OSError:
        return []
    return [_read_entry(each) for each in folders if each.is_dir()]


def _models_elsewhere(local_names: Collection[str]) -> list[ModelEntry]:
    """Models that other hosts published, without `local_names`; a look at small files only."""
    store, root = shared_store(), Path(settings.METRIC_MODELS)
    if not store.is_shared:
        return []
    return [
        _entry(root / name, note["card"], missing=[], when=note["when"], bundle=note["bundle"])
        for name, note in _published(store).items()
        if name not in local_names
    ]


def damage(model: ModelEntry) -> str:
    """Why its files are not those of its card, in words; empty if they are. Reads all of them."""
    try:
        opened(model.folder, model.kind)
    except MetricError as error:
        return str(error)
    except OSError as error:
        return f"{model.folder} cannot be read: {error.strerror or error}."
    return ""


def _read_entry(folder: Path) -> ModelEntry:
    try:
        return _read(folder)
    except MetricError as error:
        return ModelEntry(folder.name, folder, wrong=str(error))
    except OSError as error:
        return ModelEntry(folder.name, folder, wrong=f"It cannot be read: {error.strerror or error}.")


def _read(folder: Path) -> ModelEntry:
    card = read_card(folder)
    missing = [name for name in card["files"] if not (folder / name).is_file()]
    when = datetime.fromtimestamp((folder / CARD).stat().st_mtime, UTC).date().isoformat()
    return _entry(folder, card, missing=missing, when=when)


def _entry(
    folder: Path, card: Mapping[str, Any], *, missing: Sequence[str], when: str, bundle: str = ""
) -> ModelEntry:
    kind, digest = str(card["kind"]), str(card["digest"])
    wrong = ""
    if kind not in KINDS:
        wrong = f"It is a model of kind {kind}; there are {', '.join(KINDS)}."
    elif card["format"] != FORMAT:
        wrong = f"It has format {card['format']}; this version reads format {FORMAT}."
    elif missing:
        wrong = f"{missing[0]} is missing. Copy the folder again, whole."
    return ModelEntry(folder.name, folder, kind, digest, card, wrong, when, bundle)


#: What every card has, and what is elsewhere on a page or in a report.
_FRAME = ("format", "kind", "name", "digest", "files")
_MOST, _DEEPEST, _LONGEST = 120, 4, 300


def facts(card: Mapping[str, Any]) -> list[tuple[tuple[str, ...], Any]]:
    """Numbers and short texts of a card, each with the keys that lead to it; lists of rows are left out."""
    pairs: list[tuple[tuple[str, ...], Any]] = []
    for path, value in _walked({name: each for name, each in card.items() if name not in _FRAME}):
        if len(pairs) == _MOST:
            break
        pairs.append((path, value))
    return pairs


def nested(card: Mapping[str, Any]) -> dict[str, Any]:
    """The same as JSON that a report can hold."""
    root: dict[str, Any] = {}
    for path, value in facts(card):
        inside = root
        for part in path[:-1]:
            inside = inside.setdefault(part, {})
        inside[path[-1]] = value
    return root


def _walked(value: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(value, Mapping):
        if len(path) < _DEEPEST:
            for name, each in value.items():
                yield from _walked(each, (*path, str(name)[:_LONGEST]))
    elif isinstance(value, list | tuple):
        if value and all(_is_plain(each) and not isinstance(each, Mapping) for each in value):
            yield path, ", ".join(str(each) for each in value)[:_LONGEST]
    elif _is_plain(value):
        yield path, value[:_LONGEST] if isinstance(value, str) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    return isinstance(value, str | int) and value != ""


@dataclass(frozen=True, slots=True)
class FoundModels(Models):
    """Models that are there, settings of BERTScore, and sentences about both."""

    folders: tuple[ModelFolder, ...] = ()
    bertscore: Mapping[str, Any] = field(default_factory=dict)

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
        entries: list[dict[str, Any]] = [
            {
                "kind": each.kind,
                "name": each.name,
                "digest": each.digest,
                "signature": each.signature,
                "card": nested(each.card),
            }
            for each in self.folders
            if each.kind in needed
        ]
        if BERTSCORE in needed and self.bertscore:
            entries.append(self._encoder())
        return entries

    def _encoder(self) -> dict[str, Any]:
        encoder_model = learned_metrics().find_encoder(str(self.bertscore["encoder"]))
        more = {name: each for name, each in self.bertscore.items() if name != "encoder"}
        return {
            "kind": BERTSCORE,
            "name": encoder_model.name,
            "digest": encoder_model.digest,
            "signature": encoder_model.signature,
            **more,
        }


def cache() -> Path:
    """Where weights of words are kept."""
    return Path(settings.DATA_DIR) / "cache" / "keyphrases"


def models_for(names: Sequence[str], model_options: ModelOptions, *, named: bool) -> FoundModels:
    """What the metrics of these names score with: as asked for, else the only one of its kind that there is.

    `named` says that somebody named the metrics: then several models of a kind are an error, else a note.
    EvaluationError or MetricError where a model is not there, damaged, of a kind that no metric uses, or of
    another kind than those that are needed.
    """
    folders = [_find_model(each) for each in model_options.models]
    needed = kinds_of_all(names)
    _refuse_idle(folders, model_options, needed)
    notes: list[str] = []
    for kind in model_kinds(names):
        if any(each.kind == kind for each in folders):
            continue
        try:
            folders.extend(_only_one(kind, names, notes))
        except EvaluationError as error:
            if named:
                raise
            notes.append(str(error))
    bertscore = _bertscore(model_options) if BERTSCORE in needed else {}
    return FoundModels(tuple(notes), tuple(folders), bertscore)


def encoder_settings(name: str, layer: int | None = None, *, idf: bool = False) -> dict[str, Any]:
    """Settings of BERTScore with an encoder; a folder stays the same wherever the process runs."""
    if not name:
        return {}
    options: dict[str, Any] = {"encoder": str(Path(name).resolve()) if Path(name).is_dir() else name}
    if layer is not None:
        options["layer"] = layer
    return {**options, "idf": True} if idf else options


def check_model(folder: Path, kind: str = "", digest: str = "") -> ModelFolder:
    """A model after its files were compared with its card; MetricError, EvaluationError where it is none."""
    choice(folder)
    try:
        return opened(folder.resolve(), kind, digest)
    except OSError as error:
        raise EvaluationError(f"The model {folder} cannot be read: {error.strerror or error}.") from error


def _find_model(text: str) -> ModelFolder:
    folder = Path(text)
    try:
        exists, is_model = folder.exists(), (folder / CARD).is_file()
    except OSError as error:
        raise EvaluationError(f"--model {text} cannot be read: {error.strerror or error}.") from error
    if is_model:
        return check_model(folder)
    model = model_named(text)
    if model is not None:
        return check_model(_files_of(model))
    if exists:
        raise EvaluationError(f"--model {text} is no model: it has no {CARD} that can be read.")
    names = [each.name for each in shelf() if not each.wrong]
    holdings = f"it holds {', '.join(names)}" if names else "it holds none"
    raise EvaluationError(
        f"--model {text}: there is no such folder, and no such model in {settings.METRIC_MODELS} "
        f"({holdings})."
    )


def _files_of(model: ModelEntry) -> Path:
    try:
        return fetch_files(model)
    except StorageUnavailableError as error:
        raise EvaluationError(f"The model {model.name} cannot be fetched: {error}") from error


def _refuse_idle(folders: Sequence[ModelFolder], model_options: ModelOptions, needed: frozenset[str]) -> None:
    """What is given and used by no metric was meant otherwise."""
    kinds = [each.kind for each in folders]
    if double := next((kind for kind in KINDS if kinds.count(kind) > 1), ""):
        raise EvaluationError(f"Two models of kind {double} are given with --model; name one.")
    lacking = [kind for kind in KINDS if kind in needed and kind not in kinds]
    for each in folders:
        if each.kind not in needed:
            advice = f" Metrics named here need one of kind {lacking[0]}." if lacking else ""
            raise EvaluationError(
                f"--model {each.path} is of kind {each.kind}, and no metric that is scored uses it.{advice} "
                "Name the metrics with --metrics."
            )
    if BERTSCORE not in needed and (
        model_options.encoder
        or model_options.layer is not None
        or model_options.idf
        or model_options.download
    ):
        raise EvaluationError(
            "--encoder, --layer, --idf and --download belong to BERTScore, and no metric that is scored "
            "is one of it. Name it: --metrics bertscore."
        )


def _only_one(kind: str, names: Sequence[str], notes: list[str]) -> list[ModelFolder]:
    """The model of a kind that METRIC_MODELS holds, none where there is none."""
    models = of_kind(kind)
    if not models:
        return []
    if len(models) > 1:
        first = next(name for name in names if kind in kinds_of(name))
        raise EvaluationError(
            f"{first} needs a {WORDS[kind]} model, and there are several: "
            f"{', '.join(each.name for each in models)}. Name one: --model {models[0].name}."
        )
    folder = check_model(_files_of(models[0]))
    notes.append(
        f"{WORDS[kind]} metrics use the model {models[0].name} ({folder.signature}), the only one in "
        f"{settings.METRIC_MODELS}."
    )
    return [folder]


def _bertscore(model_options: ModelOptions) -> dict[str, Any]:
    name = model_options.encoder or settings.BERTSCORE_ENCODER
    options = encoder_settings(name, model_options.layer, idf=model_options.idf)
    if not options and (model_options.layer is not None or model_options.idf or model_options.download):
        raise EvaluationError("--layer, --idf and --download need an encoder: --encoder NAME or FOLDER.")
    if options and model_options.download:
        try:
            learned_metrics().fetch_encoder(options["encoder"])
        except OSError as error:
            raise MetricError(f"The encoder {name} cannot be fetched: {error}.") from error
    return options


def publish_models(plan: EvaluationPlan) -> None:
    """Have all hosts find the plan's models, for another host may compute it.

    EvaluationError where a model is gone or the storage of all hosts does not take it.
    """
    for each in plan.models:
        publish_for_job(_get_pinned(each))


def publish_for_job(model: ModelEntry) -> None:
    """Have all hosts find a model that a job is to use. EvaluationError where the storage does not take it.

    It is done where a model is chosen, not by a job: perhaps only a host without jobs has it.
    """
    try:
        publish(model)
    except StorageUnavailableError as error:
        raise EvaluationError(f"The model {model.name} cannot be given to other hosts: {error}") from error


def models_of(plan: EvaluationPlan) -> FoundModels:
    """The plan's models, whole; EvaluationError or MetricError where one is gone, another one, or damaged."""
    folders = [check_model(fetch_files(_get_pinned(each)), each.kind, each.digest) for each in plan.models]
    if plan.encoder_digest and learned_metrics().find_encoder(plan.encoder).digest != plan.encoder_digest:
        raise EvaluationError(
            f"The encoder {plan.encoder_name} of BERTScore is another one by now. Put it back and begin "
            "again, or make another plan."
        )
    return FoundModels(folders=tuple(folders), bertscore=encoder_settings(plan.encoder))


def refuse_what_lacks(plan: EvaluationPlan) -> None:
    """EvaluationError where a metric that the plan names has no model in it, or a model is not there."""
    for each in plan.models:
        _get_pinned(each)
    for kind, name in lacking(plan.metrics, (each.kind for each in plan.models)):
        raise EvaluationError(f"{name} needs a {WORDS[kind]} model. Choose one, or leave the metric out.")
    if BERTSCORE in kinds_of_all(plan.metrics) and not plan.encoder:
        raise EvaluationError("BERTScore needs an encoder, and this installation has none.")


def lacking(metrics: Sequence[str], kinds: Iterable[str]) -> list[tuple[str, str]]:
    """Kinds of models that the metrics need and that are not among these, each with a metric."""
    present = set(kinds)
    return [
        (kind, next(name for name in metrics if kind in kinds_of(name)))
        for kind in model_kinds(metrics)
        if kind not in present
    ]


def _get_pinned(each: PinnedModel) -> ModelEntry:
    """The model by its name, if it still is the one that was pinned, as far as its card tells."""
    model = model_named(each.name)
    again = "Put it back and begin again, or make another plan."
    if model is None or model.wrong:
        why = model.wrong if model else "it is no longer there."
        raise EvaluationError(f"The {_describe_model(each)} cannot be used: {why} {again}")
    if (model.kind, model.digest) != (each.kind, each.digest):
        raise EvaluationError(
            f"The {_describe_model(each)} is another one by now: {each.signature} was planned, and "
            f"{model.signature} is there. {again}"
        )
    return model


def _describe_model(each: PinnedModel) -> str:
    return f"{WORDS.get(each.kind, each.kind)} model {each.name}"
