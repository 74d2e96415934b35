"""HTTP in front of the rules: which call is which rule, a transaction each, faults on the way."""

import hmac
import json
import logging
import re
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from core.errors import logged_failure
from distillery_panel_simulator import (
    prolific_account,
    prolific_calls,
    prolific_control,
    prolific_hooks,
    prolific_studies,
    prolific_submissions,
)
from distillery_panel_simulator.prolific_calls import Answer, Call, RefusalError, error_answer, message_answer
from distillery_panel_simulator.prolific_hooks import CALL_FAULTS, draw_error_form, draw_fault
from distillery_panel_simulator.prolific_state import Options, State, Thing

Handler = Callable[[Call], Answer]
_PAGING = ("page", "page_size", "limit", "offset")
_FLAGS = (
    "completed",
    "returned",
    "awaiting_review",
    "approved",
    "active",
    "timeout",
    "rejected",
    "screened_out",
    "completeoractive",
)


@dataclass(frozen=True, slots=True)
class Route:
    """One operation. `needed` are parameters without which it is refused; `bare` is a form of its errors."""

    method: str
    template: str
    handler: Handler
    body: type[prolific_calls.Body] | None = None
    query: tuple[str, ...] = ()
    needed: tuple[str, ...] = ()
    uses_wallet: bool = False
    bare: bool = False

    def pattern(self) -> re.Pattern[str]:
        """Its path, with a slash at the end or without."""
        return re.compile(re.sub(r"\{\w+\}", "([^/]+)", self.template.rstrip("/")) + "/?")


def _show_keys(call: Call) -> Answer:
    return Answer(200, prolific_hooks.public_keys(call.state))


_V1 = "/api/v1"
_HOOK = f"{_V1}/hooks/subscriptions/{{subscription_id}}/"
_STUDY = f"{_V1}/studies/{{id}}/"
_SUBMISSION = f"{_V1}/submissions/{{id}}/"

#: The operations of the contract that adapters and rehearsals use. What comes first is found first.
ROUTES: tuple[Route, ...] = (
    Route("GET", "/.well-known/study/jwks.json", _show_keys),
    Route("GET", f"{_V1}/workspaces/{{workspace_id}}/balance/", prolific_account.get_balance),
    # Studies
    Route(
        "GET",
        f"{_V1}/studies/",
        prolific_studies.list_studies,
        query=(*_PAGING, "state"),
        bare=True,
    ),
    Route("POST", f"{_V1}/studies/", prolific_studies.create_study, prolific_calls.StudyDraft, bare=True),
    Route(
        "POST",
        f"{_V1}/study-cost-calculator/",
        prolific_studies.quote_cost,
        prolific_calls.CostQuestion,
        bare=True,
    ),
    Route("GET", _STUDY, prolific_studies.get_study),
    Route("PATCH", _STUDY, prolific_studies.change_study, prolific_calls.StudyChange),
    Route(
        "POST",
        f"{_STUDY}transition/",
        prolific_studies.transition_study,
        prolific_calls.StudyTransition,
        uses_wallet=True,
    ),
    Route("GET", f"{_STUDY}cost/", prolific_studies.get_cost, query=("is_projected",), bare=True),
    Route("GET", f"{_STUDY}submissions/counts/", prolific_submissions.count_submissions, bare=True),
    # Submissions and bonuses
    Route(
        "GET",
        f"{_V1}/submissions/",
        prolific_submissions.list_submissions,
        query=(*_PAGING, *_FLAGS, "study", "status", "submitted_from", "submitted_before", "ordering"),
        needed=("study",),
        bare=True,
    ),
    Route(
        "POST",
        f"{_V1}/submissions/bonus-payments/",
        prolific_submissions.set_up_bonuses,
        prolific_calls.BonusList,
        uses_wallet=True,
    ),
    Route(
        "POST", f"{_V1}/bulk-bonus-payments/{{id}}/pay/", prolific_submissions.pay_bonuses, uses_wallet=True
    ),
    Route("GET", _SUBMISSION, prolific_submissions.get_submission),
    Route(
        "POST",
        f"{_SUBMISSION}transition/",
        prolific_submissions.transition_submission,
        prolific_calls.SubmissionTransition,
        uses_wallet=True,
    ),
    Route(
        "POST",
        f"{_SUBMISSION}request-return/",
        prolific_submissions.request_return,
        prolific_calls.ReturnRequest,
    ),
    # Groups, messages, rewards
    Route(
        "GET",
        f"{_V1}/participant-groups/",
        prolific_account.list_groups,
        query=(*_PAGING, "active", "workspace_id", "project_id"),
    ),
    Route("POST", f"{_V1}/participant-groups/", prolific_account.create_group, prolific_calls.GroupDraft),
    Route(
        "POST",
        f"{_V1}/participant-groups/{{id}}/participants/",
        prolific_account.put_members,
        prolific_calls.ParticipantList,
    ),
    Route(
        "DELETE",
        f"{_V1}/participant-groups/{{id}}/participants/",
        prolific_account.remove_members,
        prolific_calls.ParticipantList,
    ),
    Route(
        "GET",
        f"{_V1}/messages/",
        prolific_account.list_messages,
        query=("user_id", "created_after", "excluded_sender_ids"),
        bare=True,
    ),
    Route("GET", f"{_V1}/messages/unread/", prolific_account.list_unread, bare=True),
    Route(
        "POST", f"{_V1}/messages/", prolific_account.send_message, prolific_calls.PersonalMessage, bare=True
    ),
    Route(
        "POST",
        f"{_V1}/messages/bulk/",
        prolific_account.send_bulk_message,
        prolific_calls.BulkMessage,
        bare=True,
    ),
    Route(
        "POST",
        f"{_V1}/messages/participant-group/",
        prolific_account.send_group_message,
        prolific_calls.GroupMessage,
        bare=True,
    ),
    Route(
        "GET",
        f"{_V1}/reward-recommendations/",
        prolific_account.recommend_rewards,
        query=("workspace_id", "currency", "screener_ids"),
        needed=("workspace_id", "currency"),
        bare=True,
    ),
    # Hooks
    Route(
        "GET",
        f"{_V1}/hooks/secrets/",
        prolific_hooks.list_secrets,
        query=("workspace_id",),
        needed=("workspace_id",),
    ),
    Route("POST", f"{_V1}/hooks/secrets/", prolific_hooks.create_secret, prolific_calls.SecretDraft),
    Route(
        "GET",
        f"{_V1}/hooks/subscriptions/",
        prolific_hooks.list_subscriptions,
        query=(*_PAGING, "is_enabled", "workspace_id"),
    ),
    Route(
        "POST",
        f"{_V1}/hooks/subscriptions/",
        prolific_hooks.create_subscription,
        prolific_calls.SubscriptionDraft,
    ),
    Route("POST", _HOOK, prolific_hooks.confirm_subscription, prolific_calls.Confirmation),
)
_PATTERNS = [(route.pattern(), route) for route in ROUTES]


