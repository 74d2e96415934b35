"""TREC CAsT topics in the shapes of each year; the conversations are made up."""

import json

import pytest
from django.core.management import CommandError, call_command

from annotation.importing.datasets import read_rewrites
from annotation.models import Query
from annotation.services.importing import Options, import_queries, preview
from core.files.refusals import FileRefusedError
from tests.annotation.importing.conftest import read
from tests.retrieval.world import make_project

YEAR_2019 = {
    "number": 31,
    "description": "How tea is made.",
    "turn": [
        {"number": 1, "raw_utterance": "How is green tea made?"},
        {"number": 2, "raw_utterance": "And black?"},
        {"number": 3, "raw_utterance": "Which has more caffeine?"},
    ],
    "title": "Tea",
}
YEAR_2020 = {
    "number": 81,
    "turn": [
        {"number": 1, "raw_utterance": "Where does tea grow?", "manual_rewritten_utterance": "Where?"},
        {
            "number": 2,
            "raw_utterance": "At what height?",
            "manual_rewritten_utterance": "At what height does tea grow?",
            "query_turn_dependence": [1],
            "canonical_result_id": "MARCO_1",
        },
    ],
}
YEAR_2021 = {
    "number": 106,
    "turn": [
        {
            "number": 1,
            "raw_utterance": "Who drinks most tea?",
            "passage": "Turkey drinks most.\nBy far.",
            "canonical_result_id": "MARCO_D5",
            "passage_id": 7,
            "automatic_rewritten_utterance": "Who drinks most tea?",
        },
        {
            "number": 2,
            "raw_utterance": "How much is that?",
            "passage": "Three kilograms.",
            "passage_id": 0,
        },
    ],
}


def said(number, words, parent=None, **more):
    more |= {"parent": parent} if parent else {}
    return {"number": number, "participant": "User", "utterance": words, **more}


def replied(number, words, parent, **more):
    return {"number": number, "parent": parent, "participant": "System", "response": words, **more}


YEAR_2022 = {
    "number": 132,
    "turn": [
        said("1-1", "What is a tea ceremony?"),
        replied("1-2", "A way of serving tea.", "1-1", provenance=["MARCO_1-1"]),
        said("1-3", "Where is it held?", "1-2", manual_rewritten_utterance="Where is a ceremony held?"),
        replied("1-4", "In Japan, or in China?", "1-3"),
        said("1-5", "In Japan.", "1-4"),
        said("2-1", "Who invented it?", "1-2"),
        replied("2-2", "Sen no Rikyu shaped it.", "2-1"),
        said("2-3", "When?", "2-2"),
    ],
}
FLATTENED = [
    {
        "number": 149,
        "title": "Tea houses",
        "turn": [
            {"number": "1-1", "utterance": "What is a tea house?", "response": "A house for tea."},
            {"number": number, "utterance": words, "response": "One more.", "sub_topic": "building"},
        ],
    }
    for number, words in (("1-3", "How is it built?"), ("2-1", "Who lives there?"))
]


def topics(write, *given):
    return read(write("topics.json", json.dumps(list(given), indent=2)))


def test_topics_of_2019_to_2021_have_the_turns_before_each_with_rewrites_and_replies(write):
    (first, second, third), _, reader = topics(write, YEAR_2019)
    assert reader.description == "TREC CAsT topics"
    assert (first.id, first.conversation, first.turn, first.context) == ("31_1", "31", 1, [])
    assert (third.id, third.turn) == ("31_3", 3)
    assert third.context == ["How is green tea made?", "And black?"]
    assert second.extra == {"topic_title": "Tea", "topic_description": "How tea is made."}
    (_, second), _, _ = topics(write, YEAR_2020)
    assert (second.id, second.text, second.context) == ("81_2", "At what height?", ["Where does tea grow?"])
    assert second.extra == {
        "manual_rewritten_utterance": "At what height does tea grow?",
        "query_turn_dependence": [1],
        "canonical_result_id": "MARCO_1",
    }
    (first, second), _, _ = topics(write, YEAR_2021)
    assert (first.context, first.replies, first.passages) == ([], [], [])
    assert first.extra["canonical_result_id"] == "MARCO_D5"
    assert (second.context, second.replies) == (["Who drinks most tea?"], ["Turkey drinks most.\nBy far."])


