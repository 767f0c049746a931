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


class NameFlag(IntFlag):
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
        NameFlag.UNREAD: "datalist head noscript option script select style template textarea title",
        NameFlag.WHOLE: "html body main",
        NameFlag.LINK: "a",
        NameFlag.BUTTON: "button summary",
        NameFlag.TITLE: "h1",
        NameFlag.HEADING: "h2 h3 h4 h5 h6",
        NameFlag.TIME: "time",
        NameFlag.CODE: "pre code",
        NameFlag.LISTING: "pre",
        NameFlag.FIGURE_CAPTION: "figcaption",
        NameFlag.FIGURE: "figure",
        NameFlag.IMAGE: "img picture video",
        NameFlag.QUOTE: "blockquote",
        NameFlag.ARTICLE: "article",
        NameFlag.NAVIGATION: "nav",
        NameFlag.FRAME: "header footer",
        NameFlag.BESIDE: "aside",
        NameFlag.DIALOG: "dialog",
        NameFlag.TABLE: "table",
        NameFlag.ROW: "tr",
        NameFlag.CELL: "td th",
        NameFlag.HEAD: "th thead caption",
        NameFlag.TABLE_CAPTION: "caption",
    },
    Group.NAME: {
        NameFlag.COMMENT: _COMMENT,
        NameFlag.TALLY: (
            "count counter counts num number numbers link links icon icons bubble toggle total anchor jump "
            "trigger policy"
        ),
        NameFlag.RELATED: _RELATED,
        NameFlag.PICK: "more most latest recent popular also top",
        NameFlag.THING: "posts articles stories news entries read viewed like from products reads",
        NameFlag.CAPTION: "caption captions figcaption imagecaption imgcaption",
        NameFlag.PICTURE: "photo photos image images img picture media figure foto bild",
        NameFlag.CREDIT: "credit credits photographer",
        NameFlag.SLIDE: "carousel slide slides slider slideshow hero swiper jumbotron banner",
        NameFlag.BYLINE: (
            "byline bylines author authors autor autore auteur autoren dateline postedby writtenby postauthor pubdate"
        ),
        NameFlag.BIOGRAPHY: (
            "bio biography about box card avatar photo social links follow profile description desc archive list "
            "page widget books"
        ),
        NameFlag.POST: "post entry article story blog news",
        NameFlag.META: "meta postmeta entrymeta",
        NameFlag.SHARE: _SHARE,
        NameFlag.CRUMB: "crumb crumbs crumbtrail",
        NameFlag.MENU: (
            "nav navbar navigation navlist subnav topnav sidenav menu menubar submenu toc sitemap pagination pager "
            "paging pagenav"
        ),
        NameFlag.FRAME: "header masthead topbar footer colophon",
        NameFlag.BESIDE: "sidebar aside rail",
        NameFlag.COOKIE: (
            "cookie cookies gdpr ccpa consent privacy cookiebanner cookiebar cookieconsent cookielaw cookienotice "
            "cookiepolicy"
        ),
        NameFlag.NOTICE: (
            "banner bar notice popup modal message dialog overlay policy law info alert prompt wall disclaimer "
            "container settings preferences manager box consent accept compliance wrapper "
            "cookiebanner cookiebar cookieconsent cookielaw cookienotice cookiepolicy"
        ),
        NameFlag.CONSENT: (
            "onetrust cookiebot usercentrics didomi iubenda osano truste evidon tarteaucitron cmplz klaro cky cmpbox"
        ),
    },
    Group.ROLE: {
        NameFlag.COMMENT: "comment",
        NameFlag.NAVIGATION: "navigation menu menubar",
        NameFlag.FRAME: "banner contentinfo",
        NameFlag.BESIDE: "complementary",
        NameFlag.DIALOG: "dialog alertdialog",
        NameFlag.BUTTON: "button",
        NameFlag.GRID: "table grid treegrid",
        NameFlag.LAYOUT: "none presentation",
    },
    Group.TYPE: {
        NameFlag.TYPED_COMMENT: "comment comments",
        NameFlag.TALLY: "count counter",
        NameFlag.RELATED: "related",
        NameFlag.BYLINE: "author creator",
        NameFlag.NAVIGATION: "navigation",
    },
    Group.LABEL: {
        NameFlag.COMMENT: "comments",
        NameFlag.RELATED: "related recommended",
        NameFlag.SHARE: "share sharing",
        NameFlag.NAVIGATION: "navigation pagination",
        NameFlag.COOKIE: "cookie cookies consent",
        NameFlag.NOTICE: "cookie cookies consent",
    },
    Group.REL: {NameFlag.BYLINE: "author", NameFlag.PAGER: "prev previous next"},
}
"""The words of each group by what they say; they are compared as whole words in lower case."""

ANYWHERE: tuple[bytes, int, tuple[Group, ...]] = (
    b"breadcrumb",
    NameFlag.CRUMB,
    (Group.NAME, Group.TYPE, Group.LABEL),
)
"""A part of a word, what a value that contains it says, and the groups in which this counts."""
