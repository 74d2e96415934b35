"""Tables on their way to disk: written in a thread of their own, whole and in order, or not at all."""

import threading

import pytest

from core.progress import silent
from releases import release_content as spools
from releases.release_content import spooled
from releases.tables import ANSWERS, FilledTable


def rows_of(first, count):
    """Rows of answers whose first column counts; the others are empty."""
    split = ANSWERS.place("split")
    rows = []
    for number in range(first, first + count):
        row = [None] * len(ANSWERS.names)
        row[0], row[split] = f"row-{number}", ("train", "test")[number % 2]
        if "simulated" in ANSWERS.names:
            row[ANSWERS.place("simulated")] = number % 5 == 0
        rows.append(tuple(row))
    return rows


def batches():
    for first in range(0, 1_000, 100):
        yield rows_of(first, 100)


def test_all_rows_come_back_in_their_order_and_are_counted(tmp_path):
    spool = spooled({"answers": FilledTable(ANSWERS, batches)}, tmp_path, silent)
    assert [row for batch in spool.tables["answers"].batches() for row in batch] == rows_of(0, 1_000)
    assert spool.rows == {"answers": {"train": 500, "test": 500}}
    lines = (tmp_path / "lines" / "answers-test.jsonl").read_text(encoding="utf-8").splitlines()
    assert [line.partition(":")[2].partition(",")[0] for line in lines] == [
        f'"row-{number}"' for number in range(1, 1_000, 2)
    ]


def test_what_fails_while_writing_is_raised_and_no_thread_is_left(tmp_path, monkeypatch):
    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(spools, "_store", no_space)
    before = threading.active_count()
    with pytest.raises(OSError, match="No space left"):
        spooled({"answers": FilledTable(ANSWERS, batches)}, tmp_path, silent)
    assert threading.active_count() == before


def test_the_last_batch_that_fails_is_raised_too(tmp_path, monkeypatch):
    def no_space(file, batch):
        if batch[0][0] == "row-900":
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(spools, "_store", no_space)
    with pytest.raises(OSError, match="No space left"):
        spooled({"answers": FilledTable(ANSWERS, batches)}, tmp_path, silent)


def test_reading_waits_for_a_slow_disk_so_that_memory_holds_a_few_batches(tmp_path, monkeypatch):
    read, most, enough = [], [], threading.Event()

    def counted():
        for batch in batches():
            read.append(len(batch))
            if len(read) > spools._AHEAD:
                enough.set()
            yield batch

    def slow(_file, _batch):
        # As far as reading goes on while the first batch is written; then no disk is slow any more.
        assert enough.wait(60)
        most.append(len(read))

    monkeypatch.setattr(spools, "_store", slow)
    spooled({"answers": FilledTable(ANSWERS, counted)}, tmp_path, silent)
    assert most[0] == spools._AHEAD + 1
    assert all(there - written <= spools._AHEAD + 1 for written, there in enumerate(most))
    assert len(most) == 10


def test_who_stops_the_reading_is_heard_and_the_files_are_closed(tmp_path):
    class StopError(Exception):
        pass

    def progress(done: int, _total: int, _note: str) -> None:
        if done >= 300:
            raise StopError

    with pytest.raises(StopError):
        spooled({"answers": FilledTable(ANSWERS, batches)}, tmp_path, progress)
    assert not [each for each in threading.enumerate() if each.name.startswith("spool")]
