"""Phrases that give away the type of a block, such as the labels of share buttons, found in one search per page."""

from collections.abc import Iterable
from enum import IntFlag, auto
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from domsieve.analysis.columns.batch import Ints
from domsieve.analysis.columns.hash import U64, span_hashes
from domsieve.analysis.columns.tables import ranges, sorted_set, stretch_sums
from domsieve.budget import check
from domsieve.snapshot.strings import StringTable

_BLANK = 32  # bytes up to this one are white space and controls
_LETTER = np.array([byte >= 128 or chr(byte).isalpha() for byte in range(256)], np.bool_)
_LOWER = np.array([ord(chr(byte).lower()) if byte < 128 else byte for byte in range(256)], np.uint8)


class Pieces:
    """The beginnings of S strings, each followed by a zero byte.

    Parameters
    ----------
    strings : the table of strings.
    ids : int64 (S,), the strings to take from it.
    longest : maximum number of bytes to take of each.

    Attributes
    ----------
    data : uint8, the bytes of all strings.
    first : int64 (S,), where each string starts in `data`.
    """

    def __init__(self, strings: StringTable, ids: Ints, *, longest: int) -> None:
        start = strings.offsets[ids].astype(np.int64)
        whole = strings.offsets[ids + 1] - start
        size = np.minimum(whole, longest)
        at, _ = ranges(start, size + 1)
        self._beyond = whole - size
        self.first = np.cumsum(size + 1) - size - 1
        room = max(strings.blob.size - 1, 0)
        self.data = (
            np.zeros(at.size, np.uint8) if not strings.blob.size else strings.blob[np.minimum(at, room)]
        )
        self.data[self.first + size] = 0

    @cached_property
    def lower(self) -> NDArray[np.uint8]:
        """The bytes with ASCII letters in lower case."""
        return _LOWER[self.data]

    @cached_property
    def letter(self) -> NDArray[np.bool_]:
        """Which bytes are ASCII letters or part of a non-ASCII character."""
        return _LETTER[self.data]

    @cached_property
    def _bytes(self) -> bytes:
        return self.lower.tobytes()

    def letters(self) -> Ints:
        """Return the number of non-blank characters in each string; each byte beyond `longest` counts as one."""
        # In UTF-8, the bytes after the first of a character start with the bits 10.
        solid = (self.data > _BLANK) & ((self.data & 0xC0) != 0x80)
        return np.asarray(stretch_sums(solid, np.append(self.first, self.data.size)) + self._beyond)

    def holding(self, words: Iterable[bytes]) -> Ints:
        """Return the indices of the strings that contain one of the words, ascending; words are in lower case."""
        hits: list[int] = []
        for word in words:
            at = self._bytes.find(word)
            while at >= 0:
                check()
                hits.append(at)
                at = self._bytes.find(b"\0", at)
                at = self._bytes.find(word, at) if at >= 0 else -1
        places = np.array(hits, np.int64)
        return sorted_set(np.searchsorted(self.first, places, side="right") - 1)

    def holding_both(self, stems: Iterable[bytes], words: tuple[bytes, ...]) -> Ints:
        """Return the indices of the strings that contain one of the words, ascending.

        Parameters
        ----------
        stems : each word must contain one of these; searching for them first is faster.
        words : the words, in lower case.
        """
        ends = np.append(self.first[1:], self.data.size)
        candidates = self.holding(stems)
        texts = [self._bytes[self.first[i] : ends[i]] for i in candidates.tolist()]
        return candidates[np.array([any(word in text for word in words) for text in texts], np.bool_)]

    def beginnings(self, most: int) -> U64:
        """Return the hash of up to `most` bytes, in lower case, of the first word of each string; 0 without one."""
        hashes = np.zeros(self.first.size, np.uint64)
        at, gaps = np.flatnonzero(self.letter), np.flatnonzero(~self.letter)
        begin = np.append(at, self.data.size)[np.searchsorted(at, self.first)]
        worded = np.flatnonzero(begin < np.append(self.first[1:], self.data.size))
        begin = begin[worded]
        # The zero byte after each string is a gap, so there is one after each word.
        close = np.minimum(begin + most, gaps[np.searchsorted(gaps, begin)])
        hashes[worded] = span_hashes(self.lower, begin, close)
        return hashes


LONGEST_BEGINNING = 6
"""Number of bytes of the first word of a text that are compared with those of phrases."""


class Begins(IntFlag):
    """The sets of phrases that a text may start with, as bits."""

    SHARE = auto()
    RELATED = auto()
    REPLY = auto()


def _phrases(lines: str) -> frozenset[str]:
    return frozenset(map(str.strip, lines.strip().splitlines()))


def _stems(text: str) -> tuple[bytes, ...]:
    return tuple(stem.replace("_", " ").encode() for stem in text.split())


