"""What pages of an audit log have in common: the filter by way, the state of the chain, and the file."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, StreamingHttpResponse

from core.audit.chain import chain_of, export_lines
from core.audit.models import AuditChain, AuditCheckpoint
from core.origin import Owner, Via
from web.tables import Choices

BY_WAY = Choices(
    "via", "By which way", {"all": "Every way", **{via.value: str(via.label).capitalize() for via in Via}}
)


def filter_by_way(rows: QuerySet[Any], via: str) -> QuerySet[Any]:
    """Entries that came this way."""
    return rows if via == "all" else rows.filter(via=via)


@dataclass(frozen=True, slots=True)
class ChainState:
    """The chain of a log as its page shows it."""

    chain: AuditChain
    last_checkpoint: AuditCheckpoint | None


def chain_state(owner: Owner) -> ChainState | None:
    """How far a log is sealed; None where nothing is yet."""
    chain = chain_of(owner)
    if chain is None:
        return None
    return ChainState(chain, AuditCheckpoint.objects.filter(chain=chain).order_by("-number").first())


def stream_log(owner: Owner, rows: QuerySet[Any], name: str) -> StreamingHttpResponse:
    """The log as a file of JSONL."""

    def lines() -> Iterator[str]:
        yield from export_lines(owner, rows)

    answer = StreamingHttpResponse(lines(), content_type="application/x-ndjson; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{name}.jsonl"'
    return answer


def jsonl_address(request: HttpRequest) -> str:
    """The address of the same entries as a file of JSONL."""
    parameters = request.GET.copy()
    parameters.pop("page", None)
    parameters["format"] = "jsonl"
    return f"?{parameters.urlencode()}"
