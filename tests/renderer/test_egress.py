"""The decision where connections may go: resolved once, every address checked, and one of those dialed."""

import asyncio
from collections.abc import Sequence
from ipaddress import ip_address

import pytest

from domsieve.errors import NavigationError, PolicyError, UsageError
from domsieve.renderer.network import egress as egress_module
from domsieve.renderer.network.egress import Egress, Factory, Route, _is_own, offline, place_of, private_host

PUBLIC, OTHER, PRIVATE = "93.184.216.34", "2606:4700::1", "10.0.0.7"


class Network:
    """Answers for every name in turn, and notes what is dialed; no packet is sent."""

    def __init__(self, *turns: Sequence[str], refusing: Sequence[str] = ()) -> None:
        self.turns = [*turns]
        self.refusing = refusing
        self.wait_s = 0.0
        self.asked: list[str] = []
        self.dialed: list[tuple[str, int]] = []

    async def resolve(self, host: str, port: int) -> Sequence[str]:  # noqa: ARG002
        self.asked.append(host)
        await asyncio.sleep(self.wait_s)
        if not self.turns:
            raise OSError("no such name")
        return self.turns.pop(0) if len(self.turns) > 1 else self.turns[0]

    async def dial(self, factory: Factory, address: str, port: int) -> asyncio.Transport:  # noqa: ARG002
        self.dialed.append((address, port))
        if address in self.refusing:
            raise ConnectionRefusedError
        return asyncio.Transport()

    def egress(self, *named: tuple[str, int | None], allow_private: bool = False) -> Egress:
        return Egress(named=named, allow_private=allow_private, resolver=self.resolve, dialer=self.dial)


def decide(egress: Egress, host: str, port: int = 80, scheme: str = "http") -> Route:
    return asyncio.run(egress.decide(scheme, host, port))


def connect(egress: Egress, host: str, port: int = 80) -> None:
    async def run() -> None:
        await egress.connect(await egress.decide("http", host, port), asyncio.Protocol)

    asyncio.run(run())


