"""`doctor` sees that two hosts differ."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from core.jobs.models import HostSign
from distillery import presence

pytestmark = pytest.mark.django_db


@pytest.fixture
def at_host(settings, tmp_path):
    """Be the host of this name, with a data folder of its own."""
    settings.DATA_STORAGE = "s3://bucket/data"

    def change(name: str) -> Path:
        settings.HOST_NAME = name
        settings.DATA_DIR = tmp_path / name
        settings.DATA_DIR.mkdir(exist_ok=True)
        return settings.DATA_DIR

    return change


def sentences() -> list[str]:
    return [finding.sentence for finding in presence.hosts() if finding.sentence]


def test_one_host_alone_is_not_worth_a_word_and_two_that_agree_are(at_host):
    at_host("one")
    assert sentences() == []
    presence.sign("web")
    presence.sign("jobs")
    assert sentences() == []
    assert HostSign.objects.count() == 2
    for name in ("one", "two", "one"):
        at_host(name)
        presence.sign("web")
    assert sentences() == ["2 hosts, with the same settings."]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SECRET_KEY", "another key of fifty characters, more or less so.."),
        ("MARKETPLACE_CURRENCY", "EUR"),
        ("DATA_S3_ENDPOINT", "https://elsewhere.example.org"),
        ("REDIS_URL", "redis://:hidden@elsewhere/0"),
    ],
)
def test_a_setting_that_differs_is_named_and_its_value_is_not(at_host, settings, name, value):
    at_host("one")
    presence.sign("jobs")
    at_host("two")
    setattr(settings, name, value)
    presence.sign("web")
    assert sentences() == [f"jobs on host one has another {name} than this host."]
    assert value not in str(list(HostSign.objects.values_list("facts", flat=True)))


def test_folders_of_releases_may_lie_elsewhere_and_two_hosts_need_a_storage(at_host, settings):
    for name in ("one", "two"):
        settings.RELEASES_STORAGE = f"/{name}/releases"
        at_host(name)
        presence.sign("web")
    assert sentences() == ["2 hosts, with the same settings."]
    settings.DATA_STORAGE = ""
    for name in ("one", "two"):
        at_host(name)
        presence.sign("web")
    assert sentences() == ["There are 2 hosts and no DATA_STORAGE: uploads and indexes stay on one."]


def test_another_version_another_time_and_silence(at_host):
    at_host("one")
    presence.sign("jobs")
    row = HostSign.objects.get()
    row.facts |= {"version": "0.1.9", "skew_s": -42.0}
    row.save()
    at_host("two")
    presence.sign("web")
    assert [text.split(" of host ")[0].split(" runs ")[0] for text in sentences()] == [
        "jobs on host one",
        "The clock",
    ]
    HostSign.objects.filter(pk=row.pk).update(seen_at=timezone.now() - timedelta(hours=1))
    assert [text.split(" since ")[0] for text in sentences()] == [
        "The jobs part of host one has said nothing"
    ]
    HostSign.objects.filter(pk=row.pk).update(seen_at=timezone.now() - timedelta(days=8))
    presence.sign("web")
    assert sentences() == []


def test_a_copied_data_folder_is_noticed(at_host):
    folder = at_host("one")
    presence.sign("web")
    token = (folder / "host-id").read_text()
    (at_host("two") / "host-id").write_text(token)
    presence.sign("jobs")
    assert "Hosts one and two have one token: a data folder was copied, or is shared." in sentences()
