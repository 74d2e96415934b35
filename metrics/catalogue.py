"""The names of all metrics, and the metric of a name under a profile.

What makes a metric is named by its module and function and loaded with the first metric of its kind: pages
and commands list the metrics without loading one.
"""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from metrics.errors import MetricError
from metrics.profiles import Profile
from metrics.profiles import profile as profile_named

if TYPE_CHECKING:
    from metrics.texts import Metric

# Matches of n-grams and subsequences, alignments of words, and plain counts.
BLEU = tuple(f"bleu-{n}" for n in (1, 2, 3, 4))
ROUGE = tuple(f"rouge-{kind}{stem}" for kind in ("1", "2", "l") for stem in ("", "-stem"))
CHRF = ("chrf", "chrf++")
#: With a bonus for opinions and entities.
ADAPTED = (*(f"adapted-bleu-{n}" for n in (1, 2, 3, 4)), "adapted-rouge-l")
#: With weights that a model learned; they need questions, so they have no phrasing-aware forms.
KPQA = ("bleu-1-kpqa", "bleu-1-kpqa-repo", "rouge-l-kpqa", "rouge-l-kpqa-paper", "rouge-l-kpqa-repo")
#: By vectors of an encoder.
BERTSCORE = ("bertscore", "bertscore-kpqa", "bertscore-kpqa-repo")
#: Learned from scores that people gave.
ADEM = ("adem", "c-adem", "r-adem")
#: Metrics that do not compare two texts: what a question knows, or the length alone.
NOT_PAIRS = ("adapted-", "length")

_WRITTEN: dict[str, str] = {
    **dict.fromkeys(BLEU, "metrics.answers.bleu:make"),
    **dict.fromkeys(ROUGE, "metrics.answers.overlap:make"),
    **dict.fromkeys(CHRF, "metrics.answers.overlap:make_chrf"),
    "exact": "metrics.answers.overlap:make_exact",
    "f1": "metrics.answers.overlap:make_f1",
    "length": "metrics.answers.overlap:make_length",
    "length-difference": "metrics.answers.overlap:make_difference",
    "meteor": "metrics.answers.meteor:make",
    "cider": "metrics.answers.cider:make",
    "meteor-1.5": "metrics.answers.meteor_jar:make",
    **dict.fromkeys(ADAPTED, "metrics.answers.adapted_scores:make"),
}
_PHRASING_AWARE = tuple(f"pa-{name}" for name in _WRITTEN if not name.startswith(NOT_PAIRS))
#: By name: the module and its function that makes the metric under a profile.
MAKERS: dict[str, str] = {
    **_WRITTEN,
    **dict.fromkeys(_PHRASING_AWARE, "metrics.catalogue:make_phrasing_aware"),
    **dict.fromkeys((*KPQA, *BERTSCORE, *ADEM), "metrics.learned_metrics:make"),
}
#: Other spellings that people use.
ALIASES: dict[str, str] = {
    "bleu": "bleu-4",
    **{f"bleu{n}": f"bleu-{n}" for n in (1, 2, 3, 4)},
    **{f"rouge{kind}": f"rouge-{kind}" for kind in ("1", "2", "l")},
    "rouge": "rouge-l",
    "cider-d": "cider",
    "exact-match": "exact",
    "em": "exact",
    "token-f1": "f1",
    "chrfpp": "chrf++",
    "adapted-bleu": "adapted-bleu-4",
    "adapted-rouge": "adapted-rouge-l",
    "pa-bleu": "pa-bleu-4",
    "pa-rouge": "pa-rouge-l",
    "bleu1-kpqa": "bleu-1-kpqa",
    "rougel-kpqa": "rouge-l-kpqa",
    "bert-score": "bertscore",
    "bertscore-f1": "bertscore",
    "bert-score-kpqa": "bertscore-kpqa",
}


def plain_name(name: str) -> str:
    """A metric's name in `MAKERS`, without options in brackets; MetricError lists those that there are."""
    plain = name.strip().lower().replace("_", "-").partition("(")[0].strip()
    plain = ALIASES.get(plain, plain)
    if plain not in MAKERS:
        raise MetricError(f"There is no metric {name!r}; there are {', '.join(sorted(MAKERS))}.")
    return plain


#: Weights that stand behind the name of an adapted metric (Yang et al. 2018).
WEIGHTS = ("alpha", "beta", "gamma")
_WEIGHT = re.compile(r"([a-z]+)\s*=\s*([0-9]{0,6}(?:[0-9]|\.[0-9]{1,9}))")
#: Metrics that are made of programs which may not be installed, each with what says why not.
_INSTALLED = dict.fromkeys(("meteor-1.5", "pa-meteor-1.5"), "metrics.answers.meteor_jar:available")


