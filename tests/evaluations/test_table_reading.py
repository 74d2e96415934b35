"""Files of answers as people have them: columns, cells, separators, encodings, and what is wrong there."""

import gzip
import json
import math

import pytest

from evaluations.errors import EvaluationError
from evaluations.file_cells import open_sheet
from evaluations.file_table import open_table
from tests.workbooks import write_workbook

HEADER = "question,answer,reference1,scores\n"
ROWS = "who built it,the romans built it,it was built by romans,4.5\nhow tall is it,ten metres,about 10 m,3\n"


@pytest.fixture
def file(tmp_path):
    """Writes a file and gives its path."""

    def write(content, name="answers.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def rows(path, **options):
    return list(open_table(path, **options).rows())


def refused(path, **options):
    with pytest.raises(EvaluationError) as refusal:
        rows(path, **{"scored": True, **options})
    return str(refusal.value).replace(f"{path.parent}/", "")


def jsonl(*objects):
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in objects)


def test_the_columns_of_the_kpqa_files(file):
    first, second = rows(file(HEADER + ROWS), scored=True)
    assert (first.question, first.answer, first.references, first.human) == (
        "who built it",
        "the romans built it",
        ["it was built by romans"],
        4.5,
    )
    assert (first.line, second.line, second.human) == (2, 3, 3.0)


def test_several_references_of_which_some_cells_are_empty(file):
    text = "question,answer,reference1,reference2,reference3,scores\nq,a,x,,z,1\nq,b,,,,2\nr,c,x, ,z,3\n"
    assert [row.references for row in rows(file(text))] == [["x", "z"], [], ["x", "z"]]


def test_references_are_in_the_order_of_their_numbers(file):
    text = "reference10,question,reference2,answer,reference1,scores\nten,q,two,a,one,1\n"
    assert rows(file(text))[0].references == ["one", "two", "ten"]


@pytest.mark.parametrize(
    "header",
    [
        "Question,Answer,Reference 1,Scores",
        "query,candidate,reference-1,human_score",
        "query_text,prediction,gold_answer,rating",
        "prompt,response,ground_truth,mean",
        "q,hypothesis,ref,Human",
        ' "question", "answer", "target", "correctness"',
    ],
)
def test_columns_are_known_by_the_names_that_people_use(file, header):
    (row,) = rows(file(f"{header}\nwhat,this,that,0.25\n"), scored=True)
    assert (row.question, row.answer, row.references, row.human) == ("what", "this", ["that"], 0.25)


def test_a_column_may_be_named_several_given_to_a_field_and_a_field_turned_off(file):
    text = "frage,antwort,muster,note\nwhat,this,that,4\n"
    columns = {"question": "frage", "answer": "Antwort", "reference1": "muster", "scores": "note"}
    (row,) = rows(file(text), columns=columns, scored=True)
    assert (row.question, row.answer, row.references, row.human) == ("what", "this", ["that"], 4.0)
    text = "question,answer,a b,c,scores\nq,x,one,two,4\n"
    assert rows(file(text), columns={"references": "c,a b"})[0].references == ["two", "one"]
    assert rows(file(text), columns={"reference1": "a b", "reference2": "c"})[0].references == ["one", "two"]
    text = "question,answer,reference1,scores,type\nq,a,r,4,x\n"
    assert rows(file(text))[0].type == "x"
    assert rows(file(text), columns={"type": ""})[0].type == ""


def test_a_score_in_a_column_with_the_name_of_a_reference_is_noticed(file):
    text = "question,answer,reference1,reference2\nq one,a b,c d,2.4\nq two,e f,g h,3\n"
    said = refused(file(text))
    assert "no column holds the human scores" in said
    assert "'reference2' holds nothing but numbers" in said
    assert "--column scores=reference2" in said
    found = rows(file(text), columns={"scores": "reference2"}, scored=True)
    assert [(row.references, row.human) for row in found] == [(["c d"], 2.4), (["g h"], 3.0)]
    path = file("question,answer,reference1,reference2\nq one,a b,c d,2.4\nq two,e f,g h,3\n")
    assert "--column scores=reference2" in refused(path, scored=False)
    found = rows(path, columns={"references": "reference1,reference2"})
    assert [row.references for row in found] == [["c d", "2.4"], ["g h", "3"]]
    text = "question,answer,reference1,reference2\nhow many,12,11,12\nhow old,5,5,6\n"
    assert [row.references for row in rows(file(text))] == [["11", "12"], ["5", "6"]]


