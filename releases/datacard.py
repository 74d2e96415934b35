"""The data card: `README.md` of a release, for people and, in its head, for the Hub."""

from collections.abc import Iterator

from core.money import dollars
from releases.facts import QUESTIONS, Agreement, Alpha, Facts, SourceAgreement, StageFacts
from releases.formats import LABELS
from releases.metadata import (
    bibtex_entry,
    block,
    configurations,
    head,
    licence_named,
    loaded,
    markdown,
    paragraphs,
    plain,
    table,
)
from releases.options import COMMENTS, GROUPS, words_of
from releases.tables import CONSENT, LANGUAGE, RECORDS, SPLITS, Kind, Table

# How the data of each kind of stage are collected, in the words of the papers that they follow.

#: The papers, by the words that the methods use for them.
PAPERS = (
    "Mitra et al. (2016): *A Proposal for Evaluating Answer Distillation from Web Data*. SIGIR 2016 WebQA "
    "Workshop.",
    "Lee et al. (2021): *KPQA: A Metric for Generative Question Answering Using Keyphrase Weights*. NAACL "
    "2021.",
    "Lowe et al. (2017): *Towards an Automatic Turing Test: Learning to Evaluate Dialogue Responses*. ACL "
    "2017.",
    "He et al. (2018): *DuReader: a Chinese Machine Reading Comprehension Dataset from Real-world "
    "Applications*. "
    "MRQA 2018.",
    "Kaiser, Saha Roy and Weikum (2020): *Conversational Question Answering over Passages by Leveraging Word "
    "Proximity Networks*. SIGIR 2020.",
    "Jung and Lease (2011): *Improving Consensus Accuracy via Z-score and Weighted Voting*. HCOMP 2011.",
)
METHODS = {
    "screening": (
        "**Screening.** Several people looked at each query and said whether its intent is unambiguous, "
        "whether one short passage could answer it definitively, of which class it is, and whether it holds "
        "sensitive or adult content. Queries that a majority found informational, unambiguous and "
        "answerable went on (Mitra et al. 2016, section 3.1)."
    ),
    "curation": (
        "**Curation.** People chose, among the candidate passages of a query, the one or the few that "
        "together give one complete and coherent answer, or said that the passages cannot answer it; such "
        "queries left the data set (Mitra et al. 2016, section 3.2)."
    ),
    "distillation": (
        "**Distillation.** Several people, each on their own, read the curated passages and wrote the "
        "answer in their own words, from a single word to several sentences (Mitra et al. 2016, section "
        "3.3). Yes-no queries also have the writer's opinion and queries for entities the names that the "
        "writer marked, in the terms of He et al. (2018)."
    ),
    "continuation": (
        "**Continuation.** Several people, each on their own, read a dialogue and wrote its next message. "
        "What they wrote is no reference: it was judged beside the answers of systems, as those of the "
        "system human (Lowe et al. 2017, section 2, round 1)."
    ),
    "judging": (
        "**Judging.** People scored the answers of systems for correctness, without the systems' names and "
        "in an order that was shuffled for each judge: 1 completely wrong, 2 a vital error, 3 ambiguous, 4 "
        "a minor error, 5 completely correct (Lee et al. 2021, section 4.2; Lowe et al. 2017, section 2), "
        "or on the scale that the stage defines."
    ),
}


_UNKNOWN = "not known"


def collecting(facts: Facts) -> Iterator[str]:
    """All sections that there is something to say in."""
    yield from _collected(facts)
    yield from _describe_retrieval(facts)
    yield from _pay(facts)
    yield from _agreement(facts)
    yield from _filters(facts)
    yield from _people(facts)
    yield from _privacy(facts)


def _collected(facts: Facts) -> Iterator[str]:
    yield "## How it was collected"
    if facts.imported is not None:
        source = facts.imported
        yield (
            f"The queries, answers and scores come from the file {markdown(source.file)} (SHA-256 "
            f"`{plain(source.sha256)}`). Scores are on a scale from {source.low:g} to {source.high:g}."
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
            [(markdown(step.label), f"{step.count:,}") for step in facts.steps],
            frozenset({1}),
        )
    if not facts.stages and facts.imported is None:
        yield "Nothing was asked of people yet."


