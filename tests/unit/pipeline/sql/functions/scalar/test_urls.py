"""URLs with parts missing, and texts that are none."""

import pytest
from scalar_examples import value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("URL_EXTRACT_HOST('http://me:secret@example.org:80/')", "example.org"),
        ("URL_EXTRACT_HOST('http://[::1]:8080/')", "[::1]"),
        ("URL_EXTRACT_HOST('/only/a/path')", None),
        ("URL_EXTRACT_HOST('mailto:me@example.org')", None),
        ("URL_EXTRACT_PATH('mailto:me@example.org')", None),
        ("URL_EXTRACT_PATH('http://example.org')", ""),
        ("URL_EXTRACT_PATH('http://example.org/a%2Fb%20c')", "/a/b c"),
        ("URL_EXTRACT_PORT('http://example.org:/')", None),
        ("URL_EXTRACT_PORT('http://[::1]:8080/')", 8080),
        ("URL_EXTRACT_PROTOCOL('//example.org')", None),
        ("URL_EXTRACT_QUERY('http://example.org/?')", ""),
        ("URL_EXTRACT_QUERY('http://example.org/')", None),
        ("URL_EXTRACT_FRAGMENT('http://example.org/')", None),
        ("URL_EXTRACT_PARAMETER('http://example.org/?a&b=2', 'a')", ""),
        ("URL_EXTRACT_PARAMETER('http://example.org/?a=1&a=2', 'a')", "1"),
        ("URL_EXTRACT_PARAMETER('http://example.org/?a=x%26b%3D1', 'a')", "x&b=1"),
        ("URL_EXTRACT_PARAMETER('http://example.org/?a=1=2', 'a')", "1=2"),
        ("URL_EXTRACT_PARAMETER('http://example.org/', 'a')", None),
        ("URL_ENCODE_PARAM('ž ~*-_.')", "%C5%BE+%7E*-_."),
        ("URL_DECODE_PARAM(URL_ENCODE_PARAM('a=b&c d/é'))", "a=b&c d/é"),
        ("URL_EXTRACT_HOST(NULL)", None),
    ],
)
def test_values(text: str, value: object) -> None:
    assert value_of(text) == value


@pytest.mark.parametrize(
    "url", ["http://exa mple.org", "http://example.org/%zz", "http://example.org:port/", "a<b"]
)
def test_what_is_no_url(url: str) -> None:
    with pytest.raises(ValueError, match="is no URL"):
        value_of(f"URL_EXTRACT_HOST('{url}')")
