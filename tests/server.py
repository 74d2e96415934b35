"""A real Distillery server in processes of its own, for tests and measurements from outside.

    with RunningServer() as server:
        requester = server.requester(balance="20.00")
        worker = server.worker(country="US")
        requester.client.get_account_balance()

The server has its own data folder and its own database: a SQLite file, or a scratch database on the
PostgreSQL server that DATABASE_URL names. Both are made from the files of SQL that an empty installation
begins with. On PostgreSQL they are copied from a template, which goes with the process.
"""

import atexit
import contextlib
import fcntl
import hashlib
import importlib.util
import itertools
import json
import os
import secrets
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType, TracebackType
from typing import IO, Any
from urllib.parse import urlsplit, urlunsplit

import django

from distillery import empty_database, lifeline
from tests.clients import Requester, ScriptedWorker, ask, post_json
from tests.upgrades.landed import digest_migrations

ROOT = Path(__file__).resolve().parent.parent
START_SECONDS = 60
#: Other clones of the machine, with other migrations, use templates beside ours.
TEMPLATE_KEPT_SECONDS = 86_400


class RunningServer:
    """The web server with this checkout's code; a context manager that leaves nothing behind.

    `workers` is the number of its processes, each of which takes two seconds of a processor to start.
    """

    def __init__(
        self, *, environment: Mapping[str, str] | None = None, workers: int = 1, threads: int = 8
    ) -> None:
        self.test_token = secrets.token_urlsafe(16)
        self._own_environment = dict(environment or {})
        self._workers, self._threads = workers, threads
        self._processes: list[subprocess.Popen[bytes]] = []
        self._console: subprocess.Popen[str] | None = None
        self._console_lock = threading.Lock()
        self._numbers = itertools.count(1)

    def __enter__(self) -> "RunningServer":
        self.data_dir = Path(tempfile.mkdtemp(prefix="distillery-server-"))
        try:
            self._database_url = new_database(self.data_dir)
            self._port = free_port()
            self.url = f"http://127.0.0.1:{self._port}"
            self.api_url = f"{self.url}/mturk/api"
            self.start()
        except BaseException:
            self._leave()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._leave()

    @property
    def environment(self) -> dict[str, str]:
        """What the server and its management commands run with."""
        return {
            **{name: value for name, value in os.environ.items() if name != "PUBLIC_URL"},
            "DJANGO_SETTINGS_MODULE": "distillery.settings",
            "DATA_DIR": str(self.data_dir),
            "DATABASE_URL": self._database_url,
            "MARKETPLACE_TEST_TOKEN": self.test_token,
            "ALLOWED_HOSTS": "127.0.0.1,localhost",
            "TASK_URL": self.url,
            # Tests that sign in want to go on; `tests/browser/test_signing_in.py` looks at factors.
            "SECOND_FACTOR": "off",
            **self._own_environment,
        }

    # Running

    def start(self) -> None:
        """Serve on the same port and data as before; returns when requests are answered."""
        with socket.create_server(("127.0.0.1", self._port)) as listener, self._log_path.open("ab") as log:
            number = listener.fileno()
            environment = {
                **self.environment,
                "WEB_THREADS": str(self._threads),
                "DISTILLERY_SOCKET": str(number),
                lifeline.VARIABLE: "0",
            }
            for _ in range(self._workers):
                process = subprocess.Popen(
                    [sys.executable, "-m", "distillery.webserver"],
                    cwd=ROOT,
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=log,
                    stderr=log,
                    bufsize=0,
                    pass_fds=[number],
                    start_new_session=True,
                )
                assert process.stdin is not None
                process.stdin.write(lifeline.BEGIN)
                self._processes.append(process)
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end:
            if any(process.poll() is not None for process in self._processes):
                raise RuntimeError(f"The server stopped at its start:\n{self.log()}")
            with contextlib.suppress(OSError):
                ask("GET", self.api_url, timeout=5)
                return
            time.sleep(0.05)
        raise RuntimeError(f"The server did not answer in {START_SECONDS} s:\n{self.log()}")

    def kill(self) -> None:
        """SIGKILL to every process of the server: what a power cut leaves is what it leaves."""
        self._signal(signal.SIGKILL)

    def stop(self) -> None:
        """Ask the server to stop, and wait for it."""
        self._signal(signal.SIGTERM)

    def log(self) -> str:
        """Everything the server wrote to its output so far."""
        return self._log_path.read_text(encoding="utf-8", errors="replace") if self._log_path.exists() else ""

    @property
    def pids(self) -> list[int]:
        """Its processes."""
        return [process.pid for process in self._processes]

    # Management

    def manage(self, *arguments: str) -> Any:
        """Run a management command in a process of its own; its output, parsed where --json was asked for."""
        result = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        if result.returncode:
            raise RuntimeError(f"manage.py {' '.join(arguments)}:\n{result.stdout}{result.stderr}")
        return json.loads(result.stdout) if "--json" in arguments else result.stdout

    def console(self, *arguments: str) -> Any:
        """The same as `manage`, in one process that stays: milliseconds instead of a second."""
        said = self._ask_console(arguments, f"manage.py {' '.join(arguments)}")
        return json.loads(said["output"]) if "--json" in arguments else said["output"]

    def call(self, module: str, function: str, /, **named: Any) -> Any:
        """Call a function of a module's `COMMANDS` in that process; what it takes and returns is JSON."""
        request = {"module": module, "function": function, "named": named}
        return self._ask_console(request, f"{module} {function}")["value"]

    def _ask_console(self, request: object, name: str) -> dict[str, Any]:
        with self._console_lock:
            if self._console is None:
                self._console = subprocess.Popen(
                    [sys.executable, "-m", "tests.console"],
                    cwd=ROOT,
                    env=self.environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    start_new_session=True,
                )
            into, out = self._console.stdin, self._console.stdout
            assert into is not None and out is not None
            print(json.dumps(request), file=into, flush=True)
            said: dict[str, Any] = json.loads(out.readline() or '{"error": "the console ended"}')
        if "error" in said:
            raise RuntimeError(f"{name}: {said['error']}")
        return said

    def requester(self, balance: str = "1000.00", fees: str | None = None) -> Requester:
        """A new account with money in it."""
        name = f"requester-{next(self._numbers)}-{secrets.token_hex(3)}"
        options = ["--fees", fees] if fees else []
        made = self.console("marketplace", "requester", "create", name, *options, "--json")
        if float(balance):
            self.console("marketplace", "deposit", name, balance)
        return Requester.at(self.api_url, name=name, access_key=made["access_key"], secret=made["secret"])

    def worker(self, **options: str | bool) -> ScriptedWorker:
        """A new scripted worker; `options` as of `marketplace worker create` (country="US", adult=True)."""
        name = f"worker-{next(self._numbers)}-{secrets.token_hex(3)}"
        flags: list[str] = []
        for option, value in options.items():
            flags += [f"--{option}"] if value is True else [f"--{option}", str(value)]
        made = self.console("marketplace", "worker", "create", name, *flags, "--json")
        return ScriptedWorker(self.url, made["worker_id"], made["token"])

    # Test controls

    def advance(self, seconds: float) -> float:
        """Move the marketplace's clock forward; its time afterwards, in seconds since 1970."""
        now: float = self.control("clock", advance_seconds=seconds)["now"]
        return now

    def chaos(self, **switches: object) -> None:
        """Ask for faults; see `POST /mturk/test/chaos`."""
        self.control("chaos", **switches)

    def reset(self, *, data: bool = False) -> None:
        """Clock and faults back to normal; with `data`, HITs and what followed from them are gone too."""
        self.control("reset", **({"data": True} if data else {}))

    def control(self, what: str, **value: object) -> Any:
        """One call of the test controls."""
        answer = post_json(f"{self.url}/mturk/test/{what}", value, self.test_token)
        assert answer.status == 200, f"{what}: {answer.status} {answer.text[:500]}"
        return answer.json()

    # Inside

    @property
    def _log_path(self) -> Path:
        return self.data_dir / "server.log"

    def _signal(self, number: int) -> None:
        for process in self._processes:
            process.send_signal(number)
        for process in self._processes:
            process.wait(timeout=30)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            assert process.stdin is not None
            process.stdin.close()
        self._processes = []

    def _leave(self) -> None:
        self._signal(signal.SIGKILL)
        if self._console is not None:
            assert self._console.stdin is not None and self._console.stdout is not None
            self._console.stdin.close()
            self._console.wait(timeout=30)
            self._console.stdout.close()
        if hasattr(self, "_database_url"):
            drop_database(self._database_url)
        shutil.rmtree(self.data_dir, ignore_errors=True)


