"""MS MARCO, DuReader and mt-metrics-eval: what is written, and that it can be read back."""

import json
from pathlib import Path

import pytest

from annotation.importing.detect import open_reader
from annotation.importing.records import Record
from core.files.text_source import TextSource as ImportSource
from releases.formats import dureader, msmarco, mteval
from tests.releases.literal import PASSAGES, answer, candidate, reference, score, source, texts, write

HOSTILE = 'a "quoted"\u2028 text\twith {"braces"}, 中文 and \U0001f600\nin two lines'


def read_back(path: Path, room: Path) -> tuple[str, list[Record]]:
    """The format that the importer finds, and the records; nothing may be refused."""
    refused: list[tuple[int, str]] = []
    reader = open_reader(ImportSource(path), room)
    records = list(reader.records(lambda line, why: refused.append((line, why))))
    assert refused == []
    return reader.format, records


def test_ms_marco_has_a_member_per_column_with_records_by_number(tmp_path):
    given = source(references=[reference("1", "a", split="train"), reference("2", "b", split="test")])
    write(msmarco, tmp_path, given)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["test.json", "train.json"]
    given = source(
        references=[
            reference("17", "capital of italy", answer("Rome"), answer("It is Rome."), type="LOCATION"),
            reference("q-2", "is it old?"),
        ]
    )
    assert write(msmarco, tmp_path, given) == {"train.json": 2}
    passages = [
        {"is_selected": 1, "passage_text": "Rome is the capital.", "url": "https://example.org/italy"},
        {"is_selected": 1, "passage_text": "Milan is a city.\nA large one.", "url": ""},
    ]
    assert json.loads((tmp_path / "train.json").read_text(encoding="utf-8")) == {
        "answers": {"0": ["Rome", "It is Rome."], "1": ["No Answer Present."]},
        "passages": {"0": passages, "1": passages},
        "query": {"0": "capital of italy", "1": "is it old?"},
        "query_id": {"0": 17, "1": "q-2"},
        "query_type": {"0": "LOCATION", "1": ""},
        "wellFormedAnswers": {"0": "[]", "1": "[]"},
    }


def test_the_importer_reads_ms_marco_back(tmp_path):
    given = source(
        references=[
            reference("17", "capital of italy", answer("Rome"), answer(HOSTILE), type="LOCATION"),
            reference("q-2", HOSTILE),
        ]
    )
    write(msmarco, tmp_path, given)
    format, records = read_back(tmp_path / "train.json", tmp_path)
    assert format == "marco"
    assert [(each.id, each.text, each.type, each.references) for each in records] == [
        ("17", "capital of italy", "LOCATION", ["Rome", HOSTILE]),
        ("q-2", HOSTILE, "", []),
    ]
    assert [(each.text, each.url, each.selected) for each in records[0].passages] == [
        ("Rome is the capital.", "https://example.org/italy", True),
        ("Milan is a city.\nA large one.", "", True),
    ]


def test_dureader_has_a_question_a_line_with_labels_that_go_together(tmp_path):
    rome = {"start": 0, "end": 4, "text": "Rome"}
    given = source(
        references=[
            reference("5", "is rome old?", answer("Yes", "Yes"), answer("very"), yes_no=True),
            reference(
                "6",
                "capital of italy",
                answer("Rome", entities=[rome]),
                type="LOCATION",
                passages=PASSAGES[:1],
            ),
        ]
    )
    assert write(dureader, tmp_path, given) == {"train.jsonl": 2}
    old, capital = map(json.loads, (tmp_path / "train.jsonl").read_text(encoding="utf-8").splitlines())
    assert (old["question_id"], old["question_type"]) == (5, "YES_NO")
    assert (old["answers"], old["yesno_answers"]) == (["Yes", "very"], ["Yes", "No_Opinion"])
    assert (capital["question_type"], capital["yesno_answers"], capital["entity_answers"]) == (
        "ENTITY",
        [],
        [["Rome"]],
    )
    assert capital["documents"] == [
        {
            "bs_rank_pos": 0,
            "title": "Italy",
            "url": "https://example.org/italy",
            "paragraphs": ["Rome is the capital."],
            "most_related_para": 0,
            "is_selected": True,
        }
    ]


