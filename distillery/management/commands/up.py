"""`manage.py up`: everything an installation needs, in one command."""

import contextlib
import os
import socket
from argparse import ArgumentParser
from collections.abc import Iterator
from functools import partial
from typing import Any

from django.conf import settings
from django.core.files import locks
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError, connection, connections

from distillery import canary, env, lifeline, webserver
from distillery.checks import findings
from distillery.empty_database import load_schema
from distillery.management.commands.doctor import write
from distillery.schema import inspect_schema
from distillery.service_waits import wait_for_services
from distillery.supervisor import Child, Probe, Supervisor
from marketplace.forms.loopback import is_loopback

MIGRATION_LOCK = 7_265_641
_NO_LIMITS = (
    "SELECT set_config('statement_timeout', '0', true), set_config('lock_timeout', '0', true),"
    " set_config('idle_in_transaction_session_timeout', '0', true)"
)
WORKER_UP_SECONDS = 3
#: Whether child processes get an open socket; Windows has one web process, which opens its own.
INHERITS = os.name == "posix"


class Command(BaseCommand):
    """Check the set-up, migrate, then run the web server and the jobs worker until told to stop."""

    help = (
        "Check the set-up, migrate the database, then run the web server and the jobs worker with its timer. "
        "A process that dies is started again; Ctrl-C or SIGTERM stops all; SIGHUP replaces all by new "
        "processes without refusing anybody."
    )
    requires_system_checks: list[str] = []  # they are among the findings

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Where to listen, and what to leave to other processes."""
        parser.add_argument("--bind", default=env.text("WEB_BIND", "127.0.0.1"), metavar="ADDRESS")
        parser.add_argument("--port", type=int, default=env.integer("PORT", 8000), help="0: any free one")
        parser.add_argument("--no-web", action="store_true", help="no web server, jobs only")
        parser.add_argument("--no-jobs", action="store_true", help="no jobs worker, web server only")
        parser.add_argument("--no-beat", action="store_true", help="a jobs worker without the timer")
        parser.add_argument(
            "--no-migrate",
            action="store_true",
            help="do not migrate; end if the database is too old",
        )
        parser.add_argument(
            "--wait",
            type=float,
            default=60,
            metavar="SECONDS",
            help="how long to wait for a database or Redis that is not there yet (default: 60)",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Run until stopped."""
        if options["no_web"] and options["no_jobs"]:
            raise CommandError("--no-web and --no-jobs together leave nothing to run.")
        self._say("Distillery is starting.")
        lifeline.watch()  # where the process that started it asks it to end with itself
        wait_for_services(options["wait"], say=self._say)
        _keep_key()
        os.umask(0o077)
        webserver.forget_dead_processes(settings.DATA_DIR / "monitoring")
        with contextlib.ExitStack() as opened:
            children: list[Child] = []
            answers, ready_line = None, "The jobs worker is running (Ctrl-C stops it)."
            if not options["no_web"]:
                listener, place = open_socket(options["bind"], options["port"])
                children += web(opened.enter_context(listener))
            if not options["no_jobs"]:
                children.append(jobs(beat=not options["no_beat"]))
            supervisor = opened.enter_context(Supervisor(children, say=self._say).loading())
            self._check(migrates=not options["no_migrate"])
            if not options["no_web"]:
                address, port = bind_socket(listener, place)
                if not is_loopback(address) and all(map(is_loopback, settings.ALLOWED_HOSTS)):
                    self._say(f"Listening on {address}, but ALLOWED_HOSTS admits this machine only.")
                answers = probe(address, port).answers
                ready_line = f"Distillery is ready: {shown_url(address, port)} (Ctrl-C stops it)."
            if not options["no_migrate"]:
                with one_at_a_time():
                    load_schema()
                    migrate_waiting()
                    canary.place_canary()
            connections.close_all()
            if not options["no_web"]:
                open_doors(listener, children)
            code = supervisor.run(
                answers=answers or (lambda: children[0].runs_since(WORKER_UP_SECONDS)), ready_line=ready_line
            )
        if code:
            raise CommandError("Stopped, because the set-up does not work.", returncode=code)
        self._say("Stopped.")

    def _check(self, *, migrates: bool) -> None:
        looked = findings(before_start=True, migrates=migrates)
        troubles = [finding for finding in looked if finding.level != "ok"]
        for finding in troubles:
            write(finding, self.stderr if finding.level == "error" else self.stdout, self.style)
        if any(finding.level == "error" for finding in troubles):
            raise CommandError("Not started. Put the above right first; `manage.py doctor` shows it again.")

    def _say(self, sentence: str) -> None:
        with contextlib.suppress(OSError):  # the terminal was closed
            self.stdout.write(sentence)
            self.stdout.flush()