def test_2022_trees_give_each_turn_the_path_to_it(write):
    records, refusals, _ = topics(write, YEAR_2022)
    assert refusals.total == 0
    first, held, wayward = "What is a tea ceremony?", "Where is it held?", "Who invented it?"
    served, japan, shaped = "A way of serving tea.", "In Japan, or in China?", "Sen no Rikyu shaped it."
    assert [(each.id, each.turn, each.context, each.replies) for each in records] == [
        ("132_1-1", 1, [], []),
        ("132_1-3", 2, [first], [served]),
        ("132_1-5", 3, [first, held], [served, japan]),
        ("132_2-1", 2, [first], [served]),
        ("132_2-3", 3, [first, wayward], [served, shaped]),
    ]
    assert {each.conversation for each in records} == {"132"}
    assert records[1].extra == {"manual_rewritten_utterance": "Where is a ceremony held?"}
    found = preview(write("topics.json", json.dumps([YEAR_2022])))
    assert (found.description, [each.text for each in found.records][:2]) == (
        "TREC CAsT topics",
        [first, held],
    )


def test_the_2022_sample_is_one_topic_and_names_parents_otherwise(write):
    turns = [
        {"number": "1-1", "parent_turn": "", "raw_utterance": "Tea?", "participant": "user"},
        {"number": "1-2", "parent_turn": "1-1", "response": "Yes.", "participant": "System"},
        {"number": "1-3", "parent_turn": "1-1", "response": "Which?", "participant": "system"},
        {"number": "1-4", "parent_turn": "1-3", "raw_utterance": "Green.", "participant": "user"},
    ]
    path = write("tree.json", json.dumps({"number": 1, "title": "Tea", "turn": turns}, indent=4))
    (_, green), _, reader = read(path)
    assert reader.format == "cast"
    assert (green.id, green.context, green.replies) == ("1_1-4", ["Tea?"], ["Which?"])


def test_several_replies_in_a_row_are_one_and_shared_turns_come_once(write):
    turns = [
        said("1", "Tea?"),
        replied("2", "Yes.", "1"),
        replied("3", "Which?", "2"),
        said("4", "Green", "3"),
    ]
    (_, green), _, _ = topics(write, {"number": 1, "turn": turns})
    assert green.replies == ["Yes.\nWhich?"]
    records, refusals, _ = topics(write, *FLATTENED)
    assert [(each.id, each.context, each.replies) for each in records] == [
        ("149_1-1", [], []),
        ("149_1-3", ["What is a tea house?"], ["A house for tea."]),
        ("149_2-1", ["What is a tea house?"], ["A house for tea."]),
    ]
    assert refusals.total == 0


@pytest.mark.parametrize(
    ("turns", "reason"),
    [
        (None, "The topic has no list of turns ('turn')."),
        (["Tea?"], "Turn 1 of topic 7 is no object."),
        ([{"number": 1}], "Turn 1 of topic 7 has no text: no member 'raw_utterance', 'utterance', 'text'."),
        ([{"number": 1, "utterance": ["Tea?"]}], "Turn 1 of topic 7: its 'utterance' is no text."),
        (
            [{"number": 2, "utterance": "b"}, {"number": 1, "utterance": "a"}],
            "Turn 1 of topic 7 comes after turn 2.",
        ),
        ([replied("1-1", "", None)], "Turn 1-1 of topic 7 is the system's and has no 'response'."),
        ([said("1-1", "a", "9-9")], "Turn 1-1 of topic 7 follows turn 9-9, which the topic does not have."),
        ([said("1-1", "a"), said("1-1", "b")], "Topic 7 has two turns 1-1."),
        (
            [said("1-1", "a", "1-2"), said("1-2", "b", "1-1")],
            "The turns before turn 1-1 of topic 7 go round in a circle.",
        ),
        ([said({"a": 1}, "a")], "The number of a turn {'a': 1} is neither text nor a number."),
    ],
)
def test_a_topic_that_cannot_be_is_refused_in_words_and_the_next_is_read(write, turns, reason):
    bad = {"number": 7, "turn": turns} if turns is not None else {"number": 7, "turn": {}}
    records, refusals, _ = topics(write, YEAR_2020, bad, YEAR_2019)
    assert [(each.line, each.reason) for each in refusals.listed] == [(2, reason)]
    assert [each.id for each in records if each.conversation in ("81", "31")] == [
        "81_1", "81_2", "31_1", "31_2", "31_3",
    ]  # fmt: skip


