"""Encodings by the rules of browsers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domsieve.errors import UsageError
from domsieve.renderer.html_parser.content import declared_encoding, encoding_name, html_as_utf8


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("UTF-8", "utf-8"),
        (" iso-8859-1\n", "windows-1252"),
        ("ascii", "windows-1252"),
        ("x-sjis", "shift_jis"),
        ("gb2312", "gbk"),
        ("ks_c_5601-1987", "euc-kr"),
        ("utf-16", "utf-16le"),
        ("iso-8859-9", "windows-1254"),
        ("utf-7", None),  # a codec of Python that no browser knows
        ("rot13", None),
        ("hz-gb-2312", None),
        ("", None),
    ],
)
def test_labels_mean_what_they_mean_to_browsers(label: str, name: str | None) -> None:
    assert encoding_name(label) == name


@pytest.mark.parametrize(
    ("source", "name"),
    [
        (b"<meta charset=koi8-r>", "koi8-r"),
        (b"<META CHARSET='KOI8-R'>", "koi8-r"),
        (b'<meta content="text/html; charset=big5" http-equiv="Content-Type">', "big5"),
        (b"<meta http-equiv=content-type content=\"text/html;charset = 'gbk'\">", "gbk"),
        (b'<meta name=x content="text/html; charset=big5">', None),
        (b"<!-- <meta charset=big5> --><meta charset=gbk>", "gbk"),
        (b"<!-- <meta charset=big5> ", None),
        (b'<p title="<meta charset=big5>">', None),
        (b"<metaphor charset=big5>", None),
        (b"<meta charset=nonsense><meta charset=gbk>", "gbk"),
        (b"<meta charset=utf-16be>", "utf-8"),
        (b'<?xml version="1.0" encoding="iso-8859-5"?><html>', "iso-8859-5"),
        (b" " * 1024 + b"<meta charset=gbk>", None),
        (b" " * 1000 + b"<meta charset=gbk x=", "gbk"),
    ],
)
def test_declarations_within_the_document(source: bytes, name: str | None) -> None:
    assert declared_encoding(source) == name


def test_sources_of_the_encoding_rank_as_in_the_standard() -> None:
    source = "<meta charset=windows-1251>é".encode()
    assert html_as_utf8(b"\xef\xbb\xbf" + source, encoding="koi8-r") == (source, "utf-8")
    assert html_as_utf8(source, content_type="text/html; charset=koi8-r", encoding="gbk")[1] == "gbk"
    assert html_as_utf8(source, content_type="text/html; Charset=KOI8-R")[1] == "koi8-r"
    assert html_as_utf8(source, content_type="text/html; charset=nonsense")[1] == "windows-1251"
    assert html_as_utf8("é".encode()) == ("é".encode(), "utf-8")
    assert html_as_utf8(b"caf\xe9") == ("café".encode(), "windows-1252")


@pytest.mark.parametrize("declared", ["gb2312", "big5", "iso-8859-1", "windows-1251"])
def test_a_document_that_was_converted_to_utf_8_is_read_as_utf_8(declared: str) -> None:
    page = f"<meta charset={declared}><p>今天的新闻：山里下了第一场雪。Der Schnee fällt früh.</p>"
    assert html_as_utf8(page.encode()) == (page.encode(), "utf-8")
    assert html_as_utf8(page.encode(), content_type=f"text/html; charset={declared}") == (
        page.encode(),
        "utf-8",
    )


@pytest.mark.parametrize(
    ("declared", "text"),
    [
        ("gb2312", "今天的新闻：山里下了第一场雪。"),
        ("shift_jis", "山に初雪が降りました。"),
        ("windows-1251", "Выпал первый снег."),
        ("iso-8859-1", "früh, fällt, schön, süß"),
        ("windows-1252", "Ã© is what é looks like in the wrong encoding"),  # two bytes that UTF-8 has, too
    ],
)
def test_other_encodings_are_read_as_declared(declared: str, text: str) -> None:
    page = f"<meta charset={declared}><p>{text}"
    source = page.encode("cp1252" if declared == "iso-8859-1" else declared)
    assert html_as_utf8(source)[0].decode() == page


def test_utf_16_is_read_by_its_byte_order_mark() -> None:
    for mark, codec in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        assert html_as_utf8(mark + "żółw".encode(codec))[0] == "żółw".encode()


def test_an_encoding_that_does_not_exist_is_the_callers_fault() -> None:
    with pytest.raises(UsageError, match="utf-7"):
        html_as_utf8(b"", encoding="utf-7")


def test_bytes_outside_the_encoding_become_replacement_characters() -> None:
    assert html_as_utf8(b"a\xffb", encoding="utf-8")[0] == "a\ufffdb".encode()
    assert html_as_utf8(b"\xff\xfe\x00\xd8", encoding="utf-8")[0] == "\ufffd".encode()


@given(
    st.binary(max_size=60),
    st.sampled_from(["utf-8", "gbk", "euc-jp", "shift_jis", "iso-2022-jp", "utf-16be"]),
)
def test_no_bytes_fail(source: bytes, encoding: str) -> None:
    html_as_utf8(source, encoding=encoding)[0].decode()
