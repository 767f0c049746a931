"""Addresses, links and routes: one spelling for each page, and what a fragment means."""

import string

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.sampling._page_links import PageLinks, Routing
from domsieve.renderer.sampling._page_urls import Site, joined, normalized
from tests.analysis.pages import page

SITE = Site("https://example.org")


def links(html: str, *, url: str = "https://example.org/dir/page.html") -> list[str]:
    return [*PageLinks.of(parse_html(html.encode(), url=url)).urls]


def anchors(*hrefs: str) -> str:
    return "".join(f"<a href='{href}'>link</a>" for href in hrefs)


def routing(html: str, *, url: str = "https://example.org/") -> tuple[Routing, list[str]]:
    """Return the routing of the site that starts with this page, and the names of the pages it links to."""
    found = PageLinks.of(parse_html(html.encode(), url=url))
    rules = Routing.of(found, url, SITE)
    return rules, [SITE.name(name) for name in rules.pages(found, SITE.page)]


class TestOneSpelling:
    @pytest.mark.parametrize(
        ("url", "spelling"),
        [
            ("HTTPS://Example.ORG", "https://example.org/"),
            ("https://example.org:443/a", "https://example.org/a"),
            ("http://example.org:443/a", "http://example.org:443/a"),
            ("https://example.org./a", "https://example.org/a"),
            ("https://example.org/a/./b/../c/..", "https://example.org/a/"),
            ("https://example.org/../../a", "https://example.org/a"),
            ("https://example.org/%7Ea/%2e%2e/b", "https://example.org/b"),
            ("https://example.org/a%2fb%c3%a9", "https://example.org/a%2Fb%C3%A9"),
            ("https://example.org/é è?q=é", "https://example.org/%C3%A9%20%C3%A8?q=%C3%A9"),
            ("https://example.org/100%", "https://example.org/100%"),
            ("https://example.org/%%341%4%35", "https://example.org/%%341%4%35"),
            ("https://example.org/%25%41", "https://example.org/%25A"),
            ("https://example.org/a?", "https://example.org/a"),
            ("https://example.org/a?b=2&a=1&a=", "https://example.org/a?b=2&a=1&a="),
            ("https://example.org/?url=specs/a.yml", "https://example.org/?url=specs/a.yml"),
            ("https://example.org/?utm_source=x&id=3&gclid=y&FBCLID=z", "https://example.org/?id=3"),
            ("https://example.org/a;jsessionid=0A1B?x=1", "https://example.org/a?x=1"),
            ("https://example.org/?PHPSESSID=0a1b2c&p=1", "https://example.org/?p=1"),
            ("https://example.org/?sid=0123456789abcdef&p=1", "https://example.org/?p=1"),
            ("https://example.org/?sid=42", "https://example.org/?sid=42"),
            ("https://münchen.example/", "https://xn--mnchen-3ya.example/"),
            ("https://faß.example/", "https://xn--fa-hia.example/"),
            ("https://2130706433/", "https://127.0.0.1/"),
            ("http://[::1]:8000/a", "http://[::1]:8000/a"),
            ("https://example.org/#/A b", "https://example.org/#/A%20b"),
            ("https://example.org/\ud800", "https://example.org/%5Cud800"),
        ],
    )
    def test_of_addresses(self, url: str, spelling: str) -> None:
        assert normalized(url) == spelling

    @pytest.mark.parametrize(
        "url",
        [
            "",
            "/a",
            "example.org",
            "mailto:a@example.org",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://",
            "https://user:secret@example.org/",
            "https://example.org:port/",
            "https://example.org:99999/",
            "https://[::1/",
            "https://a..b/",
            "https://exa mple.org/",
            "https://exa\bmple.org/",
            "https://example\x7f.org/",
            f"https://{'a' * 64}.org/",
        ],
    )
    def test_no_addresses_of_pages(self, url: str) -> None:
        assert normalized(url) is None

    @settings(deadline=None)
    @given(st.text(st.characters() | st.sampled_from("/?#%&=.;:@[]\\"), max_size=40))
    def test_is_final(self, text: str) -> None:
        once = normalized(f"https://example.org/{text}")
        assert once is None or (normalized(once) == once and once.isascii())

    @settings(deadline=None)
    @given(st.text(max_size=30), st.text(string.printable, max_size=30))
    def test_any_link_can_be_joined(self, base: str, link: str) -> None:
        normalized(joined(base, link))

    @pytest.mark.parametrize(
        ("link", "url"),
        [
            (" ../a\n", "https://example.org/a"),
            ("\\a\\b?c\\d", "https://example.org/a/b?c\\d"),
            ("a\tb", "https://example.org/dir/ab"),
            ("?x=1", "https://example.org/dir/page?x=1"),
            ("#/x", "https://example.org/dir/page#/x"),
            ("http://[bad", ""),
        ],
    )
    def test_of_links_as_browsers_read_them(self, link: str, url: str) -> None:
        assert joined("https://example.org/dir/page", link) == url


