"""What Prolific signs: its hooks, and the links by which participants come where secure links are on."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import Any

import jwt

#: A hook that was signed longer ago is not believed, in seconds; the vendor prescribes no limit.
HOOK_TOLERANCE_S = 300
ISSUER = "https://www.prolific.com"


class SignatureError(Exception):
    """A signature that does not prove what it should; says why, without any secret."""


class UnknownKeyError(SignatureError):
    """Signed with a key that is not in the set; the set may have changed since it was read."""


def verify_hook(*, secret: str, timestamp: str, body: bytes, signature: str, now: float) -> None:
    """Check a hook's signature over its raw bytes and that it is recent; raises SignatureError."""
    try:
        sent_at = int(timestamp)
        given = base64.b64decode(signature, validate=True)
    except (ValueError, binascii.Error) as error:
        raise SignatureError("The headers of the signature cannot be read.") from error
    wanted = hmac.new(secret.encode(), timestamp.encode() + body, hashlib.sha256).digest()
    if not hmac.compare_digest(given, wanted):
        raise SignatureError("The signature is not that of this body.")
    if abs(now - sent_at) > HOOK_TOLERANCE_S:
        raise SignatureError("The signature is too old.")


def verify_arrival(token: str, keys: Mapping[str, Any], *, audiences: Sequence[str]) -> dict[str, str]:
    """The parameters that a secure link vouches for, and `sub`, the submission; raises SignatureError.

    `keys` is Prolific's JSON Web Key Set, `audiences` the study's address in the forms it was published in.
    """
    try:
        header = jwt.get_unverified_header(token)
        known = jwt.PyJWKSet.from_dict(dict(keys)).keys
        found = next(key for key in known if key.key_id == header.get("kid"))
        claims = jwt.decode(
            token,
            found.key,
            algorithms=["RS256"],
            audience=list(audiences),
            issuer=ISSUER,
            options={"require": ["exp", "iat", "aud", "iss", "sub"]},
        )
    except StopIteration:
        raise UnknownKeyError("The link is signed with a key that is not known.") from None
    except jwt.PyJWTError as error:
        raise SignatureError(f"The link does not prove who comes: {error}") from error
    vouched = claims.get("prolific")
    named = vouched if isinstance(vouched, dict) else {}
    return {**{str(name): str(value) for name, value in named.items()}, "sub": str(claims["sub"])}