def test_a_topic_without_a_number_is_refused(write):
    _, refusals, _ = topics(write, YEAR_2019, {"turn": [{"utterance": "a"}]})
    assert refusals.listed[0].reason == "The topic has no number."


@pytest.mark.django_db
def test_turns_with_their_replies_are_the_context_of_the_query(write):
    project = make_project()
    path = write("topics.json", json.dumps([YEAR_2021, YEAR_2022]))
    assert import_queries(project=project, path=path)["stored"] == 7
    assert Query.objects.get(key="106_2").context == [
        {"text": "Who drinks most tea?", "answer": "Turkey drinks most. By far."}
    ]
    assert Query.objects.get(key="132_1-5").context[1]["answer"] == "In Japan, or in China?"
    lines = [
        {"id": "c", "turns": [{"text": "Tea here?", "response": "Yes."}, {"text": "Which kinds?"}]},
        {"id": "d", "query": "Why so?", "history": [{"text": "Is it hot?", "answer": "Yes."}, "Is it good?"]},
    ]
    import_queries(project=project, path=write("own.jsonl", lines))
    assert Query.objects.get(key="c_2").context == [{"text": "Tea here?", "answer": "Yes."}]
    assert Query.objects.get(key="d").context == [
        {"text": "Is it hot?", "answer": "Yes."},
        {"text": "Is it good?"},
    ]
    path = write("topics.json", json.dumps(FLATTENED))
    assert import_queries(project=project, path=path, options=Options(start_at="curation"))["stored"] == 3
    assert import_queries(project=project, path=path)["already_there"] == 3


# Rewrites in a file of their own

RESOLVED = "31_1\tHow is green tea made?\r\n31_2\tHow is black  tea made?\n\n99_1\tWhat else?\n"


@pytest.mark.django_db
def test_the_rewrites_of_2019_are_kept_beside_the_turns(write, capsys):
    project = make_project()
    topics, resolved = write("t.json", json.dumps([YEAR_2019])), write("resolved.tsv", RESOLVED)
    call_command("import-queries", project.slug, str(topics), "--rewrites", str(resolved))
    assert "with a rewrite" in capsys.readouterr().out
    assert Query.objects.get(key="31_2").extra["manual_rewritten_utterance"] == "How is black tea made?"
    assert "manual_rewritten_utterance" not in Query.objects.get(key="31_3").extra
    source = Query.objects.get(key="31_2").source
    assert (source.options["rewrites"], source.report["rewrites"]) == (3, 2)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("31_1 no tab\n", "line 1: expected the id of a turn, a tab, and its text"),
        ("31_1\ta\n31_1\tb\n", "line 2: '31_1' has another text in an earlier line"),
        (b"31_1\t\xff\n", "line 1 is no UTF-8"),
        ("31_1\ta\x00b\n", "line 1: expected"),
        ("\n", "has no line"),
    ],
)
def test_a_file_of_rewrites_with_faults_is_refused_in_words(write, content, words):
    with pytest.raises(FileRefusedError, match=words):
        read_rewrites(write("resolved.tsv", content))


@pytest.mark.django_db
def test_rewrites_of_other_topics_refuse_the_import(write):
    project = make_project()
    path = write("t.json", json.dumps([YEAR_2019]))
    with pytest.raises(CommandError, match="no query with an id of the rewrites, such as '5_1'"):
        call_command("import-queries", project.slug, str(path), "--rewrites", str(write("r.tsv", "5_1\ta\n")))
    assert not Query.objects.exists()
    with pytest.raises(CommandError, match=r"missing\.tsv could not be read"):
        call_command(
            "import-queries", project.slug, str(path), "--rewrites", str(path.parent / "missing.tsv")
        )
