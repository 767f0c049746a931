"""The recipe for Scrapy: a pipeline that learns from a whole crawl when the spider closes."""

import json
import subprocess
import sys
from pathlib import Path

from examples.loopback import folder_served
from tests.integrations.recipes import source

MENU = "<nav><a href=/p1.html>Home of the bees</a> <a href=/p2.html>All about us</a></nav>"
SPIDER = """
import sys
import scrapy
from scrapy.crawler import CrawlerProcess

class Pages(scrapy.Spider):
    name = "pages"
    start_urls = sys.argv[1:]

    def parse(self, response):
        yield {"url": response.url, "html": response.text}

if __name__ == "__main__":
    settings = {"ITEM_PIPELINES": {"pipelines.DomsievePipeline": 500}, "TELNETCONSOLE_ENABLED": False}
    process = CrawlerProcess(settings)
    process.crawl(Pages)
    process.start()
"""


def page(number: int) -> str:
    word = ["hive", "queen", "drone", "honey", "comb", "swarm"][number - 1]
    body = "".join(f"<p>The {word} of number {n} stands behind the barn in the sun.</p>" for n in range(6))
    return f"<!doctype html><title>{word}</title><body>{MENU}<h1>The {word}</h1>{body}<p>Imprint</p>"


def test_a_crawl_is_cleaned_when_the_spider_closes(tmp_path: Path) -> None:
    site, project = tmp_path / "site", tmp_path / "project"
    site.mkdir()
    project.mkdir()
    for number in range(1, 7):
        (site / f"p{number}.html").write_text(page(number))
    (site / "empty.html").write_text("")
    (project / "pipelines.py").write_text(source("DomsievePipeline"))
    (project / "spider.py").write_text(SPIDER)
    with folder_served(site) as base:
        urls = [*(f"{base}/p{number}.html" for number in range(1, 7)), f"{base}/empty.html"]
        done = subprocess.run(
            [sys.executable, "spider.py", *urls], cwd=project, capture_output=True, check=False, timeout=600
        )
    assert done.returncode == 0, done.stderr.decode()
    lines = (project / "clean.jsonl").read_text(encoding="utf-8").splitlines()
    rows = {row["url"]: row for row in map(json.loads, lines)}
    assert rows.keys() == {*urls}, done.stderr.decode()
    assert "error" in rows[urls[-1]]
    assert "The hive of number 3" in rows[urls[0]]["text"]
    assert "All about us" not in rows[urls[0]]["text"]
    assert 0 < rows[urls[0]]["expected_f1"] <= 1
