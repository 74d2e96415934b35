"""The HTTP endpoint of topics: the query protocol of SNS, signed for the service `sns`, answered in XML.

It shares address and keys with the requester protocol. Two actions and the certificate are also had without a
signature, by GET: an endpoint confirms its subscription, and ends it, at addresses that its messages hold.
"""

import json
import logging
import re
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl
from xml.etree.ElementTree import Element, SubElement, tostring

from django.core.exceptions import DisallowedHost
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse

from core.errors import translated_failure
from marketplace.forms.questionform import printable
from marketplace.heritage import topics
from marketplace.heritage.models import Subscription, Topic
from marketplace.heritage.topics import (
    TopicError,
    account_number,
    certificate_at,
    invalid,
    send_soon,
    topic_named,
)
from marketplace.models import Requester
from marketplace.protocol import errors, sigv4
from marketplace.protocol.errors import ProtocolError
from marketplace.site.taskpages import site_url

logger = logging.getLogger(__name__)
SERVICE = "sns"
PATH = "/mturk/sns/"
NAMESPACE = "http://sns.amazonaws.com/doc/2010-03-31/"
_PAGE = 100
_MOST_PARAMETERS = 500
_ENTRY = re.compile(r"entry\.(\d{1,3})\.(.+)")
#: Errors of the front door, as services of this protocol name them.
_CODES = {
    "UnrecognizedClientException": "InvalidClientTokenId",
    "InvalidSignatureException": "SignatureDoesNotMatch",
    "IncompleteSignatureException": "IncompleteSignature",
    "MissingAuthenticationTokenException": "MissingAuthenticationToken",
    "ThrottlingException": "Throttling",
}


def is_call(request: HttpRequest, at_endpoint: bool) -> bool:
    """Whether a request is one about topics: by its path, or signed for them at the protocol's address."""
    is_signed = f"/{SERVICE}/aws4_request" in request.META.get("HTTP_AUTHORIZATION", "")
    return request.path_info.startswith(PATH) or (at_endpoint and is_signed)


@dataclass(slots=True)
class TopicCall:
    """One action: who calls it (nobody: without a signature), in which region, with which parameters."""

    requester: Requester | None
    region: str
    parameters: Mapping[str, str]
    base_url: str
    read_only: bool = False

    @property
    def owner(self) -> Requester:
        """The requester; TopicError for a call without a signature."""
        if self.requester is None:
            raise TopicError("MissingAuthenticationToken", "Request is missing Authentication Token", 403)
        return self.requester

    def need(self, name: str) -> str:
        """A parameter that must be there."""
        value = self.parameters.get(name, "")
        if not value:
            raise invalid(name, f"The {name} parameter is missing")
        return value

    def topic(self) -> Topic:
        """The caller's topic that TopicArn names."""
        return topic_named(self.need("TopicArn"), self.owner)

    def entries(self, name: str, key: str = "key", value: str = "value") -> dict[str, str]:
        """A map, as the protocol writes it: NAME.entry.1.key, NAME.entry.1.value, …"""
        pairs: dict[str, dict[str, str]] = {}
        for parameter, text in self.parameters.items():
            match = _ENTRY.fullmatch(parameter.removeprefix(f"{name}."))
            if parameter.startswith(f"{name}.") and match:
                pairs.setdefault(match[1], {})[match[2]] = text
        return {each[key]: each.get(value, "") for each in pairs.values() if key in each}


Result = dict[str, Any]


def answer(request: HttpRequest) -> HttpResponse:
    """Answer one request; whatever goes wrong becomes an error that clients of SNS understand."""
    request_id = str(uuid.uuid4())
    if request.method in ("GET", "HEAD") and (certificate := certificate_at(request.path_info)):
        return HttpResponse(certificate, content_type="application/x-pem-file")
    action = ""
    try:
        with translated_failure(
            lambda error: _note_fault(action, request_id, error), passing=(TopicError, ProtocolError)
        ):
            call, action = _read_call(request)
            body, status = _answer_xml(action, _perform(action, call), request_id), 200
    except TopicError as error:
        body, status = _error_xml(error.code, error.message, request_id), error.status
    except ProtocolError as error:
        if error.kind in errors.AT_THE_DOOR:
            errors.count_refusal(error.kind, request.META)
        status = 403 if error.status == 400 and error.kind in _CODES else error.status
        body = _error_xml(_CODES.get(error.kind, error.kind), error.message, request_id)
    headers = {"x-amzn-RequestId": request_id, "Cache-Control": "no-store"}
    response = HttpResponse(body, status=status, content_type="text/xml; charset=utf-8", headers=headers)
    response["Content-Length"] = str(len(response.content))
    return response


