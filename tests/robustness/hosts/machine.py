"""What docker/compose.yaml starts in containers, as processes of one machine, each host with a data folder.

PostgreSQL, PgBouncer, Redis, OpenStack Swift with its S3 interface (Debian has no MinIO), nginx, two web
hosts, two job hosts. Settings that all hosts share are read from docker/hosts.env, as compose does.

    python -m tests.robustness.hosts.machine        # or: make hosts ARGS=run; Ctrl-C ends everything
"""

import contextlib
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from urllib.parse import urlsplit, urlunsplit

ROOT = Path(__file__).resolve().parent.parent.parent.parent
PROGRAMS = {
    "nginx": "nginx-light",
    "pgbouncer": "pgbouncer",
    "swift-proxy-server": "swift-proxy",
    "swift-account-server": "swift-account",
    "swift-container-server": "swift-container",
    "swift-object-server": "swift-object",
    "swift-ring-builder": "swift",
}
PATIENCE_SECONDS = 120
BUCKET, ACCESS_KEY, SECRET_KEY = "distillery", "test:tester", "testing"


def _services() -> ModuleType:
    """`.ci/services.py`, whose folder's name is none of a package."""
    spec = importlib.util.spec_from_file_location("services", ROOT / ".ci" / "services.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


services = _services()


def find_program(name: str) -> str:
    """Debian keeps some of them out of the path."""
    found = shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")
    if found is None:
        raise FileNotFoundError(f"{name} is not installed. As root: apt-get install {PROGRAMS[name]}")
    return found


def shared_settings() -> dict[str, str]:
    """docker/hosts.env."""
    lines = (ROOT / "docker" / "hosts.env").read_text(encoding="utf-8").splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


class Host:
    """One host: `manage.py up` with some options, in a data folder of its own."""

    def __init__(self, name: str, folder: Path, environment: dict[str, str], options: list[str]) -> None:
        self.name, self.folder = name, folder / name
        self.port = services.free_port()
        self._options = options
        self._log = folder / f"{name}.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._starts = 0
        self.folder.mkdir()
        self.environment = {
            **environment,
            "DATA_DIR": str(self.folder),
            "TASK_URL": environment["PUBLIC_URL"],
            "HOST_NAME": name,
        }

    def start(self) -> None:
        """Start it; `answers` tells when it is ready."""
        self._starts += 1
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    sys.executable,
                    "manage.py",
                    "up",
                    *self._options,
                    *(["--port", str(self.port)] if self.is_web else []),
                ],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def is_web(self) -> bool:
        """Whether it serves pages."""
        return "--no-web" not in self._options

    @property
    def url(self) -> str:
        """Its own address, past the proxy."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def log(self) -> str:
        """What it said."""
        return self._log.read_text(encoding="utf-8", errors="replace")

    def answers(self) -> bool:
        """Whether it is ready."""
        assert self._process is not None
        assert self._process.poll() is None, f"{self.name} ended:\n{self.log[-3000:]}"
        if self.is_web:
            return gets(f"{self.url}/health/")
        return self.log.count("The jobs worker is running") >= self._starts

    def stop(self) -> None:
        """SIGTERM, as an administrator does, until it has ended."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait(60)
            self._process = None

    def kill(self) -> None:
        """SIGKILL for every process of it at once, as when the power fails."""
        assert self._process is not None
        for pid in _family(self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self._process.wait()
        self._process = None

    def run(self, *words: str, code: str = "") -> str:
        """A command of manage.py on this host, or a piece of Python; what it printed."""
        begun = f"import django\ndjango.setup()\n{code}"
        command = [sys.executable, "manage.py", *words] if words else [sys.executable, "-c", begun]
        done = subprocess.run(
            command, cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout


def _family(pid: int) -> list[int]:
    """A process and all that it started, itself first."""
    children = Path(f"/proc/{pid}/task/{pid}/children")
    found = [pid]
    with contextlib.suppress(OSError):
        for child in children.read_text().split():
            found += _family(int(child))
    return found


def gets(url: str) -> bool:
    """Whether an address answers 200."""
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bool(answer.status == 200)
    except (OSError, urllib.error.URLError):
        return False


def wait_for(ready: Callable[[], object], what: str) -> None:
    """Until it is so; long enough for a busy machine."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not ready():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {PATIENCE_SECONDS} s for: {what}")
        time.sleep(0.05)


class Machine:
    """All of it."""

    def __init__(self, folder: Path, environment: dict[str, str], proxy_port: int) -> None:
        self.url = f"http://127.0.0.1:{proxy_port}"
        self.folder = folder
        self.web = [Host(f"web-{n}", folder, environment, ["--no-jobs"]) for n in (1, 2)]
        self.jobs = [
            Host("jobs-1", folder, environment, ["--no-web"]),
            # It has a timer too: where the only one died with its host, nobody would look for lost jobs.
            Host("jobs-2", folder, environment, ["--no-web"]),
        ]

    @property
    def hosts(self) -> list[Host]:
        """Web and jobs."""
        return [*self.web, *self.jobs]


@contextlib.contextmanager
def machine() -> Iterator[Machine]:
    """Everything but the hosts runs while the block does; hosts are the block's to start, and end with it."""
    user = services.service_user()
    folder = Path(tempfile.mkdtemp(prefix="hosts-", dir="/tmp"))
    try:
        with contextlib.ExitStack() as running:
            below = folder / "services"
            below.mkdir()
            if user is not None:
                shutil.chown(below, user)
            folder.chmod(0o755)
            direct = services.insist(lambda: services.start_postgres(below, user, running, durable=False))
            redis = services.insist(lambda: services.start_redis(below, user, running))
            pooled = _start_pooler(below, user, direct, running)
            s3 = _start_swift(folder / "swift", running)
            proxy = services.free_port()
            environment = {
                **{
                    name: value for name, value in os.environ.items() if not name.startswith(("PG", "DJANGO"))
                },
                **shared_settings(),
                "DJANGO_SETTINGS_MODULE": "distillery.settings",
                "DATABASE_URL": pooled,
                "DATABASE_DIRECT_URL": direct,
                "REDIS_URL": redis,
                "SECRET_KEY": "the-same-on-every-host-of-this-machine-1234567890",
                "ALLOWED_HOSTS": "127.0.0.1,localhost",
                "PUBLIC_URL": f"http://127.0.0.1:{proxy}",
                "DATA_STORAGE": f"s3://{BUCKET}/data",
                "DATA_S3_ENDPOINT": s3,
                "DATA_S3_REGION": "us-east-1",
                "DATA_S3_ACCESS_KEY": ACCESS_KEY,
                "DATA_S3_SECRET_KEY": SECRET_KEY,
                "RETRIEVAL_ENGINE": "tantivy",
                "WEB_WORKERS": "1",
                "JOBS_LEASE_SECONDS": "5",
                "JOBS_POLL_SECONDS": "1",
                "PYTHONWARNINGS": "ignore",
            }
            found = Machine(folder, environment, proxy)
            _start_proxy(folder, proxy, [host.port for host in found.web], running)
            try:
                yield found
            finally:
                for host in found.hosts:
                    if host._process is not None:
                        host.kill()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _start_pooler(folder: Path, user: str | None, direct: str, running: contextlib.ExitStack) -> str:
    parts, port = urlsplit(direct), services.free_port()
    (folder / "pgbouncer.ini").write_text(
        f"[databases]\n* = host={parts.hostname} port={parts.port} user={parts.username}\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        "pool_mode = transaction\ndefault_pool_size = 10\nmax_client_conn = 500\n"
    )
    (folder / "pgbouncer.ini").chmod(0o644)
    process = services.start(
        [find_program("pgbouncer"), str(folder / "pgbouncer.ini")], folder=folder, user=user, running=running
    )
    ask = [services.find_program("pg_isready"), "--quiet", "--host=127.0.0.1", f"--port={port}"]
    ready = lambda: subprocess.run(ask, check=False).returncode == 0  # noqa: E731
    services.wait_until(ready, process, folder / "pgbouncer.log")
    return urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}"))


def _start_proxy(folder: Path, port: int, webs: list[int], running: contextlib.ExitStack) -> None:
    servers = "".join(f"server 127.0.0.1:{web} max_fails=1 fail_timeout=1s;" for web in webs)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/nginx-error.log; worker_processes 1;\n"
        "events { worker_connections 512; }\n"
        "http { access_log off; client_max_body_size 0;\n"
        + "".join(
            f"{kind}_temp_path {folder}/nginx-{kind};\n"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        + f"upstream web {{ {servers} }}\n"
        f"server {{ listen 127.0.0.1:{port}; location / {{ proxy_pass http://web;\n"
        "proxy_set_header Host $http_host;\n"
        "proxy_connect_timeout 2s; proxy_next_upstream error timeout; } } }\n"
    )
    services.start(
        [find_program("nginx"), "-c", str(folder / "nginx.conf"), "-p", str(folder), "-e", "stderr"],
        folder=folder,
        user=None,
        running=running,
    )


_SWIFT_PROXY = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {folder}
user = {user}
workers = 0
[pipeline:main]
pipeline = catch_errors cache listing_formats bulk s3api tempauth slo dlo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
error_suppression_limit = 1000000
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:bulk]
use = egg:swift#bulk
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = testing .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
"""
_SWIFT_PART = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
user = {user}
workers = 0
fallocate_reserve = 0
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
"""


