"""Passwords that are guessed first are refused."""

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError

MIRA = User(username="w2", first_name="Mira", last_name="Stone", email="mira.stone@example.org")


@pytest.mark.parametrize(
    "password",
    [
        "distillery",
        "Distillery1",
        "distillery distillery",
        "a b c d e f g",
        "a-b-c-d-e-f",
        "abcdefghijk",
        "9876543210zyx"[:10],
        "w2w2w2w2w2",
        "W2 w2 W2 w2!",
        "Mira Stone 1",
        "mirastone99",
        "aaaaaaaaaaaa",
        "xyxyxyxyxyxy",
        "1q2w3e4r5t6y",
        "correct horse battery staple",
        "worker-turk-1",
    ],
)
def test_an_easy_password_is_refused(password):
    with pytest.raises(ValidationError):
        validate_password(password, MIRA)


@pytest.mark.parametrize(
    "password", ["seven green kettles", "still warm copper", "t7qz-ab4k-mm2p-x9ce", "Stone soup for nine"]
)
def test_a_good_password_is_taken(password):
    validate_password(password, MIRA)
