"""Signatures and values of every metric, agreement figure and retrieval measure, on a few small data sets."""

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from metrics.agreement.data import Ratings, ratings_of
from metrics.agreement.filters import Checks
from metrics.agreement.recipes import RECIPES
from metrics.agreement.report import report
from metrics.catalogue import ALIASES, MAKERS, metric
from metrics.profiles import PROFILES, Profile
from metrics.scoring import score
from metrics.texts import Answers, Metric
from retrieval.evaluation.measures import Qrels, parse_measures, values

ANSWERS = Answers(
    candidates=[
        "It is Paris, the capital of France.",
        "no",
        "",
        "The cats were sitting on the mats.",
        "北京是中国的首都。",
        "About 2.5 million people live there",
    ],
    references=[
        ["Paris", "It is Paris.", "The capital of France is Paris."],
        ["No, it is not.", "Yes"],
        ["Nothing is known."],
        ["A cat sat on the mat."],
        ["首都是北京。", "北京"],
        ["2.5 million", "two and a half million people"],
    ],
    questions=[
        "what is the capital of france",
        "is bern the capital",
        "who knows",
        "where was the cat",
        "中国的首都是哪里",
        "how many people live in paris",
    ],
    labels=["", "No", "", "", "", ""],
    reference_labels=[["", "", ""], ["No", "Yes"], [""], [""], ["", ""], ["", ""]],
    entities=[["Paris"], [], [], ["cat"], ["北京"], ["2.5 million"]],
    systems=["one", "two", "one", "two", "one", "two"],
)


def list_profiles() -> list[str]:
    """Names of the profiles."""
    return list(PROFILES)


def render_metrics(name: str) -> str:
    """Signature, values and corpus score of the metrics of a profile; of the default one, of all metrics."""
    profile = without_wordnet(PROFILES[name])
    names = sorted(MAKERS) if name == "default" else profile.metrics
    lines = [f"# {profile.name}: {', '.join(profile.metrics)}", ""]
    made = [metric(each, profile) for each in names]
    lines += [line for each in made for line in _describe_metric(each)]
    lines += [line for each in made for line in _describe_values(each)]
    if name == "default":
        lines += ["", "# Other spellings", *(f"{short} = {full}" for short, full in sorted(ALIASES.items()))]
    return "\n".join(lines) + "\n"


def without_wordnet(profile: Profile) -> Profile:
    """The profile without synonyms, which are there only where the data of WordNet are."""
    meteor = {**profile.settings.get("meteor", {}), "synonyms": ""}
    return replace(profile, settings={**profile.settings, "meteor": meteor})


def _describe_metric(each: Metric) -> Iterator[str]:
    yield f"{each.name}: {each.title}"
    yield f"  {each.signature}"
    needs = f", needs {', '.join(sorted(each.needs))}" if each.needs else ""
    yield f"  from {each.low:g} to {each.high:g}{needs}"


def _describe_values(each: Metric) -> Iterator[str]:
    """Empty for what needs a model or a program that a machine may lack: signatures say enough of those."""
    if each.lacks or "meteor-1.5" in each.name:
        return
    found = score(ANSWERS, [each])
    yield ""
    yield f"{each.name}"
    yield f"  {_join_figures(found.values[each.name])}"
    systems = ", ".join(f"{name} {_round(value)}" for name, value in sorted(found.systems[each.name].items()))
    yield f"  corpus {_round(found.corpus[each.name])}; {systems}"
    for reason, count in sorted(found.undefined[each.name].items()):
        yield f"  {count} undefined: {reason}"


def _join_figures(figures: Iterable[float]) -> str:
    return " ".join(map(_round, figures))


def _round(value: float | None) -> str:
    """Nine digits: processors differ in the last ones."""
    return "-" if value is None or math.isnan(value) else f"{value:.9g}"


def list_recipes() -> list[str]:
    """Names of the recipes of filters."""
    return list(RECIPES)


def render_agreement(recipe: str) -> str:
    """The agreement report on a small crowd, a figure a line."""
    ratings = draw_ratings()
    checks = draw_checks(ratings)
    found = report(
        ratings, RECIPES[recipe], checks=checks, replicates=50, splits=6, seed=3, version="", rows=False
    )
    return "\n".join(flatten(found)) + "\n"


def draw_ratings() -> Ratings:
    """Forty items with six ratings each; one worker of twelve rates by chance, one gives always 5."""
    rng = np.random.default_rng(20)
    rows = []
    for item in range(40):
        truth = rng.uniform(1, 5)
        for worker in rng.choice(12, 6, replace=False):
            seen = float(np.clip(np.rint(truth + rng.normal(0, 0.6)), 1, 5))
            given = {10: float(rng.integers(1, 6)), 11: 5.0}.get(int(worker), seen)
            rows.append((f"item {item}", f"worker {worker}", int(given)))
    return ratings_of(rows)


def draw_checks(ratings: Ratings) -> Checks:
    """Four attention checks for each worker, of which those who do not read fail three."""
    failed = [3 if name in ("worker 10", "worker 11") else 0 for name in ratings.worker_names]
    return Checks(np.full(len(failed), 4), np.array(failed))


def flatten(value: Any, path: str = "") -> Iterator[str]:
    """JSON as lines of path and value."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from flatten(each, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(each, dict | list) for each in value):
        for number, each in enumerate(value):
            yield from flatten(each, f"{path}[{number}]")
    else:
        yield f"{path} = {json.dumps(round_floats(value), ensure_ascii=False)}"


def round_floats(value: Any) -> Any:
    """The same JSON with nine digits of each number that is not whole."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, dict):
        return {key: round_floats(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [round_floats(each) for each in value]
    return value


def render_retrieval() -> str:
    """The measures of rankings on three queries."""
    qrels = Qrels({"q1": {"a": 2, "b": 1, "c": 0}, "q2": {"x": 1, "y": 3}, "q3": {"z": 1}})
    rankings = {
        "q1": [("c", 3.0), ("b", 2.0), ("a", 1.0)],
        "q2": [("n", 2.0), ("y", 2.0), ("m", 1.0), ("x", 0.5)],
    }
    measures = "nDCG@10,nDCG@1,MRR@10,R@100,R@1,AP,P@5,Success@1,Judged@10,RR(rel=2)@10"
    found = values(parse_measures(measures), qrels, rankings, ["q1", "q2", "q3"])
    return "\n".join(f"{name}: {_join_figures(column)}" for name, column in found.items()) + "\n"