def _note_fault(action: str, request_id: str, error: Exception) -> ProtocolError:
    """What a client of SNS can read, of an error that is ours; the log has the whole story."""
    logger.error("%s failed, request %s", action or "A call about topics", request_id, exc_info=error)
    return ProtocolError("InternalFailure", "The service failed; try again.", status=500)


def _read_call(request: HttpRequest) -> tuple[TopicCall, str]:
    requester, region, read_only = None, "us-east-1", False
    if request.method == "POST":
        raw = errors.body(request)
        signed = sigv4.authenticate(request.META, raw, service=SERVICE, must_be_signed=sigv4.WITHOUT_TARGET)
        requester, read_only, region = signed.requester, signed.key.read_only, signed.region
        errors.check_rate(requester.pk)
        text = raw.decode("utf-8", "replace")
    elif request.method in ("GET", "HEAD"):
        text = request.META.get("QUERY_STRING", "")
    else:
        raise ProtocolError("MethodNotAllowedException", "Calls are made with POST.", 405)
    try:
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_PARAMETERS)
    except ValueError as error:
        raise TopicError("InvalidParameter", f"There are at most {_MOST_PARAMETERS} parameters.") from error
    parameters = {name: printable(value).replace("\x00", "") for name, value in pairs}
    try:
        base_url = site_url(request)
    except DisallowedHost as error:
        raise TopicError(
            "InvalidParameter", "This server is not called by that name; see ALLOWED_HOSTS."
        ) from error
    call = TopicCall(requester, region, parameters, base_url, read_only)
    return call, parameters.get("Action", "")


def _perform(action: str, call: TopicCall) -> Result:
    operation = _ACTIONS.get(action)
    if operation is None:
        raise TopicError(
            "InvalidAction",
            f"{action[:60] or 'No action'} is not done here; topics of this marketplace know "
            f"{', '.join(_ACTIONS)}.",
        )
    if call.requester is None and action not in _UNSIGNED:
        raise TopicError("MissingAuthenticationToken", "Request is missing Authentication Token", 403)
    if call.read_only and not action.startswith(("List", "Get")):
        raise TopicError("AuthorizationError", "This access key reads only; it may change nothing.", 403)
    result = operation(call)
    if action in _SENDING:
        send_soon()
    return result


# Actions.


def _create_topic(call: TopicCall) -> Result:
    topic = topics.create_topic(
        call.owner,
        call.need("Name"),
        call.entries("Attributes"),
        region=call.region,
        base_url=call.base_url,
    )
    return {"TopicArn": topic.arn}


def _delete_topic(call: TopicCall) -> Result:
    Topic.objects.filter(arn=call.need("TopicArn")[:350], requester=call.owner).delete()
    return {}


def _list_topics(call: TopicCall) -> Result:
    rows, token = _page(call, Topic.objects.filter(requester=call.owner))
    return {"Topics": [{"TopicArn": row.arn} for row in rows], "NextToken": token}


def _get_topic_attributes(call: TopicCall) -> Result:
    topic = call.topic()
    counts = topic.subscriptions.aggregate(
        confirmed=Count("pk", filter=Q(ended_at=None, confirmed_at__isnull=False)),
        pending=Count("pk", filter=Q(ended_at=None, confirmed_at=None)),
        deleted=Count("pk", filter=Q(ended_at__isnull=False)),
    )
    owner = account_number(call.owner)
    policy = {
        "Version": "2008-10-17",
        "Id": "__default_policy_ID",
        "Statement": [
            {
                "Sid": "__default_statement_ID",
                "Effect": "Allow",
                "Principal": {"AWS": "*"},
                "Action": ["SNS:Publish", "SNS:Subscribe"],
                "Resource": topic.arn,
                "Condition": {"StringEquals": {"AWS:SourceOwner": owner}},
            }
        ],
    }
    attributes = {
        "TopicArn": topic.arn,
        "Owner": owner,
        "DisplayName": "",
        "Policy": json.dumps(policy),
        "SignatureVersion": "1",
        "SubscriptionsConfirmed": str(counts["confirmed"]),
        "SubscriptionsPending": str(counts["pending"]),
        "SubscriptionsDeleted": str(counts["deleted"]),
        **topic.attributes,
    }
    return {"Attributes": attributes}