def test_words_for_nothing_are_texts_in_answers_and_nothing_in_scores(file):
    for word in ("NA", "nan", "null", "None", "N/A", "-"):
        (row,) = rows(file(f"question,answer,reference1,scores\nq,{word},{word},{word}\n"))
        assert (row.answer, row.references) == (word, [word])
        assert math.isnan(row.human)
    assert rows(file(HEADER + "q,,r,2\n"))[0].answer == ""


def test_other_separators_are_found_although_texts_have_commas(file):
    for separator, name in ((";", "semicolon"), ("\t", "tab"), ("|", "bar")):
        text = (HEADER + "is it so, or not,yes,no,4\n").replace("so, or", "so or").replace(",", separator)
        table = open_table(file(text))
        assert [row.question for row in table.rows()] == ["is it so or not"]
        assert table.sheet.description == f"{name}-separated, utf-8"
    (row,) = rows(file("question;answer;reference1;scores\nyes, no, or so;a, b, c;d, e;2,5\n"))
    assert (row.question, row.answer, row.references) == ("yes, no, or so", "a, b, c", ["d, e"])
    assert row.human == 2.5
    (row,) = rows(file("sep=;\nquestion;answer;reference1;scores\nq;a;r;2\n"))
    assert (row.answer, row.line) == ("a", 3)


def test_unicode_is_known_by_its_mark_and_another_encoding_is_said(file):
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-32"):
        (row,) = rows(file((HEADER + "où est-ce,à l'été 北京,in 北京,2\n").encode(encoding)))
        assert (row.question, row.references) == ("où est-ce", ["in 北京"])
    path = file((HEADER + "q,a,r,2\nwo,im Süden,Süd,3\n").encode("latin-1"))
    said = refused(path)
    assert said.startswith("answers.csv, line 3: Byte 8 (0xFC) is not UTF-8.")
    assert "--encoding latin-1" in said
    assert rows(path, encoding="latin-1")[1].answer == "im Süden"
    assert "'latin-47' is no encoding" in refused(path, encoding="latin-47")
    assert "--encoding utf-16-le" in refused(file((HEADER + ROWS).encode("utf-16-le")))


