"""The HTTP side: paths, parameters, statuses, and faults on demand."""

import base64
import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.retrieval.engine.opensearch.store import RefusedError, Store, StoredIndex, only


@dataclass
class Asked:
    """One request as it came."""

    method: str
    path: str
    parameters: dict[str, str]
    body: str


Fault = Callable[[Asked], "tuple[int, dict] | None"]


@dataclass
class StubServer:
    """A running server; `faults` are asked in turn, each for one request, before the request is done."""

    url: str = ""
    store: Store = field(default_factory=lambda: Store("2.19.1"))
    requests: list[Asked] = field(default_factory=list)
    faults: list[tuple[str, Fault]] = field(default_factory=list)
    user: str = ""

    def next(self, pattern: str, fault: Fault | tuple[int, dict], times: int = 1) -> None:
        """Answer the next requests whose method and path match by a fault instead."""
        given = fault if callable(fault) else lambda asked: fault
        self.faults += [(pattern, given)] * times

    def asked(self, pattern: str) -> list[Asked]:
        return [each for each in self.requests if re.search(pattern, f"{each.method} {each.path}")]


def refusal(status: int, kind: str, reason: str = "because") -> tuple[int, dict]:
    return status, RefusedError(status, kind, reason).body()


@contextmanager
def serving(version: str = "2.19.1", user: str = "") -> Iterator[StubServer]:
    stub = StubServer(store=Store(version), user=user)
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *words: object) -> None: ...

        def _do(self) -> None:
            parts = urlsplit(self.path)
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            asked = Asked(self.command, unquote(parts.path), dict(parse_qsl(parts.query)), body)
            wanted = "Basic " + base64.b64encode(stub.user.encode()).decode()
            if stub.user and self.headers.get("Authorization") != wanted:
                self._answer(401, {"status": 401})
                return
            stub.requests.append(asked)
            answer = self._fault(asked)
            if answer is None:
                with lock:
                    answer = answered(stub.store, asked)
            self._answer(*answer)

        def _fault(self, asked: Asked) -> "tuple[int, dict] | None":
            for number, (pattern, fault) in enumerate(stub.faults):
                if re.search(pattern, f"{asked.method} {asked.path}"):
                    del stub.faults[number]
                    return fault(asked)
            return None

        def _answer(self, status: int, body: dict) -> None:
            if status < 0:  # hang up
                self.close_connection = True
                return
            data = b"" if self.command == "HEAD" else json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json; charset=UTF-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = _do  # noqa: N815

    class Server(ThreadingHTTPServer):
        daemon_threads = True

    server = Server(("127.0.0.1", 0), Handler)
    stub.url = f"http://{user + '@' if user else ''}127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


HANG_UP = (-1, {})


def slowly(seconds: float) -> Fault:
    def fault(asked: Asked) -> None:
        time.sleep(seconds)

    return fault


def answered(store: Store, asked: Asked) -> tuple[int, dict]:
    """What the server says."""
    try:
        for method, pattern, answer in ROUTES:
            found = re.fullmatch(pattern, asked.path)
            if found and asked.method == method:
                return answer(store, asked, *found.groups())
        raise RefusedError(405, "method_not_allowed", f"{asked.method} {asked.path}")
    except RefusedError as error:
        return error.status, error.body()


def info(store: Store, asked: Asked) -> tuple[int, dict]:
    return 200, {"version": {"distribution": "opensearch", "number": store.version}}


def create_index(store: Store, asked: Asked, name: str) -> tuple[int, dict]:
    store.create(name, json.loads(asked.body or "{}"))
    return 200, {"acknowledged": True, "shards_acknowledged": True, "index": name}


def delete_index(store: Store, asked: Asked, name: str) -> tuple[int, dict]:
    store.delete(name, ignore_unavailable=asked.parameters.get("ignore_unavailable") == "true")
    return 200, {"acknowledged": True}


def exists(store: Store, asked: Asked, name: str) -> tuple[int, dict]:
    return (200, {}) if name in store.indexes or name in store.aliases else (404, {})


def get_mapping(store: Store, asked: Asked, name: str) -> tuple[int, dict]:
    return 200, {index: {"mappings": store.indexes[index].mappings} for index in store.resolve(name)}


def get_alias(store: Store, asked: Asked, pattern: str) -> tuple[int, dict]:
    return 200, {
        index: {"aliases": {alias: {} for alias, held in store.aliases.items() if index in held}}
        for index in store.resolve(pattern)
    }


def update_aliases(store: Store, asked: Asked) -> tuple[int, dict]:
    store.update_aliases(json.loads(asked.body)["actions"])
    return 200, {"acknowledged": True}


def refresh(store: Store, asked: Asked, name: str) -> tuple[int, dict]:
    for index in store.resolve(name):
        store.indexes[index].refresh()
    return 200, {"_shards": {"total": 1, "successful": 1, "failed": 0}}


def count(store: Store, asked: Asked, name: str) -> tuple[int, dict]:
    return 200, {"count": sum(len(store.indexes[index].shown) for index in store.resolve(name))}


def search(store: Store, asked: Asked, name: str) -> tuple[int, dict]:
    only(
        asked.parameters,
        {"search_type", "allow_partial_search_results", "filter_path"},
    )
    found = store.search(name, json.loads(asked.body))
    return 200, filtered(found, asked.parameters.get("filter_path"))


