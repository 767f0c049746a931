"""The command that opens a window to sign in, and saves the session for rendering."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from domsieve.commands.capture_options import AllowHosts, AllowPrivate, BrowserOption, DenyHosts, host_rules
from domsieve.commands.console import check_place, count, failures, say


def login(
    url: Annotated[str, typer.Argument(help="The page to sign in at.")],
    *,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", help="File for the cookies and the local storage; keep it secret."),
    ],
    allow_private: AllowPrivate = False,
    deny_host: DenyHosts = None,
    allow_host: AllowHosts = None,
    browser: BrowserOption = None,
) -> None:
    """Open a window to sign in to a site, and save cookies and local storage for `--storage-state`.

    Sign in, then close the window or press Enter here.
    """
    with failures():
        import asyncio

        from domsieve.errors import UsageError
        from domsieve.files import OWNER_ONLY, write_file
        from domsieve.renderer.browser.sign_in import sign_in
        from domsieve.renderer.network.egress import Egress, is_web_address
        from domsieve.renderer.network.upstream import environment_proxies

        if not is_web_address(url):
            raise UsageError(f"{url!a} is not an address; give one with http:// or https://.")
        check_place("--output", output)
        rules = host_rules(deny_host, allow_host)
        egress = Egress(allow_private=allow_private, rules=rules, upstreams=environment_proxies())
        egress.name(url)  # the page may be private, but not addresses that it redirects to
        state = asyncio.run(
            sign_in(
                url,
                egress=egress,
                done=_enter,
                ready=lambda: say("Sign in, then close the window or press Enter here."),
                executable=browser,
            )
        )
        data = json.dumps(state, ensure_ascii=False, indent=2)
        write_file(output, f"{data}\n".encode(), what="The storage-state file", mode=OWNER_ONLY)
        cookies, origins = len(state["cookies"]), len(state["origins"])
        say(f"{output}: {count(cookies, 'cookie')}, local storage of {count(origins, 'site')}")
        if not cookies and not origins:
            say("The site kept nothing, so this file signs nobody in.")
        else:
            say(f"Next: domsieve render URL --storage-state {output}")


async def _enter() -> None:
    """Wait for a line on standard input; wait forever if it is closed or missing."""
    import asyncio
    import threading

    loop = asyncio.get_running_loop()
    pressed = asyncio.Event()

    def read() -> None:
        try:
            line = sys.stdin.readline()
        except (OSError, ValueError):
            return
        if line:
            loop.call_soon_threadsafe(pressed.set)

    if sys.stdin is not None:
        # Nothing ends a read of a terminal; a thread that waits in one must not hold up the end of the program.
        threading.Thread(target=read, daemon=True).start()
    await pressed.wait()
