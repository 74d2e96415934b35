"""Keys of workers and invitations: random, shown once, kept as digests."""

import hashlib
import secrets


def new_token() -> str:
    """A bearer token of 32 URL-safe characters (192 bits)."""
    return secrets.token_urlsafe(24)


def digest(token: str) -> str:
    """SHA-256 of a token, which is what the database keeps of it."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