class TestNames:
    def test_a_public_one(self) -> None:
        network = Network([PUBLIC, OTHER])
        assert decide(network.egress(), "Example.org.", 443) == Route("example.org", 443, (PUBLIC, OTHER))

    def test_rebinding_gains_nothing(self) -> None:
        network = Network([PUBLIC], [PRIVATE])
        egress = network.egress()
        connect(egress, "rebinding.test")
        assert network.asked == ["rebinding.test"], "what was checked is not asked for again"
        assert network.dialed == [(PUBLIC, 80)]
        with pytest.raises(PolicyError, match=r"at 10\.0\.0\.7, which is private"):
            connect(egress, "rebinding.test")
        assert network.dialed == [(PUBLIC, 80)]

    @pytest.mark.parametrize(
        "answer", [[PUBLIC, PRIVATE], [PRIVATE, PUBLIC], [OTHER, "::1"], [PUBLIC, "::ffff:10.0.0.1"]]
    )
    def test_one_private_address_among_public_ones_refuses_all(self, answer: list[str]) -> None:
        network = Network(answer)
        with pytest.raises(PolicyError, match="only public addresses"):
            connect(network.egress(), "mixed.test")
        assert not network.dialed

    @pytest.mark.parametrize(
        "answer", ["fe80::1%eth0", "127.0.0.1", "169.254.169.254", "64:ff9b::7f00:1", "fd00:ec2::254"]
    )
    def test_private_answers(self, answer: str) -> None:
        with pytest.raises(PolicyError):
            decide(Network([answer]).egress(), "private.test")

    @pytest.mark.parametrize(
        "name", ["localhost", "a.localhost.", "metadata.google.internal", "intranet", "x.local"]
    )
    def test_local_ones_are_not_even_asked_for(self, name: str) -> None:
        network = Network([PUBLIC])
        with pytest.raises(PolicyError):
            decide(network.egress(), name)
        assert not network.asked

    @pytest.mark.parametrize("turns", [[], [[]], [["nonsense"]]])
    def test_none(self, turns: list[list[str]]) -> None:
        with pytest.raises(NavigationError, match="NAME_NOT_RESOLVED"):
            decide(Network(*turns).egress(), "nothing.test")

    def test_one_that_was_late_is_waited_for_less_for_a_while(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(egress_module, "_SHORT_LIMIT_S", 0)
        network = Network()
        egress = network.egress()
        with pytest.raises(NavigationError):
            decide(egress, "late.test")
        network.turns, network.wait_s = [[PUBLIC]], 0.01
        with pytest.raises(NavigationError, match="NAME_NOT_RESOLVED"):
            decide(egress, "late.test")
        assert decide(egress, "other.test").addresses == (PUBLIC,)
        monkeypatch.setattr(egress_module, "_LATE_FOR_S", 0)
        assert decide(egress, "late.test").addresses == (PUBLIC,)
        monkeypatch.undo()
        assert decide(egress, "late.test").addresses == (PUBLIC,), "it has answered, so it is no longer late"

    def test_the_next_address_is_tried_when_one_refuses(self) -> None:
        network = Network([PUBLIC, OTHER], refusing=[PUBLIC])
        connect(network.egress(), "example.org")
        assert network.dialed == [(PUBLIC, 80), (OTHER, 80)]

    def test_no_address_answers(self) -> None:
        with pytest.raises(NavigationError, match="CONNECTION_REFUSED"):
            connect(Network([PUBLIC], refusing=[PUBLIC]).egress(), "example.org")


class TestPlaces:
    @pytest.mark.parametrize(
        "host",
        [
            "127.0.0.1",
            "127.1",
            "2130706433",
            "0x7f.1",
            "[::1]",
            "[::]",
            "0",
            "[::ffff:127.0.0.1]",
            "[64:ff9b::7f00:1]",
            "[2002:7f00:1::]",
            "[2001:0:7f00:1::]",
            "[::127.0.0.1]",
            "169.254.169.254",
            "[fe80::1]",
            "[fe80::1%25eth0]",
        ],
    )
    def test_spellings_of_private_addresses(self, host: str) -> None:
        network = Network([PUBLIC])
        with pytest.raises(PolicyError):
            connect(network.egress(), host)
        assert not network.dialed
        assert not network.asked

    @pytest.mark.parametrize("port", [0, 22, 25, 6000, 6379, 65_536, -1])
    def test_ports_of_other_services(self, port: int) -> None:
        network = Network([PUBLIC])
        for egress in (
            network.egress(),
            network.egress(("example.org", port)),
            network.egress(allow_private=True),
        ):
            with pytest.raises(PolicyError, match="Port"):
                decide(egress, "example.org", port)

    @pytest.mark.parametrize("scheme", ["ftp", "file", "gopher", ""])
    def test_schemes(self, scheme: str) -> None:
        with pytest.raises(PolicyError, match="Only http"):
            decide(Network([PUBLIC]).egress(), "example.org", scheme=scheme)


class TestNamed:
    def test_an_address_in_another_spelling_and_at_no_other_port(self) -> None:
        egress = Network().egress(("0x7f.1", 8_000))
        assert decide(egress, "127.0.0.1", 8_000).addresses == ("127.0.0.1",)
        for host, port in (
            ("127.0.0.1", 8_001),
            ("127.0.0.2", 8_000),
            ("localhost", 8_000),
            ("[::1]", 8_000),
        ):
            with pytest.raises(PolicyError):
                decide(egress, host, port)

    def test_any_port(self) -> None:
        assert decide(Network().egress(("127.0.0.1", None)), "127.0.0.1", 4_567)

    def test_a_name_in_the_network(self) -> None:
        network = Network([PRIVATE])
        assert decide(network.egress(("intranet", 80)), "intranet").addresses == (PRIVATE,)

    def test_localhost(self) -> None:
        network = Network()
        assert decide(network.egress(("localhost", 80)), "localhost").addresses == ("127.0.0.1", "::1")
        assert not network.asked

    def test_an_url(self) -> None:
        egress = Network().egress()
        egress.name("http://user@127.1:8000/a?b#c")
        egress.name("no address")
        assert decide(egress, "127.0.0.1", 8_000)

    @pytest.mark.parametrize("turns", [([PUBLIC], [PRIVATE]), ([PRIVATE], [PUBLIC])])
    def test_a_name_keeps_to_its_side(self, turns: tuple[list[str], list[str]]) -> None:
        egress = Network(*turns).egress(("turning.test", 80))
        decide(egress, "turning.test")
        with pytest.raises(PolicyError, match="by turns"):
            decide(egress, "turning.test")

    def test_a_name_on_both_versions_at_once(self) -> None:
        with pytest.raises(PolicyError, match="at once") as raised:
            decide(Network([PUBLIC, PRIVATE]).egress(("mixed.test", 80)), "mixed.test")
        assert raised.value.reason == "mixed"

    def test_no_host(self) -> None:
        with pytest.raises(PolicyError, match="not a valid host"):
            Egress(named=[("a b", 80)])


class TestModes:
    def test_private_addresses_where_they_are_allowed(self) -> None:
        network = Network([PUBLIC, PRIVATE])
        egress = network.egress(allow_private=True)
        assert decide(egress, "mixed.test").addresses == (PUBLIC, PRIVATE)
        assert decide(egress, "[fd00::1]").addresses == ("fd00::1",)

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "a.localhost", "[::1]", "2130706433"])
    def test_offline_reaches_this_machine(self, host: str) -> None:
        assert decide(offline(), host)

    @pytest.mark.parametrize("host", ["8.8.8.8", "example.org", "10.0.0.1", "[64:ff9b::7f00:1]", "intranet"])
    def test_offline_reaches_nothing_else(self, host: str) -> None:
        with pytest.raises(PolicyError):
            decide(offline(), host)


