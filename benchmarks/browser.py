"""A very lean browser: one kept-alive connection, cookies, forms. It must cost less than the server does."""

import re
import socket
from dataclasses import dataclass
from html import unescape
from urllib.parse import parse_qs, urlencode, urlsplit

_FORM = "Content-Type: application/x-www-form-urlencoded\r\n"
_FRAME = re.compile(rb'<iframe[^>]*\ssrc="([^"]+)"')
_LENGTH = re.compile(rb"\r\ncontent-length: *(\d+)", re.I)
_LOCATION = re.compile(rb"\r\nlocation: *([^\r]+)", re.I)
_COOKIE = re.compile(rb"\r\nset-cookie: *([^=]+)=([^;\r]*)", re.I)
_CLOSES = re.compile(rb"\r\nconnection: *close", re.I)


@dataclass(frozen=True)
class Page:
    """What the server answered."""

    status: int
    location: str
    body: bytes


class Browser:
    """Keeps one connection and its cookies; follows no redirect by itself."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.cookies: dict[str, str] = {}
        self._socket: socket.socket | None = None

    def get(self, path: str) -> Page:
        """One GET."""
        return self._ask(f"GET {path} HTTP/1.1\r\n{self._headers()}\r\n".encode())

    def post(self, path: str, fields: dict[str, str], *, own: bool = True) -> Page:
        """One POST of a form: our own site's with cookies and CSRF token, else (`own` false) without both."""
        if own:
            fields = {**fields, "csrfmiddlewaretoken": self.cookies.get("csrftoken", "")}
        body = urlencode(fields).encode()
        head = f"POST {path} HTTP/1.1\r\n{self._headers(own)}{_FORM}Content-Length: {len(body)}\r\n\r\n"
        return self._ask(head.encode() + body)

    def sign_in(self, path: str, username: str, password: str) -> None:
        """Sign in through the site's own form."""
        self.get(path)
        page = self.post(path, {"username": username, "password": password})
        if page.status != 302:
            raise RuntimeError(f"{username} could not sign in: {page.status}")

    def _headers(self, cookies: bool = True) -> str:
        head = f"Host: {self.host}:{self.port}\r\n"
        if cookies and self.cookies:
            head += "Cookie: " + "; ".join(f"{name}={value}" for name, value in self.cookies.items()) + "\r\n"
        return head

    def _ask(self, request: bytes) -> Page:
        if self._socket is not None:
            try:
                self._socket.sendall(request)
                return self._read(self._socket)
            except ConnectionError:
                self._socket = None  # the server hung up between two requests, as it may
        self._socket = fresh = socket.create_connection((self.host, self.port), timeout=60)
        fresh.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        fresh.sendall(request)
        return self._read(fresh)

    def _read(self, connection: socket.socket) -> Page:
        data = b""
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += _receive(connection)
        head, body = data[:end], data[end + 4 :]
        length = _LENGTH.search(head)
        if length is None:
            raise RuntimeError(f"an answer without Content-Length: {head[:200]!r}")
        while len(body) < int(length[1]):
            body += _receive(connection)
        for name, value in _COOKIE.findall(head):
            self.cookies[name.decode()] = value.decode()
        if _CLOSES.search(head):
            connection.close()
            self._socket = None
        location = _LOCATION.search(head)
        return Page(int(head[9:12]), location[1].decode() if location else "", body)


def _receive(connection: socket.socket) -> bytes:
    data = connection.recv(65536)
    if not data:
        raise ConnectionResetError("the server hung up")
    return data


def frame_of(page: Page) -> tuple[str, str]:
    """The assignment's id, and the path to submit to, out of a working page's frame, as the browser would."""
    frame = _FRAME.search(page.body)
    if frame is None:
        raise RuntimeError(f"a working page without frame: {page.status}")
    query = parse_qs(urlsplit(unescape(frame[1].decode())).query)
    submit_to = urlsplit(query["turkSubmitTo"][0])
    return query["assignmentId"][0], f"{submit_to.path}/mturk/externalSubmit"