def find_route(method: str, path: str) -> tuple[Route | None, tuple[str, ...], list[str]]:
    """The route of a call and the ids in its path; without a route, the methods that its path has."""
    methods: list[str] = []
    for pattern, route in _PATTERNS:
        if match := pattern.fullmatch(path):
            if route.method == method:
                return route, match.groups(), []
            methods.append(route.method)
    return None, (), methods


def handlers_of(state: State) -> Mapping[str, Callable[[dict[str, str]], None]]:
    """What is done when the clock comes to a task."""

    def of(function: Callable[..., None]) -> Callable[[dict[str, str]], None]:
        return lambda body: function(state, **body)

    return {
        "lapse": of(prolific_submissions.lapse),
        "time_out": of(prolific_submissions.time_out),
        "publish": of(prolific_studies.publish_as_planned),
        "pay_bonuses": of(prolific_submissions.pay_planned),
    }


LOG = logging.getLogger(__name__)
HOST = "127.0.0.1"
_MOST_BYTES = 4_000_000
_WALLET_ACTIONS = (None, "APPROVE", "COMPLETE", "SCREEN_OUT", "PUBLISH")
_DELIVERY_PAUSE_SECONDS = 1.0
_CONNECTION_SECONDS = 120
_CONTROL = "/_control/"
_RETURN_PAGE = "/submissions/complete"
_DEFAULT_DELAY_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class WireCall:
    """A call as it came over the wire."""

    method: str
    target: str
    token: str | None
    raw: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)


class LostReplyError(Exception):
    """The call, or its answer, gets lost: the connection ends without a word."""