def load_services() -> ModuleType:
    """The module of the build that starts PostgreSQL and Redis."""
    spec = importlib.util.spec_from_file_location("services", ROOT / ".ci" / "services.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def free_port() -> int:
    """A TCP port of the loopback interface that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


# Databases: a migrated template, and copies of it


def new_database(folder: Path) -> str:
    """URL of a new migrated database: in `folder`, or on the PostgreSQL server of DATABASE_URL."""
    server = os.environ.get("DATABASE_URL", "")
    if server.startswith("postgres"):
        return _new_postgres_database(server)
    path = folder / "distillery.sqlite3"
    shutil.copyfile(_sqlite_template(), path)
    return f"sqlite:///{path}"


def blank_database(folder: Path, name: str = "") -> str:
    """URL of a new database without a table: in `folder`, or on the PostgreSQL server of DATABASE_URL."""
    server = os.environ.get("DATABASE_URL", "")
    if not server.startswith("postgres"):
        return f"sqlite:///{folder / 'blank.sqlite3'}"
    name = name or f"distillery_scratch_{secrets.token_hex(6)}"
    _on_postgres(f'CREATE DATABASE "{name}"')
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


def make_test_database(name: str) -> None:
    """A test process's database by Django's name for it: a file, or one on the server of DATABASE_URL."""
    server = os.environ.get("DATABASE_URL", "")
    if server.startswith("postgres"):
        _on_postgres(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
        _copy_postgres_template(server, name)
    else:
        shutil.copyfile(_sqlite_template(), name)


def drop_test_database(name: str) -> None:
    """Remove what `make_test_database` made, unless it goes with its folder."""
    if os.environ.get("DATABASE_URL", "").startswith("postgres"):
        _on_postgres(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


def drop_template() -> None:
    """Remove the template from the PostgreSQL server of DATABASE_URL, if there is any."""
    server = os.environ.get("DATABASE_URL", "")
    if server.startswith("postgres"):
        template = f"distillery_template_{schema_digest()}"
        with _postgres(server) as cursor:
            cursor.execute("SELECT pg_advisory_lock(726417)")
            cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [template])
            if cursor.fetchone():
                cursor.execute(f'ALTER DATABASE "{template}" IS_TEMPLATE false')
                cursor.execute(f'DROP DATABASE "{template}" WITH (FORCE)')


def drop_database(url: str) -> None:
    """Remove what `new_database` made, unless it goes with its folder."""
    if url.startswith("postgres"):
        _on_postgres(f'DROP DATABASE IF EXISTS "{urlsplit(url).path[1:]}" WITH (FORCE)')


def schema_digest() -> str:
    """Changes when a migration or a file of the schema does: an old template is never taken for a new one."""
    digest = hashlib.sha256(django.__version__.encode())
    digest.update(repr(sorted(digest_migrations().items())).encode())
    for file in sorted(empty_database.FOLDER.glob("*.sql")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def migrate(url: str, folder: Path) -> None:
    """Bring a database to this version by its migrations, in a process with a data folder of its own."""
    environment = {**os.environ, "DATABASE_URL": url, "DATA_DIR": str(folder)}
    command = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if result.returncode:
        raise RuntimeError(f"manage.py migrate:\n{result.stdout}{result.stderr}")


def _fill_template(url: str, statements: list[str], execute: Callable[[str], object]) -> None:
    """Make the tables by the file of the schema, and by the migrations that are not in it yet."""
    for statement in statements:
        execute(statement)
    script = "".join(statements)
    names = [Path(path).stem for path in digest_migrations()]
    if any(names.count(name) > script.count(f"'{name}'") for name in names):
        with tempfile.TemporaryDirectory() as scratch:
            migrate(url, Path(scratch))
    # Sealed with the key of the scratch folder; each copy has a key of its own.
    execute("DELETE FROM sealing_canary")


def _sqlite_template() -> Path:
    home = Path(tempfile.gettempdir()) / f"distillery-templates-{os.getuid()}"
    home.mkdir(mode=0o700, exist_ok=True)
    template = home / f"{schema_digest()}.sqlite3"
    with _locked(template.with_suffix(".lock")):
        if not template.exists():
            with tempfile.TemporaryDirectory() as scratch:
                fresh = Path(scratch) / "fresh.sqlite3"
                with contextlib.closing(sqlite3.connect(fresh, isolation_level=None)) as database:
                    statements = empty_database.read_statements("sqlite")
                    _fill_template(f"sqlite:///{fresh}", ["BEGIN", *statements, "COMMIT"], database.execute)
                    database.execute("PRAGMA journal_mode = WAL")
                    database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                for old in home.glob("*.sqlite3"):
                    if time.time() - old.stat().st_mtime > TEMPLATE_KEPT_SECONDS:
                        old.unlink()
                shutil.move(fresh, template)
    with contextlib.suppress(FileNotFoundError):
        os.utime(template)
    return template


def _new_postgres_database(server: str) -> str:
    name = f"distillery_scratch_{secrets.token_hex(6)}"
    _copy_postgres_template(server, name)
    return urlunsplit(urlsplit(server)._replace(path=f"/{name}"))


def _copy_postgres_template(server: str, name: str) -> None:
    template = f"distillery_template_{schema_digest()}"
    parts = urlsplit(server)
    with _postgres(server) as cursor:
        cursor.execute("SELECT pg_advisory_lock(726417)")
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s AND datistemplate", [template])
        if cursor.fetchone() is None:
            cursor.execute(f'DROP DATABASE IF EXISTS "{template}" WITH (FORCE)')
            cursor.execute(f'CREATE DATABASE "{template}"')
            url = urlunsplit(parts._replace(path=f"/{template}"))
            with _postgres(url) as inside:
                _fill_template(url, empty_database.read_statements("postgresql"), inside.execute)
            cursor.execute(f'ALTER DATABASE "{template}" IS_TEMPLATE true')
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    if "TEST_SHARD" not in os.environ:  # else the process that started all of them does it
        atexit.register(drop_template)


def _on_postgres(statement: str) -> None:
    with _postgres(os.environ["DATABASE_URL"]) as cursor:
        cursor.execute(statement)


@contextlib.contextmanager
def _postgres(server: str) -> Iterator[Any]:
    import psycopg2  # type: ignore[import-untyped,unused-ignore]

    connection = psycopg2.connect(server)
    try:
        connection.autocommit = True
        with connection.cursor() as cursor:
            yield cursor
    finally:
        connection.close()


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[IO[bytes]]:
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield file
