"""Headless Chromium over its DevTools pipe: no driver, no library, no port."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

#: Seconds that one command may take.
_LIMIT = 60.0


class Browser:
    """One page of one browser; what it logs and asks for is kept."""

    def __init__(self, program: str, profile: Path) -> None:
        to_browser, from_us = os.pipe()
        to_us, from_browser = os.pipe()
        # Chromium reads commands from descriptor 3 and writes answers to descriptor 4.
        shell = f'exec "$0" "$@" 3<&{to_browser} 4>&{from_browser}'
        switches = [
            "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
            "--window-size=1280,900", f"--user-data-dir={profile}", "--remote-debugging-pipe",
        ]  # fmt: skip
        self._process = subprocess.Popen(
            ["sh", "-c", shell, program, *switches, "about:blank"],
            pass_fds=(to_browser, from_browser),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._in, self._out = from_us, to_us
        os.set_blocking(self._out, False)
        self._number = 0
        self._read = b""
        self._session = ""
        self.events: list[dict[str, Any]] = []
        targets = self.call("Target.getTargets")["targetInfos"]
        page = next(target["targetId"] for target in targets if target["type"] == "page")
        self._session = self.call("Target.attachToTarget", targetId=page, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        self._process.wait(_LIMIT)
        os.close(self._in)
        os.close(self._out)

    def call(self, method: str, **parameters: Any) -> Any:
        """The answer to one command; raises RuntimeError for an error and TimeoutError for none."""
        number = self._send(method, parameters)
        while True:
            answer = self._next()
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def _send(self, method: str, parameters: dict[str, Any]) -> int:
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        return self._number

    def _next(self) -> dict[str, Any]:
        end = time.monotonic() + _LIMIT
        while b"\0" not in self._read:
            if time.monotonic() > end or self._process.poll() is not None:
                raise TimeoutError("the browser does not answer")
            try:
                self._read += os.read(self._out, 1 << 20)
            except BlockingIOError:
                time.sleep(0.002)
        message, _, self._read = self._read.partition(b"\0")
        found: dict[str, Any] = json.loads(message)
        if found.get("method") == "Page.javascriptDialogOpening":
            # A dialog holds the page up until somebody answers it.
            self._send("Page.handleJavaScriptDialog", {"accept": False})
        return found

    def open(self, address: str) -> float:
        """Open an address and wait until it is loaded and drawn; how many seconds that took."""
        self.events.clear()
        started = time.monotonic()
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._next())
        # Two frames later the page has been laid out and painted.
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
        return time.monotonic() - started

    def evaluate(self, expression: str) -> Any:
        """The value of an expression in the page, awaited when it is a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(str(answer["exceptionDetails"].get("exception", {}).get("description")))
        return answer["result"].get("value")

    def prefer(self, scheme: str) -> None:
        """Let the page believe that its reader prefers `light` or `dark`."""
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    @property
    def requests(self) -> list[str]:
        """What the page asked for since it was opened."""
        return [
            str(event["params"]["request"]["url"])
            for event in self.events
            if event.get("method") == "Network.requestWillBeSent"
        ]

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the console, uncaught exceptions and dialogs."""
        found = []
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"].get("text")))
            elif event.get("method") == "Log.entryAdded":
                found.append(str(parameters["entry"]["text"]))
            elif event.get("method") == "Page.javascriptDialogOpening":
                found.append(f"a dialog opened: {parameters['message']}")
        return found
