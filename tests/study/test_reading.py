"""Everything that can be wrong with a file: its code, its exact line, its field, and what helps."""

import pytest

from crowd.kinds import Listing, kind_named, made_listing
from crowd.study.explain import StudyError
from crowd.study.reader import LARGEST, read, task_texts

GOOD = """\
[project]
slug = "tea"
title = "Tea"
budget = "25.00"

[endpoints.local]
preset = "local"

[[stages]]
slug = "first"
title = "First"
kind = "poll"
endpoint = "local"
reward = "0.15"
redundancy = 3
budget = "10.00"
eligibility = [
    {kind = "country", op = "In", values = ["US", "CA"]},
    {kind = "approval_rate", op = "GreaterThanOrEqualTo", values = [95]},
]

[stages.task]
title = "Which tea?"
description = "One question."

[stages.config]
question = "Which?"
options = ["green", "black"]
"""


def lines_of(text, old, new):
    assert text.count(old) == 1, old
    return text.replace(old, new)


def problems_of(write, text):
    with pytest.raises(StudyError) as caught:
        read(write(text))
    return caught.value.problems


def brief(problems):
    return [(problem.code, problem.line, problem.field) for problem in problems]


def test_a_stage_without_texts_gets_those_that_its_kind_makes_else_its_title(write):
    text = lines_of(GOOD, '[stages.task]\ntitle = "Which tea?"\ndescription = "One question."\n\n', "")
    text = lines_of(text, 'kind = "poll"', 'kind = "poll"\nexpected_minutes = 2.5\nunits_per_hit = 2')
    stage = read(write(text)).fields.stages[0]
    made = made_listing(kind_named("poll"), units_per_hit=2, minutes=2.5, config=stage.config)
    assert made.title != made_listing(kind_named("poll"), config=stage.config).title
    assert stage.task.model_dump() == {
        "title": made.title,
        "description": made.description,
        "keywords": made.keywords,
    }
    texts = task_texts(Listing(), "First").model_dump()
    assert texts == {"title": "First", "description": "First", "keywords": ""}


def test_a_good_file_is_read_with_amounts_in_cents_and_times_in_seconds(write):
    study = read(write(GOOD))
    stage = study.fields.stages[0]
    found = (study.fields.project.budget, stage.reward, stage.work_time, stage.open_for)
    assert found == (2500, 15, 3600, 604800)
    assert stage.config["items"] == [""]  # what was left out has its default


