"""The data card, the Croissant description and the citation, and that what they say can be loaded."""

import hashlib
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from core.progress import silent
from releases.datacard import card
from releases.facts import (
    Agreement,
    Alpha,
    ConsentFacts,
    Facts,
    File,
    FilterFacts,
    ImportedScoreFacts,
    Privacy,
    Rule,
    StageFacts,
    Step,
)
from releases.formats.writer import write_formats
from releases.metadata import bibtex_entry, citation, croissant
from tests.releases.literal import answer, candidate, rating, reference, score, source

HOSTILE = (
    'x": ]\n---\n# <script>alert("1")</script> [a](javascript:b) | `c` \u202eevil \u2028 ``` *d* '
    "\U0001f600 {e}"
)
ROME = {"start": 0, "end": 4, "text": "Rome"}
ROWS = {
    "references": [
        reference(
            "q1", "capital of italy", answer("Rome", entities=[ROME]), answer(HOSTILE), type="LOCATION"
        ),
        reference("q2", "is it old?", context=[{"text": "rome", "answer": ""}], yes_no=True, split="test"),
    ],
    "candidates": [candidate("c1", "big", "q1", HOSTILE), candidate("c2", "big", "q2", "no", split="test")],
    "scores": [score("c1", "big", "q1", 4.5), score("c2", "big", "q2", None, split="test")],
    "ratings": [
        rating("c1", "big", "q1", 5),
        rating("c1", "big", "q1", 4, worker=None, kept=False, rule="z"),
    ],
}
#: mlcroissant asks rdflib and pandas in ways that these have replaced by now.
_OLD_WAYS = (
    "ignore:ConjunctiveGraph is deprecated, use Dataset instead:DeprecationWarning",
    "ignore:The inplace keyword in DataFrame.reset_index is deprecated",
)


def reads_croissant(test):
    for each in _OLD_WAYS:
        test = pytest.mark.filterwarnings(each)(test)
    return test


PLAIN = Facts(slug="kitchen", title="Kitchen questions", version="1.2.0", licence="CC BY 4.0")
WHOLE = replace(
    PLAIN,
    answers={
        "summary": "Questions about kitchens.",
        "authors": "Lovelace, Ada\nThe Kitchen Lab",
        "url": "https://example.org/kitchen",
        "purpose": "For research.\n\nNot for cooking.",
    },
    collected=("2026-03-01", "2026-04-02"),
    steps=(Step("queries: imported", 12), Step("queries: screened", 8)),
    stages=(
        StageFacts(
            name="judge",
            kind="judging",
            title="Judge answers",
            redundancy=10,
            units=400,
            assignments=4010,
            approved=4000,
            rejected=10,
            workers=52,
            simulated_workers=0,
            reward_cents=15,
            paid_cents=60_000,
            bonus_cents=200,
            fee_cents=12_000,
            median_seconds=95.4,
            median_cents_per_hour=1104.6,
        ),
    ),
    workers=52,
    agreement=(
        Agreement(
            "judge", "correctness", "alpha, interval", Alpha(0.412, 0.38, 0.44), 4000, Alpha(0.8171), 3400
        ),
        Agreement("other", "correctness", "alpha, interval", Alpha(None), 3),
    ),
    filters=(FilterFacts("judge", "kpqa-2021", (Rule("z", "limit 1", 600),), 4000, 600),),
    privacy=(Privacy("email", redacted=2, accepted=1),),
    rows={"references": {"train": 1_500, "test": 20}},
)


def built(folder: Path, *formats: str) -> Facts:
    """A release of the literal rows in these formats, described in its folder."""
    given = source(**ROWS)
    files = []
    for format, written in write_formats(formats, folder, given, silent).items():
        for name, rows in written.items():
            data = (folder / format / name).read_bytes()
            table, _, split = name.partition(".")[0].rpartition("-")
            path, digest = f"{format}/{name}", hashlib.sha256(data).hexdigest()
            files.append(File(path, format, len(data), digest, rows, table, split))
    facts = replace(WHOLE, title=f"Kitchen {HOSTILE}", rows=given.rows, files=tuple(files))
    (folder / "README.md").write_text(card(facts), encoding="utf-8")
    (folder / "croissant.json").write_text(croissant(facts), encoding="utf-8")
    return facts


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    folder = tmp_path_factory.mktemp("release")
    built(folder, "jsonl", "csv", "parquet", "msmarco", "dureader")
    return folder


