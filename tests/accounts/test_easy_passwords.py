"""Passwords that are guessed first are refused."""

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

from core.projects.services import create_project

MIRA = User(username="w2", first_name="Mira", last_name="Stone", email="mira.stone@example.org")


def test_an_easy_password_or_one_from_a_breach_is_refused(subtests):
    for password in (
        *("distillery", "Distillery1", "distillery distillery", "a b c d e f g", "a-b-c-d-e-f"),
        *("abcdefghijk", "9876543210zyx"[:10], "w2w2w2w2w2", "W2 w2 W2 w2!", "Mira Stone 1", "mirastone99"),
        *("aaaaaaaaaaaa", "xyxyxyxyxyxy", "1q2w3e4r5t6y", "correct horse battery staple", "worker-turk-1"),
        *("password2026!", "P@ssw0rd2026", "monkey123456", "!!dragon!!77", "sunshinesunshine"),
        *("12drowssap12", "iloveyou#2026"),
    ):
        with subtests.test(password=password), pytest.raises(ValidationError):
            validate_password(password, MIRA)
    for good in ("seven green kettles", "still warm copper", "t7qz-ab4k-mm2p-x9ce", "Stone soup for nine"):
        validate_password(good, MIRA)


@pytest.mark.django_db
def test_names_of_the_installation_and_of_ones_projects_are_refused(settings):
    settings.PUBLIC_URL = "https://kettlelab.example.org"
    owner = User.objects.create_user("olga")
    create_project(slug="reading", title="Reading Comprehension", owner=owner)
    for password in ("kettlelab12", "readingcomprehension1", "Reading Comprehension!"):
        with pytest.raises(ValidationError):
            validate_password(password, owner)
    validate_password("readingcomprehension1", MIRA)
