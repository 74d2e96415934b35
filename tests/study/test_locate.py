"""From a field's path to its line."""

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crowd.study.explain import Locator, Repeat, spelled

TEXT = '''# a study
[project]
slug = "tea"          # on line 3
"quoted key" = 1
'literal [key]' = 2
dotted.inner."deep down" = 3

[project.members]
mira = "owner"

[[stages]]
slug = "first"
options = [
  "one", # with a comment, and a "]"
  "two]",
  ["nested", "list"],
]
[stages.task]
title = """
Several
lines # no comment
[no.header]
"""
after = 1
[[stages.rules]]
kind = "a"
[[stages.rules]]
kind = "b"

[[stages]]
slug = "second"
task = { title = "x", inner = { deep = [
  1, { last = true },
] } }
rules = [{ kind = "c" }, { kind = "d" }]
text = \'\'\'
slug = "not here"
\'\'\'
end = 1979-05-27 07:32:00
'''

LINES = {
    ("project",): 2,
    ("project", "slug"): 3,
    ("project", "quoted key"): 4,
    ("project", "literal [key]"): 5,
    ("project", "dotted", "inner", "deep down"): 6,
    ("project", "members", "mira"): 9,
    ("stages",): 11,
    ("stages", 0): 11,
    ("stages", 0, "slug"): 12,
    ("stages", 0, "options", 0): 14,
    ("stages", 0, "options", 1): 15,
    ("stages", 0, "options", 2, 1): 16,
    ("stages", 0, "task"): 18,
    ("stages", 0, "task", "title"): 19,
    ("stages", 0, "task", "after"): 24,
    ("stages", 0, "rules", 0, "kind"): 26,
    ("stages", 0, "rules", 1): 27,
    ("stages", 0, "rules", 1, "kind"): 28,
    ("stages", 1): 30,
    ("stages", 1, "slug"): 31,
    ("stages", 1, "task", "title"): 32,
    ("stages", 1, "task", "inner", "deep", 1, "last"): 33,
    ("stages", 1, "rules", 1, "kind"): 35,
    ("stages", 1, "text"): 36,
    ("stages", 1, "end"): 39,
}


def test_every_field_is_found_on_its_line():
    for text in (TEXT, TEXT.replace("\n", "\r\n")):
        locator = Locator(text)
        assert {path: locator.line(path) for path in LINES} == LINES


def test_a_missing_field_is_where_the_table_around_it_begins_and_texts_hold_none():
    locator = Locator(TEXT)
    assert locator.line(("stages", 0, "task", "description")) == 18
    assert locator.line(("stages", 1, "reward")) == 30
    assert locator.line(("endpoints", "local")) == 1
    assert ("stages", 0, "task", "no") not in locator.lines
    assert ("no", "header") not in locator.lines
    locator = Locator('a = """x"""""\nb = \'\'\'y\'\'\'\'\nc = """\\""""\nd = ""\ne = """"""\nf = 1\n')
    assert [locator.line((key,)) for key in "abcdef"] == [1, 2, 3, 4, 5, 6]
    assert spelled(("stages", 0, "config", "checks", 'say "a"')) == r'stages[0].config.checks."say \"a\""'


def test_what_is_given_twice_is_known_with_both_lines():
    for text, repeat in (
        ('a = 1\nb = 2\na = """\n"""\n', Repeat(("a",), 1, 3)),
        ("[t]\nx = 1\n[u]\n[t]\n", Repeat(("t",), 1, 4)),
        ("[[s]]\nx = 1\n[s.t]\n[[s]]\n[s.t]\n[s.t]\n", Repeat(("s", 1, "t"), 5, 6)),
        ("a = {b = 1,\tb = 2}\n", Repeat(("a", "b"), 1, 1)),
    ):
        with pytest.raises(tomllib.TOMLDecodeError):
            tomllib.loads(text)
        assert Locator(text).repeats == [repeat]
    assert Locator("[a.b]\nx = 1\n[a]\ny = 2\n").repeats == [], "a table may come after its inner one"


def test_what_is_no_toml_ends_the_search_without_an_error():
    for text in ("= 1", "a", "a = ", "[a", "[[a]", "a = [1, 2", 'a = "x', "a = {b", "é = 1", "]",
                 f"x = {'[' * 100_000}"):  # fmt: skip
        assert Locator(f"first = 1\n{text}").line(("first",)) == 1


@given(st.text(alphabet="ab[]{}\"'=.,#\n \\1", max_size=60))
def test_no_text_breaks_the_search(text):
    locator = Locator(text)
    try:
        data = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    assert set(paths_of(data)) <= set(locator.lines)
    assert locator.repeats == []


def paths_of(value, path=()):
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in inside:
        yield (*path, key)
        yield from paths_of(inner, (*path, key))
