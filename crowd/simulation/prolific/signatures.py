"""Keys of secure links, the tokens made with them, and signatures of deliveries.

Tokens and signatures carry real time, not that of the simulator's clock: who checks them has no other.
"""

import base64
import hashlib
import hmac
import json
import secrets
import time
from urllib.parse import parse_qsl, urlsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from crowd.simulation.prolific.state import State, Thing

ISSUER = "https://www.prolific.com"
TOKEN_SECONDS = 120
_KEYS_SERVED = 2


def sign_delivery(secret: str, timestamp: str, raw_body: bytes) -> str:
    """The signature of a delivery."""
    digest = hmac.new(secret.encode(), timestamp.encode() + raw_body, hashlib.sha256).digest()
    return base64.b64encode(digest).decode()


def public_keys(state: State) -> Thing:
    """The document of keys: the one that signs, and the one before."""
    return {"keys": [key["public"] for key in _keys(state)[:_KEYS_SERVED]]}


def rotate_keys(state: State, *, drop_old: bool = False) -> str:
    """A new key signs from now on; `drop_old` takes the others out of the document. Returns its `kid`."""
    made = _make_key()
    state.keep("keys", [made] if drop_old else [made, *_keys(state)][:_KEYS_SERVED])
    return str(made["public"]["kid"])


def sign_arrival(state: State, study: Thing, submission: Thing, address: str) -> str:
    """The token of a secure link: the values of the address and who stands behind them."""
    key = _keys(state)[0]
    now = int(time.time())
    claims = {
        "iss": ISSUER,
        "iat": now,
        "exp": now + TOKEN_SECONDS,
        "aud": urlsplit(address)._replace(query="", fragment="").geturl(),
        "sub": submission["id"],
        "prolific": {
            **dict(parse_qsl(urlsplit(address).query, keep_blank_values=True)),
            "workspace_id": study["workspace_id"],
        },
    }
    header = {"alg": "RS256", "kid": key["public"]["kid"], "typ": "JWT"}
    signed = f"{_encode(json.dumps(header).encode())}.{_encode(json.dumps(claims).encode())}"
    private = serialization.load_pem_private_key(key["private"].encode(), None)
    assert isinstance(private, rsa.RSAPrivateKey)
    signature = private.sign(signed.encode(), padding.PKCS1v15(), hashes.SHA256())
    return f"{signed}.{_encode(signature)}"


def _keys(state: State) -> list[Thing]:
    kept: list[Thing] | None = state.fact("keys")
    if kept is None:
        kept = [_make_key()]
        state.keep("keys", kept)
    return kept


def _make_key() -> Thing:
    key = rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
    numbers = key.public_key().public_numbers()
    return {
        "private": key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        ).decode(),
        "public": {
            "kty": "RSA",
            "alg": "RS256",
            "use": "sig",
            "key_ops": ["verify"],
            "kid": secrets.token_hex(8),
            "n": _encode(numbers.n.to_bytes((numbers.n.bit_length() + 7) // 8, "big")),
            "e": _encode(numbers.e.to_bytes(3, "big")),
        },
    }


def _encode(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