def _describe_retrieval(facts: Facts) -> Iterator[str]:
    if not facts.retrievals:
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
            for each in facts.retrievals
        ],
        frozenset({2, 3}),
    )
    for corpus, attribution in {each.corpus: each.attribution for each in facts.retrievals}.items():
        if attribution.strip():
            yield f"{markdown(corpus)}: {markdown(attribution)}"


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
    rounded = round(seconds)
    return f"{rounded // 60} min {rounded % 60} s" if rounded >= 60 else f"{rounded} s"


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
    if facts.agreement_by_source:
        yield (
            "Inside each source, before the filters. Responses and workers add up to those of the stage; "
            "units do not, as sources share them. `Shared units` have at least two responses from the source."
        )
        head = ("Stage", "Source", "Responses", "Workers", "Shared units", "Mean", "Flagged", "Alpha")
        rows = [_agreed_inside(each) for each in facts.agreement_by_source]
        yield table(head, rows, frozenset({2, 3, 4, 5, 6}))


def _agreed_inside(each: SourceAgreement) -> tuple[str, ...]:
    return (
        markdown(each.stage),
        f"`{each.source}`",
        f"{each.judgments:,}",
        f"{each.workers:,}",
        f"{each.shared:,}",
        _UNKNOWN if each.mean is None else f"{each.mean:.2f}",
        "not filtered" if each.flagged is None else f"{each.flagged:.1%}",
        _alpha(each.alpha) if each.alpha.value is not None else f"not defined: {markdown(each.reason)}",
    )


def _agreed(each: Agreement) -> tuple[str, ...]:
    after = _alpha(each.after) if each.after is not None else "not filtered"
    judgments_kept = "" if each.judgments_after is None else f"{each.judgments_after:,}"
    return (
        markdown(each.stage),
        markdown(each.about),
        markdown(each.measure),
        _alpha(each.before),
        f"{each.judgments_before:,}",
        after,
        judgments_kept,
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
                [
                    (markdown(rule.name), markdown(rule.parameters), f"{rule.removed:,}")
                    for rule in each.rules
                ],
                frozenset({2}),
            )


def _people(facts: Facts) -> Iterator[str]:
    yield "## People"
    if facts.imported is not None and not facts.workers:
        yield "Who judged is not known: the file has scores and no people."
        return
    real = facts.workers - facts.simulated_workers
    yield f"{facts.workers:,} workers took part: {real:,} people and {facts.simulated_workers:,} simulated."
    if facts.joined_workers:
        yield (
            "People who came by several workspaces of a panel, or by links with ids from the same source, "
            f"have one pseudonym and count once (accounts merged with another: {facts.joined_workers:,})."
        )
    if facts.stages:
        yield table(
            ("Stage", "Workers", "Of them simulated"),
            [(_stage(each), f"{each.workers:,}", f"{each.simulated_workers:,}") for each in facts.stages],
            frozenset({1, 2}),
        )
    if facts.consents:
        yield "People who came by study links or from a panel agreed to a text before their first task."
        yield table(
            ("Consent text", "Version", "Protocol", "People"),
            [
                (
                    markdown(each.language),
                    str(each.version),
                    markdown(each.protocol_number or "-"),
                    f"{each.people:,}",
                )
                for each in facts.consents
            ],
            frozenset({1, 3}),
        )
        if any(CONSENT in each.columns for each in facts.tables):
            yield (
                "The column `consent` of answers, ratings and responses says for each of them to which "
                "language and version its person had agreed, such as `en-2`."
            )
    if any(LANGUAGE in each.columns for each in facts.tables):
        yield (
            "Stages had their texts in several languages. The column `language` of answers, ratings and "
            "responses says in which one the person read them."
        )
    yield from _sources(facts)


def _sources(facts: Facts) -> Iterator[str]:
    """Stages that asked people at several places, place by place."""
    rows = [
        (
            _stage(stage),
            f"`{each.name}` ({each.panel})",
            f"{each.answers:,}",
            f"{each.workers:,}",
            f"{each.rejected:,}",
            f"{each.failed_checks:,}",
            dollars(each.paid_cents),
        )
        for stage in facts.stages
        for each in stage.sources
    ]
    if rows:
        yield (
            "Some stages asked people at several places, who shared the units: no person has answered a unit "
            "twice, and who may be the same person at two places was treated as one."
        )
        head = ("Stage", "Source", "Answers", "Workers", "Rejected", "Failed a check", "Paid with fees")
        yield table(head, rows, frozenset({2, 3, 4, 5, 6}))


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


