"""A page of the documentation, followed step by step in a folder of its own."""

import contextlib
import io
import logging
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from domsieve.cli import app
from tests.command import ROOT
from tests.docs.blocks import Block, Step, blocks
from tests.docs.shown import masked, missing

# What a shell does that we do not.
_SHELL = re.compile(r"[|&;<>$*~]")
# Chrome as root has no sandbox, and says so on some machines and not on others.
_ASIDE = re.compile(r"^.*sandbox.*\n", re.MULTILINE)
_PATIENCE_S = 120
# Where the documents have the service.
SERVICE = "127.0.0.1:8090"


class Follower:
    """Runs the blocks of one page, in order, with the addresses of the document changed to those of this run.

    Parameters
    ----------
    page : the document.
    folder : where its commands run; python blocks run with it as the working folder, too.
    addresses : what stands in the document (``127.0.0.1:8000``), and what it is in this run.
    """

    def __init__(self, page: Path, folder: Path, addresses: Mapping[str, str]) -> None:
        self.page = page
        self.folder = folder
        self.addresses = {
            **addresses,
            **{re.sub(r"[.:]", "-", old): re.sub(r"[.:]", "-", new) for old, new in addresses.items()},
            '"port": 8090': f'"port": {addresses[SERVICE].rpartition(":")[2]}',
        }
        self.names: dict[str, Any] = {"__name__": "example"}
        self.printed = ""
        self.processes: list[subprocess.Popen[str]] = []
        self.ran = 0

    def follow(self) -> int:
        """Run all blocks that are not marked; return how many there were.

        Raises
        ------
        AssertionError : a command failed, or printed something else than is shown; the message names the line.
        """
        try:
            for block in blocks(self.page):
                if not block.not_run:
                    self._block(block)
        finally:
            for process in self.processes:
                process.terminate()
                process.communicate()
        return self.ran

    def here(self, words: str) -> str:
        """Return words of the document with the addresses of this run."""
        for old, new in self.addresses.items():
            words = words.replace(old, new)
        return words

    def _block(self, block: Block) -> None:
        if block.is_shell:
            for step in block.steps():
                self._step(step)
                self.ran += 1
        elif block.language == "python":
            # Lines of tracebacks are those of the document.
            code = compile("\n" * (block.line - 1) + self.here(block.text), str(self.page), "exec")
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(code, self.names)
            self.printed = out.getvalue()
            self.ran += 1
        elif block.language == "text":
            self._compare(block.text, self.printed, block.line)

    def _compare(self, shown: str, printed: str, line: int) -> None:
        lacking = missing(self.here(shown), printed)
        assert not lacking, f"{self.page}:{line}: not printed: {lacking}\nprinted:\n{masked(printed)[:4000]}"

    def _step(self, step: Step) -> None:
        command = self.here(step.command)
        if re.match(r"python -m examples\.(serve|manual)\b", command):
            return  # these run already
        if command.endswith("&") or command.startswith("domsieve serve"):
            self._start(command.removesuffix("&").strip(), step)
            return
        code, printed = self._shell(command) if _needs_shell(command) else self._inside(command)
        failed = code != 0 and not (code == 1 and "failed" in (step.output or ""))
        assert not failed, f"{self.page}:{step.line}: {command}: exit code {code}\n{printed[-4000:]}"
        if step.output is not None:
            self._compare(step.output, printed, step.line)

    def _inside(self, command: str) -> tuple[int, str]:
        root = logging.getLogger()
        held, root.handlers = root.handlers, []  # those of pytest; with any, the command would print no log
        try:
            done = CliRunner().invoke(app, shlex.split(command)[1:])
        finally:
            root.handlers = held
        return done.exit_code, _ASIDE.sub("", done.output)

    def _environment(self) -> dict[str, str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}

    def _shell(self, command: str) -> tuple[int, str]:
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", command],
            check=False,
            cwd=self.folder,
            env=self._environment(),
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
            timeout=_PATIENCE_S,
        )
        return done.returncode, _ASIDE.sub("", done.stdout)

    def _start(self, command: str, step: Step) -> None:
        """Start a server and wait until it has printed what is shown, or its address."""
        if command.startswith("domsieve serve") and "--port" not in command:
            command += f" --port {self.addresses[SERVICE].rpartition(':')[2]}"
        log = self.folder.with_name(f"{self.folder.name}-{len(self.processes)}.log")
        with log.open("w") as out:
            process = subprocess.Popen(
                shlex.split(command),
                cwd=self.folder,
                env=self._environment(),
                stderr=out,
                stdout=out,
                text=True,
            )
        self.processes.append(process)
        shown = self.here(step.output or "… http://127.0.0.1:…")
        for _ in _tries():
            printed = _ASIDE.sub("", log.read_text())
            if not missing(shown if shown.endswith("…") else f"{shown} …", printed):
                return
            assert process.poll() is None, f"{self.page}:{step.line}: {command}: {log.read_text()}"
        self._compare(shown, _ASIDE.sub("", log.read_text()), step.line)


def _needs_shell(command: str) -> bool:
    """Whether a command is none of ours, starts processes of its own, or uses what a shell does."""
    return (
        not command.startswith("domsieve ")
        or command.startswith("domsieve bulk ")
        or bool(_SHELL.search(re.sub(r"'[^']*'", "", command)))
    )


def _tries() -> Iterator[None]:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        yield
        time.sleep(0.1)
