"""Clients for tests that look at a marketplace from outside: boto3, signed raw calls, scripted workers."""

import http.client
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from unittest import mock
from urllib.parse import urlencode, urlsplit

import boto3
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials

REGION = "us-east-1"
TARGET = "MTurkRequesterServiceV20170117"

_session = boto3.session.Session()
_session_lock = threading.Lock()


@dataclass(frozen=True)
class Answer:
    """What a server said to one HTTP request."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.body)


def ask(
    method: str,
    url: str,
    body: bytes | None = None,
    headers: Mapping[str, str] | None = None,
    *,
    timeout: float = 60,
) -> Answer:
    """One HTTP request on a connection of its own; redirects are not followed."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout)
    try:
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request(method, target, body, dict(headers or {}))
        response = connection.getresponse()
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, response.read())
    finally:
        connection.close()


def post_form(url: str, fields: Mapping[str, str] | list[tuple[str, str]], **headers: str) -> Answer:
    """Post a form as a browser does."""
    body = urlencode(fields).encode()
    return ask("POST", url, body, {"Content-Type": "application/x-www-form-urlencoded", **headers})


def post_json(url: str, value: object, bearer: str) -> Answer:
    """Post JSON with a bearer token."""
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {bearer}"}
    return ask("POST", url, json.dumps(value).encode(), headers)


def mturk_client(api_url: str, access_key: str, secret: str, **config: Any) -> Any:
    """An unmodified boto3 client that makes one attempt per call, unless `config` says otherwise."""
    settings: dict[str, Any] = {
        "proxies": {},
        "retries": {"total_max_attempts": 1},
        "max_pool_connections": 60,
        "read_timeout": 60,
        "connect_timeout": 10,
        **config,
    }
    with _session_lock:
        return _session.client(
            "mturk",
            endpoint_url=api_url,
            region_name=REGION,
            aws_access_key_id=access_key,
            aws_secret_access_key=secret,
            config=Config(**settings),
        )


def sqs_client(api_url: str, access_key: str, secret: str, **config: Any) -> Any:
    """An unmodified boto3 client for queues, pointed at the same port as the requester protocol."""
    with _session_lock:
        return _session.client(
            "sqs",
            endpoint_url=api_url,
            region_name=config.pop("region_name", REGION),
            aws_access_key_id=access_key,
            aws_secret_access_key=secret,
            config=Config(**{"proxies": {}, "retries": {"total_max_attempts": 1}, **config}),
        )


def sns_client(api_url: str, access_key: str, secret: str, **config: Any) -> Any:
    """An unmodified boto3 client for topics, pointed at the same port as the requester protocol."""
    with _session_lock:
        return _session.client(
            "sns",
            endpoint_url=api_url,
            region_name=config.pop("region_name", REGION),
            aws_access_key_id=access_key,
            aws_secret_access_key=secret,
            config=Config(**{"proxies": {}, "retries": {"total_max_attempts": 1}, **config}),
        )


def signed_headers(
    api_url: str,
    access_key: str,
    secret: str,
    body: bytes,
    headers: Mapping[str, str],
    *,
    at: datetime | None = None,
    service: str = "mturk-requester",
) -> dict[str, str]:
    """`headers` with botocore's own signature for `body` added, dated `at` (naive UTC) where given."""
    request = AWSRequest(method="POST", url=api_url, data=body, headers=dict(headers))
    signer = SigV4Auth(Credentials(access_key, secret), service, REGION)
    if at is None:
        signer.add_auth(request)
    else:
        with mock.patch("botocore.auth.get_current_datetime", return_value=at):
            signer.add_auth(request)
    return dict(request.headers.items())


def signed_call(
    api_url: str,
    access_key: str,
    secret: str,
    operation: str,
    body: bytes,
    *,
    at: datetime | None = None,
    content_type: str = "application/x-amz-json-1.1",
) -> Answer:
    """Send any bytes at all to the protocol endpoint, correctly signed."""
    headers = {"Content-Type": content_type, "X-Amz-Target": f"{TARGET}.{operation}"}
    headers = signed_headers(api_url, access_key, secret, body, headers, at=at)
    return ask("POST", api_url, body, headers)


