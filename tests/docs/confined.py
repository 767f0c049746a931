"""Runs a command as a container would: as an ordinary user, under a seccomp profile, with no new privileges.

python tests/docs/confined.py PROFILE COMMAND [WORD ...]      (as root, on Linux with libseccomp)
"""

import ctypes
import json
import os
import sys
from pathlib import Path

_ALLOW = 0x7FFF0000
_ERRNO = 0x00050000
_NOBODY = 65534
_NO_NEW_PRIVILEGES = 38


def confine(profile: Path) -> None:
    """Load a profile for this process and all that it starts."""
    rules = json.loads(profile.read_text("utf-8"))
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(_ERRNO | rules["defaultErrnoRet"]))
    for rule in rules["syscalls"]:
        action = _ALLOW if rule["action"] == "SCMP_ACT_ALLOW" else _ERRNO | rule["errnoRet"]
        for name in rule["names"]:
            number = library.seccomp_syscall_resolve_name(name.encode())
            if number >= 0:  # the others belong to another processor
                failed = library.seccomp_rule_add_exact(context, ctypes.c_uint32(action), number, 0)
                assert not failed, (name, failed)
    ctypes.CDLL(None).prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
    assert library.seccomp_load(context) == 0


def main(profile: str, *command: str) -> None:
    """Become the command."""
    os.setgroups([])
    os.setgid(_NOBODY)
    os.setuid(_NOBODY)
    confine(Path(profile))
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
