"""Load that goes on while the server is killed, as careful clients make it."""

import random
import threading
import time
from collections.abc import Callable, Iterable
from http.client import HTTPException
from typing import Any

from botocore.exceptions import BotoCoreError

from tests.server import RunningServer

UNREACHABLE = (OSError, HTTPException, BotoCoreError, EOFError)


class Storm:
    """What a thread does again and again, until the storm is over."""

    def __init__(self) -> None:
        self.over = threading.Event()
        self.errors: list[Exception] = []

    def count_answers(self) -> int:
        """How many answers of workers were acknowledged."""
        raise NotImplementedError

    def insist(self, act: Callable[[], Any]) -> Any:
        """The act's result, tried again after every lost connection."""
        while True:
            try:
                return act()
            except UNREACHABLE:
                time.sleep(0.05)

    def _guarded(self, work: Callable[..., None], *arguments: Any) -> None:
        try:
            while not self.over.is_set():
                work(*arguments)
        except Exception as error:
            self.errors.append(error)
            raise

    def _wait_for_answers(self, number: int) -> None:
        goal, end = self.count_answers() + number, time.monotonic() + 60
        while self.count_answers() < goal and not self.errors:
            assert time.monotonic() < end, f"no progress: {self.count_answers()} of {goal}"
            time.sleep(0.005)

    def rage(
        self, server: RunningServer, works: Iterable[tuple[Any, ...]], kills: int, chance: random.Random
    ) -> None:
        """Each work in a thread of its own, while the server is killed at so many random moments."""
        threads = [threading.Thread(target=self._guarded, args=work) for work in works]
        for thread in threads:
            thread.start()
        for _ in range(kills):
            self._wait_for_answers(6)
            time.sleep(chance.uniform(0, 0.1))
            server.kill()
            server.start()
        self._wait_for_answers(6)
        self.over.set()
        for thread in threads:
            thread.join(timeout=60)
        assert self.errors == []
