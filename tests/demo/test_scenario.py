"""The scenario of the live demonstration: its steps can be done, and its files are the samples'."""

import json
import shlex
import tomllib
from pathlib import Path

import pytest
from django.core.management import get_commands

from distillery.demo.campaigns import CANDIDATES, DECISIONS, SAMPLE, STUDIES, VISITS

STEPS = tomllib.loads((STUDIES / "scenario.toml").read_text("utf-8"))["steps"]


def read_lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step[1].split(" --")[0])
def test_a_step_is_a_command_or_what_people_do(step):
    words, line, *options = step
    name, *arguments = shlex.split(line)
    assert words
    assert name in VISITS or name in DECISIONS or name in get_commands()
    assert not options or name in DECISIONS
    for word in arguments:
        path = Path(word.format(here="/nowhere", studies=STUDIES, sample=SAMPLE))
        assert path.exists() or not word.startswith(("{studies}", "{sample}")), word


def test_the_log_is_the_samples_with_what_is_true_of_systems_answers():
    """For simulated judges who read."""
    expected = {row["id"]: row for row in read_lines(SAMPLE / "queries.jsonl")}
    for row in expected.values():
        row["truth"] |= {"scores": {}, "scale": [1, 5]}
    for row in read_lines(CANDIDATES):
        expected[row["query_id"]]["truth"]["scores"][row["system"]] = row["truth"]
    logs = ("first-log.jsonl", "second-log.jsonl", "later-queries.jsonl")
    rows = [row for name in logs for row in read_lines(STUDIES / name)]
    assert sorted(rows, key=lambda row: row["id"]) == sorted(expected.values(), key=lambda row: row["id"])
