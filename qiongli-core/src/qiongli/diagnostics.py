"""Diagnostics: bounded, redacted facts about a run. What is not on the allow-list does not come out.

Only ids from a registry, members of closed vocabularies, small integers, and keyed digests are emitted. Recording
never raises and never changes what it looks at, so that no decision depends on whether anybody is looking.
`redact_text` is for traces, which keep text on purpose: it masks secrets, addresses and home folders.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Collection
from typing import Any, Final

from qiongli.patterns import LazyPattern

#: Most events of one run.
MAX_EVENTS: Final = 64
#: Most code points of one field.
MAX_FIELD: Final = 200
#: Most bytes of a run's diagnostics as JSON text in UTF-8.
MAX_PAYLOAD: Final = 16_384
#: Marks a field that was cut.
TRUNCATED: Final = "\N{HORIZONTAL ELLIPSIS}"

#: Larger integers could carry what was hidden in a number: 7 digits hold every score, count and size of a packet.
_MAX_INTEGER: Final = 9_999_999

#: The closed vocabulary of events.
EVENTS: Final = frozenset(
    {
        "precheck",
        "document",
        "evidence",
        "eligibility",
        "score",
        "lens",
        "decision",
        "clarification",
        "final_gate",
        "hook_failure",
        "rejected",
        "resource",
        "session",
    }
)

#: The closed vocabulary of field names.
FIELDS: Final = frozenset(
    {
        "subject",
        "lens",
        "signal",
        "resource",
        "distribution",
        "hook",
        "dimension",
        "polarity",
        "activation",
        "state",
        "gate",
        "outcome",
        "decision",
        "mode",
        "code",
        "kind",
        "score",
        "cost",
        "session",
        "count",
        "rejected",
        "size",
        "round",
        "text",
    }
)

#: The closed vocabulary of values that are no registry ids.
WORDS: Final = frozenset(
    {
        *("pass", "fail", "none", "auto", "confirmed", "locked", "suggested"),
        *("no_subject", "borrow_lens", "suggest_subject", "confirm_subject", "lock_subject"),
        *("method", "data_or_outcome", "venue", "theory_or_construct", "classification", "vocabulary"),
        *("asserted", "negated", "excluded", "quoted", "everyday"),
        *("subject", "lens", "resource", "method_only", "context_only"),
        *("broken", "invalid", "inactive", "lens_only", "active"),
        *("input_too_large", "undecodable", "path_outside_project", "unauthorised_action", "policy_forbids"),
        *("missing_text", "repeated_failure", "ambiguous"),
    }
)


class _RedactionError(Exception):
    """A value is not on the allow-list; the event that holds it is dropped, and this never leaves the module."""


def digest(text: str, key: bytes) -> str:
    """A keyed digest of a text: `hmac:` and 16 hexadecimal digits.

    A bare hash of a short text could be guessed; the key is local to the installation.
    """
    import hashlib
    import hmac

    return "hmac:" + hmac.new(key, text.encode("utf-8", "surrogatepass"), hashlib.sha256).hexdigest()[:16]


def _printable(text: str) -> bool:
    """Whether a text holds no control, format (bidi and zero-width), separator, surrogate or unassigned characters."""
    return all(unicodedata.category(character)[0] not in "CZ" for character in text)


def _size(value: object) -> int:
    """Bytes of a value in a packet that is printed with indentation: never less than what it takes there."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    return len(text.encode()) + 8 * (text.count("\n") + 1) + 2


class Recorder:
    """Collects the events of one run.

    `registry` holds the ids that may be named: subjects, lenses, signals, resources. With a `key`, any other text is
    replaced by its keyed digest; without one it makes the event be dropped. `sink` is told every event that was kept;
    what it raises is counted and forgotten.
    """

    def __init__(
        self,
        registry: Collection[str] = (),
        *,
        key: bytes | None = None,
        sink: Callable[[dict[str, object]], object] | None = None,
    ) -> None:
        self._registry = frozenset(registry)
        self._key = key
        self._sink = sink
        self._events: list[dict[str, object]] = []
        self._bytes = _size({"events": [], "dropped": 10**9})
        self.dropped = 0

    def record(self, event: str, **fields: object) -> None:
        """Keep one event with its fields, redacted; what cannot be redacted is dropped and counted. Never raises."""
        try:
            kept = self._redacted(event, fields)
            size = _size(kept)
            if len(self._events) >= MAX_EVENTS or self._bytes + size > MAX_PAYLOAD:
                self.dropped += 1
                return
            self._events.append(kept)
            self._bytes += size
        except Exception:  # nothing that was being looked at may break the run that is looked at
            self.dropped += 1
            return
        if self._sink is not None:
            try:
                self._sink(dict(kept))
            except Exception:
                self.dropped += 1

    def _redacted(self, event: str, fields: dict[str, object]) -> dict[str, object]:
        if type(event) is not str or event not in EVENTS:
            raise _RedactionError
        kept: dict[str, object] = {"event": event}
        for name in sorted(fields):
            if name not in FIELDS:
                raise _RedactionError
            kept[name] = self._value(fields[name])
        return kept

    def _value(self, value: object) -> object:
        if value is None or type(value) is bool:
            return value
        if type(value) is int:
            if abs(value) > _MAX_INTEGER:
                raise _RedactionError
            return value
        if type(value) is not str:
            raise _RedactionError
        if value in WORDS or (value in self._registry and _printable(value)):
            return value if len(value) <= MAX_FIELD else value[: MAX_FIELD - 1] + TRUNCATED
        if self._key is None:
            raise _RedactionError
        return digest(value, self._key)

    def to_packet(self) -> dict[str, Any]:
        """The events and how many were dropped, as JSON-ready values; at most `MAX_PAYLOAD` bytes."""
        return {"events": [dict(event) for event in self._events], "dropped": self.dropped}


