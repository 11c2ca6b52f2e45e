"""The MCP server of Qiongli; `qiongli mcp serve` starts it."""
