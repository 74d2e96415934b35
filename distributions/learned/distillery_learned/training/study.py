"""A study of ADEM on a table: split, vectors, training, tables of the paper, cross-validation, examples."""

import json
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version as version_of
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from distillery_learned.metrics.adem_examples import (
    ADEM,
    FORMS,
    EncodedExamples,
    Progress,
    Settings,
    cosines,
    encode,
)
from distillery_learned.metrics.gru import GruSettings, train_gru
from distillery_learned.metrics.text_encoders import text_encoder
from distillery_learned.training import protocols
from distillery_learned.training.adem import Epoch, TrainedModel, train
from distillery_learned.training.protocols import Fit, Indices, cascade
from distillery_learned.training.sources import NO_SYSTEMS, Material, Parts, StudyScores, folds, split
from evaluations.errors import EvaluationError
from metrics.metaeval.breakdown import HUMAN, length_bias
from metrics.metaeval.data import Floats, ScoredAnswers
from metrics.metaeval.executor import generator
from metrics.metaeval.papers import OVERLAP, adem_table4, adem_table6, normalised
from metrics.metaeval.report import plain
from metrics.texts import signature

# What Lowe et al. 2017 print of their own data (4,104 answers to 1,026 contexts of Twitter).
#
# To stand beside figures of other data; theirs were not published.

#: Table 3: Spearman and Pearson; the first part is all data, of trained metrics the validation set.
TABLE3: dict[str, dict[str, tuple[float, float]]] = {
    "bleu-1": {"full": (0.026, 0.055), "test": (0.036, 0.074)},
    "bleu-2": {"full": (0.039, 0.081), "test": (0.051, 0.120)},
    "bleu-3": {"full": (0.045, 0.043), "test": (0.051, 0.073)},
    "bleu-4": {"full": (0.051, 0.025), "test": (0.063, 0.073)},
    "rouge-l": {"full": (0.062, 0.114), "test": (0.096, 0.147)},
    "meteor": {"full": (0.021, 0.022), "test": (0.013, 0.021)},
    "embedding": {"full": (-0.035, -0.030), "test": (-0.091, -0.010)},
    "c-adem": {"validation": (0.272, 0.238), "test": (0.293, 0.303)},
    "r-adem": {"validation": (0.428, 0.383), "test": (0.409, 0.392)},
    "adem": {"validation": (0.436, 0.389), "test": (0.414, 0.395)},
}
#: Table 4: Pearson of four systems' means.
TABLE4 = {
    "bleu-1": -0.079,
    "bleu-2": 0.308,
    "bleu-3": -0.537,
    "bleu-4": -0.536,
    "rouge-l": 0.268,
    "adem": 0.981,
}
#: Table 5: Spearman and Pearson on the whole test set and on the removed system's answers.
TABLE5: dict[str, dict[str, tuple[float, float]]] = {
    "average": {"full": (0.4069, 0.3938), "removed": (0.4164, 0.3982)},
    "at_random": {"full": (0.4077, 0.3932)},
}
#: Table 6: the counts of its cascade.
TABLE6 = {
    "answers": 616, "good": 237, "overlap_fails": 146, "metric_finds": 60, "metric_fails": 42,
    "overlap_finds": 14,
}  # fmt: skip
#: Table 8: means near and far, and p.
TABLE8 = {
    "rouge-l": (0.042, 0.031, "< .01"), "bleu-2": (0.0022, 0.0007, ".23"), "adem": (2.072, 2.015, ".23"),
    "human": (2.671, 2.698, ".83"),
}  # fmt: skip
#: Table 14: Spearman and Pearson at shares of the training data.
TABLE14: dict[float, tuple[float, float]] = {
    1.0: (0.414, 0.395), 0.75: (0.408, 0.393), 0.5: (0.400, 0.391), 0.25: (0.330, 0.331),
    0.1: (0.245, 0.265), 0.05: (0.098, 0.161),
}  # fmt: skip


