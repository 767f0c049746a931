"""Hosts and addresses in any spelling: none that is private passes, and each has one spelling of its own."""

import asyncio
import ipaddress
import re
import unicodedata
from collections.abc import Collection
from ipaddress import IPv4Address, IPv6Address, ip_address
from urllib.parse import unquote_to_bytes, urlsplit

from hypothesis import strategies as st

from domsieve.errors import NavigationError, PolicyError, TargetError, UsageError
from domsieve.renderer.network.addresses import Address, HostError, parse_host, why_not_public
from domsieve.renderer.network.egress import Egress, Factory, place_of, private_host
from domsieve.renderer.sampling._page_urls import Site, joined, normalized, start_page
from domsieve.tasks.targets import output_name
from domsieve.urls import split_url, without_credentials
from tests.fuzz.fuzzing import fuzzed

PUBLIC = ["93.184.216.34", "2606:4700::1", "8.8.8.8"]
PRIVATE = [
    *(
        "127.0.0.1",
        "10.0.0.7",
        "169.254.169.254",
        "192.168.1.1",
        "100.64.0.1",
        "0.0.0.0",
        "::1",
        "::",
        "fe80::1%eth0",
    ),
    *(
        "fd00:ec2::254",
        "::ffff:10.0.0.1",
        "64:ff9b::7f00:1",
        "2002:7f00:1::",
        "2001::1",
        "::127.0.0.1",
        "224.0.0.1",
    ),
]
WIDE = str.maketrans("0123456789.abcdefxlost", "０１２３４５６７８９。ａｂｃｄｅｆｘｌｏｓｔ")


@st.composite
def spelled(draw: st.DrawFn, number: int) -> str:
    """Return an IPv4 address as somebody might write it who wants it not to be known."""
    parts = draw(st.integers(1, 4))
    split = [number >> (24 - 8 * i) & 255 for i in range(parts - 1)]
    split.append(number & ((1 << (8 * (5 - parts))) - 1))
    forms = st.sampled_from(("{}", "0{:o}", "0x{:x}", "0X{:X}", "000{:o}", "0x000{:x}"))
    text = ".".join(draw(forms).format(part) for part in split) + draw(st.sampled_from(("", "", ".")))
    for at in draw(st.lists(st.integers(0, len(text) - 1), max_size=3, unique=True)):
        change = draw(st.sampled_from(("wide", "escape", "ignored", "escaped wide")))
        character = text[at]
        if len(character) != 1 or ord(character) > 127:
            continue
        wide = character.translate(WIDE)
        new = {
            "wide": wide,
            "escape": f"%{ord(character):02x}",
            "ignored": f"{character}\u00ad",
            "escaped wide": "".join(f"%{byte:02X}" for byte in wide.encode()),
        }[change]
        text = text[:at] + new + text[at + 1 :]
        break  # what follows stands elsewhere now
    return text


ADDRESSES_4 = st.integers(0, 2**32 - 1) | st.sampled_from(
    [int(ip_address(text)) for text in PRIVATE if ":" not in text]
)
HOSTS = st.one_of(
    ADDRESSES_4.flatmap(spelled),
    st.sampled_from(
        [*PUBLIC, *PRIVATE, "localhost", "LocalHost.", "a.localhost", "metadata.google.internal", "ⓛocalhost"]
    ),
    st.sampled_from(PRIVATE).map(lambda text: f"[{text}]"),
    st.text("0123456789abcdefxX.:%[]-_ \t１。\u00ad\u0661\U0001fbf1", max_size=24),
    st.text(max_size=12),
    st.text("ab.-é", min_size=1, max_size=9).map(lambda text: f"{text}.example"),
)
PATHS = st.text("ab./%;?&=#\\ é4531fFjsessionid", max_size=24) | st.text(max_size=9)
URLS = st.builds(
    "{}{}{}{}{}".format,
    st.sampled_from(
        ("http://", "https://", "HTTP:", "http:/", "//", "ftp://", "javascript:", "", " http://", "ws://")
    ),
    st.sampled_from(("", "", "", "user@", "user:pw@", "a.example\\@", "a.example#@", "@")),
    st.sampled_from(("a.example", "a.example", "B.Example.", "b\u00fccher.example")) | HOSTS,
    st.sampled_from(("", "", ":", ":80", ":443", ":0", ":65535", ":65536", ":-1", ":8_0", ":\u0661")),
    PATHS.map(lambda path: f"/{path}") | PATHS,
)