def make_phrasing_aware(name: str, profile: Profile) -> "Metric":
    """The phrasing-aware form of another metric: `pa-bleu-4` of `bleu-4`."""
    aware: Metric = _find("metrics.answers.pa:make")(metric(name.removeprefix("pa-"), profile), profile)
    return aware


def _find(place: str) -> Callable[..., Any]:
    """A function by its module and name; a process loads the metrics that it scores, and no others."""
    module, _, name = place.partition(":")
    maker: Callable[..., Any] = getattr(import_module(module), name)
    return maker


def _make(plain: str, profile: Profile) -> "Metric":
    new_metric: Metric = _find(MAKERS[plain])(plain, profile)
    return new_metric


def lacking_program(name: str) -> str:
    """Why the program that a metric is made of cannot be run here; empty for all that need none."""
    return str(_find(_INSTALLED[name])()) if name in _INSTALLED else ""


def missing(metric: "Metric") -> str:
    """Why a metric cannot be scored on this machine, in words; empty if it can."""
    return metric.lacks or lacking_program(metric.name.removeprefix("pa-"))


def metric(name: str, profile: str | Profile = "default") -> "Metric":
    """The metric of that name as the profile has it; MetricError names the metrics that there are."""
    own_profile = profile_named(profile) if isinstance(profile, str) else profile
    plain = plain_name(name)
    parameters = name.strip().lower().replace("_", "-").partition("(")[2]
    if not parameters:
        return replace(_make(plain, own_profile), recipe=(metric, (plain, own_profile)))
    if plain.startswith("pa-"):
        return _with_importance(name, plain, parameters, own_profile)
    weights = _weights(name, plain, parameters)
    settings = {**own_profile.settings, "adapted": {**own_profile.settings.get("adapted", {}), **weights}}
    plain_metric = _make(plain, replace(own_profile, settings=settings))
    settings_text = ",".join(f"{key}={value:g}" for key, value in sorted(weights.items()))
    full = f"{plain}({settings_text})"
    title = f"{plain_metric.title} ({settings_text.replace(',', ', ')})"
    return replace(plain_metric, name=full, title=title, recipe=(metric, (full, own_profile)))


def _with_importance(name: str, plain: str, parameters: str, profile: Profile) -> "Metric":
    """A phrasing-aware metric with another importance function: `pa-bleu-4(imp=uniform)`, or `(self=no)`."""
    choices = {"imp": tuple(import_module("metrics.answers.importance").CHOICES), "self": ("yes", "no")}
    options: dict[str, str] = {}
    for part in parameters.removesuffix(")").split(",") if parameters.endswith(")") else ("",):
        option, _, value = (each.strip() for each in part.partition("="))
        if option in options or value not in choices.get(option, ()):
            choices_text = "; ".join(f"{key}: {', '.join(values)}" for key, values in choices.items())
            raise MetricError(
                f"{name}: write importance as {plain}(imp=uniform); there are {choices_text}, each once."
            )
        options[option] = value
    own = dict(profile.settings.get("pa", {}))
    own |= {"imp": options["imp"]} if "imp" in options else {}
    own |= {"itself": options["self"] == "yes"} if "self" in options else {}
    plain_metric = _make(plain, replace(profile, settings={**profile.settings, "pa": own}))
    choices_text = ",".join(f"{key}={value}" for key, value in sorted(options.items()))
    full = f"{plain}({choices_text})"
    return replace(
        plain_metric,
        name=full,
        title=f"{plain_metric.title} ({choices_text.replace(',', ', ')})",
        recipe=(metric, (full, profile)),
    )


def _weights(name: str, plain: str, parameters: str) -> dict[str, float]:
    """Weights of a bonus as they stand behind a metric's name: `alpha=2,beta=0.5)`."""
    if plain not in ADAPTED:
        adapted = ", ".join(ADAPTED)
        raise MetricError(
            f"{name}: only adapted metrics have weights of their own ({adapted}). Leave the parentheses out."
        )
    weights: dict[str, float] = {}
    for part in parameters.removesuffix(")").split(",") if parameters.endswith(")") else ("",):
        weight = _WEIGHT.fullmatch(part.strip())
        value = float(weight[2]) if weight else math.nan
        if weight is None or weight[1] not in WEIGHTS or weight[1] in weights or math.isnan(value):
            raise MetricError(
                f"{name}: write the weights as {plain}(alpha=2,beta=1); there are {', '.join(WEIGHTS)}, "
                "each a number from 0, once."
            )
        weights[weight[1]] = value
    if plain.endswith("-l") or "gamma" not in weights:
        return weights
    raise MetricError(f"{name}: gamma weighs the recall of ROUGE-L; BLEU has none.")
