"""What of a page reaches the Snapshot: shadow trees, frames, generated text, hidden parts, form fields."""

from collections.abc import Iterator

import numpy as np
import pytest

from domsieve.options import CaptureOptions
from domsieve.snapshot.page import JSON_LD, LONGEST_JSON_LD, Kind
from tests.renderer.bad_server import Server, send, serving
from tests.renderer.conftest import Studio
from tests.renderer.reading import node, nodes, outline, visible_text

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def other_server() -> Iterator[Server]:
    with serving() as server:
        yield server


def test_plain_page_has_provenance_and_source(studio: Studio) -> None:
    html = "<!doctype html><meta charset=utf-8><title>T</title><p>Grüße</p>"
    rendering = studio.show(html)
    page, origin = rendering.snapshot, rendering.snapshot.provenance
    assert outline(page) == "#document(html(head(meta title('T')) body(p('Grüße'))))"
    assert rendering.source == html.encode()
    assert origin.url == origin.final_url == studio.server.url("/shown")
    assert (origin.status, origin.content_type, origin.encoding) == (200, "text/html; charset=utf-8", "UTF-8")
    assert origin.browser.partition("/")[2][:1].isdigit()
    assert origin.build in ("headless-shell", "full")
    assert origin.requests >= 1
    assert origin.transferred_bytes > len(html)
    assert set(origin.timings_ms) == {"navigate", "settle", "capture", "convert"}
    assert origin.options == CaptureOptions().canonical()


def test_of_scripts_only_what_the_page_says_of_itself_is_kept(studio: Studio) -> None:
    long = "a" * (LONGEST_JSON_LD + 1)
    page = studio.show(
        '<script type="Application/LD+JSON; x=y">{"@type": "Article"}</script><p>ok</p><script>var code</script>'
        f"<script type=application/ld+json>{long}</script>"
    ).snapshot
    said = [page.attributes(n).get(JSON_LD) for n in range(len(page)) if page.tag_name(n) == "script"]
    assert said == ['{"@type": "Article"}', None, None]
    assert not [text for text in page.strings.to_list() if "var code" in text or "aaa" in text]


def test_same_page_gives_the_same_columns(studio: Studio) -> None:
    html = "<p class=a>x<b>y</b></p><ul><li>1<li>2</ul>"
    assert studio.show(html).snapshot.digest() == studio.show(html).snapshot.digest()


def test_styles_and_boxes(studio: Studio) -> None:
    page = studio.show(
        "<!doctype html><body style='margin:0'><p style='margin:0;height:30px;width:200px;"
        "border-left:2px solid red;font-weight:700'>x</p>"
    ).snapshot
    paragraph = node(page, "p")
    assert page.box[paragraph].tolist() == [0, 0, 202, 30]
    style = page.computed_style(paragraph)
    assert style["display"] == "block"
    assert style["font-weight"] == "700"
    assert style["border-left"] == "2px solid rgb(255, 0, 0)"
    assert style["border-right"].startswith("0px none")
    text = paragraph + 1
    assert page.computed_style(text)["font-weight"] == "700"
    assert page.box[text, 2] > 0
    assert page.paint[paragraph] >= 0


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_slotted_children_stand_where_they_are_shown(studio: Studio, mode: str) -> None:
    page = studio.show(
        "<div id=h>light<em slot=late>late</em><i slot=nowhere>unseen</i></div><script>"
        f"h.attachShadow({{mode: '{mode}'}}).innerHTML = "
        "'<b>before</b><slot></slot><u>between</u><slot name=late></slot><slot name=no>fallback</slot>'</script>"
    ).snapshot
    assert visible_text(page) == "before light between late fallback"
    assert outline(page, node(page, "div")) == (
        "div(b('before') slot('light') u('between') slot(em('late')) slot('fallback'))"
    )


def test_declarative_shadow_tree(studio: Studio) -> None:
    page = studio.show("<div><template shadowrootmode=closed><p>inside <slot></slot></p></template>out</div>")
    assert visible_text(page.snapshot) == "inside out"


