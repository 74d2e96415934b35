"""Secrets that we must be able to read again, encrypted at rest with keys derived from SECRET_KEY."""

import base64
import hashlib
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


@lru_cache(maxsize=16)
def _sealer(secret_key: str, purpose: str) -> Fernet:
    digest = hashlib.sha256(f"{purpose}\0{secret_key}".encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def seal(secret: str, *, purpose: str) -> str:
    """Encrypt a secret for storage; what is sealed for one purpose opens for no other."""
    return _sealer(settings.SECRET_KEY, purpose).encrypt(secret.encode()).decode()


def unseal(sealed: str, *, purpose: str) -> str | None:
    """The secret again; None where neither SECRET_KEY nor a fallback is the one that sealed it."""
    for secret_key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        try:
            return _sealer(secret_key, purpose).decrypt(sealed.encode()).decode()
        except InvalidToken:
            continue
    return None


def opens_with(secret_key: str, sealed: str, *, purpose: str) -> bool:
    """Whether this key sealed a value."""
    try:
        _sealer(secret_key, purpose).decrypt(sealed.encode())
    except InvalidToken:
        return False
    return True