def test_the_importer_reads_dureader_back(tmp_path):
    given = source(
        references=[
            reference("5", HOSTILE, answer("Yes", "Yes"), answer(HOSTILE, "Depends"), yes_no=True),
            reference("6", "capital of italy", answer("Rome"), type="ENTITY"),
        ]
    )
    write(dureader, tmp_path, given)
    format, (odd, capital) = read_back(tmp_path / "train.jsonl", tmp_path)
    assert format == "dureader"
    assert (odd.id, odd.text, odd.yes_no) == ("5", HOSTILE, True)
    assert odd.references == ["Yes", HOSTILE]
    assert odd.extra["yesno_answers"] == ["Yes", "Depends"]
    assert (capital.type, capital.references) == ("ENTITY", ["Rome"])
    assert [(each.text, each.title, each.selected) for each in capital.passages] == [
        ("Rome is the capital.", "Italy", True),
        ("Milan is a city.\nA large one.", "", True),
    ]


def scored():
    return source(
        references=[
            reference("q 1", "capital\nof italy", answer("Rome"), answer("It is\nRome.")),
            reference("q2", "nobody answered this", answer("x")),
            reference("q3", "is it old?", answer("Yes"), split="test"),
        ],
        candidates=[
            candidate("c1", "big model/v1.5", "q 1", "Rome,\nI think"),
            candidate("c2", "big model/v1.5", "q3", "no", split="test"),
            candidate("c3", "human", "q 1", "Roma", people=True),
            candidate("c4", "human", "q 1", "the city of Rome", people=True),
            candidate("c5", "ref1", "q3", "gone", aside="withdrawn"),
        ],
        scores=[
            score("c1", "big model/v1.5", "q 1", 4.5),
            score("c2", "big model/v1.5", "q3", 1.0),
            score("c3", "human", "q 1", 5.0),
            score("c4", "human", "q 1", None),
        ],
    )


def test_mt_metrics_eval_has_a_line_per_query_that_a_system_answered(tmp_path):
    written = write(mteval, tmp_path, scored())
    assert texts(tmp_path) == {
        "sources/en-en.txt": "capital of italy\nis it old?\n",
        "documents/en-en.docs": "train\tq%201\ntest\tq3\n",
        "references/en-en.ref1.txt": "Rome\nYes\n",
        "references/en-en.ref2.txt": "It is Rome.\n\n",
        "system-outputs/en-en/big_model_v1_5.txt": "Rome, I think\nno\n",
        "system-outputs/en-en/human.txt": "Roma\n\n",
        "system-outputs/en-en/human-2.txt": "the city of Rome\n\n",
        "human-scores/en-en.judging.seg.score": (
            "big_model_v1_5\t4.5\nbig_model_v1_5\t1.0\nhuman\t5.0\nhuman\tNone\n"
        ),
        "human-scores/en-en.judging.sys.score": "big_model_v1_5\t2.75\nhuman\t5.0\n",
    }
    assert written == {name: text.count("\n") for name, text in texts(tmp_path).items()}


def test_names_of_systems_that_only_differ_in_case_or_are_reserved_get_numbers(tmp_path):
    assert write(mteval, tmp_path, source(references=[reference("q1", "a")])) == {}
    assert texts(tmp_path) == {}
    given = source(
        references=[reference("q1", "a")],
        candidates=[candidate(f"c{n}", name, "q1", "x") for n, name in enumerate(["GPT", "gpt", "ref1"])],
    )
    write(mteval, tmp_path, given)
    assert sorted(path.name for path in (tmp_path / "system-outputs/en-en").iterdir()) == [
        "GPT.txt",
        "gpt-2.txt",
        "ref1-2.txt",
    ]


@pytest.mark.parametrize("module", [msmarco, dureader, mteval])
def test_the_same_rows_are_the_same_bytes(module, tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        write(module, tmp_path / name, scored())
    assert texts(tmp_path / "one") == texts(tmp_path / "two")


def test_progress_ends_with_all_rows(tmp_path):
    told: list[tuple[int, int, str]] = []
    write(mteval, tmp_path, scored(), lambda *each: told.append(each))
    assert told[-1] == (12, 12, "mt-metrics-eval: human scores")