def as_json() -> dict[str, Any]:
    """As JSON has it."""

    def two(pair: tuple[float, float]) -> dict[str, float]:
        return {"spearman": pair[0], "pearson": pair[1]}

    def parts(of: dict[str, tuple[float, float]]) -> dict[str, Any]:
        return {name: two(pair) for name, pair in of.items()}

    return {
        "source": "Lowe et al. 2017, other data: not to be compared figure by figure",
        "table3": {name: parts(of) for name, of in TABLE3.items()},
        "table4": TABLE4,
        "table5": {name: parts(of) for name, of in TABLE5.items()},
        "table6": TABLE6,
        "table8": {name: {"near": a, "far": b, "p": p} for name, (a, b, p) in TABLE8.items()},
        "table14": [{"share": share, **two(pair)} for share, pair in TABLE14.items()],
    }


#: What a trained form has to beat: itself before training, the cosine of the same vectors, one score for all.
BEFORE, COSINE, CONSTANT = "-before", "cosine", "constant"


def yardsticks_of(forms: Sequence[str]) -> list[str]:
    """Names of what these forms have to beat, each form before its training first."""
    return [*(f"{form}{BEFORE}" for form in forms), COSINE, CONSTANT]


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A trained ADEM and the vectors of all rows; `mean` is that of people's scores in its training."""

    trained: TrainedModel
    encoded: EncodedExamples
    mean: float

    def scores(self, rows: Indices, which: str) -> Floats:
        """Scores of some rows (k) by one form, or by a yardstick of `yardsticks_of`."""
        part = self.encoded.part(rows)
        if which == COSINE:
            return cosines(part)
        if which == CONSTANT:
            return np.full(len(rows), self.mean)
        if which.endswith(BEFORE):
            return self.trained.initial(part, which.removesuffix(BEFORE))
        return self.trained.score(part, which)

    def initial(self, rows: Indices) -> Floats:
        """Scores of some rows before training, those of ADEM where it was trained."""
        form = ADEM if ADEM in self.trained.forms else next(iter(self.trained.forms))
        return self.trained.initial(self.encoded.part(rows), form)

    def watched(self, training: Indices, test: Indices) -> dict[str, tuple[Epoch, ...]]:
        """What a test set says at each epoch of this training: the same steps again, with it to look at."""
        histories = {}
        for form, history in self.trained.history.items():
            epochs = max(1, len(history) - 1)
            again = replace(like(self.trained, form), epochs=epochs, patience=epochs, which=(form,))
            histories[form] = train(self.encoded.part(training), self.encoded.part(test), again).history[form]
        return histories


def fitting(
    encoded: EncodedExamples, settings: Settings, progress: Progress | None = None
) -> Callable[[Indices, Indices], Model]:
    """Training under these settings, on rows of what was encoded."""

    def fit(training: Indices, validation: Indices) -> Model:
        training_part = encoded.part(training)
        trained = train(training_part, encoded.part(validation), settings, progress)
        return Model(trained, encoded, float(training_part.scores.mean()))

    return fit


def like(trained: TrainedModel, form: str = ADEM) -> Settings:
    """The settings of a training with the n, penalty and rate that it chose.

    Of fewer texts there may be fewer components; then all of them are taken.
    """
    trial = trained.best_trials[form]
    return replace(trained.settings, n=None, sizes=(trial.n,), penalty=trial.penalty, rate=trial.rate)


def again(model: Model, tick: Callable[[int], None]) -> Fit:
    """ADEM alone, trained as in `model` but on other rows; `tick` hears how often that was done."""
    fit = fitting(model.encoded, replace(like(model.trained), which=(ADEM,)))
    times = count(1)

    def ticking(training: Indices, validation: Indices) -> Model:
        model = fit(training, validation)
        tick(next(times))
        return model

    return ticking


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidation:
    """Scores (n) by form, the fold of each row (n, from 0), and what each fold chose on its validation.

    `yardsticks` (n) are scores of what the forms have to beat, by name, from the same folds.
    """

    scores: dict[str, Floats]
    yardsticks: dict[str, Floats]
    fold: Indices
    parts: Sequence[Parts]
    choices: Sequence[dict[str, Any]]
    seed: int


