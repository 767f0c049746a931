"""Host names and IP addresses: which are public, and rules that deny or allow hosts."""

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network
from typing import Self

from domsieve.errors import PolicyError, UsageError

Address = IPv4Address | IPv6Address

# From IANA's registries of special addresses, and the addresses that clouds serve only to their own machines.
_SPECIAL_4 = tuple(
    (IPv4Network(network), kind)
    for network, kind in (
        ("0.0.0.0/8", "this machine"),
        ("10.0.0.0/8", "private"),
        ("100.64.0.0/10", "private"),
        ("127.0.0.0/8", "this machine"),
        ("168.63.129.16/32", "a cloud's own"),
        ("169.254.0.0/16", "link-local"),
        ("172.16.0.0/12", "private"),
        ("192.0.0.0/24", "reserved"),
        ("192.0.2.0/24", "reserved"),
        ("192.88.99.0/24", "reserved"),
        ("192.168.0.0/16", "private"),
        ("198.18.0.0/15", "reserved"),
        ("198.51.100.0/24", "reserved"),
        ("203.0.113.0/24", "reserved"),
        ("224.0.0.0/4", "multicast"),
        ("240.0.0.0/4", "reserved"),
    )
)
_SPECIAL_6 = tuple(
    (IPv6Network(network), kind)
    for network, kind in (
        ("::/127", "this machine"),
        ("64:ff9b:1::/48", "private"),
        ("2001::/23", "reserved"),  # includes Teredo, which contains an IPv4 address
        ("2001:db8::/32", "reserved"),
        ("2002::/16", "reserved"),  # 6to4, which contains an IPv4 address
        ("3fff::/20", "reserved"),
        ("fc00::/7", "private"),
        ("fe80::/10", "link-local"),
        ("fec0::/10", "private"),
        ("ff00::/8", "multicast"),
    )
)
_GLOBAL_UNICAST = IPv6Network("2000::/3")
# NAT64: networks without IPv4 reach every IPv4 host through this block, so the IPv4 address in it decides.
_TRANSLATED = IPv6Network("64:ff9b::/96")
_MAPPED = IPv6Network("::ffff:0:0/96")
# Interface identifiers of ISATAP; an IPv4 address follows.
_ISATAP = frozenset({0x0000_5EFE, 0x0200_5EFE})
_LOW_32 = 0xFFFF_FFFF

_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
# A part of an IPv4 address: hexadecimal, octal or decimal. `int` takes signs and underscores, too.
_PART = re.compile("0[xX]([0-9a-fA-F]{0,62})|(0[0-7]{0,63})|([1-9][0-9]{0,63})")
_NUMBER = re.compile("[0-9]+|0[xX][0-9a-fA-F]*")
_ESCAPE = re.compile("%([0-9A-Fa-f]{2})")
_LONGEST_NAME = 253
_LONGEST_SPELLING = 1_000  # of a name that is not ASCII: encoding takes time quadratic in its length
# Names that this machine, its network or its cloud assigns.
_LOCAL_NAMES = (
    "localhost",
    "localdomain",
    "local",
    "internal",
    "intranet",
    "lan",
    "home.arpa",
    "in-addr.arpa",
)


class HostError(ValueError):
    """A text is not a valid host."""


def why_not_public(address: Address) -> str:
    """Return the kind of an address that is not public, such as ``"link-local"``; empty for public ones."""
    if isinstance(address, IPv4Address):
        special = next((kind for network, kind in _SPECIAL_4 if address in network), "")
        return special or ("" if address.is_global else "reserved")
    held = held_address(address)
    if isinstance(held, IPv4Address):
        return why_not_public(held)
    number = int(address)
    if special := next((kind for network, kind in _SPECIAL_6 if address in network), ""):
        return special
    if address.scope_id:
        return "link-local"
    if address not in _GLOBAL_UNICAST:
        # Includes the rest of ::/96, which contains IPv4 addresses too.
        return "reserved"
    if (number >> 32) & _LOW_32 in _ISATAP and (kind := why_not_public(IPv4Address(number & _LOW_32))):
        return kind
    return "" if address.is_global else "reserved"


