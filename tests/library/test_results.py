"""Results: what they show, when they work it out, and that a failed page never looks like an empty one."""

import csv
import io
import json
import pickle
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import domsieve
from domsieve.analysis.writers.evidence import text_blocks
from domsieve.analysis.writers.html import write_html
from domsieve.analysis.writers.markdown import write_markdown
from domsieve.analysis.writers.record_tables import write_records_csv
from domsieve.analysis.writers.text import write_text
from domsieve.library import results as module
from domsieve.library.results import CompareResult
from domsieve.notebook import MOST_LINES, Line, box
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.tasks.page_cleaning import clean
from domsieve.tasks.pages import Page
from domsieve.tasks.record_mining import mine
from tests.command import page, write_pages

SHOP = "<ul>" + "".join(
    f"<li><a href=/{n}>Thing {n}</a> <b>£{n}.00</b><p>All about the thing number {n}.</p></li>"
    for n in range(1, 7)
)
HOSTILE = (
    "<script>alert(1)</script><h1>&lt;script&gt;alert(2)&lt;/script&gt;</h1>"
    "<p>&lt;img src=x onerror=alert(3)&gt; \u202egnp.exe and a good deal of text behind it</p>"
)


class TestCleaned:
    def test_what_it_shows_is_what_the_writers_write(self) -> None:
        result = domsieve.clean([page(n) for n in range(6)])[2]
        found = result.snapshot, result.verdict
        assert result.text == write_text(*found)
        assert result.markdown == write_markdown(*found)
        assert result.html == write_html(*found)
        assert result.blocks == text_blocks(*found)
        assert {block.kept for block in result.blocks} == {True, False}
        assert (result.method, result.complete, result.error) == ("auto", True, None)
        assert result.expected_f1 == result.verdict.expected_f1

    def test_it_is_what_tasks_find(self) -> None:
        pages = [page(n) for n in range(6)]
        snapshots = [parse_html(source.encode(), url="", encoding="utf-8") for source in pages]
        given = [Page(str(n), str(n), "", lambda n=n: snapshots[n]) for n in range(6)]  # type: ignore[misc]
        wanted = [found for _, found in clean(given, method=None, siblings=lambda _: ())]
        for result, found in zip(domsieve.clean(pages), wanted, strict=True):
            assert not isinstance(found, domsieve.DomsieveError)
            assert result.verdict.kept.tolist() == found[1].kept.tolist()
            assert result.verdict.parameters == found[1].parameters

    def test_nothing_is_worked_out_unasked_or_twice(self, monkeypatch: pytest.MonkeyPatch) -> None:
        calls: list[str] = []

        def counted(name: str) -> Callable[..., Any]:
            write = getattr(module, name)

            def call(*given: Any, **how: Any) -> Any:
                calls.append(name)
                return write(*given, **how)

            return call

        for name in ("write_page", "text_blocks"):
            monkeypatch.setattr(module, name, counted(name))
        result = domsieve.clean(page(1))
        assert calls == []
        assert result.markdown is result.markdown
        assert calls == ["write_page"]

    def test_repr_is_short(self) -> None:
        assert repr(domsieve.clean("<p>seven words of text are kept here", method="none")) == (
            "<CleanResult 7 of 7 words kept, none>"
        )
        url = "http://example.org/" + "long/" * 100
        shown = repr(domsieve.clean("<p>one two", url=url, method="none"))
        assert shown.startswith("<CleanResult 'http://example.org/long/")
        assert len(shown) < 140

    def test_title_chunks_links_and_images(self) -> None:
        source = (
            "<title>Swifts</title><h1>Swifts</h1><p>They <a href='/sleep'>sleep <b>in</b><br>flight</a>, see "
            "<a href='#end'>the end</a> and <a href='mailto:a@b.test'>us</a>.</p>"
            "<a href='/big'><img src=bird.jpg srcset='bird2.jpg 2x' alt='A  swift'></a><img src=dot.gif alt=''>"
            "<img src='data:image/png;base64,AA'><p hidden><a href='/secret'>Secret</a></p><h2>Food</h2><p>Flies."
        )
        result = domsieve.clean(source, url="http://a.test/birds/", method="none")
        assert result.title == "Swifts"
        assert [(link.url, link.text) for link in result.links] == [
            ("http://a.test/sleep", "sleep in flight"),
            ("mailto:a@b.test", "us"),
            ("http://a.test/big", ""),
        ]
        assert [(image.url, image.alt) for image in result.images] == [
            ("http://a.test/birds/bird2.jpg", "A swift")
        ]
        for address in [*(link.url for link in result.links), *(image.url for image in result.images)]:
            assert f"]({address})" in result.markdown
        assert [chunk.headings for chunk in result.chunks] == [("Swifts",), ("Swifts", "Food")]
        written = [json.loads(line)["id"] for line in result.write("chunks").splitlines()]
        assert [chunk.id for chunk in result.chunks] == written

    def test_what_is_dropped_has_no_links(self) -> None:
        source = page(1).replace(
            "<body>", "<body><nav><ul><li><a href=/a>Home</a><li><a href=/b>Shop</a></ul></nav>"
        )
        result = domsieve.clean(source, url="http://a.test/")
        assert "Shop" not in result.text
        assert not {"http://a.test/a", "http://a.test/b"} & {link.url for link in result.links}

    def test_json_is_the_format_and_dicts_are_the_same(self) -> None:
        result = domsieve.clean(page(1), url="http://a.test/")
        assert result.json() == result.write("json")
        assert result.to_dict() == json.loads(result.json())
        assert result.to_dict()["text"] == result.text

    def test_a_cut_page_says_so(self) -> None:
        deep = domsieve.clean("text" + "<div>" * 3000 + "more", method="none")
        assert not deep.complete
        assert repr(deep).endswith("none, page was cut>")
        assert "cut: " in deep._repr_html_()

    def test_it_can_be_sent_to_another_process(self) -> None:
        good, bad = domsieve.clean(["<p>good", "bad"], method="none")
        assert pickle.loads(pickle.dumps(good)).text == "good\n"
        assert str(pickle.loads(pickle.dumps(bad)).error) == str(bad.error)