def test_a_damaged_file_is_refused_while_its_rows_are_read(file):
    rows_of_noise = "".join(f"q,{number * 2_654_435_761 % 2**32},r,2\n" for number in range(150_000))
    whole = gzip.compress((HEADER + rows_of_noise).encode(), mtime=0)
    sheet = open_sheet(file(whole[: len(whole) * 9 // 10]), header_names=[])
    with pytest.raises(EvaluationError, match="is damaged: its gzip data cannot be unpacked"):
        list(sheet.rows())


def test_lines_end_in_several_ways_and_texts_may_go_over_some(file):
    for end in ("\r\n", "\r"):
        text = (HEADER + ROWS).replace("\n", end)
        assert [(row.line, row.human) for row in rows(file(text))] == [(2, 4.5), (3, 3.0)]
    text = (
        HEADER + '"who, when","the\r\n""romans""\nbuilt it","r, s",4\n\nq,one\u2028two\x0bthree\x85four,r,2\n'
    )
    first, second = rows(file(text))
    assert (first.question, first.references) == ("who, when", ["r, s"])
    assert first.answer == 'the\n"romans"\nbuilt it'
    assert (first.line, second.line) == (2, 6)
    assert second.answer == "one\u2028two\x0bthree\x85four"


def test_a_compressed_file_is_read_and_a_damaged_one_refused(file):
    assert len(rows(file(gzip.compress((HEADER + ROWS).encode()), "answers.csv.gz"))) == 2
    packed = gzip.compress((HEADER + ROWS * 5000).encode())
    assert "is damaged" in refused(file(packed[: len(packed) // 2]))


def test_empty_rows_and_cells_are_passed_over_and_rows_of_another_length_told(file):
    assert len(rows(file(HEADER + "\nq,a,r,2\n,,,\n  \n,,\nq,a,r,3\n\n"))) == 2
    assert rows(file(HEADER + "q,a,r,2,,\n"))[0].human == 2
    said = refused(file(HEADER + "q,a,r,2\nq,so, it is,r,3\n"))
    assert said.startswith("answers.csv, line 3: the row has 5 cells, the head has 4.")
    assert "quotation marks" in said
    table = open_table(file(HEADER + "q,a,r,2\nq,b,r\n"), scored=True)
    assert [row.human for row in table.rows()] == pytest.approx([2, math.nan], nan_ok=True)
    assert table.notes[-1] == "1 row ends before the head does: the missing cells are empty."


def test_a_quotation_that_never_ends_names_its_line_and_marks_may_be_ordinary_signs(file):
    said = refused(file(HEADER + 'q,a,r,2\nq,"so it is,r,3\nq,a,r,2\n'))
    assert said.startswith("answers.csv, line 3: a quotation mark opens here and never closes.")
    assert "--no-quotes" in said
    text = 'question\tanswer\treference1\tscores\nq\t"so it is\tr\t3\nq\tsays "a" and\tr"\t2\n'
    assert [row.answer for row in rows(file(text), quotes=False)] == ['"so it is', 'says "a" and']


def test_a_score_that_is_no_number_names_line_and_column(file):
    for cell, said in (
        ("four", "'four' is no number"),
        ("4/5", "'4/5' is no number"),
        ("inf", "'inf' is not finite"),
        ("1_000", "'1_000' is no number"),
        ('"2,5"', "2,5 may have a decimal comma, or be two numbers"),
        ("80%", "'80%' is no number"),
    ):
        found = refused(file(HEADER + f"q,a,r,2\nq,a,r,{cell}\n"))
        assert found.startswith(f"answers.csv, line 3: column 'scores': {said}")
    assert "--column" in refused(file(HEADER + "q,a,r,two\n"))


@pytest.mark.parametrize(
    "cell", ["[3, 4, 5]", "3 4 5", "3|4|5", "3; 4; 5", "['3', '4', '5']", "[3.0, null, 4, 5]"]
)
def test_single_ratings_in_one_cell(file, cell):
    (row,) = rows(file(HEADER + f'q,a,r,"{cell}"\n'))
    assert row.human == 4
    assert [score for _, score in row.ratings] == [3, 4, 5]


@pytest.mark.parametrize("name", ["score", "rater", "Rating ", "judge_", "annotator"])
def test_single_ratings_in_columns(file, name):
    header = ",".join(f"{name}{number}" for number in (1, 2, 3))
    (row,) = rows(file(f"question,answer,reference1,{header}\nq,a,r,2,,5\n"), scored=True)
    assert row.human == 3.5
    assert [score for _, score in row.ratings] == [2, 5]
    assert len({rater for rater, _ in row.ratings}) == 2


def test_a_mean_beside_single_ratings_is_the_human_score(file):
    (row,) = rows(file("question,answer,reference1,scores,score1,score2\nq,a,r,4.25,3,5\n"))
    assert row.human == 4.25
    assert [score for _, score in row.ratings] == [3, 5]
    table = open_table(
        file("question,answer,reference1,score,score.1\nq,a,r,4,2\nq,b,r,3,3.04\n"), scored=True
    )
    assert [row.human for row in table.rows()] == [4, 3]
    assert "1, the first in line 2" in table.notes[-1]
    assert "--column scores= --column ratings=score,score.1" in table.notes[-1]


def test_scores_outside_of_the_scale_that_was_given_are_refused(file):
    said = refused(file(HEADER + "q,a,r,2\nq,a,r,7\n"), scale=(1, 5))
    assert said == (
        "answers.csv, line 3: the score 7 is not on the scale from 1 to 5. If the scale is another, say so: "
        "--scale LOW-HIGH."
    )


def test_jsonl_with_lists_nested_lists_and_objects(file):
    text = jsonl(
        {"question": "q", "answer": "a", "references": ["r", "", "s"], "scores": [4, "5", None]},
        {"question": "q", "answer": None, "references": [["r", ["s"]], "t"], "scores": "2.5"},
        {"question": "q", "answer": 1923, "references": {"text": ["r", "s"], "start": [3, 9]}, "scores": 1},
        {"question": "q", "answer": "a", "references": [{"text": "r", "opinion": "Yes"}, {"answer": "s"}]},
        {"question": "q", "answer": "a", "reference": "r", "scores": [{"worker": "w7", "score": 3}]},
    )  # fmt: skip
    found = rows(file(text, "answers.jsonl"))
    assert [row.references for row in found] == [["r", "s"], ["r", "s", "t"], ["r", "s"], ["r", "s"], ["r"]]
    assert [row.answer for row in found] == ["a", "", "1923", "a", "a"]
    assert [row.human for row in found if row.human == row.human] == [4.5, 2.5, 1, 3]
    assert found[3].labels == ["Yes", ""]
    assert found[4].ratings == [("w7", 3)]


def test_json_may_be_a_list_have_later_members_and_nan(file):
    row = {"question": "q", "answer": "a", "reference1": "r", "score": 1}
    assert rows(file(jsonl(row) * 300 + jsonl({**row, "reference2": "s"})))[-1].references == ["r", "s"]
    assert [each.line for each in rows(file(json.dumps([row] * 3, indent=1), "answers.json"))] == [1, 2, 3]
    (missing,) = rows(file('{"question": "q", "answer": "a", "references": ["r"], "score": NaN}\n'))
    assert math.isnan(missing.human)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"answer": "a"', "The line is no JSON"),
        ('["a"]', "The line is JSON, but no object"),
        (
            '{"question": "q", "answer": {"a": 1}, "references": ["r"], "score": 1}',
            "column 'answer': {'a': 1}",
        ),
        ('{"question": "q", "answer": "a", "references": [{"b": 1}], "score": 1}', "has no member 'text'"),
        ('{"question": "q", "answer": "a", "references": ["r"], "score": "high"}', "column 'score': 'high'"),
    ],
)
def test_a_wrong_line_of_jsonl_is_named(file, line, said):
    good = jsonl({"question": "q", "answer": "a", "references": ["r"], "score": 2})
    found = refused(file(good + "\n" + line + "\n", "answers.jsonl"))
    assert found.startswith("answers.jsonl, line 3: ")
    assert said in found


def test_lists_in_the_cells_of_a_csv_file(file):
    text = (
        "question,answer,references,scores\n"
        'q,a,"[""r, s"", ""t""]",2\n'
        "q,a,\"['r', 's']\",2\n"
        "q,a,\"['r' 's']\",2\n"
        "q,a,[citation needed],2\n"
        'q,a,"[[""r""], [""s"", ""t""]]",2\n'
    )
    assert [row.references for row in rows(file(text))] == [
        ["r, s", "t"],
        ["r", "s"],
        ["['r' 's']"],
        ["[citation needed]"],
        ["r", "s", "t"],
    ]


def test_opinions_stay_with_their_references_or_are_refused(file):
    header = "question,answer,label,reference1,label1,reference2,label2,scores\n"
    first, second = rows(file(header + "q,a,Yes,r,Yes,s,No,2\nq,b,No,r,,,,3\n"))
    assert (first.label, first.labels, second.labels) == ("Yes", ["Yes", "No"], [""])
    row = {"question": "q", "answer": "a", "score": 1}
    (listed,) = rows(file(jsonl({**row, "references": ["r", " ", "s"], "labels": ["Yes", "No", ""]})))
    assert (listed.references, listed.labels) == (["r", "s"], ["Yes", ""])
    odd = jsonl({**row, "references": ["r", "s"], "labels": ["Yes"]})
    assert refused(file(odd)).startswith("answers.csv, line 1: 1 labels for 2 references.")


@pytest.mark.parametrize("cell", ['"[""Rome"", ""Nero""]"', "Rome|Nero", "Rome; Nero"])
def test_gold_entities(file, cell):
    (row,) = rows(file(f"question,answer,reference1,scores,entities\nq,a,r,2,{cell}\n"))
    assert row.entities == ["Rome", "Nero"]


def test_scores_of_other_tools(file):
    text = HEADER.replace("\n", ",comet,judge\n") + "q,a,r,2,0.5,\nq,b,r,2,-0.25,3\n"
    found = rows(file(text), external=("judge", "comet"))
    assert math.isnan(found[0].external[0])
    assert found[0].external[1] == 0.5
    assert found[1].external == (3, -0.25)
    assert "line 2: column 'comet': 'x' is no number" in refused(
        file(text.replace("0.5", "x")), external=("comet",)
    )
    assert "there is no column 'bleurt'" in refused(file(text), external=("bleurt",))
    assert "is given to a field as well" in refused(
        file(text), external=("comet",), columns={"scores": "comet"}
    )


def test_two_columns_of_one_name_are_refused_where_it_matters(file):
    said = refused(file("question,answer,reference,reference,scores\nq,a,r,s,2\n"))
    assert "two columns are named 'reference'" in said
    assert len(rows(file("question,answer,note,reference1,note,scores,,\nq,a,x,r,y,2,,\n"))) == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty"),
        ("\n\n", "it is empty"),
        (HEADER, "has a header but no rows under it"),
        ("question,reference1,scores\nq,r,2\n", "no column holds the answers (candidates)"),
        ("question,answer,scores\nq,a,2\n", "no column holds the references"),
        ("question,answer,reference1,note\nq,a,r,fine\n", "no column holds the human scores"),
        ("who built it,the romans,they did,4\n", "If the file has no header line, add one"),
        ("PK\x03\x04zip", "is damaged: File is not a zip file"),
    ],
)
def test_what_is_missing_is_named(file, text, said):
    assert said in refused(file(text))


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(EvaluationError, match="There is no file"):
        open_table(tmp_path / "nothing.csv")
    with pytest.raises(EvaluationError, match="is a folder"):
        open_table(tmp_path)


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"marks": "scores"}, "there is no field 'marks'"),
        ({"scores": "marks"}, "there is no column 'marks'; there are 'question', 'answer'"),
        ({"scores": "answer", "answer": "answer"}, "that column is scores already"),
    ],
)
def test_columns_that_cannot_be_given(file, columns, said):
    assert said in refused(file(HEADER + ROWS), columns=columns)


