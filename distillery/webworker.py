"""The worker of the web server: a request is given a thread when it has arrived, not while it arrives.

gunicorn's threaded worker gives a connection a thread with its first byte, and waits in that thread for the
rest: sixteen clients that send one byte a second, or fall silent, stop a site of sixteen threads. Here the
loop that accepts connections also reads them, without waiting for any, and closes those that are too slow.
What is longer than a form is read by a thread, but by at most half of them at a time, and against a clock.
"""

import contextlib
import errno
import resource
import select
import socket
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from functools import partial
from selectors import EVENT_READ
from typing import Any

from gunicorn import http  # type: ignore[import-untyped]
from gunicorn.http import wsgi  # type: ignore[import-untyped]
from gunicorn.http.unreader import SocketUnreader  # type: ignore[import-untyped]
from gunicorn.workers.gthread import TConn, ThreadWorker  # type: ignore[import-untyped]

from distillery import gunicorn_conf, lifeline
from distillery.worker_loads import LOADS

# Visitors are not told which server answers.
wsgi.SERVER = "Distillery"

#: The head of a request is complete within this time, counted from its connection or its first byte.
HEAD_SECONDS = 10.0
#: A body has this long, and beyond that comes at the least rate.
BODY_SECONDS = 15.0
LEAST_BYTES_PER_SECOND = 10_240
#: A thread waits this long for the next piece of a long body, and for a client to take a piece of an answer.
PIECE_SECONDS = 15.0
ANSWER_SECONDS = 60.0
#: No head is longer; gunicorn's own limits, from the configuration, are far below it.
LONGEST_HEAD = 65_536
#: Bodies up to this size are read before a thread sees them.
READ_AHEAD = 256 * 1024
#: All that one process holds of requests that have not arrived.
MOST_HELD = 64 * 1024 * 1024
#: Bodies of more bytes are refused unread, but for pages that take files: as the settings have it
#: (ANONYMOUS_BODY_MOST, UPLOADS_BELOW, UPLOADS_BY_SIGNATURE, UPLOADS_BY_TOKEN), not known yet where gunicorn
#: loads this.
LONGEST_BODY = 5 << 20
TAKING_FILES = ("/desk/", "/requester/", "/admin/", "/uploads/", "/api/v1/")
#: A stopping process waits so long for clients that have connected and said nothing; others keep their time.
STOP_SILENT_SECONDS = 5.0
#: How long a closed connection is kept so that the client reads the whole answer.
LINGER_SECONDS = 2.0
LOOK_EVERY_SECONDS = 0.5
#: Answers up to about this size need no thread while a slow client reads them.
SEND_BUFFER = 512 * 1024
#: So long a thread waits for the next request of a client it has just answered, before the loop does:
#: browsers and scripts ask again at once, and the way over the loop is a good part of a short request.
NEXT_MILLISECONDS = 5
#: Answers up to this length go out together with their heads.
SENT_AT_ONCE = 64 * 1024
#: Open files of a process, of which each connection is one, where the system allows so many.
MOST_FILES = 65_536
_PIECE = 65_536


class TooSlowError(TimeoutError):
    """A client does not send its request, or does not take its answer."""


@dataclass(slots=True)
class Arrival:
    """A request on its way: what has come of it, and by when the rest must."""

    deadline: float
    received: bytearray = field(default_factory=bytearray)
    head_ends: int = -1
    #: Bytes of the whole request; None until the head is there.
    expected: int | None = None
    #: A thread has to read the body.
    long: bool = False

    @property
    def complete(self) -> bool:
        """Everything is there that is waited for."""
        return self.expected is not None and len(self.received) >= self.expected

    def take(self, data: bytes) -> None:
        """More bytes; the head is understood as soon as it is whole."""
        searched = max(0, len(self.received) - 3)  # the empty line may come in two pieces
        self.received += data
        if self.head_ends < 0:
            found = self.received.find(b"\r\n\r\n", searched)
            if found >= 0:
                self.head_ends = found + 4
                self._understand()

    def _understand(self) -> None:
        """How long the request is. What is odd about a head is left to gunicorn, which refuses it at once."""
        length, expects, odd = 0, False, False
        for line in bytes(self.received[: self.head_ends]).split(b"\r\n")[1:]:
            name, _, value = line.partition(b":")
            name = name.strip().lower()
            if name == b"content-length":
                odd = odd or length > 0 or not value.strip().isdigit()
                length = 0 if odd else int(value)
            # Chunks without a length, or a body that comes only when it is asked for: a thread sees to it.
            expects = expects or name in (b"expect", b"transfer-encoding")
        if odd:
            length = 0
        self.long = expects or length > READ_AHEAD
        self.expected = self.head_ends + (0 if self.long else length)
        if length > LONGEST_BODY and not self.path.startswith(TAKING_FILES):
            raise TooLongError
        if not self.long:
            self.deadline += BODY_SECONDS + length / LEAST_BYTES_PER_SECOND

    @property
    def path(self) -> str:
        """The path of the request line, or nothing where there is none."""
        words = bytes(self.received.partition(b"\r\n")[0]).split(b" ")
        return words[1].decode("latin-1") if len(words) > 1 else ""


