"""The container files, read as hadolint and `docker compose config` would: no engine is needed for this."""

import itertools
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.repository import ROOT, list_packages

DOCKER = ROOT / "docker"
COMPOSE: dict[str, Any] = yaml.safe_load((DOCKER / "compose.yaml").read_text(encoding="utf-8"))
SEARCH: dict[str, Any] = yaml.safe_load((DOCKER / "opensearch.yaml").read_text(encoding="utf-8"))
README = (DOCKER / "README.md").read_text(encoding="utf-8")
OURS = [name for name, service in COMPOSE["services"].items() if "build" in service]


def instructions() -> list[tuple[str, str]]:
    """Instructions of the Dockerfile with their arguments, continuation lines joined."""
    text = (DOCKER / "Dockerfile").read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(None, 1)[0], line.split(None, 1)[1]) for line in lines]


def arguments_of(instruction: str) -> list[str]:
    return [argument for name, argument in instructions() if name == instruction]


def test_every_image_has_a_version_and_a_digest():
    images = [line.split()[0] for line in arguments_of("FROM")]
    images += re.findall(r"^FROM (\S+)", (DOCKER / "pooler.Dockerfile").read_text(), re.MULTILINE)
    images += [service["image"] for name, service in COMPOSE["services"].items() if name not in OURS]
    for image in images:
        assert re.fullmatch(r"[a-z]+:\d+(\.\d+)?-[a-z]+@sha256:[0-9a-f]{64}", image), image
        assert f"`{image.partition('@')[0]}`" in README, "README.md says which version the digest is of"


def test_the_container_does_not_run_as_root():
    assert arguments_of("USER")[-1] == "distillery"
    names = [name for name, _ in instructions()]
    assert names.index("USER") < names.index("CMD")


def test_only_locked_packages_are_installed():
    installs = [line for line in arguments_of("RUN") if "pip" in line]
    assert installs
    for line in installs:
        assert "--require-hashes" in line
        assert "--no-cache-dir" in line
        assert "base.txt" in line


def test_the_dockerfile_follows_the_rules_of_hadolint():
    names = [name for name, _ in instructions()]
    assert not {"ADD", "MAINTAINER"} & set(names), "DL3020, DL4000"
    assert names.count("CMD") == 1, "DL4003"
    assert all(line.startswith("[") for line in arguments_of("CMD")), "DL3025"
    assert all(line.startswith("/") for line in arguments_of("WORKDIR")), "DL3000"
    assert names.index("WORKDIR") < names.index("COPY"), "DL3045"
    assert all("sudo" not in line and "cd " not in line for line in arguments_of("RUN")), "DL3003, DL3004"
    assert all("--no-log-init" in line for line in arguments_of("RUN") if "useradd" in line), "DL3046"
    assert ("RUN", "RUN") not in itertools.pairwise(names), "DL3059"


def test_the_image_holds_every_package_and_no_data():
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert {*list_packages(), "distributions/learned"} <= kept
    assert {"manage.py", "templates", "static", "requirements"} <= kept
    assert not {"var", "docker", "tests", ".git", ".venv"} & kept


def test_web_worker_timer_and_migrations_are_services():
    assert set(OURS) == {"web", "worker", "beat", "migrate"}
    assert set(COMPOSE["services"]) == {*OURS, "postgres", "redis"}


def test_the_image_starts_the_same_web_server_as_compose():
    assert arguments_of("CMD") == [str(COMPOSE["services"]["web"]["command"]).replace("'", '"')]


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_what_a_service_refers_to_is_there(name):
    service = COMPOSE["services"][name]
    assert set(service.get("depends_on", [])) <= set(COMPOSE["services"])
    assert set(service.get("secrets", [])) <= set(COMPOSE["secrets"])
    for volume in service.get("volumes", []):
        assert volume.split(":")[0] in COMPOSE["volumes"]
    for other, condition in service.get("depends_on", {}).items():
        if condition == {"condition": "service_healthy"}:
            assert "healthcheck" in COMPOSE["services"][other]


@pytest.mark.parametrize("name", COMPOSE["services"])
def test_secrets_come_from_files(name):
    service = COMPOSE["services"][name]
    for variable, value in service.get("environment", {}).items():
        if re.search(r"SECRET|PASSWORD|TOKEN|DATABASE_URL", variable):
            assert variable.endswith("_FILE")
            assert value.removeprefix("/run/secrets/") in service["secrets"]


def test_host_names_have_to_be_given():
    hosts = COMPOSE["services"]["web"]["environment"]["ALLOWED_HOSTS"]
    assert re.match(r"\$\{ALLOWED_HOSTS:\?[^}]+\}", hosts)
    assert "*" not in hosts


def test_the_port_is_open_to_this_machine_only_until_somebody_says_otherwise():
    assert COMPOSE["services"]["web"]["ports"] == ["${LISTEN:-127.0.0.1:8000}:8000"]
    assert [name for name, service in COMPOSE["services"].items() if "ports" in service] == ["web"]


