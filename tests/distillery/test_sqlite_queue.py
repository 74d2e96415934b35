"""Writers on SQLite stand in line: none sleeps while the database is free, none waits for the dead."""

import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from django.db import connection, transaction

from tests.server import ROOT

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.only_on("sqlite")]
HOLD_FOR_EVER = """
import os, time, django
django.setup()
from django.db import connection, transaction
connection.settings_dict["NAME"] = os.environ["DATABASE_FILE"]
with transaction.atomic():
    print("held", flush=True)
    time.sleep(60)
"""


def begin_and_end(times: list[float]) -> None:
    try:
        with transaction.atomic():
            times.append(time.monotonic())
    finally:
        connection.close()


def test_a_waiting_writer_goes_on_when_the_other_is_done():
    began: list[float] = []
    waiting = threading.Thread(target=begin_and_end, args=[began])
    with transaction.atomic():
        waiting.start()
        time.sleep(0.4)
        assert not began
    done = time.monotonic()
    waiting.join()
    assert began[0] - done < 0.1


def test_many_writers_all_get_their_turn():
    began: list[float] = []
    threads = [threading.Thread(target=begin_and_end, args=[began]) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(began) == 20


def test_a_failed_transaction_lets_the_next_one_in():
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        raise ZeroDivisionError
    began: list[float] = []
    thread = threading.Thread(target=begin_and_end, args=[began])
    thread.start()
    thread.join(timeout=5)
    assert began


def test_a_killed_writer_holds_nobody_up():
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "distillery.settings",
        "DATABASE_FILE": str(connection.settings_dict["NAME"]),
    }
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD_FOR_EVER], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    other.send_signal(signal.SIGKILL)
    other.wait()
    other.stdout.close()
    started = time.monotonic()
    with transaction.atomic():
        assert time.monotonic() - started < 1
