"""The Compose file and the seccomp profile are sound as far as can be seen without Docker; Chrome starts confined."""

import json
import os
import shutil
import subprocess
import sys
from ctypes.util import find_library
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.command import ROOT

FOLDER = ROOT / "examples/container"
PROFILE = FOLDER / "chrome.json"
CONFINED = ROOT / "tests/docs/confined.py"


def compose() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load((FOLDER / "compose.yaml").read_text("utf-8"))
    return read


def test_the_service_has_no_rights_that_it_does_not_need() -> None:
    service = compose()["services"]["domsieve"]
    assert service["cap_drop"] == ["ALL"]
    assert service["read_only"] is True
    assert set(service["security_opt"]) == {"no-new-privileges:true", "seccomp=./chrome.json"}
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert f"USER {service['user']}" in (ROOT / "Dockerfile").read_text("utf-8")


def test_every_file_volume_and_secret_that_is_named_is_there() -> None:
    read = compose()
    service = read["services"]["domsieve"]
    assert (FOLDER / service["build"] / "Dockerfile").resolve() == ROOT / "Dockerfile"
    assert {volume.partition(":")[0] for volume in service["volumes"]} == set(read["volumes"])
    assert set(service["secrets"]) == set(read["secrets"])
    default = (ROOT / "Dockerfile").read_text("utf-8").rpartition("CMD")[2]
    assert all(f"/run/secrets/{name}" in default for name in read["secrets"])
    assert PROFILE.is_file()


def test_the_profile_lists_each_call_once_and_forbids_what_no_browser_needs() -> None:
    rules = json.loads(PROFILE.read_text("utf-8"))
    assert rules["defaultAction"] == "SCMP_ACT_ERRNO"
    allowed, forbidden = (rule["names"] for rule in rules["syscalls"])
    assert [rule["action"] for rule in rules["syscalls"]] == ["SCMP_ACT_ALLOW", "SCMP_ACT_ERRNO"]
    assert sorted({*allowed, *forbidden}) == sorted([*allowed, *forbidden])
    assert {"clone", "unshare", "setns", "chroot"} <= set(allowed)
    assert {"mount", "init_module", "kexec_load", "ptrace", "bpf", "io_uring_setup", "keyctl"} <= set(
        forbidden
    )


@pytest.mark.browser
@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or find_library("seccomp") is None,
    reason="needs Linux, root and libseccomp",
)
def test_chrome_starts_in_its_own_sandbox_under_the_profile(tmp_path: Path) -> None:
    browser = shutil.which("chromium-headless-shell")
    if browser is None:
        pytest.skip("needs a Chrome that every user may start")
    home = Path(subprocess.check_output(["mktemp", "-d"], text=True).strip())
    try:
        home.chmod(0o777)
        profile = str(shutil.copy(PROFILE, home))
        words: list[str] = [
            browser,
            f"--user-data-dir={home}/data",
            "--dump-dom",
            "data:text/html,<p>inside</p>",
        ]
        done = subprocess.run(
            [sys.executable, str(CONFINED), profile, *words],
            capture_output=True,
            check=False,
            cwd=home,
            env={**os.environ, "HOME": str(home)},
            text=True,
            timeout=120,
        )
        assert "<p>inside</p>" in done.stdout, done.stderr
        mounting = [sys.executable, str(CONFINED), profile, "unshare", "-Urm", "true"]
        assert subprocess.run(mounting, capture_output=True, check=False).returncode != 0
    finally:
        shutil.rmtree(home)