def test_a_workbook_is_read_like_a_table(tmp_path):
    cells = [["question", "answer", "reference1", "scores"], ["who built it", "the romans", "they did", 4]]
    (row,) = rows(write_workbook(tmp_path / "answers.xlsx", cells), scored=True)
    assert (row.answer, row.references, row.human, row.line) == ("the romans", ["they did"], 4.0, 2)


def test_raters_are_known_by_numbers_and_letters_and_averaged_together(file):
    path = file("question,answer,reference1,Rater A,Rater B,Annotator_3\nq,a,r,5,4,3\n")
    (row,) = rows(path, scored=True)
    assert (row.human, [rater for rater, _ in row.ratings]) == (4, ["Rater A", "Rater B", "Annotator_3"])
    table = open_table(
        file("question,answer,reference1,score1,Expert rating,note\nq,a,r,5,4,3\n"), scored=True
    )
    assert table.reading.as_json()["left_out"] == ["Expert rating", "note"]
    assert "--column ratings=score1,Expert rating." in " ".join(table.notes)


def test_two_columns_that_may_hold_the_human_scores_are_asked_about(file):
    path = file("question,answer,reference1,score,rating\nq,a,r,0.9,5\n")
    said = refused(path)
    assert said.startswith("answers.csv, line 1: the columns 'score' and 'rating' may hold the human scores.")
    assert "--column scores=rating" in said
    assert rows(path, scored=False)[0].answer == "a"
    for options in ({"columns": {"scores": "rating"}}, {"external": ("score",)}):
        assert rows(path, scored=True, **options)[0].human == 5
    for header in ("score,human_rating", "human mean,scores"):
        table = open_table(file(f"question,answer,reference1,{header}\nq,a,r,1,5\n"), scored=True)
        (taken,) = table.reading.as_json()["columns"]["score"]
        assert taken.startswith("human")


