"""What becomes of an embedded index when its writer is killed or the disk is full: processes of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from retrieval.engine.files import Pointer
from retrieval.engine.tantivy_engine import TantivyEngine, translate_error
from retrieval.errors import IndexBrokenError, NoRoomError
from tests.retrieval.engine.test_engine import CATS, found

ROOT = Path(__file__).resolve().parents[3]
WRITER = """
import itertools, sys
from pathlib import Path
from retrieval.engine import tantivy_engine
tantivy_engine.COMMIT_EVERY = 50
engine = tantivy_engine.TantivyEngine(Path(sys.argv[1]), "en")
def passages(first):
    return [(number, f"cat number {number}") for number in range(first, first + 20)]
for first in itertools.count(1, 20):
    engine.index(passages(first))
    print(first + 19, flush=True)
"""
FULL = """
import resource, sys
from pathlib import Path
from retrieval.engine.tantivy_engine import TantivyEngine
from retrieval.errors import NoRoomError
engine = TantivyEngine(Path(sys.argv[1]), "en", what="the test index")
resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, resource.RLIM_INFINITY))
many = [(number, " ".join(f"word{number * 50 + at}" for at in range(50))) for number in range(10, 400)]
try:
    getattr(engine, sys.argv[2])(many)
except NoRoomError as error:
    print(error)
"""


@pytest.fixture
def kind():
    return "tantivy"


def started(script, *arguments):
    return subprocess.Popen(
        [sys.executable, "-c", script, *map(str, arguments)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_killed_writer_loses_no_passage_it_has_acknowledged_and_the_next_goes_on(tmp_path):
    folder = tmp_path / "index"
    writer = started(WRITER, folder)
    try:
        acknowledged = [int(writer.stdout.readline()) for _ in range(5)][-1]
        writer.send_signal(signal.SIGKILL)
        rest, _ = writer.communicate(timeout=30)
    finally:
        writer.kill()
    acknowledged = max([acknowledged, *map(int, rest.split())])
    engine = TantivyEngine(folder, "en")
    highest = engine.highest()
    assert highest >= acknowledged
    assert engine.count() == highest
    assert engine.index([(highest + 1, "One more cat.")]) == 1
    assert engine.count() == highest + 1


def test_a_writer_that_is_killed_in_the_middle_of_a_rebuild_leaves_the_old_generation(engine):
    engine.index(CATS)
    script = WRITER.replace("engine.index(passages(first))", "engine.rebuild(slowly())").replace(
        "def passages",
        "import time\ndef slowly():\n"
        "    for number in itertools.count(1):\n"
        "        if number == 6_000: print('going on', flush=True); time.sleep(60)\n"
        "        yield number, f'cat {number}'\n"
        "def passages",
    )
    writer = started(script, engine._files.path)
    try:
        assert writer.stdout.readline() == "going on\n"
        assert (engine._files.path / "g2").is_dir()
    finally:
        writer.kill()
        writer.communicate(timeout=30)
    assert (found(engine, "cats"), engine.generation()) == ([2, 1], 1)
    assert engine.rebuild(CATS) == 3
    assert sorted(path.name for path in engine._files.path.glob("g*")) == ["g3"]


def test_files_of_a_first_build_that_was_killed_are_no_index(engine, engine_for):
    engine.index(CATS)
    (engine._files.path / "current").unlink()
    again = engine_for()
    assert again.generation() == 0
    assert again.index(CATS[:1]) == 1
    assert (again.count(), again.generation()) == (1, 2)
    assert engine._files.current() == Pointer(2, "english-1")


@pytest.mark.parametrize("method", ["index", "rebuild"])
def test_where_no_more_may_be_written_it_says_so_and_the_index_is_as_it_was(engine, method):
    """A limit on the size of files is what a full disk looks like to a process."""
    engine.index(CATS)
    writer = started(FULL, engine._files.path, method)
    out, err = writer.communicate(timeout=60)
    assert err == ""
    assert "the test index cannot be written: the disk with" in out
    assert out.endswith("Make room and try again; what the index held before it still holds.\n")
    assert (found(engine, "cats"), engine.count(), engine.generation()) == ([2, 1], 3, 1)
    assert engine.index([(4, "A fourth cat.")]) == 1


@pytest.mark.parametrize(
    ("error", "kind_of_error"),
    [
        (ValueError("An IO error occurred: 'No space left on device (os error 28)'"), NoRoomError),
        (ValueError("An IO error occurred: 'Disk quota exceeded (os error 122)'"), NoRoomError),
        (OSError(28, os.strerror(28)), NoRoomError),
        (ValueError("An IO error occurred: 'Input/output error (os error 5)'"), IndexBrokenError),
        (ValueError("An error occurred in a thread: 'Worker thread failed.'"), IndexBrokenError),
    ],
)
def test_a_full_disk_is_told_from_damage(error, kind_of_error, tmp_path):
    assert type(translate_error("It cannot be written", error, tmp_path / "not there")) is kind_of_error


def test_a_thread_that_died_with_no_room_left_died_of_it(tmp_path, monkeypatch):
    monkeypatch.setattr("retrieval.engine.tantivy_engine.LEAST_ROOM", 2**62)
    error = ValueError("An error occurred in a thread: 'Worker thread failed.'")
    assert type(translate_error("It cannot be written", error, tmp_path)) is NoRoomError