_WORDS = {
    Kind.TEXT: "text",
    Kind.INTEGER: "whole number",
    Kind.NUMBER: "number",
    Kind.FLAG: "true or false",
    Kind.INTEGERS: "list of whole numbers",
    Kind.NAMES: "list of texts",
}


def columns(facts: Facts) -> Iterator[str]:
    """A section for each table that the release has."""
    filled = [each for each in facts.tables if facts.rows.get(each.name)]
    if filled:
        yield "## Columns"
        yield "A value that is not known is null; CSV has an empty cell for it, and JSON for lists."
    for each in filled:
        yield f"### `{each.name}`"
        yield markdown(each.meaning)
        yield _table(each)


def _table(of: Table) -> str:
    return table(
        ("Column", "Holds", "Meaning"),
        [(f"`{each.name}`", kind_words(each.kind), markdown(each.meaning)) for each in of.columns],
    )


def kind_words(kind: Kind) -> str:
    """What a column of a kind holds, in words: `list of worker, score`."""
    if kind in _WORDS:
        return _WORDS[kind]
    return f"list of {{{', '.join(_field(name, inner) for name, inner in RECORDS[kind])}}}"


def _field(name: str, kind: Kind) -> str:
    return f"{name}: {kind_words(kind)}" if kind in RECORDS else name


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
    yield from _describe_acceptance(facts)
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
        for each in facts.tables
        if facts.rows.get(each.name)
    ]
    if rows:
        yield table(("Table", "Holds", *SPLITS, "Rows"), rows, frozenset({2, 3, 4}))


def _describe_acceptance(facts: Facts) -> Iterator[str]:
    """What was accepted and what was brought in all the same, with the counts that are known."""
    if facts.imported is not None:
        return
    yield "## What went in"
    yield (
        "Answers of people that a reviewer approved, in work that was accepted. Queries that nobody disputes "
        "and that have a reference answer, where people were asked for any. What systems answered to other "
        "queries, and what people said about it, is not in it."
    )
    if COMMENTS in facts.include:
        yield (
            "The column `comment` of the table `ratings` has what judges wrote beside their scores. The "
            "privacy check read it as it reads answers."
        )
    not_accepted = [name for name in facts.include if name != COMMENTS]
    if not_accepted:
        counts = {name: facts.brought_in.get(name, 0) for name in not_accepted}
        groups = [
            f"{GROUPS[name].of} {GROUPS[name].noun}" + (f" ({count:,})" if facts.brought_in else "")
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
    licence = licence_named(facts.licence)
    if licence is not None:
        yield f"[{licence.spdx}]({licence.url})"
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
        yield "\n".join(f"- {markdown(question)}" for question in facts.open_questions)


def _loading(facts: Facts) -> Iterator[str]:
    tables = configurations(facts)
    if not tables:
        return
    yield "## How to load"
    first = tables[0].name
    split = facts.files_of(first, loaded(facts))[0].split
    call = f'{first} = load_dataset("path/to/this/folder", "{first}")["{split}"]'
    yield block(f"from datasets import load_dataset\n\n{call}", "python")
    texts = [column.name for column in tables[0].columns if column.kind == Kind.TEXT]
    reads = {
        "parquet": "pd.read_parquet({})",
        # An id 001 is no number 1.
        "jsonl": "pd.read_json({}, lines=True, dtype=False)",
        # Texts such as NA and null are answers; only an empty cell is missing.
        "csv": f'pd.read_csv({{}}, keep_default_na=False, na_values=[""], dtype=dict.fromkeys({texts}, str))',
    }
    lines = [
        f"{first} = {reads[each].format(repr(facts.files_of(first, each)[0].path))}"
        for each in reads
        if facts.files_of(first, each)
    ]
    yield block("\n".join(["import pandas as pd", "", *lines[:1]]), "python")
    if facts.files_of(first, "csv"):
        yield (
            "In CSV, a text that a spreadsheet would run as a formula, such as -5 or =1, begins with an "
            "apostrophe that is no part of it. Parquet and JSON Lines have texts as they are."
        )
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