def head(text: str):
    start, body, _ = text.split("---\n", 2)
    assert start == ""
    return yaml.safe_load(body)


def body(facts: Facts) -> str:
    return card(facts).split("---\n", 2)[2]


def test_the_head_says_what_the_hub_asks_for():
    files = (
        File("csv/references-train.csv", "csv", 1, "0" * 64, 1_500, "references", "train"),
        File("csv/references-test.csv", "csv", 1, "1" * 64, 20, "references", "test"),
    )
    assert head(card(replace(WHOLE, language="zh-Hans", files=files))) == {
        "pretty_name": "Kitchen questions",
        "language": ["zh"],
        "language_bcp47": ["zh-Hans"],
        "license": "cc-by-4.0",
        "size_categories": ["1K<n<10K"],
        "task_categories": ["question-answering"],
        "tags": ["crowdsourcing", "answer-distillation"],
        "configs": [
            {
                "config_name": "references",
                "default": True,
                "data_files": [
                    {"split": "train", "path": "csv/references-train.csv"},
                    {"split": "test", "path": "csv/references-test.csv"},
                ],
            }
        ],
    }


def test_a_licence_is_given_by_the_name_that_the_hub_has_for_it():
    for licence, found in (
        ("CC BY 4.0", {"license": "cc-by-4.0"}),
        ("cc0-1.0", {"license": "cc0-1.0"}),
        ("Our own: ask", {"license": "other", "license_name": "Our own: ask"}),
        ("", {"license": "unknown"}),
    ):
        facts = head(card(replace(PLAIN, licence=licence)))
        assert {name: value for name, value in facts.items() if name.startswith("license")} == found
    assert "**No licence is stated. Nobody may pass it on" in body(replace(PLAIN, licence=" "))


def test_a_hostile_title_is_only_words():
    found = head(card(replace(PLAIN, title=HOSTILE)))
    assert found["pretty_name"] == (
        'x": ] --- # <script>alert("1")</script> [a](javascript:b) | `c` evil ``` *d* \U0001f600 {e}'
    )
    text = body(replace(PLAIN, title=HOSTILE))
    assert (
        '# x": \\] --- # &lt;script&gt;alert("1")&lt;/script&gt; \\[a\\](javascript:b) \\| \\`c\\` evil'
        in text
    )
    outside = re.sub(r"(?s)(`{3,}).*?\n\1\n", "", text)
    assert "<script>" not in outside
    assert "\u202e" not in text


def test_an_answer_of_its_makers_begins_no_heading_list_or_quotation():
    for text, shown in (
        ("# a", "\\# a"),
        ("- a", "\\- a"),
        ("1. a", "1\\. a"),
        ("> a", "\\&gt; a"),
        ("=", "\\="),
    ):
        assert f"\n\n{shown}\n" in body(replace(PLAIN, answers={"purpose": text}))
    assert "``````bibtex\n" in body(replace(PLAIN, title="a ````` b")), "a fence ends no block of code"


def test_the_card_tells_rows_stages_pay_people_agreement_and_answers():
    assert "| `references` | Reference sets | 1,500 | 0 | 20 | One row per query: the passages" in body(WHOLE)
    text = body(WHOLE)
    assert "Lee et al. 2021, section 4.2" in text
    assert "| Judge answers | judging | 10 | 400 | 4,010 | 4,000 | 10 |" in text
    assert (
        "| Judge answers | 0.15 USD | 1 min 35 s | 11.05 USD | 600.00 USD | 2.00 USD | 120.00 USD |" in text
    )
    assert "52 workers took part: 52 people and 0 simulated." in text
    assert "| queries: screened | 8 |" in text
    assert "People worked on it from 2026-03-01 to 2026-04-02." in text
    assert (
        "| judge | correctness | alpha, interval | 0.412 (0.380 to 0.440) | 4,000 | 0.817 | 3,400 |" in text
    )
    assert "| other | correctness | alpha, interval | not defined | 3 | not filtered |  |" in text
    assert "In judge the recipe kpqa-2021 removed 600 of 4,000 ratings (15.0%):" in text
    assert "| email | 2 | 1 |" in text
    assert "### What was the data set made for, and for what should it not be used?\n\nFor research." in text
    assert "\n\nNot for cooking.\n" in text
    assert "- What were the workers told, and what did they agree to?" in text
    assert "- What was the data set made for" not in text
    text = body(replace(PLAIN, rows={"scores": {"train": 1}}))
    assert "| `sd` | number | Their sample standard deviation; not known below two. |" in text
    assert "| `kept` | list of {worker, score} | The kept ratings. |" in text


