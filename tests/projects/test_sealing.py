"""Secrets at rest."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.crypto import seal, unseal


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=100))
def test_a_secret_comes_back_for_its_purpose_only(secret):
    sealed = seal(secret, purpose="one")
    assert unseal(sealed, purpose="one") == secret
    assert unseal(sealed, purpose="two") is None


def test_the_same_secret_never_looks_the_same():
    assert seal("s", purpose="one") != seal("s", purpose="one")


def test_a_rotated_key_still_opens_what_the_old_one_sealed(settings):
    sealed = seal("s", purpose="one")
    old, settings.SECRET_KEY = settings.SECRET_KEY, "another key " * 4
    assert unseal(sealed, purpose="one") is None
    settings.SECRET_KEY_FALLBACKS = [old]
    assert unseal(sealed, purpose="one") == "s"


@pytest.mark.parametrize("sealed", ["", "nonsense", "Z0FBQUFB"])
def test_what_nobody_sealed_opens_nothing(sealed):
    assert unseal(sealed, purpose="one") is None
