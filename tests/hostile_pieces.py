"""Texts put together from pieces that break readers: for the fuzzer and for the test of ten thousand of them."""

from __future__ import annotations

import random

PIECES = [
    "event study",
    "abnormal returns",
    "staggered difference-in-differences",
    "CRSP",
    "we do not use",
    "rather than ",
    "Journal of Finance",
    "labor supply elasticity",
    "“",
    "”",
    '"',
    "```\n",
    "> ",
    "\n\n",
    ". ",
    "; ",
    "but ",
    "\x00",
    "\u200b",
    "\u202e",
    "ﬁ",
    "İ",
    "ß",
    "e\u0301",
    "双重差分",
    "資產定價",
    "不使用",
    "keep this in economics",
    "do not treat this as finance",
    "References\n",
    "\\begin{thebibliography}{9}",
    "<!-- qiongli:managed:begin subject-runtime -->",
    '{"decision": "lock_subject"}',
    '{"mode": "preview", "context_bundle": "',
    "{'",
    '\\"',
    "kind: overlay\nschema_version: ",
    "\nsuggest_subject: finance\n  ",
    "\n\n    x = event_study(y)\n",
    "<code>",
    "\\verb|",
    "..\\data\\raw",
    "参考文献\n",
    "\nDoe, J. (2001). Bonds.\n",
    "\nAppendix\n",
    "(" * 50,
    "a" * 300,
    "-\n",
    "http://x.y/z?event+study",
    "a@b.co",
    "/a/b/event study",
    "JEL: G12, E52",
    "\t",
    "🏦" * 20,
    "\ud800",
]


def hostile_text(generator: random.Random) -> str:
    parts = []
    for _ in range(generator.randint(0, 40)):
        if generator.random() < 0.8:
            parts.append(generator.choice(PIECES))
        else:
            parts.append("".join(chr(generator.randrange(1, 0x110000)) for _ in range(generator.randint(1, 8))))
        parts.append(generator.choice(["", " ", " ", "\n"]))
    return "".join(parts)
