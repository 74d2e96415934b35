"""What the web worker knows before the settings are there agrees with them."""

from types import SimpleNamespace

from django.conf import settings
from gunicorn.http import wsgi

from distillery import webworker


def test_bodies_are_refused_unread_where_the_settings_would_refuse_them():
    assert webworker.LONGEST_BODY == settings.ANONYMOUS_BODY_MOST
    assert list(webworker.TAKING_FILES) == [
        *settings.UPLOADS_BELOW, *settings.UPLOADS_BY_SIGNATURE, *settings.UPLOADS_BY_TOKEN,
    ]  # fmt: skip


def test_answers_do_not_name_the_server_behind():
    request = SimpleNamespace(version=(1, 1), method="GET", should_close=lambda: False)
    answer = wsgi.Response(request, None, SimpleNamespace())
    answer.start_response("200 OK", [])
    assert "gunicorn" not in "".join(answer.default_headers()).lower()
