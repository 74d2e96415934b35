"""What can be wrong with a set-up, in plain words.

It is called by Django's system checks (`check_…`, run before every command; an error stops it) for what
is dangerous in the settings, and, as `findings`, by `manage.py doctor` and `up`, which also look at the
machine: folders, database, broker, worker.
"""

import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.apps import AppConfig
from django.conf import settings
from django.contrib.staticfiles import finders
from django.core import checks as django_checks
from django.core.checks import CheckMessage
from django.db import DEFAULT_DB_ALIAS, connection
from django.db import Error as DatabaseTrouble
from django.http.request import validate_host
from django.utils import timezone
from kombu.exceptions import OperationalError

from core.audit import chain
from core.audit.tasks import last_faults
from core.jobs import selectors as jobs_selectors
from core.jobs.services import format_span
from crowd.models import DispatchHalt
from crowd.outbox import epoch
from crowd.selectors.operations import list_outages
from crowd.services.endpoints import is_safe
from distillery import canary, env, traces
from distillery.celery import app as celery_app
from distillery.extension import describe_faults
from distillery.health import Finding, Level
from distillery.presence import hosts
from distillery.schema import inspect_schema
from marketplace.forms.loopback import is_loopback
from marketplace.lifecycle.traces import geoip_fault
from marketplace.models import Requester
from marketplace.money.ledger import last_audit
from retrieval.errors import RetrievalError

WORKER_SILENCE = timedelta(seconds=60)
JOB_SILENCE = timedelta(hours=1)
MOST_NAMED = 5


def worker() -> Finding:
    """A jobs worker did something lately."""
    silence = jobs_selectors.worker_silence()
    remedy = "Start one: `manage.py up`, or `manage.py up --no-web` beside a web server of its own."
    if silence is None:
        return Finding("warning", "worker", "No jobs worker has ever answered here.", remedy)
    if silence > WORKER_SILENCE:
        return Finding(
            "warning", "worker", f"No jobs worker has answered for {format_span(silence)}.", remedy
        )
    return Finding("ok", "worker", f"A jobs worker answered {format_span(silence)} ago.")


def failed_jobs() -> Finding:
    """Jobs that nobody will try again by himself."""
    failed = jobs_selectors.jobs_counted()["failed"]
    if failed:
        return Finding(
            "warning",
            "jobs",
            f"{failed} job{'s have' if failed > 1 else ' has'} failed for good.",
            "See `manage.py jobs list --state failed`; `manage.py jobs retry NUMBER` tries one again.",
        )
    return Finding("ok", "jobs", "No job has failed.")


def silent_jobs() -> Finding:
    """Jobs whose handler runs, and has reported nothing for long."""
    silent = list(jobs_selectors.silent_jobs(since=JOB_SILENCE)[:MOST_NAMED])
    if not silent:
        return Finding("ok", "jobs", "")
    named = ", ".join(
        f"job {job.pk} ({job.kind}) for {format_span(job.now - job.reported_at)}"  # type: ignore[attr-defined]  # annotated and filtered
        for job in silent
    )
    return Finding(
        "warning",
        "jobs",
        f"Running without a word: {named}.",
        "`manage.py jobs cancel NUMBER` closes one. Each ends by itself at the longest time of its kind.",
    )


def ledger() -> Finding:
    """What the last audit of our marketplace's ledger found."""
    report = last_audit()
    if report is None:
        return Finding("ok", "ledger", "")
    if report.faults:
        return Finding(
            "error",
            "ledger",
            describe_faults(report.day, report.faults),
            "`manage.py marketplace audit` names them all. Pay nothing out before it is clean.",
        )
    return Finding("ok", "ledger", f"The audit of {report.day} found no fault.")


def currency() -> Finding:
    """Real money is in the currency in which it was booked."""
    others = Requester.objects.exclude(currency__in=("", settings.MARKETPLACE_CURRENCY))
    try:
        booked = others.order_by("pk").values_list("name", "currency").first()
    except DatabaseTrouble:  # before the migration that `up` makes after this look
        return Finding("ok", "currency", "")
    if booked is None:
        return Finding("ok", "currency", "")
    return Finding(
        "error",
        "currency",
        f"{booked[0]} has real money in {booked[1]}, and MARKETPLACE_CURRENCY is "
        f"{settings.MARKETPLACE_CURRENCY}.",
        f"Set MARKETPLACE_CURRENCY={booked[1]} again.",
    )


