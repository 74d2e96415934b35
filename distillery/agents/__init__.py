"""The door for coding agents: studies run by tools of an MCP server, with the rights of a token."""