def observe(recorder: object, event: str, **fields: object) -> None:
    """Record an event with whatever recorder there is; no recorder, a full one and a raising one are all the same."""
    if recorder is None:
        return
    try:
        recorder.record(event, **fields)  # type: ignore[attr-defined]  # whatever it is, it cannot do harm
    except Exception:
        return


# --- text that is kept on purpose ---------------------------------------------------------------------------------

_KNOWN_TOKENS: Final = (
    r"sk-(?:ant-|proj-)?[A-Za-z0-9_-]{16,}"
    r"|[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{10,}"
    r"|gh[opsur]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}"
    r"|gl(?:pat|ptt|dt|rt)-[A-Za-z0-9_-]{16,}"
    r"|(?:AKIA|ASIA)[A-Z0-9]{16}"
    r"|AIza[A-Za-z0-9_-]{30,}|ya29\.[A-Za-z0-9_-]{10,}|GOCSPX-[A-Za-z0-9_-]{10,}"
    r"|(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{10,}"
    r"|pypi-[A-Za-z0-9_-]{20,}|npm_[A-Za-z0-9]{20,}|hf_[A-Za-z0-9]{20,}"
    r"|dop_v1_[a-f0-9]{20,}|shp(?:at|ss|ca|pa)_[A-Fa-f0-9]{20,}|SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"
    r"|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"
)

#: Names of secrets as an assignment has them, `secret_key = x` or `"api key": "x"`.
_NAMES_TO_HIDE: Final = (
    r"pass(?:word|wd|phrase|code)?|passwort|kennwort|pwd|credentials?"
    r"|(?:client[ _-]?|app[ _-]?)?secret(?:[ _-]?(?:access[ _-]?)?key)?"
    r"|(?:access|auth|refresh|id|bearer|session|api)?[ _-]?token"
    r"|(?:api|access|private|signing|encryption|master|account)[ _-]?key|auth"
)
_ASSIGNED: Final = r"(?:\"[^\"\n]{1,4096}\"|'[^'\n]{1,4096}'|[^\s\"',;]{1,4096})"
#: One name of a folder on a path, up to where the path goes on or ends.
_NAME: Final = r"[^\s\\/\"'<>|:;,)]{1,255}"
#: What may stand before `home` or `Users`: a drive of another system, a mounted disk, an automounted home.
_MOUNTS: Final = r"(?:/[\w.-]{1,64}){0,3}"

