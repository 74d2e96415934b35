"""Signatures of messages, as receivers of SNS check them: RSA with a certificate that we serve."""

import base64
import hashlib
from collections.abc import Mapping
from datetime import UTC, timedelta
from functools import lru_cache

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID
from django.utils import timezone

from core.crypto import seal, unseal
from marketplace.models import SigningKey

_PURPOSE = "sns"
_SEALED_FOR = "marketplace.topics"
_YEARS = 20
#: What is signed of a message, in this order; a Subject only where there is one.
_SIGNED = {
    "Notification": ("Message", "MessageId", "Subject", "Timestamp", "TopicArn", "Type"),
    "SubscriptionConfirmation": (
        "Message",
        "MessageId",
        "SubscribeURL",
        "Timestamp",
        "Token",
        "TopicArn",
        "Type",
    ),
}
_SIGNED["UnsubscribeConfirmation"] = _SIGNED["SubscriptionConfirmation"]


def certificate_path(key: SigningKey) -> str:
    """Path of the certificate on this site; receivers want a name that ends in .pem."""
    return f"/mturk/sns/SimpleNotificationService-{key.fingerprint[:32]}.pem"


def certificate_at(path: str) -> str | None:
    """The certificate in PEM that is served at a path."""
    begin = path.rpartition("SimpleNotificationService-")[2].removesuffix(".pem")
    found = SigningKey.objects.filter(fingerprint__startswith=begin).first() if len(begin) == 32 else None
    return found.certificate if found and certificate_path(found) == path else None


def signing_key() -> SigningKey:
    """The installation's key, made when first needed; of several that are made at once one stays."""
    found = SigningKey.objects.filter(purpose=_PURPOSE).first()
    if found is None:
        SigningKey.objects.bulk_create([_new_key()], ignore_conflicts=True)
        found = SigningKey.objects.get(purpose=_PURPOSE)
    return found


def sign(document: Mapping[str, str], *, base_url: str, version: str) -> dict[str, str]:
    """The message with SignatureVersion, Signature and SigningCertURL; `version` is "1" (SHA-1) or "2"."""
    key = signing_key()
    text = "".join(
        f"{name}\n{document[name]}\n" for name in _SIGNED[document["Type"]] if name in document
    ).encode()
    algorithm = hashes.SHA256() if version == "2" else hashes.SHA1()  # noqa: S303 - what receivers check
    signature = _private_key(key.private_key_sealed).sign(text, padding.PKCS1v15(), algorithm)
    return {
        **document,
        "SignatureVersion": version,
        "Signature": base64.b64encode(signature).decode(),
        "SigningCertURL": f"{base_url}{certificate_path(key)}",
    }


@lru_cache(maxsize=2)
def _private_key(sealed: str) -> rsa.RSAPrivateKey:
    pem = unseal(sealed, purpose=_SEALED_FOR)
    if pem is None:
        raise RuntimeError("The key that signs messages was sealed with another SECRET_KEY.")
    key = serialization.load_pem_private_key(pem.encode(), password=None)
    assert isinstance(key, rsa.RSAPrivateKey)
    return key


def _new_key() -> SigningKey:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Notifications of this marketplace")])
    now = timezone.now()
    since = now.astimezone(UTC) - timedelta(days=1)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(since)
        .not_valid_after(since + timedelta(days=365 * _YEARS))
        .sign(key, hashes.SHA256())
    )
    text = certificate.public_bytes(serialization.Encoding.PEM).decode()
    return SigningKey(
        purpose=_PURPOSE,
        private_key_sealed=seal(pem, purpose=_SEALED_FOR),
        certificate=text,
        fingerprint=hashlib.sha256(text.encode()).hexdigest(),
        created_at=now,
    )