def bulk(store: Store, asked: Asked, name: str) -> tuple[int, dict]:
    only(asked.parameters, {"filter_path"})
    if not asked.body.endswith("\n"):
        raise RefusedError(
            400, "illegal_argument_exception", "The bulk request must be terminated by a newline"
        )
    if name not in store.indexes and name not in store.aliases:
        store.indexes[name] = StoredIndex({"similarity": {"default": {"k1": 1.2, "b": 0.75}}})  # as it does
    index = store.indexes[store.resolve(name)[0]]
    lines = iter(asked.body.splitlines())
    items = []
    for line in lines:
        [(verb, facts)] = json.loads(line).items()
        items.append({verb: one(store, index, verb, facts["_id"], lines)})
    errors = any("error" in item for each in items for item in each.values())
    return 200, filtered({"took": 1, "errors": errors, "items": items}, asked.parameters.get("filter_path"))


def one(store: Store, index: StoredIndex, verb: str, key: str, lines: Iterator[str]) -> dict:
    """What came of one action of a bulk request."""
    if verb == "delete":
        found = index.forget(key)
        return {"_id": key, "result": "deleted" if found else "not_found", "status": 200 if found else 404}
    try:
        source = json.loads(next(lines))
        if index.blocked:
            raise RefusedError(
                429,
                "cluster_block_exception",
                "index [x] blocked by: [TOO_MANY_REQUESTS/12/disk usage exceeded flood-stage watermark, "
                "index has read-only-allow-delete block];",
            )
        store.check(index, source)
    except RefusedError as error:
        return {"_id": key, "status": error.status, "error": {"type": error.kind, "reason": error.reason}}
    kept = index.keep(key, source)
    return {"_id": key, "_seq_no": kept.seq_no, "result": "created", "status": 201}


def create_document(store: Store, asked: Asked, name: str, key: str) -> tuple[int, dict]:
    index = store.indexes[store.resolve(name)[0]]
    if key in index.written:
        raise RefusedError(409, "version_conflict_engine_exception", f"[{key}]: document already exists")
    return 201, {"_id": key, "result": "created", **numbers(index.keep(key, json.loads(asked.body)))}


def put_document(store: Store, asked: Asked, name: str, key: str) -> tuple[int, dict]:
    index = store.indexes[store.resolve(name)[0]]
    unchanged(index, asked, key)
    return 200, {"_id": key, "result": "updated", **numbers(index.keep(key, json.loads(asked.body)))}


def get_document(store: Store, asked: Asked, name: str, key: str) -> tuple[int, dict]:
    kept = store.indexes[store.resolve(name)[0]].written.get(key)
    if kept is None:
        return 404, {"_index": name, "_id": key, "found": False}
    return 200, {"_id": key, "found": True, **numbers(kept), "_source": kept.source}


def delete_document(store: Store, asked: Asked, name: str, key: str) -> tuple[int, dict]:
    index = store.indexes[store.resolve(name)[0]]
    unchanged(index, asked, key)
    found = index.forget(key)
    return (200, {"result": "deleted"}) if found else (404, {"result": "not_found"})


def unchanged(index: StoredIndex, asked: Asked, key: str) -> None:
    """Optimistic concurrency: what the caller has seen is what is there."""
    wanted, kept = asked.parameters.get("if_seq_no"), index.written.get(key)
    if wanted is not None and (kept is None or kept.seq_no != int(wanted)):
        raise RefusedError(409, "version_conflict_engine_exception", f"[{key}]: version conflict")


def numbers(kept: object) -> dict:
    return {"_seq_no": kept.seq_no, "_primary_term": 1, "_version": kept.version}


def filtered(answer: dict, paths: str | None) -> dict:
    """Only what `filter_path` names."""
    if not paths:
        return answer
    kept: dict = {}
    for path in paths.split(","):
        _merge(kept, _picked(answer, path.split(".")))
    return kept


def _picked(value: object, path: list[str]) -> object:
    if not path:
        return value
    if isinstance(value, list):
        return [_picked(each, path) for each in value]
    if not isinstance(value, dict):
        return None
    keys = list(value) if path[0] == "*" else [path[0]] if path[0] in value else []
    return {key: _picked(value[key], path[1:]) for key in keys}


def _merge(kept: dict, more: object) -> None:
    for key, value in more.items():
        if isinstance(value, dict) and isinstance(kept.get(key), dict):
            _merge(kept[key], value)
        elif isinstance(value, list) and isinstance(kept.get(key), list):
            for ours, theirs in zip(kept[key], value, strict=True):
                _merge(ours, theirs)
        else:
            kept[key] = value


_N = r"/([^/_][^/]*)"
ROUTES = (
    ("GET", "/", info),
    ("POST", "/_aliases", update_aliases),
    ("HEAD", _N, exists),
    ("PUT", _N, create_index),
    ("DELETE", _N, delete_index),
    ("GET", f"{_N}/_mapping", get_mapping),
    ("GET", f"{_N}/_alias", get_alias),
    ("POST", f"{_N}/_refresh", refresh),
    ("POST", f"{_N}/_bulk", bulk),
    ("PUT", f"{_N}/_create/([^/]+)", create_document),
    ("PUT", f"{_N}/_doc/([^/]+)", put_document),
    ("GET", f"{_N}/_doc/([^/]+)", get_document),
    ("DELETE", f"{_N}/_doc/([^/]+)", delete_document),
    ("GET", f"{_N}/_count", count),
    ("POST", f"{_N}/_count", count),
    ("POST", f"{_N}/_search", search),
    ("GET", f"{_N}/_search", search),
)
