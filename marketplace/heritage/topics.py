"""Topics, as Amazon's SNS has them: subscriptions, messages, signatures, delivery.

A message is written down for each endpoint in the transaction of what it tells of, as events in queues are,
and sent afterwards (`send_due`).
"""

import base64
import hashlib
import json
import logging
import re
import time
import uuid
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any
from urllib.parse import urlencode, urlsplit

from celery import current_app
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.x509.oid import NameOID
from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.dispatch import Signal
from django.utils import timezone
from kombu.exceptions import ChannelError, OperationalError

from core.crypto import seal, unseal
from core.outbound import AddressRefusedError, DeliveryError, Reply, check_url, post
from marketplace import clock, ids
from marketplace.errors import Refusal
from marketplace.heritage.models import Queue, QueuedEvent, SigningKey, Subscription, Topic, TopicDelivery
from marketplace.models import Requester

logger = logging.getLogger(__name__)
State = TopicDelivery.State
#: A TopicDelivery was written; `delivery` is the row. Sender: TopicDelivery.
delivery_queued = Signal()


# Signatures of messages, as receivers of SNS check them: RSA with a certificate that we serve.

_KEY_PURPOSE = "sns"
#: What stored keys are sealed for; with another name here they could not be opened any more.
_SEALED_FOR = "marketplace.topics"
#: The certificate is never renewed, so it is valid for longer than an installation lives.
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
    key = SigningKey.objects.filter(fingerprint__startswith=begin).first() if len(begin) == 32 else None
    return key.certificate if key and certificate_path(key) == path else None


def signing_key() -> SigningKey:
    """The installation's key, made when first needed; of several that are made at once one stays."""
    key = SigningKey.objects.filter(purpose=_KEY_PURPOSE).first()
    if key is None:
        SigningKey.objects.bulk_create([_new_key()], ignore_conflicts=True)
        key = SigningKey.objects.get(purpose=_KEY_PURPOSE)
    return key


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
    # To a receiver whose clock is behind ours, a certificate of this minute would not be valid yet.
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
        purpose=_KEY_PURPOSE,
        private_key_sealed=seal(pem, purpose=_SEALED_FOR),
        certificate=text,
        fingerprint=hashlib.sha256(text.encode()).hexdigest(),
        created_at=now,
    )


# Refusals, limits and names.

#: Bytes, as SNS takes them.
MAX_MESSAGE = 262_144
MOST_TOPICS = 1_000
MOST_SUBSCRIPTIONS = 100
#: A subscription that nobody confirms is forgotten after so long.
CONFIRM_WITHIN = timedelta(days=3)
NAME = re.compile(r"[A-Za-z0-9_-]{1,256}")
#: Attributes of topics that can be set, and what may be in them.
SETTABLE = {
    "DisplayName": re.compile(r"[^\x00-\x1f]{0,100}"),
    "SignatureVersion": re.compile("[12]"),
    "Policy": re.compile(r"(?s).{0,30000}"),
    "DeliveryPolicy": re.compile(r"(?s).{0,30000}"),
}
Protocol = Subscription.Protocol