def test_what_a_file_was_read_as(file, tmp_path):
    path = file(
        "sep=;\nQuestion;Response;reference1;score;note\nq;a;r;2,5;x\n;;;;\nq;b;r;4;y\n".encode("utf-16")
    )
    table = open_table(path, scored=True)
    assert table.reading.rows is None
    list(table.rows())
    list(table.rows())
    assert table.reading.as_json() == {
        "encoding": "utf-16",
        "separator": ";",
        "sheet": None,
        "header_row": 2,
        "columns": {
            "question": ["Question"],
            "answer": ["Response"],
            "score": ["score"],
            "references": ["reference1"],
        },
        "left_out": ["note"],
        "rows": {"read": 2, "used": 2, "merged": 0, "repeats": 0, "refused": 0},
    }
    cells = [["question", "answer", "reference1", "scores"], ["q", "a", "r", 4]]
    book = write_workbook(tmp_path / "a.xlsx", {"One": [["x"]], "Two": {3: cells[0], 4: cells[1]}})
    said = open_table(book, sheet="Two", scored=True).reading.as_json()
    assert (said["sheet"], said["header_row"], said["encoding"]) == ("Two", 3, None)
    assert "is no workbook" in refused(path, sheet="Two")


def test_a_quotation_mark_that_means_nothing_is_refused_with_its_line(file):
    tabs = HEADER.replace(",", "\t")
    for text, said in {
        tabs + 'q\ta\tr\t5\nq\t"b\tr\t4\nq\tc\tr\t3\nq\t"d\tr\t2\n': (
            "line 3: the row goes on to line 5, and a quoted cell goes on after its closing mark."
        ),
        tabs + 'q\t"b\tr\t4\nq\tc\tr\t3\nq\td"\tr\t2\n': "line 2: a cell between quotation marks goes on to",
        HEADER
        + 'q,"he said ""yes"" now" then,r,2\n': "line 2: a quoted cell goes on after its closing mark.",
    }.items():
        found = refused(file(text))
        assert said in found
        assert "--no-quotes" in found
    assert [row.answer for row in rows(file(tabs + 'q\t"b\tr\t4\nq\tc"\tr\t3\n'), quotes=False)] == [
        '"b',
        'c"',
    ]
    for text in (r'q,"a \"b\" c",r,2', r'q,"yes \"no\", then",r,2', r'q,"it is \"",r,2'):
        assert "--no-quotes" in refused(file(HEADER + text + "\n"))


