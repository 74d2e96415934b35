"""Hooks: subscriptions, events, signatures, and deliveries that fail, repeat, overtake or get lost.

Here, too, are the keys of secure links with the tokens made with them, and the faults of calls and
deliveries, drawn by share or by count. Tokens and signatures carry real time, not that of the simulator's
clock: who checks them has no other.
"""

import base64
import hashlib
import hmac
import http.client
import json
import random
import secrets
import time
from contextlib import closing
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa

from distillery_panel_simulator.prolific_calls import Answer, Call, RefusalError, field_error, not_found, page
from distillery_panel_simulator.prolific_state import State, Thing

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
    new_key = _make_key()
    state.keep("keys", [new_key] if drop_old else [new_key, *_keys(state)][:_KEYS_SERVED])
    return str(new_key["public"]["kid"])


def sign_arrival(state: State, study: Thing, submission: Thing, address: str) -> str:
    """The token of a secure link: the values of the address and who is behind them."""
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
    keys: list[Thing] | None = state.fact("keys")
    if keys is None:
        keys = [_make_key()]
        state.keep("keys", keys)
    return keys


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


#: Of calls: the call or its reply gets lost, it waits, a gateway's error, too many calls. Then hooks.
CALL_FAULTS = ("lost_before", "lost_after", "delay", "error", "throttle")
HOOK_FAULTS = ("hook_lost", "hook_duplicate", "hook_reorder")
_OPTIONS = ("path", "method", "delay_seconds", "error_form")
_WRITES = ("POST", "PATCH", "PUT", "DELETE")
ERROR_FORMS = ("error", "message", "text")

_random: dict[int, random.Random] = {}


def set_faults(state: State, faults: Thing) -> Thing:
    """Replace all faults. Raises `RefusalError` where one is not understood."""
    unknown = sorted(set(faults) - {*CALL_FAULTS, *HOOK_FAULTS, *_OPTIONS})
    if unknown:
        raise field_error(unknown[0], f"Known are {', '.join((*CALL_FAULTS, *HOOK_FAULTS, *_OPTIONS))}.")
    for name in (*CALL_FAULTS, *HOOK_FAULTS):
        if name in faults and not _is_measure(faults[name]):
            raise field_error(name, "A share from 0.0 to 1.0, or a whole number: so many of the next calls.")
    if not _is_number(faults.get("delay_seconds", 1)) or not 0 <= faults.get("delay_seconds", 1) <= 600:
        raise field_error("delay_seconds", "Seconds, at most 600.")
    for name in ("path", "method"):
        if not isinstance(faults.get(name, ""), str):
            raise field_error(name, "A pattern, such as */transition/.")
    if faults.get("error_form", "error") not in ERROR_FORMS:
        raise field_error("error_form", f"One of {', '.join(ERROR_FORMS)}.")
    state.keep("faults", faults)
    return faults


def draw_fault(state: State, name: str, method: str, path: str) -> bool:
    """Whether this call, or this event, has the fault; a count goes down by one."""
    faults: Thing = state.fact("faults") or {}
    measure = faults.get(name)
    if not measure or not _concerns(faults, name, method, path):
        return False
    if isinstance(measure, int):
        state.keep("faults", faults | {name: measure - 1})
        return True
    chance = _random.setdefault(id(state), random.Random(state.options.seed))
    return bool(chance.random() < measure)


def draw_error_form(state: State) -> str:
    """The form of the next error: the one that is asked for, else each in its turn."""
    faults: Thing = state.fact("faults") or {}
    turn = int(state.fact("errors") or 0)
    state.keep("errors", turn + 1)
    return str(faults.get("error_form") or ERROR_FORMS[turn % len(ERROR_FORMS)])


def _concerns(faults: Thing, name: str, method: str, path: str) -> bool:
    if name in HOOK_FAULTS:
        return True
    fault_method = faults.get("method")
    if fault_method:
        if not fnmatchcase(method, fault_method.upper()):
            return False
    elif name.startswith("lost") and method not in _WRITES:
        return False
    pattern = faults.get("path")
    return not pattern or fnmatchcase(path, pattern) or (("*" not in pattern) and pattern in path)


def _is_measure(value: Any) -> bool:
    return _is_number(value) and (value >= 0 if isinstance(value, int) else 0.0 <= value <= 1.0)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