#: Kind and expression, in the order in which they are applied. Every expression runs in linear time: no nested
#: repetition, and each repeated class is disjoint from what must follow it, is bounded, or has nothing to follow.
_MASKS: Final = (
    (
        "private_key",
        LazyPattern(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----(?:[^-]|-(?!----)){0,16384}"
            r"(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----)?"
        ),
        "{mask}",
    ),
    ("credentials", LazyPattern(r"(?<=://)[^\s/@:]{1,256}:[^\s/]{1,256}(?=@)"), "{mask}"),
    ("token", LazyPattern(rf"(?<![A-Za-z0-9])(?:{_KNOWN_TOKENS})"), "{mask}"),
    ("token", LazyPattern(r"(?i)\b((?:bearer|basic)\s{1,4})[A-Za-z0-9+/._~=-]{8,}"), r"\1{mask}"),
    (
        "token",
        # The scheme stays, whatever it is called; without one, only what has a digit is no word.
        LazyPattern(
            r"(?i)\b(authorization[\"']?\s{0,4}[:=]\s{0,4}[\"']?)"
            r"(?:((?:token|digest|negotiate|apikey|key)\s{1,4})[^\s\"',;\[]{1,512}|(?=[^\s\d]{0,64}\d)[^\s\"',;\[]{8,512})"
        ),
        r"\1\2{mask}",
    ),
    (
        "secret",
        LazyPattern(
            rf"(?i)((?<![a-z])(?:[a-z0-9]{{1,32}}[_-]){{0,4}}(?:{_NAMES_TO_HIDE})[\"']?\s{{0,4}}[:=]\s{{0,4}})"
            rf"(?!\[redacted:){_ASSIGNED}"
        ),
        r"\1{mask}",
    ),
    (
        "secret",
        LazyPattern(
            r"(?i)\b((?:password|passphrase|passcode|passwort)\s{1,4}(?:is|was|ist|war)\s{1,4})(?=[^\s\d]{0,64}\d)\S{4,256}"
        ),
        r"\1{mask}",
    ),
    (
        "email",
        LazyPattern(
            r"(?<![\w.+%'-])[\w.+%'-]{1,64}@(?:[\w-]{1,63}\.){1,8}(?:[^\W\d_]{2,63}|xn--[A-Za-z0-9-]{1,59})(?![\w-])"
        ),
        "{mask}",
    ),
    ("home", LazyPattern(rf"(?i)\bfile:/{{1,3}}[^\s\"'<>|]{{0,255}}?/(?:home|Users)/{_NAME}"), "file://{mask}"),
    (
        "home",
        LazyPattern(
            rf"(?<![\w/.~-])(?:(?<!:)/)?{_MOUNTS}/(?:home|Users)/"
            rf"(?:{_NAME}(?: [A-Z][^\s\\/\"'<>|:;,)]{{0,64}}){{1,3}}(?=/)|{_NAME})"
        ),
        "{mask}",
    ),
    ("home", LazyPattern(r"(?<![\w/])/root(?=/|\b)"), "{mask}"),
    ("home", LazyPattern(r"(?<![\w~/])~[A-Za-z_][\w.-]{0,31}(?=/)"), "{mask}"),
    (
        "home",
        # A name of several words ends where the path goes on.
        LazyPattern(
            rf"(?i)(?:\b[a-z]:|\\{{2,4}}[\w.-]{{1,64}}(?:\\{{1,2}}[\w.$-]{{1,64}}){{0,2}})[\\/]{{1,2}}(?:Users|home|homes)[\\/]{{1,2}}"
            rf"(?:{_NAME}(?: [^\s\\/\"'<>|:;,)]{{1,64}}){{1,3}}(?=\\)|{_NAME})"
        ),
        "{mask}",
    ),
    ("home", LazyPattern(r"\\{2,4}[\w.-]{1,64}\\{1,2}[\w.-]{1,64}\$(?=\\|\s|$)"), "{mask}"),
    ("token", LazyPattern(r"(?<![A-Za-z0-9])[A-Fa-f0-9]{40,}(?![A-Za-z0-9])"), "{mask}"),
    (
        "token",
        # Forty or more characters of base64, with a digit, a capital and a small letter among the first forty.
        LazyPattern(
            r"(?<![A-Za-z0-9+/_-])(?=[A-Za-z+/_-]{0,39}[0-9])(?=[a-z0-9+/_-]{0,39}[A-Z])(?=[A-Z0-9+/_-]{0,39}[a-z])"
            r"[A-Za-z0-9+/_-]{40,}={0,2}"
        ),
        "{mask}",
    ),
)

_WORDS_OF_A_NAME: Final = LazyPattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W\d_A-Za-z]+")
_SECRET_WORDS: Final = frozenset(
    {
        *("password", "passwd", "passphrase", "passcode", "passwort", "kennwort", "pwd", "pass", "secret", "secrets"),
        *("token", "credential", "credentials", "authorization", "auth", "cookie", "bearer", "apikey", "accesskey"),
        *("privatekey", "secretkey", "authtoken", "accesstoken", "refreshtoken"),
    }
)
#: What makes a key a secret one.
_KEYS_OF: Final = frozenset(("api", "access", "private", "secret", "signing", "encryption", "master", "account"))


def is_secret_name(name: str) -> bool:
    """Whether a field of that name holds a secret: `password`, `apiKey`, `SECRET_KEY`, `client-secret`, `auth token`.

    Names that only speak of one are none: `tokens`, `token_count`, `author`, `secretary`.
    """
    words = [match[0].lower() for match in _WORDS_OF_A_NAME.finditer(name[:200])]
    if not words:
        return False
    last = words[-1]
    if last in ("hash", "value", "text", "string") and len(words) > 1:
        last = words[-2]
    return last in _SECRET_WORDS or (last == "key" and len(words) > 1 and words[-2] in _KEYS_OF)


def redact_text(text: str) -> str:
    """The text with secrets masked: keys and tokens, passwords, e-mail addresses, and the names of home folders.

    Masks read `[redacted:KIND]`. It takes linear time. It is a net for what a trace would keep by accident, not a
    promise that nothing private is left: ordinary sentences stay as they are.
    """
    for kind, expression, replacement in _MASKS:
        text = expression.sub(replacement.replace("{mask}", f"[redacted:{kind}]"), text)
    return text
