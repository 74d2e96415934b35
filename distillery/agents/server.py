"""The MCP server: registers the tools, and says refusals as sentences that an agent can act on."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import close_old_connections, connection
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations

from annotation.services.importing import ImportRefusedError
from core.files.refusals import FileRefusedError
from core.money import AmountError
from distillery.agents.adapter import AgentTools
from web.api.problems import problem_of

INSTRUCTIONS = """\
Runs studies in which people judge answers to questions. The usual order: read_columns, make_study, preview,
then ask your person, open_stage with the amount that they confirmed, progress, results, build_release,
release_files. What only people decide is in waiting_decisions, with the page for it.
"""


def make_server(token: str, folder: Path) -> MCPServer[Any]:
    """A server of all tools for this token, which reads tables below the folder."""
    server: MCPServer[Any] = MCPServer(
        "distillery", version=settings.DISTILLERY_VERSION, instructions=INSTRUCTIONS, log_level="WARNING"
    )
    tools = AgentTools(token, folder)
    for name in tools.TOOLS:
        hints = ToolAnnotations(read_only_hint=name in tools.READING, open_world_hint=False)
        server.add_tool(_say_refusals(getattr(tools, name)), annotations=hints)
    return server


def _say_refusals(tool: Callable[..., Any]) -> Callable[..., Any]:
    """The tool, with a database connection of its thread, and every refusal as a ToolError."""

    @wraps(tool)
    def call(*arguments: Any, **named: Any) -> Any:
        close_old_connections()
        try:
            return tool(*arguments, **named)
        except (FileRefusedError, ImportRefusedError, AmountError) as error:
            raise ToolError(str(error)) from error
        except Exception as error:  # a border: any service may refuse, in an error of its own app
            raise ToolError(problem_of(error).detail) from error
        finally:
            connection.close()

    return call