def test_simulated_data_imported_scores_and_consents_are_marked():
    some = replace(WHOLE, simulated_workers=50)
    assert "> **SIMULATED DATA.** Programs and not people did the work of 50 workers" in body(some)
    assert "simulated" in head(card(some))["tags"]
    assert "SIMULATED" in json.loads(croissant(some))["description"]
    assert "did the work of all workers" in body(replace(WHOLE, simulated_workers=52))
    imported = replace(PLAIN, imported=ImportedScoreFacts("marco_all.csv", "ab" * 32, 0.0, 100.0))
    text = body(imported)
    assert "> **IMPORTED.**" in text
    assert f"the file marco\\_all.csv (SHA-256 `{'ab' * 32}`). Scores are on a scale from 0 to 100." in text
    assert "Who judged is not known" in text
    assert "imported" in head(card(imported))["tags"]
    agreed = (ConsentFacts("en", 2, "IRB-2026-7", 41), ConsentFacts("de", 1, "", 3))
    text = card(replace(PLAIN, consents=agreed))
    assert "agreed to a text before their first task" in text
    assert "IRB-2026-7" in text
    assert "agreed to a text" not in card(PLAIN)


def test_the_citation_is_a_citation_file_of_version_1_2():
    assert yaml.safe_load(citation(WHOLE)) == {
        "cff-version": "1.2.0",
        "message": "If you use this data set, please cite it as below.",
        "type": "dataset",
        "title": "Kitchen questions",
        "version": "1.2.0",
        "abstract": "Questions about kitchens.",
        "authors": [{"family-names": "Lovelace", "given-names": "Ada"}, {"name": "The Kitchen Lab"}],
        "license": "CC-BY-4.0",
        "url": "https://example.org/kitchen",
    }
    assert yaml.safe_load(citation(PLAIN))["authors"] == [{"name": "The authors of Kitchen questions"}]
    hostile = replace(
        PLAIN, title=HOSTILE, licence="a\nb: c", answers={"authors": HOSTILE, "url": "javascript:alert(1)"}
    )
    found = yaml.safe_load(citation(hostile))
    assert set(found) == {"cff-version", "message", "type", "title", "version", "authors"}
    assert found["title"].startswith('x": ] --- # <script>')


def test_bibtex_has_the_year_in_which_people_finished_and_quotes_its_values():
    assert bibtex_entry(replace(WHOLE, title="50 % of {all} \\ #1")) == (
        "@misc{kitchen,\n"
        "  title = {50 \\% of \\{all\\} \\textbackslash{} \\#1},\n"
        "  author = {Lovelace, Ada and The Kitchen Lab},\n"
        "  year = {2026},\n"
        "  version = {1.2.0},\n"
        "  url = {https://example.org/kitchen},\n"
        "}"
    )


def test_the_hubs_library_opens_every_table_and_split(release, datasets, tmp_path):
    names = datasets.get_dataset_config_names(str(release))
    assert names == ["references", "candidates", "scores", "ratings"]
    found = {name: datasets.load_dataset(str(release), name, cache_dir=str(tmp_path)) for name in names}
    assert {name: {split: len(rows) for split, rows in each.items()} for name, each in found.items()} == {
        "references": {"train": 1, "test": 1},
        "candidates": {"train": 1, "test": 1},
        "scores": {"train": 1, "test": 1},
        "ratings": {"train": 2},
    }
    first = found["references"]["train"][0]
    assert first["answers"][0]["entities"] == [ROME]
    assert first["answers"][1]["text"] == HOSTILE
    assert found["scores"]["test"][0]["mean"] is None
    found = datasets.load_dataset(str(release), split="train", cache_dir=str(tmp_path))
    assert found[0]["query"] == "capital of italy"