def crossed(
    keys: Sequence[str],
    number: int,
    encode: Callable[[Indices], EncodedExamples],
    settings: Settings,
    *,
    seed: int,
    progress: Progress,
) -> CrossValidation:
    """Trains a model for each fold; n, penalty and rate are chosen within it."""
    dealt = folds(keys, number, seed)
    choices: list[dict[str, Any]] = []

    def fit_of(at: int) -> protocols.Fit:
        def report_fold(done: int, total: int, what: str) -> None:
            progress(at * total + done, number * total, f"fold {at + 1} of {number}: {what}")

        def fit(training: Indices, validation: Indices) -> Model:
            model = fitting(encode(training), settings, report_fold)(training, validation)
            choices.append(
                {
                    form: {
                        "n": tried.n,
                        "penalty": tried.penalty,
                        "rate": tried.rate,
                        "epoch": tried.best.number,
                    }
                    for form, tried in model.trained.best_trials.items()
                }
            )
            return model

        return fit

    yardsticks = yardsticks_of(settings.which)
    columns = protocols.out_of_fold(
        len(keys), dealt, [fit_of(at) for at in range(number)], [*settings.which, *yardsticks]
    )
    fold = np.empty(len(keys), dtype=np.intp)
    for at, parts in enumerate(dealt):
        fold[parts.test] = at
    return CrossValidation(
        {name: columns[name] for name in settings.which},
        {name: columns[name] for name in yardsticks},
        fold,
        dealt,
        choices,
        seed,
    )


def _squared_error(human: Floats, scores: Floats | None, name: str) -> float | None:
    """Mean squared distance to people's scores; None for what is not on their scale."""
    if scores is None or name == COSINE:
        return None
    apart = scores - human
    defined = apart[~np.isnan(apart)]
    return float((defined**2).mean()) if len(defined) else None


def said_of_folds(
    answers: ScoredAnswers, validation: CrossValidation, *, replicates: int, draws: int
) -> dict[str, Any]:
    """Agreement of the scores out of fold, beside all that is untrained, of which `rival` is the best.

    Scores of different folds come from different models: correlations are of scores standardised within each
    fold, squared errors of the scores as they are. `differences` are those of each trained form to the rival,
    over all answers. The rival was picked on the same answers, which favours it.
    """
    own = validation.scores | validation.yardsticks
    pooled = {name: protocols.standardised(scores, validation.fold) for name, scores in own.items()}
    together = replace(answers, metrics={**answers.metrics, **pooled})
    rival = protocols.best(together, [name for name in together.metrics if name not in validation.scores])
    return {
        "folds": len(validation.parts),
        "pooled": "standardised within each fold",
        "metrics": {
            name: {
                "trained": name in validation.scores,
                **({"yardstick": True} if name in validation.yardsticks else {}),
                "squared_error": _squared_error(answers.human, own.get(name), name),
                **protocols.agreement(together, name, replicates=replicates, seed=validation.seed),
            }
            for name in together.metrics
        },
        "rival": rival,
        "differences": [
            protocols.difference(
                together, name, rival, which, replicates=replicates, draws=draws, seed=validation.seed
            )
            for name in validation.scores
            for which in protocols.BOTH
            if rival
        ],
        "each": [
            {
                "fold": at,
                "answers": len(parts.test),
                "contexts": len(np.unique(answers.questions[parts.test])),
                "chosen": trial_choice,
                **{
                    name: protocols.two(answers.human[parts.test], scores[parts.test])
                    for name, scores in validation.scores.items()
                },
            }
            for at, (parts, trial_choice) in enumerate(
                zip(validation.parts, validation.choices, strict=True), start=1
            )
        ],
    }


_EACH, _CONTEXTS, _ANSWERS = 3, 3, 6


def examples_of(
    material: Material,
    test: ScoredAnswers,
    rows: Indices,
    lead: str,
    *,
    scale: tuple[float, float],
    seed: int,
) -> dict[str, list[dict[str, Any]]]:
    """Contexts with all their answers (`scored`, Table 7), and single answers of `cascade`'s kinds.

    `test` are the scores of the rows `rows` of the material.
    """
    names = [lead, *(name for name in OVERLAP if name in test.metrics)]
    adjusted = {name: normalised(test.metrics[name], test.human, scale) for name in names}

    def one(at: int) -> dict[str, Any]:
        row = material.table.stored_rows[int(rows[at])]
        return {
            "question": row.question,
            "reference": row.references[0],
            "answer": row.answer,
            "system": row.system,
            "human": float(test.human[at]),
            "score": float(test.metrics[lead][at]),
            "normalised": {name: float(values[at]) for name, values in adjusted.items()},
        }

    counts = np.bincount(test.questions)
    several = np.flatnonzero(counts > 1)
    contexts = _pick_places(several if len(several) else np.flatnonzero(counts), _CONTEXTS, seed, "scored")
    by_kind = {
        "scored": [
            one(at) for context in contexts for at in np.flatnonzero(test.questions == context)[:_ANSWERS]
        ]
    }
    for kind, places in cascade(test, lead, scale).items():
        by_kind[kind] = [one(at) for at in _pick_places(places, _EACH, seed, kind)]
    return by_kind


