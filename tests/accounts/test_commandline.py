"""What commands of all apps read alike."""

from argparse import ArgumentTypeError
from pathlib import Path

import pytest
from django.core.management.base import CommandError

from core.accounts.commandline import natural, outputs, pairs


def test_pairs_are_read_without_the_spaces_around_them_or_refused():
    assert pairs("--set", ["a = 1", "b=x=y", "c="]) == {"a": "1", "b": "x=y", "c": ""}
    for given, said in (
        (["a"], "--set 'a' is not of the form NAME=VALUE."),
        (["=1"], "--set '=1' is not of the form NAME=VALUE."),
        (["a=1", "a=2"], "--set names a twice."),
    ):
        with pytest.raises(CommandError) as error:
            pairs("--set", given)
        assert str(error.value) == said


def test_a_natural_number_has_digits_only_and_not_endless_ones():
    assert natural("0042") == 42
    for text in ("-1", "1.5", "", "9" * 30):
        with pytest.raises(ArgumentTypeError, match="is no whole number from 0"):
            natural(text)


def test_files_to_write_are_different_and_in_folders_that_are_there(tmp_path: Path):
    source, there, away = tmp_path / "in.csv", tmp_path / "out.csv", tmp_path / "none" / "out.csv"

    def asked(**options: Path | None) -> dict[str, Path]:
        return outputs(options, ("out", "json"), source=source, what="the table")

    assert asked(out=there, json=None) == {"out": there}
    for options, said in (
        ({"out": source, "json": None}, "would overwrite the table"),
        ({"out": there, "json": there}, "would overwrite --out"),
        ({"out": tmp_path, "json": None}, "is a folder"),
        ({"out": away, "json": None}, "there is no folder"),
    ):
        with pytest.raises(CommandError, match=said):
            asked(**options)
