"""What the web worker knows before the settings are there agrees with them."""

from django.conf import settings

from distillery import webworker


def test_bodies_are_refused_unread_where_the_settings_would_refuse_them():
    assert webworker.LONGEST_BODY == settings.ANONYMOUS_BODY_MOST
    assert list(webworker.TAKING_FILES) == settings.UPLOADS_BELOW