def test_a_quoted_text_over_several_lines_with_the_separator_is_named(file):
    table = open_table(file(HEADER + 'q,"a, b\nc",r,2\nq,"x\ny",r,2\n'), scored=True)
    list(table.rows())
    assert "1, the first in line 2. If quotation marks mean nothing here: --no-quotes." in table.notes[-1]


def test_an_empty_answer_beside_a_filled_column_with_its_name(file):
    objects = [
        {"question": "q", "answer": "a", "reference": "r", "score": 5},
        {"question": "q", "prediction": "b", "reference": "r", "score": 4},
        {"question": "r", "answer": "", "reference": "r", "score": 4},
    ]
    table = open_table(file(jsonl(*objects)), scored=True)
    assert [row.answer for row in table.rows()] == ["a", "b", ""]
    assert table.reading.columns["answer"] == ["answer", "prediction"]
    assert "Where 'answer' is empty, the answer was read from 'prediction'." in table.notes
    both = file(jsonl(*objects, {**objects[0], "prediction": "other"}))
    said = refused(both)
    assert said.startswith("answers.csv, line 2: the column 'answer' is empty while another one")
    assert "in line 4 it is not" in said
    assert [row.answer for row in rows(both, columns={"answer": "answer"})] == ["a", "", "", "a"]


def test_a_json_object_is_read_by_its_keys_or_explained(file):
    records = {key: {"question": "q", "answer": key, "reference": "r", "score": 2} for key in "ab"}
    for indent in (None, 2):
        found = rows(file(json.dumps(records, indent=indent)), scored=True)
        assert [(row.line, row.id, row.answer) for row in found] == [(1, "a", "a"), (2, "b", "b")]
    own = {key: {**value, "id": f"own {key}"} for key, value in records.items()}
    assert [row.id for row in rows(file(json.dumps(own)))] == ["own a", "own b"]
    many = {str(number): records["a"] for number in range(30)}
    assert "record 31: The member 'c' is no object" in refused(file(json.dumps({**many, "c": 1})))
    columns = {name: {"0": "x", "1": "y"} for name in ("question", "answer", "reference")}
    assert 'orient="records"' in refused(file(json.dumps(columns)))
    assert "in its member 'data'" in refused(file(json.dumps({"version": 2, "data": list(records.values())})))
    assert "Write one object a line, or a list" in refused(file('{\n"answer": "a",\n"reference": "r"\n}\n'))


