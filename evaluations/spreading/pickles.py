"""Functions, inputs and results as bytes that only this installation can have written.

Unpickling runs code, so every pickle carries an HMAC-SHA256 under the installation's secret key, and one
without a right seal is never read.
"""

import hashlib
import hmac
import pickle
from typing import Any

from django.utils.crypto import salted_hmac

_SALT = "evaluations.spreading"
_SEAL = hashlib.sha256().digest_size
_PROTOCOL = 5


class SealError(ValueError):
    """The bytes were not written here."""


def pack(something: Any) -> bytes:
    """The seal and the pickle."""
    body = pickle.dumps(something, protocol=_PROTOCOL)
    return _seal(body) + body


def unpack(packed: bytes | memoryview) -> Any:
    """What was packed; SealError where the seal is not ours."""
    given = bytes(packed)
    seal, body = given[:_SEAL], given[_SEAL:]
    if not hmac.compare_digest(seal, _seal(body)):
        raise SealError("A part of an evaluation carries no seal of this installation.")
    return pickle.loads(body)  # noqa: S301 - sealed above


def digest_of(packed: bytes) -> str:
    """SHA-256 of the pickle, in hex: the same input has the same."""
    return hashlib.sha256(packed[_SEAL:]).hexdigest()


def _seal(body: bytes) -> bytes:
    return salted_hmac(_SALT, body, algorithm="sha256").digest()