def audit_log() -> Finding:
    """Whether the triggers of the audit log are there, and what the last look at its chains found."""
    if unguarded := chain.tables_without_triggers(connection):
        return Finding(
            "error",
            "audit log",
            f"The database lets entries be changed: triggers are missing on {', '.join(unguarded)}.",
            "`manage.py migrate` makes them again.",
        )
    last_look = last_faults()
    if last_look is None:
        return Finding("ok", "audit log", "")
    day, faults = last_look
    if faults:
        more = f" and {len(faults) - 1} more" if len(faults) > 1 else ""
        return Finding(
            "error",
            "audit log",
            f"On {day} the chain was not whole: {faults[0]}{more}",
            "`manage.py audit verify` names everything. Compare with a backup.",
        )
    return Finding("ok", "audit log", f"On {day} no entry was missing or changed.")


def buckets() -> list[Finding]:
    """The storage in buckets takes, lists, gives and deletes a small object."""
    places = {"DATA_STORAGE": settings.DATA_STORAGE, "RELEASES_STORAGE": settings.RELEASES_STORAGE}
    return [
        _bucket(setting, place, f"{setting.removesuffix('_STORAGE')}_S3")
        for setting, place in places.items()
        if place.startswith("s3://")
    ]


def _bucket(setting: str, place: str, names: str) -> Finding:
    from core.bucketprobe import find_bucket_fault  # boto3, only where it is the storage

    if fault := find_bucket_fault(setting, place, names=names):
        remedy = f"Give the key the rights below the prefix, or correct {setting} and {names}_…."
        return Finding("error", "storage", fault, remedy)
    return Finding("ok", "storage", f"{place} can be written, listed, read and deleted from.")


def outages() -> Finding:
    """Marketplaces that do not answer as they should."""
    down = list(list_outages()[:MOST_NAMED])
    if not down:
        return Finding("ok", "marketplaces", "")
    named = " ".join(
        f"{each.endpoint.name} has not answered as it should for {format_span(each.span)}: {each.down_cause}."
        for each in down
    )
    return Finding(
        "warning",
        "marketplaces",
        named,
        "Nothing is lost: rounds go on trying. Look at the marketplace, or at what is between it and here.",
    )


def secret_key() -> Finding:
    """This host has the key that the secrets in the database were sealed with, and keeps it."""
    place = settings.DATA_DIR / "secrets" / "secret_key"
    if not env.text("SECRET_KEY") and not place.exists():
        return Finding(
            "error",
            "secrets",
            "There is no SECRET_KEY, and none was generated: the database did not say whether it holds "
            "secrets that another one sealed.",
            f"Run this again now that it answers. A key of yours goes into {place}.",
        )
    if canary.key_opens() is False:
        return Finding(
            "error",
            "secrets",
            "SECRET_KEY is not the one that sealed the secrets in this database: no key of a requester or a "
            "marketplace would open.",
            "Put the old one back (secrets/secret_key of a backup's keys file, or SECRET_KEY of the other "
            "hosts), or add it to SECRET_KEY_FALLBACKS and run `manage.py reseal`.",
        )
    return Finding("ok", "secrets", "SECRET_KEY opens what is sealed in the database.")


def dispatching() -> Finding:
    """Calls go out to marketplaces, or a restore keeps them back."""
    halted = list(DispatchHalt.objects.select_related("endpoint").order_by("endpoint__name"))
    if halted:
        names = ", ".join(halt.endpoint.name for halt in halted)
        since = halted[0].since
        return Finding(
            "error",
            "marketplaces",
            f"Nothing is sent to {names} since {since:%Y-%m-%d %H:%M} UTC. {halted[0].why}",
            f"Run `{epoch.COMMAND}`: it looks up what was done after the backup, then lets sending go on.",
        )
    if unsure := epoch.unsure():
        return Finding("error", "marketplaces", unsure, "One of the two commands lets sending go on.")
    return Finding("ok", "marketplaces", "Calls go out to marketplaces.")


LEAST_SECRET_LENGTH = 32
LOW_DISK_BYTES = 1 << 30
TOLERATED_SKEW = timedelta(seconds=5)
OLDEST_POSTGRES = 140000
OTHERS = stat.S_IRWXG | stat.S_IRWXO
NETWORK_FILE_SYSTEMS = {
    *("9p", "afs", "afpfs", "beegfs", "ceph", "cifs", "davfs", "fuse.ceph", "fuse.glusterfs"),
    *("fuse.rclone", "fuse.s3fs", "fuse.sshfs", "gfs2", "glusterfs", "gpfs", "lustre", "nfs", "nfs4"),
    *("ocfs2", "smb3", "smbfs"),
}


