"""The data card: `README.md` of a release, for people and, in its head, for the Hub."""

from collections.abc import Iterator

from releases.describing.citation import bibtex_entry
from releases.describing.collection import collecting
from releases.describing.columns import columns
from releases.describing.escapes import block, markdown, paragraphs, plain, table
from releases.describing.facts import QUESTIONS, Facts
from releases.describing.head import configurations, head, loaded
from releases.describing.licences import licence_named
from releases.describing.methods import PAPERS
from releases.formats.registry import LABELS
from releases.groups import GROUPS, words_of
from releases.tables import SPLITS, TABLES


def card(facts: Facts, *, counted: bool = True) -> str:
    """The card as Markdown with the Hub's YAML head.

    Before anything is `counted` it leaves out what was collected and from whom.
    """
    return "\n\n".join([head(facts), *_sections(facts, counted)]) + "\n"


def _sections(facts: Facts, counted: bool) -> Iterator[str]:
    yield f"# {markdown(facts.title)}"
    yield from _marks(facts)
    yield f"Version {markdown(facts.version)}. {_language(facts)}"
    yield from _what(facts)
    yield from _taken(facts)
    if counted:
        yield from collecting(facts)
    yield from _splits(facts)
    yield from _licence(facts)
    yield from _questions(facts)
    yield from _loading(facts)
    yield "## How to cite"
    yield block(bibtex_entry(facts), "bibtex")
    yield "The same stands in `CITATION.cff`."
    yield from columns(facts)
    yield from _files(facts)
    if facts.stages:
        yield "## Papers"
        yield "\n".join(f"- {paper}" for paper in PAPERS)


def _marks(facts: Facts) -> Iterator[str]:
    """What nobody may overlook."""
    if facts.imported is not None and facts.imported.simulated:
        yield (
            f"> **SIMULATED DATA.** Programs and not people gave {facts.imported.simulated:,} of the "
            f"{facts.imported.scores:,} imported human scores. They say nothing about people. Do not use "
            "them as evidence of anything."
        )
    if facts.simulated_workers:
        share = (
            "all workers"
            if facts.simulated_workers >= facts.workers
            else f"{facts.simulated_workers:,} workers"
        )
        yield (
            f"> **SIMULATED DATA.** Programs and not people did the work of {share} of this data set. Its "
            "answers, "
            "scores, agreement and pay say nothing about people. Do not use it as evidence of anything."
        )
    if facts.imported is not None:
        yield (
            "> **IMPORTED.** The human scores were collected elsewhere and imported from a file. How they "
            "were collected, from whom and for which pay is known only as far as this card says so."
        )


def _language(facts: Facts) -> str:
    between = [plain(day) for day in facts.collected if day]
    when = ""
    if len(between) == 2:
        when = f" People worked on it from {between[0]} to {between[1]}."
    return f"Language: {markdown(facts.language)}.{when}"


def _what(facts: Facts) -> Iterator[str]:
    yield "## What it is"
    if facts.answer("summary"):
        yield paragraphs(facts.answer("summary"))
    if facts.notes.strip():
        yield f"New in this version: {markdown(facts.notes)}"
    rows = [
        (
            f"`{each.name}`",
            markdown(each.title),
            *(f"{facts.rows[each.name].get(split, 0):,}" for split in SPLITS),
            markdown(each.meaning),
        )
        for each in TABLES
        if facts.rows.get(each.name)
    ]
    if rows:
        yield table(("Table", "Holds", *SPLITS, "Rows"), rows, frozenset({2, 3, 4}))


def _taken(facts: Facts) -> Iterator[str]:
    """What was accepted and what was brought in all the same, with the counts that are known."""
    if facts.imported is not None:
        return
    yield "## What went in"
    yield (
        "Answers of people that a reviewer approved, in work that was accepted. Queries that nobody disputes "
        "and that have a reference answer, where people were asked for any. What systems answered to other "
        "queries, and what people said about it, is not in it."
    )
    if facts.include:
        counts = {name: facts.brought_in.get(name, 0) for name in facts.include}
        groups = [
            f"{GROUPS[name].of} {GROUPS[name].words}" + (f" ({count:,})" if facts.brought_in else "")
            for name, count in counts.items()
        ]
        yield (
            f"**Brought in although they were not accepted: {', '.join(groups)}.** The columns `approved` "
            "and `flags` of the table `answers` tell which they are."
        )
    for of, left_out in facts.left_out.items():
        if left_out:
            yield f"{of.capitalize()} left out: {words_of(left_out)}."


def _splits(facts: Facts) -> Iterator[str]:
    yield "## Splits"
    shares = [f"{split} {share:.0%}" for split, share in zip(SPLITS, facts.shares, strict=False) if share]
    yield (
        f"Shares: {', '.join(shares)}; seed {facts.seed}. Queries that share a conversation, earlier turns "
        "or a curated passage are in one split."
    )


def _licence(facts: Facts) -> Iterator[str]:
    yield "## Licence"
    known = licence_named(facts.licence)
    if known is not None:
        yield f"[{known.spdx}]({known.url})"
    elif facts.licence.strip():
        yield paragraphs(facts.licence)
    else:
        yield "**No licence is stated. Nobody may pass it on until its owner says under which terms.**"


def _questions(facts: Facts) -> Iterator[str]:
    answered = [key for key in QUESTIONS if facts.answer(key)]
    if answered:
        yield "## What its makers say"
    for key in answered:
        yield f"### {markdown(QUESTIONS[key])}"
        yield paragraphs(facts.answer(key))
    yield "## Limits"
    yield (
        "Scores are opinions of the people who gave them, on the passages that they saw. What is not in the "
        "passages was not asked for, and a passage may be wrong."
    )
    if facts.open_questions:
        yield "## Open questions"
        yield "Nobody answered these yet:"
        yield "\n".join(f"- {markdown(words)}" for words in facts.open_questions)


def _loading(facts: Facts) -> Iterator[str]:
    tables = configurations(facts)
    if not tables:
        return
    yield "## How to load"
    first = tables[0].name
    split = facts.files_of(first, loaded(facts))[0].split
    call = f'{first} = load_dataset("path/to/this/folder", "{first}")["{split}"]'
    yield block(f"from datasets import load_dataset\n\n{call}", "python")
    reads = {
        "parquet": "pd.read_parquet({})",
        "jsonl": "pd.read_json({}, lines=True)",
        "csv": "pd.read_csv({})",
    }
    lines = [
        f"{first} = {reads[each].format(repr(facts.files_of(first, each)[0].path))}"
        for each in reads
        if facts.files_of(first, each)
    ]
    yield block("\n".join(["import pandas as pd", "", *lines[:1]]), "python")
    yield "`croissant.json` describes all tables for tools that read Croissant."


def _files(facts: Facts) -> Iterator[str]:
    yield "## Files"
    formats = dict.fromkeys(each.format for each in facts.files)
    rows = [f"- `{name}/`: {markdown(LABELS.get(name, name))}." for name in formats]
    rows += [
        "- `reports/`: agreement of every judging stage, costs and pay, as JSON.",
        "- `manifest.json`: every file with its size, rows and SHA-256; how the release was made.",
        "- `SHA256SUMS`: the same digests, for `sha256sum --check`.",
    ]
    yield "\n".join(rows)