class TestSite:
    @pytest.mark.parametrize(
        ("url", "page"),
        [
            ("http://example.org/a", "https://example.org/a"),
            ("https://example.org/wiki/File:Oak.jpg", "https://example.org/wiki/File:Oak.jpg"),
            ("https://example.org/get.php?file=a.pdf", "https://example.org/get.php?file=a.pdf"),
            ("https://example.org/shop#/a.pdf", "https://example.org/shop#/a.pdf"),
            ("https://example.org/v1.2", "https://example.org/v1.2"),
            ("https://www.example.org/a", None),
            ("https://example.org:8443/a", None),
            ("https://sub.example.org/a", None),
            ("https://example.org.evil.example/a", None),
            ("https://example.org/a.PDF", None),
            ("https://example.org/a.tar.gz?x", None),
            ("https://example.org/a%2Ejpg", None),
            ("https://example.org/" + "a" * 2_000, None),
            ("https://example.org/" + "a/b/c/d/" * 4, None),
            ("https://example.org/" + "/".join(map(str, range(21))), None),
            ("https://example.org/?" + "&".join(f"f{number}=1" for number in range(13)), None),
            ("https://example.org/#/a/a/a/a", None),
        ],
    )
    def test_its_pages(self, url: str, page: str | None) -> None:
        assert SITE.page(url) == page

    @pytest.mark.parametrize(
        ("root", "is_twin"),
        [
            ("http://example.org", True),
            ("https://www.example.org", True),
            ("http://www.example.org:8080", False),
            ("https://example.com", False),
        ],
    )
    def test_its_twins(self, root: str, is_twin: bool) -> None:
        assert SITE.is_twin(Site(root)) == is_twin
        assert Site(root).is_twin(SITE) == is_twin


class TestLinks:
    def test_of_anchors_and_areas(self) -> None:
        html = (
            "<a href=a>a</a><a name=here>b</a><map><area href=/c></map><link rel=next href=d><a href=''>e</a>"
        )
        assert links(html) == [f"https://example.org/{name}" for name in ("dir/a", "c", "dir/page.html")]

    def test_hidden_ones_count(self) -> None:
        assert links("<div hidden><a href=/a>a</a></div>") == ["https://example.org/a"]

    def test_with_a_base(self) -> None:
        assert links("<base href='/other/'><a href=a>a</a><a href='#/x'>x</a>") == [
            "https://example.org/other/a",
            "https://example.org/other/#/x",
        ]

    def test_with_a_base_that_is_none(self) -> None:
        assert links("<base href='data:,x'><a href=a>a</a>") == ["https://example.org/dir/a"]

    def test_in_frames_and_shadow_roots(self) -> None:
        snapshot = page(
            "<div><x-shadow-root><a href='one'>1</a></x-shadow-root></div>"
            "<iframe src='/frames/a.html'><x-document><a href='two'>2</a>"
            "<iframe src='b/'><x-document><a href='three'>3</a></x-document></iframe>"
            "<a href='four'>4</a></x-document></iframe>"
            "<iframe srcdoc='x' src='/no/'><x-document><base href='/base/'><a href='five'>5</a></x-document></iframe>"
            "<a href='six'>6</a>"
        )
        assert [url.removeprefix("https://example.org/") for url in PageLinks.of(snapshot).urls] == [
            "dir/one",
            "frames/two",
            "frames/b/three",
            "frames/four",
            "base/five",
            "dir/six",
        ]

    def test_what_robots_are_asked_not_to_follow(self) -> None:
        assert links(
            "<a rel='NoFollow ugc' href=/a>a</a><a download href=/b>b</a><a rel=follow href=/c>c</a>"
        ) == ["https://example.org/c"]
        assert links("<meta name=robots content='none'><a href=/a>a</a>") == []
        assert len(links("<meta name=robots content='index, follow'><a href=/a>a</a>")) == 1

    def test_only_so_many(self) -> None:
        assert len(links("<a href=/a>a</a>" * 10_500)) == 10_000

    def test_places(self) -> None:
        html = "<p id=a name=b class=c title=id>d</p><a name='e f'>g</a>"
        assert PageLinks.of(parse_html(html.encode(), url="https://example.org/")).places == {"a", "b", "e f"}


