"""Cross-validation by context: every answer is scored by a model that has not seen its question."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from evaluations.learning.fit import COSINE, Model, fitting, yardsticks_of
from metrics.learned.adem import protocols
from metrics.learned.adem.protocols import Indices
from metrics.learned.adem.settings import Progress, Settings
from metrics.learned.adem.splits import Parts, folds
from metrics.learned.adem.training import EncodedExamples
from metrics.metaeval.data import Floats, ScoredAnswers


@dataclass(frozen=True, slots=True, eq=False)
class CrossValidation:
    """Scores (n) by form, the fold of each row (n, from 0), and what each fold chose on its validation.

    `yardsticks` (n) are scores of what the forms have to beat, by name, from the same folds.
    """

    scores: dict[str, Floats]
    yardsticks: dict[str, Floats]
    fold: Indices
    parts: Sequence[Parts]
    chosen: Sequence[dict[str, Any]]
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
    chosen: list[dict[str, Any]] = []

    def fit_of(at: int) -> protocols.Fit:
        def told(done: int, total: int, what: str) -> None:
            progress(at * total + done, number * total, f"fold {at + 1} of {number}: {what}")

        def fit(training: Indices, validation: Indices) -> Model:
            model = fitting(encode(training), settings, told)(training, validation)
            chosen.append(
                {
                    form: {
                        "n": tried.n,
                        "penalty": tried.penalty,
                        "rate": tried.rate,
                        "epoch": tried.best.number,
                    }
                    for form, tried in model.trained.chosen.items()
                }
            )
            return model

        return fit

    yardsticks = yardsticks_of(settings.which)
    found = protocols.out_of_fold(
        len(keys), dealt, [fit_of(at) for at in range(number)], [*settings.which, *yardsticks]
    )
    fold = np.empty(len(keys), dtype=np.intp)
    for at, parts in enumerate(dealt):
        fold[parts.test] = at
    return CrossValidation(
        {name: found[name] for name in settings.which},
        {name: found[name] for name in yardsticks},
        fold,
        dealt,
        chosen,
        seed,
    )


def _squared_error(human: Floats, scores: Floats | None, name: str) -> float | None:
    """Mean squared distance to people's scores; None for what is not on their scale."""
    if scores is None or name == COSINE:
        return None
    apart = scores - human
    known = apart[~np.isnan(apart)]
    return float((known**2).mean()) if len(known) else None


def said_of_folds(
    judged: ScoredAnswers, found: CrossValidation, *, replicates: int, draws: int
) -> dict[str, Any]:
    """Agreement of the scores out of fold, beside all that is untrained, of which `rival` is the best.

    Scores of different folds come from different models: correlations are of scores standardised within each
    fold, squared errors of the scores as they are. `differences` are those of each trained form to the rival,
    over all answers. The rival was picked on the same answers, which favours it.
    """
    own = found.scores | found.yardsticks
    pooled = {name: protocols.standardised(scores, found.fold) for name, scores in own.items()}
    together = replace(judged, metrics={**judged.metrics, **pooled})
    rival = protocols.best(together, [name for name in together.metrics if name not in found.scores])
    return {
        "folds": len(found.parts),
        "pooled": "standardised within each fold",
        "metrics": {
            name: {
                "trained": name in found.scores,
                **({"yardstick": True} if name in found.yardsticks else {}),
                "squared_error": _squared_error(judged.human, own.get(name), name),
                **protocols.agreement(together, name, replicates=replicates, seed=found.seed),
            }
            for name in together.metrics
        },
        "rival": rival,
        "differences": [
            protocols.difference(
                together, name, rival, which, replicates=replicates, draws=draws, seed=found.seed
            )
            for name in found.scores
            for which in protocols.BOTH
            if rival
        ],
        "each": [
            {
                "fold": at,
                "answers": len(parts.test),
                "contexts": len(np.unique(judged.questions[parts.test])),
                "chosen": chosen,
                **{
                    name: protocols.two(judged.human[parts.test], scores[parts.test])
                    for name, scores in found.scores.items()
                },
            }
            for at, (parts, chosen) in enumerate(zip(found.parts, found.chosen, strict=True), start=1)
        ],
    }
