"""Files of judgments, queries and runs: what is read of them, and what is said of those that are wrong."""

import gzip
import io
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from retrieval.errors import EvaluationError, FileRefusedError
from retrieval.evaluation.measures import read_qrels
from retrieval.evaluation.questions import read_questions
from retrieval.evaluation.runs import Run, check_ids, read_run, write_run
from tests.retrieval.evaluation.world import CONVERSATIONS, as_lines
from tests.scale import limit_cases


@pytest.fixture
def file(tmp_path):
    def write(content, name="file.txt"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def faults_of(read, path, *options):
    with pytest.raises(FileRefusedError) as refusal:
        read(path, *options)
    return [str(fault) for fault in refusal.value.faults]


def texts(questions):
    return {each.id: each.turns for each in questions.questions}


def test_judgments_have_tabs_or_blanks_a_header_or_none(file):
    for content in (
        "q1\t0\tp1\t2\nq1\t0\tp2\t-1\n",
        "q1 0 p1 2\nq1  0  p2 -1\n",
        "query-id\tcorpus-id\tscore\nq1\tp1\t2\nq1\tp2\t-1\n",
        "\ufeffq1 Q0 p1 +2\r\n\r\nq1 Q0 p2 -1",
        gzip.compress(b"q1 0 p1 2\nq1 0 p2 -1\n", mtime=0),
    ):
        assert read_qrels(file(content)).grades == {"q1": {"p1": 2, "p2": -1}}, content
    assert read_qrels(file("my query\t0\tmy passage\t1\n")).grades == {"my query": {"my passage": 1}}
    qrels = read_qrels(file("q p 1\nq p 1\nq r 0\n"))
    assert (qrels.judgments, qrels.repeated, qrels.relevant("q")) == (2, 1, 1)


def test_comments_among_judgments_and_runs_are_left_out_and_counted(file):
    text = "# made by us\n# q1 0 p1 1\nq1 0 p1 2\n#end\nq1 0 p1 2\nq1 0 p2 0\n"
    found = read_qrels(file(text))
    assert found.grades == {"q1": {"p1": 2, "p2": 0}}
    assert found.reading.as_json() == {
        "encoding": "utf-8",
        "separator": " ",
        "sheet": None,
        "header_row": None,
        "columns": {"query": ["column 1"], "passage": ["column 3"], "grade": ["column 4"]},
        "left_out": [],
        "rows": {"read": 6, "used": 2, "merged": 0, "repeats": 1, "refused": 3},
    }
    assert read_qrels(file("#1 0 p 1\n")).grades == {"#1": {"p": 1}}
    named = read_qrels(file("# BEIR\nquery-id\tcorpus-id\tscore\nq1\tp1\t2\n")).reading
    assert (named.header_row, named.columns["passage"]) == (2, ["corpus-id"])
    run = read_run(file("# bm25\nq1 Q0 p1 1 2.5 bm25\n"))
    assert run.reading.rows.as_json() == {"rows_read": 2, "used": 1, "merged": 0, "repeats": 0, "refused": 1}


def test_what_queries_were_read_as_is_known(file):
    table = read_questions(file("QID\tlang\tQuestion\nq1\ten\tWho?\n")).reading
    assert (table.columns, table.left_out) == ({"id": ["QID"], "text": ["Question"]}, ["lang"])
    objects = read_questions(
        file('{"_id": "1", "text": "Who?", "lang": "en"}\n{"_id": "2", "query": "a"}\n')
    ).reading
    assert (objects.columns, objects.left_out) == ({"id": ["_id"], "text": ["text", "query"]}, ["lang"])
    assert (objects.rows.rows_read, objects.rows.used) == (2, 2)


def test_every_fault_of_judgments_comes_with_line_field_and_remedy(file):
    assert faults_of(read_qrels, file("q 0 p 1\nq 0 p 2\n")) == [
        "line 2 [grade]: 'p' has grade 2 for 'q', and had 1 before. Keep one of the two lines."
    ]
    assert faults_of(read_qrels, file("q1 0 p1 1\nq1 0 p2 good\nq1 p1\n\t0\tp\t1\nq1\t0\t\t1\n")) == [
        "line 2 [grade]: 'good' is no whole number. Grades are 0, 1, 2 and so on.",
        "line 3: there are 2 columns. A line is QUERY 0 PASSAGE GRADE, with tabs or blanks between.",
        "line 4 [query]: it is empty. A line is QUERY 0 PASSAGE GRADE, with tabs or blanks between.",
        "line 5 [passage]: it is empty. A line is QUERY 0 PASSAGE GRADE, with tabs or blanks between.",
    ]
    with pytest.raises(FileRefusedError, match="there may be more") as refusal:
        read_qrels(file("q p\n" * 1000))
    assert len(refusal.value.faults) == 20


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("", "line 1: there is no judgment in the file."),
        ("query-id corpus-id score\n", "line 1: there is no judgment in the file."),
        (b"q 0 p\xff 1\n", "line 1: byte 6 (0xff) is no UTF-8."),
        (b"q 0 p\0 1\n", "line 1: there is a NUL character."),
        (b"\xff\xfeq\0", "line 1: this is UTF-16, not UTF-8 text."),
        (gzip.compress(b"q 0 p 1\n" * 99, mtime=0)[:-12], "line 66: the gzip data is damaged"),
    ],
)
def test_a_file_that_is_no_list_of_judgments_is_refused(file, content, fault):
    assert faults_of(read_qrels, file(content))[0].startswith(fault)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileRefusedError, match=r"(?s)gone\.tsv was not read.*No such file"):
        read_qrels(tmp_path / "gone.tsv")