class TestFailed:
    def test_all_it_has_is_its_error(self) -> None:
        (result,) = domsieve.clean([Path("absent.html")])
        names = (
            "text",
            "markdown",
            "html",
            "blocks",
            "verdict",
            "snapshot",
            "method",
            "complete",
            "title",
            "chunks",
            "links",
            "images",
            "hidden_words",
            "unsure_texts",
            "invisible_characters",
        )
        for name in names:
            with pytest.raises(domsieve.UsageError, match="No such file"):
                getattr(result, name)
        for call in (result.json, result.to_dict):
            with pytest.raises(domsieve.UsageError, match="No such file"):
                call()
        assert repr(result).startswith("<CleanResult 'absent.html' failed: Cannot read")
        assert "No such file" in result._repr_html_()

    def test_records_and_comparisons_too(self, tmp_path: Path) -> None:
        (found,) = domsieve.records([tmp_path / "absent.html"])
        compared = CompareResult("http://a.test/", domsieve.PageError("gone"))
        for name in ("rows", "csv", "sheet", "tables", "snapshot", "method"):
            with pytest.raises(domsieve.UsageError, match="No such file"):
                getattr(found, name)
        for name in ("comparison", "browser_needed", "recall", "advice"):
            with pytest.raises(domsieve.PageError, match="gone"):
                getattr(compared, name)
        assert repr(compared) == "<CompareResult 'http://a.test/' failed: gone>"

    def test_the_only_page_raises(self, tmp_path: Path) -> None:
        for call in (domsieve.clean, domsieve.records):
            with pytest.raises(domsieve.UsageError, match="No such file"):
                call(tmp_path / "absent.html")


class TestRecords:
    def test_rows_are_those_of_the_table(self) -> None:
        result = domsieve.records(SHOP, url="http://shop.test/")
        assert result.rows[0] == {
            "page": "http://shop.test/",
            "region": 1,
            "record": 1,
            "link": "http://shop.test/1",
            "title": "Thing 1",
            "price": "£1.00",
            "text_3": "All about the thing number 1.",
        }
        as_text = [{name: str(value) for name, value in row.items()} for row in result.rows]
        assert [*csv.DictReader(io.StringIO(result.csv))] == as_text
        assert repr(result) == "<RecordsResult 'http://shop.test/' 6 records in 1 region, wobm>"

    def test_dicts_and_json_hold_the_rows(self) -> None:
        result = domsieve.records(SHOP, url="http://shop.test/")
        assert result.to_dict() == {"url": "http://shop.test/", "method": "wobm", "records": result.rows}
        assert json.loads(result.json()) == result.to_dict()

    def test_it_is_what_tasks_find(self, tmp_path: Path) -> None:
        file = tmp_path / "shop.html"
        file.write_text(SHOP, encoding="utf-8")
        given = parse_html(SHOP.encode(), url=str(file))
        ((_, sheet),) = mine([Page(str(file), "", "", lambda: given)], method="mdr")
        assert not isinstance(sheet, domsieve.DomsieveError)
        result = domsieve.records(file, method="mdr")
        assert write_records_csv([result.sheet]) == write_records_csv([sheet])
        assert len(result.tables) == len(sheet.tables)

    def test_fields_are_picked_by_name(self) -> None:
        result = domsieve.records(SHOP, url="http://shop.test/", fields=["price", "title", "date", "price"])
        assert result.rows[0] == {
            "page": "http://shop.test/",
            "region": 1,
            "record": 1,
            "price": "£1.00",
            "title": "Thing 1",
            "date": None,
        }

    @pytest.mark.parametrize("fields", ["title", ["prise"], [1], 1, None])
    def test_wrong_fields_are_refused_with_the_choices(self, fields: Any) -> None:
        with pytest.raises(domsieve.UsageError, match="give a list of title, description, price"):
            domsieve.records(SHOP, fields=fields)

    def test_absent_fields_are_none(self) -> None:
        without = SHOP.replace("<b>£3.00</b>", "")
        assert [row["price"] for row in domsieve.records(without).rows][1:4] == ["£2.00", None, "£4.00"]

    def test_a_page_without_records(self) -> None:
        result = domsieve.records("<p>nothing")
        assert (result.rows, result.csv) == ([], "page,region,record\r\n")
        assert "0 records" in result._repr_html_()


