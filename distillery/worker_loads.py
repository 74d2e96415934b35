"""How many connections each process of the web server has, seen by all of them.

All processes accept from one socket, and whichever wakes first takes the next connection. A client that
stays connected stays with its process: of four such clients, one process often had three or all, while
another core had nothing to do. So a process that has more connections than another lets that one go first.
"""

import mmap
import time

#: Processes that can be told apart; a later one takes the place of one that has long ended.
PLACES = 64
#: How often, and how long each time, a process lets the others go first. One that is idle wakes in a tenth
#: of this; on a machine with more to do than it can, the other may not come to it, and then it does not wait.
PRECEDENCES, PRECEDENCE_SECONDS = 3, 0.001


class WorkerLoads:
    """Open connections by process; made before processes are forked, and shared by them.

    A process is known by a number, such as gunicorn's count of those it has started.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, PLACES * 4)
        #: One more than the connections; 0 where no process takes any.
        self._held = memoryview(self._memory).cast("I")

    def note(self, process: int, connections: int) -> None:
        """A process that accepts connections has so many."""
        self._held[process % PLACES] = max(connections, 0) + 1

    def forget(self, process: int) -> None:
        """A process accepts no more connections."""
        self._held[process % PLACES] = 0

    def goes_first(self, process: int) -> bool:
        """Whether no other process has fewer connections than this one."""
        held = self._held[process % PLACES]
        return held <= min(filter(None, self._held), default=held)

    def let_freer_go_first(self, process: int) -> None:
        """Wait a moment while another process has fewer connections: it may take the next one."""
        for _ in range(PRECEDENCES):
            if self.goes_first(process):
                return
            time.sleep(PRECEDENCE_SECONDS)


#: Those of this web server.
LOADS = WorkerLoads()