@pytest.mark.parametrize(
    "content",
    [
        '{"id": "1", "text": "one"}\n{"id": 2, "text": "two"}\n',
        '{"_id": "1", "text": "one", "metadata": {}}\n{"_id": "2", "text": "two"}\n',
        '[{"qid": 1, "question": "one"},\n {"qid": 2, "question": "two"}]',
        "1\tone\n2\ttwo\n",
        "qid\tquery\n1\tone\n2\ttwo\n",
        "topic\tx\tquestion\n1\t?\tone\n2\t?\ttwo\n",
        "<top>\n<num> Number: 1\n<title> one\n<desc> Description:\nlong\n</top>\n<top><num>2</num>"
        "<title>two</title></top>\n",
    ],
)
def test_queries_are_read_in_every_form(file, content):
    assert texts(read_questions(file(content))) == {"1": ("one",), "2": ("two",)}


def test_turns_come_with_the_turns_before_them_and_rewrites_stand_alone(file):
    read = read_questions(file(as_lines(CONVERSATIONS)))
    assert texts(read) == {
        "q1": ("What do cats hunt?",),
        "q1b": ("What do cats hunt?", "And where do they hide?"),
        "q2": ("Where do bees live?",),
    }
    assert {each.id: each.conversation for each in read.questions} == {
        "q1": "animals",
        "q1b": "animals",
        "q2": "insects",
    }
    read = read_questions(file(as_lines(CONVERSATIONS)), "rewrite")
    assert texts(read) == {"q1": ("What do cats hunt?",), "q1b": ("Where do mice hide?",)}
    assert read.without == ["q2"]
    topics = [{"number": 31, "title": "t", "turn": [{"number": 1, "raw_utterance": "one"}]}]
    assert texts(read_questions(file(as_lines(topics).join("[]")))) == {"31_1": ("one",)}


def test_branches_of_a_conversation_share_their_turns_and_are_one_conversation(file):
    first, second = {"id": "t1", "text": "one"}, {"id": "t2", "text": "two"}
    other = {"id": "t3", "text": "three"}
    read = read_questions(
        file(as_lines([{"id": "a", "turns": [first, second]}, {"id": "b", "turns": [first, other]}]))
    )
    assert [(each.id, each.conversation) for each in read.questions] == [
        ("t1", "a"),
        ("t2", "a"),
        ("t3", "a"),
    ]
    assert read.repeated == 1


def test_another_field_of_topics_and_tables_is_taken_by_name(file):
    topic = file("<top>\n<num>7\n<title> short\n<desc> Description:\n a longer\n text\n</top>\n")
    assert texts(read_questions(topic, "desc")) == {"7": ("a longer text",)}
    table = file("id\ttext\tnarrative\n1\tshort\tlong\n")
    assert texts(read_questions(table, "narrative")) == {"1": ("long",)}