def _pick_places(places: Indices, most: int, seed: int, purpose: str) -> list[int]:
    if len(places) <= most:
        return [int(each) for each in places]
    picked = generator(seed, f"adem examples {purpose}").permutation(places)[:most]
    return [int(each) for each in np.sort(picked)]


#: Gives the vectors of all rows; an encoder that is trained itself reads the texts of these rows alone.
Encode = Callable[[protocols.Indices], EncodedExamples]
Result = dict[str, Any]

REPORT = 1
VERSION = 1
EMBEDDING = "embedding"
TITLES = {ADEM: "ADEM", "c-adem": "C-ADEM", "r-adem": "R-ADEM", EMBEDDING: "embedding dot product"}
TITLES |= {f"{form}{BEFORE}": f"{TITLES[form]} before training" for form in FORMS}
TITLES |= {COSINE: "cosine of the same vectors", CONSTANT: "constant: mean score of the training"}
NOT_TRAINED = "ADEM itself was not trained"
VALIDATION = 0.15
_FEW = 100


@dataclass(frozen=True, slots=True)
class Options:
    """How to study. Without `tables` nothing is trained again; `folds` 0 leaves cross-validation out."""

    seed: int = 0
    replicates: int = 1000
    draws: int = 9999
    folds: int = 0
    tables: bool = True
    times: int = protocols.TIMES
    version: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Work:
    """What is studied, and how."""

    material: Material
    measured: StudyScores
    encode: Encode
    settings: Settings
    options: Options
    progress: Progress

    @property
    def keys(self) -> list[str]:
        """The context of each row."""
        return [example.key for example in self.material.examples]


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A model that was trained on one part, and all scores beside each other."""

    parts: Parts
    model: Model
    answers: ScoredAnswers

    @property
    def trained(self) -> tuple[str, ...]:
        """The forms that the model has."""
        return tuple(form for form in FORMS if form in self.model.trained.forms)

    @property
    def lead(self) -> str:
        """The form that stands for the model."""
        return self.trained[0]


@dataclass(frozen=True, slots=True, eq=False)
class TrainingStudy:
    """The report, the split behind it, and scores out of fold where there was a cross-validation."""

    report: Result
    split: Split
    crossed: CrossValidation | None


def study(work: Work) -> TrainingStudy:
    """Train, test, and train again where a table asks for it. MetricError where there is too little."""
    began = time.monotonic()
    split_study = _split(work)
    seconds = {"training": time.monotonic() - began}
    report = _describe_study(work, split_study)
    report["table3"] = protocols.table3(
        split_study.answers,
        split_study.parts,
        split_study.trained,
        replicates=work.options.replicates,
        seed=work.options.seed,
    )
    report["history"] = _histories(split_study.model.trained.history)
    if work.options.tables:
        began = time.monotonic()
        report |= _tables(work, split_study)
        seconds["tables"] = time.monotonic() - began
    beside = None
    if work.options.folds:
        began = time.monotonic()
        beside = crossed(
            work.keys,
            work.options.folds,
            work.encode,
            work.settings,
            seed=work.options.seed,
            progress=work.progress,
        )
        report["folds"] = said_of_folds(
            work.measured.answers, beside, replicates=work.options.replicates, draws=work.options.draws
        )
        seconds["cross-validation"] = time.monotonic() - began
    report["printed"] = as_json()
    report["seconds"] = {name: round(value, 1) for name, value in seconds.items()}
    report["warnings"] = [*work.measured.notes, *_warnings(report)]
    cleaned: Result = plain(report)
    return TrainingStudy(cleaned, split_study, beside)


def train_on_all(work: Work) -> tuple[Model, Parts]:
    """A model of all contexts but those by which its training is stopped."""
    parts = split(work.keys, work.options.seed, (1 - VALIDATION, VALIDATION, 0.0))
    fit = fitting(work.encode(parts.train), work.settings, work.progress)
    return fit(parts.train, parts.validation), parts


def split_of(material: Material, parts: Parts) -> dict[str, dict[str, int]]:
    """Contexts and answers of each part."""
    return {
        name: {"contexts": len(np.unique(material.contexts[rows])), "answers": len(rows)}
        for name, rows in (("train", parts.train), ("validation", parts.validation), ("test", parts.test))
    }


def settings_of(settings: Settings) -> Result:
    """As JSON has them."""
    return {
        "n": list(settings.tried_sizes),
        "penalty": list(settings.tried_penalties),
        "rate": list(settings.tried_rates),
        "batch": settings.batch,
        "epochs": settings.epochs,
        "patience": settings.patience,
        "judge": settings.judge,
        "seed": settings.seed,
        "oversample": settings.oversample,
        "which": list(settings.which),
    }


def chosen_of(model: Model) -> Result:
    """n, penalty, rate and epoch of each form, and all that was tried."""
    trained = model.trained
    return {
        form: {
            **trained.best_trials[form].as_json(),
            "tried": [each.as_json() for each in trained.tried[form]],
        }
        for form in trained.forms
    }


def versions() -> dict[str, str]:
    """Of what the figures depend on."""
    packages = ("numpy", "torch", "transformers", "sentence-transformers")
    return {"python": platform.python_version(), **{name: version_of(name) for name in packages}}


def _split(work: Work) -> Split:
    parts = split(work.keys, work.options.seed)
    encoded = work.encode(parts.train)
    model = fitting(encoded, work.settings, work.progress)(parts.train, parts.validation)
    answers = work.measured.answers
    every = np.arange(len(answers))
    scores = {EMBEDDING: model.initial(every)}
    scores |= {form: model.scores(every, form) for form in FORMS if form in model.trained.forms}
    return Split(parts, model, replace(answers, metrics={**answers.metrics, **scores}))


def _describe_study(work: Work, split_study: Split) -> Result:
    """Everything that is no result: what was read, and how it was trained."""
    material, options, encoder = work.material, work.options, split_study.model.encoded.encoder
    return {
        "report": REPORT,
        "kind": "train-adem",
        "title": material.table.title,
        "source": material.table.description,
        "distillery": options.version,
        "versions": versions(),
        "profile": work.measured.profile,
        "seed": options.seed,
        "replicates": options.replicates,
        "draws": options.draws,
        "scale": list(work.measured.scale),
        "n": {
            "rows": len(material.places),
            "answers": len(material),
            "contexts": len(np.unique(material.contexts)),
            "systems": len(np.unique(split_study.answers.systems)) if material.has_systems else None,
        },
        "left_out": material.left_out,
        "sources": [source.card() for source in material.sources],
        "split": split_of(material, split_study.parts),
        "encoder": {"kind": encoder.kind, "name": encoder.name, "digest": encoder.digest},
        "settings": settings_of(work.settings),
        "chosen": chosen_of(split_study.model),
        "model": None,
        "lead": split_study.lead,
        "metrics": {
            name: {
                "title": work.measured.titles.get(name) or TITLES.get(name, name),
                "signature": split_study.answers.signatures.get(name) or _signature(name, split_study),
                "trained": name in split_study.trained,
            }
            for name in split_study.answers.metrics
        },
        "yardsticks": {name: TITLES[name] for name in yardsticks_of(split_study.trained)},
    }


def _signature(name: str, split_study: Split) -> str:
    """What a trained form is; `embedding` is the form that leads, before training."""
    trained, encoder = split_study.model.trained, split_study.model.encoded.encoder
    trial = trained.best_trials[split_study.lead if name == EMBEDDING else name]
    untrained = name == EMBEDDING
    return signature(
        name,
        VERSION,
        encoder=f"{encoder.kind}-{encoder.digest[:12]}",
        n=trial.n,
        **({} if untrained else {"penalty": trial.penalty, "rate": trial.rate, "epoch": trial.best.number}),
        seed=trained.settings.seed,
        refs="best",
    )


def _tables(work: Work, split_study: Split) -> Result:
    """Tables 4, 5, 6, 8 and 14, the examples, and Figure 7."""
    options, scale, parts = work.options, work.measured.scale, split_study.parts
    test = protocols.of_rows(split_study.answers, parts.test)
    none = {"value": None, "reason": NO_SYSTEMS.rstrip(".")}
    systems = work.material.has_systems
    sections: Result = {
        "table4": adem_table4(test, scale) if systems else none,
        "table5": none,
        "table6": adem_table6(test, scale),
        "table8": length_bias(
            test, {**test.metrics, HUMAN: test.human}, draws=options.draws, seed=options.seed
        ),
        "examples": examples_of(
            work.material, test, parts.test, split_study.lead, scale=scale, seed=options.seed
        ),
        "watched": _histories(split_study.model.watched(parts.train, parts.test)),
    }
    if split_study.lead != ADEM:
        without = {"value": None, "reason": NOT_TRAINED}
        return {**sections, "table5": without, "table14": without}
    trainings = options.times * len(protocols.SHARES)
    if systems:
        trainings += options.times + len(np.unique(split_study.answers.systems))
    fit = again(
        split_study.model, lambda done: work.progress(done, trainings, "training again for the tables")
    )
    if systems:
        sections["table5"] = protocols.table5(
            split_study.answers, parts, fit, seed=options.seed, times=options.times
        )
    sections["table14"] = protocols.table14(
        split_study.answers, work.material.contexts, parts, fit, seed=options.seed, times=options.times
    )
    return sections


def _histories(of: Mapping[str, Any]) -> Result:
    return {form: [epoch.as_json() for epoch in epochs] for form, epochs in of.items()}


def _warnings(report: Mapping[str, Any]) -> list[str]:
    test = report["split"]["test"]["answers"]
    warnings = []
    if test < _FEW and "folds" not in report:
        warnings.append(
            f"The test set has {test} answers: what is said of it would be different with another seed. "
            "Cross-validation tests on all answers: --folds 5."
        )
    return warnings + idle_forms(report["folds"]["metrics"]) if "folds" in report else warnings


def idle_forms(metrics: Mapping[str, Any]) -> list[str]:
    """Of each form to which training added nothing, what does as well without it."""
    warnings = []
    for form in [name for name, of in metrics.items() if of["trained"]]:
        own = metrics[form]["pearson"]["value"]
        beaten_by = [
            f"{TITLES[name]} {value:.3f}"
            for name in (f"{form}{BEFORE}", COSINE)
            if (value := metrics[name]["pearson"]["value"]) is not None and (own is None or own <= value)
        ]
        if beaten_by:
            has = "no correlation with people" if own is None else f"Pearson {own:.3f}"
            warnings.append(
                f"Training adds nothing to {TITLES[form]} here: out of fold it has {has}; "
                f"{', '.join(beaten_by)}."
            )
        error, constant = metrics[form]["squared_error"], metrics[CONSTANT]["squared_error"]
        if error is not None and constant is not None and error >= constant:
            warnings.append(
                f"{TITLES[form]} is no nearer to people's scores than one score for all answers: its squared "
                f"error is {error:.2f}, that of the mean score {constant:.2f}."
            )
    return warnings


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
        talks = talks_of(material, rows)
        return _of_gru(material, talks, device=device, seed=seed, progress=progress)

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
        parsed = json.loads(line)
    except ValueError as error:
        raise EvaluationError(f"{path}, line {number} is no JSON: {error}.") from error
    turns = parsed.get("turns") if isinstance(parsed, dict) else parsed
    if not isinstance(turns, list) or not all(isinstance(turn, str) for turn in turns):
        raise EvaluationError(
            f'{path}, line {number} is no dialogue. Write a list of texts, or {{"turns": [...]}}.'
        )
    filled = tuple(turn for turn in turns if turn.strip())
    if len(filled) < _FEWEST_TURNS:
        raise EvaluationError(f"{path}, line {number} has fewer than two turns; leave it out.")
    return filled


def _of_gru(
    material: Material, dialogues: list[tuple[str, ...]], *, device: str, seed: int, progress: Progress
) -> EncodedExamples:

    encoder = train_gru(dialogues, GruSettings(seed=seed, device=device), progress)
    return encode(material.examples, encoder, progress)
