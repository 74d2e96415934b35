"""Signature Version 4 as botocore signs MTurk requests: checked in full, in constant time."""

import hashlib
import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qsl, quote

from django.utils import timezone

from core.accounts.security import address_of
from marketplace.accounts import accesskeys
from marketplace.models import AccessKey, Requester
from marketplace.protocol import errors
from marketplace.protocol.errors import ProtocolError

SERVICE = "mturk-requester"
ALGORITHM = "AWS4-HMAC-SHA256"
#: How far a request's date may be from the real clock (the test clock does not count here).
MAX_SKEW = timedelta(minutes=5)
_MUST_BE_SIGNED = frozenset({"host", "x-amz-date", "x-amz-target"})
#: What services sign whose actions are in the body.
WITHOUT_TARGET = frozenset({"host", "x-amz-date"})
_CREDENTIAL = re.compile(
    r"(?P<key>[A-Za-z0-9]{1,64})/(?P<date>\d{8})/(?P<region>[a-z0-9-]{1,40})/(?P<service>[a-z0-9-]+)/aws4_request"
)
_PART = re.compile(r"(Credential|SignedHeaders|Signature)=([^,\s]+)")


@dataclass(frozen=True, slots=True)
class VerifiedRequest:
    """A request whose signature is right: which key signed it, and the signature itself."""

    key: AccessKey
    signature: str
    region: str = ""

    @property
    def requester(self) -> Requester:
        """Whose key it is."""
        return self.key.requester


def authenticate(
    environ: dict[str, Any],
    body: bytes,
    *,
    service: str = SERVICE,
    must_be_signed: frozenset[str] = _MUST_BE_SIGNED,
) -> VerifiedRequest:
    """The key that signed this request; raises ProtocolError where it is not who it says."""
    header = environ.get("HTTP_AUTHORIZATION", "")
    parts = dict(_PART.findall(header))
    credential = _CREDENTIAL.fullmatch(parts.get("Credential", ""))
    if not header:
        raise ProtocolError("MissingAuthenticationTokenException", "Missing Authentication Token", 403)
    if not header.startswith(f"{ALGORITHM} ") or len(parts) != 3 or credential is None:
        raise ProtocolError(
            "IncompleteSignatureException",
            f"Authorization header requires {ALGORITHM} with Credential, SignedHeaders and Signature.",
        )
    if credential["service"] != service:
        raise _bad_signature(f"Credential should be scoped to correct service: '{service}'.")
    signed_at = _checked_date(environ.get("HTTP_X_AMZ_DATE", ""), credential["date"])
    address = address_of(environ)
    errors.check_guesses(credential["key"], address)
    signer = accesskeys.signing_key(credential["key"])
    secret = accesskeys.secret_of(signer) if signer else None
    if signer is None or secret is None:
        errors.note_guess(credential["key"], address)
        raise ProtocolError(
            "UnrecognizedClientException", "The security token included in the request is invalid."
        )
    signed_headers = parts["SignedHeaders"].split(";")
    if not must_be_signed.issubset(signed_headers):
        raise _bad_signature(f"These headers must be signed: {', '.join(sorted(must_be_signed))}.")
    scope = f"{credential['date']}/{credential['region']}/{service}/aws4_request"
    canonical = _canonical_request(environ, signed_headers, body)
    to_sign = "\n".join((ALGORITHM, signed_at, scope, hashlib.sha256(canonical.encode()).hexdigest()))
    key = _signing_key(secret, credential["date"], credential["region"], service)
    expected = hmac.new(key, to_sign.encode(), hashlib.sha256).hexdigest()
    if not hmac.compare_digest(expected.encode(), parts["Signature"].encode("utf-8", "surrogatepass")):
        errors.note_guess(credential["key"], address)
        raise _bad_signature(
            "The request signature we calculated does not match the signature you provided. "
            "Check your AWS Secret Access Key and signing method."
        )
    accesskeys.note_use(signer, address)
    return VerifiedRequest(signer, expected, credential["region"])


def _bad_signature(message: str) -> ProtocolError:
    return ProtocolError("InvalidSignatureException", message)


def _checked_date(value: str, scope_date: str) -> str:
    try:
        signed_at = datetime.strptime(value, "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
    except ValueError as error:
        raise ProtocolError(
            "IncompleteSignatureException", "X-Amz-Date must look like 20261120T180736Z."
        ) from error
    if abs(timezone.now() - signed_at) > MAX_SKEW:
        raise _bad_signature(f"Signature expired: {value} is not within 5 minutes of the server's clock.")
    if not value.startswith(scope_date):
        raise _bad_signature("Date in Credential scope does not match the date of the request.")
    return value


def _canonical_request(environ: dict[str, Any], signed_headers: list[str], body: bytes) -> str:
    path = environ.get("PATH_INFO", "/").encode("latin-1", "replace")
    query = "&".join(
        f"{quote(name, safe='-_.~')}={quote(value, safe='-_.~')}"
        for name, value in sorted(parse_qsl(environ.get("QUERY_STRING", ""), keep_blank_values=True))
    )
    headers = "".join(f"{name}:{_header(environ, name)}\n" for name in signed_headers)
    return "\n".join(
        (
            environ["REQUEST_METHOD"],
            quote(path, safe="/~"),
            query,
            headers,
            ";".join(signed_headers),
            hashlib.sha256(body).hexdigest(),
        )
    )


def _header(environ: dict[str, Any], name: str) -> str:
    key = name.upper().replace("-", "_")
    value = environ.get(key if key in ("CONTENT_TYPE", "CONTENT_LENGTH") else f"HTTP_{key}", "")
    return " ".join(str(value).split())


@lru_cache(maxsize=1024)
def _signing_key(secret: str, date: str, region: str, service: str) -> bytes:
    key = f"AWS4{secret}".encode()
    for part in (date, region, service, "aws4_request"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
