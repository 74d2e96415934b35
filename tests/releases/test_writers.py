"""Formats are written beside the reading: table by table as they come, or nothing is left running."""

import threading

import pytest

from core.progress import silent
from releases.formats import mteval
from releases.formats.writer import FormatWriters, StoppedError
from tests.releases.literal import source
from tests.releases.test_datacards import ROWS


def none_is_left() -> bool:
    return not [each for each in threading.enumerate() if each.name.startswith("format")]


def test_tables_that_come_one_after_the_other_give_the_same_files(tmp_path):
    given, names = source(**ROWS), ("csv", "parquet", "msmarco", "mt-metrics-eval")
    written = []
    for folder in (tmp_path / "one", tmp_path / "two"):
        folder.mkdir()
        with FormatWriters(names, folder, given) as writers:
            for filled in given.tables.values():
                writers.add(filled)
            written.append(writers.finish(silent))
    files = [
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "one", tmp_path / "two")
    ]
    assert files[0] == files[1]
    assert written[0] == written[1]
    assert none_is_left()


def test_who_stops_before_all_is_read_leaves_no_thread(tmp_path):
    given = source(**ROWS)
    with pytest.raises(KeyboardInterrupt), FormatWriters(("csv", "msmarco"), tmp_path, given) as writers:
        writers.add(given.tables["references"])
        raise KeyboardInterrupt
    assert none_is_left()


def test_what_fails_in_a_pass_is_raised(tmp_path, monkeypatch):
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(mteval._Writer, "add", no_space)
    given = source(**ROWS)
    with (
        pytest.raises(OSError, match="No space left"),
        FormatWriters(("csv", "mt-metrics-eval"), tmp_path, given) as writers,
    ):
        for filled in given.tables.values():
            writers.add(filled)
        writers.finish(silent)
    assert none_is_left()


def test_progress_may_end_the_work(tmp_path):
    def stop(*_: object) -> None:
        raise StoppedError

    given = source(**ROWS)
    with pytest.raises(StoppedError), FormatWriters(("csv", "msmarco"), tmp_path, given) as writers:
        for filled in given.tables.values():
            writers.add(filled)
        writers.finish(stop)
    assert none_is_left()