class TopicError(Exception):
    """A refusal in the words of the service: an error code of SNS and a sentence."""

    def __init__(self, code: str, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.code, self.message, self.status = code, message, status


def invalid(name: str, why: str) -> TopicError:
    """Refusal of the value of a parameter."""
    return TopicError("InvalidParameter", f"Invalid parameter: {name} Reason: {why}")


def account_number(requester: Requester) -> str:
    """Twelve digits that stand for a requester in names of resources."""
    digest = hashlib.sha256(requester.customer_id.encode()).digest()
    return f"{int.from_bytes(digest[:8]) % 10**12:012d}"


# Which endpoints the operator allows.


def trusted_hosts() -> frozenset[str]:
    """Hosts that the operator names one by one: they may be private and without https."""
    return frozenset(each for each in settings.MARKETPLACE_TOPIC_HOSTS if "*" not in each)


def is_allowed(host: str) -> bool:
    """Whether messages may go to this host, by `MARKETPLACE_TOPIC_HOSTS`."""
    host = host.lower().rstrip(".")
    return any(
        each in ("*", host) or (each.startswith("*.") and host.endswith(each[1:]))
        for each in settings.MARKETPLACE_TOPIC_HOSTS
    )


def check_endpoint(protocol: str, endpoint: str) -> None:
    """Raise TopicError for an address to which nothing is sent."""
    try:
        parts = check_url(endpoint, trusted=trusted_hosts())
    except AddressRefusedError as error:
        raise invalid("Endpoint", str(error)) from error
    if parts.scheme != protocol:
        raise invalid("Endpoint", f"Endpoint must match the specified protocol, {protocol}")
    if not is_allowed(parts.hostname or ""):
        raise invalid(
            "Endpoint",
            f"the operator of this marketplace does not allow messages to {parts.hostname}. Hosts are "
            "allowed with MARKETPLACE_TOPIC_HOSTS.",
        )


# Topics.


def create_topic(
    requester: Requester, name: str, attributes: Mapping[str, str], *, region: str, base_url: str
) -> Topic:
    """The requester's topic of this name, made if it is not there."""
    if not NAME.fullmatch(name):
        raise invalid(
            "Topic Name", "1 to 256 letters, digits, hyphens and low lines; there are no FIFO topics."
        )
    for each, value in attributes.items():
        check_attribute(each, value)
    arn = f"arn:aws:sns:{region}:{account_number(requester)}:{name}"
    if existing := Topic.objects.filter(arn=arn, requester=requester).first():
        if any(existing.attributes.get(each) != value for each, value in attributes.items()):
            raise invalid("Attributes", "Topic already exists with different attributes")
        return existing
    if Topic.objects.filter(requester=requester).count() >= MOST_TOPICS:
        raise TopicError("TopicLimitExceeded", f"A requester has at most {MOST_TOPICS:,} topics.", 403)
    topic, _ = Topic.objects.get_or_create(
        arn=arn,
        defaults={
            "requester": requester,
            "name": name,
            "attributes": dict(attributes),
            "base_url": base_url,
            "created_at": clock.now(),
        },
    )
    return topic


def check_attribute(name: str, value: str) -> None:
    """Raise TopicError for what cannot be set on a topic."""
    pattern = SETTABLE.get(name)
    if pattern is None:
        raise invalid("AttributeName", f"{name[:80]} cannot be set; these can: {', '.join(SETTABLE)}")
    if not pattern.fullmatch(value):
        raise invalid("AttributeValue", f"this is no {name}")


@transaction.atomic
def set_attribute(topic: Topic, name: str, value: str) -> None:
    """Set one attribute of a topic."""
    check_attribute(name, value)
    row = Topic.objects.select_for_update(no_key=True).get(pk=topic.pk)
    row.attributes = {**row.attributes, name: value}
    row.save(update_fields=["attributes"])


def topic_named(arn: str, requester: Requester | None = None) -> Topic:
    """The topic; TopicError where there is none, or it is not the requester's."""
    topic = Topic.objects.select_related("requester").filter(arn=arn[:350]).first()
    if topic is None or (requester is not None and topic.requester_id != requester.pk):
        raise TopicError("NotFound", "Topic does not exist", 404)
    return topic


# Subscriptions.


@transaction.atomic
def subscribe(topic: Topic, protocol: str, endpoint: str, *, raw: bool) -> Subscription:
    """A subscription, which its endpoint has to confirm; a queue of the topic's owner needs no confirmation.

    Subscribing once more gives the one that is there; while it waits it is asked again.
    """
    if protocol not in Protocol.values:
        raise invalid(
            "Protocol", f"this marketplace sends by {', '.join(Protocol.values)}, not by {protocol[:40]}"
        )
    if protocol == Protocol.SQS:
        queue_named(topic.requester, endpoint)
    else:
        check_endpoint(protocol, endpoint)
    # Calls for one topic wait for each other here: two at once would make two subscriptions of one endpoint.
    Topic.objects.select_for_update(no_key=True).get(pk=topic.pk)
    subscription = topic.subscriptions.filter(protocol=protocol, endpoint=endpoint, ended_at=None).first()
    if subscription is not None and subscription.confirmed_at:
        return subscription
    now = clock.now()
    if subscription is None:
        if topic.subscriptions.filter(ended_at=None).count() >= MOST_SUBSCRIPTIONS:
            raise TopicError(
                "SubscriptionLimitExceeded", f"A topic has at most {MOST_SUBSCRIPTIONS} subscriptions.", 403
            )
        subscription = Subscription.objects.create(
            topic=topic,
            arn=f"{topic.arn}:{uuid.uuid4()}",
            protocol=protocol,
            endpoint=endpoint,
            raw=raw,
            created_at=now,
            confirmed_at=now if protocol == Protocol.SQS else None,
        )
    if not subscription.confirmed_at:
        ask_to_confirm(subscription, "SubscriptionConfirmation", now)
    return subscription


def ask_to_confirm(subscription: Subscription, kind: str, now: datetime) -> None:
    """Send an endpoint the token that confirms its subscription, or makes it once more."""
    token = ids.new_token() + ids.new_token()
    subscription.token_digest = ids.digest(token)
    subscription.save(update_fields=["token_digest"])
    topic = subscription.topic
    query = urlencode({"Action": "ConfirmSubscription", "TopicArn": topic.arn, "Token": token})
    message_text = (
        f"You have chosen to subscribe to the topic {topic.arn}.\n"
        "To confirm the subscription, visit the SubscribeURL included in this message."
        if kind == "SubscriptionConfirmation"
        else f"You have chosen to deactivate subscription {subscription.arn}.\n"
        "To cancel this operation and restore the subscription, visit the SubscribeURL included in this "
        "message."
    )
    _send(
        subscription,
        {
            "Type": kind,
            "MessageId": str(uuid.uuid4()),
            "Token": token,
            "TopicArn": topic.arn,
            "Message": message_text,
            "SubscribeURL": f"{topic.base_url}/mturk/sns/?{query}",
            "Timestamp": timestamp(now),
        },
        now,
    )


@transaction.atomic
def confirm(topic: Topic, token: str, *, signed_end: bool = False) -> Subscription:
    """Confirm the subscription that a token belongs to; once more changes nothing."""
    subscription = (
        topic.subscriptions.select_for_update(no_key=True).filter(token_digest=ids.digest(token)).first()
    )
    if subscription is None or (
        subscription.created_at < clock.now() - CONFIRM_WITHIN and not subscription.confirmed_at
    ):
        raise invalid("Token", "this token confirms no subscription of the topic")
    if subscription.ended_at:
        others = topic.subscriptions.filter(
            protocol=subscription.protocol, endpoint=subscription.endpoint, ended_at=None
        )
        if others.exists():
            raise invalid("Token", "the endpoint is subscribed again already")
    subscription.ended_at = None
    subscription.confirmed_at = subscription.confirmed_at or clock.now()
    subscription.signed_end = subscription.signed_end or signed_end
    subscription.save(update_fields=["ended_at", "confirmed_at", "signed_end"])
    return subscription


@transaction.atomic
def unsubscribe(arn: str, requester: Requester | None) -> None:
    """End a subscription; its endpoint is told. Without a signature only where its owner wants none."""
    subscription = (
        Subscription.objects.select_for_update(no_key=True, of=("self",))
        .select_related("topic__requester")
        .filter(arn=arn[:400], ended_at=None)
        .first()
    )
    if subscription is None:
        # As SNS does it: ending what has ended already is no error, so that a retry of the call is none.
        if arn.startswith("arn:aws:sns:"):
            return
        raise invalid("SubscriptionArn", "this is no ARN of a subscription")
    if requester is None and subscription.signed_end:
        raise TopicError("AuthorizationError", "This subscription is ended by its owner only.", 403)
    if requester is not None and subscription.topic.requester_id != requester.pk:
        raise TopicError("AuthorizationError", "This subscription is another account's.", 403)
    now = clock.now()
    subscription.ended_at = now
    subscription.save(update_fields=["ended_at"])
    if subscription.protocol != Protocol.SQS and subscription.confirmed_at:
        ask_to_confirm(subscription, "UnsubscribeConfirmation", now)


# Queues of this marketplace, by the names that SNS and SQS give them.


def queue_arn(requester: Requester, address: str, region: str = "us-east-1") -> str:
    """ARN of a queue of ours."""
    return f"arn:aws:sqs:{region}:{account_number(requester)}:{urlsplit(address).path.rpartition('/')[2]}"


def queue_named(requester: Requester, arn: str) -> Queue:
    """The requester's queue with this ARN or address; of two with one name the first."""
    name = arn.rpartition(":")[2] if arn.startswith("arn:aws:sqs:") else arn.rpartition("/")[2]
    queue = requester.queues.filter(address=arn).first() or (
        requester.queues.filter(address__endswith=f"/{name}").order_by("pk").first() if name else None
    )
    if queue is None:
        raise invalid(
            "Endpoint", "SQS endpoint ARN: you have no queue of this name here; make it with CreateQueue"
        )
    return queue


# Messages.


@transaction.atomic
def publish(
    topic: Topic,
    message: str,
    *,
    subject: str = "",
    of_protocol: Mapping[str, str] | None = None,
    attributes: Mapping[str, Any] | None = None,
) -> uuid.UUID:
    """Write a message down for every confirmed subscription; `of_protocol` has other texts for some."""
    now, message_id = clock.now(), uuid.uuid4()
    for subscription in topic.subscriptions.filter(ended_at=None, confirmed_at__isnull=False):
        subscription.topic = topic
        document: dict[str, Any] = {
            "Type": "Notification",
            "MessageId": str(message_id),
            "TopicArn": topic.arn,
            **({"Subject": subject} if subject else {}),
            "Message": (of_protocol or {}).get(subscription.protocol, message),
            "Timestamp": timestamp(now),
        }
        if attributes:
            document["MessageAttributes"] = attributes
        _send(subscription, document, now)
    return message_id


def timestamp(moment: datetime) -> str:
    """A moment as messages carry it: UTC, milliseconds."""
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _send(subscription: Subscription, document: Mapping[str, Any], now: datetime) -> None:
    if subscription.protocol == Protocol.SQS:
        owner = subscription.topic.requester
        QueuedEvent.objects.create(
            requester=owner,
            queue=queue_named(owner, subscription.endpoint).address,
            message_id=uuid.uuid4(),
            body=document["Message"] if subscription.raw else json.dumps(complete(subscription, document)),
            sent_at=now,
            visible_at=now,
        )
        return
    delivery = TopicDelivery.objects.create(
        subscription=subscription,
        message_id=document["MessageId"],
        document=document,
        due_at=now,
        created_at=now,
    )
    delivery_queued.send(TopicDelivery, delivery=delivery)


def complete(subscription: Subscription, document: Mapping[str, Any]) -> dict[str, Any]:
    """A message as its endpoint gets it: signed, and with the address that ends the subscription."""
    topic = subscription.topic
    version = topic.attributes.get("SignatureVersion", "1")
    attributes = document.get("MessageAttributes")
    signed: dict[str, Any] = dict(
        sign(
            {name: value for name, value in document.items() if name != "MessageAttributes"},
            base_url=topic.base_url,
            version=version,
        )
    )
    if document["Type"] == "Notification":
        query = urlencode({"Action": "Unsubscribe", "SubscriptionArn": subscription.arn})
        signed["UnsubscribeURL"] = f"{topic.base_url}/mturk/sns/?{query}"
    if attributes:
        signed["MessageAttributes"] = attributes
    return signed


# Delivery: what is due goes out, what is not taken comes again, all is written down.

#: How long after each attempt that failed the next one comes; after the last of them the message is given up.
PAUSES = tuple(timedelta(seconds=each) for each in (5, 20, 60, 300, 900, 1800, *[3600] * 12))
#: Answers of the 400s that pass: another attempt may be taken.
_PASSING = frozenset({408, 425, 429})
#: Log lines of deliveries are kept so long.
KEPT = timedelta(days=14)
#: Longer than an attempt can take, so that a message whose sender died is sent again, and no other is.
_LEASE = timedelta(minutes=2)
_AT_ONCE = 200
_ATTEMPT_SECONDS = 10.0
#: One round of sending ends after so long; the timer begins another.
_ROUND_SECONDS = 60.0
TASK = "notices.marketplace_topics"


def send_soon() -> None:
    """Have a worker send what is due, once this transaction is committed; the timer does where none hears."""
    transaction.on_commit(_announce, robust=True)


def _announce() -> None:
    try:
        current_app.send_task(TASK)
    except (OperationalError, ChannelError, OSError):
        logger.warning("Nobody could be told of messages to send; the timer will.", exc_info=True)


def send_due() -> int:
    """Make one attempt at every message that is due; how many were delivered.

    An endpoint that does not answer gets no further message in the same round: its others wait as long.
    """
    until, delivered, silent = time.monotonic() + _ROUND_SECONDS, 0, set[int]()
    while time.monotonic() < until:
        due = TopicDelivery.objects.filter(state=State.WAITING, due_at__lte=clock.now())
        due = due.exclude(subscription__in=silent).order_by("due_at", "pk")
        rows = list(due.select_related("subscription__topic__requester")[:_AT_ONCE])
        if not rows:
            break
        for row in rows:
            if row.subscription_id in silent or not _claim(row):
                continue
            if _attempt(row):
                delivered += 1
            elif row.state == State.WAITING:
                silent.add(row.subscription_id)
            if time.monotonic() > until:
                break
    return delivered


@transaction.atomic
def send_again(row: TopicDelivery) -> None:
    """Send a message once more as soon as possible; one that waits does not wait any longer.

    Raises Refusal where its subscription has ended or is not confirmed, or the message is on its way already.
    """
    now = clock.now()
    subscription = Subscription.objects.select_for_update(no_key=True).get(pk=row.subscription_id)
    if subscription.ended_at is not None:
        raise Refusal("NotSubscribed", "This subscription has ended; nothing is sent to it any more.")
    if subscription.confirmed_at is None and row.document["Type"] == "Notification":
        raise Refusal("NotConfirmed", "The endpoint has not confirmed its subscription.")
    waiting = TopicDelivery.objects.filter(
        subscription=subscription, message_id=row.message_id, state=State.WAITING
    )
    if not waiting.filter(pk=row.pk).update(due_at=now):
        if waiting.exists():
            raise Refusal("Waiting", "This message is on its way to the endpoint already.")
        TopicDelivery.objects.create(
            subscription=subscription,
            message_id=row.message_id,
            document=row.document,
            due_at=now,
            created_at=now,
        )
    send_soon()


def _claim(row: TopicDelivery) -> bool:
    """Take a message for one attempt; whoever dies over it loses it to the next round after the lease."""
    row.attempts += 1
    return bool(
        TopicDelivery.objects.filter(pk=row.pk, state=State.WAITING, due_at=row.due_at).update(
            attempts=F("attempts") + 1, due_at=clock.now() + _LEASE
        )
    )


def _attempt(row: TopicDelivery) -> bool:
    try:
        reply = _post(row)
    except AddressRefusedError as error:
        return _note(row, error=str(error), final=True)
    except DeliveryError as error:
        return _note(row, error=str(error))
    if reply.status < 300:
        return _note(row, status=reply.status)
    final = 400 <= reply.status < 500 and reply.status not in _PASSING
    return _note(row, status=reply.status, error=f"The endpoint answered {reply.status}.", final=final)


def _post(row: TopicDelivery) -> Reply:
    subscription, kind = row.subscription, row.document["Type"]
    host = subscription.endpoint.split("/")[2].rpartition("@")[2].partition(":")[0]
    # Asked again at each attempt: the operator may have closed the host since somebody subscribed.
    if not is_allowed(host):
        raise AddressRefusedError(f"Messages to {host} are not allowed any more (MARKETPLACE_TOPIC_HOSTS).")
    raw = subscription.raw and kind == "Notification"
    text = row.document["Message"] if raw else json.dumps(complete(subscription, row.document), indent=2)
    headers = {
        "Content-Type": "text/plain; charset=UTF-8",
        "User-Agent": "Amazon Simple Notification Service Agent (Distillery)",
        "x-amz-sns-message-type": kind,
        "x-amz-sns-message-id": str(row.message_id),
        "x-amz-sns-topic-arn": subscription.topic.arn,
    }
    if kind == "Notification":
        headers["x-amz-sns-subscription-arn"] = subscription.arn
    if raw:
        headers["x-amz-sns-rawdelivery"] = "true"
    return post(
        subscription.endpoint, text.encode(), headers, trusted=trusted_hosts(), seconds=_ATTEMPT_SECONDS
    )


def _note(row: TopicDelivery, *, status: int | None = None, error: str = "", final: bool = False) -> bool:
    """Write down what became of an attempt, unless another one has the message by now."""
    now, due_at = clock.now(), None
    if not error:
        row.state = State.DELIVERED
    elif final or row.attempts > len(PAUSES):
        row.state = State.FAILED
    else:
        due_at = now + PAUSES[row.attempts - 1]
    TopicDelivery.objects.filter(pk=row.pk, state=State.WAITING, attempts=row.attempts).update(
        state=row.state,
        status=status,
        error=error[:500],
        due_at=due_at,
        ended_at=None if due_at else now,
    )
    return not error


def forget_old(now: datetime) -> None:
    """Old lines of the log go, and subscriptions that nobody confirmed."""
    TopicDelivery.objects.filter(created_at__lt=now - KEPT).delete()
    Subscription.objects.filter(confirmed_at=None, created_at__lt=now - CONFIRM_WITHIN).delete()
    Subscription.objects.filter(ended_at__lt=now - KEPT).delete()
