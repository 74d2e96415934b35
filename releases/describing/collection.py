"""How the data were collected, as sections of the data card: stages, pay, agreement, filters, people, "
"privacy."""

from collections.abc import Iterator

from core.money.amounts import dollars
from releases.describing.escapes import markdown, plain, table
from releases.describing.facts import Agreement, Alpha, Facts, StageFacts
from releases.describing.methods import METHODS

_UNKNOWN = "not known"


def collecting(facts: Facts) -> Iterator[str]:
    """All sections that there is something to say in."""
    yield from _collected(facts)
    yield from _found(facts)
    yield from _pay(facts)
    yield from _agreement(facts)
    yield from _filters(facts)
    yield from _people(facts)
    yield from _privacy(facts)


def _collected(facts: Facts) -> Iterator[str]:
    yield "## How it was collected"
    if facts.imported is not None:
        given = facts.imported
        yield (
            f"The queries, answers and scores come from the file {markdown(given.file)} (SHA-256 "
            f"`{plain(given.sha256)}`). Scores are on a scale from {given.low:g} to {given.high:g}."
        )
    for kind in dict.fromkeys(stage.kind for stage in facts.stages):
        yield METHODS.get(kind, f"**{markdown(kind.capitalize())}.** A kind of task of this installation.")
    if facts.stages:
        yield table(
            ("Stage", "Kind", "People per unit", "Units", "Submissions", "Approved", "Rejected"),
            [
                (
                    _stage(each),
                    markdown(each.kind),
                    *(
                        f"{number:,}"
                        for number in (
                            each.redundancy,
                            each.units,
                            each.assignments,
                            each.approved,
                            each.rejected,
                        )
                    ),
                )
                for each in facts.stages
            ],
            frozenset({2, 3, 4, 5, 6}),
        )
    if facts.steps:
        yield "What was there after each step:"
        yield table(
            ("Step", "Left"),
            [(markdown(step.words), f"{step.count:,}") for step in facts.steps],
            frozenset({1}),
        )
    if not facts.stages and facts.imported is None:
        yield "Nothing was asked of people yet."


def _found(facts: Facts) -> Iterator[str]:
    if not facts.found:
        return
    yield "## Where the passages come from"
    yield (
        "Candidate passages by where they were found and by who ordered them. People saw the best of each "
        "query; the table `retrieval` has every candidate with its rank, the parts of its score, and the "
        "ranker's parameters. `balanced` and `crown-2020` re-rank what BM25 finds by words, their proximity "
        "and their place (after Kaiser et al. 2020)."
    )
    yield table(
        ("Found in", "Ordered by", "Passages", "Queries", "Licence"),
        [
            (
                markdown(each.corpus or each.origin),
                markdown(each.ranker or "its file"),
                f"{each.passages:,}",
                f"{each.queries:,}",
                markdown(each.licence),
            )
            for each in facts.found
        ],
        frozenset({2, 3}),
    )
    for corpus, words in {each.corpus: each.attribution for each in facts.found}.items():
        if words.strip():
            yield f"{markdown(corpus)}: {markdown(words)}"


def _stage(stage: StageFacts) -> str:
    return markdown(stage.title or stage.name)


def _pay(facts: Facts) -> Iterator[str]:
    if not facts.stages:
        return
    yield "## Pay"
    money = plain(facts.currency)
    yield table(
        (
            "Stage",
            "Reward per HIT",
            "Median time",
            "Median pay per hour",
            "Rewards",
            "Bonuses",
            "Fees of the marketplace",
        ),
        [
            (
                _stage(each),
                _amount(each.reward_cents, money),
                _time(each.median_seconds),
                _UNKNOWN
                if each.median_cents_per_hour is None
                else _amount(round(each.median_cents_per_hour), money),
                _amount(each.paid_cents, money),
                _amount(each.bonus_cents, money),
                _amount(each.fee_cents, money),
            )
            for each in facts.stages
        ],
        frozenset(range(1, 7)),
    )
    total = sum(each.paid_cents + each.bonus_cents for each in facts.stages)
    fees = sum(each.fee_cents for each in facts.stages)
    yield f"People got {_amount(total, money)} in all, and the marketplace {_amount(fees, money)}."
    if facts.simulated_workers:
        yield "Simulated workers get play money: these are no wages."


