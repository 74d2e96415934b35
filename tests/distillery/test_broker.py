"""The embedded broker: whole messages, each to one reader."""

import shutil
import threading
from collections import Counter
from queue import Empty

import pytest
from kombu import Connection
from kombu.exceptions import ChannelError


@pytest.fixture
def connect(tmp_path):
    for name in ("queue", "control", "taken"):
        (tmp_path / name).mkdir()
    options = {
        "data_folder_in": str(tmp_path / "queue"),
        "data_folder_out": str(tmp_path / "queue"),
        "control_folder": str(tmp_path / "control"),
        "processed_folder": str(tmp_path / "taken"),
    }
    made = []

    def connect():
        connection = Connection(
            "filesystem://localhost", transport="distillery.celery:Transport", transport_options=options
        )
        made.append(connection)
        return connection.default_channel

    yield connect
    for connection in made:
        connection.release()


def test_messages_come_out_in_the_order_they_went_in_and_a_folder_that_is_gone_is_said(connect, tmp_path):
    channel = connect()
    for number in range(12):
        channel._put("work", {"number": number})
    channel._put("other", {"number": -1})
    assert channel._size("work") == 12
    assert [channel._get("work")["number"] for _ in range(12)] == list(range(12))
    with pytest.raises(Empty):
        channel._get("work")
    channel = connect()
    shutil.rmtree(tmp_path / "queue")
    with pytest.raises(ChannelError, match="could not be written"):
        channel._put("work", {})


def test_quick_readers_get_each_message_whole_and_once(connect, tmp_path):
    writers, readers, each = 2, 3, 200
    got: Counter[tuple[int, int]] = Counter()
    finished = threading.Event()
    troubles = []

    def write(channel, writer):
        for number in range(each):
            channel._put("work", {"writer": writer, "number": number, "filling": "x" * 5000})

    def read(channel):
        while True:
            last_round = finished.is_set()
            try:
                message = channel._get("work")
                got[message["writer"], message["number"]] += 1
            except Empty:
                if last_round:
                    return
            except Exception as trouble:
                troubles.append(trouble)

    reading = [threading.Thread(target=read, args=[connect()]) for _ in range(readers)]
    writing = [threading.Thread(target=write, args=[connect(), number]) for number in range(writers)]
    for thread in [*reading, *writing]:
        thread.start()
    for thread in writing:
        thread.join()
    finished.set()
    for thread in reading:
        thread.join()
    assert troubles == []
    assert set(got.values()) == {1}
    assert len(got) == writers * each
    assert list((tmp_path / "taken").iterdir()) == []
