"""Walls and soft 404s are marked; pages that speak of them are not."""

from dataclasses import replace

import msgspec
import pytest

from domsieve.analysis.page_flags.flags import described, page_marks
from domsieve.analysis.page_flags.wall_phrases import (
    CONSENT,
    CONSENT_TOPIC,
    LOGIN,
    NOT_FOUND,
    PAY,
    ROBOT,
    folded,
)
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.snapshot.page import Snapshot

MENU = "<ul>" + "<li><a href=/x>Part of the site</a></li>" * 20 + "</ul>"
ARTICLE = "<p>" + "The river rose by a metre in the night and fell again before noon. " * 40 + "</p>"


def page(html: str, status: int | None = None) -> Snapshot:
    parsed = parse_html(html.encode(), url="http://example.org/")
    return replace(parsed, provenance=msgspec.structs.replace(parsed.provenance, status=status))


def kinds(html: str, status: int | None = None) -> list[str]:
    return [mark.kind for mark in page_marks(page(html, status))]


@pytest.mark.parametrize(
    "html",
    [
        "<title>Just a moment...</title><h1>a.example</h1><p>Checking your browser before accessing a.example.</p>",
        "<title>Attention Required! | Cloudflare</title><h1>Sorry, you have been blocked</h1>",
        "<p>Our systems have detected unusual traffic from your computer network.</p>",
        "<label><input type=checkbox> I'm not a robot</label>",
        "<p>Bitte bestätigen Sie, dass Sie ein Mensch sind.</p>",
        "<p>Vérifiez que vous êtes humain</p>",
        "<p>私はロボットではありません</p>",
        "<p>请完成安全验证后继续访问</p>",
    ],
)
def test_robot_walls(html: str) -> None:
    assert kinds(html) == ["robot_wall"]


@pytest.mark.parametrize(
    "html",
    [
        "<h1>Before you continue</h1><p>We use cookies and data to deliver services.</p>"
        "<button>Reject all</button><button>Accept all</button>",
        "<h2>Datenschutz</h2><p>Wir und unsere 742 Partner verarbeiten personenbezogene Daten, etwa für Werbung.</p>"
        "<button>Alle akzeptieren</button>",
        "<p>Nous et nos partenaires utilisons des traceurs.</p><a href=#>Continuer sans accepter</a>",
        f"{MENU}<p>Używamy plików cookies zgodnie z polityką prywatności.</p><button>Przejdź do serwisu</button>",
    ],
)
def test_consent_walls(html: str) -> None:
    assert kinds(html) == ["consent_wall"]


@pytest.mark.parametrize(
    "html",
    [
        f"{MENU}<form><p>Welcome back</p><input name=u><input type=password name=p><button>Go</button></form>",
        "<p>You must be logged in to view this thread.</p>",
        "<p>Bitte melden Sie sich an.</p>",
        "<p>Veuillez vous connecter.</p>",
        "<p>请先登录</p>",
    ],
)
def test_login_walls(html: str) -> None:
    assert kinds(html) == ["login_wall"]


@pytest.mark.parametrize(
    "html",
    [
        f"{MENU}<h1>Minister resigns</h1><p>In a letter the minister</p><p>Subscribe to continue reading.</p>",
        "<h1>Hochwasser</h1><p>Der Pegel stieg.</p><p>Dieser Artikel ist nur für Abonnenten.</p>",
        "<p>Réservé aux abonnés</p>",
        "<p>この記事は有料会員限定です。</p>",
    ],
)
def test_pay_walls(html: str) -> None:
    assert kinds(html) == ["pay_wall"]


@pytest.mark.parametrize(
    "html",
    [
        f"<title>Page not found | Example</title>{MENU}<p>Try the search.</p>",
        f"<title>Example</title>{MENU}<h1>404</h1><p>Sorry.</p>",
        "<h1>Seite nicht gefunden</h1><p>Die Seite gibt es nicht mehr.</p>",
        "<title>Blog – Page introuvable</title><p>Retour</p>",
        "<h1>Oops! That page can’t be found.</h1>",
        "<h1>ページが見つかりません</h1>",
    ],
)
def test_soft_404s(html: str) -> None:
    assert kinds(html) == ["soft_404"]
    assert kinds(html, 200) == ["soft_404"]
    assert kinds(html, 404) == []


@pytest.mark.parametrize(
    "html",
    [
        f"<title>How to design a page not found page</title><h1>The art of the 404 page</h1>{ARTICLE}",
        f"<h1>Not found</h1>{ARTICLE}",
        f"<h1>Bots</h1>{ARTICLE}<p>Then it asks you to verify you are human.</p>",
        f"<h1>News</h1>{ARTICLE}<form><input type=password></form>",
        f"<h1>News</h1>{ARTICLE}<div><p>We and our partners use cookies.</p><button>Accept all</button></div>",
        f"<h1>News</h1>{ARTICLE}<p>Already a subscriber?</p>",
        "<h1>Peak 404</h1><p>A hill of 404 metres.</p>",
        "<p>The cookie recipe of my aunt.</p><p>Mix flour with sugar.</p><button>Accept</button><p>Bake it.</p>",
        "<p hidden>Please log in</p><p>Words that are shown.</p>",
        "<input type=password hidden><p>Words that are shown.</p>",
        "",
    ],
)
def test_pages_that_speak_of_it_have_no_mark(html: str) -> None:
    assert kinds(html) == []


def test_the_status_tells_of_login_and_pay() -> None:
    assert kinds("<p>Hello</p>", 401) == ["login_wall"]
    assert kinds("<p>Hello</p>", 402) == ["pay_wall"]
    assert kinds("<p>Please log in</p>", 401) == ["login_wall"]


def test_a_mark_has_the_words_that_tell() -> None:
    [mark] = page_marks(page("<p>You must be logged in.</p>"))
    assert described(mark) == "a login (you must be logged in)"


def test_phrases_are_folded_and_each_says_something() -> None:
    for phrases in (CONSENT, CONSENT_TOPIC, LOGIN, NOT_FOUND, PAY, ROBOT):
        found = folded(phrases)
        assert len(found) > 50
        assert all(phrase == " ".join(phrase.lower().split()) for phrase in found)