SHARE = _phrases(
    """
    share
    share article
    share by email
    share link
    share on bluesky
    share on email
    share on facebook
    share on hacker news
    share on linkedin
    share on mastodon
    share on pinterest
    share on reddit
    share on telegram
    share on threads
    share on twitter
    share on whatsapp
    share on x
    share page
    share post
    share story
    share this
    share this article
    share this page
    share this post
    share this story
    share to facebook
    share to twitter
    share via email
    share via facebook
    share via twitter
    email this
    email this page
    pin it
    print this page
    tweet
    tweet this
    artikel teilen
    auf facebook teilen
    teilen
    partager
    partager cet article
    partager sur facebook
    compartir
    compartir en facebook
    compartilhar
    condividi
    delen
    dela
    udostępnij
    оделиться
    シェア
    シェアする
    分享
    공유
    """
)
# Each of the addresses below contains one of these; searching for them first is faster.
ADDRESS_STEMS = _stems(
    "share intent /create submit /send wa.me pocket bookmarklet r/msg /offer bufferapp facebook.com/d"
)
SHARE_ADDRESSES = _stems(
    "facebook.com/sharer facebook.com/share facebook.com/dialog/ twitter.com/share twitter.com/intent x.com/intent "
    "x.com/share linkedin.com/share linkedin.com/sharing linkedin.com/cws/share pinterest.com/pin/create "
    "reddit.com/submit t.me/share telegram.me/share whatsapp.com/send wa.me/?text vk.com/share tumblr.com/share "
    "tumblr.com/widgets/share getpocket.com/save getpocket.com/edit flipboard.com/bookmarklet plus.google.com/share "
    "news.ycombinator.com/submitlink line.me/r/msg connect.ok.ru/offer service.weibo.com/share bufferapp.com/add "
    "xing.com/spi/shares bsky.app/intent threads.net/intent fb-messenger://share"
)
"""Parts of addresses that share a page, in lower case."""

HOME = _phrases(
    """
    home
    home page
    homepage
    start
    startseite
    accueil
    inicio
    início
    strona główna
    hem
    hjem
    etusivu
    главная
    首页
    首頁
    ホーム
    トップ
    홈
    """
)
"""Texts of the first link of breadcrumbs."""

RELATED = tuple(
    sorted(
        _phrases(
            """
    also read
    also on
    customers also bought
    don t miss
    editor s picks
    editors picks
    explore more
    frequently bought together
    from around the web
    from our partners
    further reading
    in case you missed it
    keep reading
    latest articles
    latest from
    latest news
    latest posts
    latest stories
    like this
    more articles
    more from
    more in
    more like this
    more news
    more on
    more on this
    more on this story
    more posts
    more stories
    more to explore
    more to read
    most popular
    most read
    most viewed
    most shared
    must read
    next read
    next up
    other articles
    other posts
    people also viewed
    popular articles
    popular now
    popular on
    popular posts
    popular stories
    promoted content
    promoted stories
    read more
    read next
    recent articles
    recent comments
    recent news
    recent posts
    recent stories
    recommended
    related
    similar
    sponsored content
    sponsored stories
    top stories
    trending
    up next
    what to read next
    you may also
    you might also
    you might be interested
    you may be interested
    you might like
    you may like
    das könnte sie auch
    auch interessant
    ähnliche
    mehr zum thema
    mehr von
    meistgelesen
    weitere artikel
    weitere themen
    verwandte
    à lire aussi
    à lire également
    articles similaires
    articles récents
    lire aussi
    sur le même sujet
    vous aimerez aussi
    artículos relacionados
    entradas recientes
    entradas relacionadas
    lo más leído
    más leídas
    más noticias
    noticias relacionadas
    también te puede interesar
    te puede interesar
    articoli correlati
    leggi anche
    potrebbe interessarti
    ti potrebbe interessare
    artigos relacionados
    leia mais
    leia também
    notícias relacionadas
    você também pode
    gerelateerde
    lees ook
    läs mer
    läs också
    czytaj także
    zobacz także
    похожие
    читайте также
    相关文章
    相关阅读
    相关推荐
    相关新闻
    推荐阅读
    猜你喜欢
    热门文章
    相關文章
    延伸閱讀
    推薦閱讀
    関連記事
    おすすめ記事
    あわせて読みたい
    인기 기사
    관련기사
    관련 기사
    """
        )
    )
)
"""Beginnings of headings above lists of related pages."""


REPLY = _phrases(
    """
    reply
    reply to
    reply to this
    antworten
    répondre
    responder
    rispondi
    beantwoorden
    reageer
    svara
    svar
    odpowiedz
    ответить
    回复
    回覆
    返信
    답글
    """
)
"""Texts of links and buttons that reply to a comment."""


BY = (
    "by ",
    "posted by ",
    "written by ",
    "words by ",
    "story by ",
    "von ",
    "par ",
    "por ",
    "di ",
    "door ",
    "af ",
    "av ",
)
"""Beginnings of lines that name authors."""

CONSENT_STEMS = _stems("cookie consent gdpr privacy datenschutz privacidad confidential риват 隐私 同意")
"""One of these is in every text that asks for consent."""


def _beginnings() -> tuple[U64, NDArray[np.uint8]]:
    """Return the hashes of the beginnings of all phrases, ascending, and the sets that each belongs to."""
    bits: dict[bytes, int] = {}
    for bit, phrases in ((Begins.SHARE, SHARE), (Begins.RELATED, RELATED), (Begins.REPLY, REPLY)):
        for phrase in phrases:
            # Only ASCII is compared in lower case, so other letters need both forms.
            for spelling in (phrase, phrase.capitalize()):
                beginning = spelling.split()[0].encode().lower()[:LONGEST_BEGINNING]
                bits[beginning] = bits.get(beginning, 0) | bit
    data = np.frombuffer(b"".join(bits), np.uint8)
    close = np.cumsum([len(beginning) for beginning in bits])
    hashes = span_hashes(data, np.append(0, close[:-1]), close)
    order = np.argsort(hashes)
    return hashes[order], np.array(list(bits.values()), np.uint8)[order]


_HASHES, _BITS = _beginnings()


def begins_of(hashes: U64) -> NDArray[np.uint8]:
    """Return the bits of `Begins` for texts, from the hashes of their beginnings (`Pieces.beginnings`)."""
    at = np.minimum(np.searchsorted(_HASHES, hashes), _HASHES.size - 1)
    return np.where(_HASHES[at] == hashes, _BITS[at], np.uint8(0))
