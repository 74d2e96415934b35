"""Functions, inputs and results as bytes that only this installation can have written.

Unpickling runs code, so every pickle carries an HMAC-SHA256 under the installation's secret key, and one
without a right seal is never read. A model in METRIC_MODELS is named by its place there: another host has the
folder elsewhere.
"""

import hashlib
import hmac
import io
import pickle
from pathlib import Path
from typing import Any

from django.conf import settings
from django.utils.crypto import salted_hmac

from evaluations.learned import shelf
from metrics.learned.profile_models import Choice

_SALT = "evaluations.spreading"
_SEAL = hashlib.sha256().digest_size
_PROTOCOL = 5


class SealError(ValueError):
    """The bytes were not written here."""


def pack(something: Any) -> bytes:
    """The seal and the pickle."""
    written = io.BytesIO()
    _Pickler(written, protocol=_PROTOCOL).dump(something)
    body = written.getvalue()
    return _seal(body) + body


def unpack(packed: bytes | memoryview) -> Any:
    """What was packed; SealError where the seal is not ours."""
    given = bytes(packed)
    seal, body = given[:_SEAL], given[_SEAL:]
    if not hmac.compare_digest(seal, _seal(body)):
        raise SealError("A part of an evaluation carries no seal of this installation.")
    return _Unpickler(io.BytesIO(body)).load()


class _Pickler(pickle.Pickler):
    """Names models by their place in METRIC_MODELS."""

    def persistent_id(self, obj: Any) -> tuple[str, str] | None:
        """Name and digest of a model that is there."""
        if not isinstance(obj, Choice):
            return None
        folder, root = Path(obj.folder), Path(settings.METRIC_MODELS).resolve()
        return (folder.name, obj.digest) if folder.parent == root else None


class _Unpickler(pickle.Unpickler):
    """Finds models in the METRIC_MODELS of this host."""

    def persistent_load(self, pid: Any) -> Choice:
        """The model of this name; one that is missing here is fetched."""
        name, digest = pid
        folder = Path(settings.METRIC_MODELS).resolve() / name
        if not folder.is_dir() and (kept := shelf.named(name)) is not None:
            shelf.fetch_files(kept)
        return Choice(str(folder), digest)


def digest_of(packed: bytes) -> str:
    """SHA-256 of the pickle, in hex: the same input has the same."""
    return hashlib.sha256(packed[_SEAL:]).hexdigest()


def _seal(body: bytes) -> bytes:
    return salted_hmac(_SALT, body, algorithm="sha256").digest()