class Simulator:
    """The panel behind its HTTP surface; `answer` is what one call gets.

    Another contract is a class of its own: its account, tasks of the clock, controls, calls and errors.
    """

    contract = "prolific"
    #: Whether participants come back to a page of the simulator with their code.
    has_return_page = True

    def __init__(self, path: Path | str, token: str, options: Options | None = None) -> None:
        self.state = State(path, options)
        self.site = f"http://{HOST}"
        self._token = token
        self._wallet = threading.Lock()
        self._delivery = threading.Lock()
        self._is_over = threading.Event()
        self._deliverer = threading.Thread(target=self._deliver_forever, daemon=True)
        self.state.begin = self.start_account
        self.state.handlers = self.list_tasks()
        with self.state.call():
            stored_contract = self.state.fact("contract") or (
                "prolific" if self.state.count("workspace") else ""
            )
            if stored_contract not in ("", self.contract):
                raise ValueError(f"This file has the state of the contract {stored_contract}.")
            self.state.keep("contract", self.contract)

    def start_account(self) -> None:
        """A new account."""
        prolific_account.begin(self.state)

    def list_tasks(self) -> dict[str, Callable[[Thing], None]]:
        """What is done when the clock comes to it."""
        return {
            **handlers_of(self.state),
            "arrive": lambda body: prolific_control.let_arrive(self.state, **body),
            "leave": lambda body: prolific_control.let_leave(self.state, **body),
        }

    def controls(self) -> Mapping[tuple[str, str], Callable[[Call], Answer]]:
        """What no panel offers."""
        return prolific_control.CONTROLS

    def refuse(self, status: int, detail: Any) -> Answer:
        """An error in the contract's form."""
        return error_answer(status, detail)

    def wait(self, seconds: float | None) -> None:
        """A delay on the way."""
        time.sleep(seconds or 0)

    def start_deliveries(self) -> None:
        """Send events of hooks from now on, in a thread."""
        self._deliverer.start()

    def close(self) -> None:
        """End the deliveries and let go of the file."""
        self._is_over.set()
        self.state.wake.set()
        if self._deliverer.is_alive():
            self._deliverer.join(timeout=15)
        self.state.close()

    def answer(self, wire_call: WireCall) -> Answer:
        """The answer of a call. Raises `LostReplyError` where it shall get none."""
        parts = urlsplit(wire_call.target)
        query = dict(parse_qsl(parts.query, keep_blank_values=True))
        try:
            if parts.path.startswith(_CONTROL):
                return self._answer_control(wire_call, parts.path, query)
            if parts.path.rstrip("/") == _RETURN_PAGE and self.has_return_page and wire_call.method == "GET":
                with self.state.call():
                    return prolific_control.return_page(
                        Call(self.state, (), query, {}, self.site, parts.path)
                    )
            return self._answer_call(wire_call, parts.path, query)
        except RefusalError as refusal:
            return self.refuse(refusal.status, refusal.detail)

    def _answer_control(self, wire_call: WireCall, path: str, query: dict[str, str]) -> Answer:
        name = path.removeprefix(_CONTROL).strip("/")
        body = parse_body(wire_call.raw)
        if (wire_call.method, name) == ("POST", "deliver"):
            return Answer(200, self._deliver())
        handler = self.controls().get((wire_call.method, name))
        if handler is None:
            call_names = ", ".join(
                f"{method} {each}" for method, each in (*self.controls(), ("POST", "deliver"))
            )
            raise RefusalError(
                f"There is no {wire_call.method} {name!r}; there are {call_names}.", status=404
            )
        with self.state.call():
            answer = handler(Call(self.state, (), query, body, self.site, path))
        self.state.run_due()
        return answer

    def _answer_call(self, wire_call: WireCall, path: str, query: dict[str, str]) -> Answer:
        faults = self._draw_faults(wire_call.method, path)
        if "lost_before" in faults:
            raise LostReplyError
        answer = self._fail(faults) or self.answer_route(wire_call, path, query, faults.get("delay"))
        if "lost_after" in faults:
            raise LostReplyError
        return answer

    def answer_route(
        self, wire_call: WireCall, path: str, query: dict[str, str], delay: float | None
    ) -> Answer:
        """The answer of a call of the contract."""
        route, ids, methods = find_route(wire_call.method, path)
        is_public = route is not None and not route.template.startswith("/api/")
        if not is_public and not hmac.compare_digest((wire_call.token or "").encode(), self._token.encode()):
            return error_answer(401, "Authentication credentials were not provided, or are wrong.")
        if route is None:
            if methods:
                return error_answer(405, f"Method {wire_call.method!r} is not allowed.")
            return error_answer(404, "There is no such path.")
        try:
            call = Call(self.state, ids, query, _read_call(route, query, wire_call.raw), self.site, path)
            return self._run(route, call, delay=delay)
        except RefusalError as refusal:
            return error_answer(refusal.status, refusal.detail, bare=route.bare)

    def _run(self, route: Route, call: Call, *, delay: float | None) -> Answer:
        uses_wallet = route.uses_wallet and call.body.get("action") in _WALLET_ACTIONS
        if uses_wallet and not self._wallet.acquire(blocking=False):
            return message_answer(
                429, "Too many requests", "Another call is using the wallet of this workspace."
            )
        try:
            time.sleep(delay or 0)
            with self.state.call():
                answer = route.handler(call)
            if uses_wallet:
                time.sleep(self.state.options.wallet_seconds)
            return answer
        finally:
            if uses_wallet:
                self._wallet.release()

    def _draw_faults(self, method: str, path: str) -> dict[str, float]:
        with self.state.call():
            faults: Thing = self.state.fact("faults") or {}
            if not faults:
                return {}
            fault_names = [name for name in CALL_FAULTS if draw_fault(self.state, name, method, path)]
            return {name: float(faults.get("delay_seconds", _DEFAULT_DELAY_SECONDS)) for name in fault_names}

    def _fail(self, faults: Mapping[str, float]) -> Answer | None:
        if "throttle" in faults:
            return message_answer(429, "Too many requests", "Please try again later.")
        if "error" not in faults:
            return None
        with self.state.call():
            form = draw_error_form(self.state)
        if form == "message":
            return message_answer(503, "Service unavailable", "The service is not available at the moment.")
        if form == "text":
            return Answer(
                502, "<html><body><h1>502 Bad Gateway</h1></body></html>", {"Content-Type": "text/html"}
            )
        return error_answer(500, "An unexpected error occurred.")

    def _deliver(self) -> Thing:
        with self._delivery:
            return prolific_hooks.deliver_due(self.state)

    def _deliver_forever(self) -> None:
        while not self._is_over.is_set():
            self.state.wake.clear()
            try:
                self._deliver()
                pause = prolific_hooks.next_due(self.state)
            except Exception:
                if self._is_over.is_set():
                    return
                LOG.exception("A delivery failed.")
                pause = None
            longest = _DELIVERY_PAUSE_SECONDS
            self.state.wake.wait(longest if pause is None else min(pause, longest))


