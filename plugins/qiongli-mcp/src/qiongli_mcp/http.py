"""Serving over Streamable HTTP on this machine itself: no other can reach it, and no web page can use it."""

from __future__ import annotations

import hmac
import ipaddress
import os
import re
import socket
import sys
from typing import Any, Final

from qiongli.errors import EnvironmentBrokenError, InputError

#: Where the server answers.
PATH: Final = "/mcp"
_SHORTEST_TOKEN: Final = 16


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`; port 0 is any free one.

    Raises `InputError`: `not_loopback` for a host that is not this machine itself, `usage` for what is no address.
    """
    found = re.fullmatch(r"(?P<host>\[[0-9a-fA-F:.]+\]|[^:\s]+):(?P<port>\d{1,5})", text)
    if found is None or int(found["port"]) > 65_535:
        raise InputError(f"{text[:80]!r} is no HOST:PORT", code="usage", place="--http", hint="Give: 127.0.0.1:8765")
    host = found["host"].strip("[]")
    if not _is_loopback(host):
        raise InputError(
            f"the server answers this machine alone, and {host!r} is not a name of it",
            code="not_loopback",
            place="--http",
            expected="127.0.0.1, ::1 or localhost",
            hint="Give: 127.0.0.1:8765; from elsewhere, tunnel to it",
        )
    return host, int(found["port"])


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        # A name may mean this machine today and another one tomorrow.
        return False


def read_token(variable: str) -> str:
    """The bearer token in an environment variable; raises `InputError` when it is missing or easily guessed."""
    token = os.environ.get(variable, "")
    if len(token) < _SHORTEST_TOKEN or not re.fullmatch(r"[\x21-\x7e]+", token):
        raise InputError(
            f"the environment variable {variable} holds no token of {_SHORTEST_TOKEN} or more visible characters",
            code="token_missing",
            place="--token-env",
            hint=f"Run: export {variable}=$(openssl rand -hex 32)",
        )
    return token


class BearerToken:
    """Lets only requests with the token through; compares in constant time, and says nothing of the token."""

    def __init__(self, application: Any, token: str) -> None:
        self._application = application
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer 401 unless the request carries the token."""
        if scope["type"] == "http":
            given = [value for name, value in scope["headers"] if name.lower() == b"authorization"]
            if len(given) != 1 or not hmac.compare_digest(given[0], self._expected):
                body = b'{"error":"invalid_token"}'
                headers = [
                    (b"content-type", b"application/json"),
                    (b"content-length", str(len(body)).encode()),
                    (b"www-authenticate", b'Bearer realm="qiongli", error="invalid_token"'),
                ]
                await send({"type": "http.response.start", "status": 401, "headers": headers})
                await send({"type": "http.response.body", "body": body})
                return
        await self._application(scope, receive, send)


def build_application(host: str, token: str | None, profile: str) -> Any:
    """The ASGI application: the server, behind checks of host, origin and token."""
    from mcp.server.transport_security import TransportSecuritySettings

    from qiongli_mcp.server import served

    names = ["127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=[f"{name}:*" for name in names],
        allowed_origins=[f"http://{name}:*" for name in names],
    )
    server = served(profile)
    application = server.streamable_http_app(streamable_http_path=PATH, transport_security=security, host=host)
    return application if token is None else BearerToken(application, token)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket of this machine itself; raises `EnvironmentBrokenError` when the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen()  # before the address is said
    except OSError as error:
        listening.close()
        raise EnvironmentBrokenError(
            f"port {port} of {host} cannot be used: {error.strerror or error}",
            code="port_unusable",
            place="--http",
            hint="Give another port, or 0 for any free one",
        ) from error
    return listening


def serve_http(host: str, port: int, token: str | None, profile: str) -> None:
    """Serve until the process is ended; the address is said on standard error."""
    import uvicorn

    listening = listen(host, port)
    application = build_application(host, token, profile)
    shown = f"[{host}]" if ":" in host else host
    sys.stderr.write(f"qiongli: serving on http://{shown}:{listening.getsockname()[1]}{PATH}\n")
    if token is None:
        sys.stderr.write("qiongli: without --token-env every program of this machine can use it\n")
    sys.stderr.flush()
    uvicorn.Server(uvicorn.Config(application, log_level="warning")).run(sockets=[listening])
