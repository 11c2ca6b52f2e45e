"""`qiongli mcp`: the command that core finds by its entry point; the SDK is imported only to serve."""

from __future__ import annotations

import typer

app = typer.Typer(help="Serve Qiongli over the Model Context Protocol.")


@app.callback()
def mcp() -> None:
    """Serve Qiongli over the Model Context Protocol."""


@app.command()
def serve() -> None:
    """Serve on standard input and output; messages go to standard error."""
    from qiongli_mcp.server import build_server

    build_server().run("stdio")
