"""Public data sets in their published shapes; all data is made up."""

import json

import pytest

from core.files.refusals import FileRefusedError
from core.files.text_source import BLOCK
from tests.annotation.importing.conftest import read

MARCO = {
    "answers": {"0": ["42"], "1": ["No Answer Present."]},
    "passages": {
        "0": [
            {"is_selected": 0, "passage_text": "Other.", "url": "http://a.org/1"},
            {"is_selected": 1, "passage_text": "It is 42.", "url": "http://a.org/2"},
        ],
        "1": [{"is_selected": 0, "passage_text": "Nothing.", "url": "javascript:alert(1)"}],
    },
    "query": {"0": "how many are there", "1": "is it so"},
    "query_id": {"0": 1185869, "1": 1185868},
    "query_type": {"0": "NUMERIC", "1": "DESCRIPTION"},
    "wellFormedAnswers": {"0": ["There are 42."], "1": "[]"},
}


def test_ms_marco_by_columns(write):
    (first, second), refusals, reader = read(write("dev.json", MARCO))
    assert reader.description == "MS MARCO v2.1, a member per column"
    assert (first.id, first.text, first.type, first.references) == (
        "1185869",
        "how many are there",
        "NUMERIC",
        ["42"],
    )
    assert [(each.text, each.url, each.selected) for each in first.passages] == [
        ("Other.", "http://a.org/1", False),
        ("It is 42.", "http://a.org/2", True),
    ]
    assert first.extra == {"query_type": "NUMERIC", "well_formed_answers": ["There are 42."]}
    assert (second.references, second.passages[0].url, refusals.total) == ([], "", 0)


def test_ms_marco_is_joined_whatever_the_size_and_the_order_of_its_columns(write):
    many = 3000
    filler = "word " * 300
    document = {
        "passages": {str(n): [{"is_selected": 0, "passage_text": filler, "url": ""}] for n in range(many)},
        "query_id": {str(n): n for n in reversed(range(many))},
        "query": {str(n): f"query number {n}" for n in range(many)},
    }
    path = write("dev.json", document)
    assert path.stat().st_size > 4 * BLOCK
    records, _, _ = read(path)
    assert [(each.id, each.text) for each in records] == [(str(n), f"query number {n}") for n in range(many)]


def test_ms_marco_a_record_per_line_and_damaged(write):
    rows = [{name: column[number] for name, column in MARCO.items()} for number in "01"]
    records, _, reader = read(write("dev.jsonl", rows))
    assert reader.description == "MS MARCO v2.1, a record per line"
    assert [each.id for each in records] == ["1185869", "1185868"]
    whole = json.dumps(MARCO)
    with pytest.raises(FileRefusedError, match=r"dev.json, character \d+: .*The file is damaged"):
        read(write("dev.json", whole[: len(whole) // 2]))


CHINESE = [
    {
        "question_id": 186358,
        "question_type": "YES_NO",
        "question": "绿茶 可以 空腹 喝 吗",
        "fact_or_opinion": "OPINION",
        "documents": [
            {
                "title": "绿茶的喝法",
                "paragraphs": ["绿茶是一种茶。", "空腹不宜喝绿茶。"],
                "is_selected": True,
                "most_related_para": 1,
            },
            {"title": "红茶", "paragraphs": ["红茶性温。", "可以养胃。"], "is_selected": False},
        ],
        "answers": ["不可以。空腹喝绿茶会刺激肠胃。", "看情况。"],
        "yesno_answers": ["No", "Depends"],
        "entity_answers": [[]],
    },
    {
        "question_id": 186359,
        "question_type": "ENTITY",
        "question": "中国最长的河流是什么",
        "fact_or_opinion": "FACT",
        "documents": [],
        "answers": ["长江"],
        "yesno_answers": [],
        "entity_answers": [["长江"]],
    },
]


def test_dureader_in_chinese(write):
    (first, second), _, reader = read(write("zhidao.json", CHINESE))
    assert reader.description == "DuReader, a question per line"
    assert (first.id, first.text, first.yes_no, first.type) == ("186358", "绿茶 可以 空腹 喝 吗", True, "")
    assert [(each.text, each.title, each.start, each.end, each.selected) for each in first.passages] == [
        ("空腹不宜喝绿茶。", "绿茶的喝法", 8, 16, True),
        ("红茶性温。\n可以养胃。", "红茶", 0, 11, False),
    ]
    assert first.extra["yesno_answers"] == ["No", "Depends"]
    assert (second.type, second.yes_no, second.extra["entity_answers"]) == ("ENTITY", False, [["长江"]])


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"yesno_answers": ["No"]}, "1 yes-no labels for 2 answers"),
        ({"question_type": "ENTITY"}, "ENTITY with yes-no answers"),
        ({"yesno_answers": ["No", "Maybe"]}, "'Maybe' is none of Yes, No, Depends"),
    ],
)
def test_contradictory_labels_of_dureader_are_refused(write, change, reason):
    records, refusals, _ = read(write("zhidao.json", [CHINESE[1], CHINESE[0] | change]))
    assert len(records) == 1
    assert refusals.listed[0].line == 2
    assert reason in refusals.listed[0].reason


