"""One value may be as long as a file: it is refused in words before memory is spent on it."""

import pytest

from tests.memory import measured

READ = """
import sys
from pathlib import Path
from core.files.json_objects import read_json_lines, read_json_records
from core.files.refusals import FileRefusedError
from core.files.text_source import TextSource
read = read_json_records if sys.argv[1] == "json" else read_json_lines
try:
    for line, _ in read(TextSource(Path(sys.argv[2])), lambda line, why: print(line, why)):
        print(line, "read")
except FileRefusedError as error:
    print(str(error).rpartition("/")[2])
"""
MI = 2**20
#: A format, what a value is made of and how often, and what is said of its file.
CASES = [
    ("jsonl", '"', "a", 64 * MI, "2 The line is longer than 8,388,608 bytes."),
    ("jsonl", '"', "\N{GRINNING FACE}", 64 * MI // 4, "2 The line is longer than 8,388,608 bytes."),
    ("jsonl", "[", '{"":0},', 8 * MI // 7 - 99, "2 The line holds more than 200,000 objects and lists."),
    ("json", '"', "a", 64 * MI, "a value is longer than 6,291,456 characters"),
    ("json", '"', "\N{GRINNING FACE}", 64 * MI // 4, "a value is longer than 6,291,456 characters"),
    ("json", "[", '{"":0},', 6 * MI // 7 - 99, "2 read"),
]


@pytest.mark.parametrize(("form", "opens", "part", "times", "says"), CASES)
def test_a_long_value_takes_less_than_300_mib(tmp_path, form, opens, part, times, says):
    path = tmp_path / "log"
    with path.open("w", encoding="utf-8") as file:
        file.write('{"id": "a"}\n{"id": ' if form == "jsonl" else '[{"id": "a"}, {"id": ')
        file.write(opens)
        for _ in range(16):
            file.write(part * (times // 16))
        file.write('"}' if opens == '"' else "0]}")
        file.write("\n" if form == "jsonl" else "]")
    found = measured(READ, form, path)
    assert says in found.said
    assert found.own < 300