def test_columns_of_numbers_may_be_single_ratings_and_a_score_may_be_a_metrics(file, tmp_path):
    said = refused(file("question,answer,reference1,Anna,Bob\nq,a,r,5,1\n"))
    assert said.endswith(
        "The columns 'Anna', 'Bob' hold nothing but numbers. If one of them holds them: --column scores=Bob. "
        "If these are single ratings: --column ratings=Anna,Bob."
    )
    table = open_table(file("question,answer,reference1,score,human1,human2\nq,a,r,0.5,2,1\n"), scored=True)
    list(table.rows())
    assert table.notes[-1].endswith("If it is a metric's: --column scores= --external score.")
    sheets = {"Notes": [["Mine"]], "Data": [["answer"]]}
    said = refused(write_workbook(tmp_path / "answers.xlsx", sheets), encoding="")
    assert "This was the sheet 'Notes'; the others are 'Data': --sheet NAME." in said


def test_a_column_without_a_name_is_said_not_to_be_read(file):
    table = open_table(file("question,,answer,reference1,score,\nq,x,a,r,3,\n"), scored=True)
    list(table.rows())
    assert table.reading.left_out == ["column 2"]


def test_a_text_of_many_characters_is_read_up_to_the_limit(file, monkeypatch):
    (row,) = rows(file(HEADER + f'q,"{"word " * 60_000}",r,2\n'))
    assert len(row.answer) == 300_000
    monkeypatch.setattr("core.files.sheets.Sheet.longest_cell", 1000)
    said = refused(file(HEADER + "q,a,r,2\n" + f'q,"{"word " * 300}",r,2\n'))
    assert said.startswith("answers.csv, line 3: a cell has more than 1,000 characters, or a quotation")


def test_ratings_that_are_written_otherwise_are_refused_with_the_right_form(file):
    header = "question,answer,reference1,ratings\n"
    for cell in ("3,4,5", "(5, 5, 4)", "[1 1 2]", "array([1, 2])", '{""w1"": 3, ""w2"": 4}'):
        assert "Several ratings are written [3, 4, 5]" in refused(file(f'{header}q,a,r,"{cell}"\n'))
    of_aspects = {"question": "q", "answer": "a", "reference": "r"}
    found = rows(file(jsonl({**of_aspects, "ratings": [{"rater": "x", "score": 3, "fluency": 1}]})))
    assert found[0].ratings == [("x", 3)]
    numbered = [{"worker": 0, "score": 3}, {"worker": 1, "score": None, "rating": 4}]
    assert rows(file(jsonl({**of_aspects, "ratings": numbered})))[0].ratings == [("0", 3), ("1", 4)]
    for ratings, words in {
        '[{"score": 0.4, "rating": 5}]': "members 'score', 'rating', and several are named score, rating,",
        '[{"judge": "x", "score": 4}, {"judge": "x", "score": 2}]': "'x' rates the answer twice. Keep one",
    }.items():
        assert words in refused(file(jsonl({**of_aspects, "ratings": json.loads(ratings)})))
    said = refused(file(jsonl({**of_aspects, "ratings": [{"coherence": 2, "fluency": 5}]})))
    assert (
        "line 1: column 'ratings': a rating has the members 'coherence', 'fluency', and none is named" in said
    )


def test_a_table_below_a_title_is_read_from_the_row_that_names_its_columns(file, tmp_path):
    below = "Scores, first draft\n\nquestion;answer;reference1;scores\nq;an answer;right;4\n"
    table = open_table(file(below), header_row=3, scored=True)
    assert [(row.line, row.human) for row in table.rows()] == [(4, 4.0)]
    assert (table.reading.header_row, table.reading.separator) == (3, ";")
    rows = {1: ["Scores"], 3: ["answer", "reference1"], 4: ["a", "b"]}
    book = write_workbook(tmp_path / "a.xlsx", rows)
    assert [row.answer for row in open_table(book, header_row=3, scored=False).rows()] == ["a"]
    twice = file("Scores\nanswer,reference1,reference1\na,b,c\n")
    assert ", line 2: two columns are named 'reference1'." in refused(twice, header_row=2)
    said = refused(file(below), header_row=2)
    assert said.endswith("line 2: it is empty, so it names no columns. The next that holds something is 3.")
    assert "no row names its columns" in refused(file(jsonl({"answer": "a"})), header_row=2)