def migrate_waiting() -> None:
    """Bring the tables to this version. Raises CommandError where they differ, or a migration fails."""
    report = inspect_schema()
    if not report.is_well:
        raise CommandError(f"Nothing was migrated. {report.sentence}\n{report.remedy}")
    if not report.waiting:
        return
    try:
        call_command("migrate", interactive=False, verbosity=0)
    except DatabaseError as error:
        raise CommandError(
            f"A migration failed: {error}\nRun `manage.py migrate`: it names the migration. Where the cause "
            "lies outside (a full disk, a lost connection, a lock), remove it and start again. Otherwise put "
            "back the backup from before the upgrade, go on with the version that wrote it, and report the "
            "failure."
        ) from error


def _keep_key() -> None:
    """Generate the SECRET_KEY where the settings could not, because the database did not answer them.

    Now that it was waited for, it can say whether it holds secrets of another key.
    """
    folder = settings.DATA_DIR / "secrets"
    if not env.text("SECRET_KEY") and not (folder / "secret_key").exists():
        settings.SECRET_KEY = env.secret(
            "SECRET_KEY", folder, needed=lambda: env.holds_sealed_values(settings.DATABASE_URL)
        )


def web(listener: socket.socket) -> list[Child]:
    """The processes of the web server, on one socket that stays open while they restart."""
    child = partial(
        Child, "web", "The web server", before_stop=listener.close, drain_seconds=webserver.DRAIN_SECONDS
    )
    if not INHERITS:
        return [child()]
    descriptor = listener.fileno()
    environment = {"DISTILLERY_SOCKET": str(descriptor)}
    return [
        child(environment=environment, descriptors=(descriptor,), loads_early=True)
        for _ in range(webserver.WORKERS)
    ]


def open_doors(listener: socket.socket, children: list[Child]) -> None:
    """Let visitors in; where sockets are not inherited, the web process opens one in the same place."""
    if INHERITS:
        listener.listen(webserver.BACKLOG)
        return
    address, port = listener.getsockname()[:2]
    listener.close()
    for child in children:
        if child.role == "web":
            child.environment = {"WEB_BIND": address, "PORT": str(port)}


def jobs(*, beat: bool) -> Child:
    """The jobs worker, with the timer or without."""
    return Child("jobs", "The jobs worker", environment={"JOBS_BEAT": "1" if beat else "0"})


def open_socket(address: str, port: int) -> tuple[socket.socket, Any]:
    """A socket for this address, and the place that it is for; or an error in words."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(
            address.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except (OSError, OverflowError) as error:
        raise CommandError(f"{address}, port {port}, is not an address of this machine: {error}.") from error
    listener = socket.socket(family, kind, protocol)
    if INHERITS:  # on Windows it would mean that two programs may have the same port
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return listener, place


def bind_socket(listener: socket.socket, place: Any) -> tuple[str, int]:
    """Take the place: its address and port, or an error in words."""
    address, port = place[:2]
    try:
        listener.bind(place)
    except OSError as error:
        raise CommandError(
            f"Cannot listen on {address}, port {port}: {error.strerror}. "
            "Stop what listens there, or choose another with --port."
        ) from error
    address, port = listener.getsockname()[:2]
    return address, port


def probe(address: str, port: int) -> Probe:
    """How to ask the web server itself, under a name that it answers to."""
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(address, address)  # noqa: S104 - not bound to
    names = [host for host in settings.ALLOWED_HOSTS if not host.startswith("*")]
    return Probe(reachable, port, names[0].removeprefix(".") if names else "localhost")


def shown_url(address: str, port: int) -> str:
    """The address people can click."""
    if settings.PUBLIC_URL:
        return f"{settings.PUBLIC_URL}/"
    if address in {"0.0.0.0", "::", "127.0.0.1", "::1"}:  # noqa: S104 - told apart, not bound to
        return f"http://localhost:{port}/"
    return f"http://{f'[{address}]' if ':' in address else address}:{port}/"


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Let one process migrate while others that start at the same moment wait."""
    if connection.vendor == "postgresql":
        # A transaction of a connection of its own: behind a pooler no session outlasts its transaction.
        beside = connection.copy()
        try:
            beside.set_autocommit(False)
            with beside.cursor() as cursor:
                # The role may have limits; a wait or a migration that is longer would end the lock with it.
                cursor.execute(_NO_LIMITS)
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [MIGRATION_LOCK])
                yield
        finally:
            beside.close()
    else:
        with (settings.DATA_DIR / "migrate.lock").open("w") as lock:
            locks.lock(lock, locks.LOCK_EX)
            yield
