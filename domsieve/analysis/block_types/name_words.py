"""Words that site builders use in tags and attributes to name the parts of a page."""

from collections.abc import Mapping
from enum import IntEnum, IntFlag, auto


class Group(IntEnum):
    """Tags, and groups of attributes in which words have the same meaning."""

    TAG = 6
    NAME = 1
    ROLE = 2
    TYPE = 3
    LABEL = 4
    REL = 5


GROUPS: Mapping[str, Group] = {
    **dict.fromkeys(("class", "id", "data-testid", "data-component", "data-block"), Group.NAME),
    "role": Group.ROLE,
    **dict.fromkeys(("itemtype", "itemprop", "typeof", "property"), Group.TYPE),
    "aria-label": Group.LABEL,
    "rel": Group.REL,
}
"""The attributes that are read, with their groups."""


class Says(IntFlag):
    """What the names of an element say about it. No name decides alone; see the module `name_rules`."""

    COMMENT = auto()
    TALLY = auto()  # with COMMENT: the number of comments, or a link to them
    TYPED_COMMENT = auto()
    RELATED = auto()
    PICK = auto()
    THING = auto()  # with PICK: more stories, most read
    CAPTION = auto()
    PICTURE = auto()
    CREDIT = auto()  # with PICTURE: the photographer
    SLIDE = auto()  # part of a carousel, in which a caption is a heading
    BYLINE = auto()
    BIOGRAPHY = auto()  # with BYLINE: more about the author than the name
    POST = auto()
    META = auto()  # with POST: the line with author and date
    SHARE = auto()
    CRUMB = auto()
    NAVIGATION = auto()  # by role or type
    MENU = auto()  # by name
    FRAME = auto()  # header or footer of the page
    BESIDE = auto()  # sidebar
    PAGER = auto()
    COOKIE = auto()
    NOTICE = auto()  # with COOKIE: a banner
    CONSENT = auto()  # by the name of a vendor of consent banners
    DIALOG = auto()
    GRID = auto()  # a table by its role
    LAYOUT = auto()  # a table that is used for layout, by its role
    UNREAD = auto()  # contains no text of the page
    WHOLE = auto()  # contains the whole page, so its names do not count
    LINK = auto()
    BUTTON = auto()
    TITLE = auto()
    HEADING = auto()
    TIME = auto()
    CODE = auto()
    LISTING = auto()
    FIGURE_CAPTION = auto()
    FIGURE = auto()
    IMAGE = auto()
    QUOTE = auto()
    ARTICLE = auto()
    TABLE = auto()
    ROW = auto()
    CELL = auto()
    HEAD = auto()
    TABLE_CAPTION = auto()


_COMMENT = """
comment comments commentarea commentbox commentform commentlist commentsection commentthread commenter commenting
usercomments usercomment disqus kommentar kommentare comentario comentarios commentaire commentaires commenti
"""
_RELATED = """
related relatedposts relatedarticles recommended recommendation recommendations recommend recommends similar
outbrain taboola zergnet revcontent mgid yarpp trending upsell upsells crosssell crosssells recirc recirculation
readnext mostread mostpopular popularposts recentposts relatedcontent relatedlinks morefrom
"""
_SHARE = """
share sharing sharebar sharebuttons sharedaddy sharethis sharetools shares shariff addthis addtoany socialshare
socialsharing heateor essb ssba ssk a2a sharer
"""

