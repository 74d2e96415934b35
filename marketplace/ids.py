"""Identifiers shaped like the real service's: upper-case alphanumerics, no hyphens."""

import hashlib
import secrets

# Keys of workers and invitations: random, shown once, kept as digests.


def new_token() -> str:
    """A bearer token of 32 URL-safe characters (192 bits)."""
    return secrets.token_urlsafe(24)


def digest(token: str) -> str:
    """SHA-256 of a token, which is what the database keeps of it."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#: Largest multiple of 36 within a byte: bytes above it are redrawn so that letters stay equally likely.
_EVEN = 252


def _letters(count: int) -> str:
    letters = ""
    while len(letters) < count:
        letters += "".join(_ALPHABET[byte % 36] for byte in secrets.token_bytes(count) if byte < _EVEN)
    return letters[:count]


def new_entity_id() -> str:
    """Id of a HIT, HIT type, group, assignment or qualification: 30 characters, the first a "3"."""
    return "3" + _letters(29)


def new_customer_id() -> str:
    """Id of a worker or requester: 14 characters, the first an "A"."""
    return "A" + _letters(13)


def new_access_key() -> str:
    """Access key of a requester, 20 characters."""
    return "DSTL" + _letters(16)


def new_secret() -> str:
    """Secret key of a requester, 40 URL-safe characters (240 bits)."""
    return secrets.token_urlsafe(30)
