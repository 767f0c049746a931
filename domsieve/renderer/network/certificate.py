"""Create a key and a certificate for one run, by which our browser recognizes the server of an archive.

Python's standard library can use certificates, but not create them. The key is on the curve P-256 (FIPS 186-4,
D.1.2.3), the signature is ECDSA (FIPS 186-4, 6), and the certificate X.509 (RFC 5280). Nothing secret depends on the
key: it is used on loopback during one run, by a browser that reaches nothing else. So the computation need not take
constant time.
"""

import base64
import hashlib
import secrets
import ssl
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

# The curve: field, coefficients, order and base point.
_P = 0xFFFFFFFF_00000001_00000000_00000000_00000000_FFFFFFFF_FFFFFFFF_FFFFFFFF
_A = _P - 3
_N = 0xFFFFFFFF_00000000_FFFFFFFF_FFFFFFFF_BCE6FAAD_A7179E84_F3B9CAC2_FC632551
_G = (
    0x6B17D1F2_E12C4247_F8BCE6E5_63A440F2_77037D81_2DEB33A0_F4A13945_D898C296,
    0x4FE342E2_FE1A7F9B_8EE7EB4A_7C0F9E16_2BCE3357_6B315ECE_CBB64068_37BF51F5,
)
_Point = tuple[int, int] | None

_BYTES = 32
_EC_KEY, _CURVE = "1.2.840.10045.2.1", "1.2.840.10045.3.1.7"
_SIGNATURE = "1.2.840.10045.4.3.2"  # ECDSA with SHA-256
_COMMON_NAME = "2.5.4.3"
_INTEGER, _BITS, _OCTETS, _OID, _TEXT, _SEQUENCE, _SET, _TIME = 0x02, 0x03, 0x04, 0x06, 0x0C, 0x30, 0x31, 0x18
_EXPLICIT_0, _EXPLICIT_1 = 0xA0, 0xA1
_DAYS = 7


@dataclass(frozen=True, slots=True)
class Certificate:
    """A self-signed certificate and its key.

    Parameters
    ----------
    certificate, key : both in PEM.
    pin : digest of the public key for Chrome: SHA-256 of the SubjectPublicKeyInfo, in Base64.
    """

    certificate: str
    key: str
    pin: str

    def server_context(self) -> ssl.SSLContext:
        """Return an SSL context for a server with this certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        # Python loads keys only from files.
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "key.pem"  # in a folder that no other user can open
            path.write_text(self.key + self.certificate, "ascii")
            context.load_cert_chain(path)
        return context


def new_certificate(name: str = "domsieve") -> Certificate:
    """Create a key and its certificate, which is valid for a week."""
    secret = secrets.randbelow(_N - 1) + 1
    public = _bits(_point(_times(secret, _G)))
    info = _sequence(_sequence(_oid(_EC_KEY), _oid(_CURVE)), public)
    algorithm = _sequence(_oid(_SIGNATURE))
    holder = _sequence(_der(_SET, _sequence(_oid(_COMMON_NAME), _der(_TEXT, name.encode()))))
    now = datetime.now(UTC)
    times = (now - timedelta(days=1), now + timedelta(days=_DAYS))
    to_sign = _sequence(
        _der(_EXPLICIT_0, _integer(2)),  # version 3
        _integer(secrets.randbits(63) + 1),
        algorithm,
        holder,
        _sequence(*(_der(_TIME, time.strftime("%Y%m%d%H%M%SZ").encode()) for time in times)),
        holder,
        info,
    )
    whole = _sequence(to_sign, algorithm, _bits(_signed(to_sign, secret)))
    key = _sequence(
        _integer(1),
        _der(_OCTETS, secret.to_bytes(_BYTES)),
        _der(_EXPLICIT_0, _oid(_CURVE)),
        _der(_EXPLICIT_1, public),
    )
    pin = base64.b64encode(hashlib.sha256(info).digest()).decode()
    return Certificate(_pem("CERTIFICATE", whole), _pem("EC PRIVATE KEY", key), pin)


def _signed(data: bytes, secret: int) -> bytes:
    digest = int.from_bytes(hashlib.sha256(data).digest())
    while True:
        nonce = secrets.randbelow(_N - 1) + 1
        point = _times(nonce, _G)
        r = point[0] % _N if point else 0
        s = pow(nonce, -1, _N) * (digest + r * secret) % _N
        if r and s:
            return _sequence(_integer(r), _integer(s))


def _times(factor: int, point: _Point) -> _Point:
    total: _Point = None
    while factor:
        if factor & 1:
            total = _plus(total, point)
        point = _plus(point, point)
        factor >>= 1
    return total


def _plus(one: _Point, other: _Point) -> _Point:
    if one is None or other is None:
        return one or other
    (x1, y1), (x2, y2) = one, other
    if x1 == x2 and (y1 + y2) % _P == 0:
        return None
    rise, run = (3 * x1 * x1 + _A, 2 * y1) if one == other else (y2 - y1, x2 - x1)
    slope = rise * pow(run, -1, _P) % _P
    x = (slope * slope - x1 - x2) % _P
    return x, (slope * (x1 - x) - y1) % _P


def _point(point: _Point) -> bytes:
    x, y = point or (0, 0)
    return b"\x04" + x.to_bytes(_BYTES) + y.to_bytes(_BYTES)


def _der(tag: int, content: bytes) -> bytes:
    size = len(content)
    if size < 0x80:
        return bytes((tag, size)) + content
    length = size.to_bytes((size.bit_length() + 7) // 8)
    return bytes((tag, 0x80 | len(length))) + length + content


def _sequence(*parts: bytes) -> bytes:
    return _der(_SEQUENCE, b"".join(parts))


def _integer(value: int) -> bytes:
    return _der(_INTEGER, value.to_bytes(value.bit_length() // 8 + 1))


def _bits(content: bytes) -> bytes:
    return _der(_BITS, b"\0" + content)


def _oid(text: str) -> bytes:
    first, second, *rest = map(int, text.split("."))
    content = bytearray([40 * first + second])
    for number in rest:
        septets = [number & 0x7F]
        while number := number >> 7:
            septets.append(0x80 | number & 0x7F)
        content += bytes(reversed(septets))
    return _der(_OID, bytes(content))


def _pem(name: str, content: bytes) -> str:
    lines = base64.encodebytes(content).decode()
    return f"-----BEGIN {name}-----\n{lines}-----END {name}-----\n"
