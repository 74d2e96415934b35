"""Keys of requesters and workers: requesters' secrets sealed at rest, workers' tokens kept as digests.

SigV4 needs the secret itself, so it cannot be hashed; it is encrypted with a key derived from SECRET_KEY.
A copy of the database alone opens no account.
"""

import base64
import hashlib
import secrets
from functools import lru_cache

from cryptography.fernet import Fernet, InvalidToken
from django.conf import settings


@lru_cache(maxsize=4)
def _sealer(secret_key: str) -> Fernet:
    digest = hashlib.sha256(b"marketplace.requester-secret\0" + secret_key.encode()).digest()
    return Fernet(base64.urlsafe_b64encode(digest))


def seal(secret: str) -> str:
    """Encrypt a requester's secret key for storage."""
    return _sealer(settings.SECRET_KEY).encrypt(secret.encode()).decode()


def unseal(sealed: str) -> str | None:
    """The secret key again; None where SECRET_KEY is no longer the one that sealed it (nor a fallback)."""
    for secret_key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        try:
            return _sealer(secret_key).decrypt(sealed.encode()).decode()
        except InvalidToken:
            continue
    return None


def new_token() -> str:
    """A bearer token of 32 URL-safe characters (192 bits)."""
    return secrets.token_urlsafe(24)


def digest(token: str) -> str:
    """SHA-256 of a token, which is what the database keeps of it."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
