"""What long work shows: a bar on a terminal, an element in a notebook, nothing in a file."""

import io
import sys
from types import SimpleNamespace

import httpx
import pytest
from distillery_client import Client, ProgressUpdate, progress


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass only when a test says so."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


@pytest.fixture
def terminal(monkeypatch):
    stream = Terminal()
    # pytest gives sys.stderr back before the test begins
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=stream, modules=sys.modules))
    monkeypatch.setenv("COLUMNS", "80")
    return stream


def test_a_terminal_gets_a_bar_that_is_gone_in_the_end(terminal, clock):
    with progress.shown_progress(None) as show:
        clock[0] += 1
        show(ProgressUpdate("Fetching a.jsonl", 1_200_000, 4_800_000, is_bytes=True))
        assert terminal.getvalue() == (
            "\r\033[KFetching a.jsonl [######..................] 25 %, 1.2 of 4.8 MB"
        )
    assert terminal.getvalue().endswith("\r\033[K")


def test_quick_work_shows_nothing_and_long_work_not_more_than_ten_times_a_second(terminal, clock):
    with progress.shown_progress(None) as show:
        show(ProgressUpdate("Job 1", 0, 9))
    assert terminal.getvalue() == ""
    with progress.shown_progress(None) as show:
        for done in range(100):
            clock[0] += 0.02
            show(ProgressUpdate("Job 1", done, 100))
    assert 10 <= terminal.getvalue().count("Job 1") <= 20


def test_a_file_gets_nothing_unless_it_is_asked_for(monkeypatch, clock):
    monkeypatch.setattr(sys, "stderr", stream := io.StringIO())
    for wish in (None, False, True):
        with progress.shown_progress(wish) as show:
            clock[0] += 1
            show(ProgressUpdate("Job 1", 3, 0, "Reading"))
        assert bool(stream.getvalue()) == (wish is True)


def test_names_and_notes_cannot_steer_a_terminal_or_a_page(terminal, clock, monkeypatch):
    hostile = ProgressUpdate("a\x1b]0;b\n<script>", 1, 2, "c\r<b>")
    with progress.shown_progress(None) as show:
        clock[0] += 1
        show(hostile)
    line = terminal.getvalue().removesuffix("\r\033[K").removeprefix("\r\033[K")
    assert line.isprintable() and len(line) < 80
    shown = []
    display = progress.NotebookDisplay()
    monkeypatch.setattr(display, "_show", shown.append)
    display.draw(hostile)
    assert "<script>" not in shown[0] and '<progress value="0.5000">' in shown[0]


def test_a_function_is_called_with_each_step_of_a_job(monkeypatch):
    monkeypatch.setattr("distillery_client.client.time.sleep", lambda _: None)
    job = {
        "id": 7, "kind": "releases.build", "state": "running", "progress_done": 1, "progress_total": 2,
        "progress_note": "Writing", "result": None, "error": "", "attempts": 1, "max_attempts": 3,
        "created_at": "2026-11-25T00:00:00Z", "started_at": None, "finished_at": None,
    }  # fmt: skip
    answers = [{**job, "state": "queued", "progress_note": ""}, job, {**job, "state": "done"}]
    told = []
    with Client(
        "http://there",
        "dst_x",
        progress=told.append,
        transport=httpx.MockTransport(lambda _: httpx.Response(200, json=answers.pop(0))),
    ) as client:
        client.project("tea").wait(7, label="Building")
    assert told == [
        ProgressUpdate("Building", 1, 2, "waiting for a worker"),
        ProgressUpdate("Building", 1, 2, "Writing"),
        ProgressUpdate("Building", 1, 2, "Writing"),
    ]


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (ProgressUpdate("x", 5, 20), "25 %, 5 of 20"),
        (ProgressUpdate("x", 5_000), "5,000"),
        (ProgressUpdate("x", 999, 0, is_bytes=True), "999 B"),
        (ProgressUpdate("x", 3, 2_500_000_000, is_bytes=True), "0 %, 0.0 of 2.5 GB"),
        (ProgressUpdate("x", 0, 0, "Reading"), "Reading"),
    ],
)
def test_numbers_are_read_at_a_glance(update, words):
    assert update.describe() == words
