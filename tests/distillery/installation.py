"""An installation of its own for a test: data folder, database, and `manage.py` as an operator types it."""

import contextlib
import fcntl
import http.client
import json
import os
import re
import secrets
import signal
import sqlite3
import subprocess
import sys
import termios
import time
from pathlib import Path

import psycopg2
from prometheus_client.parser import text_string_to_metric_families

from tests.server import drop_database, new_database

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE_SECONDS = 120
METRICS_TOKEN = "a token that nobody guesses"
OF_AN_OPERATOR = re.compile(
    r"ALLOWED_HOSTS|BEHIND_TLS_PROXY|CSRF_|DEBUG|FORWARDED_|JOBS_|LOG_|METRICS_|MARKETPLACE_|PORT$|PUBLIC_URL|SECRET_KEY|WEB_"
)


class Installation:
    """Runs management commands; `marker` in their environment finds every process they leave."""

    def __init__(self, folder: Path) -> None:
        self.data_dir = folder / "data"
        self.elsewhere = folder / "elsewhere"
        self.data_dir.mkdir(mode=0o750)
        self.elsewhere.mkdir()
        self.database_url = new_database(self.data_dir)
        self.marker = secrets.token_hex(8)
        self.log = folder / "log"
        self.process: subprocess.Popen[bytes] | None = None

    def environment(self, **variables: str) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not OF_AN_OPERATOR.match(name)}
        return {
            **kept,
            "DJANGO_SETTINGS_MODULE": "distillery.settings",
            "DATA_DIR": str(self.data_dir),
            "DATABASE_URL": self.database_url,
            "DISTILLERY_TEST_MARKER": self.marker,
            "PYTHONUNBUFFERED": "1",
            **variables,
        }

    def manage(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command to its end, from another folder."""
        return subprocess.run(
            [sys.executable, str(ROOT / "manage.py"), *arguments],
            cwd=self.elsewhere,
            env=self.environment(**variables),
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE_SECONDS,
        )

    def up(
        self,
        *options: str,
        until: str = "is ready",
        terminal: int | None = None,
        lifeline: int | None = None,
        **variables: str,
    ) -> None:
        """Start `manage.py up` on a free port, perhaps in a terminal; returns when it said the words.

        It ends with the other end of the pipe `lifeline`.
        """
        if lifeline is not None:
            variables["DISTILLERY_LIFELINE"] = str(lifeline)

        def take_terminal() -> None:
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [sys.executable, str(ROOT / "manage.py"), "up", "--port", "0", *options],
                cwd=self.elsewhere,
                env=self.environment(**variables),
                stdin=subprocess.DEVNULL if terminal is None else terminal,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=() if lifeline is None else (lifeline,),
                preexec_fn=None if terminal is None else take_terminal,  # noqa: PLW1509  # no threads here
            )
        self.eventually(lambda: until in self.words() or self.process.poll() is not None, what=until)
        assert self.process.poll() is None, self.words()

    def words(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def eventually(self, condition, *, what: str) -> None:
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"waited {PATIENCE_SECONDS} s for: {what}\n{self.words()}"
            time.sleep(0.05)

    def port(self) -> int:
        """The port that `up` printed last."""
        return int(re.findall(r"http://localhost:(\d+)/", self.words())[-1])

    def metrics(self) -> dict[str, float]:
        """What /metrics says now, added up over all labels."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=PATIENCE_SECONDS)
        with contextlib.closing(connection):
            connection.request("GET", "/metrics", headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
            families = text_string_to_metric_families(connection.getresponse().read().decode())
        sums: dict[str, float] = {}
        for sample in (each for family in families for each in family.samples):
            sums[sample.name] = sums.get(sample.name, 0.0) + sample.value
        return sums

    def health(self) -> tuple[int, dict]:
        """Status and answer of /health/ at the address that `up` printed."""
        return self.ask("/health/")

    def ask(self, path: str, **headers: str) -> tuple[int, dict]:
        """Status and JSON of a page there."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port(), timeout=PATIENCE_SECONDS)
        with contextlib.closing(connection):
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())

    @contextlib.contextmanager
    def database(self):
        """A cursor on the database, past Django; what it did is committed."""
        if self.database_url.startswith("postgres"):
            database = psycopg2.connect(self.database_url)
        else:
            database = sqlite3.connect(self.database_url.removeprefix("sqlite:///"), timeout=20)
        with contextlib.closing(database), contextlib.closing(database.cursor()) as cursor:
            yield cursor
            database.commit()

    def count(self, table: str) -> int:
        """How many rows the table has."""
        with self.database() as cursor:
            cursor.execute(f"SELECT count(*) FROM {table}")
            return cursor.fetchone()[0]

    def processes(self, role: str = "") -> list[int]:
        """Processes of this installation, by what stands on their command line."""
        mark = f"DISTILLERY_TEST_MARKER={self.marker}".encode()
        found = []
        for folder in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                if command and mark in (folder / "environ").read_bytes() and role in command:
                    found.append(int(folder.name))
        return sorted(found)

    def started_by_up(self) -> list[int]:
        """The processes that `up` itself started."""
        parents = {
            pid: int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            for pid in self.processes("distillery.child")
        }
        return [pid for pid, parent in parents.items() if parent == self.process.pid]

    def stop(self, number: signal.Signals) -> int:
        """Send `up` the signal; its exit code."""
        os.kill(self.process.pid, number)
        return self.process.wait(PATIENCE_SECONDS)

    def leave(self) -> None:
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        if self.process is not None:
            self.process.wait()
        drop_database(self.database_url)