WORDS: Mapping[Group, Mapping[int, str]] = {
    Group.TAG: {
        Says.UNREAD: "datalist head noscript option script select style template textarea title",
        Says.WHOLE: "html body main",
        Says.LINK: "a",
        Says.BUTTON: "button summary",
        Says.TITLE: "h1",
        Says.HEADING: "h2 h3 h4 h5 h6",
        Says.TIME: "time",
        Says.CODE: "pre code",
        Says.LISTING: "pre",
        Says.FIGURE_CAPTION: "figcaption",
        Says.FIGURE: "figure",
        Says.IMAGE: "img picture video",
        Says.QUOTE: "blockquote",
        Says.ARTICLE: "article",
        Says.NAVIGATION: "nav",
        Says.FRAME: "header footer",
        Says.BESIDE: "aside",
        Says.DIALOG: "dialog",
        Says.TABLE: "table",
        Says.ROW: "tr",
        Says.CELL: "td th",
        Says.HEAD: "th thead caption",
        Says.TABLE_CAPTION: "caption",
    },
    Group.NAME: {
        Says.COMMENT: _COMMENT,
        Says.TALLY: (
            "count counter counts num number numbers link links icon icons bubble toggle total anchor jump "
            "trigger policy"
        ),
        Says.RELATED: _RELATED,
        Says.PICK: "more most latest recent popular also top",
        Says.THING: "posts articles stories news entries read viewed like from products reads",
        Says.CAPTION: "caption captions figcaption imagecaption imgcaption",
        Says.PICTURE: "photo photos image images img picture media figure foto bild",
        Says.CREDIT: "credit credits photographer",
        Says.SLIDE: "carousel slide slides slider slideshow hero swiper jumbotron banner",
        Says.BYLINE: (
            "byline bylines author authors autor autore auteur autoren dateline postedby writtenby postauthor pubdate"
        ),
        Says.BIOGRAPHY: (
            "bio biography about box card avatar photo social links follow profile description desc archive list "
            "page widget books"
        ),
        Says.POST: "post entry article story blog news",
        Says.META: "meta postmeta entrymeta",
        Says.SHARE: _SHARE,
        Says.CRUMB: "crumb crumbs crumbtrail",
        Says.MENU: (
            "nav navbar navigation navlist subnav topnav sidenav menu menubar submenu toc sitemap pagination pager "
            "paging pagenav"
        ),
        Says.FRAME: "header masthead topbar footer colophon",
        Says.BESIDE: "sidebar aside rail",
        Says.COOKIE: (
            "cookie cookies gdpr ccpa consent privacy cookiebanner cookiebar cookieconsent cookielaw cookienotice "
            "cookiepolicy"
        ),
        Says.NOTICE: (
            "banner bar notice popup modal message dialog overlay policy law info alert prompt wall disclaimer "
            "container settings preferences manager box consent accept compliance wrapper "
            "cookiebanner cookiebar cookieconsent cookielaw cookienotice cookiepolicy"
        ),
        Says.CONSENT: (
            "onetrust cookiebot usercentrics didomi iubenda osano truste evidon tarteaucitron cmplz klaro cky cmpbox"
        ),
    },
    Group.ROLE: {
        Says.COMMENT: "comment",
        Says.NAVIGATION: "navigation menu menubar",
        Says.FRAME: "banner contentinfo",
        Says.BESIDE: "complementary",
        Says.DIALOG: "dialog alertdialog",
        Says.BUTTON: "button",
        Says.GRID: "table grid treegrid",
        Says.LAYOUT: "none presentation",
    },
    Group.TYPE: {
        Says.TYPED_COMMENT: "comment comments",
        Says.TALLY: "count counter",
        Says.RELATED: "related",
        Says.BYLINE: "author creator",
        Says.NAVIGATION: "navigation",
    },
    Group.LABEL: {
        Says.COMMENT: "comments",
        Says.RELATED: "related recommended",
        Says.SHARE: "share sharing",
        Says.NAVIGATION: "navigation pagination",
        Says.COOKIE: "cookie cookies consent",
        Says.NOTICE: "cookie cookies consent",
    },
    Group.REL: {Says.BYLINE: "author", Says.PAGER: "prev previous next"},
}
"""The words of each group by what they say; they are compared as whole words in lower case."""

ANYWHERE: tuple[bytes, int, tuple[Group, ...]] = (
    b"breadcrumb",
    Says.CRUMB,
    (Group.NAME, Group.TYPE, Group.LABEL),
)
"""A part of a word, what a value that contains it says, and the groups in which this counts."""