def test_with_opensearch_every_part_of_ours_uses_it_and_nobody_else_reaches_it():
    services = dict(SEARCH["services"])
    added = services.pop("opensearch")
    assert re.fullmatch(r"opensearchproject/opensearch:\d+\.\d+\.\d+@sha256:[0-9a-f]{64}", added["image"])
    assert "ports" not in added
    assert added["environment"]["DISABLE_SECURITY_PLUGIN"] == "true"
    assert [volume.split(":")[0] for volume in added["volumes"]] == list(SEARCH["volumes"])
    assert set(services) == set(OURS)
    for service in services.values():
        assert service["environment"] == {
            "RETRIEVAL_ENGINE": "opensearch",
            "OPENSEARCH_URL": "http://opensearch:9200",
        }
    for name in ("web", "worker"):
        assert services[name]["depends_on"] == {"opensearch": {"condition": "service_healthy"}}


def test_the_image_holds_the_client_of_opensearch():
    assert "opensearch.txt" in next(line for line in arguments_of("RUN") if "pip" in line)
    assert "requirements/opensearch.txt" in " ".join(arguments_of("COPY"))


def prepared(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    script = folder / "prepare"
    script.write_text((DOCKER / "prepare").read_text(encoding="utf-8"), encoding="utf-8")
    return subprocess.run(["sh", str(script), *words], capture_output=True, text=True, check=False)


def test_prepare_makes_every_secret_that_compose_asks_for(tmp_path):
    assert prepared(tmp_path, "localhost").returncode == 0
    for secret in COMPOSE["secrets"].values():
        assert len((tmp_path / secret["file"]).read_text(encoding="utf-8")) >= 64
    password = (tmp_path / "secrets/postgres_password").read_text(encoding="utf-8")
    assert (tmp_path / "secrets/database_url").read_text(encoding="utf-8") == (
        f"postgres://distillery:{password}@postgres:5432/distillery"
    )
    assert (tmp_path / "secrets").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / ".env").read_text(encoding="utf-8") == "ALLOWED_HOSTS=localhost\n"


def test_prepare_behind_tls_sets_the_address_and_trusts_the_proxy(tmp_path):
    prepared(tmp_path, "crowd.example.org", "https://crowd.example.org")
    assert shlex.split((tmp_path / ".env").read_text(encoding="utf-8")) == [
        "ALLOWED_HOSTS=crowd.example.org",
        "PUBLIC_URL=https://crowd.example.org",
        "BEHIND_TLS_PROXY=1",
    ]


def test_prepare_twice_keeps_the_first_secrets(tmp_path):
    prepared(tmp_path, "localhost")
    before = {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()}
    prepared(tmp_path, "localhost")
    assert {path.name: path.read_text() for path in (tmp_path / "secrets").iterdir()} == before


def test_prepare_refuses_what_is_no_host_name(tmp_path, subtests):
    for host in ["*", "https://crowd.example.org", "two words"]:
        with subtests.test(host=host):
            answer = prepared(tmp_path, host)
            assert answer.returncode == 2
            assert "is not a host name" in answer.stderr
            assert not (tmp_path / "secrets").exists()


