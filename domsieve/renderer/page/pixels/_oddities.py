"""What pages may have that pictures cannot follow, and hardly any has."""

from collections.abc import Collection, Sequence

_CLOCKS = "drawings and styles are animated, each by a clock of its own"
_VIDEOS = "videos are played, which do not follow as animations are brought on"
# Names of `oddities` in motion.js, `restlessIn` in dom.js, `restless` and `resume` in tab.js, and `leftOut` in
# tab_pictures.js; see there. "inner" is for pages with frames, "frames" if several documents are animated, "moments"
# if only other moments have a text.
_DOUBTS = {
    ("noscript",): "the page may show what is for browsers without scripts",
    ("events",): "animations of drawings wait for events, or change what is elsewhere",
    ("sizes",): "styles may follow sizes that animations change",
    ("number",): "a wheel changes a number field, which has the focus",
    ("shows",): "animations change which elements are shown",
    ("late", "turns"): "animations end late, while others go on",
    ("lag",): "transitions follow animations that go on",
    ("late", "videos"): _VIDEOS,
    ("clocks", "videos"): _VIDEOS,
    ("long", "videos"): _VIDEOS,
    ("moments", "videos"): _VIDEOS,
    ("fragment",): "a canvas may lose its picture as the page goes to a fragment",
    ("canvas",): "a canvas may lose its picture as animations lay out the page",
    ("frames",): "several documents are animated, each by a clock of its own",
    ("clocks", "turns"): _CLOCKS,
    ("clocks", "late"): _CLOCKS,
    ("backwards",): "animations run backwards",
    ("pictures", "queries"): "styles may follow sizes that late pictures change",
    ("pictures", "inner"): "frames may follow sizes that late pictures change",
    ("unvisited",): "there are more lazy pictures than can be waited for, or hardly a reader gets there",
    ("young",): "animations have begun again, while others go on",
    ("backdrops",): "filters may draw what is behind them in another place",
    ("lacks",): "what the page asks for as it is scrolled may cover texts",
    ("clock",): "a script has set the clock of a drawing",
    ("spelled",): "letters of a first line are written out, which may move others",
    ("renamed",): "elements have names of another language than theirs",
    ("skipped",): "the browser may skip all of a document",
    ("languages",): "drawings choose what they show by the languages of a reader",
    ("highlights",): "highlights of a script may paint letters that cannot be made transparent",
    ("masked",): "masks are cut to letters, which cannot be made transparent",
    ("remembers",): "transitions are so slow that what is seen depends on what was",
    ("refers",): "what the browser skips far from the window takes part in drawings elsewhere",
    ("hides",): "what is never shown takes part in drawings elsewhere",
    ("draws",): "drawings are drawn in other ones, also where they are never shown",
    ("selected",): "text is selected, whose letters may not become transparent",
    ("goes",): "the page goes elsewhere while animations go on",
}


def doubt_about(restless: Collection[str], documents: Sequence[Collection[str]], *others: str) -> str:
    """Return why pictures may not show what readers see, "" if there is no such reason.

    Parameters
    ----------
    restless, others : what the page has, or had before animations were brought on.
    documents : what each of its documents has.
    """
    found = {*restless, *others}.union(*documents)
    if sum(not {"clocks", "turns"}.isdisjoint(one) for one in documents) > 1:
        found.add("frames")
    return next((doubt for together, doubt in _DOUBTS.items() if found.issuperset(together)), "")