# System checks: settings that are dangerous as they stand


def check_hosts(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """No `*` host; no debug pages for anybody but this machine."""
    messages: list[CheckMessage] = []
    if "*" in settings.ALLOWED_HOSTS:
        messages.append(
            django_checks.Error(
                "ALLOWED_HOSTS contains *, so anybody can make this site link to theirs.",
                hint="List the names people use for this site, separated by commas.",
                id="distillery.E001",
            )
        )
    elsewhere = [host for host in settings.ALLOWED_HOSTS if not is_loopback(host)]
    if settings.DEBUG and elsewhere:
        messages.append(
            django_checks.Error(
                f"DEBUG is on and the site answers as {', '.join(elsewhere)}: its error pages tell secrets.",
                hint="Set DEBUG=0, or allow loopback hosts alone.",
                id="distillery.E002",
            )
        )
    return messages


def check_public_url(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """PUBLIC_URL is a whole address that this site answers, and encrypted if it is not loopback."""
    if not settings.PUBLIC_URL:
        return []
    url = urlsplit(settings.PUBLIC_URL)
    if url.scheme not in {"http", "https"} or not url.hostname or url.path or url.query:
        return [
            django_checks.Error(
                f"PUBLIC_URL={settings.PUBLIC_URL} is not an address like https://crowd.example.org.",
                hint="Scheme and host, a port if it is unusual, and nothing after them.",
                id="distillery.E003",
            )
        ]
    messages: list[CheckMessage] = []
    if not validate_host(url.hostname, settings.ALLOWED_HOSTS):
        messages.append(
            django_checks.Error(
                f"PUBLIC_URL names {url.hostname}, ALLOWED_HOSTS does not: every visitor would be refused.",
                hint=f"Add {url.hostname} to ALLOWED_HOSTS.",
                id="distillery.E005",
            )
        )
    if url.scheme == "http" and not is_loopback(url.hostname):
        messages.append(
            django_checks.Warning(
                "PUBLIC_URL is http: passwords and answers travel unencrypted.",
                hint="Put a TLS proxy in front (docs/operator.md) and use https.",
                id="distillery.W001",
            )
        )
    if url.scheme == "https" and getattr(settings, "SECURE_PROXY_SSL_HEADER", None) is None:
        messages.append(
            django_checks.Warning(
                "PUBLIC_URL is https, but requests look like http: BEHIND_TLS_PROXY is not set.",
                hint="Set BEHIND_TLS_PROXY=1 if a proxy in front encrypts and sets X-Forwarded-Proto.",
                id="distillery.W002",
            )
        )
    return messages


def check_ping_url(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """PING_URL is https, as every address that is called elsewhere; it is a secret, so no message has it."""
    if not settings.PING_URL or is_safe(settings.PING_URL):
        return []
    return [
        django_checks.Error(
            "PING_URL is not an https address (http is for this machine only).",
            hint="Write it as the monitor shows it, such as https://hc-ping.example.org/your-id.",
            id="distillery.E006",
        )
    ]


def check_tracing(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """Where a collector is named, its client is installed."""
    if not settings.TRACES or traces.is_installed():
        return []
    return [
        django_checks.Error(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, and OpenTelemetry is not installed.",
            hint="pip install '.[otel]' in the folder of Distillery, or unset the variable.",
            id="distillery.E007",
        )
    ]


def check_secret_key(app_configs: Iterable[AppConfig] | None, **kwargs: Any) -> list[CheckMessage]:
    """A given SECRET_KEY is as hard to guess as a generated one: sessions and requesters' keys hang on it."""
    key = settings.SECRET_KEY
    if len(key) >= LEAST_SECRET_LENGTH and len(set(key)) >= 8 and not key.startswith("django-insecure-"):
        return []
    return [
        django_checks.Error(
            f"SECRET_KEY is easy to guess: it needs {LEAST_SECRET_LENGTH} random characters or more.",
            hint='Leave it out and one is generated, or use the output of: python3 -c "import secrets; '
            'print(secrets.token_urlsafe(50))"',
            id="distillery.E004",
        )
    ]


def check_tables(
    app_configs: Iterable[AppConfig] | None, databases: Iterable[str] | None = None, **kwargs: Any
) -> list[CheckMessage]:
    """The tables are what the applied migrations made. Django runs it before `migrate`, and only then."""
    if DEFAULT_DB_ALIAS not in (databases or ()) or (report := inspect_schema()).is_well:
        return []
    return [
        django_checks.Error(
            f"Nothing was migrated. {report.sentence}",
            hint=f"{report.remedy} To repair tables by hand, run it with --skip-checks.",
            id="distillery.E008",
        )
    ]


# Findings: the settings and the machine


def findings(*, before_start: bool = False, migrates: bool = True) -> list[Finding]:
    """Everything there is to say; `before_start` leaves out what `up` itself puts right, if it `migrates`."""
    all_findings = [*system_checks(), *(look() for look in _ALWAYS)]
    database_well = all(finding.level != "error" for finding in all_findings if finding.topic == "database")
    if database_well:
        all_findings += [sqlite_journal(), clock(), secret_key(), currency()]
        if not (before_start and migrates):
            all_findings += [migrations()]
    if database_well and not before_start and all_findings[-1].level != "error":
        all_findings += [
            dispatching(),
            worker(),
            failed_jobs(),
            silent_jobs(),
            outages(),
            ledger(),
            audit_log(),
            *hosts(),
        ]
    if not before_start:
        all_findings += buckets()
    return [finding for finding in all_findings if finding.sentence]


def system_checks() -> list[Finding]:
    """Django's checks with ours among them."""
    messages = [message for message in django_checks.run_checks() if not message.is_silenced()]
    checked = [
        Finding(
            "error" if message.is_serious() else "warning",
            f"settings ({message.id})",
            str(message.msg),
            str(message.hint or ""),
        )
        for message in messages
        if message.level >= django_checks.WARNING
    ]
    hosts = ", ".join(settings.ALLOWED_HOSTS)
    return checked or [Finding("ok", "settings", f"Nothing dangerous. The site answers as {hosts}.")]


def python_version() -> Finding:
    """Python 3.11 or newer."""
    version = ".".join(str(part) for part in sys.version_info[:3])
    if sys.version_info < (3, 11):  # noqa: UP036  # whoever asks may run an older one
        return Finding("error", "python", f"Python {version} is too old.", "Install Python 3.11 or newer.")
    return Finding("ok", "python", f"Python {version}.")


def user() -> Finding:
    """Not root: whatever goes wrong should go wrong with few rights."""
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        return Finding(
            "warning",
            "user",
            "This is root. A fault in Distillery could then touch the whole machine.",
            "Run it as a user of its own (docs/operator.md shows a systemd unit that does).",
        )
    return Finding("ok", "user", "An ordinary user, as it should be.")


def data_folder() -> Finding:
    """The folder exists, can be written, and is closed to strangers."""
    folder: Path = settings.DATA_DIR
    if not folder.is_dir():
        return Finding("error", "data folder", f"{folder} does not exist.", "Create it, or set DATA_DIR.")
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding(
            "error",
            "data folder",
            f"{folder} cannot be written by this user.",
            "Give the folder to the user that runs Distillery, or set DATA_DIR.",
        )
    if folder.stat().st_mode & stat.S_IRWXO and connection.vendor == "sqlite":
        return Finding(
            "warning",
            "data folder",
            f"Every user of this machine can look into {folder}, where the answers of people are.",
            f"chmod o= {folder}",
        )
    return Finding("ok", "data folder", f"{folder} can be written.")


def database_place() -> Finding:
    """SQLite's locks do not hold on a network file system."""
    topic = "data folder"
    if connection.vendor != "sqlite":
        return Finding("ok", topic, "")
    kind = file_system_of(Path(str(connection.settings_dict["NAME"])).parent)
    if kind in NETWORK_FILE_SYSTEMS:
        return Finding(
            "error",
            topic,
            f"The SQLite database lies on a network file system ({kind}), where it can be damaged.",
            "Set DATA_DIR to a folder on a local disk, or use PostgreSQL (DATABASE_URL).",
        )
    return Finding("ok", topic, f"The database lies on a local file system ({kind})." if kind else "")


def file_system_of(folder: Path, mounts: Path = Path("/proc/self/mounts")) -> str:
    """Type of the file system that holds the folder, "" where the system does not say."""
    try:
        lines = mounts.read_text(encoding="utf-8").splitlines()
    except OSError:
        return ""
    inside = [line.split()[1:3] for line in lines]
    holding = [
        (len(Path(_unescaped(place)).parts), number, kind)
        for number, (place, kind) in enumerate(inside)
        if folder.resolve().is_relative_to(_unescaped(place))
    ]
    return max(holding)[2] if holding else ""


def _unescaped(place: str) -> str:
    return place.replace("\\040", " ").replace("\\011", "\t").replace("\\134", "\\")


def secrets_modes() -> Finding:
    """Generated secrets are for our eyes only."""
    folder = settings.DATA_DIR / "secrets"
    open_ones = [path for path in sorted(folder.glob("*")) if path.stat().st_mode & OTHERS]
    if open_ones:
        names = ", ".join(str(path) for path in open_ones)
        return Finding("error", "secrets", f"Other users can read {names}.", f"chmod 600 {names}")
    return Finding("ok", "secrets", "Only this user can read the generated secrets.")


def database() -> Finding:
    """It answers, and is new enough."""
    try:
        connection.ensure_connection()
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
            version = _database_version()
    except DatabaseTrouble as error:
        first_line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        return Finding(
            "error",
            "database",
            f"The database does not answer: {first_line}.",
            "Start it, or correct DATABASE_URL (user, password, host, name).",
        )
    if connection.vendor == "postgresql" and connection.cursor().connection.server_version < OLDEST_POSTGRES:
        return Finding("error", "database", f"{version} is too old.", "Upgrade it to PostgreSQL 14 or newer.")
    return Finding("ok", "database", f"{version} answers.")


def _database_version() -> str:
    query, name = {
        "postgresql": ("SHOW server_version", "PostgreSQL"),
        "sqlite": ("SELECT sqlite_version()", "SQLite"),
    }[connection.vendor]
    with connection.cursor() as cursor:
        cursor.execute(query)
        return f"{name} {cursor.fetchone()[0]}"


def sqlite_journal() -> Finding:
    """WAL lets readers work while somebody writes."""
    if connection.vendor != "sqlite":
        return Finding("ok", "database", "")
    with connection.cursor() as cursor:
        mode = cursor.execute("PRAGMA journal_mode").fetchone()[0]
    if mode != "wal":
        return Finding(
            "error",
            "database",
            f"SQLite's journal mode is {mode}, so readers and writers lock each other out.",
            "Stop everything that uses the file; it is set to WAL at the next start if the disk allows that.",
        )
    return Finding("ok", "database", "SQLite writes ahead (WAL).")


def migrations() -> Finding:
    """The migrations of this version are applied, and the tables are what they made."""
    report = inspect_schema()
    if not report.is_well:
        return Finding("error", "tables", report.sentence, report.remedy)
    if report.waiting:
        sentence = f"{report.waiting} migration{'s are' if report.waiting > 1 else ' is'} not applied."
        remedy = "Run `manage.py migrate`, or start with `manage.py up`, which does."
        return Finding("error", "migrations", sentence, remedy)
    if report.unknown:
        sentence = f"The database is of a newer version: it went through {', '.join(report.unknown)}."
        remedy = "This version works on it if it is the one before. Upgrade this host too."
        return Finding("warning", "migrations", sentence, remedy)
    return Finding("ok", "migrations", "All migrations are applied, and the tables are what they make.")


def clock() -> Finding:
    """Host and database agree about the time."""
    if connection.vendor != "postgresql":
        return Finding("ok", "clock", "")
    before = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        database_time: datetime = cursor.fetchone()[0]
    skew = abs(database_time - (before + (timezone.now() - before) / 2))
    if skew > TOLERATED_SKEW:
        return Finding(
            "warning",
            "clock",
            f"The clocks of this host and of the database differ by {skew.total_seconds():.0f} s.",
            "Run a time service (chrony, systemd-timesyncd) on both.",
        )
    return Finding("ok", "clock", "Host and database agree about the time.")


def broker() -> Finding:
    """Messages can be sent."""
    if settings.REDIS_URL:
        return _redis()
    folder = settings.DATA_DIR / "broker" / "queue"
    if not os.access(folder, os.W_OK | os.X_OK):
        return Finding(
            "error", "broker", f"The broker's folder {folder} cannot be written.", "Give it to this user."
        )
    waiting = sum(1 for queue in settings.QUEUE_THREADS for _ in folder.glob(f"*.{queue}.msg"))
    return Finding("ok", "broker", f"Messages waiting in the embedded broker: {waiting}.")


def _redis() -> Finding:
    try:
        with celery_app.connection_for_write() as broker_connection:
            broker_connection.ensure_connection(max_retries=1, interval_start=0, timeout=5)
    except (OperationalError, OSError) as error:
        return Finding(
            "error", "broker", f"Redis does not answer: {error}.", "Start it, or correct REDIS_URL."
        )
    return Finding("ok", "broker", "Redis answers.")


def search_engine() -> Finding:
    """The server that finds passages answers, where there is one."""
    if settings.RETRIEVAL_ENGINE != "opensearch":
        return Finding("ok", "search engine", "")
    from retrieval.engine.cluster import cluster  # noqa: PLC0415  # only where OpenSearch is used

    try:
        place = cluster(settings.OPENSEARCH_URL, settings.OPENSEARCH_CERTIFICATES, os.getpid())
        version = place.read(lambda client: client.info())["version"]["number"]
    except RetrievalError as error:
        return Finding("warning", "search engine", str(error), "Candidates cannot be found until it answers.")
    return Finding("ok", "search engine", f"OpenSearch {version} answers at {place.where}.")


def countries() -> Finding:
    """The operator's file of countries can be read, where one is named."""
    if why := geoip_fault():
        return Finding("warning", "GEOIP_DATABASE", why, "Until then reviewers are not shown countries.")
    return Finding(
        "ok", "GEOIP_DATABASE", "The file of countries is read." if settings.GEOIP_DATABASE else ""
    )


def debug_mode() -> Finding:
    """DEBUG is for development (that it is off elsewhere is distillery.E002)."""
    if settings.DEBUG:
        return Finding("warning", "debug", "DEBUG is on: slow, and talkative about errors.", "Set DEBUG=0.")
    return Finding("ok", "debug", "DEBUG is off.")


def public_url() -> Finding:
    """Where people find the site."""
    if settings.PUBLIC_URL:
        return Finding("ok", "public address", f"People find the site at {settings.PUBLIC_URL}.")
    elsewhere = [host for host in settings.ALLOWED_HOSTS if not is_loopback(host)]
    if elsewhere:
        return Finding(
            "warning",
            "public address",
            "PUBLIC_URL is not set, so links and submit addresses follow what each browser calls the site.",
            f"Set PUBLIC_URL=https://{elsewhere[0].removeprefix('.')} or whatever people type.",
        )
    return Finding("ok", "public address", "The site is for this machine alone (PUBLIC_URL is not set).")


def test_controls() -> Finding:
    """Anyone with the test token can move the clock and delete every HIT."""
    if settings.MARKETPLACE_TEST_TOKEN:
        return Finding(
            "warning",
            "test controls",
            "MARKETPLACE_TEST_TOKEN is set: anyone who knows it can move the clock and delete all HITs.",
            "Unset it where people work for money.",
        )
    return Finding("ok", "test controls", "Test controls are off.")


def disk_space() -> Finding:
    """Room for what people will write."""
    folder = settings.DATA_DIR
    if not folder.is_dir():
        return Finding("ok", "disk", "")
    free = shutil.disk_usage(folder).free
    sentence = f"{free / (1 << 30):.1f} GiB are free for {folder}."
    if free < max(LOW_DISK_BYTES, settings.DISK_LEAST_FREE_MB << 20):
        level: Level = "error" if free < settings.DISK_LEAST_FREE_MB << 20 else "warning"
        return Finding(level, "disk", sentence, "Make room: a full disk loses answers.")
    return Finding("ok", "disk", sentence)


def static_files() -> Finding:
    """Style sheets and scripts are where the server looks."""
    empty = [str(folder) for folder in settings.STATICFILES_DIRS if not any(Path(folder).glob("*"))]
    if empty or not finders.find("admin/css/base.css"):
        return Finding(
            "error",
            "static files",
            f"Style sheets are missing{' from ' + ', '.join(empty) if empty else ''}.",
            "Install Distillery again: a file of the installation is missing.",
        )
    return Finding("ok", "static files", "Style sheets and scripts are there.")


_ALWAYS: tuple[Callable[[], Finding], ...] = (
    python_version,
    user,
    data_folder,
    database_place,
    secrets_modes,
    public_url,
    debug_mode,
    test_controls,
    disk_space,
    static_files,
    broker,
    search_engine,
    countries,
    database,
)
