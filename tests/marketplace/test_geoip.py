"""Countries of addresses, by a file of the operator's and a library that need not be there."""

import sys
from types import SimpleNamespace

import pytest

from distillery import checks
from marketplace.lifecycle import traces


@pytest.fixture(autouse=True)
def anew():
    traces._geoip_reader.cache_clear()
    yield
    traces._geoip_reader.cache_clear()


class Reader:
    def get(self, address):
        if address == "nonsense":
            raise ValueError(address)
        return {"192.0.2.7": {"country": {"iso_code": "IN"}}, "192.0.2.8": {"country": None}}.get(address)


def test_without_a_file_no_country_is_known_and_doctor_is_silent(settings):
    settings.GEOIP_DATABASE = ""
    assert traces.country_of("192.0.2.7") == ""
    assert checks.countries().sentence == ""


def test_doctor_says_what_is_missing(settings, monkeypatch, tmp_path):
    settings.GEOIP_DATABASE = str(tmp_path / "none.mmdb")
    monkeypatch.setitem(sys.modules, "maxminddb", None)
    assert traces.country_of("192.0.2.7") == ""
    assert "maxminddb is not installed" in checks.countries().sentence
    traces._geoip_reader.cache_clear()
    monkeypatch.setitem(sys.modules, "maxminddb", SimpleNamespace())
    assert "There is no file" in checks.countries().sentence


def test_a_file_that_is_there_is_asked(settings, monkeypatch, tmp_path):
    file = tmp_path / "countries.mmdb"
    file.write_bytes(b"")
    settings.GEOIP_DATABASE = str(file)
    library = SimpleNamespace(open_database=lambda path: Reader(), InvalidDatabaseError=RuntimeError)
    monkeypatch.setitem(sys.modules, "maxminddb", library)
    found = [traces.country_of(each) for each in ("192.0.2.7", "192.0.2.8", "192.0.2.9", "nonsense")]
    assert found == ["IN", "", "", ""]
    assert checks.countries().level == "ok"
