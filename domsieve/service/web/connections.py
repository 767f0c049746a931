"""Connections of the service: refuse ambiguous heads (RFC 9112, 11.2), and close connections at the limits."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Any

import h11
from starlette.datastructures import Headers

from domsieve.renderer.network.addresses import Address, parse_address

# Lines that do not end with CRLF or continue on the next line, which programs parse differently.
_ODD_LINES = re.compile(rb"(?<!\r)\n|\r(?!\n)|\n[ \t]")
_LENGTHS = re.compile(rb"^content-length:([^\r\n]*)", re.IGNORECASE | re.MULTILINE)
_CODINGS = re.compile(rb"^transfer-encoding:", re.IGNORECASE | re.MULTILINE)
_LENGTH = re.compile(rb"[0-9]{1,18}")


class StrictConnection(h11.Connection):
    """An `h11` connection of a server with stricter checks.

    Parameters
    ----------
    longest_head : maximum length of the head of a request in bytes. `h11` itself limits only incomplete heads.
    """

    def __init__(self, longest_head: int) -> None:
        super().__init__(h11.SERVER, longest_head)
        self._longest_head = longest_head

    def next_event(self) -> Any:
        """Return the next event; see `h11.Connection`.

        Raises
        ------
        h11.RemoteProtocolError : a request is invalid, too long, or ambiguous.
        """
        if self.their_state is not h11.IDLE:
            return super().next_event()
        before, _ = self.trailing_data
        event = super().next_event()
        if isinstance(event, h11.Request):
            after, _ = self.trailing_data
            head = before[: len(before) - len(after)]
            if len(head) > self._longest_head:
                raise h11.RemoteProtocolError("The head of the request is too long.")
            if _is_ambiguous(head, event.http_version):
                raise h11.RemoteProtocolError("The end of the request could be read in two ways.")
        return event


def _is_ambiguous(head: bytes, version: bytes) -> bool:
    lengths = [value.strip(b" \t") for value in _LENGTHS.findall(head)]
    codings = len(_CODINGS.findall(head))
    return (
        _ODD_LINES.search(head) is not None
        or len(lengths) > 1
        or not all(map(_LENGTH.fullmatch, lengths))
        or bool(codings and (lengths or version == b"1.0"))
    )


# Connections that arrive together are all read before any is closed.
_SWEEP_S = 0.1
_LONGEST_CHAIN = 50
# The network of one IPv6 subscriber.
_SUBSCRIBER_BITS = 64

Network = IPv4Network | IPv6Network


@dataclass(slots=True, eq=False)
class Place:
    """One of all connections.

    Parameters
    ----------
    connections : all connections.
    address : the address that it counts for as long as its client is unknown.
    give_up : closes the connection.
    client : the client that the latest request identified; None for an unknown one.
    is_idle : whether no request is being processed.
    """

    connections: "Connections"
    address: str
    give_up: Callable[[], None]
    client: str | None = None
    is_idle: bool = True

    def belongs_to(self, client: str | None) -> bool:
        """Assign the current request to a client; return False if the client has too many connections."""
        return self.connections.assign(self, client)


@dataclass(slots=True)
class Connections:
    """All connections of a service.

    Parameters
    ----------
    most : maximum number of connections.
    strangers, of_address : maximum number for unknown clients, in all and for one address.
    proxies : addresses of proxies; their connections count for the address in ``X-Forwarded-For``.
    later : calls a function after everything that has arrived was read.
    """

    most: int
    strangers: int
    of_address: int
    proxies: Sequence[Network] = ()
    later: Callable[[Callable[[], None]], None] = field(default_factory=lambda: _later)
    _strangers: dict[str, dict[Place, None]] = field(default_factory=dict)
    _known: dict[str, dict[Place, None]] = field(default_factory=dict)
    _is_sweeping: bool = False

    def __len__(self) -> int:
        return sum(len(places) for held in (self._strangers, self._known) for places in held.values())

    def enter(self, peer: tuple[str, int] | None, give_up: Callable[[], None]) -> Place | None:
        """Add a connection; return None if there are too many.

        Parameters
        ----------
        peer : address and port of the other end.
        give_up : closes the connection.
        """
        if len(self) >= self.most and not self._take(self._strangers) and not self._take(self._known):
            return None
        host, port = peer or ("", 0)
        # Its request, which names the client of a proxy, has not arrived yet.
        address = f"{host} {port}" if self.trusts(host) else _subscriber(host)
        place = Place(self, address, give_up)
        self._strangers.setdefault(address, {})[place] = None
        self._look()
        return place

    def leave(self, place: Place) -> None:
        """Remove a connection that is closed or will be."""
        held, name = self._where(place)
        places = held.get(name, {})
        places.pop(place, None)
        if not places:
            held.pop(name, None)

    def note_head(self, place: Place, peer: tuple[str, int] | None, headers: Headers) -> None:
        """Process the head of a request, which names the client of a proxy."""
        host, _ = peer or ("", 0)
        place.is_idle = False
        if self.trusts(host) and (address := self._forwarded(headers)) is not None:
            self.leave(place)
            place.client, place.address = None, _subscriber(address)
            self._strangers.setdefault(place.address, {})[place] = None

    def assign(self, place: Place, client: str | None) -> bool:
        """See `Place.belongs_to`."""
        if place not in self._where(place)[0].get(self._where(place)[1], {}):
            return False  # it is closed
        if client == place.client and client is not None:
            return True
        self.leave(place)
        place.client = client
        held, name = self._where(place)
        held.setdefault(name, {})[place] = None
        if client is None:
            self._look()
            return True
        known = sum(map(len, self._known.values()))
        if known <= self.most - self.strangers or self._take(self._known):
            return True
        return len(self._known[client]) < max(map(len, self._known.values()))

    def trusts(self, host: str) -> bool:
        """Return whether an address belongs to a proxy of the operator."""
        address = _parsed(host)
        return address is not None and any(address in network for network in self.proxies)

    def _where(self, place: Place) -> tuple[dict[str, dict[Place, None]], str]:
        return (self._strangers, place.address) if place.client is None else (self._known, place.client)

    def _forwarded(self, headers: Headers) -> str | None:
        """Return the last address of the chain that is not our proxy; earlier ones could be forged."""
        chain = ",".join(headers.getlist("x-forwarded-for")).rsplit(",", _LONGEST_CHAIN)
        for text in map(str.strip, reversed(chain)):
            if _parsed(text) is None:
                return None
            if not self.trusts(text):
                return text
        return None

    def _look(self) -> None:
        """Close connections of unknown clients soon if they have too many."""
        if self._is_crowded() and not self._is_sweeping:
            self._is_sweeping = True
            self.later(self._sweep)

    def _sweep(self) -> None:
        self._is_sweeping = False
        while self._is_crowded() and self._take(self._strangers):
            pass

    def _is_crowded(self) -> bool:
        """Return whether unknown clients have too many connections."""
        held = [len(places) for places in self._strangers.values()]
        return sum(held) > self.strangers or max(held, default=0) > self.of_address

    def _take(self, held: dict[str, dict[Place, None]]) -> bool:
        """Close the oldest connection of whoever has most; return whether there is one.

        Known clients keep connections whose requests are being processed.
        """
        places: Mapping[Place, None] = max(held.values(), key=len, default={})
        oldest = next((place for place in places if place.client is None or place.is_idle), None)
        if oldest is None:
            return False
        self.leave(oldest)
        oldest.give_up()
        return True


def _later(call: Callable[[], None]) -> None:
    loop = asyncio.get_running_loop()
    # Data that arrive in the same turn as the timeout are processed first.
    loop.call_later(_SWEEP_S, loop.call_soon, call)


def _parsed(text: str) -> Address | None:
    try:
        return parse_address(text)
    except ValueError:
        return None


def _subscriber(host: str) -> str:
    """Return the address of a subscriber, or the network for IPv6."""
    address = _parsed(host)
    if isinstance(address, IPv6Address):
        return str(ip_network((int(address), _SUBSCRIBER_BITS), strict=False))
    return str(address or host)