def parse_address(text: str) -> Address:
    """Parse an address, see `canonical_address`.

    Raises
    ------
    ValueError : the text is not an address.
    """
    return canonical_address(ipaddress.ip_address(text))


def canonical_address(address: Address) -> Address:
    """Return the IPv4 address that a mapped one (``::ffff:192.0.2.7``) reaches; others are returned unchanged."""
    return (address.ipv4_mapped if isinstance(address, IPv6Address) else None) or address


def held_address(address: Address) -> Address:
    """Return the IPv4 address in a mapped or translated (NAT64) one; other addresses are returned unchanged."""
    if isinstance(address, IPv6Address) and (address in _MAPPED or address in _TRANSLATED):
        return IPv4Address(int(address) & _LOW_32)
    return address


def is_loopback(address: Address) -> bool:
    """Return whether an address reaches this machine, as 0.0.0.0 and [::] do, too."""
    address = canonical_address(address)
    if isinstance(address, IPv6Address):
        return int(address) <= 1
    return why_not_public(address) == "this machine"


def parse_host(text: str) -> str | Address:
    """Parse the host of a URL; return an address, or a name in lower case without a final dot.

    Hosts are read as browsers read them: escapes and full-width characters are decoded, and a host whose last label
    is a number is an IPv4 address of one to four decimal, octal or hexadecimal parts. See also
    `canonical_address`.

    Raises
    ------
    HostError : it is empty, has empty labels or forbidden characters, or has a zone.
    """
    if text.startswith("[") or ":" in text:
        return _parse_6(text.removeprefix("[").removesuffix("]"))
    name = _in_ascii(text)
    labels = name.removesuffix(".").split(".")
    if _NUMBER.fullmatch(labels[-1]):
        return _parse_4(labels)
    if len(name) > _LONGEST_NAME + 1 or not all(map(_LABEL.fullmatch, labels)):
        raise HostError("not a host name")
    return ".".join(labels)


def is_local_name(name: str) -> bool:
    """Return whether a name is a local one: without dots, ``localhost``, ``*.local`` or ``*.internal``."""
    return "." not in name or any(name == local or name.endswith(f".{local}") for local in _LOCAL_NAMES)


def is_localhost(name: str) -> bool:
    """Return whether a name stands for this machine without any lookup."""
    return name == "localhost" or name.endswith(".localhost")


def _parse_6(text: str) -> Address:
    if "%" in text:
        raise HostError("an address with a zone")
    try:
        address = IPv6Address(text)
    except ValueError as error:
        raise HostError("not an IPv6 address") from error
    return canonical_address(address)


def _in_ascii(text: str) -> str:
    """Return a host in ASCII and lower case; names are mapped and encoded by UTS 46, as in browsers."""
    try:
        if "%" in text:
            pieces = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text.encode().decode("latin-1"))
            text = pieces.encode("latin-1").decode()
        if text.isascii():
            return text.lower()
        if len(text) > _LONGEST_SPELLING:
            raise HostError("not a host name")
        import idna  # imported late: its tables are large and few names need them

        # Unlike `idna.encode`, browsers allow all characters that the mapping leaves, such as emoji.
        labels = idna.uts46_remap(text, std3_rules=False).split(".")
        return ".".join(
            label if label.isascii() else f"xn--{label.encode('punycode').decode()}" for label in labels
        )
    except UnicodeError as error:  # such as lone surrogates; an `IDNAError` is one, too
        raise HostError("not a host name") from error


def _parse_4(labels: list[str]) -> IPv4Address:
    *first, last = map(_number, labels)
    room = 4 - len(first)
    if room < 1 or any(part > 255 for part in first) or last >= 256**room:
        raise HostError("not an IPv4 address")
    return ipaddress.IPv4Address(last + sum(part << (24 - 8 * i) for i, part in enumerate(first)))


def _number(text: str) -> int:
    found = _PART.fullmatch(text)
    if not found:
        raise HostError("not an IPv4 address")
    if found[1] is not None:
        return int(found[1] or "0", 16)
    return int(found[2], 8) if found[2] else int(found[3])


