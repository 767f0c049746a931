"""Every spelling of a host means one address or name, and only public addresses are public."""

import ipaddress
from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domsieve.renderer.network.addresses import (
    HostError,
    is_local_name,
    is_localhost,
    is_loopback,
    parse_host,
    why_not_public,
)


class TestHosts:
    @pytest.mark.parametrize(
        "spelling",
        [
            "127.0.0.1",
            "127.1",
            "127.0.1",
            "127.0.0.1.",
            "2130706433",
            "017700000001",
            "0x7f000001",
            "0X7F.1",
            "0x7f.0x0.0x0.0x1",
            "0177.0.0.1",
            "0177.0x0.1",
            "127.000.000.001",
            "00000000177.1",
            "１２７.０.０.１",
            "127。0．0｡1",
            "①②⑦.1",
            "%31%32%37.0.0.1",
            "%EF%BC%91%EF%BC%92%EF%BC%97.1",
        ],
    )
    def test_spellings_of_an_ipv4_address(self, spelling: str) -> None:
        assert parse_host(spelling) == IPv4Address("127.0.0.1")

    @pytest.mark.parametrize(
        ("spelling", "expected"),
        [
            ("0", "0.0.0.0"),
            ("0x", "0.0.0.0"),
            ("4294967295", "255.255.255.255"),
            ("10.1", "10.0.0.1"),
            ("192.168.257", "192.168.1.1"),
            ("0xa9fea9fe", "169.254.169.254"),
            ("[::1]", "::1"),
            ("::1", "::1"),
            ("[0:0:0:0:0:0:0:1]", "::1"),
            ("[::ffff:7f00:1]", "127.0.0.1"),
            ("[::FFFF:127.0.0.1]", "127.0.0.1"),
        ],
    )
    def test_other_addresses(self, spelling: str, expected: str) -> None:
        assert parse_host(spelling) == ip_address(expected)

    @pytest.mark.parametrize(
        ("spelling", "expected"),
        [
            ("Example.ORG", "example.org"),
            ("example.org.", "example.org"),
            ("ｅｘａｍｐｌｅ．org", "example.org"),
            ("ex%61mple.org", "example.org"),
            ("a\u00ad.example.org", "a.example.org"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("раураl.example", "xn--l-7sba6dbr.example"),
            ("faß.example", "xn--fa-hia.example"),
            ("FASS.example", "fass.example"),
            ("σοφός.example", "xn--0xagbn4a.example"),
            ("☃.example", "xn--n3h.example"),
            ("LOCALHOST", "localhost"),
            ("ⓛocalhost", "localhost"),
            ("a_b.example", "a_b.example"),
            ("1.2.3.4.example", "1.2.3.4.example"),
        ],
    )
    def test_names(self, spelling: str, expected: str) -> None:
        assert parse_host(spelling) == expected

    @pytest.mark.parametrize(
        "spelling",
        [
            "",
            ".",
            "a..b",
            ".a",
            "a b",
            "a/b",
            "a@b",
            "a\\b",
            "a#b",
            "a%00b",
            "a%2fb",
            "a%ffb",
            "a\tb",
            "-a.example",
            "1.2.3.4.5",
            "256.1.1.1",
            "1.256.1.1",
            "4294967296",
            "1.2.3.08",
            "0x7g.1.0x",
            "a.1",
            "1..1",
            "[::1",
            "[fe80::1%25eth0]",
            "fe80::1%eth0",
            "[1.2.3.4]",
            "[]",
            "::ffff:300.1.1.1",
            "a" * 64 + ".example",
            ".".join(["a" * 60] * 5),
            "9" * 100,
            "a<b",
            "-1.0.0.1",
            "+1.0.0.1",
            "1_0.0.0.1",
            "1 .0.0.1",
            "0x_1.1",
            "0x-1.1",
            "0_7.1",
            "-0.0.0.1",
            "1.-1.0.1",
            "\u0661.0.0.1",
            "\u0967.1",
            "\ud800",
            "\ud800.1",
            "%\ud800",
            "%31\udfff.0.0.1",
            "%ED%A0%80",
            "\ud800:",
        ],
    )
    def test_no_hosts(self, spelling: str) -> None:
        if spelling == "[::1":
            assert parse_host(spelling) == IPv6Address("::1")  # no other reading
            return
        with pytest.raises(HostError):
            parse_host(spelling)

    @given(
        st.integers(0, 2**32 - 1), st.integers(1, 4), st.lists(st.sampled_from("dox"), min_size=4, max_size=4)
    )
    @example(0x7F000001, 2, ["x", "o", "d", "d"])
    def test_numbers(self, number: int, parts: int, bases: list[str]) -> None:
        split = [number >> (24 - 8 * i) & 255 for i in range(parts - 1)]
        split.append(number & ((1 << (8 * (5 - parts))) - 1))
        shown = {"d": "{}", "o": "0{:o}", "x": "0x{:x}"}
        text = ".".join(shown[base].format(part) for base, part in zip(bases, split, strict=False))
        assert parse_host(text) == IPv4Address(number)

    @given(st.text("0123456789-+_ .xX%aeF\t\u0661\uff11\u0967\ud800\udfff", max_size=20))
    @example("-1.0.0.1")
    def test_what_looks_like_a_number_is_an_address_or_no_host(self, text: str) -> None:
        try:
            host = parse_host(text)
        except HostError:
            return
        assert parse_host(str(host)) == host
        assert str(host).isascii()

    @given(st.text(max_size=30))
    def test_a_host_is_read_once(self, text: str) -> None:
        try:
            host = parse_host(text)
        except HostError:
            return
        assert parse_host(str(host)) == host


class TestPublic:
    @pytest.mark.parametrize(
        ("address", "kind"),
        [
            ("0.0.0.0", "this machine"),
            ("0.1.2.3", "this machine"),
            ("10.0.0.1", "private"),
            ("100.64.0.1", "private"),
            ("100.100.100.200", "private"),
            ("127.255.255.255", "this machine"),
            ("168.63.129.16", "a cloud's own"),
            ("169.254.169.254", "link-local"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.0.0.192", "reserved"),
            ("192.0.2.1", "reserved"),
            ("192.88.99.1", "reserved"),
            ("192.168.0.1", "private"),
            ("198.18.0.1", "reserved"),
            ("203.0.113.1", "reserved"),
            ("224.0.0.1", "multicast"),
            ("240.0.0.1", "reserved"),
            ("255.255.255.255", "reserved"),
            ("::", "this machine"),
            ("::1", "this machine"),
            ("::127.0.0.1", "reserved"),
            ("::8.8.8.8", "reserved"),
            ("::ffff:127.0.0.1", "this machine"),
            ("::ffff:10.0.0.1", "private"),
            ("::ffff:0:127.0.0.1", "reserved"),
            ("64:ff9b::7f00:1", "this machine"),
            ("64:ff9b::a9fe:a9fe", "link-local"),
            ("64:ff9b:1::1", "private"),
            ("2001::1", "reserved"),
            ("2001:0:808:808::1", "reserved"),
            ("2001:db8::1", "reserved"),
            ("2002:7f00:1::", "reserved"),
            ("2002:808:808::", "reserved"),
            ("2606:4700::5efe:10.0.0.1", "private"),
            ("2606:4700::200:5efe:127.0.0.1", "this machine"),
            ("3fff::1", "reserved"),
            ("fc00::1", "private"),
            ("fd00:ec2::254", "private"),
            ("fe80::1", "link-local"),
            ("fe80::1%eth0", "link-local"),
            ("fec0::1", "private"),
            ("ff02::1", "multicast"),
            ("100::1", "reserved"),
            ("5f00::1", "reserved"),
            ("4000::1", "reserved"),
        ],
    )
    def test_others(self, address: str, kind: str) -> None:
        assert why_not_public(ip_address(address)) == kind

    @pytest.mark.parametrize(
        "address",
        ["8.8.8.8", "93.184.216.34", "172.32.0.1", "2606:4700::1", "64:ff9b::808:808", "::ffff:8.8.8.8"],
    )
    def test_public_ones(self, address: str) -> None:
        assert why_not_public(ip_address(address)) == ""

    @given(st.ip_addresses())
    def test_no_more_than_python_takes_for_global(self, address: IPv4Address | IPv6Address) -> None:
        inner = None
        if isinstance(address, IPv6Address):
            inner = address.ipv4_mapped or (
                IPv4Address(int(address) & 0xFFFFFFFF)
                if address in ipaddress.IPv6Network("64:ff9b::/96")
                else None
            )
        if why_not_public(address) == "":
            assert (inner or address).is_global
            assert not (inner or address).is_multicast

    @given(st.ip_addresses(v=4))
    def test_what_holds_an_address_is_not_more_public_than_it(self, address: IPv4Address) -> None:
        for prefix in ("::ffff:", "64:ff9b::"):
            assert why_not_public(ip_address(f"{prefix}{address}")) == why_not_public(address)
        for prefix in ("::", "::ffff:0:", "64:ff9b:1::", "64:ff9b:1:ffff::"):
            if int(address) > 1:
                assert why_not_public(ip_address(f"{prefix}{address}"))

    @pytest.mark.parametrize(
        "address", ["127.0.0.1", "127.9.9.9", "0.0.0.0", "::1", "::", "::ffff:127.0.0.1"]
    )
    def test_this_machine(self, address: str) -> None:
        assert is_loopback(ip_address(address))

    @pytest.mark.parametrize(
        "address", ["10.0.0.1", "8.8.8.8", "::2", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "fe80::1"]
    )
    def test_other_machines(self, address: str) -> None:
        assert not is_loopback(ip_address(address))


@pytest.mark.parametrize(
    "name",
    [
        "localhost",
        "a.localhost",
        "printer.local",
        "metadata.google.internal",
        "metadata",
        "nas.lan",
        "x.home.arpa",
    ],
)
def test_local_names(name: str) -> None:
    assert is_local_name(name)


@pytest.mark.parametrize(
    "name", ["example.org", "localhost.example.org", "mylocal.example", "notlocal.locals"]
)
def test_other_names(name: str) -> None:
    assert not is_local_name(name)
    assert not is_localhost(name)
