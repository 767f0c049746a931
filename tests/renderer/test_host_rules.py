"""Lists of hosts: what a rule is for, and that requests of every kind obey, up to those of the command line."""

import asyncio
import json
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import get_args

import pytest

from domsieve.errors import PolicyError, UsageError
from domsieve.renderer.network.addresses import HostRules
from domsieve.renderer.network.egress import Egress, Factory
from domsieve.renderer.network.upstream import Upstream
from domsieve.renderer.protocol import Rendering
from domsieve.renderer.renderer import Renderer
from domsieve.renderer.sampling._fetch import fetch
from domsieve.types import DriverName
from examples.loopback import LoopbackServer, QuietHandler, running
from tests.command import process, run
from tests.renderer.bad_server import send

PUBLIC, OTHER = "93.184.216.34", "2606:4700::1"


@dataclass
class Names:
    """Answers for names and notes which were asked for; dials this machine, whatever the address."""

    answers: Collection[str] = (PUBLIC,)
    asked: list[str] = field(default_factory=list)

    async def resolve(self, host: str, port: int) -> Collection[str]:  # noqa: ARG002
        self.asked.append(host)
        if not self.answers:
            raise OSError("no such name")
        return self.answers

    async def dial(self, factory: Factory, address: str, port: int) -> asyncio.Transport:  # noqa: ARG002
        transport, _ = await asyncio.get_running_loop().create_connection(factory, "127.0.0.1", port)
        return transport

    def egress(self, *, deny: Collection[str] = (), allow: Collection[str] = ()) -> Egress:
        return Egress(rules=HostRules.of(deny, allow), resolver=self.resolve, dialer=self.dial)


def refusal(egress: Egress, host: str, port: int = 80) -> PolicyError | None:
    try:
        asyncio.run(egress.decide("http", host, port))
    except PolicyError as error:
        return error
    return None


@pytest.mark.parametrize(
    ("rule", "host", "is_meant"),
    [
        ("ads.test", "ads.test", True),
        ("Ads.Test.", "aDS.tEST", True),
        ("ads.test", "ads.test.", True),
        ("ads.test", "%61ds.test", True),
        ("ads.test", "ａds。test", True),
        ("ads.test", "a.ads.test", False),
        ("ads.test", "bads.test", False),
        ("ads.test", "ads.test.example", False),
        ("*.ads.test", "a.ads.test", True),
        ("*.ads.test", "A.b.Ads.test.", True),
        ("*.ads.test", "ads.test", False),
        ("*.ads.test", "bads.test", False),
        ("bücher.test", "xn--bcher-kva.test", True),
        ("xn--bcher-kva.test", "BÜCHER.test", True),
        ("*.bücher.test", "a.xn--bcher-kva.test", True),
        ("faß.test", "xn--fa-hia.test", True),
        ("faß.test", "FAß.test", True),
        ("faß.test", "fass.test", False),
        ("fass.test", "faß.test", False),
        ("8.8.8.8", "8.8.8.8", True),
        ("8.8.8.8", "134744072", True),
        ("8.8.8.8", "0x8.8.2056", True),
        ("010.8.8.8", "8.8.8.8", True),
        ("8.8.8.8", "[::ffff:8.8.8.8]", True),
        ("::ffff:8.8.8.8", "8.8.8.8", True),
        ("[::ffff:808:808]", "[::ffff:8.8.8.8]", True),
        ("::ffff:8.8.8.0/120", "8.8.8.9", True),
        ("::ffff:8.8.8.0/120", "8.8.9.9", False),
        (f"::ffff:{PUBLIC}", "named.test", True),
        ("8.8.8.8", "[64:ff9b::8.8.8.8]", True),
        ("8.8.8.0/24", "8.8.8.9", True),
        ("8.8.8.0/24", "8.8.9.8", False),
        ("2606:4700::/32", "[2606:4700::2]", True),
        ("[2606:4700::2]", "[2606:4700:0::2]", True),
        ("2606:4700::/32", "8.8.8.8", False),
        (f"{PUBLIC}/31", "named.test", True),
        (OTHER, "named.test", True),
        ("8.8.8.8", "named.test", False),
    ],
)
def test_a_rule_is_for_a_host_in_every_spelling_and_at_every_port(
    rule: str, host: str, *, is_meant: bool
) -> None:
    for port in (80, 8443):
        denied = refusal(Names((PUBLIC, OTHER)).egress(deny=[rule]), host, port)
        assert (denied is not None) is is_meant
        if denied:
            assert denied.reason == "denied"
            assert denied.message.endswith(f" is on the deny list: {rule}.")


