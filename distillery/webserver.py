"""The web server: waitress, whose threads get requests that have arrived whole.

    python -m distillery.webserver

This is one process. `manage.py up` runs WEB_WORKERS of them, which share its listening socket. One loop reads
all connections without waiting for any, so that clients which are slow or silent take no thread from others.
"""

import gc
import logging
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any

from waitress import wasyncore  # type: ignore[import-untyped]
from waitress.adjustments import Adjustments  # type: ignore[import-untyped]
from waitress.channel import HTTPChannel  # type: ignore[import-untyped]
from waitress.parser import HTTPRequestParser  # type: ignore[import-untyped]
from waitress.server import TcpWSGIServer  # type: ignore[import-untyped]
from waitress.task import WSGITask  # type: ignore[import-untyped]
from waitress.utilities import Error, RequestEntityTooLarge  # type: ignore[import-untyped]

from distillery import env, lifeline

Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]

WORKERS = env.integer("WEB_WORKERS", 2, least=1)
THREADS = env.integer("WEB_THREADS", 8, least=1)
DRAIN_SECONDS = env.integer("WEB_DRAIN_SECONDS", 0)
ACCESS_LOG = env.flag("WEB_ACCESS_LOG")
TRUSTED_PROXIES = {address.strip() for address in env.text("FORWARDED_ALLOW_IPS", "127.0.0.1,::1").split(",")}

BACKLOG = 1024
#: Open connections of a process. Each is up to three open files, of which systemd allows 1,024 unless told.
MOST_CONNECTIONS = 500
LONGEST_HEAD = 65_536
#: The largest file that a page or the API takes (2 GiB), with the rest of its form.
LONGEST_UPLOAD = (2 << 30) + (64 << 20)
#: Longer bodies are refused unread, but for addresses that take files: as the settings have it
#: (ANONYMOUS_BODY_MOST, UPLOADS_BELOW, UPLOADS_BY_SIGNATURE, UPLOADS_BY_TOKEN), not needed here.
LONGEST_BODY = 5 << 20
TAKING_FILES = ("/desk/", "/requester/", "/admin/", "/uploads/", "/api/v1/")
#: No upload is read with less room in the folder for temporary files, which it arrives in.
LEAST_FREE = 1 << 30
#: The head of a request arrives within this time; its body within this one, beyond that at the least rate.
HEAD_SECONDS = 10.0
BODY_SECONDS = 15.0
LEAST_BYTES_PER_SECOND = 10_240
#: A connection without a request is kept so long, and one whose client takes nothing of its answer.
KEPT_SECONDS = 15.0
ANSWER_SECONDS = 60.0
#: So long a client may take to close a connection after its last answer.
LINGER_SECONDS = 2.0
#: A process that stops waits so long for what has begun, and for connections on which nothing has.
STOP_SECONDS = 20.0
STOP_SILENT_SECONDS = 2.0
#: Seconds after which a thread that computes yields the interpreter to one that waits for it. A thread that
#: holds a lock of the database releases the interpreter with each statement; with Python's default of 5 ms it
#: got it back that much later, while all others waited for its transaction.
SWITCH_SECONDS = 0.0005


class NoRoomError(Error):  # type: ignore[misc]
    """Uploads, whose sender nobody knows yet, do not fill the disk."""

    code, reason = 507, "Insufficient Storage"


class RequestParser(HTTPRequestParser):  # type: ignore[misc]
    """A request on its way in. One that is longer than its address ever takes is refused unread."""

    error: Any = None

    def __init__(self, adj: Adjustments) -> None:
        super().__init__(adj)
        self.began = time.time()

    def received(self, data: bytes) -> int:
        """Take bytes; returns how many."""
        consumed: int = super().received(data)
        if not self.error and max(self.content_length, self.body_bytes_received) > LONGEST_BODY:
            if not self.path.startswith(TAKING_FILES):
                self.error = RequestEntityTooLarge("This is more than this address takes.")
            elif shutil.disk_usage(tempfile.gettempdir()).free < LEAST_FREE:
                self.error = NoRoomError("There is no room for uploads now.")
        if self.error:
            self.completed = True
            self.expect_continue = False  # else the client is told to send what was refused
        return consumed

    def is_late(self, now: float) -> bool:
        """Whether it comes too slowly."""
        allowed = HEAD_SECONDS
        if self.headers_finished:
            allowed += BODY_SECONDS + self.body_bytes_received / LEAST_BYTES_PER_SECOND
        return now - self.began > allowed


