"""S3-compatible storage through django-storages, and reading from it without taking whole objects.

The reader of django-storages copies an object before its first byte is to be had. Ours asks for the bytes
from where it is and reads on in the same answer, so that a download of a gigabyte begins at once and a
part of it costs a part.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any, BinaryIO, cast

from boto3.exceptions import Boto3Error
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.conf import settings
from storages.backends.s3 import S3Storage

from core.storage_outages import StorageUnavailableError, bucket_timeouts

#: Bytes that a small read asks for at once.
_BUFFER = 1 << 18
#: Codes of an answer that there is no such object.
MISSING = {"404", "NoSuchKey", "NotFound"}


@cache
def storage_for(bucket: str, names: str = "RELEASES_S3") -> S3Storage:
    """The storage of a bucket, with endpoint and keys of the settings whose names begin so.

    Without keys, as boto3 finds them.
    """
    options = {
        "endpoint_url": getattr(settings, f"{names}_ENDPOINT"),
        "region_name": getattr(settings, f"{names}_REGION"),
        "access_key": getattr(settings, f"{names}_ACCESS_KEY"),
        "secret_key": getattr(settings, f"{names}_SECRET_KEY"),
    }
    storage = S3Storage(
        bucket_name=bucket,
        file_overwrite=True,
        default_acl=None,
        querystring_auth=True,
        **{name: value for name, value in options.items() if value},
    )
    waits = bucket_timeouts()
    patience = Config(
        connect_timeout=waits.connect,
        read_timeout=waits.read,
        retries={"total_max_attempts": waits.attempts},
    )
    storage.client_config = storage.client_config.merge(patience)
    return storage


@contextmanager
def name_outages(bucket: str) -> Iterator[None]:
    """Raise StorageUnavailableError where the bucket does not answer or refuses."""
    try:
        yield
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        raise StorageUnavailableError(f"The storage s3://{bucket} refuses ({code}).") from error
    except (BotoCoreError, Boto3Error) as error:
        why = f"does not answer ({type(error).__name__}). Try again in a minute."
        raise StorageUnavailableError(f"The storage s3://{bucket} {why}") from error


def object_size(remote: Any) -> int | None:
    """Bytes of an object; None where there is no such object."""
    try:
        return int(remote.content_length)
    except ClientError as error:
        if error.response.get("Error", {}).get("Code") in MISSING:
            return None
        raise


class Reader(io.RawIOBase):
    """One object as a file to read and seek."""

    def __init__(self, remote: Any, size: int) -> None:
        super().__init__()
        self._object, self._size = remote, size
        self._place = 0
        self._body: Any = None

    @classmethod
    def at(cls, bucket: str, key: str) -> BinaryIO:
        """The object of this key, buffered; FileNotFoundError where there is none."""
        return cls.of(storage_for(bucket), key)

    @classmethod
    def of(cls, storage: S3Storage, key: str) -> BinaryIO:
        """The same, of a storage."""
        remote = storage.bucket.Object(key)
        with name_outages(storage.bucket_name):
            size = object_size(remote)
        if size is None:
            raise FileNotFoundError(key)
        return cast("BinaryIO", io.BufferedReader(cls(remote, size), _BUFFER))

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def tell(self) -> int:
        """Where the next byte comes from."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go elsewhere; nothing is asked for until something is read."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._size}[whence]
        place = base + offset
        if place < 0:
            raise ValueError("There is nothing before the beginning.")
        if place != self._place:
            self._let_go()
        self._place = place
        return place

    def readinto(self, buffer: Any) -> int:
        """Read on."""
        if self._place >= self._size or not len(buffer):
            return 0
        with name_outages(self._object.bucket_name):
            if self._body is None:
                self._body = self._object.get(Range=f"bytes={self._place}-")["Body"]
            block = self._body.read(len(buffer))
        buffer[: len(block)] = block
        self._place += len(block)
        return len(block)

    def close(self) -> None:
        """Let the connection go."""
        self._let_go()
        super().close()

    def _let_go(self) -> None:
        if self._body is not None:
            self._body.close()
            self._body = None
