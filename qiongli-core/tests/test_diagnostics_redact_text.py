"""The masking of text that a trace keeps on purpose: secrets, addresses and home folders."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiongli.diagnostics import redact_text


class TestRedactText:
    """A net for what a trace would keep by accident."""

    @pytest.mark.parametrize(
        ("text", "kept"),
        [
            ("write to ann.lee+x@uni.example.org today", "write to [redacted:email] today"),
            ("see /home/ann/project/a.tex", "see [redacted:home]/project/a.tex"),
            ("see /Users/ann/a.tex, please", "see [redacted:home]/a.tex, please"),
            (r"in C:\Users\Ann\paper.docx", r"in [redacted:home]\paper.docx"),
            ("in /root/x", "in [redacted:home]/x"),
            ("key sk-" + "a1B2" * 8, "key [redacted:token]"),
            ("ghp_" + "Ab3" * 12, "[redacted:token]"),
            ("AKIA" + "ABCD1234EFGH5678", "[redacted:token]"),
            ("Authorization: Bearer abc.def-123456", "Authorization: Bearer [redacted:token]"),
            ("password: hunter2, then", "password: [redacted:secret], then"),
            ("API_KEY='two words'", "API_KEY=[redacted:secret]"),
            ('{"token": "x1"}', '{"token": [redacted:secret]}'),
            ("https://ann:pw1@host/x", "https://[redacted:credentials]@host/x"),
            ("sha " + "0123456789abcdef" * 4, "sha [redacted:token]"),
            ("blob " + "Ab1+" * 20 + "==", "blob [redacted:token]"),
            ("eyJhbGciOiJI.eyJzdWIiOiIx.c2ln", "[redacted:token]"),
            (
                "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\nnext",
                "[redacted:private_key]\nnext",
            ),
            ("-----BEGIN PRIVATE KEY-----\nAAAA", "[redacted:private_key]"),
        ],
    )
    def test_secrets_are_masked(self, text: str, kept: str) -> None:
        assert redact_text(text) == kept

    @pytest.mark.parametrize(
        "text",
        [
            "We estimate the effect of earnings announcements on abnormal returns (CAR).",
            "Token prices and secret ballots; authors: Smith, 2020; the home bias of investors.",
            "\u672c\u6587\u7814\u7a76\u53cc\u91cd\u5dee\u5206\u6cd5\u3002",
            "JEL: G12, G14; doi:10.1016/0304-405X(93)90023-5",
            "difference-in-differences-with-staggered-adoption-in-panel-data",
            "a/b/c and https://example.org/path?x=1",
            "",
        ],
    )
    def test_ordinary_sentences_stay(self, text: str) -> None:
        assert redact_text(text) == text

    @given(
        st.text(max_size=20),
        st.text(string.ascii_letters + string.digits, min_size=24, max_size=40),
        st.sampled_from(
            [
                *("password={}", "token: '{}'", 'api-key: "{} and more"', "Bearer {}", "https://ann:{}@host/", "sk-{}"),
                *("ghp_{}", "/home/{}/x", "/Users/{}", "C:\\Users\\{}\\x", "{}@example.org", "hf_{}", "secret = {}"),
            ]
        ),
        st.sampled_from(["\n", " ", ", ", "; "]),
    )
    def test_a_planted_secret_is_masked_in_any_surroundings(
        self, around: str, secret: str, form: str, gap: str
    ) -> None:
        shown = redact_text(around + gap + form.format(secret) + gap + around)
        assert secret not in shown
        assert "[redacted:" in shown

    @pytest.mark.parametrize(
        "unit",
        [
            "a",
            "aA1",
            "a@",
            "-----BEGIN PRIVATE KEY-----",
            "password=",
            "://a:",
            "/home/a",
            "eyJaaaaaaaa.",
            "bearer ",
            "1",
            "a.b@c",
            "\"'",
        ],
    )
    def test_it_takes_linear_time(self, unit: str) -> None:
        def seconds(length: int) -> float:
            text = unit * (length // len(unit))
            best = 1e9
            for _ in range(3):
                start = time.perf_counter()
                redact_text(text)
                best = min(best, time.perf_counter() - start)
            return best

        # Eight times the text; a quadratic expression would take 64 times as long.
        assert seconds(160_000) < 24 * seconds(20_000) + 0.02