_BELOW = "*."
_SHOWN = 3  # number of rules of an allow list that a message shows


@dataclass(frozen=True, slots=True)
class _Rule:
    """A rule about hosts.

    Parameters
    ----------
    text : the rule as it was written.
    name : the normalized host name; empty for addresses.
    is_below : whether the rule is about all names below the name, at any depth, but not about the name itself.
    network : the addresses of the rule; None for names.
    """

    text: str
    name: str = ""
    is_below: bool = False
    network: IPv4Network | IPv6Network | None = None

    def has_name(self, host: str) -> bool:
        return bool(self.name) and (host.endswith(f".{self.name}") if self.is_below else host == self.name)

    def has_address(self, address: Address) -> bool:
        return self.network is not None and (address in self.network or held_address(address) in self.network)


@dataclass(frozen=True, slots=True)
class HostRules:
    """Rules that deny or allow hosts; without rules, all are allowed.

    Parameters
    ----------
    deny : rules for hosts that may not be reached, even if `allow` matches.
    allow : if there are any, only hosts that match one of them may be reached.
    """

    deny: tuple[_Rule, ...] = ()
    allow: tuple[_Rule, ...] = ()

    @classmethod
    def of(cls, deny: Iterable[str] = (), allow: Iterable[str] = ()) -> Self:
        """Parse two lists of rules.

        Parameters
        ----------
        deny, allow : rules: a host name, ``*.NAME`` for all names below a name, an address, or a network as
            ``ADDRESS/BITS``. Rules apply to every port. Rules for addresses also apply to names with these addresses.

        Raises
        ------
        UsageError : a text is not a rule.
        """
        try:
            denied = tuple(map(_rule, deny))
        except ValueError as error:
            raise UsageError(str(error), parameter="deny_hosts") from error
        try:
            return cls(denied, tuple(map(_rule, allow)))
        except ValueError as error:
            raise UsageError(str(error), parameter="allow_hosts") from error

    def check(self, host: str | Address, addresses: Sequence[Address] | None) -> None:
        """Check whether a host may be reached.

        Parameters
        ----------
        host : the normalized host.
        addresses : the addresses of a name; None before the lookup, when rules for addresses cannot be checked yet.

        Raises
        ------
        PolicyError : the host may not be reached; the message has the rule.
        """
        name, known = (host, addresses or ()) if isinstance(host, str) else ("", (host,))
        for rule in self.deny:
            if rule.has_name(name) or any(map(rule.has_address, known)):
                raise PolicyError(f"{host} is on the deny list: {rule.text}.", reason="denied")
        if not self.allow or any(rule.has_name(name) for rule in self.allow):
            return
        networks = [rule for rule in self.allow if rule.network is not None]
        if networks and name and addresses is None:
            return
        if not known or not all(any(rule.has_address(address) for rule in networks) for address in known):
            more = len(self.allow) - _SHOWN
            shown = ", ".join(rule.text for rule in self.allow[:_SHOWN])
            raise PolicyError(
                f"{host} is not on the allow list: {shown}{f' and {more} more' if more > 0 else ''}.",
                reason="not_allowed",
            )


def _network(text: str | Address) -> IPv4Network | IPv6Network:
    """Return a network; one of mapped addresses is the IPv4 network that they reach, see `canonical_address`."""
    network = ip_network(text)
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        address = IPv4Address(int(network.network_address) & _LOW_32)
        return IPv4Network((address, network.prefixlen - _MAPPED.prefixlen))
    return network


def _rule(text: str) -> _Rule:
    is_below = text.startswith(_BELOW)
    try:
        found = None if "/" in text else parse_host(text.removeprefix(_BELOW))
        if isinstance(found, str):
            return _Rule(text, name=found, is_below=is_below)
        if not is_below:
            return _Rule(text, network=_network(found or text))
    except HostError:
        pass
    except ValueError as error:
        raise ValueError(f"{text!a} is not a network: {error}.") from error
    raise ValueError(f"{text!a} is not a host: write NAME, *.NAME, ADDRESS or ADDRESS/BITS, without a port.")