WRONG = [
    # what stands in the file, what stands there instead, the problem, a word of what it says
    ('slug = "tea"', 'slug = "te a"', ("wrong-value", 2, "project.slug"), '"te a" cannot be used here'),
    ('slug = "tea"', "slug = 5", ("wrong-type", 2, "project.slug"), "5 is not a string"),
    ('slug = "tea"', 'slog = "tea"', ("unknown-key", 2, "project.slog"), "Did you mean 'slug'?"),
    ('title = "Tea"\n', "", ("missing", 1, "project.title"), "this is missing"),
    ('title = "Tea"', 'title = ""', ("out-of-bounds", 3, "project.title"), "at least 1 characters"),
    ('title = "Tea"', 'title = "T\\u0000"', ("wrong-value", 3, "project.title"), "NUL"),
    ('budget = "25.00"', "budget = 25.00", ("wrong-type", 4, "project.budget"), "in quotes"),
    ('budget = "25.00"', "budget = true", ("wrong-type", 4, "project.budget"), "in quotes"),
    ('budget = "25.00"', 'budget = "-1.00"', ("out-of-bounds", 4, "project.budget"), "cannot be negative"),
    ('budget = "25.00"', 'budget = "1.005"', ("wrong-value", 4, "project.budget"), "two decimals"),
    ('budget = "25.00"', 'budget = "1,000"', ("wrong-value", 4, "project.budget"), "two decimals"),
    ('budget = "25.00"', 'budget = "99999999.00"', ("out-of-bounds", 4, "project.budget"), "10000000.00"),
    ("[project]", "[project]\nwage_flor = 1", ("unknown-key", 2, "project.wage_flor"), "'wage_floor'"),
    ("[project]", "[project]\nlanguage = 'English!'", ("wrong-value", 2, "project.language"), "BCP 47"),
    (
        "[project]",
        '[project.members]\nmira = "boss"\n[project]',
        ("wrong-value", 2, "project.members.mira"),
        "Choose one of: owner, manager, viewer",
    ),
    ('preset = "local"', 'preset = "locl"', ("wrong-value", 7, "endpoints.local.preset"), "'local'"),
    ('preset = "local"', "", ("not-together", 6, "endpoints.local"), "neither a preset nor a url"),
    (
        'preset = "local"',
        'preset = "local"\nregion = "eu"',
        ("not-together", 6, "endpoints.local"),
        "region cannot be given with a preset",
    ),
    (
        'preset = "local"',
        'preset = "local"\naccess_key_env = "A"',
        ("not-together", 6, "endpoints.local"),
        "go together",
    ),
    (
        'preset = "local"',
        'preset = "local"\nsecret = "hunter2"',
        ("unknown-key", 8, "endpoints.local.secret"),
        "'secret_key_env'",
    ),
    (
        'preset = "local"',
        'url = "http://example.org"',
        ("wrong-value", 7, "endpoints.local.url"),
        "no https address",
    ),
    (
        'preset = "local"',
        'url = "https://example.org"\nrate = "fast"',
        ("wrong-type", 8, "endpoints.local.rate"),
        "is not a number",
    ),
    ("[endpoints.local]", '[endpoints."a b"]', ("wrong-value", 6, 'endpoints."a b"'), "cannot be used here"),
    ('kind = "poll"', 'kind = "pol"', ("no-such-kind", 12, "stages[0].kind"), "Did you mean 'poll'?"),
    ('reward = "0.15"', 'reward = "0.155"', ("wrong-value", 14, "stages[0].reward"), "two decimals"),
    ('reward = "0.15"', "reward = 15", ("wrong-type", 14, "stages[0].reward"), "in quotes"),
    ("redundancy = 3", 'redundancy = "3"', ("wrong-type", 15, "stages[0].redundancy"), "not a whole number"),
    ("redundancy = 3", "redundancy = 0", ("out-of-bounds", 15, "stages[0].redundancy"), "at least 1"),
    ("redundancy = 3", "redundancy = true", ("wrong-type", 15, "stages[0].redundancy"), "true is not"),
    ("redundancy = 3", "redundancy = 2.5", ("wrong-type", 15, "stages[0].redundancy"), "2.5 is not"),
    ("redundancy = 3\n", "", ("missing", 9, "stages[0].redundancy"), "Different people"),
    (
        "redundancy = 3",
        "redundancy = 3\nexpected_minutes = 2.55",
        ("wrong-value", 16, "stages[0].expected_minutes"),
        "at most one decimal",
    ),
    (
        "redundancy = 3",
        "redundancy = 3\nmax_hits_per_worker = 0",
        ("out-of-bounds", 16, "stages[0].max_hits_per_worker"),
        "at least 1",
    ),
    (
        "redundancy = 3",
        'redundancy = 3\nwork_time = "soon"',
        ("wrong-value", 16, "stages[0].work_time"),
        "no duration",
    ),
    (
        "redundancy = 3",
        "redundancy = 3\nwork_time = 30",
        ("wrong-type", 16, "stages[0].work_time"),
        "with its unit",
    ),
    (
        "redundancy = 3",
        'redundancy = 3\nauto_approve_after = "31d"',
        ("out-of-bounds", 16, "stages[0].auto_approve_after"),
        "from 0s to 30d",
    ),
    (
        "redundancy = 3",
        'redundancy = 3\napprove = "never"',
        ("wrong-value", 16, "stages[0].approve"),
        "at-once, by-hand",
    ),
    (
        "redundancy = 3",
        'redundancy = 3\nhold_failed_checks = "yes"',
        ("wrong-type", 16, "stages[0].hold_failed_checks"),
        "true or false",
    ),
    ('op = "In"', 'op = "Inn"', ("wrong-value", 18, "stages[0].eligibility[0].op"), "Did you mean 'In'?"),
    ('op = "In"', 'op = "LessThan"', ("wrong-value", 18, "stages[0].eligibility[0]"), "countries compare"),
    ("values = [95]", 'values = ["95"]', ("wrong-value", 19, "stages[0].eligibility[1]"), "without quotes"),
    ("values = [95]", "values = [95, 96]", ("wrong-value", 19, "stages[0].eligibility[1]"), "with one value"),
    (
        "values = [95]",
        "values = [9.5]",
        ("wrong-type", 19, "stages[0].eligibility[1].values[0]"),
        "not a whole number",
    ),
    ('"CA"', '"Canada"', ("wrong-value", 18, "stages[0].eligibility[0]"), '"US-PA"'),
    (
        'kind = "approval_rate"',
        'kind = "raw"',
        ("wrong-value", 19, "stages[0].eligibility[1]"),
        "the qualification's id",
    ),
    (
        'kind = "approval_rate", op = "GreaterThanOrEqualTo", values = [95]',
        'kind = "group", op = "Exists", values = ["@7"]',
        ("wrong-value", 19, "stages[0].eligibility[1]"),
        "of letters and digits",
    ),
    (
        "values = [95]",
        "vals = [95]",
        ("unknown-key", 19, "stages[0].eligibility[1].vals"),
        "Did you mean 'values'?",
    ),
    ('description = "One question."\n', "", ("missing", 22, "stages[0].task.description"), "in a sentence"),
    ('question = "Which?"\n', "", ("missing", 26, "stages[0].config.question"), "asked about every item"),
    (
        'question = "Which?"',
        'question = "Which?"\nitem = ["x"]',
        ("unknown-key", 28, "stages[0].config.item"),
        "Did you mean 'items'?",
    ),
    (
        'options = ["green", "black"]',
        'options = ["green",\n  1]',
        ("wrong-type", 29, "stages[0].config.options[1]"),
        "1 is not a string",
    ),
    (
        'options = ["green", "black"]',
        'options = ["green"]',
        ("out-of-bounds", 28, "stages[0].config.options"),
        "at least 2 entries",
    ),
]