@pytest.mark.parametrize(
    ("host", "port", "scheme", "reason"),
    [
        ("10.0.0.7", 80, "http", "private"),
        ("private.test", 80, "http", "private"),
        ("printer.local", 80, "http", "private"),
        ("example.org", 22, "http", "port"),
        ("example.org", 80, "ftp", "scheme"),
        ("a b", 80, "http", "host"),
    ],
)
def test_a_refusal_says_which_rule_it_was(host: str, port: int, scheme: str, reason: str) -> None:
    with pytest.raises(PolicyError) as raised:
        decide(Network([PRIVATE]).egress(), host, port, scheme)
    assert raised.value.reason == reason


@pytest.mark.parametrize("host", ["8.8.8.8", "example.org"])
def test_what_is_elsewhere_is_not_refused_as_private(host: str) -> None:
    with pytest.raises(PolicyError) as raised:
        decide(offline(), host)
    assert raised.value.reason == "elsewhere"


@pytest.mark.parametrize(("fault", "timed_out"), [(TimeoutError, True), (ConnectionRefusedError, False)])
def test_a_server_that_takes_too_long_is_told_from_one_that_refuses(
    fault: type[OSError], *, timed_out: bool
) -> None:
    async def dial(factory: Factory, address: str, port: int) -> asyncio.Transport:
        raise fault

    with pytest.raises(NavigationError) as raised:
        connect(offline(dialer=dial), "127.0.0.1")
    assert raised.value.timed_out is timed_out


@pytest.mark.parametrize(
    ("url", "place"),
    [
        ("http://Example.org", ("example.org", 80)),
        ("https://example.org/a", ("example.org", 443)),
        ("ws://example.org:81", ("example.org", 81)),
        ("http://ok@10.0.0.1/", ("10.0.0.1", 80)),
        ("http:\\\\10.1\\a", ("10.0.0.1", 80)),
        ("http://10.0.0.1\t/", ("10.0.0.1", 80)),
        ("http://[::1]:8/", ("::1", 8)),
        ("ftp://example.org", None),
        ("http://", None),
        ("http://a:99999/", None),
        ("nothing", None),
    ],
)
def test_the_place_of_an_url(url: str, place: tuple[str, int] | None) -> None:
    assert place_of(url) == place


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("127.0.0.1:8000", ("127.0.0.1", 8000)),
        ("127.1", ("127.0.0.1", None)),
        ("Wiki.Example", ("wiki.example", None)),
        ("wiki.example:80", ("wiki.example", 80)),
        ("[::1]:8000", ("::1", 8000)),
        ("[::1]", ("::1", None)),
    ],
)
def test_private_hosts_have_one_spelling(text: str, place: tuple[str, int | None]) -> None:
    assert private_host(text) == place


@pytest.mark.parametrize(
    "text",
    [
        "",
        ":80",
        "a:",
        "a:0",
        "a:65536",
        "a:b",
        "a..b",
        "-",
        "::1",
        "[::1",
        "10.0.0.0/8",
        "*",
        "a@b",
        "http://a",
    ],
)
def test_what_is_no_private_host(text: str) -> None:
    with pytest.raises(UsageError, match="is not a host") as caught:
        private_host(text)
    assert caught.value.parameter == "private_hosts"


@pytest.mark.parametrize("text", ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::127.0.0.1"])
def test_an_address_of_this_machine_is_known_in_every_spelling(text: str) -> None:
    assert _is_own(ip_address(text))