class TooLongError(Exception):
    """A body is longer than anything its address takes."""


class _Collector:
    """What is written, in place of a socket."""

    def __init__(self) -> None:
        self.data = b""

    def sendall(self, data: bytes) -> None:
        """Keep it."""
        self.data += data


class Answer(wsgi.Response):  # type: ignore[misc]
    """gunicorn's answer; head and body of a short one are one packet, for which the client wakes up once."""

    def write(self, arg: bytes) -> None:
        """Send a piece of the body, with the head before it where it is the first."""
        whole = type(arg) is bytes and len(arg) == self.response_length and len(arg) <= SENT_AT_ONCE
        if self.headers_sent or self.chunked or self._omits_body or not whole:
            super().write(arg)
            return
        collector = _Collector()
        sock: Any = self.sock
        self.sock: Any = collector
        try:
            super().write(arg)
            sock.sendall(collector.data)
        finally:
            self.sock = sock


wsgi.Response = Answer


class TimedUnreader(SocketUnreader):  # type: ignore[misc]
    """Reads the rest of a body in a thread, against a clock."""

    def __init__(self, sock: socket.socket, before: bytes) -> None:
        super().__init__(sock)
        self.unread(before)
        self._began = time.monotonic()
        self._bytes = 0

    def chunk(self, size_hint: int | None = None) -> bytes:
        """The next piece. Raises TooSlowError for a client that falls behind."""
        left = BODY_SECONDS + self._bytes / LEAST_BYTES_PER_SECOND - (time.monotonic() - self._began)
        if left <= 0:
            raise TooSlowError("The body of the request comes too slowly.")
        self.sock.settimeout(min(left, PIECE_SECONDS))
        try:
            data: bytes = super().chunk(size_hint)
        except TimeoutError as error:
            raise TooSlowError("The body of the request comes too slowly.") from error
        finally:
            self.sock.settimeout(ANSWER_SECONDS)
        self._bytes += len(data)
        return data


class Connection(TConn):  # type: ignore[misc]
    """A client's connection, with the request that is on its way."""

    arrival: Arrival | None = None
    long = False

    def init(self) -> None:
        """As gunicorn does; and no thread waits for a client for ever."""
        super().init()
        self.sock.settimeout(ANSWER_SECONDS)

    def hand_over(self, arrival: Arrival) -> None:
        """Make gunicorn's parser of what has arrived."""
        self.arrival, self.long, self.data_ready = None, arrival.long, True
        self.parser = http.get_parser(self.cfg, self.sock, self.client)
        self.parser.unreader = TimedUnreader(self.sock, bytes(arrival.received))


