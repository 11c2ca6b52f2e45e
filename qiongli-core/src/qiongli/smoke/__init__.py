"""The runtime smoke: shipped cases through the real MCP server in a process that may start no other."""