def _start_swift(folder: Path, running: contextlib.ExitStack) -> str:
    """One object server of each kind with one copy, and the proxy with the S3 interface; its address."""
    import pwd

    user = pwd.getpwuid(os.geteuid()).pw_name
    (folder / "devices" / "one").mkdir(parents=True)
    (folder / "swift.conf").write_text(
        "[swift-hash]\nswift_hash_path_prefix = a\nswift_hash_path_suffix = b\n[storage-policy:0]\nname = p\n"
        "default = yes\n"
    )
    for kind in ("object", "container", "account"):
        port, builder = services.free_port(), str(folder / f"{kind}.builder")
        ring = [find_program("swift-ring-builder"), builder]
        for words in (["create", "4", "1", "1"], ["add", f"r1z1-127.0.0.1:{port}/one", "1"], ["rebalance"]):
            subprocess.run([*ring, *words], check=False, capture_output=True, cwd=folder)
        place = folder / f"{kind}.conf"
        place.write_text(_SWIFT_PART.format(port=port, folder=folder, kind=kind, user=user))
        services.start(
            [find_program(f"swift-{kind}-server"), str(place), "-v"],
            folder=folder,
            user=None,
            running=running,
        )
    port = services.free_port()
    (folder / "proxy.conf").write_text(_SWIFT_PROXY.format(port=port, folder=folder, user=user))
    process = services.start(
        [find_program("swift-proxy-server"), str(folder / "proxy.conf"), "-v"],
        folder=folder,
        user=None,
        running=running,
    )
    address = f"http://127.0.0.1:{port}"
    services.wait_until(lambda: _bucket_is_made(address), process, folder / "swift-proxy-server.log")
    return address


def _bucket_is_made(address: str) -> bool:
    import boto3
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError, ClientError

    client = boto3.client(
        "s3",
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        config=Config(retries={"total_max_attempts": 1}, s3={"addressing_style": "path"}),
    )
    try:
        client.create_bucket(Bucket=BUCKET)
    except (BotoCoreError, ClientError):
        return False
    return True


def main() -> None:
    """Run until Ctrl-C."""
    with machine() as found:
        for host in found.hosts:
            host.start()
        for host in found.hosts:
            wait_for(host.answers, host.name)
            sys.stdout.write(f"{host.name}: {host.url if host.is_web else 'jobs'}, data in {host.folder}\n")
        sys.stdout.write(f"The proxy: {found.url} (Ctrl-C ends everything)\n")
        with contextlib.suppress(KeyboardInterrupt):
            signal.pause()


if __name__ == "__main__":
    main()