EVENT_TYPES = {
    "submission.status.change": "A submission changed its status.",
    "study.status.change": "A study changed its status.",
    "study.progress.change": "Places of a study were taken or became free.",
    "study.has_high_return_rate": "Many participants return their submissions.",
}
_LOOPBACK = ("localhost", "127.0.0.1", "::1", "[::1]")
_RETRIES = 11
_FIRST_RETRY_SECONDS = 60
_LONGEST_RETRY_SECONDS = 6 * 3600
_DISABLED_AFTER_SECONDS = 5 * 24 * 3600
_OVERTAKEN_SECONDS = 1.0
_TIMEOUT_SECONDS = 10


def announce(state: State, event_type: str, workspace_id: str, resource_id: str, payload: Thing) -> None:
    """Write an event for everybody who subscribed to it; the deliverer sends it."""
    for subscription in state.find("subscription", parent=workspace_id, statuses=["on"]):
        if subscription["event_type"] != event_type:
            continue
        is_lost = draw_fault(state, "hook_lost", "hook", event_type)
        late = _OVERTAKEN_SECONDS if draw_fault(state, "hook_reorder", "hook", event_type) else 0.0
        state.add(
            "event",
            {
                "datetime_created": state.stamp(),
                "datetime_updated": state.stamp(),
                "event_type": event_type,
                "resource_id": resource_id,
                "status": "PENDING",
                "target_url": subscription["target_url"],
                "payload": {"resource_id": resource_id, "event_type": event_type, **payload},
                "attempts": 0,
                "due": state.now() + late,
                "is_double": draw_fault(state, "hook_duplicate", "hook", event_type),
                "written_at": state.now(),
            },
            parent=subscription["id"],
            owner=resource_id,
            # What gets lost is listed as pending for ever.
            status="LOST" if is_lost else "PENDING",
        )
    state.wake.set()


# Deliveries


def deliver_due(state: State) -> Thing:
    """Send what is due by now, one after the other. Events that get lost are never sent."""
    outcomes = {"delivered": 0, "failed": 0}
    for each in _list_due(state):
        subscription, event = each
        outcomes["delivered" if _deliver(state, subscription, event) else "failed"] += 1
    with state.call():
        return {**outcomes, "waiting": state.count("event", statuses=["PENDING"])}


def next_due(state: State) -> float | None:
    """Seconds until the next delivery; None where none waits."""
    with state.call():
        dues = [event["due"] for _, event in _list_pending(state)]
        return max(0.0, min(dues) - state.now()) if dues else None


def _list_due(state: State) -> list[tuple[Thing, Thing]]:
    with state.call():
        now = state.now()
        due = [each for each in _list_pending(state) if each[1]["due"] <= now]
        return sorted(due, key=lambda each: each[1]["due"])


def _list_pending(state: State) -> list[tuple[Thing, Thing]]:
    return [
        (subscription, event)
        for subscription in state.find("subscription", statuses=["on"])
        for event in state.find("event", parent=subscription["id"], statuses=["PENDING"])
    ]


def _deliver(state: State, subscription: Thing, event: Thing) -> bool:
    with state.call():
        secret_rows = state.find("secret", parent=subscription["workspace_id"])
    secret = secret_rows[0]["value"] if secret_rows else ""
    done = _post(event, secret)
    if done and event["is_double"]:
        _post(event, secret)
    with state.call():
        stored_event, parent = state.get("event", event["id"]), state.get("subscription", subscription["id"])
        if stored_event is None or parent is None:
            return done
        stored_event["attempts"] += 1
        stored_event["datetime_updated"] = state.stamp()
        if done:
            stored_event["status"], parent["failing_since"] = "SUCCEEDED", None
        else:
            _note_failure(state, parent, stored_event)
        state.save(stored_event, status=stored_event["status"])
        state.save(parent, status="on" if parent["is_enabled"] else "off")
    return done


def _note_failure(state: State, subscription: Thing, event: Thing) -> None:
    now = state.now()
    subscription["failing_since"] = subscription["failing_since"] or now
    if now - subscription["failing_since"] >= _DISABLED_AFTER_SECONDS:
        subscription["is_enabled"] = False
    if event["attempts"] > _RETRIES or not subscription["is_enabled"]:
        event["status"] = "FAILED"
        return
    longest = min(_FIRST_RETRY_SECONDS * 2 ** (event["attempts"] - 1), _LONGEST_RETRY_SECONDS)
    jitter = random.Random(f"{state.options.seed} {event['id']} {event['attempts']}").random()
    event["due"] = now + longest * jitter