def test_where_some_are_allowed_no_others_are() -> None:
    egress = Names().egress(allow=["site.test", "*.site.test", "8.8.8.0/24", "9.9.9.9"])
    for host in ("site.test", "Img.Site.test.", "8.8.8.8", "0x09.9.9.9"):
        assert refusal(egress, host) is None
    mapped = Names().egress(allow=["::ffff:8.8.8.8"])
    assert refusal(mapped, "8.8.8.8") is None
    assert refusal(mapped, "[::ffff:8.8.8.8]") is None
    for host in ("other.test", "8.8.4.4", "mysite.test"):
        told = refusal(egress, host)
        assert told
        assert told.reason == "not_allowed"
        assert told.message == (
            f"{host} is not on the allow list: site.test, *.site.test, 8.8.8.0/24 and 1 more."
        )


def test_a_name_is_allowed_by_its_addresses_only_if_all_of_them_are() -> None:
    allow = [PUBLIC]
    assert refusal(Names((PUBLIC,)).egress(allow=allow), "named.test") is None
    assert refusal(Names((PUBLIC, OTHER)).egress(allow=allow), "named.test")


def test_one_denied_address_among_others_refuses_a_name() -> None:
    assert refusal(Names((PUBLIC, OTHER)).egress(deny=[OTHER]), "named.test")


def test_the_deny_list_goes_before_the_allow_list() -> None:
    egress = Names().egress(deny=["ads.site.test"], allow=["*.site.test"])
    assert refusal(egress, "img.site.test") is None
    denied = refusal(egress, "ads.site.test")
    assert denied
    assert denied.reason == "denied"


def test_nobody_is_asked_for_a_name_that_is_refused() -> None:
    names = Names()
    assert refusal(names.egress(deny=["*.ads.test"]), "a.ads.test")
    assert refusal(names.egress(allow=["site.test"]), "ads.test")
    assert not names.asked


def test_the_lists_hold_for_private_hosts_and_open_none() -> None:
    assert (error := refusal(Egress(rules=HostRules.of(allow=["10.0.0.7"])), "10.0.0.7"))
    assert error.reason == "private"
    named = [("10.0.0.7", None)]
    assert refusal(Egress(named=named), "10.0.0.7") is None
    assert refusal(Egress(named=named, rules=HostRules.of(deny=["10.0.0.0/8"])), "10.0.0.7")
    assert refusal(Egress(named=named, rules=HostRules.of(allow=["site.test"])), "10.0.0.7")
    everything = Egress(allow_private=True, rules=HostRules.of(deny=["localhost"]))
    assert refusal(everything, "localhost")
    assert refusal(everything, "127.0.0.1") is None


def test_a_name_that_is_left_to_a_proxy_obeys_the_rules_for_names() -> None:
    def through_proxy(*, deny: Collection[str] = (), allow: Collection[str] = ()) -> Egress:
        rules, names = HostRules.of(deny, allow), Names(())
        proxy = Upstream("127.0.0.1", 3128)
        return Egress(rules=rules, resolver=names.resolve, upstreams=lambda *_: proxy)

    assert refusal(through_proxy(deny=["8.8.8.8"]), "unknown.test") is None, "its address is not known here"
    assert refusal(through_proxy(deny=["unknown.test"]), "unknown.test")
    assert refusal(through_proxy(allow=["8.8.8.8"]), "unknown.test")
    assert refusal(through_proxy(allow=["unknown.test"]), "unknown.test") is None


@pytest.mark.parametrize(
    "text",
    ["", "*", "*.", "*.8.8.8.8", "a:80", "[::1]:80", "http://a.test", "a b", "a..b", "ads.*.test", "::1%2"],
)
def test_what_is_no_rule_is_refused_with_the_forms_there_are(text: str) -> None:
    for how, parameter in (({"deny": [text]}, "deny_hosts"), ({"allow": [text]}, "allow_hosts")):
        with pytest.raises(UsageError, match=r"is not a (host|network)") as caught:
            HostRules.of(**how)
        assert caught.value.parameter == parameter


@pytest.mark.parametrize("text", ["8.8.8.8/24", "8.8.8.8/33", "a.test/24", "8.8.8.0/", "/"])
def test_what_is_no_network_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not a network"):
        HostRules.of([text])


PAGE = """<!doctype html><title>Page</title><p>Words of the page.</p>
<link rel=stylesheet href=http://{ads}/css><script src=http://{ads}/script></script>
<img src=http://{ads}/img><img src=/redirect><iframe src=http://{ads}/frame></iframe>
<script>fetch("http://{ads}/fetch", {{mode: "no-cors"}}).catch(() => 0);
new WebSocket("ws://{ads}/socket");
new Worker(URL.createObjectURL(new Blob(["fetch('http://{ads}/worker', {{mode: 'no-cors'}})"])));</script>"""


