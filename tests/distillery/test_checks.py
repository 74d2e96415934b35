"""What the system checks and the doctor say, and when."""

import json
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from core.jobs import services
from core.jobs.models import Job, WorkerHeartbeat
from crowd.models import EndpointRound
from distillery import checks, env
from tests.crowd.world import make_endpoint
from tests.retrieval.engine.opensearch.server import serving

FOR_THIS_MACHINE = ["localhost", "127.0.0.1", "[::1]"]


@pytest.fixture(autouse=True)
def an_ordinary_set_up(settings):
    settings.ALLOWED_HOSTS = list(FOR_THIS_MACHINE)
    settings.PUBLIC_URL = ""
    settings.DEBUG = False
    settings.MARKETPLACE_TEST_TOKEN = ""


def ids(messages):
    return [message.id for message in messages]


# System checks


def test_an_ordinary_set_up_passes_every_check():
    assert checks.check_hosts(None) == []
    assert checks.check_public_url(None) == []
    assert checks.check_secret_key(None) == []


def test_a_star_among_the_hosts_and_debug_where_others_can_come_in_are_errors(settings):
    settings.DEBUG = True
    assert checks.check_hosts(None) == []
    settings.ALLOWED_HOSTS = ["localhost", "crowd.example.org"]
    [error] = checks.check_hosts(None)
    assert (error.id, "crowd.example.org" in error.msg) == ("distillery.E002", True)
    settings.DEBUG, settings.ALLOWED_HOSTS = False, ["*"]
    [error] = checks.check_hosts(None)
    assert error.id == "distillery.E001"
    assert error.hint == "List the names people use for this site, separated by commas."


def test_a_public_url_is_an_address_that_is_answered_and_encrypted(settings):
    https = ("HTTP_X_FORWARDED_PROTO", "https")
    for url, hosts, header, found in (
        ("crowd.example.org", FOR_THIS_MACHINE, None, ["distillery.E003"]),
        ("ftp://crowd.example.org", FOR_THIS_MACHINE, None, ["distillery.E003"]),
        ("https://", FOR_THIS_MACHINE, None, ["distillery.E003"]),
        ("https://crowd.example.org/site", FOR_THIS_MACHINE, None, ["distillery.E003"]),
        ("https://crowd.example.org", FOR_THIS_MACHINE, https, ["distillery.E005"]),
        ("https://crowd.example.org", [".example.org"], https, []),
        ("http://crowd.example.org", ["crowd.example.org", "localhost"], https, ["distillery.W001"]),
        ("http://localhost:8000", ["crowd.example.org", "localhost"], https, []),
        ("https://crowd.example.org", ["crowd.example.org"], None, ["distillery.W002"]),
    ):
        settings.PUBLIC_URL, settings.ALLOWED_HOSTS = url, hosts
        settings.SECURE_PROXY_SSL_HEADER = header
        assert ids(checks.check_public_url(None)) == found, (url, hosts, header)


def test_a_secret_key_that_can_be_guessed_is_an_error(settings):
    for key in ("secret", "x" * 60, "django-insecure-" + "abcdefghij" * 5):
        settings.SECRET_KEY = key
        assert ids(checks.check_secret_key(None)) == ["distillery.E004"]


def test_which_hosts_are_this_machine():
    here = ("localhost", "127.0.0.1", "127.8.8.8", "[::1]", "::1", "a.localhost")
    elsewhere = ("*", "0.0.0.0", "localhost.example.org", ".example.org", "10.0.0.1")
    assert [host for host in (*here, *elsewhere) if checks.is_loopback(host)] == list(here)


# Findings


def one(topic, found):
    return [finding for finding in found if finding.topic == topic]


def test_a_folder_that_is_not_there_or_open_to_all_users_is_said(settings, tmp_path, monkeypatch):
    settings.DATA_DIR = tmp_path / "nowhere"
    finding = checks.data_folder()
    assert (finding.level, finding.sentence) == ("error", f"{tmp_path}/nowhere does not exist.")
    monkeypatch.setattr(checks.connection, "vendor", "sqlite")
    settings.DATA_DIR = tmp_path
    tmp_path.chmod(0o755)
    assert checks.data_folder().remedy == f"chmod o= {tmp_path}"
    tmp_path.chmod(0o750)
    assert checks.data_folder().level == "ok"


