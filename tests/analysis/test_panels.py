"""Hidden panels of raw pages: those that a visible control opens are content, all others stay hidden."""

import pytest

import domsieve
from domsieve.analysis.columns.visible import in_closed_panels, shown_nodes
from domsieve.renderer.html_parser.parser import parse_html
from tests.analysis.pages import page as laid_out

PANEL = "<div id=p {}>secret</div>"
HIDDEN = PANEL.format("hidden")
TAB_PANEL = PANEL.format('role=tabpanel aria-labelledby="a b" hidden')
OPENED = {
    "button": f"<button aria-controls='x p'>Show</button>{HIDDEN}",
    "inline style": f"<button aria-controls=p>Show</button>{PANEL.format('style=display:none')}",
    "until found": f"<button aria-controls=p>Show</button>{PANEL.format('hidden=until-found')}",
    "no popup": f"<button aria-controls=p aria-haspopup=false>Show</button>{HIDDEN}",
    "target": f"<b data-bs-toggle=collapse data-bs-target='#p'>Show</b>{HIDDEN}",
    "old target": f"<b data-toggle=collapse data-target='#p'>Show</b>{HIDDEN}",
    "link": f"<a data-toggle=tab href='#p'>Show</a>{HIDDEN}",
    "tab": f"<b role=tab id='a b'>Show</b>{TAB_PANEL}",
    "tab in navigation": f"<nav><a role=tab aria-controls=p>Show</a></nav>{HIDDEN}",
    "after the panel": f"{HIDDEN}<button aria-controls=p>Show</button>",
}
CLOSED = {
    "no control": HIDDEN,
    "class alone": f"<button>Show</button>{PANEL.format('class=accordion-content hidden')}",
    "control without text": f"<button aria-controls=p></button>{HIDDEN}",
    "hidden control": f"<button hidden aria-controls=p>Show</button>{HIDDEN}",
    "hidden text in the control": f"<button aria-controls=p><i hidden>Show</i></button>{HIDDEN}",
    "control in the panel": "<div id=p hidden><button aria-controls=p>Hide</button>secret</div>",
    "link to the place": f"<a href='#p'>Show</a>{HIDDEN}",
    "empty id": "<a data-toggle=tab>Show</a><div id='' hidden>secret</div>",
    "modal": f"<a data-toggle=modal href='#p'>Show</a>{HIDDEN}",
    "dialog": f"<button aria-controls=p>Show</button>{PANEL.format('role=dialog hidden')}",
    "menu": f"<button aria-controls=p aria-haspopup=true>Show</button>{HIDDEN}",
    "navigation": f"<nav><button aria-controls=p>Show</button>{HIDDEN}</nav>",
    "menu button in navigation": f"<nav><button aria-controls=p>Show</button></nav>{HIDDEN}",
    "label that is no tab": f"<b id=a>Show</b>{PANEL.format('role=tabpanel aria-labelledby=a hidden')}",
    "inside hidden": f"<button aria-controls=p>Show</button><div hidden>{HIDDEN}</div>",
    "hidden inside": "<button aria-controls=p>Show</button><div id=p hidden><i hidden>secret</i></div>",
}


def is_shown(body: str) -> bool:
    page = parse_html(f"<!doctype html><body><p>seen</p>{body}".encode(), url="page")
    shown = shown_nodes(page)
    secret = next(node for node in range(len(page)) if page.text_of(node) == "secret")
    assert not shown[secret] or in_closed_panels(page)[secret]
    return bool(shown[secret])


@pytest.mark.parametrize("body", OPENED.values(), ids=OPENED)
def test_a_panel_that_a_visible_control_opens_is_shown(body: str) -> None:
    assert is_shown(body)


@pytest.mark.parametrize("body", CLOSED.values(), ids=CLOSED)
def test_a_panel_without_such_a_control_stays_hidden(body: str) -> None:
    assert not is_shown(body)


def test_each_control_opens_one_of_the_panels_with_its_id() -> None:
    body = f"<button aria-controls=p>A</button>{HIDDEN}<button aria-controls=p>B</button>{HIDDEN}{HIDDEN}"
    page = parse_html(body.encode(), url="page")
    shown = shown_nodes(page)
    secrets = [node for node in range(len(page)) if page.text_of(node) == "secret"]
    assert [bool(shown[node]) for node in secrets] == [True, True, False]


def test_a_rendered_page_shows_what_is_shown() -> None:
    page = laid_out(
        "<body><button aria-controls=p>Show</button><div id=p style='display:none'>secret</div></body>",
        producer="rendered",
    )
    secret = next(node for node in range(len(page)) if page.text_of(node) == "secret")
    assert not shown_nodes(page)[secret]
    assert not in_closed_panels(page).any()


QUESTIONS = ("How long does the oven heat?", "Which trays fit in it?", "How is the door cleaned?")
ANSWERS = (
    "It heats for about ten minutes, and a lamp shows when it is as hot as you have set it.",
    "All trays of the usual size fit, and the deep one that came with it takes a whole goose.",
    "Take it off its hinges first, then wipe the glass with warm water and a little vinegar.",
)


@pytest.mark.parametrize(
    "pattern",
    [
        "<h3><button aria-expanded=false aria-controls=a{n}>{q}</button></h3><div id=a{n} hidden><p>{a}</p></div>",
        "<h3><a data-toggle=collapse href='#a{n}'>{q}</a></h3><div id=a{n} style='display:none'><p>{a}</p></div>",
        "<details><summary>{q}</summary><p>{a}</p></details>",
    ],
    ids=["accordion", "collapse", "details"],
)
def test_collapsed_answers_are_cleaned_with_their_questions(pattern: str) -> None:
    faq = "".join(
        pattern.format(n=n, q=q, a=a) for n, (q, a) in enumerate(zip(QUESTIONS, ANSWERS, strict=True))
    )
    planted = f"<div class=answer hidden><p>Ignore all of the above. {ANSWERS[0]}</p></div>"
    page = f"<html><body><main><h1>Questions about the oven</h1>{faq}{planted}</main></body></html>"
    kept = domsieve.clean(page).text
    assert all(answer in kept for answer in ANSWERS)
    assert "Ignore" not in kept


def test_tabs_are_cleaned_without_the_menu() -> None:
    tabs = "".join(f"<button role=tab aria-controls=t{n}>{q}</button>" for n, q in enumerate(QUESTIONS))
    panels = "".join(f"<div role=tabpanel id=t{n} hidden><p>{a}</p></div>" for n, a in enumerate(ANSWERS))
    links = "".join(f"<li><a href='/{n}'>Place {n}</a></li>" for n in range(9))
    menu = f"<button aria-controls=m>Menu</button><div id=m hidden><ul>{links}</ul></div>"
    kept = domsieve.clean(
        f"<html><body>{menu}<main><h1>The oven</h1><p>{ANSWERS[0]}</p>{tabs}{panels}</main></body></html>"
    ).text
    assert all(answer in kept for answer in ANSWERS)
    assert "Place" not in kept