def is_public(address: Address) -> bool:
    """Return whether an address is public, as Python's own tables have it; one that holds another is as that is."""
    number = int(address)
    if isinstance(address, IPv6Address):
        held = address.ipv4_mapped
        if address in ipaddress.IPv6Network("64:ff9b::/96"):
            held = IPv4Address(number & 0xFFFFFFFF)
        if held is not None:
            return is_public(held)
        if address.sixtofour is not None or address.teredo is not None or number >> 32 == 0:
            return False
    return address.is_global and not address.is_multicast and not address.is_reserved


def as_browsers(host: str) -> Address | str | None:
    """Return what browsers take a host for that is plain once escapes and wide characters are undone (WHATWG URL).

    None is a failure, a name is returned as it is; only addresses are worked out.
    """
    text = unquote_to_bytes(host).decode("utf-8", "replace")
    text = "".join(c for c in unicodedata.normalize("NFKC", text).casefold() if c != "\u00ad")
    text = re.sub("[。．｡]", ".", text)
    labels = text.split(".")
    if labels[-1] == "" and len(labels) > 1:
        labels.pop()
    last = labels[-1]
    if not re.fullmatch("[0-9]+|0[xX][0-9a-fA-F]*", last):
        return text
    numbers = [number_of(label) for label in labels]
    if len(labels) > 4 or any(number is None for number in numbers):
        return None
    whole = [number for number in numbers if number is not None]
    if any(number > 255 for number in whole[:-1]) or whole[-1] >= 256 ** (5 - len(whole)):
        return None
    return IPv4Address(whole[-1] + sum(number << 8 * (3 - at) for at, number in enumerate(whole[:-1])))


def number_of(label: str) -> int | None:
    base = 16 if label[:2].lower() == "0x" else 8 if len(label) > 1 and label[0] == "0" else 10
    digits = label[2:] if base == 16 else label[1:] if base == 8 else label
    if not label or not all(c in "0123456789abcdef"[:base] for c in digits.lower()):
        return None
    return int(digits or "0", base)


@fuzzed(75, host=HOSTS)
def test_a_host_is_what_browsers_take_it_for_or_none(host: str) -> None:
    try:
        found = parse_host(host)
    except HostError:
        return
    assert parse_host(str(found)) == found
    assert str(found).isascii()
    if host.startswith("[") or ":" in host:
        address = IPv6Address(host.strip("[]"))
        assert found == (address.ipv4_mapped or address)
        return
    theirs = as_browsers(host)
    if isinstance(theirs, str) and not theirs.isascii():
        assert isinstance(found, str)
    elif isinstance(theirs, IPv4Address) and "\U0001fbf1" in host:
        # Newer than the tables of Python's IDNA. The proxy meets the address as browsers spell it.
        assert found == theirs or str(found).startswith("xn--") or ".xn--" in str(found)
    elif isinstance(theirs, IPv4Address) or isinstance(found, IPv4Address):
        assert found == theirs


@fuzzed(30, number=ADDRESSES_4, data=ADDRESSES_4.flatmap(lambda n: spelled(n).map(lambda text: [n, text])))
def test_an_address_is_known_in_every_spelling(number: int, data: list[object]) -> None:
    of, text = data
    assert isinstance(of, int)
    try:
        assert parse_host(str(text)) == IPv4Address(of)
    except HostError:
        # A number with zeros before it is octal to browsers, and none with an 8 or 9 in it.
        assert as_browsers(str(text)) is None or "\u00ad" in str(text)
    for prefix in ("::ffff:", "64:ff9b::"):
        assert bool(why_not_public(ip_address(f"{prefix}{IPv4Address(number)}"))) == bool(
            why_not_public(IPv4Address(number))
        )


@fuzzed(30, number=st.integers(0, 2**128 - 1) | st.integers(0, 2**64) | ADDRESSES_4, form=st.integers(0, 4))
def test_an_address_of_ipv6_is_known_in_every_spelling(number: int, form: int) -> None:
    address = IPv6Address(number)
    text = (
        address.compressed,
        address.exploded.upper(),
        f"[{address.compressed.upper()}]",
        ":".join(f"{number >> 16 * (7 - at) & 65_535:x}" for at in range(8)),
        ":".join(f"{number >> 16 * (7 - at) & 65_535:X}" for at in range(6))
        + f":{IPv4Address(number & 0xFFFFFFFF)}",
    )[form]
    assert parse_host(text) == address
    assert why_not_public(address) or is_public(address)