class PatientWorker(ThreadWorker):  # type: ignore[misc]
    """gunicorn's threaded worker, whose threads never wait for a slow client's form or call."""

    _accepting = False  # gunicorn sets it on the object, after its first count of connections

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        #: In the order in which they began, which is nearly that of their deadlines.
        self._arriving: dict[Connection, None] = {}
        self._closing: dict[Connection, float] = {}
        self._looked = 0.0
        self._held = 0
        self._long_running = 0
        self._long_waiting: deque[tuple[Connection, Arrival]] = deque()
        self._most_long = max(1, self.cfg.threads // 2)
        #: One for each thread that may wait for a next request: half of them, so that the others serve.
        self._may_wait = deque(range(self.cfg.threads // 2))

    @property
    def nr_conns(self) -> int:
        """Open connections, which gunicorn counts."""
        return self._open

    @nr_conns.setter
    def nr_conns(self, count: int) -> None:
        self._open = count
        if self._accepting:
            LOADS.note(self.age, count)

    def init_process(self) -> None:
        """As many open files as the system allows, for connections are files."""
        with contextlib.suppress(ValueError, OSError):
            _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
            soft = MOST_FILES if most == resource.RLIM_INFINITY else min(most, MOST_FILES)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, most))
        super().init_process()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop, after answering 503 to readiness for the time of draining. A second signal ends the wait."""
        seconds = gunicorn_conf.drain_seconds
        if self.alive and seconds and not lifeline.draining.is_set():
            lifeline.draining.set()
            after = threading.Timer(seconds, super().handle_exit, [sig, frame])
            after.daemon = True
            after.start()
        else:
            super().handle_exit(sig, frame)

    def set_accept_enabled(self, enabled: bool) -> None:
        """As gunicorn does; and who stops keeps no socket open on which nobody is accepted any more."""
        super().set_accept_enabled(enabled)
        if enabled:
            LOADS.note(self.age, self.nr_conns)
        else:
            LOADS.forget(self.age)
        if not self.alive:
            for listener in self.sockets:
                listener.close()

    # Arriving

    def accept(self, listener: socket.socket) -> None:
        """Take a connection, and read it when it says something. At the limit the oldest silent one goes.

        Where another process has fewer connections, it may take this one.
        """
        LOADS.let_freer_go_first(self.age)
        if self.cfg.is_ssl:
            super().accept(listener)
            return
        try:
            sock, address = listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return
        except OSError as error:
            if error.errno not in (errno.EMFILE, errno.ENFILE) or not self._arriving:
                raise
            self._drop(next(iter(self._arriving)))
            return
        with contextlib.suppress(OSError):
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
        self.nr_conns += 1
        self._expect(Connection(self.cfg, sock, address, listener.getsockname()), b"")
        if self.nr_conns >= self.worker_connections and self._arriving:
            self._drop(next(iter(self._arriving)))  # else nobody who comes later is heard

    def on_client_socket_readable(self, conn: Connection, client: socket.socket) -> None:
        """A connection that was kept says something again."""
        self.poller.unregister(client)
        self.keepalived_conns.remove(conn)
        self._expect(conn, b"")

    def _expect(self, conn: Connection, begun: bytes) -> None:
        """Wait for a request on this connection, of which `begun` is here already."""
        conn.sock.setblocking(False)
        conn.arrival = Arrival(time.monotonic() + HEAD_SECONDS)
        self._arriving[conn] = None
        self.poller.register(conn.sock, EVENT_READ, partial(self._on_arriving, conn))
        if begun:
            self._take(conn, begun)
        else:
            self._on_arriving(conn, conn.sock)

    def _on_arriving(self, conn: Connection, client: socket.socket) -> None:
        try:
            data = client.recv(_PIECE)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if data:
            self._take(conn, data)
        else:
            self._drop(conn)

    def _take(self, conn: Connection, data: bytes) -> None:
        arrival = conn.arrival
        assert arrival is not None
        self._held += len(data)
        try:
            arrival.take(data)
        except TooLongError:
            self._refuse(conn, "413 Content Too Large", "This is more than this address takes.")
            return
        if arrival.complete:
            self._leave(conn)
            if arrival.long and self._long_running >= self._most_long:
                self._long_waiting.append((conn, arrival))
            else:
                self._hand_over(conn, arrival)
        elif arrival.head_ends < 0 and len(arrival.received) > LONGEST_HEAD:
            self._refuse(conn, "431 Request Header Fields Too Large", "The head of the request is too long.")
        elif self._held > MOST_HELD:
            self._refuse(conn, "503 Service Unavailable", "Too much is on its way here. Try again.")

    def _hand_over(self, conn: Connection, arrival: Arrival) -> None:
        self._long_running += arrival.long
        conn.hand_over(arrival)
        self.enqueue_req(conn)

    def _leave(self, conn: Connection) -> None:
        """The connection is no longer one that something is expected from."""
        assert conn.arrival is not None
        self._held -= len(conn.arrival.received)
        del self._arriving[conn]
        self.poller.unregister(conn.sock)

    def _drop(self, conn: Connection) -> None:
        self._leave(conn)
        self.nr_conns -= 1
        conn.close()

    def _refuse(self, conn: Connection, status: str, words: str) -> None:
        """Answer without a thread, and close."""
        answer = (
            f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Type: text/plain; charset=utf-8\r\n"
            f"Content-Length: {len(words) + 1}\r\n\r\n{words}\n"
        )
        self._leave(conn)
        with contextlib.suppress(OSError):
            conn.sock.send(answer.encode())
        self._linger(conn)

    # In a thread

    def handle(self, conn: Connection) -> Any:
        """Answer a request, and those that the client sends right after it while no other client waits."""
        kept = super().handle(conn)
        while kept is True and self._take_next(conn):
            kept = super().handle(conn)
        return kept

    def _take_next(self, conn: Connection) -> bool:
        """Wait a moment for the next request on a connection; whether the whole of it is here."""
        calm = self.alive and not self.tpool._work_queue.qsize()
        if not calm or conn.long or conn.is_http2 or self.cfg.is_ssl or conn.parser.unreader.buf.getvalue():
            return False
        try:
            token = self._may_wait.pop()
        except IndexError:
            return False
        try:
            poller = select.poll()
            poller.register(conn.sock, select.POLLIN)
            data = conn.sock.recv(_PIECE, socket.MSG_DONTWAIT) if poller.poll(NEXT_MILLISECONDS) else b""
        except (OSError, ValueError):
            data = b""
        finally:
            self._may_wait.append(token)
        if not data:  # nothing yet, or the end: the loop sees to both
            return False
        arrival = Arrival(time.monotonic() + HEAD_SECONDS)
        with contextlib.suppress(TooLongError):
            arrival.take(data)
            if arrival.complete and not arrival.long:
                conn.hand_over(arrival)
                return True
        conn.parser.unreader.unread(data)  # the loop goes on with it
        return False

    # Afterwards

    def finish_request(self, conn: Connection, fs: Any) -> None:
        """A thread is done with a connection: it is kept, goes on with what it sent already, or is closed."""
        if conn.long:
            conn.long = False
            self._long_running -= 1
            if self._long_waiting:
                self._hand_over(*self._long_waiting.popleft())
        if fs.cancelled() or fs.exception() is not None or not fs.result():
            self._linger(conn)
            return
        begun = conn.parser.unreader.take_buffered()
        try:
            if begun:
                self._expect(conn, begun)
            else:
                super().finish_request(conn, fs)
        except (OSError, ValueError):  # closed meanwhile: no descriptor is left to wait on
            self.nr_conns -= 1
            conn.close()

    def _linger(self, conn: Connection) -> None:
        """Close a connection so that its client still reads the answer, without waiting for the client."""
        try:
            conn.sock.setblocking(False)
            conn.sock.shutdown(socket.SHUT_WR)
            self.poller.register(conn.sock, EVENT_READ, partial(self._on_closing, conn))
        except (OSError, ValueError):
            self.nr_conns -= 1
            conn.close()
            return
        self._closing[conn] = time.monotonic() + LINGER_SECONDS

    def _on_closing(self, conn: Connection, client: socket.socket) -> None:
        try:
            # Read and forgotten: closing with bytes unread sends a reset, and the client loses the answer.
            if client.recv(_PIECE):
                return
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            pass
        self._close(conn)

    def _close(self, conn: Connection) -> None:
        del self._closing[conn]
        self.poller.unregister(conn.sock)
        self.nr_conns -= 1
        conn.close()

    def murder_pending(self) -> None:
        """Close what is late; called by gunicorn's loop every second at the least."""
        now = time.monotonic()
        if now - self._looked < LOOK_EVERY_SECONDS:
            return
        self._looked = now
        for conn in list(self._arriving):
            assert conn.arrival is not None
            if not self.alive and not conn.arrival.received:
                conn.arrival.deadline = min(conn.arrival.deadline, now + STOP_SILENT_SECONDS)
            if conn.arrival.deadline <= now:
                self._drop(conn)
        for conn in [each for each, until in self._closing.items() if until <= now]:
            self._close(conn)
        super().murder_pending()
