"""The tables of docs/quality.md that quote the study: each stands below a mark `<!-- study: NAME -->`."""

import re
from collections.abc import Iterator, Mapping

from benchmarks.quality_plot import Spread
from metrics.agreement.planning import CROWDS

HONEST = ("clean", "moderate", "heavy")
WORDS = {
    "noise": "pure noise",
    "clean": "clean",
    "moderate": "moderate, 15 % spam",
    "heavy": "heavy, 35 % spam",
}
RECIPES = ("none", "kpqa-2021", "default")

Collected = Mapping[str, Mapping[str, Spread]]


def refreshed(guide: str, filters: Collected) -> str:
    """The guide with its tables as the study now has them; ValueError if a mark is missing."""
    for name, lines in (("agreement", _agreement), ("distance", _distance), ("reliability", _reliability)):
        table = "\n".join(lines(filters))
        guide, times = re.subn(rf"(<!-- study: {name} -->\n)(?:\|.*\n)+", rf"\g<1>{table}\n", guide)
        if times != 1:
            raise ValueError(f"the guide has {times} tables marked {name}")
    return guide


def cell(figures: Mapping[str, Spread], what: str, places: int = 3) -> str:
    """Mean ± spread; a dash where it is not defined."""
    if what not in figures:
        return "-"
    return f"{figures[what].mean:.{places}f} ± {figures[what].sd:.{places}f}"


def row(cells: list[str]) -> str:
    """A line of a Markdown table."""
    return f"| {' | '.join(cells)} |"


def _agreement(filters: Collected) -> Iterator[str]:
    head = [
        "alpha, no filter",
        "z filter (`kpqa-2021`)",
        "its null",
        "workers removed (`default`), cross-fitted",
    ]
    yield row(["crowd", *head])
    yield "|---|---|---|---|---|"
    for name in ("noise", *HONEST):
        crossed = (
            "hardly anybody is left" if CROWDS[name].pure_noise else cell(filters[name], "alpha cross-fitted")
        )
        figures = [cell(filters[name], what) for what in ("alpha none", "alpha kpqa-2021", "null")]
        yield row([WORDS[name], *figures, crossed])


def _distance(filters: Collected) -> Iterator[str]:
    names = ("no filter", "`kpqa-2021`", "`default`")
    yield row(["crowd", *names, "contested items: no filter", *names[1:]])
    yield "|---|---|---|---|---|---|---|"
    for name in HONEST:
        yield row(
            [
                name,
                *(
                    cell(filters[name], f"{what} {recipe}")
                    for what in ("rmse", "contested")
                    for recipe in RECIPES
                ),
            ]
        )


def _reliability(filters: Collected) -> Iterator[str]:
    yield row(["crowd", "no filter: split-half (truth)", "`kpqa-2021`", "`default`"])
    yield "|---|---|---|---|"
    for name in HONEST:
        of = filters[name]
        cells = [
            f"{of[f'reliability {each}'].mean:.3f} ({of[f'r {each}'].mean ** 2:.3f})" for each in RECIPES
        ]
        yield row([name, *cells])
