"""Images in their best version, and embedded videos, sounds and posts as links."""

from collections.abc import Iterator
from urllib.parse import parse_qs

from domsieve.analysis.writers.html import Source, without_controls
from domsieve.urls import split_url


class Reader(Source):
    """The columns of a page as lists, with attributes by name and absolute addresses."""

    def given(self, node: int) -> dict[str, str]:
        """Return the attributes of `node` by name, without control characters, which terminals obey.

        The first of equal names counts, as in browsers.
        """
        attributes: dict[str, str] = {}
        for name, value in self.attributes(node):
            attributes.setdefault(name, without_controls(value))
        return attributes

    def address(self, node: int, value: str, *, linked: bool = False) -> str:
        """Return the absolute form of an address in an attribute of `node`, empty if it must not be written.

        Parameters
        ----------
        node : the element.
        value : value of the attribute.
        linked : the address is the target of a link, where ``mailto:`` is allowed as well.
        """
        return (value and self._addresses.absolute(node, value, linked=linked)) or ""


_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_LAZY = ("data-src", "data-original", "data-lazy-src", "data-lazy", "data-hi-res-src", "data-url")
_PLACEHOLDERS = ("1x1", "blank", "empty", "lazy", "loading", "pixel", "placeholder", "spacer", "transparent")
_MOST_SOURCES = 20
_LONGEST_SET = 100_000
# Hosts whose frames show a video, a sound or a post rather than a part of the page.
_EMBEDDING = (
    *("bandcamp.com", "codepen.io", "dailymotion.com", "embed.ted.com", "facebook.com", "instagram.com"),
    *(
        "jsfiddle.net",
        "loom.com",
        "open.spotify.com",
        "platform.twitter.com",
        "player.bilibili.com",
        "reddit.com",
    ),
    *(
        "soundcloud.com",
        "tiktok.com",
        "twitch.tv",
        "vimeo.com",
        "wistia.com",
        "wistia.net",
        "youtube-nocookie.com",
    ),
    *("youtube.com", "youtu.be"),
)


def shown_image(reader: Reader, node: int) -> str:
    """Return `image_address`, empty for decoration: images without width or height, or with an empty ``alt``."""
    given = reader.given(node)
    unseen = given.get("alt") == "" or {given.get("width"), given.get("height")} & {"0", "1"}
    return "" if unseen else image_address(reader, node)


def image_address(reader: Reader, node: int) -> str:
    """Return the absolute address of the largest version of an ``img``, empty if it has none.

    The order is: the largest image in ``srcset``; ``src``, unless it is a placeholder of lazy loading; the attributes
    of lazy loading; the sources of a ``picture`` around it.
    """
    given = reader.given(node)
    if address := _largest(reader, node, given.get(_SETS[0], "")):
        return address
    lazy = [_largest(reader, node, given.get(name, "")) for name in _SETS[1:]]
    lazy += [reader.address(node, given[name]) for name in _LAZY if given.get(name)]
    plain = reader.address(node, given["src"]) if given.get("src", "").strip() else ""
    if plain and not _is_placeholder(given["src"], waits=any(lazy)):
        return plain
    return next((address for address in lazy if address), "") or _of_picture(reader, node) or plain


def _is_placeholder(address: str, *, waits: bool) -> bool:
    """Return whether an image seems to be a placeholder for one that `waits` to be loaded."""
    name = address.lower().rsplit("/", 1)[-1]
    return waits and (len(name) < 3 or name.endswith(".gif") or any(word in name for word in _PLACEHOLDERS))


