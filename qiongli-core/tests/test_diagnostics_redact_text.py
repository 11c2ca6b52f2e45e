"""The masking of text that a trace keeps on purpose: secrets, addresses and home folders."""

from __future__ import annotations

import string
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from qiongli.diagnostics import is_secret_name, redact_text


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
            (
                "-----BEGIN RSA PRIVATE KEY-----\nDEK-Info: AES-256-CBC\n\nAb-x\n-----END RSA PRIVATE KEY-----.",
                "[redacted:private_key].",
            ),
            ("SECRET_KEY=abc123short", "SECRET_KEY=[redacted:secret]"),
            ("django SECRET_KEY = 'x1y2z3'", "django SECRET_KEY = [redacted:secret]"),
            ("client_secret: abcd", "client_secret: [redacted:secret]"),
            ("GITHUB_TOKEN=short", "GITHUB_TOKEN=[redacted:secret]"),
            ("aws_secret_access_key = wJalr/K7M", "aws_secret_access_key = [redacted:secret]"),
            ("api key: 12345", "api key: [redacted:secret]"),
            ("the password is hunter2", "the password is [redacted:secret]"),
            ("password=" + "A1b" * 300, "password=[redacted:secret]"),
            ("Authorization: token abcdef12345", "Authorization: token [redacted:token]"),
            ('"Authorization": "abc-123-def"', '"Authorization": "[redacted:token]"'),
            ("sk_live_" + "4eC39HqLyjWD", "[redacted:token]"),
            ("xapp-1-A012-345-abc", "[redacted:token]"),
            ("ya29." + "a0AfH6SMBxxx", "[redacted:token]"),
            ("postgres://u:p@ss@host/db", "postgres://[redacted:credentials]@host/db"),
            ("ask j\u00fcrgen+x@uni-k\u00f6ln.de.", "ask [redacted:email]."),
            ("\u7528\u6237@\u4f8b\u5b50.\u516c\u53f8", "[redacted:email]"),
            ("o'brien+list@x.org", "[redacted:email]"),
            ("file:///home/alice/x.tex", "file://[redacted:home]/x.tex"),
            ("file:///C:/Users/Alice%20Smith/x", "file://[redacted:home]/x"),
            ("/mnt/c/Users/alice/x", "[redacted:home]/x"),
            ("/c/Users/alice/x", "[redacted:home]/x"),
            ("/var/home/alice/x", "[redacted:home]/x"),
            ("HOME=/export/home/alice", "HOME=[redacted:home]"),
            ("/Users/Alice Smith/x", "[redacted:home]/x"),
            ("//srv/Users/alice/x", "[redacted:home]/x"),
            ("~alice/x", "[redacted:home]/x"),
            (r"\\srv\Users\alice\x", r"[redacted:home]\x"),
            (r"\\srv\alice$\x", r"[redacted:home]\x"),
            (r"see C:\Users\Alice Smith\doc.tex", r"see [redacted:home]\doc.tex"),
            (r"C:\\Users\\Alice van Dam\\doc", r"[redacted:home]\\doc"),
            (r"in D:\Users\alice and D:\x", r"in [redacted:home] and D:\x"),
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
            "the secret of success, the token economy, and the authorization of the plan: 2020",
            "Authorization: the committee; secretary: Smith; tokens: 1200; monkey: banana; keyword: x",
            "precision@10.5 and recall@10 at https://example.org/home/alice or https://x.org/Users/bob",
            "the password is required, home/work balance, users and/or homes, ~5/6 of them",
            "",
        ],
    )
    def test_ordinary_sentences_stay(self, text: str) -> None:
        assert redact_text(text) == text

    @pytest.mark.parametrize(
        "name",
        [
            *("password", "Passwd", "api_key", "apiKey", "APIKey", "x-api-key", "api key", "secret", "SECRET_KEY"),
            *("aws_secret_access_key", "client-secret", "accessToken", "id_token", "token", "authorization", "auth"),
            *("password_hash", "Set-Cookie", "cookie", "credentials", "privateKey"),
        ],
    )
    def test_a_field_of_such_a_name_holds_a_secret(self, name: str) -> None:
        assert is_secret_name(name)

    @pytest.mark.parametrize(
        "name",
        [
            *(
                "tokens",
                "token_count",
                "max_tokens",
                "author",
                "authors",
                "secretary",
                "key",
                "keywords",
                "primary_key",
            ),
            *("topic", "text", "passive", "compass", "", "_", "\u5bc6", "discretion", "checksum"),
        ],
    )
    def test_a_field_that_only_sounds_like_one_holds_none(self, name: str) -> None:
        assert not is_secret_name(name)

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
            "a_",
            "api_key",
            "/a",
            "\\\\a",
            "C:\\Users\\a b ",
            "authorization: ",
            "file:/a",
            "~a",
            "\u4f8b@\u4f8b.",
            "password is ",
        ],
    )
    def test_it_takes_linear_time(self, unit: str) -> None:
        def seconds(length: int) -> float:
            text = unit * (length // len(unit))
            best = 1e9
            for _ in range(3):
                start = time.process_time()
                redact_text(text)
                best = min(best, time.process_time() - start)
            return best

        # Eight times the text; a quadratic expression would take 64 times as long.
        assert seconds(160_000) < 24 * seconds(20_000) + 0.02
