"""A look into a bucket: does its key open everything that an installation does there?"""

import socket
from collections.abc import Callable
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError

from core.bucket import storage_for
from core.storage import bucket_place

_CONTENT = b"A probe of manage.py doctor; it may be deleted.\n"


def find_bucket_fault(setting: str, place: str, *, names: str) -> str:
    """Why this bucket cannot be used, naming the permission that is missing; empty where it can.

    `setting` is what names the place, `names` what its keys' settings begin with.
    """
    bucket, prefix = bucket_place(setting, place)
    client = storage_for(bucket, names).connection.meta.client
    key = f"{prefix}/.probe-{socket.gethostname()}".lstrip("/")
    steps: tuple[tuple[str, str, Callable[[], Any]], ...] = (
        ("written", "s3:PutObject", lambda: client.put_object(Bucket=bucket, Key=key, Body=_CONTENT)),
        ("listed", "s3:ListBucket", lambda: client.list_objects_v2(Bucket=bucket, Prefix=key)),
        # A lambda, since the object is there only after the first step.
        ("read", "s3:GetObject", lambda: client.get_object(Bucket=bucket, Key=key)["Body"].read()),  # noqa: PLW0108 - see above
        ("deleted", "s3:DeleteObject", lambda: client.delete_object(Bucket=bucket, Key=key)),
    )
    faults = [fault for what, permission, step in steps if (fault := _try(what, permission, step))]
    return f"{setting}={place}: {faults[0]}" if faults else ""


def _try(what: str, permission: str, step: Callable[[], Any]) -> str:
    try:
        step()
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        if code in ("AccessDenied", "403", "Forbidden"):
            return f"nothing can be {what} there, because the key has no permission {permission}."
        return f"nothing can be {what} there ({code})."
    except BotoCoreError as error:
        return f"the storage does not answer ({type(error).__name__})."
    return ""