def _amount(cents: int, currency: str) -> str:
    return f"{dollars(cents)} {currency}"


def _time(seconds: float | None) -> str:
    if seconds is None:
        return _UNKNOWN
    whole = round(seconds)
    return f"{whole // 60} min {whole % 60} s" if whole >= 60 else f"{whole} s"


def _agreement(facts: Facts) -> Iterator[str]:
    if not facts.agreement:
        return
    yield "## Agreement"
    yield (
        "Of what people gave, before and after the filters. Filters that remove ratings for being far from "
        "others raise agreement by themselves, also where the ratings are noise; `reports/` has what remains "
        "beside such a null."
    )
    yield table(
        ("Stage", "About", "Measure", "Before", "Responses before", "After", "Responses after"),
        [_agreed(each) for each in facts.agreement],
        frozenset({4, 6}),
    )
    scales = [f"{markdown(each.stage)} {each.scale}" for each in facts.agreement if each.scale]
    if scales:
        yield f"Scores: {'; '.join(scales)}."


def _agreed(each: Agreement) -> tuple[str, ...]:
    after = _alpha(each.after) if each.after is not None else "not filtered"
    kept = "" if each.judgments_after is None else f"{each.judgments_after:,}"
    return (
        markdown(each.stage),
        markdown(each.about),
        markdown(each.measure),
        _alpha(each.before),
        f"{each.judgments_before:,}",
        after,
        kept,
    )


def _alpha(alpha: Alpha) -> str:
    if alpha.value is None:
        return "not defined"
    between = "" if alpha.low is None or alpha.high is None else f" ({alpha.low:.3f} to {alpha.high:.3f})"
    return f"{alpha.value:.3f}{between}"


def _filters(facts: Facts) -> Iterator[str]:
    if not facts.filters:
        return
    yield "## Filters"
    yield "No rating is left out of the table `ratings`: `kept`, `rule` and `reason` say what became of each."
    for each in facts.filters:
        share = each.removed / each.ratings if each.ratings else 0.0
        yield (
            f"In {markdown(each.stage)} the recipe {markdown(each.recipe)} removed {each.removed:,} of "
            f"{each.ratings:,} ratings ({share:.1%}):"
        )
        if each.rules:
            yield table(
                ("Rule", "Parameters", "Removed"),
                [(markdown(rule.name), markdown(rule.words), f"{rule.removed:,}") for rule in each.rules],
                frozenset({2}),
            )


def _people(facts: Facts) -> Iterator[str]:
    yield "## People"
    if facts.imported is not None and not facts.workers:
        yield "Who judged is not known: the file has scores and no people."
        return
    real = facts.workers - facts.simulated_workers
    yield f"{facts.workers:,} workers took part: {real:,} people and {facts.simulated_workers:,} simulated."
    if facts.stages:
        yield table(
            ("Stage", "Workers", "Of them simulated"),
            [(_stage(each), f"{each.workers:,}", f"{each.simulated_workers:,}") for each in facts.stages],
            frozenset({1, 2}),
        )


def _privacy(facts: Facts) -> Iterator[str]:
    yield "## Privacy"
    yield (
        "Workers have pseudonyms that are keyed to this project: they lead nobody back to an account, and "
        "one person has another pseudonym in another project. Before the release was built, all texts that "
        "people wrote were searched for what tells who somebody is; a person decided about each finding. "
        "What was blacked out stands as █."
    )
    if facts.privacy:
        yield table(
            ("Found", "Blacked out", "Left as it is"),
            [(markdown(each.rule), f"{each.redacted:,}", f"{each.accepted:,}") for each in facts.privacy],
            frozenset({1, 2}),
        )
    else:
        yield "Nothing was found."