def test_frames_are_captured_in_place(studio: Studio, other_server: Server) -> None:
    other_server.pages["/foreign"] = "<body style='margin:0'><p style='margin:0'>foreign</p>"
    studio.server.pages["/near"] = (
        f"<!doctype html><p>near</p><iframe src='{other_server.url('/foreign')}'></iframe>"
    )
    page = studio.show(
        "<!doctype html><body style='margin:0'><h1 style='margin:0;height:50px'>top</h1>"
        "<iframe src=/near style='border:3px solid;padding:5px;display:block'></iframe>"
        "<iframe sandbox srcdoc='<p>boxed</p>'></iframe><iframe srcdoc='<p>hidden</p>' hidden></iframe><p>end</p>"
    ).snapshot
    assert visible_text(page) == "top near foreign boxed end"
    documents = nodes(page, "#document")
    assert [page.kind[document] for document in documents] == [Kind.DOCUMENT] * 5
    assert [page.tag_name(int(page.parent[document])) for document in documents[1:]] == ["iframe"] * 4
    near = nodes(page, "p")[0]
    assert page.text_of(near + 1) == "near"
    assert page.box[near, :2].tolist() == [8 + 8, 50 + 8 + 16]
    inner = next(number for number in nodes(page, "iframe") if page.box[number, 0] > 8)
    foreign = next(number for number in nodes(page, "p") if page.text_of(number + 1) == "foreign")
    # The inner frame has Chrome's border of 2 px.
    np.testing.assert_array_equal(page.box[foreign, :2], page.box[inner, :2] + 2)


def test_frames_of_their_own_process_are_captured(studio: Studio, other_server: Server) -> None:
    isolated = {"Origin-Agent-Cluster": "?1"}
    other_server.pages["/alone"] = lambda handler: send(handler, b"<p>alone</p>", headers=isolated)
    page = studio.show(f"<p>top</p><iframe src='{other_server.url('/alone')}'></iframe>").snapshot
    assert visible_text(page) == "top alone"


def test_generated_text_stands_in_reading_order(studio: Studio) -> None:
    page = studio.show(
        "<style>p::before{content:'A' attr(title)} p::after{content:'Z'} h1::first-letter{color:red}</style>"
        "<p title=B>m<q>c</q></p><ol><li>one</ol><h1>big</h1>"
    ).snapshot
    assert (
        outline(page, node(page, "p"))
        == "p(::before('AB') 'm' q(::before('“') 'c' ::after('”')) ::after('Z'))"
    )
    assert outline(page, node(page, "ol")) == "ol(li(::marker('1. ') 'one'))"
    page_of_items = studio.show(
        "<style>b::before, b::after, i::after{display:list-item;content:'A'}</style><p><b>m<i>n</i></b></p>"
    ).snapshot
    marker = "::marker('• ')"
    assert (
        outline(page_of_items, node(page_of_items, "p"))
        == f"p(b(::before('A' {marker}) 'm' i('n' ::after('A' {marker})) ::after('A' {marker})))"
    )
    assert outline(page, node(page, "h1")) == "h1('big')"
    before = nodes(page, "::before")[0]
    assert page.kind[before] == Kind.PSEUDO
    assert page.boxed()[before]
    assert page.boxed()[before + 1]


def test_parts_without_a_box(studio: Studio) -> None:
    page = studio.show(
        "<div style='display:none'><i>none</i></div><div style='display:contents'><b>contents</b></div>"
        "<details><summary>s</summary><u>closed</u></details><p style='visibility:hidden'>unseen</p>"
        "<template><s>template</s></template>"
    ).snapshot
    rendered, boxed = page.rendered(), page.boxed()
    none, contents = nodes(page, "div")
    assert not rendered[none]
    assert rendered[contents]
    assert not boxed[contents]
    assert not rendered[node(page, "u")]
    assert boxed[node(page, "p")]
    assert page.computed_style(node(page, "p"))["visibility"] == "hidden"
    assert nodes(page, "s") == []
    assert np.isnan(page.box[none]).all()
    assert page.paint[none] == -1


def test_source_code_comments_and_collapsed_space_are_dropped(studio: Studio) -> None:
    page = studio.show(
        "<!doctype html><!-- c --><style>p{color:red}</style><script type=application/json>{}</script>\n\n"
        "<p>\n <b>a</b> <b>b</b>\n</p><svg viewBox='0 0 1 1'><style>g{}</style><linearGradient/></svg>"
    ).snapshot
    assert outline(page) == (
        "#document(html(head(style script) body(p(b('a') ' ' b('b')) svg(style lineargradient))))"
    )
    assert page.attributes(node(page, "svg")) == {"viewbox": "0 0 1 1"}


def test_fields_have_the_values_they_show_except_passwords(studio: Studio) -> None:
    page = studio.show(
        "<form name=scripts></form><form name=createTreeWalker></form>"
        "<input id=a value=old><input id=b type=password><textarea id=c></textarea><input type=checkbox checked>"
        "<script>a.value = 'new'; b.value = 'secret'; c.value = 'typed'</script>"
    ).snapshot
    text, password, box = nodes(page, "input")
    assert page.attributes(text) == {"id": "a", "value": "new"}
    assert page.attributes(password) == {"id": "b", "type": "password"}
    assert page.attributes(box) == {"type": "checkbox", "checked": ""}
    assert page.attributes(node(page, "textarea")) == {"id": "c", "value": "typed"}


