"""docs/evaluate.md names every option and every field."""

from argparse import ArgumentParser
from pathlib import Path

import pytest

from evaluations.file_table import FIELDS
from evaluations.management.commands import evaluate, score

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "evaluate.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("command", [score, evaluate], ids=["score", "evaluate"])
def test_every_option_is_documented(command):
    parser = ArgumentParser()
    command.Command().add_arguments(parser)
    options = [each for action in parser._actions for each in action.option_strings if each.startswith("--")]
    assert [each for each in options if each not in PAGE and each not in ("--help", "--tokenizer")] == []


def test_every_field_is_documented():
    assert [field for field in FIELDS if f"`{field}`" not in PAGE] == []