class TestRoutes:
    def test_paths_and_bangs_are_pages_everywhere(self) -> None:
        _, names = routing(anchors("#/a", "/b#!/c", "#!d=1", "#e", "/f#g", "#:~:text=h", "#top", "/i#/j#k"))
        assert names == ["/", "/#!d=1", "/#/a", "/b#!/c", "/f", "/i#/j"]

    def test_the_home_route_is_the_page_itself(self) -> None:
        _, names = routing(anchors("#/", "#!/", "#!", "/a#/"))
        assert names == ["/", "/a"]

    def test_one_file_that_holds_all_pages(self) -> None:
        bare = [f"#Page%20{number}" for number in range(6)]
        rules, names = routing(anchors(*bare, "#Top", "#here", "/other") + "<p id=here>here</p>")
        assert rules.has_bare_routes
        assert names == ["/", *(f"/{link}" for link in bare), "/other"]

    @pytest.mark.parametrize(
        "html",
        [
            anchors(*(f"#{number}" for number in range(4))),
            anchors(*(f"#{number}" for number in range(9))) + "".join(f"<p id={n}>x</p>" for n in range(6)),
            anchors(*(f"#{number}" for number in range(9)), *(f"/{number}" for number in range(9))),
            anchors(*(f"#{number}" for number in range(5)), *(f"#/{number}" for number in range(5))),
            anchors(*["#same"] * 9),
            anchors(*(f"/other#{number}" for number in range(9))),
        ],
        ids=["few", "most have a place", "many other pages", "many other routes", "one", "of another page"],
    )
    def test_ordinary_pages_with_places(self, html: str) -> None:
        rules, names = routing(html)
        assert not rules.has_bare_routes
        assert not any("#" in name and "#/" not in name for name in names)

    def test_places_on_routes(self) -> None:
        html = "<h2 id='set up'>Set-up</h2>" + anchors(
            "#/?id=set%20up", "#/guide?id=x&a=1", "#/guide?a=1&id=x"
        )
        rules, names = routing(html, url="https://example.org/#/")
        assert rules.has_route_places
        assert names == ["/", "/#/guide?a=1"]

    def test_ids_that_name_pages(self) -> None:
        rules, names = routing("<p id=footer>x</p>" + anchors("#/product?id=1", "#/product?id=2", "#/?id=3"))
        assert not rules.has_route_places
        assert names == ["/#/?id=3", "/#/product?id=1", "/#/product?id=2"]

    def test_the_page_reached_counts(self) -> None:
        snapshot = parse_html(b"<p id=1>x</p><a href='#/r?id=1'>a</a>", url="https://example.org/")
        provenance = msgspec.structs.replace(snapshot.provenance, final_url="https://example.org/app#/r")
        found = PageLinks.of(
            parse_html(b"<p id=1>x</p><a href='/app#/r?id=1'>a</a>", url="https://example.org/")
        )
        assert Routing.of(found, provenance.final_url, SITE).has_route_places
        assert not Routing.of(found, "https://example.org/app#/q", SITE).has_route_places
