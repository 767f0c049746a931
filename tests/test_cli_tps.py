"""The options of `clean --method tps`, on a page whose content is not its largest part."""

from pathlib import Path

import pytest

from tests.command import run

LINKS = "".join(f"<li><a href=/{n}>link {n}</a></li>" for n in range(30))
NEWS = "".join(f"<p>News {n}, told at length.</p>" for n in range(5))
PAGE = f"<!doctype html><title>t</title><body><ul>{LINKS}</ul><main>{NEWS}</main>"


@pytest.fixture
def cleaned(tmp_path: Path) -> "Cleaned":
    (tmp_path / "page.html").write_text(PAGE, encoding="utf-8")
    return Cleaned(tmp_path)


class Cleaned:
    """Runs the command on the page."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def __call__(self, *options: str, method: str = "tps", code: int = 0) -> str:
        page, cache = self._folder / "page.html", self._folder / "cache"
        result = run("clean", "--method", method, *options, page, cache=cache)
        assert result.exit_code == code
        return result.stdout


def test_the_largest_part_is_kept(cleaned: Cleaned) -> None:
    assert cleaned().startswith("link 0\nlink 1\n")
    assert "News" not in cleaned()


def test_complement(cleaned: Cleaned) -> None:
    assert cleaned("--param", "complement=true") == "".join(f"News {n}, told at length.\n" for n in range(5))


def test_has_text_decides(cleaned: Cleaned) -> None:
    assert cleaned("--param", "has_text=news  1, TOLD") == cleaned("--param", "complement=true")
    assert cleaned("--param", "has_text=link 7") == cleaned()


def test_regions(cleaned: Cleaned) -> None:
    assert "link 0" in cleaned("--param", "regions=2")
    assert "News 4" in cleaned("--param", "regions=2")
    cleaned("--param", "regions=0", code=2)


@pytest.mark.parametrize("options", [("--param", "has_text= "), ("--mode", "paper", "--param", "style=full")])
def test_options_without_effect_are_refused(cleaned: Cleaned, options: tuple[str, ...]) -> None:
    cleaned(*options, code=2)


@pytest.mark.parametrize("param", ["complement=true", "regions=2", "has_text=x"])
def test_other_methods_refuse_them(cleaned: Cleaned, param: str) -> None:
    cleaned("--param", param, method="none", code=2)