def _set_topic_attributes(call: TopicCall) -> Result:
    topics.set_attribute(call.topic(), call.need("AttributeName"), call.parameters.get("AttributeValue", ""))
    return {}


def _subscribe(call: TopicCall) -> Result:
    attributes = call.entries("Attributes")
    raw = attributes.pop("RawMessageDelivery", "false")
    if attributes:
        raise invalid(
            "Attributes", f"{', '.join(sorted(attributes))[:200]}: only RawMessageDelivery is known"
        )
    if raw not in ("true", "false"):
        raise invalid("Attributes", "RawMessageDelivery is true or false")
    subscription = topics.subscribe(
        call.topic(),
        call.need("Protocol"),
        call.need("Endpoint"),
        raw=raw == "true",
    )
    shows_arn = (
        subscription.confirmed_at or call.parameters.get("ReturnSubscriptionArn", "").lower() == "true"
    )
    return {"SubscriptionArn": subscription.arn if shows_arn else "pending confirmation"}


def _confirm_subscription(call: TopicCall) -> Result:
    signed_end = call.parameters.get("AuthenticateOnUnsubscribe", "").lower() == "true"
    topic = topic_named(call.need("TopicArn"), call.requester)
    subscription = topics.confirm(
        topic, call.need("Token"), signed_end=signed_end and call.requester is not None
    )
    return {"SubscriptionArn": subscription.arn}


def _unsubscribe(call: TopicCall) -> Result:
    topics.unsubscribe(call.need("SubscriptionArn"), call.requester)
    return {}


def _list_subscriptions(call: TopicCall) -> Result:
    return _subscriptions(call, Subscription.objects.filter(topic__requester=call.owner))


def _list_subscriptions_by_topic(call: TopicCall) -> Result:
    return _subscriptions(call, Subscription.objects.filter(topic=call.topic()))


def _subscriptions(call: TopicCall, rows: Any) -> Result:
    subscriptions, token = _page(call, rows.filter(ended_at=None).select_related("topic"))
    owner = account_number(call.owner)
    return {
        "Subscriptions": [
            {
                "SubscriptionArn": row.arn if row.confirmed_at else "PendingConfirmation",
                "Owner": owner,
                "Protocol": row.protocol,
                "Endpoint": row.endpoint,
                "TopicArn": row.topic.arn,
            }
            for row in subscriptions
        ],
        "NextToken": token,
    }


def _own_subscription(call: TopicCall) -> Subscription:
    arn = call.need("SubscriptionArn")[:400]
    rows = Subscription.objects.select_related("topic").filter(ended_at=None, topic__requester=call.owner)
    subscription = rows.filter(arn=arn).first()
    if subscription is None:
        raise TopicError("NotFound", "Subscription does not exist", 404)
    return subscription


def _get_subscription_attributes(call: TopicCall) -> Result:
    row = _own_subscription(call)
    return {
        "Attributes": {
            "SubscriptionArn": row.arn,
            "TopicArn": row.topic.arn,
            "Owner": account_number(call.owner),
            "Protocol": row.protocol,
            "Endpoint": row.endpoint,
            "RawMessageDelivery": str(row.raw).lower(),
            "PendingConfirmation": str(row.confirmed_at is None).lower(),
            "ConfirmationWasAuthenticated": str(row.signed_end).lower(),
        }
    }


def _set_subscription_attributes(call: TopicCall) -> Result:
    row, value = _own_subscription(call), call.parameters.get("AttributeValue", "")
    if call.need("AttributeName") != "RawMessageDelivery" or value not in ("true", "false"):
        raise invalid("AttributeName", "only RawMessageDelivery is known, which is true or false")
    Subscription.objects.filter(pk=row.pk).update(raw=value == "true")
    return {}