def test_a_container_has_no_more_rights_than_it_needs(subtests):
    for name in sorted(COMPOSE["services"]):
        with subtests.test(name=name):
            service = COMPOSE["services"][name]
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]
            assert service["pids_limit"] and service["mem_limit"]
            assert set(service.get("cap_add", [])) <= {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"}
            assert name == "postgres" or "cap_add" not in service


def test_database_and_messages_have_no_way_out_and_messages_a_password(tmp_path):
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    for name in ("postgres", "redis"):
        assert COMPOSE["services"][name]["networks"] == ["inside"]
        assert "ports" not in COMPOSE["services"][name]
    assert SEARCH["services"]["opensearch"]["networks"] == ["inside"]
    shutil.copy(DOCKER / "prepare", tmp_path / "prepare")
    subprocess.run([tmp_path / "prepare", "localhost"], check=True, capture_output=True)
    secrets = tmp_path / "secrets"
    password = (secrets / "redis_password").read_text(encoding="utf-8")
    assert len(password) == 64
    assert (secrets / "redis_conf").read_text(encoding="utf-8") == f"requirepass {password}\n"
    assert (secrets / "redis_url").read_text(encoding="utf-8") == f"redis://:{password}@redis:6379/0"


# Several hosts

HOSTS: dict[str, Any] = yaml.safe_load((DOCKER / "hosts.yaml").read_text(encoding="utf-8"))
_ADDED = {name: service for name, service in HOSTS["services"].items() if name not in COMPOSE["services"]}


def effective(name: str) -> dict[str, Any]:
    """A service of the two files together, as far as these tests ask."""
    service = HOSTS["services"][name]
    base = service.get("extends", {}).get("service", name)
    return {**COMPOSE["services"].get(base, {}), **service}


def test_two_web_hosts_two_job_hosts_and_one_timer_have_a_folder_each():
    hosts = ["web", "web-2", "worker", "worker-2", "beat"]
    folders = [effective(name)["volumes"][0] for name in hosts]
    assert len(set(folders)) == len(hosts)
    assert all(folder.endswith(":/data") for folder in folders)
    assert effective("web-2")["command"] == COMPOSE["services"]["web"]["command"]
    assert set(_ADDED) == {"web-2", "worker-2", "proxy", "pooler", "s3", "backup"}


def test_a_container_of_several_hosts_has_no_more_rights_than_it_needs(subtests):
    for name in HOSTS["services"]:
        with subtests.test(name=name):
            service = effective(name)
            assert service["read_only"] is True
            assert service["cap_drop"] == ["ALL"]
            assert service["security_opt"] == ["no-new-privileges:true"]
            assert service["pids_limit"] and service["mem_limit"] and service["cpus"]
            assert "cap_add" not in service
            for secret in service.get("secrets", []):
                assert secret in {**COMPOSE["secrets"], **HOSTS["secrets"]}
            for volume in service.get("volumes", []):
                assert volume.startswith("./nginx.conf") or volume.split(":")[0] in HOSTS["volumes"]


def test_every_host_of_ours_reaches_database_and_storage_the_same_way():
    ours = [each for each in HOSTS["services"] if each not in ("proxy", "pooler", "s3")]
    for name in ours:
        service = HOSTS["services"][name]
        assert service["env_file"] == ["hosts.env"]
        assert service["environment"]["DATABASE_URL_FILE"] == "/run/secrets/pooled_url"
        assert service["environment"]["DATABASE_DIRECT_URL_FILE"] == "/run/secrets/database_url"
        files = [value for name, value in service["environment"].items() if name.endswith("_FILE")]
        assert {each.rsplit("/", 1)[1] for each in files} <= set(service["secrets"])
    lines = (DOCKER / "hosts.env").read_text(encoding="utf-8").splitlines()
    shared = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    assert shared["DATA_STORAGE"].startswith("s3://")
    assert not any(re.search(r"SECRET|PASSWORD|TOKEN", variable) for variable in shared)


def test_proxy_storage_and_pooler_are_checked_and_kept_apart():
    for name in ("proxy", "pooler", "s3", "web", "web-2"):
        assert HOSTS["services"][name]["healthcheck"]
    assert HOSTS["services"]["proxy"]["networks"] == ["front"]
    for name in ("pooler", "s3"):
        assert HOSTS["services"][name]["networks"] == ["inside"]
    assert [name for name in HOSTS["services"] if "ports" in HOSTS["services"][name]] == ["proxy"]
    for name in ("proxy", "s3"):
        image = HOSTS["services"][name]["image"]
        assert re.fullmatch(r"[a-z-]+/[a-z-]+:[\w.-]+@sha256:[0-9a-f]{64}", image)
        assert f"`{image.partition('@')[0]}`" in README
        assert not image.endswith(":latest")
        assert HOSTS["services"][name]["user"] not in ("root", "0")


def test_a_web_host_that_stops_has_the_time_it_drains_and_ends_in():
    from distillery.supervisor import GRACE_SECONDS
    from distillery.webserver import STOP_SECONDS

    assert STOP_SECONDS < GRACE_SECONDS
    for name in ("web", "web-2"):
        for service in (effective(name), *([COMPOSE["services"][name]] if name == "web" else [])):
            drain = int(service["environment"]["WEB_DRAIN_SECONDS"])
            assert int(service["stop_grace_period"].removesuffix("s")) > drain + GRACE_SECONDS
    assert int(effective("web")["environment"]["WEB_DRAIN_SECONDS"]) > 0
    # `extends` merges the check of the service that is extended, which is disabled.
    assert effective("web-2")["healthcheck"]["disable"] is False


def test_with_opensearch_every_one_of_several_hosts_uses_it():
    more = yaml.safe_load((DOCKER / "opensearch-hosts.yaml").read_text(encoding="utf-8"))["services"]
    ours = {name for name in HOSTS["services"] if name not in ("proxy", "pooler", "s3")}
    assert ours == {*more, *SEARCH["services"]} - {"opensearch"}
    for service in more.values():
        assert service == SEARCH["services"]["web"]


def test_the_pooler_sets_what_distillery_cannot_set_through_it():
    assert "connect_query='SET jit = off'" in (DOCKER / "pgbouncer.ini").read_text(encoding="utf-8")


def test_prepare_makes_the_secrets_of_several_hosts_too(tmp_path):
    prepared(tmp_path, "localhost")
    password = (tmp_path / "secrets/postgres_password").read_text(encoding="utf-8")
    for secret in HOSTS["secrets"].values():
        assert (tmp_path / secret["file"]).read_text(encoding="utf-8")
    pooled = (tmp_path / "secrets/pooled_url").read_text(encoding="utf-8")
    assert pooled == f"postgres://distillery:{password}@pooler:6432/distillery"
    assert (tmp_path / "secrets/pooler_users").read_text() == f'"distillery" "{password}"\n'