def _post(event: Thing, secret: str) -> bool:
    raw = json.dumps(event["payload"]).encode()
    timestamp = str(int(time.time()))
    parts = urlsplit(event["target_url"])
    connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    target = urlunsplit(("", "", parts.path or "/", parts.query, ""))
    headers = {
        "Content-Type": "application/json",
        "User-Agent": "panel-simulator",
        "X-Prolific-Request-Signature": sign_delivery(secret, timestamp, raw),
        "X-Prolific-Request-Timestamp": timestamp,
        "X-Event-ID": event["id"],
        "X-Timestamp": str(int(event["written_at"])),
    }
    try:
        with closing(connect(parts.hostname or "", parts.port, timeout=_TIMEOUT_SECONDS)) as connection:
            connection.request("POST", target, raw, headers)
            return 200 <= connection.getresponse().status < 300
    except (OSError, ValueError, http.client.HTTPException):
        return False


# Calls


def list_secrets(call: Call) -> Answer:
    """Secrets of a workspace: one, or none."""
    return Answer(200, {"results": call.state.find("secret", parent=call.query["workspace_id"])})


def create_secret(call: Call) -> Answer:
    """A new secret; the one before is gone."""
    workspace = workspace_of(call.state, call.body.get("workspace_id"))
    for old in call.state.find("secret", parent=workspace["id"]):
        call.state.remove(old["id"])
    secret = call.state.add(
        "secret",
        {"value": secrets.token_urlsafe(32), "workspace_id": workspace["id"]},
        parent=workspace["id"],
    )
    return Answer(201, secret)


def list_subscriptions(call: Call) -> Answer:
    """Subscriptions of the account, or of a workspace."""
    statuses = {"true": ["on"], "false": ["off", "new"]}.get(call.query.get("is_enabled", "").lower(), [])
    parent = call.query.get("workspace_id")
    count = call.state.count("subscription", parent=parent, statuses=statuses)
    return Answer(
        200,
        page(
            call,
            count,
            lambda limit, offset: [
                _view(each)
                for each in call.state.find(
                    "subscription", parent=parent, statuses=statuses, limit=limit, offset=offset
                )
            ],
        ),
    )


def create_subscription(call: Call) -> Answer:
    """A subscription that sends nothing until it is confirmed with the secret in `X-Hook-Secret`."""
    workspace = workspace_of(call.state, call.body["workspace_id"])
    _check(call.body)
    if not call.state.find("secret", parent=workspace["id"]):
        raise RefusalError("This workspace has no secret; create one first.")
    secret = secrets.token_urlsafe(24)
    subscription = call.state.add(
        "subscription",
        {
            "event_type": call.body["event_type"],
            "target_url": call.body["target_url"],
            "workspace_id": workspace["id"],
            "is_enabled": False,
            "confirmation": secret,
            "is_confirmed": False,
            "failing_since": None,
        },
        parent=workspace["id"],
        status="new",
    )
    view = _view(subscription)
    # The contract documents a list here, clients in the field read one object: it is both.
    return Answer(201, {**view, "results": [view]}, {"X-Hook-Secret": secret})


def confirm_subscription(call: Call) -> Answer:
    """Events flow from now on."""
    subscription = _subscription(call)
    if not secrets.compare_digest(subscription["confirmation"].encode(), call.body["secret"].encode()):
        raise field_error("secret", "This is not the secret of the subscription.")
    subscription |= {"is_enabled": True, "is_confirmed": True}
    call.state.save(subscription, status="on")
    return Answer(200, _view(subscription))


def workspace_of(state: State, key: str | None) -> Thing:
    """A workspace; the account's own where none is named."""
    workspace = state.get("workspace", key or str(state.fact("workspace")))
    if workspace is None:
        raise not_found("The workspace")
    return workspace


def _subscription(call: Call) -> Thing:
    subscription = call.state.get("subscription", call.ids[0])
    if subscription is None:
        raise not_found("The subscription")
    return subscription


def _check(subscription: Thing) -> None:
    if subscription["event_type"] not in EVENT_TYPES:
        raise field_error("event_type", f"One of {', '.join(EVENT_TYPES)}.")
    try:
        parts = urlsplit(subscription["target_url"])
        host, _ = parts.hostname, parts.port
    except ValueError:
        host = None
    if (
        not host
        or parts.scheme not in ("http", "https")
        or (parts.scheme == "http" and host not in _LOOPBACK)
    ):
        raise field_error("target_url", "An https address, or http on this machine.")


def _view(subscription: Thing) -> Thing:
    return {
        name: subscription[name] for name in ("id", "event_type", "target_url", "is_enabled", "workspace_id")
    }