@dataclass(frozen=True)
class Requester:
    """An account on a marketplace, with a boto3 client that makes one attempt per call."""

    name: str
    access_key: str
    secret: str
    api_url: str
    client: Any = field(repr=False)

    @classmethod
    def at(cls, api_url: str, *, name: str, access_key: str, secret: str) -> "Requester":
        return cls(name, access_key, secret, api_url, mturk_client(api_url, access_key, secret))

    def new_client(self, **config: Any) -> Any:
        """Another client of the same account, with its own botocore configuration."""
        return mturk_client(self.api_url, self.access_key, self.secret, **config)

    def queues(self, **config: Any) -> Any:
        """A boto3 client of the same account for the queues of its notifications."""
        return sqs_client(self.api_url, self.access_key, self.secret, **config)

    def topics(self, **config: Any) -> Any:
        """A boto3 client of the same account for the topics of its notifications."""
        return sns_client(self.api_url, self.access_key, self.secret, **config)

    def call(self, operation: str, parameters: object) -> Answer:
        """Send any JSON as the parameters of an operation, past botocore's own validation."""
        return self.send(operation, json.dumps(parameters).encode())

    def send(self, operation: str, body: bytes, **options: Any) -> Answer:
        """Send any bytes as the body of an operation, correctly signed."""
        return signed_call(self.api_url, self.access_key, self.secret, operation, body, **options)


class RefusedError(Exception):
    """The worker API said no, with a code and a sentence."""

    def __init__(self, answer: Answer) -> None:
        said = answer.json()
        self.status, self.code, self.message = answer.status, said["error"], said["message"]
        super().__init__(f"{self.status} {self.code}: {self.message}")


class ScriptedWorker:
    """A worker driven by a script: takes HITs by the worker API, submits as the task page would."""

    def __init__(self, site_url: str, worker_id: str, token: str) -> None:
        self.site_url = site_url
        self.worker_id = worker_id
        self.token = token
        self.in_hand: dict[str, dict[str, Any]] = {}

    def next(self, group_id: str | None = None) -> dict[str, Any] | None:
        """The next HIT open to this worker, without accepting it."""
        said = self._call("next", {"group_id": group_id} if group_id else {})
        found: dict[str, Any] | None = said["hit"]
        return found

    def accept(self, hit_id: str | None = None, *, group_id: str | None = None) -> dict[str, Any]:
        """Accept this HIT, or the next one of the group."""
        wanted = {"hit_id": hit_id, "group_id": group_id}
        taken: dict[str, Any] = self._call("accept", {k: v for k, v in wanted.items() if v})
        self.in_hand[taken["assignment_id"]] = taken
        return taken

    def give_back(self, taken: Mapping[str, Any]) -> None:
        """Return an accepted assignment."""
        self._call("return", {"assignment_id": taken["assignment_id"]})
        self.in_hand.pop(taken["assignment_id"], None)

    def submit(self, taken: Mapping[str, Any], **fields: str) -> Answer:
        """Post the external form, as the page in the frame does."""
        answer = post_form(taken["submit_url"], {"assignmentId": taken["assignment_id"], **fields})
        if answer.status == 200:
            self.in_hand.pop(taken["assignment_id"], None)
        return answer

    def do(self, hit_id: str, **fields: str) -> dict[str, Any]:
        """Accept this HIT and submit an answer."""
        taken = self.accept(hit_id)
        answer = self.submit(taken, **(fields or {"answer": "yes"}))
        assert answer.status == 200, answer.text
        return taken

    def ask_for(self, qualification_type_id: str) -> dict[str, Any]:
        """Ask for a qualification."""
        return self._call("qualification", {"qualification_type_id": qualification_type_id})

    def hand_in(self, begun: Mapping[str, Any], **answers: str | list[str]) -> dict[str, Any]:
        """Hand in the test that `ask_for` began; `answers` by QuestionIdentifier."""
        fields = [
            (f"answer:{name}", each)
            for name, given in answers.items()
            for each in ([given] if isinstance(given, str) else given)
        ]
        answer = post_form(begun["submit_url"], fields, Authorization=f"Bearer {self.token}")
        if answer.status != 200:
            raise RefusedError(answer)
        said: dict[str, Any] = answer.json()
        return said

    def _call(self, what: str, value: object) -> dict[str, Any]:
        answer = post_json(f"{self.site_url}/worker-api/{what}", value, self.token)
        if answer.status != 200:
            raise RefusedError(answer)
        said: dict[str, Any] = answer.json()
        return said


def external_question(url: str = "https://tasks.example.org/unit?id=7&lang=en", *, height: int = 600) -> str:
    """An ExternalQuestion in XML."""
    schema = (
        "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
    )
    return (
        f'<ExternalQuestion xmlns="{schema}"><ExternalURL>{url.replace("&", "&amp;")}</ExternalURL>'
        f"<FrameHeight>{height}</FrameHeight></ExternalQuestion>"
    )