class Task(WSGITask):  # type: ignore[misc]
    """A request that is answered; the last one of its connection where the process stops."""

    def build_response_header(self) -> bytes:
        """The head of the answer."""
        if self.channel.server.stopping:
            self.set_close_on_finish()
        return bytes(super().build_response_header())


class Channel(HTTPChannel):  # type: ignore[misc]
    """A connection."""

    parser_class = RequestParser
    task_class = Task
    #: It was answered for the last time. What its client still sends is read and forgotten: to close it with
    #: bytes that were not read would send a reset, and the client would lose the answer.
    lingers = False

    def readable(self) -> bool:
        """Whether the loop waits for bytes of its client."""
        return self.lingers or bool(super().readable())

    def writable(self) -> bool:
        """Whether the loop waits until its client takes bytes."""
        return not self.lingers and bool(super().writable())

    def handle_write(self) -> None:
        """Send; after the last answer say that it was the last."""
        if not self.close_when_flushed or self.total_outbufs_len:
            super().handle_write()
            return
        self.lingers, self.last_activity = True, time.time()
        try:
            self.socket.shutdown(socket.SHUT_WR)
        except OSError:
            self.handle_close()

    def handle_read(self) -> None:
        """Receive."""
        if self.lingers:
            self.recv(self.adj.recv_bytes)  # closes at the end
        else:
            super().handle_read()

    @property
    def is_waited_for(self) -> bool:
        """Whether its client has to send something before anything goes on."""
        return not self.requests and not self.total_outbufs_len

    @property
    def waits_since(self) -> float:
        """Since when its client is waited for."""
        return float(self.request.began if self.request else self.last_activity)

    def is_late(self, now: float) -> bool:
        """Whether its client has sent or taken too little for too long."""
        if self.lingers:
            return bool(now - self.last_activity > LINGER_SECONDS)
        if self.total_outbufs_len:
            return bool(now - self.last_activity > ANSWER_SECONDS)
        if self.requests:
            return False
        late = self.request.is_late(now) if self.request else now - self.last_activity > KEPT_SECONDS
        return bool(late)