class TestFrames:
    def test_records_become_a_row_each(self) -> None:
        result = domsieve.records(SHOP, url="http://shop.test/")
        frame = result.to_pandas()
        assert frame.to_dict("records") == result.rows
        assert len(domsieve.to_pandas([result, result])) == 2 * len(frame)

    def test_cleaned_pages_become_a_row_each(self) -> None:
        pages = domsieve.clean([page(n) for n in range(6)])
        frame = domsieve.to_pandas(pages)
        assert frame["text"].to_list() == [result.text for result in pages]
        assert frame["title"].to_list() == [result.title for result in pages]
        assert "error" not in frame.columns
        assert domsieve.to_pandas(iter(pages[:1])).equals(pages[0].to_pandas())

    @pytest.mark.parametrize("call", [domsieve.clean, domsieve.records])
    def test_a_failed_page_is_a_row_with_its_error(self, call: Callable[..., Any]) -> None:
        results = call([SHOP, Path("absent.html")])
        last = domsieve.to_pandas(results).to_dict("records")[-1]
        assert "absent.html" in {last.get("url"), last.get("page")}
        assert "No such file" in last["error"]
        assert domsieve.to_pandas(results)["error"].notna().sum() == 1

    def test_no_results_are_an_empty_frame(self) -> None:
        assert domsieve.to_pandas([]).empty
        assert domsieve.records("<p>nothing").to_pandas().empty

    def test_what_is_no_result_is_refused(self) -> None:
        mixed = [domsieve.clean("<p>a"), domsieve.records("<p>a")]
        for wrong in (mixed, ["text"]):
            with pytest.raises(domsieve.UsageError, match="results of clean"):
                domsieve.to_pandas(wrong)  # type: ignore[arg-type]

    def test_without_pandas_the_error_names_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(domsieve.UsageError, match="install pandas"):
            domsieve.records(SHOP).to_pandas()


class TestNotebook:
    def test_kept_and_dropped_blocks_are_shown(self) -> None:
        shown = domsieve.clean([page(n) for n in range(6)])[1]._repr_html_()
        assert "<s>Imprint</s>" in shown
        assert "<small>looks like boilerplate</small>" in shown
        assert "Heading 1" in shown
        assert "<s>Heading 1" not in shown
        assert "method auto · " in shown

    @pytest.mark.parametrize(
        "show",
        [lambda html: domsieve.clean(html, method="none"), lambda html: parse_html(html.encode(), url="")],
    )
    def test_markup_of_the_page_is_text(self, show: Callable[[str], Any]) -> None:
        shown = show(HOSTILE)._repr_html_()
        assert "&lt;script&gt;alert(2)" in shown
        assert "&lt;img src=x" in shown
        assert "alert(1)" not in shown
        for bad in ("<script", "<img", "<style", "<a ", "href", 'src="', "class=", "\u202e"):
            assert bad not in shown

    def test_addresses_and_fields_are_text(self) -> None:
        hostile = SHOP.replace("Thing 2", "&lt;img src=x&gt;")
        shown = domsieve.records(hostile, url="http://a.test/?<b>")._repr_html_()
        assert "<img" not in shown
        assert "?&lt;b&gt;" in shown
        assert "<th " in shown
        assert "£2.00" in shown

    def test_names_of_files_that_are_no_text(self, tmp_path: Path) -> None:
        (result,) = domsieve.clean([tmp_path / "\udcff.html"])
        result._repr_html_().encode()

    def test_a_long_page_is_cut(self) -> None:
        long = "".join(f"<p>{'word ' * 500}{n}</p>" for n in range(MOST_LINES + 30))
        lines = [Line(f"{n}") for n in range(MOST_LINES + 30)]
        for shown in (parse_html(long.encode(), url="")._repr_html_(), box("", [], lines)):
            assert "… and 30 more blocks" in shown
            assert len(shown) < 200_000
        rows = domsieve.records(SHOP.replace("</ul>", "") + "".join(f"<li>{n}" for n in range(3)))
        assert "more" not in rows._repr_html_()

    def test_a_snapshot_shows_itself(self) -> None:
        source = (
            "<title>The  swifts</title><style>p {}</style><p>A hundred <b>d</b>ays</p><noscript>No</noscript>"
            "<p>and nights</p>"
        )
        snapshot = parse_html(source.encode(), url="http://a.test/<x>")
        shown = snapshot._repr_html_()
        assert "The swifts</div>" in shown
        assert "http://a.test/&lt;x&gt; · raw · " in shown
        assert "A hundred days<" in shown
        assert ">and nights<" in shown
        assert ">No<" not in shown
        assert repr(snapshot) == f"<Snapshot 'http://a.test/<x>' raw, {len(snapshot)} nodes, complete>"

    def test_results_of_files_say_which(self, tmp_path: Path) -> None:
        (file,) = write_pages(tmp_path, 1)
        assert str(file) in domsieve.clean(file)._repr_html_()
