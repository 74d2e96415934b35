"""A simulated panel that runs for as long as a block, and its books; `tests.study.anywhere` sends people."""

import http.client
from urllib.parse import urlsplit

import pytest

from crowd.simulation.panel import running_panel


def test_it_answers_over_http_until_the_block_ends(tmp_path):
    with running_panel(tmp_path / "panel.sqlite3", balance=50_00) as panel:
        place = urlsplit(panel.site).netloc
        connection = http.client.HTTPConnection(place, timeout=20)
        connection.request("GET", "/api/v1/studies/", headers={"Authorization": f"Token {panel.token}"})
        assert connection.getresponse().status == 200
        connection.close()
    with pytest.raises(OSError):
        http.client.HTTPConnection(place, timeout=20).request("GET", "/api/v1/studies/")


def test_the_next_one_goes_on_with_its_books_and_refuses_in_words(tmp_path):
    with running_panel(tmp_path / "panel.sqlite3", balance=50_00) as first:
        workspace = first.workspace
    with running_panel(tmp_path / "panel.sqlite3", balance=50_00) as second:
        assert second.workspace == workspace
    assert first.token != second.token
    assert first.token not in repr(first)


def test_what_is_refused_is_an_error(tmp_path):
    with (
        running_panel(tmp_path / "panel.sqlite3", balance=50_00) as panel,
        pytest.raises(RuntimeError, match="answered 404 to /_control/arrive"),
    ):
        panel.call("POST", "/_control/arrive", {"study_id": "0" * 24, "participant_id": "0" * 24})