def test_page_that_patches_everything(studio: Studio) -> None:
    page = studio.show(
        "<p>ok</p><script>"
        "const fail = () => { throw new Error('patched') };"
        "JSON.stringify = JSON.parse = fail; window.Map = window.Set = window.Promise = fail;"
        "Array.prototype.push = Array.prototype.some = Array.prototype.map = fail; Function.prototype.call = fail;"
        "window.MutationObserver = window.performance = window.setTimeout = undefined; Reflect.get = fail;"
        "Document.prototype.createTreeWalker = EventTarget.prototype.addEventListener = fail;"
        "Object.defineProperty(Node.prototype, 'childNodes', { get: fail });"
        "Object.prototype.toJSON = fail;"
        "document.body.append('still here')</script>"
    ).snapshot
    assert page.provenance.complete
    assert visible_text(page) == "ok still here"


def test_half_a_surrogate_pair(studio: Studio) -> None:
    page = studio.show(
        "<p id=p></p><script>p.textContent = 'a\\ud800b'; p.title = '\\udc00'</script>"
    ).snapshot
    assert visible_text(page) == "a\ufffdb"
    assert page.attributes(node(page, "p"))["title"] == "\ufffd"


@pytest.mark.parametrize(
    ("encoding", "label"),
    [("cp1252", "windows-1252"), ("gbk", "gb2312"), ("shift_jis", "shift_jis"), ("koi8_r", "koi8-r")],
)
def test_source_has_the_bytes_that_were_sent(studio: Studio, encoding: str, label: str) -> None:
    words = {"cp1252": "café €", "gbk": "中文", "shift_jis": "日本", "koi8_r": "мир"}[encoding]
    body = f"<meta charset={label}><p>{words}</p>".encode(encoding)
    studio.server.pages["/coded"] = lambda handler: send(handler, body, headers={"Content-Type": "text/html"})
    rendering = studio.render("/coded")
    assert visible_text(rendering.snapshot) == words
    assert rendering.source == body


def test_undeclared_utf8_source_stays_readable(studio: Studio) -> None:
    body = b"\xef\xbb\xbf<p>caf\xc3\xa9</p>"
    studio.server.pages["/coded"] = lambda handler: send(handler, body, headers={"Content-Type": "text/html"})
    assert studio.render("/coded").source == body


def test_routes_behind_the_hash_are_pages_of_their_own(studio: Studio) -> None:
    studio.server.pages["/app"] = (
        "<main id=m></main><script>m.textContent = 'route ' + location.hash</script>"
    )
    for route in ("#/a", "#/b"):
        rendering = studio.render(f"/app{route}")
        assert visible_text(rendering.snapshot) == f"route {route}"
        assert rendering.snapshot.provenance.final_url == studio.server.url(f"/app{route}")
        assert rendering.source
        assert b"route" in rendering.source


def test_redirects_by_server_and_page_lead_to_the_last_address(studio: Studio) -> None:
    studio.server.pages["/moved"] = lambda handler: send(
        handler, b"", status=301, headers={"Location": "/there"}
    )
    studio.server.pages["/there"] = "<meta http-equiv=refresh content='0;url=/good'>"
    rendering = studio.render("/moved")
    assert rendering.snapshot.provenance.url == studio.server.url("/moved")
    assert rendering.snapshot.provenance.final_url == studio.server.url("/good")
    assert visible_text(rendering.snapshot) == "Good page It behaves."
    assert rendering.source
    assert b"Good page" in rendering.source


def test_options_reach_the_browser(studio: Studio) -> None:
    def echo(handler: object) -> None:
        headers = handler.headers  # type: ignore[attr-defined]
        said = [headers["User-Agent"], headers["X-Trial"], headers["Cookie"], headers["Accept-Language"]]
        send(handler, f"<p>{'|'.join(map(str, said))}|<b id=w></b>".encode() + script)  # type: ignore[arg-type]

    script = b"<script>w.textContent = innerWidth + 'x' + innerHeight</script>"
    studio.server.pages["/echo"] = echo
    options = CaptureOptions(
        viewport_px=(800, 600),
        user_agent="trial/1",
        headers=(("X-Trial", "yes"),),
        cookies=(("c", "1"),),
        locale="de-DE",
        images=False,
    )
    text = visible_text(studio.render("/echo", options).snapshot)
    assert text == "trial/1|yes|c=1|de-DE| 800x600"


def test_line_breaks_between_elements_of_preformatted_text_are_kept(studio: Studio) -> None:
    page = studio.show("<!doctype html><div> <p>x</p>\n</div><pre><b>one</b>\n<i>two</i></pre>").snapshot
    assert outline(page, node(page, "body")) == "body(div(p('x')) pre(b('one') '\\n' i('two')))"
