"""`qiongli mcp`: the command that core finds by its entry point; the SDK is imported only to serve."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from qiongli.errors import InputError

app = typer.Typer(help="Serve Qiongli over the Model Context Protocol.")


@app.callback()
def mcp() -> None:
    """Serve Qiongli over the Model Context Protocol."""


@app.command()
def serve(
    profile: Annotated[
        str, typer.Option("--profile", help="default, or evolution: with the tools that plugins add for it.")
    ] = "default",
    read_only: Annotated[
        bool, typer.Option("--read-only", help="Change nothing; tools answer with what the user may do instead.")
    ] = False,
    http: Annotated[
        str, typer.Option("--http", help="HOST:PORT of this machine itself, instead of standard input and output.")
    ] = "",
    token_env: Annotated[
        str, typer.Option("--token-env", help="Environment variable with the bearer token that clients must send.")
    ] = "",
) -> None:
    """Serve on standard input and output, or on a port of this machine; messages go to standard error."""
    if profile not in ("default", "evolution"):
        raise InputError(f"there is no profile {profile!r}", code="usage", available=("default", "evolution"))
    if token_env and not http:
        raise InputError("--token-env goes with --http", code="usage", hint="Add: --http 127.0.0.1:8765")
    from qiongli_mcp.confirmation import READ_ONLY_VARIABLE

    if read_only:
        os.environ[READ_ONLY_VARIABLE] = "1"
    if http:
        from qiongli_mcp.http import parse_address, read_token, serve_http

        host, port = parse_address(http)
        serve_http(host, port, read_token(token_env) if token_env else None, profile)
        return
    from qiongli_mcp.stdio import serve_stdio

    serve_stdio(profile)
