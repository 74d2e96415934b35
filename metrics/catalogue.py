"""Metrics by name, under a profile."""

import math
import re
from collections.abc import Callable
from dataclasses import replace

from metrics.answers import adapted_scores, bleu, chrf, cider, exact, meteor, meteor_jar, pa, rouge
from metrics.answers.importance import CHOICES
from metrics.base import Metric
from metrics.errors import MetricError
from metrics.learned.adem import metrics as adem
from metrics.learned.bert import metrics as bertscore
from metrics.learned.kpqa import metrics as kpqa
from metrics.profiles import Profile
from metrics.profiles import profile as profile_named

Maker = Callable[[str, Profile], Metric]


def _make_phrasing_aware(name: str, profile: Profile) -> Metric:
    return pa.make(metric(name.removeprefix("pa-"), profile), profile)


#: Who makes the metric of a name; the makers import what they need when they are called.
MAKERS: dict[str, Maker] = {
    # Matches of n-grams and subsequences.
    **{f"bleu-{n}": bleu.make for n in (1, 2, 3, 4)},
    **{f"rouge-{kind}{stem}": rouge.make for kind in ("1", "2", "l") for stem in ("", "-stem")},
    "chrf": chrf.make,
    "chrf++": chrf.make,
    "exact": exact.make_exact,
    "f1": exact.make_f1,
    "length": exact.make_length,
    "length-difference": exact.make_difference,
}
# Alignments of words.
MAKERS |= {"meteor": meteor.make}
MAKERS |= {"cider": cider.make, "meteor-1.5": meteor_jar.make}
# With a bonus for opinions and entities.
MAKERS |= dict.fromkeys(adapted_scores.NAMES, adapted_scores.make)
# Phrasing-aware forms of all above.
MAKERS |= dict.fromkeys(pa.named(MAKERS), _make_phrasing_aware)
# With weights that a model learned; they need questions, so they have no phrasing-aware forms.
MAKERS |= dict.fromkeys(kpqa.NAMES, kpqa.make)
# By vectors of an encoder.
MAKERS |= dict.fromkeys(bertscore.NAMES, bertscore.make)
# Learned from scores that people gave.
MAKERS |= dict.fromkeys(adem.NAMES, adem.make)
#: Weights that stand behind the name of an adapted metric (Yang et al. 2018).
WEIGHTS = ("alpha", "beta", "gamma")
#: What stands behind the name of a phrasing-aware metric: options and what each may be.
_IMPORTANCE: dict[str, tuple[str, ...]] = {"imp": tuple(CHOICES), "self": ("yes", "no")}
_WEIGHT = re.compile(r"([a-z]+)\s*=\s*([0-9]{0,6}(?:[0-9]|\.[0-9]{1,9}))")
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
#: Metrics that are made of programs which may not be installed, each with what says why not.
INSTALLED: dict[str, Callable[[], str]] = dict.fromkeys(("meteor-1.5", "pa-meteor-1.5"), meteor_jar.available)


def missing(metric: Metric) -> str:
    """Why a metric cannot be scored on this machine, in words; empty if it can."""
    below = metric.name.removeprefix("pa-")
    return metric.lacks or (INSTALLED[below]() if below in INSTALLED else "")


def metric(name: str, profile: str | Profile = "default") -> Metric:
    """The metric of that name as the profile has it; MetricError names the metrics that there are."""
    chosen = profile_named(profile) if isinstance(profile, str) else profile
    plain, _, given = name.strip().lower().replace("_", "-").partition("(")
    plain = ALIASES.get(plain.strip(), plain.strip())
    if plain not in MAKERS:
        raise MetricError(f"There is no metric {name!r}; there are {', '.join(sorted(MAKERS))}.")
    if not given:
        return replace(MAKERS[plain](plain, chosen), recipe=(metric, (plain, chosen)))
    if plain.startswith("pa-"):
        return _with_importance(name, plain, given, chosen)
    weights = _weights(name, plain, given)
    settings = {**chosen.settings, "adapted": {**chosen.settings.get("adapted", {}), **weights}}
    made = MAKERS[plain](plain, replace(chosen, settings=settings))
    said = ",".join(f"{key}={value:g}" for key, value in sorted(weights.items()))
    full = f"{plain}({said})"
    title = f"{made.title} ({said.replace(',', ', ')})"
    return replace(made, name=full, title=title, recipe=(metric, (full, chosen)))


def _with_importance(name: str, plain: str, given: str, profile: Profile) -> Metric:
    """A phrasing-aware metric with another importance function: `pa-bleu-4(imp=uniform)`, or `(self=no)`."""
    found: dict[str, str] = {}
    for part in given.removesuffix(")").split(",") if given.endswith(")") else ("",):
        option, _, value = (each.strip() for each in part.partition("="))
        if option in found or value not in _IMPORTANCE.get(option, ()):
            said = "; ".join(f"{key}: {', '.join(values)}" for key, values in _IMPORTANCE.items())
            raise MetricError(
                f"{name}: write importance as {plain}(imp=uniform); there are {said}, each once."
            )
        found[option] = value
    own = dict(profile.settings.get("pa", {}))
    own |= {"imp": found["imp"]} if "imp" in found else {}
    own |= {"itself": found["self"] == "yes"} if "self" in found else {}
    made = MAKERS[plain](plain, replace(profile, settings={**profile.settings, "pa": own}))
    said = ",".join(f"{key}={value}" for key, value in sorted(found.items()))
    full = f"{plain}({said})"
    return replace(
        made, name=full, title=f"{made.title} ({said.replace(',', ', ')})", recipe=(metric, (full, profile))
    )


def _weights(name: str, plain: str, given: str) -> dict[str, float]:
    """Weights of a bonus as they stand behind a metric's name: `alpha=2,beta=0.5)`."""
    if plain not in adapted_scores.NAMES:
        adapted = ", ".join(adapted_scores.NAMES)
        raise MetricError(
            f"{name}: only adapted metrics have weights of their own ({adapted}). Leave the parentheses out."
        )
    found: dict[str, float] = {}
    for part in given.removesuffix(")").split(",") if given.endswith(")") else ("",):
        weight = _WEIGHT.fullmatch(part.strip())
        value = float(weight[2]) if weight else math.nan
        if weight is None or weight[1] not in WEIGHTS or weight[1] in found or math.isnan(value):
            raise MetricError(
                f"{name}: write the weights as {plain}(alpha=2,beta=1); there are {', '.join(WEIGHTS)}, "
                "each a number from 0, once."
            )
        found[weight[1]] = value
    if plain.endswith("-l") or "gamma" not in found:
        return found
    raise MetricError(f"{name}: gamma weighs the recall of ROUGE-L; BLEU has none.")
