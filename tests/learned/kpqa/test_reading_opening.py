import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from distillery_learned.training import kpqa_examples
from distillery_learned.training.kpqa_examples import DropCounts, Passage, occurrences
from distillery_learned.training.kpqa_files import examples_of, form_of
from metrics.errors import MetricError
from tests.learned.kpqa.published import HOTPOTQA, SQUAD_1, marco_columns, marco_lines, written
from tests.scale import limit_cases

SIMPLE = [
    {"question": "Where did he live?", "answer": "He lived in Rome, in old Rome.", "span": "Rome"},
    {"question": "What was it?", "answer": "It was BIG.", "span": "big", "group": "sizes"},
    {"question": "What was it?", "answer": "It was red.", "span": "blue"},
    {"question": "What was it?", "answer": "It was red.", "span": ""},
]
LINES = "".join(json.dumps(row) + "\n" for row in SIMPLE)
FORMS = {
    "squad": json.dumps(SQUAD_1),
    "hotpotqa list": json.dumps(HOTPOTQA),
    "hotpotqa lines": "\n".join(map(json.dumps, HOTPOTQA)),
    "marco columns": json.dumps(marco_columns()),
    "marco lines": marco_lines(),
    "spans lines": LINES,
    "spans list": json.dumps(SIMPLE, indent=2),
}


def read(path):
    dropped = DropCounts()
    return list(examples_of(path, dropped)), dropped


@pytest.mark.parametrize("form", FORMS)
def test_a_form_is_known_by_what_stands_in_a_file(tmp_path, form):
    plain = written(tmp_path / "a.txt", FORMS[form])
    packed, marked = tmp_path / "b.txt", tmp_path / "c.json"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + FORMS[form].encode()))
    marked.write_bytes(b"\xef\xbb\xbf \n" + FORMS[form].encode())
    assert {form_of(path) for path in (plain, packed, marked)} == {form}
    assert read(plain)[0] != []
    assert read(plain) == read(packed) == read(marked)


def test_lines_of_ones_own(tmp_path):
    (rome, big), dropped = read(written(tmp_path / "own.jsonl", LINES + "\n"))
    assert [rome.answer[begin:end] for begin, end in rome.spans] == ["Rome", "Rome"]
    assert big.spans == ((7, 10),)
    assert dropped.reasons == {kpqa_examples.NOT_FOUND: 1, kpqa_examples.NO_ANSWER: 1}
    assert dropped.noted == {kpqa_examples.OTHER_CASE: 1}