@pytest.mark.parametrize("format", ["jsonl", "csv"])
def test_the_hubs_library_opens_a_release_of_one_format(format, datasets, tmp_path):
    built(tmp_path, format)
    found = datasets.load_dataset(str(tmp_path), "scores", cache_dir=str(tmp_path / "cache"))
    assert [found[split][0]["candidate_id"] for split in found] == ["c1", "c2"]
    assert found["train"][0]["mean"] == 4.5


def test_values_survive_the_lines_that_the_card_shows(tmp_path):
    import pandas as pd

    built(tmp_path, "csv")
    card = (tmp_path / "README.md").read_text(encoding="utf-8")
    call = re.search(r"= (pd\.read_csv\(.*\))", card)[1]
    assert "begins with an apostrophe that is no part of it" in card
    path = tmp_path / re.search(r"'(csv/[^']+)'", call)[1]
    path.write_text("query_id,answer,mean\n001,NA,\n002,null,4.5\n1e5,'-5,1\n", encoding="utf-8")
    frame = eval(call.replace("csv/", f"{tmp_path}/csv/"), {"pd": pd})
    assert list(frame["answer"]) == ["NA", "null", "'-5"]
    assert list(frame["query_id"]) == ["001", "002", "1e5"]
    assert list(frame["mean"].isna()) == [True, False, False]
    import pandas as pd

    built(tmp_path, "jsonl")
    call = re.search(r"= (pd\.read_json\(.*\))", (tmp_path / "README.md").read_text(encoding="utf-8"))[1]
    path = tmp_path / re.search(r"'(jsonl/[^']+)'", call)[1]
    path.write_text('{"query_id":"001","query":"2026-01-02"}\n', encoding="utf-8")
    frame = eval(call.replace("jsonl/", f"{tmp_path}/jsonl/"), {"pd": pd})
    assert frame.to_dict("records") == [{"query_id": "001", "query": "2026-01-02"}]


def test_pandas_reads_every_file_of_a_table(release):
    import pandas as pd

    lines = (release / "jsonl/references-train.jsonl").read_text(encoding="utf-8")
    for frame in (
        pd.read_parquet(release / "parquet/references-train.parquet"),
        pd.read_json(io.StringIO(lines), lines=True),
        pd.read_csv(release / "csv/references-train.csv"),
    ):
        assert list(frame["query_id"]) == ["q1"]
        assert list(frame["split"]) == ["train"]
    assert pd.read_json(release / "msmarco/train.json")["query"].tolist() == ["capital of italy"]


@reads_croissant
def test_croissant_is_valid_and_its_records_are_those_of_the_tables(release, mlcroissant):
    found = mlcroissant.Dataset(jsonld=release / "croissant.json")
    assert found.metadata.issues.errors == set()
    records = list(found.records("scores"))
    assert [(each["scores/candidate_id"], each["scores/mean"]) for each in records] == [
        (b"c2", None),
        (b"c1", 4.5),
    ]
    first = next(each for each in found.records("references") if each["references/split"] == b"train")
    assert first["references/answers"][0]["references/answers/text"] == b"Rome"
    assert [each["splits/name"] for each in found.records("splits")] == ["train", "validation", "test"]


def test_croissant_names_every_file_with_its_digest(release):
    found = json.loads((release / "croissant.json").read_text(encoding="utf-8"))
    files = {each["contentUrl"]: each["sha256"] for each in found["distribution"] if "sha256" in each}
    there = [path for path in release.rglob("*") if path.is_file() and path.parent != release]
    assert files == {
        path.relative_to(release).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in there
    }


@reads_croissant
def test_a_release_without_any_rows_is_described_all_the_same(mlcroissant, tmp_path):
    (tmp_path / "croissant.json").write_text(croissant(PLAIN), encoding="utf-8")
    assert mlcroissant.Dataset(jsonld=tmp_path / "croissant.json").metadata.issues.errors == set()
    assert head(card(PLAIN))["size_categories"] == ["n<1K"]