@fuzzed(
    60,
    scheme=st.sampled_from(("http", "https", "ws", "wss", "HTTP", "ftp", "file", "")),
    host=HOSTS,
    port=st.sampled_from((80, 443, 8080, 0, 22, 65_535, 65_536, -1)) | st.integers(-5, 70_000),
    answer=st.lists(st.sampled_from([*PUBLIC, *PRIVATE, "nonsense", ""]), max_size=3) | st.none(),
    named=st.lists(st.sampled_from(("named.example", "127.0.0.1", "::1", "10.0.0.7")), max_size=2),
    loopback_only=st.booleans(),
)
def test_nothing_private_is_reached_that_nobody_named(
    scheme: str, host: str, port: int, answer: list[str] | None, named: list[str], loopback_only: bool
) -> None:
    asked: list[str] = []
    dialed: list[tuple[str, int]] = []

    async def resolve(name: str, _: int) -> Collection[str]:
        asked.append(name)
        if answer is None:
            raise OSError("no such name")
        return answer

    async def dial(_: Factory, address: str, to: int) -> asyncio.Transport:
        dialed.append((address, to))
        return asyncio.Transport()

    async def reach() -> None:
        egress = Egress(
            named=[(one, None) for one in named], loopback_only=loopback_only, resolver=resolve, dialer=dial
        )
        route = await egress.decide(scheme, host, port)
        await egress.connect(route, asyncio.Protocol)
        assert dialed == [(route.addresses[0], port)]
        assert 0 < port < 65_536
        for text in route.addresses:
            address = ip_address(text)
            if loopback_only:
                assert (
                    address.is_loopback
                    or address.is_unspecified
                    or text.startswith(("0.", "::ffff:127.", "::ffff:0."))
                )
            else:
                assert is_public(address) or route.host in named

    try:
        asyncio.run(reach())
    except (PolicyError, NavigationError):
        assert not dialed
    assert not loopback_only or not asked
    assert not any(name.endswith((".internal", ".local", "localhost")) or "." not in name for name in asked)


@fuzzed(75, url=URLS)
def test_an_address_of_a_page_has_one_spelling(url: str) -> None:
    place = place_of(url)
    if place is not None:
        assert place_of(f"http://{f'[{place[0]}]' if ':' in place[0] else place[0]}:{place[1]}/") == place
    found = normalized(url)
    if found is None:
        return
    assert normalized(found) == found
    assert found.isascii()
    assert found.isprintable()
    assert " " not in found
    parts = urlsplit(found)
    assert parts.scheme in {"http", "https"}
    assert "@" not in parts.netloc
    assert parts.path.startswith("/")
    assert not {".", ".."} & {*parts.path.split("/")}
    if place is not None:
        assert place_of(found) == place
    page = Site.of(found).page(url)
    if page is not None:
        assert page.startswith(f"{Site.of(found).root}/")
        assert Site.of(found).page(page) == page
        assert place_of(page) == place_of(found)


@fuzzed(40, base=URLS, link=URLS | PATHS)
def test_links_of_any_kind_are_joined(base: str, link: str) -> None:
    found = joined(base, link)
    normalized(found)
    for url in (base, link, found):
        split_url(url)
        plain = without_credentials(url)
        parts = split_url(plain)
        assert parts is None or "@" not in parts.netloc


@fuzzed(40, url=URLS)
def test_a_start_page_is_a_page_or_refused(url: str) -> None:
    try:
        found = start_page(url)
    except (PolicyError, TargetError):
        return
    assert place_of(found)
    assert start_page(found) == found


@fuzzed(30, text=HOSTS | st.builds("{}:{}".format, HOSTS, st.integers(-1, 70_000)))
def test_a_private_host_is_a_host_or_refused(text: str) -> None:
    try:
        host, port = private_host(text)
    except UsageError as error:
        assert error.parameter == "private_hosts"  # noqa: PT017
        return
    assert str(parse_host(host)) == host
    assert port is None or 0 < port < 65_536


@fuzzed(40, url=URLS, other=URLS)
def test_names_of_files_are_safe_and_tell_addresses_apart(url: str, other: str) -> None:
    name = output_name(url)
    assert re.fullmatch(r"[a-z0-9]([a-z0-9-]*[a-z0-9])?", name)
    assert len(name) <= 80
    assert url == other or output_name(other) != name
