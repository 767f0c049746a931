"""What counts as the output that a document shows, and how blocks and their notes are read."""

from pathlib import Path

import pytest

from tests.docs.blocks import blocks
from tests.docs.shown import missing


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a b", "a\n  b\n"),
        ("a … d", "a b c d"),
        ("a\n…", "a"),
        ("…\nd", "a d"),
        ("id 0123456789ab", "id ba9876543210"),
        ("x-01234567.txt 12 bytes", "x-76543210.txt 1,300 bytes"),
        ('{"a": 1, ..., "c": 3}', '{"a":1,"b":2,"c":3}'),
    ],
)
def test_what_is_shown_was_printed(shown: str, printed: str) -> None:
    assert not missing(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a b", "a c"),
        ("a", "a b"),
        ("b", "a b"),
        ("a … c", "a c d"),
        ("a … b … c", "a c b"),
        ("a … a", "a"),
        ("12 words", "13 words"),
    ],
)
def test_what_is_shown_was_not_printed(shown: str, printed: str) -> None:
    assert missing(shown, printed)


def test_commands_outputs_and_notes_are_told_apart(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "# Page\n\n    $ domsieve doctor\n    fine\n    $ ls \\\n        folder\n\n"
        "<!-- not run: a\n  reason -->\n```console\ndomsieve clean\n# a comment\ndomsieve site\n```\n\n    x = 1\n"
    )
    first, second, third = blocks(page)
    assert [(step.command, step.output, step.line) for step in first.steps()] == [
        ("domsieve doctor", "fine", 3),
        ("ls folder", None, 5),
    ]
    assert second.not_run == "a reason"
    assert [step.command for step in second.steps()] == ["domsieve clean", "domsieve site"]
    assert (first.not_run, third.is_shell) == ("", False)


@pytest.mark.parametrize(
    "text",
    [
        "<!-- not run: why -->\n\nNo block.\n",
        "<!-- not run: why -->\n",
        "<!-- no note -->\n\n    ls\n",
    ],
)
def test_a_note_without_a_block_is_an_error(tmp_path: Path, text: str) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(ValueError, match=r"page\.md"):
        blocks(page)