class Server(TcpWSGIServer):  # type: ignore[misc]
    """waitress with an end to slow clients, and one to itself that lets what has begun be answered."""

    channel_class = Channel
    stopping = False

    def handle_accept(self) -> None:
        """Take a connection. At the limit the one that has said nothing longest goes."""
        super().handle_accept()
        if len(self._map) >= self.adj.connection_limit:  # at which nobody who comes later would be heard
            waiting = [channel for channel in self.active_channels.values() if channel.is_waited_for]
            if waiting:
                min(waiting, key=lambda channel: channel.waits_since).handle_close()

    def maintenance(self, now: float) -> None:
        """Close connections whose clients are late; waitress calls this every `cleanup_interval`."""
        for channel in self.active_channels.values():
            if channel.is_late(now):
                self.trigger.pull_trigger(channel.handle_close)  # after this round of the loop

    def stop(self, number: int, frame: FrameType | None) -> None:
        """Have `run` come to its end."""
        self.stopping = True
        self.pull_trigger()

    def run(self) -> None:
        """Serve until a signal asks it to stop; then answer what has begun."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self.stop)
        while not self.stopping:
            self._loop(self.adj.asyncore_loop_timeout)
        for _ in range(BACKLOG):  # those who have connected already
            connections = len(self.active_channels)
            self.handle_accept()
            if len(self.active_channels) <= connections:
                break
        wasyncore.dispatcher.close(self)  # its own close() would end the trigger, which threads still pull
        end = time.time() + STOP_SECONDS
        while self.active_channels and (now := time.time()) < end:
            for channel in list(self.active_channels.values()):
                silent = channel.is_waited_for and channel.request is None
                if silent and now - channel.last_activity > STOP_SILENT_SECONDS:
                    channel.handle_close()
            self._loop(0.1)

    def _loop(self, seconds: float) -> None:
        self.asyncore.loop(timeout=seconds, use_poll=True, map=self._map, count=1)


def serve(application: Application, listener: socket.socket) -> None:
    """Serve an application on a socket until SIGTERM."""
    # It warns whenever all threads are busy, which load is no reason to say each time.
    logging.getLogger("waitress.queue").setLevel(logging.ERROR)
    adjustments = Adjustments(
        sockets=[listener],
        threads=THREADS,
        ident="Distillery",
        backlog=BACKLOG,
        connection_limit=MOST_CONNECTIONS,
        cleanup_interval=1,
        recv_bytes=65_536,
        max_request_header_size=LONGEST_HEAD,
        max_request_body_size=LONGEST_UPLOAD,
        # Its one trusted proxy is too few, and it would take X-Forwarded-* from others: see `from_outside`.
        clear_untrusted_proxy_headers=False,
    )
    place = (listener.family, listener.type, listener.proto, listener.getsockname())
    Server(
        from_outside(application), adj=adjustments, _sock=listener, bind_socket=False, sockinfo=place
    ).run()


def from_outside(application: Application) -> Application:
    """The application with the scheme that a trusted proxy names, and a line of the access log."""

    def answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        if TRUSTED_PROXIES & {environ["REMOTE_ADDR"], "*"}:
            scheme = environ.get("HTTP_X_FORWARDED_PROTO")
            environ["wsgi.url_scheme"] = "https" if scheme == "https" else environ["wsgi.url_scheme"]
        if not ACCESS_LOG:
            return application(environ, start_response)

        def say(status: str, headers: Any, *error: Any) -> Any:
            request_line = f"{environ['REQUEST_METHOD']} {environ['REQUEST_URI']}"
            line = f"{time.strftime('%FT%T%z')} {environ['REMOTE_ADDR']} {request_line!r} {status[:3]}\n"
            sys.stdout.write(line)
            sys.stdout.flush()
            return start_response(status, headers, *error)

        return application(environ, say)

    return answer


def main() -> None:
    """Load the application, wait until the database is ready where `up` says so, and serve."""
    from distillery.wsgi import application  # noqa: PLC0415  # `up` reads this module, before settings are

    lifeline.wait_to_begin()
    from distillery.presence import begin_signs  # noqa: PLC0415  # needs the application

    # What is loaded stays; looking through it again for garbage takes time from pages.
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    sys.setswitchinterval(SWITCH_SECONDS)
    begin_signs("web")
    with inherited_socket() or own_socket() as listener:
        lifeline.announce_ready()
        serve(application, listener)


def inherited_socket() -> socket.socket | None:
    """The socket that `up` opened, which stays open while this process restarts."""
    number = os.environ.get("DISTILLERY_SOCKET")
    return socket.socket(fileno=int(number)) if number else None


def own_socket() -> socket.socket:
    """A socket of this process, at WEB_BIND and PORT."""
    address = env.text("WEB_BIND", "127.0.0.1").strip("[]")
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.create_server((address, env.integer("PORT", 8000)), family=family, backlog=BACKLOG)


def forget_dead_processes(folder: Path) -> None:
    """Remove the counts of processes that have ended; for the start of `up`, whose counts begin at 0."""
    for file in folder.glob("*_*.db"):
        pid = file.stem.rpartition("_")[2]
        if pid.isdigit() and not _is_alive(int(pid)):
            with suppress(OSError):
                file.unlink()


def _is_alive(pid: int) -> bool:
    if os.name == "nt":
        return False  # files of a living process cannot be removed there; and no signal only asks
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # it lives, as another user's
        return True
    return True


if __name__ == "__main__":
    lifeline.watch()
    main()
