"""Keeping a lease while its owner works: said again from a thread beside the work."""

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator

from django.db import Error as DatabaseTrouble
from django.db import connection

logger = logging.getLogger(__name__)


@contextlib.contextmanager
def heartbeats(
    renew: Callable[[], bool],
    *,
    every: Callable[[], float],
    name: str,
    after: Callable[[threading.Event], None],
) -> Iterator[None]:
    """Call `renew` after `every()` seconds, again and again, until the block ends or it returns False.

    `after` is called then, in the same thread, with the event that the end of the block sets. A database that
    does not answer is asked again at the next time.
    """
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(every()):
            try:
                if not renew():
                    after(ended)
                    return
            except DatabaseTrouble:
                logger.warning("The %s failed once.", name, exc_info=True)
            finally:
                connection.close()

    thread = threading.Thread(target=beat, name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