def serve(simulator: Simulator, port: int) -> ThreadingHTTPServer:
    """A server on this machine's own address; port 0 takes a free one. `serve_forever` begins to answer."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        timeout = _CONNECTION_SECONDS
        server_version = "panel-simulator"
        sys_version = ""

        def _serve(self) -> None:
            answer = error_answer(500, "The simulator failed; see its log.")
            try:
                with logged_failure(
                    LOG, "A call failed: %s %s", self.command, self.path, passing=(LostReplyError,)
                ):
                    answer = self._answer()
            except LostReplyError:
                self.close_connection = True
                return
            self._write(answer)

        def _answer(self) -> Answer:
            length = self.headers.get("Content-Length", "0")
            if "Transfer-Encoding" in self.headers or not length.isdecimal() or int(length) > _MOST_BYTES:
                self.close_connection = True
                return error_answer(413, f"A body needs its length, at most {_MOST_BYTES} bytes.")
            raw = self.rfile.read(int(length))
            if self.path.startswith(_CONTROL) and not self._is_from_here():
                return error_answer(404, "There is no such path.")
            scheme, _, token = self.headers.get("Authorization", "").partition(" ")
            return simulator.answer(
                WireCall(
                    self.command,
                    self.path,
                    token.strip() if scheme == "Token" else None,
                    raw,
                    {name.upper(): value for name, value in self.headers.items()},
                )
            )

        def _is_from_here(self) -> bool:
            """No page of another site may move the clock through somebody's browser."""
            host = self.headers.get("Host", "").rpartition(":")[0] or self.headers.get("Host", "")
            return host in (HOST, "localhost") and "Origin" not in self.headers

        def _write(self, answer: Answer) -> None:
            if answer.body is None:
                raw = b""
            elif answer.headers.get("Content-Type", "").startswith("text/html"):
                raw = str(answer.body).encode()
            else:
                raw = json.dumps(answer.body).encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                if raw or name != "Content-Type":
                    self.send_header(name, value)
            if answer.status != 204:
                self.send_header("Content-Length", str(len(raw)))
            self._headers_buffer.append(b"\r\n" + (b"" if self.command == "HEAD" else raw))  # type: ignore[attr-defined]
            self.flush_headers()

        def log_message(self, format: str, *args: Any) -> None:
            LOG.debug(format, *args)

    for method in ("GET", "POST", "PATCH", "DELETE", "PUT", "OPTIONS", "HEAD"):
        setattr(Handler, f"do_{method}", Handler._serve)

    class Server(ThreadingHTTPServer):
        daemon_threads = True
        request_queue_size = 128

    server = Server((HOST, port), Handler)
    simulator.site = f"http://{HOST}:{server.server_address[1]}"
    return server


def _read_call(route: Route, query: dict[str, str], raw: bytes) -> Thing:
    for name in query:
        if name not in route.query:
            raise RefusalError({name: ["This call has no such parameter."]})
    for name in route.needed:
        if not query.get(name):
            raise RefusalError({name: ["This parameter is needed."]})
    return prolific_calls.read_body(route.body or prolific_calls.Empty, parse_body(raw))


def parse_body(raw: bytes) -> Any:
    """The JSON object of a call; an empty body is an empty one."""
    if not raw.strip():
        return {}
    try:
        body = json.loads(raw)
        json.dumps(body, ensure_ascii=False).encode()  # half a character cannot be kept
    except (ValueError, RecursionError) as error:
        raise RefusalError("The body is not JSON.") from error
    if not isinstance(body, dict):
        raise RefusalError("The body is not a JSON object.")
    return body
