"""Lines of the log as JSON, for programs that collect them (LOG_FORMAT=json)."""

import json
import logging
from datetime import UTC, datetime
from typing import Any

from core.jobs.spans import current_request_id


class RequestIdFilter(logging.Filter):
    """Gives every record the id of the request that it belongs to."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Every record passes."""
        record.request_id = current_request_id()
        return True


class SecurityFormatter(logging.Formatter):
    """A security event with the id of the request in which it happened, as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """The event as one line."""
        event: dict[str, Any] = getattr(record, "event", {"event": record.getMessage()})
        line = {**event, "request_id": getattr(record, "request_id", "")}
        return json.dumps(line, ensure_ascii=True)


class JsonFormatter(logging.Formatter):
    """One object per line: at, level, logger, message, request_id, and the traceback where there is one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            "request_id": getattr(record, "request_id", ""),
            "process": record.process,
            "thread": record.threadName,
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False)