def test_squad_with_offsets_in_the_article(write):
    document = {
        "version": "v2.0",
        "data": [
            {
                "title": "Normans",
                "paragraphs": [
                    {"context": "First one.", "qas": []},
                    {
                        "context": "They lived in Normandy.",
                        "qas": [
                            {
                                "id": "a1",
                                "question": "Where did they live?",
                                "answers": [{"text": "Normandy", "answer_start": 14}],
                                "is_impossible": False,
                            },
                            {"id": "a2", "question": "Who gave them?", "answers": [], "is_impossible": True},
                            {
                                "id": "a3",
                                "question": "What?",
                                "answers": [{"text": "They", "answer_start": 0}],
                                "is_impossible": True,
                            },
                        ],
                    },
                ],
            }
        ],
    }
    (first, second), refusals, reader = read(write("dev-v2.0.json", document))
    assert reader.description == "SQuAD"
    passage = first.passages[0]
    assert (passage.page, passage.start, passage.end, passage.selected) == ("Normans", 11, 34, True)
    assert first.references == ["Normandy"]
    assert first.extra["answer_spans"] == [{"text": "Normandy", "start": 14}]
    assert (second.extra["is_impossible"], second.passages[0].selected) == (True, False)
    assert [(each.line, each.reason) for each in refusals.listed] == [
        (3, "The labels contradict each other: is_impossible with answers.")
    ]


def test_lines_with_names_of_their_own_and_conversations_are_read(write):
    path = write("log.jsonl", [{"question": "ما هي عاصمة مصر؟", "freq": 3, "note": "x"}])
    (record,), _, reader = read(path)
    assert (reader.format, record.text, record.count) == ("jsonl", "ما هي عاصمة مصر؟", 3)
    assert record.extra == {"columns": {"note": "x"}}
    turns = [{"id": "c1", "text": "one"}, {"text": "two"}]
    records, _, _ = read(write("conversations.jsonl", [{"id": "c", "title": "Numbers", "turns": turns}]))
    assert records[0].extra == {"topic_title": "Numbers"}
    assert [(each.id, each.text, each.context) for each in records] == [
        ("c1", "one", []),
        ("c_2", "two", ["one"]),
    ]


def test_json_of_other_shapes_is_a_list_or_an_object_of_records(write):
    document = {"a7": {"question": "how old is oak"}, "b2": {"question": "capital of italy", "id": "x"}}
    for text in (json.dumps(document), json.dumps(document, indent=1)):
        records, refusals, reader = read(write("queries.json", text))
        assert [(each.id, each.text, each.line) for each in records] == [
            ("a7", "how old is oak", 1),
            ("x", "capital of italy", 2),
        ]
        assert (reader.format, reader.unit, refusals.total) == ("json", "record", 0)
    assert records[1].extra == {"columns": {"key": "b2"}}
    with pytest.raises(FileRefusedError, match="is a JSON object of columns, as pandas writes a table"):
        read(write("columns.json", {"question": {"0": "how old is oak"}}))
    records, _, reader = read(write("list.json", json.dumps([{"query": "one two"}, {"query": "three"}])))
    assert (reader.format, [each.text for each in records]) == ("json", ["one two", "three"])
    with pytest.raises(FileRefusedError, match="begins like JSON"):
        read(write("x.json", '{\n  "a": 1,\n  "b": 2\n}\n'))


@pytest.mark.parametrize("given", [{}, {"text": "query"}, {"text": " query"}])
def test_spaces_around_the_names_of_members_do_not_matter(write, given):
    lines = [{" query": "what is tea", "id ": "7"}, {"query": "what is milk", "id": "8"}]
    records, refusals, _ = read(write("log.jsonl", lines), columns=given)
    assert [(each.id, each.text) for each in records] == [("7", "what is tea"), ("8", "what is milk")]
    assert refusals.total == 0
