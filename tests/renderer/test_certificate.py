"""The certificate that Python cannot make is one that others can use."""

import base64
import hashlib
import shutil
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest

from domsieve.renderer.network.certificate import new_certificate


def test_a_client_that_trusts_it_knows_the_server() -> None:
    own, foreign = new_certificate(), new_certificate()
    context = own.server_context()

    def shake(trusted: str) -> bytes:
        ours, theirs = socket.socketpair()

        def serve() -> None:
            try:
                with context.wrap_socket(theirs, server_side=True) as server:
                    server.sendall(b"hello")
            except (ssl.SSLError, OSError):
                theirs.close()

        thread = threading.Thread(target=serve)
        thread.start()
        client = ssl.create_default_context(cadata=trusted)
        client.check_hostname = False
        try:
            with client.wrap_socket(ours) as connection:
                return connection.recv(10)
        finally:
            ours.close()
            thread.join()

    assert shake(own.certificate) == b"hello"
    with pytest.raises(ssl.SSLCertVerificationError):
        shake(foreign.certificate)


def test_keys_are_new_each_time() -> None:
    made = [new_certificate() for _ in range(3)]
    assert len({one.key for one in made}) == len({one.pin for one in made}) == 3


@pytest.mark.skipif(shutil.which("openssl") is None, reason="there is no openssl to compare with")
def test_the_pin_is_the_digest_of_the_public_key(tmp_path: Path) -> None:
    file = tmp_path / "certificate.pem"
    own = new_certificate()
    file.write_text(own.certificate)
    public = subprocess.run(
        ["openssl", "x509", "-in", file, "-pubkey", "-noout"], capture_output=True, check=True
    )
    lines = public.stdout.decode().splitlines()[1:-1]
    digest = hashlib.sha256(base64.b64decode("".join(lines))).digest()
    assert base64.b64encode(digest).decode() == own.pin
    done = subprocess.run(["openssl", "verify", "-CAfile", file, file], capture_output=True, check=False)
    assert done.returncode == 0, done