def _publish(call: TopicCall) -> Result:
    arn = call.parameters.get("TopicArn") or call.parameters.get("TargetArn", "")
    if not arn:
        raise invalid("TopicArn or TargetArn", "no value for required parameter")
    topic, message = topic_named(arn, call.owner), call.need("Message")
    if len(message.encode()) > topics.MAX_MESSAGE:
        raise invalid("Message", "Message too long")
    subject = call.parameters.get("Subject", "")
    if len(subject) > 100 or not subject.isprintable():
        raise invalid("Subject", "it has at most 100 characters, all of them printable")
    of_protocol: dict[str, str] = {}
    if call.parameters.get("MessageStructure") == "json":
        message, of_protocol = _structured(message)
    attributes = {
        name: {"Type": kind, "Value": value}
        for (name, kind), value in zip(
            call.entries("MessageAttributes", "Name", "Value.DataType").items(),
            call.entries("MessageAttributes", "Name", "Value.StringValue").values(),
            strict=True,
        )
    }
    message_id = topics.publish(
        topic, message, subject=subject, of_protocol=of_protocol, attributes=attributes
    )
    return {"MessageId": str(message_id)}


def _structured(message: str) -> tuple[str, dict[str, str]]:
    try:
        document = json.loads(message)
    except (ValueError, RecursionError) as error:
        raise invalid("Message Structure", "JSON message body failed to parse") from error
    if not isinstance(document, dict) or not isinstance(document.get("default"), str):
        raise invalid("Message Structure", "No default entry in JSON message body")
    return document["default"], {name: value for name, value in document.items() if isinstance(value, str)}


def _page(call: TopicCall, rows: Any) -> tuple[list[Any], str]:
    """Rows by their keys, and the token of the next page; the token is the last key."""
    token = call.parameters.get("NextToken", "")
    if token and not (token.isascii() and token.isdigit() and len(token) < 19):
        raise invalid("NextToken", "this is no token of a page")
    page_rows = list(rows.filter(pk__gt=int(token or 0)).order_by("pk")[: _PAGE + 1])
    return page_rows[:_PAGE], str(page_rows[_PAGE - 1].pk) if len(page_rows) > _PAGE else ""


_ACTIONS: dict[str, Callable[[TopicCall], Result]] = {
    "CreateTopic": _create_topic,
    "DeleteTopic": _delete_topic,
    "ListTopics": _list_topics,
    "GetTopicAttributes": _get_topic_attributes,
    "SetTopicAttributes": _set_topic_attributes,
    "Subscribe": _subscribe,
    "ConfirmSubscription": _confirm_subscription,
    "Unsubscribe": _unsubscribe,
    "ListSubscriptions": _list_subscriptions,
    "ListSubscriptionsByTopic": _list_subscriptions_by_topic,
    "GetSubscriptionAttributes": _get_subscription_attributes,
    "SetSubscriptionAttributes": _set_subscription_attributes,
    "Publish": _publish,
}
_UNSIGNED = frozenset({"ConfirmSubscription", "Unsubscribe"})
#: Actions after which there is something to send.
_SENDING = frozenset({"Subscribe", "Unsubscribe", "Publish"})


# XML of answers.


def _answer_xml(action: str, result: Result, request_id: str) -> bytes:
    root = Element(f"{action}Response", xmlns=NAMESPACE)
    filled = SubElement(root, f"{action}Result")
    for name, value in result.items():
        if value not in ("", None):
            _write(filled, name, value)
    SubElement(SubElement(root, "ResponseMetadata"), "RequestId").text = request_id
    return _document(root)


def _write(parent: Element, name: str, value: Any) -> None:
    """Lists have `member` elements, maps `entry` elements with key and value, as this protocol has them."""
    element = SubElement(parent, name)
    if isinstance(value, list):
        for each in value:
            member = SubElement(element, "member")
            for inner, text in each.items():
                SubElement(member, inner).text = text
    elif isinstance(value, dict):
        for key, text in value.items():
            entry = SubElement(element, "entry")
            SubElement(entry, "key").text = key
            SubElement(entry, "value").text = text
    else:
        element.text = value


def _error_xml(code: str, message: str, request_id: str) -> bytes:
    root = Element("ErrorResponse", xmlns=NAMESPACE)
    error = SubElement(root, "Error")
    for name, value in (("Type", "Sender"), ("Code", code), ("Message", printable(message))):
        SubElement(error, name).text = value
    SubElement(root, "RequestId").text = request_id
    return _document(root)


def _document(root: Element) -> bytes:
    text: bytes = tostring(root, encoding="utf-8", xml_declaration=True)
    return text