def test_a_problem_has_its_code_line_and_field_and_says_what_helps(write, subtests):
    for old, new, problem, word in WRONG:
        with subtests.test(field=problem[2], new=new):
            (found,) = problems_of(write, lines_of(GOOD, old, new))
            assert brief([found]) == [problem]
            assert word in str(found)
            assert found.remedy
    text = lines_of(GOOD, 'op = "GreaterThanOrEqualTo", values = [95]', 'op = "Exists", values = [1]')
    (found,) = problems_of(write, text)
    assert "Exists compares with nothing" in found.what


def test_all_problems_are_told_at_once_in_the_order_of_the_file(write):
    text = lines_of(GOOD, 'budget = "25.00"', "budget = 25")
    text = lines_of(text, 'reward = "0.15"', 'rewrad = "0.15"')
    text = lines_of(text, 'title = "Which tea?"', "title = 5")
    text = lines_of(text, 'question = "Which?"', "")  # and the misspelt reward is not missing besides
    assert brief(problems_of(write, text)) == [
        ("wrong-type", 4, "project.budget"),
        ("unknown-key", 14, "stages[0].rewrad"),
        ("wrong-type", 23, "stages[0].task.title"),
        ("missing", 26, "stages[0].config.question"),
    ]


def test_an_unknown_table_or_field_is_named_with_the_closest_known_one(write):
    (found,) = problems_of(write, GOOD + "[endpoint.x]\n")
    assert brief([found]) == [("unknown-key", 29, "endpoint")]
    assert found.remedy == "Did you mean 'endpoints'?"
    text = GOOD.replace('"local"\nreward', '"url"\nreward').replace("[endpoints.local]", "[endpoints.url]")
    assert list(read(write(text)).fields.endpoints) == ["url"]
    (found,) = problems_of(write, text.replace("[endpoints.url]", "[endpoints.url]\nlable = 'x'"))
    assert (found.line, found.remedy) == (7, "Did you mean 'label'?")


def test_what_is_given_twice_is_named_with_both_lines(write):
    for old, new, line, first in (
        ('title = "Tea"', 'slug = "tee"', 3, 2), ("[endpoints.local]", "[project]", 6, 1),
    ):  # fmt: skip
        (found,) = problems_of(write, lines_of(GOOD, old, new))
        assert (found.code, found.line) == ("repeated", line)
        assert f"line {first}" in found.what
    stage = GOOD[GOOD.index("[[stages]]") :]
    (found,) = problems_of(write, GOOD + "\n" + stage)
    assert brief([found]) == [("repeated", 31, "stages[1].slug")]
    found = problems_of(write, GOOD * 40)
    assert len(found) == 21
    assert all(problem.code == "repeated" for problem in found)
    assert "more were given before" in found[-1].what


def test_what_is_no_toml_is_refused_with_its_line(write, tmp_path):
    for text, line in (
        ('[project]\nslug = "tea\n', 2),
        ("[project]\nslug = tea\n", 2),
        ("[project\n", 1),
        ("[project]\n\nbudget = = 5\n", 3),
        ("a = " + "9" * 5000, 1),
        ("[project]\nx = [1,\n2\n", 3),
        ("x = " + "[" * 100_000, 1),
    ):
        (found,) = problems_of(write, text)
        assert (found.code, found.line) == ("not-toml", line)
    (found,) = problems_of(write, b'[project]\nslug = "tea"\ntitle = "Th\xe9"\n')
    assert brief([found]) == [("not-utf8", 3, "")]
    assert "0xe9" in found.what
    (found,) = problems_of(write, b"#" * (LARGEST + 1))
    assert found.code == "too-large"
    for path in (tmp_path / "none.toml", tmp_path):
        with pytest.raises(StudyError) as caught:
            read(str(path))
        assert caught.value.problems[0].code == "unreadable"
    for text in ("", "stages = 5", 'stages = ["x"]', "project = 1", "[stages]\nx = 1", "config = 1"):
        found = problems_of(write, text)[0]
        assert (bool(found.what), bool(found.remedy), found.line) == (True, True, 1), text


def test_a_problem_reads_as_file_line_field_and_a_remedy(write):
    path = write(lines_of(GOOD, "redundancy = 3", "redundancy = 0"))
    with pytest.raises(StudyError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path}:15: stages[0].redundancy: 0: it must be at least 1\n"
        "    Different people who answer each unit."
    )