@pytest.mark.parametrize(
    ("content", "field", "fault"),
    [
        ("", "", "line 1: there is no query in the file."),
        ("{}\n", "", "line 1 [id]: it is missing or empty."),
        ('{"id": "1", "text": " "}\n', "", "line 1 [text]: it is missing or empty."),
        ('{"id": "1", "text": ["a"]}\n', "", "line 1 [text]: it is list, not text."),
        ('{"id": 1.5, "text": "a"}\n', "", "line 1 [id]: '1.5' is no text."),
        ('{"id": "1", "text": "a"}\n[]\n', "", "line 2: this is list, not an object."),
        ('{"id": "1", "text": "a"}\n{"id"\n', "", "line 2: this is no JSON:"),
        ('{"id": "1", "text": "a"}\n{"id": "1", "text": "a"}\n', "", "line 2 [id]: '1' is the id of line 1"),
        ('{"id": "c", "turns": {}}\n', "", "line 1 [turns]: it is no list of turns."),
        ('{"id": "c", "turns": ["a"]}\n', "", "line 1 [turns[1]]: it is str, not an object."),
        ('{"id": "c", "turns": [{"text": "a"}]}\n', "", "line 1 [turns[1].id]: it is missing or empty."),
        ('{"id": "c", "turns": [{"id": "t"}]}\n', "", "line 1 [turns[1].text]: it is missing or empty."),
        ('{"id": "1", "text": "a"}\n', "rewrite", "line 1: no query has a field 'rewrite'."),
        (
            '[{"id": "q",\n "text": "a", "text": "b"}]',
            "",
            "line 1: this is no JSON: the member 'text' is there",
        ),
        (
            '{"id": "q", "text": "a", "text": "b"}\n',
            "",
            "line 1: this is no JSON: the member 'text' is there",
        ),
        ("[1, 2", "", "line 1: this is no JSON:"),
        ("1 one\n", "", "line 1: there is no tab between id and text."),
        ("id\tanswer\n1\tone\n", "", "line 1: there is no column 'text' or"),
        ("1\tone\n", "desc", "line 1: the first line names no columns"),
        ("<top>\n<title> a\n</top>\n", "", "line 1 [num]: the topic has no number."),
        ("<top>\n<num> 1\n<title> a\n", "", "line 1: this <top> is never closed."),
    ],
)
def test_every_fault_of_queries_is_told_with_its_place(file, content, field, fault):
    assert faults_of(read_questions, file(content), field)[0].startswith(fault)


def test_a_run_is_ordered_as_trec_eval_orders_it_or_by_its_ranks(file):
    run = read_run(file("q Q0 a 1 1.5 tag\nq Q0 b 2 2.5 tag\nq Q0 c 3 1.5 tag\n", "mine.run"))
    assert run.name == "mine"
    assert [passage for passage, _ in run.rankings["q"]] == ["b", "c", "a"]
    run = read_run(file("q\ta\t2\nq\tb\t1\n"))
    assert [passage for passage, _ in run.rankings["q"]] == ["b", "a"]
    with pytest.raises(EvaluationError, match="The id 'my passage' of a passage has a blank in it"):
        check_ids(["fine", "my passage"], "passage")


def test_every_fault_of_a_run_is_told_with_its_place(file):
    run = file("q Q0 a 1 high tag\nq Q0 a 1\nq Q0 a 1 nan tag\nq Q0 b 1 2 tag\nq Q0 b 2 1 tag\nq a first\n")
    assert faults_of(read_run, run) == [
        "line 1 [score]: 'high' is no score. Scores are numbers such as 12.5.",
        "line 2: there are 4 columns. A line is QUERY Q0 PASSAGE RANK SCORE TAG, or QUERY PASSAGE RANK.",
        "line 3 [score]: 'nan' is no score. Scores are numbers such as 12.5.",
        "line 5 [passage]: 'b' occurs twice in the list of 'q'. Keep the better one.",
        "line 6 [rank]: 'first' is no rank. Ranks are whole numbers from 1.",
    ]
    two = file("q Q0 a 1 2.5 bm25\nq Q0 b 2 1.5 bm25\nq Q0 c 1 9.5 dense\nq Q0 d 2 8.5 dense\n")
    assert faults_of(read_run, two) == [
        "line 3 [tag]: 'dense' is another run than 'bm25', which comes first. "
        "Give each run a file of its own."
    ]


ids = st.text("ab#é中", min_size=1, max_size=5)


@settings(deadline=None, max_examples=limit_cases(50))
@given(st.dictionaries(ids, st.floats(-1e30, 1e30), min_size=1, max_size=8), st.booleans())
def test_a_run_that_was_written_reads_back_in_its_order(tmp_path_factory, scores, equal):
    found = sorted(scores.items(), key=lambda pair: -pair[1])
    if equal:
        found = [(passage, 1.0) for passage, _ in found]
    file = io.BytesIO()
    write_run(file, Run("rrf(a+b) c", {"q": found}))
    assert b" rrf(a+b)-c\n" in file.getvalue()
    path = tmp_path_factory.mktemp("runs") / "r.run"
    path.write_bytes(file.getvalue())
    back = read_run(path).rankings["q"]
    assert [passage for passage, _ in back] == [passage for passage, _ in found]
    assert all(np.float32(a) > np.float32(b) for (_, a), (_, b) in pairwise(back))