@dataclass
class Site:
    """A site on loopback that answers for every name, and the hosts that it was asked for."""

    port: int
    hosts: set[str] = field(default_factory=set)
    ads: str = "ads.test"
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def url(self, path: str, host: str = "site.test") -> str:
        return f"http://{host}:{self.port}{path}"

    def answer(self, handler: BaseHTTPRequestHandler) -> None:
        with self._lock:
            self.hosts.add(handler.headers["Host"].rpartition(":")[0])
        if handler.path in {"/redirect", "/robots.txt"}:
            send(handler, b"", status=302, headers={"Location": self.url("/away", self.ads)})
        else:
            send(handler, PAGE.format(ads=f"{self.ads}:{self.port}").encode())


@contextmanager
def served(ads: str = "ads.test") -> Iterator[Site]:
    class Handler(QuietHandler):
        def do_GET(self) -> None:
            site.answer(self)

    with running(LoopbackServer(Handler)) as http:
        site = Site(http.server_port, ads=ads)
        yield site


@pytest.mark.browser
@pytest.mark.parametrize("driver", get_args(DriverName))
def test_what_pages_ask_for_and_where_they_lead_obeys(driver: DriverName) -> None:
    async def render(egress: Egress, *urls: str) -> list[Rendering | PolicyError]:
        outcomes: list[Rendering | PolicyError] = []
        async with Renderer(egress=egress, driver=driver) as renderer:
            for url in urls:
                try:
                    outcomes.append(await renderer.render(url))
                except PolicyError as error:
                    outcomes.append(error)
        return outcomes

    for how, said in (
        ({"deny": ["8.8.8.8", "ads.test"]}, "ads.test is on the deny list: ads.test."),
        ({"allow": ["Site.test"]}, "ads.test is not on the allow list: Site.test."),
    ):
        with served() as site:
            page, led = asyncio.run(render(Names().egress(**how), site.url("/"), site.url("/redirect")))
            assert isinstance(page, Rendering)
            assert page.snapshot.provenance.refused == (f"ads.test:{site.port}: {said}",)
            assert isinstance(led, PolicyError)
            assert led.message == f"It redirected to {site.url('/away', 'ads.test')}: {said}"
            assert site.hosts == {"site.test"}
    with served() as site:  # the probes do reach it where nothing hinders them
        page, _ = asyncio.run(render(Names().egress(), site.url("/"), site.url("/redirect")))
        assert site.hosts == {"site.test", "ads.test"}


def test_files_of_a_site_obey() -> None:
    with served(ads="www.site.test") as site:
        for how in ({"deny": ["www.site.test"]}, {"allow": ["site.test"]}):
            egress = Names().egress(**how)
            with pytest.raises(PolicyError, match=r"www\.site\.test is"):
                asyncio.run(fetch(site.url("/sitemap.xml", "www.site.test"), max_bytes=99, egress=egress))
            answer = asyncio.run(fetch(site.url("/robots.txt"), max_bytes=99, egress=egress))
            assert (answer.status, answer.body) == (403, b""), "it redirects to the other name"
        assert site.hosts == {"site.test"}


@pytest.mark.browser
def test_the_command_line_obeys_and_names_the_rule(tmp_path: Path) -> None:
    with served(ads="localhost") as site:
        url = site.url("/", "127.0.0.1")
        done = process("render", url, "--allow-private", "--deny-host", "LOCALHOST.", cache=tmp_path / "a")
        assert done.returncode == 0, done
        shown = run("cache", "show", done.stdout.split()[0].decode(), "--json", cache=tmp_path / "a")
        assert json.loads(shown.stdout)["provenance"]["refused"] == [
            f"localhost:{site.port}: localhost is on the deny list: LOCALHOST.."
        ]
        for command in ("render", "site"):
            done = process(command, url, "--allow-host", "localhost", cache=tmp_path / "b")
            assert done.returncode == 3
            assert b"127.0.0.1 is not on the allow list: localhost." in done.stderr
        assert site.hosts == {"127.0.0.1"}


@pytest.mark.parametrize("command", ["render", "login", "serve"])
@pytest.mark.parametrize("option", ["--deny-host", "--allow-host"])
def test_a_wrong_rule_is_refused_before_anything_starts(command: str, option: str, tmp_path: Path) -> None:
    words: dict[str, list[str | Path]] = {
        "render": ["http://site.test/"],
        "login": ["http://site.test/", "-o", tmp_path / "state"],
        "serve": ["--port", "0", "--data", tmp_path / "data"],
    }
    done = run(command, *words[command], option, "a.test:80", cache=tmp_path)
    assert done.exit_code == 2
    assert f"{option}: 'a.test:80' is not a host: write NAME, *.NAME" in done.stderr
    assert not (tmp_path / "data").exists()