@pytest.mark.only_on("unprivileged")
def test_a_folder_that_cannot_be_written_is_an_error(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    tmp_path.chmod(0o500)
    assert checks.data_folder().level == "error"


def test_a_secret_that_others_can_read_is_an_error(settings, tmp_path):
    settings.DATA_DIR = tmp_path
    secret = tmp_path / "secrets" / "secret_key"
    secret.parent.mkdir()
    secret.write_text("x")
    secret.chmod(0o640)
    finding = checks.secrets_modes()
    assert (finding.level, finding.remedy) == ("error", f"chmod 600 {secret}")
    secret.chmod(0o600)
    assert checks.secrets_modes().level == "ok"


def test_the_file_system_is_that_of_the_deepest_mount(tmp_path):
    mounts = tmp_path / "mounts"
    mounts.write_text(
        "/dev/sda1 / ext4 rw 0 0\n"
        f"server:/home {tmp_path}/home nfs4 rw 0 0\n"
        f"/dev/sdb1 {tmp_path}/home/with\\040blank xfs rw 0 0\n"
    )
    assert checks.file_system_of(tmp_path / "home" / "mary", mounts) == "nfs4"
    assert checks.file_system_of(tmp_path / "home" / "with blank", mounts) == "xfs"
    assert checks.file_system_of(Path("/var"), mounts) == "ext4"
    assert checks.file_system_of(tmp_path, tmp_path / "no such file") == ""


def test_sqlite_on_a_network_file_system_is_an_error(monkeypatch):
    monkeypatch.setattr(checks, "file_system_of", lambda folder: "nfs4")
    finding = checks.database_place()
    if connection.vendor == "sqlite":
        assert (finding.level, "network file system (nfs4)" in finding.sentence) == ("error", True)
    else:
        assert finding.level == "ok"


def test_debug_and_test_controls_are_warnings(settings):
    settings.DEBUG, settings.MARKETPLACE_TEST_TOKEN = True, "token"
    assert checks.debug_mode().level == "warning"
    assert checks.test_controls().level == "warning"
    assert "move the clock" in checks.test_controls().sentence


def test_names_without_a_public_url_are_a_warning(settings):
    settings.ALLOWED_HOSTS = ["localhost", ".example.org"]
    assert checks.public_url().level == "warning"
    assert "PUBLIC_URL=https://example.org" in checks.public_url().remedy


def test_little_room_on_the_disk_is_said(monkeypatch):
    for free, level in ((5 << 30, "ok"), (500 << 20, "warning"), (50 << 20, "error")):
        usage = type("Usage", (), {"free": free})
        monkeypatch.setattr(checks.shutil, "disk_usage", lambda folder, usage=usage: usage)
        assert checks.disk_space().level == level


def test_missing_style_sheets_are_an_error(settings, tmp_path):
    settings.STATICFILES_DIRS = [tmp_path]
    assert checks.static_files().level == "error"
    (tmp_path / "site.css").touch()
    assert checks.static_files().level == "ok"


@pytest.mark.long
@pytest.mark.django_db
def test_the_database_in_force_is_named():
    name = {"sqlite": "SQLite 3.", "postgresql": "PostgreSQL 1"}[connection.vendor]
    assert checks.database().sentence.startswith(name)
    assert checks.sqlite_journal().level == "ok"
    assert checks.clock().level == "ok"
    assert checks.migrations().sentence == ("All migrations are applied, and the tables are what they make.")
    assert checks.broker().level == "ok"


@pytest.mark.only_on("postgresql")
@pytest.mark.django_db
def test_two_clocks_that_disagree_are_a_warning(monkeypatch):
    ahead = timezone.now() + timedelta(minutes=2)
    monkeypatch.setattr(checks.timezone, "now", lambda: ahead)
    assert "differ by 120 s" in checks.clock().sentence


@pytest.mark.django_db
def test_a_worker_is_missed_after_a_minute():
    assert checks.worker().sentence == "No jobs worker has ever answered here."
    services.worker_seen(name="here:1")
    assert checks.worker().level == "ok"
    WorkerHeartbeat.objects.update(seen_at=timezone.now() - timedelta(minutes=5, seconds=1))
    assert checks.worker().sentence == "No jobs worker has answered for 5 minutes."


@pytest.mark.django_db
def test_failed_jobs_are_a_warning():
    assert checks.failed_jobs().level == "ok"
    Job.objects.create(kind="a", state="failed", finished_at=timezone.now())
    assert checks.failed_jobs().sentence == "1 job has failed for good."


@pytest.mark.django_db
def test_a_job_that_runs_for_hours_without_a_word_is_named():
    assert checks.silent_jobs().sentence == ""
    job = services.begin(kind="annotation.import", payload={})
    assert checks.silent_jobs().sentence == ""
    Job.objects.update(reported_at=timezone.now() - timedelta(hours=3, seconds=1))
    assert checks.silent_jobs().sentence == (
        f"Running without a word: job {job.pk} (annotation.import) for 3 hours."
    )


@pytest.mark.django_db
def test_a_marketplace_that_does_not_answer_is_named_with_the_cause():
    assert checks.outages().sentence == ""
    endpoint = make_endpoint()
    since = timezone.now() - timedelta(minutes=5, seconds=1)
    EndpointRound.objects.create(endpoint=endpoint, down_since=since, down_cause="connection refused")
    assert checks.outages().sentence == (
        f"{endpoint.name} has not answered as it should for 5 minutes: connection refused."
    )


@pytest.mark.django_db
def test_a_migration_that_is_missing_is_an_error():
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'sessions'")
        cursor.execute("DROP TABLE django_session")
    assert checks.migrations().sentence == "1 migration is not applied."


# The command


def doctor(*options):
    said = StringIO()
    code = 0
    try:
        call_command("doctor", *options, stdout=said, no_color=True)
    except SystemExit as end:
        code = end.code
    return code, said.getvalue()


@pytest.mark.django_db
def test_the_doctor_says_what_is_well_and_what_is_not_with_its_remedy_and_its_exit_code(settings):
    code, said = doctor()
    assert code == 0
    assert "The site answers as localhost, 127.0.0.1, [::1]." in said
    assert "warning worker: No jobs worker has ever answered here.\n        Start one: `manage.py up`" in said
    assert "No errors, " in said
    settings.ALLOWED_HOSTS = ["*"]
    code, said = doctor()
    assert code == 1
    assert "ERROR   settings (distillery.E001): ALLOWED_HOSTS contains *" in said
    assert "\n        List the names people use for this site" in said
    assert "1 error, " in said
    code, said = doctor("--json")
    report = json.loads(said)
    assert (code, report["ok"]) == (1, False)
    assert {"level", "topic", "sentence", "remedy"} == set(report["findings"][0])


@pytest.mark.long
def test_a_database_or_broker_that_does_not_answer_and_settings_that_cannot_be_used_are_said(installation):
    examined = installation.manage(
        "doctor",
        "--json",
        DATABASE_URL="postgres://nobody@127.0.0.1:1/nothing",
        REDIS_URL="redis://127.0.0.1:1/0",
    )
    assert examined.returncode == 1, examined.stderr
    found = json.loads(examined.stdout)["findings"]
    errors = {finding["topic"]: finding["sentence"] for finding in found if finding["level"] == "error"}
    assert set(errors) == {"database", "broker"}
    assert "does not answer" in errors["database"]
    assert "does not answer" in errors["broker"]
    for variables, sentence in (
        ({"RETRIEVAL_ENGINE": "opensearch"}, "RETRIEVAL_ENGINE=opensearch needs OPENSEARCH_URL.\n"),
        ({"DEBUG": "maybe"}, "DEBUG='maybe' is neither yes nor no. Use 1 or 0.\n"),
    ):
        examined = installation.manage("doctor", **variables)
        assert (examined.returncode, examined.stderr) == (1, sentence)


def test_a_search_server_is_asked_only_where_there_is_one(settings, monkeypatch):
    assert checks.search_engine().sentence == ""
    monkeypatch.setattr("retrieval.engine.cluster.READING", 0.0)
    settings.RETRIEVAL_ENGINE, settings.OPENSEARCH_URL = "opensearch", "http://127.0.0.1:1"
    found = checks.search_engine()
    assert (found.level, found.remedy) == ("warning", "Candidates cannot be found until it answers.")
    assert "OpenSearch at http://127.0.0.1:1 does not answer." in found.sentence
    with serving("3.6.0") as server:
        settings.OPENSEARCH_URL = server.url
        assert checks.search_engine().sentence == f"OpenSearch 3.6.0 answers at {server.url}."


def test_a_prefix_that_opensearch_would_not_take_is_refused(monkeypatch):
    for prefix in ("Upper", "9lives", "a b", "x*"):
        monkeypatch.setenv("OPENSEARCH_PREFIX", prefix)
        with pytest.raises(ImproperlyConfigured, match="small letters, digits and hyphens"):
            env.name("OPENSEARCH_PREFIX", "distillery")