@pytest.mark.parametrize("form", FORMS)
def test_a_file_that_was_cut_is_refused(tmp_path, form):
    whole = FORMS[form].rstrip()
    with pytest.raises(MetricError, match=r"no whole JSON file|is no JSON") as caught:
        read(written(tmp_path / "cut.json", whole[:-3]))
    assert "cut.json" in str(caught.value)
    packed = tmp_path / "cut.gz"
    packed.write_bytes(gzip.compress(whole.encode())[:-9])
    with pytest.raises(MetricError, match="no whole gzip file"):
        read(packed)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("", "it is empty"),
        (" \n ", "it is empty"),
        ("question,answer\n", "it is no JSON"),
        ("[]", "holds no question"),
        ("[1, 2]", "its first object has nothing"),
        ("{}", "its first object has nothing"),
        ('{"data": {"a": 1}}', "its first object has data"),
        ('{"question": "a", "answer": "b"}', "its first object has answer, question"),
        ('{"question": "a", "answer": "b"', "it ends too early, at part 5 of its first object"),
        ('{"data": [{"paragraphs": []},]}', "unallowed token"),
        ('{"data": [{"paragraphs": []}]} {}', "trailing garbage"),
        ('{"data": [7]}', r"data\[0\] is a number where an object is needed"),
    ],
)
def test_what_is_no_form_is_refused_with_the_reason(tmp_path, given, message):
    path = written(tmp_path / "data.json", given)
    with pytest.raises(MetricError, match=message) as caught:
        read(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_not_utf8_is_refused(tmp_path):
    path = tmp_path / "data.json"
    path.write_bytes(LINES.encode() + b'{"question": "\xff"}\n')
    with pytest.raises(MetricError, match="line 5 is no JSON"):
        read(path)
    path.write_bytes(b'{"data": ["\xff"]}')
    with pytest.raises(MetricError, match="invalid bytes in UTF8 string"):
        read(path)


def test_a_line_that_is_wrong_is_named(tmp_path):
    with pytest.raises(MetricError, match=r"own\.jsonl, line 6 is no JSON: .* one whole object"):
        read(written(tmp_path / "own.jsonl", LINES + "\nwhat\n"))
    with pytest.raises(MetricError, match=r"own\.jsonl, line 5 has no span"):
        read(written(tmp_path / "own.jsonl", LINES + '{"question": "a", "answer": "b"}\n'))
    with pytest.raises(MetricError, match=r"own\.jsonl, line 5 is a list where an object is needed"):
        read(written(tmp_path / "own.jsonl", LINES + "[1]\n"))


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    with pytest.raises(MetricError, match=r"is a folder\. Name the files in it\."):
        read(tmp_path)
    with pytest.raises(MetricError, match="cannot be read: No such file or directory"):
        read(tmp_path / "none.json")


@given(st.text("ab .,-!?é\n", max_size=50), st.text("abé .-", min_size=1, max_size=6), st.booleans())
def test_occurrences_say_the_phrase_as_words_of_its_own(text, phrase, any_case):
    for begin, end in occurrences(text, phrase, any_case=any_case):
        assert text[begin:end].split() == phrase.split()
        before, after = text[:begin][-1:], text[end:][:1]
        assert not (before.isalnum() and text[begin].isalnum())
        assert not (after.isalnum() and text[end - 1].isalnum())


PASSAGES = st.text(st.sampled_from("ab AB.!?\n\"'() 1,—é"), min_size=1, max_size=80).filter(str.strip)


@settings(max_examples=limit_cases(200))
@given(st.data())
def test_spans_point_at_the_key_phrase_within_the_answer(data):
    text = data.draw(PASSAGES)
    begin = data.draw(st.integers(0, len(text) - 1).filter(lambda at: not text[at].isspace()))
    end = data.draw(st.integers(begin + 1, len(text)).filter(lambda at: not text[at - 1].isspace()))
    found = Passage(text, "squad").example("Who?", (begin, end))
    ((left, right),) = found.spans
    assert found.answer[left:right] == text[begin:end]
    assert found.answer in text
    assert found.answer == found.answer.strip()


VALUES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 10**30)
    | st.floats(allow_nan=False)
    | st.sampled_from(["", " ", "0", "yes", "\ud800", "a\u0000b"])
    | st.sampled_from([[], {}, [[]], [None], {"a": []}])
)


def replaced(tree, value, draw):
    """The tree with something in it replaced, or taken away."""
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree))) if isinstance(tree, list) else []
    if not keys or draw(st.integers(0, 5)) == 0:
        return value
    key = draw(st.sampled_from(keys))
    changed = tree.copy()
    changed[key] = replaced(tree[key], value, draw)
    if draw(st.integers(0, 9)) == 0:
        del changed[key]
    return changed


@settings(max_examples=limit_cases(150))
@given(st.data())
def test_whatever_is_wrong_is_said_in_one_sentence(tmp_path_factory, data):
    whole = data.draw(st.sampled_from([SQUAD_1, HOTPOTQA, marco_columns(), SIMPLE]))
    changed = replaced(whole, data.draw(VALUES), data.draw)
    path = written(tmp_path_factory.mktemp("wrong") / "data.json", json.dumps(changed))
    try:
        found, _ = read(path)
    except MetricError as error:
        assert str(error).startswith(str(path))
        assert "\n" not in str(error)
    else:
        assert all(example.question and example.answer and example.spans for example in found)
        assert all(example.answer.encode() for example in found)