def _of_picture(reader: Reader, node: int) -> str:
    """Return the largest image in the sources before an ``img`` in its ``picture``."""
    picture = reader.parent[node]
    for _ in range(_MOST_SOURCES):
        if (
            reader.names[reader.tag[picture]] != "source"
        ):  # some parsers nest the elements after a source in it
            break
        picture = reader.parent[picture]
    if reader.names[reader.tag[picture]] != "picture":
        return ""
    for child in range(picture + 1, min(node, picture + _MOST_SOURCES)):
        if reader.names[reader.tag[child]] == "source":
            given = reader.given(child)
            if address := _largest(reader, child, given.get("srcset") or given.get("data-srcset") or ""):
                return address
    return ""


def _largest(reader: Reader, node: int, images: str) -> str:
    best, address = -1.0, ""
    for candidate, size in _candidates(images[:_LONGEST_SET]):
        if size > best and (absolute := reader.address(node, candidate)):
            best, address = size, absolute
    return address


def _candidates(images: str) -> Iterator[tuple[str, float]]:
    """Yield the addresses of a ``srcset`` with their widths or densities."""
    address = ""
    for token in images.split():
        if not address:
            address = token.lstrip(",")
            if address.endswith(","):
                yield address.rstrip(","), 1.0
                address = ""
            continue
        # There may be no space between a comma and the next address.
        size, comma, after = token.partition(",")
        yield address, _size(size)
        address = after.lstrip(",") if comma else ""
    if address:
        yield address, 1.0


def _size(text: str) -> float:
    try:
        number = float(text[:-1]) if text[-1:] in {"w", "x"} else 1.0
    except ValueError:
        return 1.0
    return number if 0 < number < 1e9 else 1.0


def embedded(reader: Reader, node: int) -> tuple[str, str]:
    """Return title and address of the media in an ``iframe``, ``video`` or ``audio``, empty strings if unknown."""
    given = reader.given(node)
    tag = reader.names[reader.tag[node]]
    if "srcdoc" in given:  # which is what the frame shows, whatever its address is
        return "", ""
    if tag == "lite-youtube":
        address = (
            f"https://www.youtube.com/watch?v={given.get('videoid', '')}" if given.get("videoid") else ""
        )
        address = reader.address(node, address) if address else ""
    elif tag == "iframe":
        value = next((given[name] for name in ("src", *_LAZY) if given.get(name, "").strip()), "")
        address = _watched(reader.address(node, value)) if value else ""
    else:
        address = (
            reader.address(node, given["src"]) if given.get("src", "").strip() else _of_sources(reader, node)
        )
    if not address:
        return "", ""
    words = given.get("title") or given.get("aria-label") or given.get("playlabel") or ""
    return " ".join(words.split()) or _name_of(address), address


def _of_sources(reader: Reader, node: int) -> str:
    child = node + 1
    for _ in range(_MOST_SOURCES):
        if child >= reader.end[node]:
            break
        if reader.names[reader.tag[child]] == "source":
            value = reader.given(child).get("src", "")
            if found := reader.address(child, value) if value.strip() else "":
                return found
        child = reader.end[child]
    return ""


def _watched(address: str) -> str:
    """Return the address of the page for embedded media, empty for frames with other content."""
    parts = split_url(address)
    host = (parts.hostname or "").removeprefix("www.") if parts else ""
    if parts is None or not any(host == site or host.endswith(f".{site}") for site in _EMBEDDING):
        return ""
    steps = parts.path.strip("/").split("/")
    if host in {"youtube.com", "youtube-nocookie.com"} and steps[0] == "embed" and len(steps) == 2:
        return f"https://www.youtube.com/watch?v={steps[1]}"
    if host == "player.vimeo.com" and steps[0] == "video" and len(steps) == 2:
        return f"https://vimeo.com/{steps[1]}"
    if host == "platform.twitter.com" and (post := parse_qs(parts.query).get("id", [""])[0]).isdigit():
        return f"https://twitter.com/i/status/{post}"
    return address


def _name_of(address: str) -> str:
    parts = split_url(address)
    if parts is None:
        return address
    file = parts.path.rsplit("/", 1)[-1]
    return file if "." in file else (parts.hostname or file or address).removeprefix("www.")
