"""What the published filters do to agreement and to the score, on simulated crowds whose truth is known.

    python benchmarks/quality_study.py [--seeds 10] [--markdown PATH] [--plot PATH] [--guide PATH]

Writes all tables (benchmarks/quality_study.md), their plot (benchmarks/quality_study.svg), and the tables
that docs/quality.md quotes.
"""

import argparse
import platform
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.quality_figures import (  # noqa: E402
    DECISION_LEAST,
    FIXED,
    POOL,
    THRESHOLD,
    Figures,
    covered,
    measured,
    stopped,
)
from benchmarks.quality_plot import Panel, Series, Spread, plot  # noqa: E402
from benchmarks.quality_quotes import HONEST, WORDS, cell, refreshed, row  # noqa: E402
from metrics.agreement.planning import CROWDS  # noqa: E402

SERIES = {
    "none": Series("no filter", "circle", "a"),
    "null": Series("z filter on permuted ratings", "tick", "d"),
    "kpqa-2021": Series("z filter, kpqa-2021", "diamond", "b"),
    "default": Series("workers by checks and kappa, default", "square", "c"),
}
TITLE = "The z filter raises agreement, and not the score"

Collected = dict[str, dict[str, Spread]]


def main() -> None:
    """Measures, and writes table and plot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--studies", type=int, default=100, help="for the coverage of intervals")
    parser.add_argument("--items", type=int, default=1000)
    parser.add_argument("--markdown", type=Path, default=ROOT / "benchmarks" / "quality_study.md")
    parser.add_argument("--plot", type=Path, default=ROOT / "benchmarks" / "quality_study.svg")
    parser.add_argument("--guide", type=Path, default=ROOT / "docs" / "quality.md")
    options = parser.parse_args()
    started = time.perf_counter()
    filters = collected(
        CROWDS, range(options.seeds), lambda name, seed: measured(name, seed, items=options.items)
    )
    stops = collected(
        HONEST, range(options.seeds), lambda name, seed: stopped(name, seed, items=options.items)
    )
    coverage = covered(options.studies, items=options.items)
    seconds = time.perf_counter() - started
    where = machine(seconds, options.seeds, options.items)
    options.markdown.write_text("\n".join(page(filters, stops, coverage, where)) + "\n", encoding="utf-8")
    guide = options.guide.read_text(encoding="utf-8")
    options.guide.write_text(refreshed(guide, filters), encoding="utf-8")
    options.plot.write_text(picture(filters), encoding="utf-8")
    print(options.markdown.read_text(encoding="utf-8"))


def collected(names: Sequence[str] | dict, seeds: range, measure: Callable[[str, int], Figures]) -> Collected:
    """Mean and spread over the seeds of every figure of every crowd; only figures that all seeds have."""
    found: Collected = {}
    for name in names:
        each = [measure(name, seed) for seed in seeds]
        common = set(each[0]).intersection(*each)
        found[name] = {
            what: Spread(
                float(np.mean([one[what] for one in each])), float(np.std([one[what] for one in each]))
            )
            for what in each[0]
            if what in common
        }
        print(f"{name}: {len(each)} studies", file=sys.stderr)
    return found


def machine(seconds: float, seeds: int, items: int) -> str:
    """Where and how long, in one sentence."""
    return (
        f"{seeds} seeds, each {items:,} items with 10 ratings by 150 workers; "
        f"Python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, "
        f"one process, {seconds:.0f} s."
    )


def page(filters: Collected, stops: Collected, coverage: Figures, where: str) -> Iterator[str]:
    """The Markdown page, line by line."""
    yield "# What filters do, on crowds whose truth is known"
    yield ""
    yield "Made by `python benchmarks/quality_study.py`. Mean and, after ±, standard deviation over seeds."
    yield where
    yield "Definitions, and what follows from it: [docs/quality.md](../docs/quality.md)."
    yield ""
    yield "![Alpha and error of the score, by crowd and filter](quality_study.svg)"
    for heading, lines in (
        ("Agreement: Krippendorff's alpha, interval", agreement(filters)),
        ("The score: distance from the truth (RMSE of the item mean)", distance(filters, "rmse", HONEST)),
        ("The score on contested items only", distance(filters, "contested", HONEST)),
        ("The score: correlation with the truth", distance(filters, "r", HONEST)),
        ("Adjusted scores (ITU-T P.913): correlation with the truth", adjusted_scores(filters)),
        ("Split-half reliability of the mean, beside the truth", reliability(filters)),
        ("Who is found: share of spammers removed, and of honest workers lost", found(filters)),
        ("Ratings that are left", left(filters)),
        (
            "Intervals of alpha: how often 95 % intervals hold the alpha of the population",
            intervals(coverage),
        ),
        (f"Stopping early, out of a pool of {POOL} ratings per item", stopping(stops)),
    ):
        yield ""
        yield f"## {heading}"
        yield ""
        yield from lines


def agreement(filters: Collected) -> Iterator[str]:
    """Alpha before and after, with what belongs beside it."""
    columns = {
        "no filter": "alpha none",
        "z filter (kpqa-2021)": "alpha kpqa-2021",
        "its null": "null",
        "crowds of the same alpha": "expected",
        "default, in-sample": "alpha default",
        "default, cross-fitted": "alpha cross-fitted",
        "adem-2017": "alpha adem-2017",
    }
    rows = [
        [WORDS[name], *(cell(filters[name], what) for what in columns.values())]
        for name in ("noise", *HONEST)
    ]
    rows[0][5:] = ["hardly anybody is left"] * 3
    return table(["crowd", *columns], rows)


def distance(filters: Collected, what: str, names: Sequence[str]) -> Iterator[str]:
    """One figure by recipe."""
    recipes = ("none", "kpqa-2021", "default", "adem-2017")
    rows = [[WORDS[name], *(cell(filters[name], f"{what} {recipe}") for recipe in recipes)] for name in names]
    return table(["crowd", *recipes], rows)


def adjusted_scores(filters: Collected) -> Iterator[str]:
    """P.913 after the default recipe, alone, and alone as published."""
    columns = {
        "plain mean after default": "r default",
        "adjusted after default": "r adjusted",
        "adjusted, no filter": "r adjusted alone",
        "as published (not shrunk), no filter": "r unshrunk alone",
    }
    rows = [[WORDS[name], *(cell(filters[name], what) for what in columns.values())] for name in HONEST]
    return table(["crowd", *columns], rows)


def reliability(filters: Collected) -> Iterator[str]:
    """Split-half beside the squared correlation with the truth, which it should equal."""
    recipes = ("none", "kpqa-2021", "default")
    rows = []
    for name in HONEST:
        cells = [WORDS[name]]
        for recipe in recipes:
            truth = filters[name][f"r {recipe}"].mean ** 2
            cells.append(f"{cell(filters[name], f'reliability {recipe}')} ({truth:.3f})")
        rows.append(cells)
    return table(["crowd", *(f"{recipe}: split-half (truth: r²)" for recipe in recipes)], rows)


def found(filters: Collected) -> Iterator[str]:
    """Who is removed by which rule."""
    ways = {
        "kappa": "kappa < 0.2",
        "kappa after z": "kappa < 0.2, measured after the z filter",
        "two checks": "two failed checks of six",
        "any check": "any failed check of six",
    }
    rows = []
    for way, words in ways.items():
        cells = [words]
        for name in HONEST:
            cells += [share(filters[name], f"caught {way}")] if name != "clean" else []
            cells += [share(filters[name], f"lost {way}")]
        rows.append(cells)
    heads = ["clean: lost", "moderate: found", "moderate: lost", "heavy: found", "heavy: lost"]
    return table(["rule", *heads], rows)


def left(filters: Collected) -> Iterator[str]:
    """Ratings per item, and how often the cap of the z filter binds."""
    rows = [
        [
            WORDS[name],
            *(
                cell(filters[name], f"kept {recipe}", 1)
                for recipe in ("none", "kpqa-2021", "default", "adem-2017")
            ),
            share(filters[name], "capped"),
        ]
        for name in ("noise", *HONEST)
    ]
    return table(
        ["crowd", "none", "kpqa-2021", "default", "adem-2017", "items where the cap of five bound"], rows
    )


def intervals(coverage: Figures) -> Iterator[str]:
    """Coverage and width of the two intervals."""
    words = {"both": "items and workers drawn anew", "items": "items only"}
    rows = [
        [
            words[over],
            f"{coverage[f'covered {over}']:.1%}".replace("%", " %"),
            f"{coverage[f'width {over}']:.3f}",
        ]
        for over in words
    ]
    return table(["bootstrap over", "covered", "mean width"], rows)


def stopping(stops: Collected) -> Iterator[str]:
    """Ratings used, error of the mean, and wrong answers to the question of the decision rule."""
    rules = {
        **{f"fixed {n}": f"always {n}" for n in FIXED},
        "precision": "precision: mean known to ± 0.8, 5 to 15 ratings",
        "decision": f"decision: is it ≥ {THRESHOLD}?, {DECISION_LEAST} to {POOL} ratings",
    }
    rows = []
    for rule, words in rules.items():
        cells = [words]
        for name in ("clean", "moderate"):
            cells.append(f"{stops[name][f'n {rule}'].mean:.1f}")
            cells.append(f"{stops[name][f'error {rule}'].mean:.2f}")
            cells.append(f"{stops[name][f'wrong {rule}'].mean:.1%}".replace("%", " %"))
        rows.append(cells)
    heads = [
        f"{name}: {what}" for name in ("clean", "moderate") for what in ("ratings", "RMSE", "wrong side")
    ]
    return table(["rule", *heads], rows)


def picture(filters: Collected) -> str:
    """Two panels: what happens to agreement, and what happens to the score."""
    agreement_rows = [
        (
            WORDS[name],
            {
                which: filters[name][what]
                for which, what in (
                    ("null", "null"),
                    ("default", "alpha default"),
                    ("kpqa-2021", "alpha kpqa-2021"),
                    ("none", "alpha none"),
                )
                if what in filters[name] and (name, which) != ("noise", "default")
            },
        )
        for name in ("noise", *HONEST)
    ]
    score_rows = [
        (
            label.format(name),
            {which: filters[name][f"{what} {which}"] for which in ("default", "kpqa-2021", "none")},
        )
        for what, label in (("rmse", "{}"), ("contested", "{}, contested"))
        for name in HONEST
    ]
    return plot(
        TITLE,
        "Left: Krippendorff's alpha by crowd. The z filter lifts it everywhere, in pure noise from 0 to 0.4. "
        "Right: distance of the item means from the truth. Removing workers brings the means nearer to it, "
        "the z filter does not, and on contested items it takes them away. Figures: quality_study.md.",
        SERIES,
        [
            Panel("Agreement", "Krippendorff's alpha, interval", 1.0, 0.2, agreement_rows),
            Panel(
                "Error of the score",
                "RMSE of the item mean (scale 1 to 5)",
                1.0,
                0.2,
                score_rows,
            ),
        ],
    )


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """Lines of a Markdown table."""
    yield row(list(head))
    yield f"|{'---|' * len(head)}"
    for each in rows:
        yield row(list(each))


def share(figures: dict[str, Spread], what: str) -> str:
    """A share in percent."""
    return f"{100 * figures[what].mean:.1f} %" if what in figures else "-"


if __name__ == "__main__":
    main()
