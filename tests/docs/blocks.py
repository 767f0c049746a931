"""The blocks of code in a page of Markdown, with what is noted beside them in comments that readers do not see.

``<!-- not run: reason -->`` on the line before a block says that no test runs it, and why.
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from markdown_it import MarkdownIt

COMMANDS = (
    ".venv/bin", "~/.local", "curl", "docker", "domsieve", "ln", "ls", "make", "pip", "pipx", "printf", "python",
    "python3", "sh", "scrapy", "sudo",
)  # fmt: skip
NOTE = re.compile(r"<!-- not run: (.+?) -->", re.DOTALL)
_COMMENT = re.compile(r"<!--(.*?)-->", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Step:
    """A command with the output that is shown below it, or None where none is shown."""

    command: str
    output: str | None
    line: int


@dataclass(frozen=True, slots=True)
class Block:
    """A block of code: its language (empty for indented ones), text, first line, and why it is not run."""

    language: str
    text: str
    line: int
    not_run: str

    @property
    def is_shell(self) -> bool:
        """Whether the block holds commands for a shell."""
        if self.language:
            return self.language in ("console", "sh")
        first = next((line for line in self.text.splitlines() if not line.startswith("#")), "")
        return first.startswith("$ ") or (bool(first.split()) and _is_command(first))

    def steps(self) -> list[Step]:
        """Return the commands of the block; where one begins with ``$``, lines without are output."""
        lines = self.text.splitlines()
        shows = any(line.startswith("$ ") for line in lines)
        steps: list[Step] = []
        output: list[str] = []
        command, start = "", 0

        def close() -> None:
            if command:
                shown = "\n".join(output).strip("\n")
                steps.append(Step(command, shown if shows and shown else None, start))
            output.clear()

        for number, line in enumerate(lines, self.line):
            if command.endswith("\\"):
                command = f"{command[:-1].rstrip()} {line.strip()}"
            elif line.startswith("$ ") or (not shows and line.strip() and not line.startswith("#")):
                close()
                command, start = line.removeprefix("$ "), number
            else:
                output.append(line)
        close()
        return steps


def _is_command(line: str) -> bool:
    try:
        return shlex.split(line, comments=True)[0].startswith(COMMANDS)
    except (ValueError, IndexError):
        return False


def blocks(page: Path) -> list[Block]:
    """Return the blocks of a page in order.

    Raises
    ------
    ValueError : a note is not followed by a block, or a comment is no note.
    """
    found: list[Block] = []
    note = ""
    for token in MarkdownIt().parse(page.read_text("utf-8")):
        if token.type == "html_block":
            for comment in _COMMENT.findall(token.content):
                match = NOTE.fullmatch(f"<!--{comment}-->")
                if match is None or note:
                    raise ValueError(
                        f"{page}: '{comment.strip()}' is no note, or no block follows the one before"
                    )
                note = " ".join(match[1].split())
        elif token.type in ("fence", "code_block"):
            assert token.map is not None
            first = token.map[0] + (2 if token.type == "fence" else 1)
            words = token.info.split()
            found.append(Block(words[0] if words else "", token.content, first, note))
            note = ""
        elif note and token.type.endswith("_open"):
            raise ValueError(f"{page}: no block follows the note '{note}'")
    if note:
        raise ValueError(f"{page}: no block follows the note '{note}'")
    return found
