"""An evaluation for the terminal."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table

from retrieval.evaluation.ablation import Ablation
from retrieval.evaluation.report import Evaluation
from retrieval.evaluation.runs import SystemRun

#: A difference is marked where both corrected p-values are below this.
LEVEL = 0.05
_SHOWN = 60
#: Notes of rankers that are shown for each.
_NOTES = 3


def tables(evaluation: Evaluation) -> RenderableType:
    """Means of all systems, differences from the baseline, and what must be said."""
    parts: list[RenderableType] = [_means(evaluation)]
    if evaluation.comparisons:
        parts.append(_differences(evaluation))
    return Group(*parts, *(escape(sentence) for sentence in sentences(evaluation)))


def _means(evaluation: Evaluation) -> Table:
    table = Table("system", title=f"Means over {len(evaluation.questions):,} queries")
    best = {
        measure.name: max(evaluation.mean(each.run.name, measure.name) for each in evaluation.systems)
        for measure in evaluation.measures
    }
    for measure in evaluation.measures:
        table.add_column(escape(measure.name), justify="right")
    table.add_column("ms a query", justify="right")
    for each in evaluation.systems:
        row = [_name(each.run.name)]
        for measure in evaluation.measures:
            mean = evaluation.mean(each.run.name, measure.name)
            star = _star(evaluation, each.run.name, measure.name)
            shown = f"{mean:.4f}{star}"
            row.append(f"[bold]{shown}[/bold]" if mean == best[measure.name] else shown)
        times = sorted(each.milliseconds)
        row.append(f"{times[len(times) // 2]:.1f}" if times else "")
        table.add_row(*row)
    return table


def _differences(evaluation: Evaluation) -> Table:
    table = Table("system", "measure", title=f"Differences from {_name(evaluation.baseline)}")
    for name in ("difference", "95 %", "better / equal / worse", "t-test p", "randomisation p"):
        table.add_column(name, justify="right")
    for system, measure, test in evaluation.comparisons:
        interval = f"{test.interval[0]:+.4f} … {test.interval[1]:+.4f}" if test.interval else ""
        table.add_row(
            _name(system),
            escape(measure),
            f"{test.difference:+.4f}{_star(evaluation, system, measure)}",
            interval,
            f"{test.better:,} / {test.equal:,} / {test.worse:,}",
            _p(test.t_p_holm),
            _p(test.randomisation_p_holm),
        )
    return table


def ablation_table(ablation: Ablation) -> Table:
    """A system with each of its terms left out, and with the other query models; by the first measure."""
    evaluation = ablation.evaluation
    measure = evaluation.measures[0].name
    whole = f"{_name(ablation.system)}, {escape(measure)} {evaluation.mean(ablation.system, measure):.4f}"
    table = Table("ablation", title=f"Ablations of {whole}")
    for name in (measure, "difference", "95 %", "t-test p", "randomisation p"):
        table.add_column(escape(name), justify="right")
    for variant in ablation.variants:
        run = ablation.run_name(variant)
        test = evaluation.of(run, measure)
        if test is None:
            continue
        interval = f"{test.interval[0]:+.4f} … {test.interval[1]:+.4f}" if test.interval else ""
        table.add_row(
            escape(variant.change),
            f"{evaluation.mean(run, measure):.4f}",
            f"{test.difference:+.4f}{_star(evaluation, run, measure)}",
            interval,
            _p(test.t_p_holm),
            _p(test.randomisation_p_holm),
        )
    return table


def sentences(evaluation: Evaluation) -> Iterator[str]:
    """What a reader of the figures has to know."""
    facts = evaluation.facts.get("coverage", {})
    if evaluation.comparisons:
        yield (
            "* both tests below .05 after Holm's correction over the systems of a measure. Queries are "
            "paired; the randomisation test swaps whole conversations."
        )
    yield from _of(facts, "not_judged", "Left out, as nothing is judged for them")
    yield from _of(facts, "without_field", f"Left out, as they have no {evaluation.facts.get('field')}")
    yield from _of(facts, "judged_without_query", "Judged, but not among the queries")
    left_out = evaluation.facts.get("answerable")
    yield from _of(
        facts,
        "without_relevant",
        "Left out, as no passage is relevant for them"
        if left_out
        else "Without a relevant passage, so that every system has 0 (--answerable leaves them out)",
    )
    gone = facts.get("judged_not_among_passages", {})
    if gone.get("count"):
        yield (
            f"Judged passages that are not among the passages: {gone['count']:,}, such as "
            f"{gone['examples'][0]!r}. No system can find what {gone['relevant_judgments']:,} of the "
            "judgments ask for."
        )
    if facts.get("repeated_judgments"):
        yield f"Judgments that are repeated, and count once: {facts['repeated_judgments']:,}."
    for each in evaluation.systems:
        yield from _about(each, [question.id for question in evaluation.questions])


def _about(each: SystemRun, queries: Sequence[str]) -> Iterator[str]:
    """What is to be said of one system."""
    asked = _queries(len(queries))
    if each.wordless:
        yield f"{each.run.name}: {each.wordless:,} of {asked} without a word to search for."
    notes = sorted((each.notes or {}).items(), key=lambda pair: -pair[1])
    for note, count in notes[:_NOTES]:
        yield f"{each.run.name}: {note}" + (f" ({count:,} of {asked})" if count < len(queries) else "")
    if len(notes) > _NOTES:
        rest = sum(count for _, count in notes[_NOTES:])
        yield f"{each.run.name}: {rest:,} more notes on single queries; --json has them."
    missing = sum(not each.run.rankings.get(query) for query in queries)
    if missing and not each.milliseconds:
        yield f"{each.run.name}: nothing for {missing:,} of {asked}; they count as 0."


def _of(facts: Mapping[str, Any], name: str, words: str) -> Iterator[str]:
    about = facts.get(name, {})
    if about.get("count"):
        yield f"{words}: {_queries(about['count'])}, such as {about['examples'][0]!r}."


def _queries(number: int) -> str:
    return f"{number:,} quer{'y' if number == 1 else 'ies'}"


def _star(evaluation: Evaluation, system: str, measure: str) -> str:
    test = evaluation.of(system, measure)
    if test is None or test.t_p_holm is None or test.randomisation_p_holm is None:
        return ""
    return "*" if max(test.t_p_holm, test.randomisation_p_holm) < LEVEL else ""


def _p(p: float | None) -> str:
    if p is None:
        return "none"
    return f"{p:.4f}" if p >= 0.0001 else "< .0001"


def _name(text: str) -> str:
    """A name of a file's making: no control characters, no markup, not endless."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return escape(plain if len(plain) <= _SHOWN else plain[:_SHOWN] + "…")
