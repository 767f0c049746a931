"""No pattern takes quadratic time on strangers' text: each is run on its worst input, with a limit of CPU time.

The patterns are read off the source of the package, so that a new one must be entered below before it passes.
"""

import ast
import functools
import importlib
import json
import re
import resource
import signal
import struct
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from domsieve.analysis.cleaning.tps import TagPathFilter
from domsieve.analysis.columns.words import fold
from domsieve.archive._decompression import DEFAULT_LIMITS
from domsieve.archive._records import records
from domsieve.archive._segments import Archive
from domsieve.archive.http_exchange import dechunked, head_of
from domsieve.renderer.html_parser.content import PRESCAN_BYTES, declared_encoding
from domsieve.renderer.html_parser.parser import parse_html
from domsieve.renderer.network.egress import place_of
from domsieve.renderer.sampling._page_urls import normalized
from domsieve.renderer.sampling.robots import Robots
from domsieve.renderer.sampling.sitemap import parse_sitemap
from domsieve.tasks.pages import Page, numbered

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "domsieve"
FOLDERS = (PACKAGE, ROOT / "experiments")
CALLS = {"compile", "findall", "finditer", "fullmatch", "match", "search", "split", "sub", "subn"}
LIMIT_S = 5
# A quadratic pattern takes SIZE ** 2 / 2 steps, and a step of the engine more than a nanosecond: twenty times the
# limit. What is linear takes a fifth of it, and no more than two thirds on a machine that is busy with other work.
SIZE = 450_000
# What reads a whole text does more for each character, and may take as long in proportion.
READERS_LIMIT_S = 20
READERS_SIZE = 900_000
PROCESSES = 2
MOST_BYTES = 2_500_000_000

# What each pattern finds hardest, as texts to be repeated: "head|body|tail", of which the body is repeated. Patterns
# by the module, without "domsieve.", and the name, or what a call is given.
WORST = {
    "tasks.site_sync.change_log _OLDER": ["|changes.|", "changes.|1|"],
    "analysis.browser_need.hiding_rules _BLOCK": ["|a|", "|{|", "|a;|"],
    "analysis.browser_need.hiding_rules _IMPORT": [
        "|@import |",
        "@import| |",
        '@import "|a|',
        '|@import "|',
        "|@import url(|",
        "@import |a|",
    ],
    "analysis.browser_need.hiding_rules _NAME": ["|.|", ".|a|", "|.a|"],
    "analysis.browser_need.hiding_rules _PLACEHOLDER": ["|\x02|", "|\x021|", "\x02|1|"],
    "analysis.browser_need.hiding_rules _PSEUDO_ELEMENT": ["|:|a", "|:before|", "|:first-|"],
    "analysis.browser_need.hiding_rules _STATES": ["|:|", "|:focus-|", ":-moz-|a|", "|:-moz-|"],
    "analysis.browser_need.hiding_rules _STRING": ['|"|', '"|a|', '"|\\"|', "|'a|", "'|a\n|"],
    "analysis.browser_need.source_parts _LITERAL": ['|"|', '"|a|', '"|\\"|', "|'a|", "|1|", "a|1|", "|1.|"],
    "analysis.browser_need.source_parts _MARKUP": ["|<|", "<|a|"],
    "analysis.browser_need.source_parts _OPENING": ["|<script|", "|<|", "|<style>|"],
    "analysis.document.damage _IDEOGRAPHS": ["|\u4e00|", "|\u4e00a|"],
    "analysis.document.damage _LATIN_1": ["|\u00e4|"],
    "analysis.document.damage _MISREAD": ["|\u00c3|", "|\u00c3\u00a4|", "|\u00c3\u0080\u0080|"],
    "analysis.document.damage _ODD": ["|\ufffd|"],
    "analysis.document.other_content _FORUM": ["|forum|", "|a|", "|-|"],
    "analysis.changes.words _ADDRESS": ["|](|", "](|a|", "|](a|"],
    "analysis.columns.page_columns _JSON_TYPE": ['"@type"| |', '"@type":"|a|', '|"@type"|', '|"@type":"a|'],
    "archive.responses _GOING_AROUND": ["|?_=|", "|&cb=|", "?_=|a|", "|&cache_bust|", "|&|"],
    "archive.responses _PASSING": ["|1|", "|1.|", "|0123abcd-|", "|12345678-1234-|", "|1.1.1.1x|"],
    "archive.responses _RANGE": ["|\nrange:|", "|\r|", "\nrange:|\t|", "\nrange: |a|"],
    "archive.responses _REQUEST": ["|A|"],
    "archive.http_exchange _BLANK_LINE": ["|\r|", "|\r\n\r|", "|\n\r|"],
    "archive.http_exchange _SIZE": ["1;|a|", "|1|", "1;|;|"],
    "archive.http_exchange _STATUS": ["HTTP/1.1| |", "HTTP/1|.|", "HTTP/1.1 |2|"],
    "archive._records _HEAD_END": ["|\r|", "|\r\n\r|", "|\n\r|"],
    "archive._records _SIGN": ["|WARC/|", "|WARC/1.0|", "WARC/1.|0|"],
    "archive._writing _WWW": ["www|1|", "|w|", "|www|"],
    "analysis.auto.tokens _PART": ["|A|a", "|a|", "|Aa|", "|A| "],
    "analysis.columns.links _NO_URL_CHARACTERS": ["|\t|", "|a\t|"],
    "analysis.columns.links _PLAIN": ["|/a|;", "http://|a|;", "/a?|a|;", "|/a.|;", "|a|"],
    "analysis.columns.links _UNSAFE_IN_URL": ["| |"],
    "analysis.columns.styles _TRANSPARENT": ["rgba(|, 0)|x", "|rgba(|"],
    "analysis.columns.styles '-?\\\\d*\\\\.?\\\\d+'": ["|1|", "-|1|.", "|1.|"],
    "analysis.columns.css_values _CALL": ["|a|", "|-|", "|a(|"],
    "analysis.columns.css_values _NUMBER": ["|1|.", "|-|", "|1e|", "|.|"],
    "analysis.columns.css_values _IN_SPACE": ["|in |"],
    "analysis.columns.css_values _STOP": ["|rgb(|", "rgb(|1|", "|oklch|", "|transparen|"],
    "analysis.columns.css_values _NAME": ["|a|", "-|a|"],
    "analysis.columns.css_values '[\\\\s,/]+'": ["| |", "| a|"],
    "analysis.columns.css_shapes _LENGTH": ["|1|.", "|-|", "1e|1|", "|.|"],
    "analysis.columns.css_shapes _PATH": ["|1|.", "|-|", "|1e|", "|.|", "|M|"],
    "analysis.columns.css_shapes _TOKEN": ["|1|.", "|-|", "|1e|", "|calc|", "|calc(|", "|.|"],
    "analysis.columns.css_transforms _NUMBERS": ["|1|.", "|-|", "|1e|", "|1e+|", "|.|"],
    "analysis.columns.scene _ADDRESS": ["|url(|", "url(#|a|", "|url(#|"],
    "analysis.columns.emphasis _COLOUR": ["rgb(|0|)", "|rgb(|"],
    "analysis.columns.emphasis _MARK": ['"|a|'],
    "analysis.columns.formulas _ACCENTS": ["|\u0301|"],
    "analysis.columns.formulas _LIKE_LETTERS": ["|\u2200|"],
    "analysis.columns.letter_room _MARKED": ["|a|", "a|\u0300|", "|a\u0300\u0300|"],
    "analysis.columns.letter_room _SYMBOL_LETTER": ["|a|"],
    "analysis.columns.letter_room _WIDE_LETTER": ["|a|"],
    "analysis.columns.paint_styles _ADDRESS": ['url("#|a|', '|url("#|'],
    "analysis.columns.paint_styles _FILE": ['url("|a|', '|url("|'],
    "analysis.columns.paint_styles _HOLDS_FIXED": ["|trans|", "|transform|", "|s|"],
    "analysis.columns.paint_styles _KEEPS_PIXELS": ["|a|", "|transfor|", "|scal|"],
    "analysis.columns.paint_styles _MAKES_CONTEXT": ["|trans|", "|transform|", "|clip-|"],
    "analysis.columns.paint_styles _SIZE": ["|1|", "1x|1|"],
    "analysis.columns.invisible _ANY": ["|a|"],
    "analysis.columns.invisible _AT_EDGE": ["|\n|", "|\u200ba|"],
    "analysis.columns.invisible _BIDI": ["|a|", "|\u202a|"],
    "analysis.columns.invisible _DENSE": [
        "|\u200ba|",
        "|\u200baaa|",
        "|\u200b|",
        "|\u200ba\u200ba\u200ba\u200baaaa|",
    ],
    "analysis.columns.invisible _FLAG": ["|\U000e0067|", "\U000e0067\U000e0062|\U000e0065|\U000e007f"],
    "analysis.columns.invisible _GAP": [
        "|\x81|",
        "|\x81\u200b|",
        "|\u2003|",
        "|\u2003\u200b|",
        "| |",
        "|\x81\x81a|",
    ],
    "analysis.columns.invisible _IN_COMPLEX_SCRIPT": ["|\u0600|"],
    "analysis.columns.invisible _SELECTOR": ["|\ufe0f|"],
    "analysis.columns.invisible _STACK": ["|\u0363|", "|\u0363\u200b|", "|\u0363\u0363a|"],
    "analysis.columns.invisible _SUSPECT": ["|\u200b|", "|a\u200b|", "|\u200b\u200ba|"],
    "analysis.columns.invisible _UNUSUAL": ["|a|"],
    "analysis.columns.invisible _VARIATION": ["|0|", "|\u4e00|", "0|\ufe0f|"],
    "analysis.columns.page_blocks _SPACES": ["| |", "|a |"],
    "analysis.columns.styles _DIGITS": ["|1|", "|a1|"],
    "analysis.columns.styles _STATES": ["|a|", "|curren|", "close|d|"],
    "analysis.columns.styles _RULE": ["| |", "|;|", "|a|", "|a |", "a| |b", "a:| |", "|a:|"],
    "analysis.columns.visible _HIDING": [
        ";display| |",
        ";display:| |",
        "| |",
        "|;display |",
        "|visibility: |",
    ],
    "analysis.columns.words _GAPS": ["| |", "|_a|"],
    "analysis.compare.comparison _MARKUP": ["|<|", "<|a|"],
    "analysis.page_flags.flags _TITLE_PARTS": ["|-|", "|a|"],
    "analysis.page_flags.flags _NUMBER": ["|1|", "|1a|"],
    "analysis.metadata._amounts _AMOUNT": [
        "|1|",
        "|1,|",
        "|1 11|",
        "|a|",
        "| |",
        "|€ |",
        "|us$|",
        "1| |",
        "1|-|",
    ],
    "analysis.metadata._amounts _DASH": ["| |", "|-|"],
    "analysis.metadata._amounts _GROUPS": ["| |", "|1|"],
    "analysis.metadata._amounts _MACHINE": ["|1|", "1.|1|"],
    "analysis.metadata._dates _COMPACT": ["|1|", "|2001|", "|20010101T|"],
    "analysis.metadata._dates _EPOCH": ["|1|"],
    "analysis.metadata._dates _ISO": ["|1|", "|2001-|", "|2001-1-1T|", "2001-1-1| |", "2001-1-1T1:00:00.|1|"],
    "analysis.metadata._dates _SHORT_YEAR": ["|1|", "|1.|", "|1.1.11|"],
    "analysis.metadata._dates _TIME": ["|1|", "|1:|", "|1:11|", "|1:11 A|"],
    "analysis.metadata._dates _VIETNAMESE": ["|1|", "|1 tháng |", "|1 tháng 1 |"],
    "analysis.fields.value_kinds _DATE": ["|1|", "|1/|", "|may |", "|1 may |", "may| |", "|may1|"],
    "analysis.fields.value_kinds _ISBN": ["|1|", "|1-|", "|1 |", "978|-1|x"],
    "analysis.fields.value_kinds _NUMBER": ["|1|", "|1,|", "|1 |", "|-|"],
    "analysis.fields.value_kinds _PRICE": ["|$|", "|1|", "|1,|", "|1 |", "|$1|", "|1 USD|", "|USD |"],
    "analysis.metadata._dates _WORDS": ["|a|", "|1|", "|a1|"],
    "analysis.metadata._dates _YEAR": ["|1|", "|199|", "|20|"],
    "analysis.metadata._dates _YEAR_FIRST": ["|2001/|", "|1|", "2001/|1|"],
    "analysis.metadata._dates _YEAR_LAST": ["|1/|", "|1|", "1/1/|1|"],
    "analysis.metadata._elements _WORDS": ["|a|", "|A|", "|Aa|"],
    "analysis.metadata.json_values _BAD_ESCAPE": ["|\\|", "|\\u|", "|\\u00|"],
    "analysis.metadata.json_values _COMMA_AT_END": ["|,|", ",| |a", "|, |"],
    "analysis.metadata.json_values _STRING": ['|"|', '|\\"|', '"|\\"|', '"|a|', '"|a\\|', '|"a\\|'],
    "analysis.metadata.json_values _TOKEN": ['|"|', '|\\"|', '"|\\"|', '"|a|', "|[|", '|"a\\|'],
    "analysis.metadata._authors _BEHIND": ["| |", "|1|", "| o|", "|1234|"],
    "analysis.metadata._authors _PARTS": ["| |", "| and|", "|a |"],
    "analysis.metadata._authors _PREFIX": ["|by |", "|posted |", "by| |", "posted| |", "by:| |"],
    "analysis.metadata._page_dates _ADDRESS_DAY": ["|1|", "|2001|", "|2001-|", "|2001-01-|"],
    "analysis.metadata._page_dates _ARCHIVE": [
        "|/|",
        "|/12345678901234|",
        "/12345678901234/|a|",
        "/12345678901234|/|",
    ],
    "analysis.metadata._page_dates _DATELINE_END": ["| |", "|.|"],
    "analysis.metadata._page_dates _FOLDERS": ["|/1111|", "|/1111/1|", "|/|"],
    "analysis.metadata._page_dates _MODIFIED_LABEL": [
        "|mis |",
        "|mise |",
        "|stand |",
        "stand| |a",
        "|last |",
    ],
    "analysis.metadata._page_dates _OTHER_LABEL": ["|join|", "|member |", "|a|"],
    "analysis.metadata._page_dates _PLACE": ["| |", "|a|", "a |a|", "|a, |"],
    "analysis.metadata._page_dates _PUBLISHED_LABEL": ["|publi|", "|post |", "|mise |", "|dieser |"],
    "analysis.metadata._page_dates _SENTENCE_END": ["|a|", "|a.|", "|.|"],
    "analysis.metadata._page_dates _SHORT_AT_END": ["|, |", "|, 1.|", "|, 1.1.11|a"],
    "analysis.metadata._page_dates _SPAN": ["|bis |", "bis| |a", "|ab|"],
    "analysis.metadata._product_texts _BRAND_LABEL": ["|brand|", "|manufacturer|"],
    "analysis.metadata._product_texts _BUTTON_WORDS": ["|add|", "|add-to-|", "|buy-|"],
    "analysis.metadata._product_texts _BUY": ["| |", "|add |", "|añadir al |", "|.|"],
    "analysis.metadata._product_texts _CODE": ["|a|", "|a-|", "|1|"],
    "analysis.metadata._product_texts _GTIN_LABEL": ["|ean |", "|ean|"],
    "analysis.metadata._product_texts _IN": ["|only 1|", "only |1|", "|in |"],
    "analysis.metadata._product_texts _MPN_LABEL": ["|model |", "manufacturer|a |", "|part|"],
    "analysis.metadata._product_texts _OUT": ["|not available|", "|nicht mehr |", "|sold|"],
    "analysis.metadata._product_texts _PICTURE": ["|a|", "|imag|"],
    "analysis.metadata._product_texts _RUN": ["|1|", "|1111a|"],
    "analysis.metadata._product_texts _SKU_LABEL": [
        "|code de |",
        "|item |",
        "sku (|a|",
        "|cod |",
        "id prod|a|",
    ],
    "analysis.metadata._product_texts _VAGUE_LABEL": ["|ref|", "ref|.|", "|code|"],
    "analysis.metadata._shown_price _DIGIT": ["|a|"],
    "analysis.metadata._shown_price _LABEL": ["|pri|", "|a|"],
    "analysis.metadata._shown_price _NET": ["|ohne |", "|ex. |"],
    "analysis.metadata._shown_price _OTHER_LABEL": ["|a |", "|trade |", "|was|"],
    "analysis.metadata._shown_price _OTHER_REST": ["|.|", "|per|"],
    "analysis.metadata._shown_price _OTHER_TEXT": ["|a |", "|1|", "|x d|"],
    "analysis.metadata._shown_price _SPLIT_DECIMALS": ["|1|", "|1 .|", "|1.1|"],
    "analysis.metadata._shown_price _WORDS": ["|a|", "|A|", "|Aa|"],
    "analysis.metadata.markup _MODIFIED": ["|last|", "|update|", "|revision|"],
    "analysis.metadata.markup _PUBLISHED": ["|pub|", "|creat|", "|date|", "|-uploaded|"],
    "analysis.metadata.title _PARTS": ["| |", "| -|", " |-|", "|- |"],
    "analysis.metadata.values _LANGUAGE": ["|a|", "|en-|"],
    "analysis.metadata.values _TAG": ["|<a |", "<a |b|", "|<|", "|</a|"],
    "analysis.records._field_roles _CLASS_PART": ["|a|", "|A|", "|aA|", "|-|"],
    "analysis.records._field_roles _NO_NAME": ["|:|", "|a:|"],
    "analysis.records._field_roles _PREFIX": ["a:| |", "|a|", "|:|"],
    "analysis.records._field_roles _DAY": ["|1|", "|1-|", "|1-1|", "|1111-1|", "|11/11/|"],
    "analysis.records._field_roles _NUMBER": ["|1|", "|1.|", "+1|.|", "|(|"],
    "analysis.records._field_roles _WORD": ["|a|", "|a1|", "|1|"],
    "analysis.records._field_roles _YEAR": ["|19|", "|199|", "|1999|", "|1|"],
    "analysis.report.document _ESCAPED": ["|<|"],
    "analysis.site_groups _ADDRESS": ["|href=|", 'href="|a|', "|href |", "href| |"],
    "analysis.site_groups _CLASS": ["|class=|", 'class="|a|', "|class |", "class| |"],
    "analysis.writers._front_matter _UNPRINTABLE": ["|\x7f|", "|a|"],
    "analysis.writers.html _CONTROLS": ["|\0|"],
    "analysis.writers.html _HELD_SPACE": ["| |", "|a |", "|\n |"],
    "analysis.writers.html _LANGUAGE": ["|a|", "|a-|"],
    "analysis.writers.html _NUMBER": ["|1|", "1.|1|"],
    "analysis.writers.html _SPACES": ["| |", "|a |"],
    "analysis.writers.html _TIME": ["|1|", "00:00:00.|1|", "P|1|", "|P1Y|"],
    "analysis.writers.html _WORD": ["|a|"],
    "analysis.writers.chunks _BLANKS": ["| |", "|a |"],
    "analysis.writers.chunks _LINK_ADDRESS": ["|](|", "](|a|", "|](a|"],
    "analysis.writers.chunks _SENTENCE_ENDS": ["|.|", ".| |", "|.'|"],
    "analysis.writers.chunks _UNCUT": ["|[|", "[|a|", "|[](|", "|[](a|", "[](|a|", "|!|", "`|a|"],
    "analysis.writers._annotations _LABEL": ["|a|"],
    "analysis.writers._annotations _NUMBERED": ["|1|", "[n|1|]"],
    "analysis.writers._formulas _COMMAND": ["|\\|", "\\|a|", "|\\end{|", "|\\end{aaa|", "|1|", "|\\\\[1.1|"],
    "analysis.writers._formulas _COMMENT": ["|%|", "|%\n|"],
    "analysis.writers._formulas _DOLLAR": ["|$|"],
    "analysis.writers._formulas _EMPTY": ["|{|", "|^|", "|{{}|", "|_{|"],
    "analysis.writers._formulas _MARKUP": ["|<|", "|]|"],
    "analysis.writers._formulas _SPACES": ["| |", "|a |"],
    "analysis.writers._formulas _SYNTAX": ["|{|"],
    "analysis.writers._formulas _WORD": ["|a|", "|aa |", "|1a|"],
    "analysis.writers._formulas _STYLED": ["{\\textstyle |a|", "|{\\textstyle |", "{\\textstyle |}|a"],
    "analysis.writers._mathml _ATOM": ["|\\|", "\\|a|", "\\text{|a|", "|\\text{|"],
    "analysis.writers._mathml _COMMAND": ["|\\|", "\\|a|", "|\\a|"],
    "analysis.writers._mathml _MARKED": ["|a|"],
    "analysis.writers.markdown _FENCES": ["|`|", "|``a|"],
    "analysis.writers._markdown_inline _BACKTICKS": ["|`|", "|`a|"],
    "analysis.writers._markdown_inline _BRACKETS": ["|[|"],
    "analysis.writers._markdown_inline _ENTITY": ["|&|", "&|a|"],
    "analysis.writers._markdown_inline _LABEL": ["[|a|", "[|\\]|", "[|\\a|", "|[|"],
    "analysis.writers._markdown_inline _PLAIN_ESCAPES": ["|&|", "&|a|", "|&a|", "|&#|", "|\\|", "|]|", "|<|"],
    "analysis.writers._markdown_inline _RUNS": ["|*|", "|*_~`$|"],
    "analysis.writers._markdown_inline _SPACES": ["| |", "|a |"],
    "analysis.writers._markdown_inline _SPECIAL": ["|a|"],
    "analysis.writers._markdown_plan _TITLE": ["|titl|", "|headin|"],
    "analysis.writers.record_tables _FORMULA": ["|=|"],
    "analysis.writers.record_tables _NUMBER": ["|1|x", "1|.1|x", "1e|1|x", "|1.|", "1| |"],
    "analysis.writers.text _C1": ["|\xc2|"],
    "analysis.writers.text _PRE_RUN": ["|\xfd|", "|\xfda|"],
    "commands.declared_options _SIZE": ["|0|", "|0|1", "1x|0|", "|1|"],
    "library.inputs _MARKUP": ["|<|", "|< |"],
    "renderer.browser.playwright_driver 'process did exit: exitCode=(\\\\w+), signal=(\\\\w+)'": [
        "process did exit: exitCode=|1|",
        "|process did exit: exitCode=1, |",
    ],
    "renderer.browser.playwright_driver '\\\\[err\\\\] (.+)'": ["|[err] |", "|[err]|"],
    "renderer.page.pixels._parts _WORD": [
        "|a|",
        "|a |",
        "| |",
        "|\u2600|",
        "\u2600|\ufe0f|",
        "|\u2600\ufe0f|",
    ],
    "renderer.network.addresses _ESCAPE": ["|%|", "|%4|"],
    "renderer.network.addresses _LABEL": ["|a|", "|-|"],
    "renderer.network.addresses _NUMBER": ["0x|1|g", "|1|g"],
    "renderer.network.addresses _PART": ["0x|1|", "0|1|", "|1|"],
    "renderer.network.egress _PLACE": ["|a|:", "[|a|", ":|1|"],
    "renderer.fetching._connection _LENGTH": ["|1|"],
    "renderer.fetching._connection _SIZE": ["|1|"],
    "renderer.network._proxy_ends _CONSENT": ["HTTP/1.1 2|0|"],
    "renderer.network._proxy_ends _SWITCHING": ["HTTP/1.1 101|0|"],
    "renderer.network._proxy_head _AUTHORITY": ["|a|:x", "[|a|", "a:|1|"],
    "renderer.network._proxy_head _FIELD": ["a:|\t|\0", "a:|\t a|\0", "|a|"],
    "renderer.network._proxy_head _LENGTH": ["|1|"],
    "renderer.network._proxy_head _METHOD": ["|A|"],
    "renderer.network._proxy_head _TARGET": ["|a| "],
    "renderer.page.capture _DECLARED_UTF8": ["charset| |", "charset=| |", "|charset |", "|charset=|"],
    "renderer.sampling._page_links _ROUTE_ID": ["?|id=|", "|&id=|", "|?id=&|"],
    "renderer.sampling._page_links '[\\\\s,]+'": ["| |", "|a,|"],
    "renderer.sampling.robots _PLAIN": ["| |", "|1|x", "1.|1|x", "1/1| |x", "1/|1|x", "1e|1|", "1#|a|\n"],
    "renderer.sampling.robots _WAIT": ["| |", "crawl| |", "request| |", "crawl-delay| |"],
    "renderer.sampling.sitemap _WORD": ["|a|", "| |", "|a |"],
    "renderer.page.pixels._glyphs _CHANGED": [
        "LATIN SMALL LETTER A WITH |A|",
        "LATIN SMALL LETTER A WITH | |",
    ],
    "renderer.page.pixels._read_as _STRUCK": ["|a|", "a|\u0334|", "a|\u0300|", "|a\u0300|"],
    "renderer.page.pixels._filters _ADDRESS": ['url("|a|', "url(|a|", 'url("|\\\\a|'],
    "renderer.page.pixels._filters _NUMBER": ["|1|", "1.|1|", "1e|1|"],
    "renderer.page.pixels._sheets _SCRIPTING_QUERY": ["|(|", "(| |", "(scripting| |"],
    "renderer.page.pixels._sheets _FORCED": [
        "|color|",
        "color|a|",
        "color| |",
        "color:|a|",
        "|color:|",
        "color:a!| |",
    ],
    "renderer.page.pixels._sheets _PROPERTY": ["|a|", "|a-|", "a| |", "a| |:", "|-webkit-|"],
    "renderer.page.pixels._sheets _SELECTOR": ["|:|", ":|a|", "::|a|", "|:a|"],
    "renderer.page.pixels._sheets _SHOWN": ["|display|", "display| |", "display| |:"],
    "renderer.page.pixels._sheets _RULE": ["|@|", "@|a|", "|@a|"],
    "renderer.page.pixels._sheets _FUNCTION": ["|a|", "|a-|", "|a(|", "|-webkit-|"],
    "renderer.page.pixels._sheets _PART": ["|:|", "|::|", "|::a|"],
    "renderer.page.pixels._css_text _COMMENT": [
        "|/*|",
        "/*|*|",
        "/*|a|",
        '|"|',
        '"|a|',
        '"|\\\\|',
        "|'|",
        "'|a|",
        "'|\\\\|",
        "|url(|",
        "url(|a|",
        "url(|\\\\|",
        "|\\\\|",
    ],
    "renderer.page.pixels._css_text _ESCAPE": ["|\\|", "\\|1|", "\\1| |", "|\\1 |"],
    "renderer.sampling._page_urls _ESCAPE": ["|%|", "|%4|"],
    "renderer.sampling._page_urls _FILE": ["|.|", "|a|.", "|.jpg|x"],
    "renderer.sampling._page_urls _PATH_SESSION": ["|;jsessionid=|", "|;jsessionid|"],
    "renderer.sampling._page_urls _SESSION": ["s=|a|_", "|session_|"],
    "renderer.sampling._page_urls _TRACKING": ["utm_|=|\n", "utm_|a|", "aspsessionid|=|\n", "gclid=|a|\n"],
    "renderer.sampling._page_urls '(?=[?#])'": ["|a|", "|a|?"],
    "renderer.html_parser._streamed_parts _CALL": ["|$RC( |", '|$RC("|', '$RC("|a|', '|$RC("a",|'],
    "renderer.html_parser._streamed_parts _DEFINITION": ["|$RC |", "$RC| |", "|function |", "function| |"],
    "renderer.html_parser.parser _HIDING": ["display| |", "display:| |", "|display|"],
    "renderer.net_errors _IN_BRACKETS": ["| (net::|", " (net::ERR_|A|", "| (net::ERR_A|"],
    "renderer.net_errors CODE": ["|net::|", "|net::ERR_|", "net::ERR_|A|", "|net::ERR_A|"],
    "renderer.html_parser.content _ANY_TAG": ["|<|"],
    "renderer.html_parser.content _CHARSET": [
        "charset| |",
        "charset=| |",
        "|charset=|",
        "charset=\"|a|'",
        "|charset |",
    ],
    "renderer.html_parser.content _TAG": ["|<link |", "<link |a|", "|<base/|"],
    "renderer.html_parser.content _TITLE": ["|<title|", "<title>|a|", "|<title>a|", "<title|a|"],
    "renderer.html_parser._long_tags _ATTRIBUTE": [
        *("| |=", "|/|", "|a |", " a| |", " a=| |", ' a="|a|', "| /|=", "| =|", '|a="|', "|a='b=\"|"),
    ],
    "renderer.html_parser._long_tags _NAME": ["<|a|"],
    "renderer.html_parser._long_tags _START": ["|<|"],
    "renderer.html_parser._long_tags _TAG": [
        "<a| |",
        "<|a|",
        "<a |a |",
        "<a |a=|",
        "<a |a='|",
        '<a |b="|',
        "<a =|'|",
    ],
    "service.web.api _ASYNC": ["|,|", "|,respond-|"],
    "service.web.api _WAIT": [",wait| |", ",wait=| |", "|, |", "|wait=1|"],
    "service.web.api _WHOLE": ["|1|"],
    "service.web.forms _END_OF_HOST": ["|a|", "|/|"],
    "service.web.forms _NUMBER": ["|1|", "1.|1|"],
    "service.web.forms _WINDOW": ["|1|", "1x|1|"],
    "service.web.connections _CODINGS": ["|\n|", "|transfer-encoding|", "|\ntransfer-encoding|"],
    "service.web.connections _LENGTH": ["|1|"],
    "service.web.connections _LENGTHS": ["|\n|", "content-length:|a|", "|\ncontent-length:|"],
    "service.web.connections _ODD_LINES": ["|\r\n|", "|a|"],
    "service.web.settings _NAME": ["|a|"],
    "service.web.settings _SHOWN_HOST": ["|a|", "[|a|"],
    "service.web.settings _TOKEN": ["|a|"],
    "tasks.targets '[^a-z0-9]+'": ["|-|", "|a-|"],
    "tasks.targets _ID": ["|a|g"],
    "urls _LONG_HOST": ["|//|", "//|a|", "|//a|"],
    "experiments.corpora.origins _LANG": ["|<html |", "<html| |", "<html |lang=|", "<html |a |"],
    "experiments.corpora.selecting '[^a-z0-9]'": ["|-|"],
    "experiments.corpora.selecting _NO_XML": ["|\0|"],
    "experiments.corpora.wcxb_metadata _GAPS": ["| |", "|a |"],
    "experiments.corpora.wcxb_metadata _MARK": ["|a|", "|>|"],
    "experiments.corpora.wcxb_metadata _OPEN_GRAPH": ["|name=|", "|property='|", "|a|"],
    "experiments.corpora.wien_pages _LEADING": ["|<|", "|<>|", "| |", "<|a|"],
    "experiments.corpora.wien_pages _MARKS": ["|a|"],
    "experiments.error_diary.block_kinds _WORD": ["|A|", "|Aa|", "|-|"],
    "experiments.measures.structures _BLANK_LINES": ["| |", "| \n|", "|\n|a"],
    "experiments.measures.structures _HIDING": ["display| |", "display:| |", "|display|", "visibility| |"],
    "experiments.measures.structures _KIND": ["[!|A|", "|[!A|"],
    "experiments.measures.structures _NOTE": ["| |", "|[^|", "[|a|", "|[a|"],
    "experiments.measures.structures _TO_NOTE": ["|a|", "|]|", "[|a|"],
    "experiments.measures.structures _UNSEEN_SIGNS": ["|\x80|", "|a|"],
    "experiments.measures.structures _WORD": ["|a|", "|a |"],
    "experiments.measures.metadata_scores _BY": ["|by|", "|by |"],
    "experiments.measures.metadata_scores _PARTS": ["| and|", "| |"],
    "experiments.measures.word_scores _ALONE": ["|a|"],
    "experiments.measures.word_scores _WORD": ["|a|", "|aa |", "|漢|"],
    "experiments.page_classes.vectors _WORD": ["|a|", "|_|"],
}
# Read no more than the beginning of a document, whatever its length: what they see is as long as that.
OF_THE_BEGINNING = {
    f"renderer.html_parser.content {name}" for name in ("_ATTRIBUTE", "_MARKUP", "_XML_DECLARATION")
}
# See no text of strangers, and why not.
OUR_OWN = {
    "analysis.report.document '\\\\{\\\\{(\\\\w+)\\\\}\\\\}'": "the template that comes with the program",
    "experiments.corpora.selecting '@([a-z-]+)'": "expressions that come with a research corpus, chosen by hand",
    "experiments.experiments.sites f'(?<!\\\\w){re.escape(folded(value))}(?!\\\\w)'": (
        "a text and pages of a research corpus, chosen by hand; of plain characters"
    ),
    "renderer.browser.resources _HELD": "a file of the system",
    "renderer.browser.resources _TYPE": "a file of the system",
    **{
        f"renderer.browser.opening {name}": "the User-Agent that the user has written"
        for name in ("_ANDROID", "_IOS", "_MACOS", "_WINDOWS")
    },
    "service.jobs._result_files _JOB": "names of files in the service's folder",
    "service.jobs._result_files _PLACE": "names of files in the service's folder",
    "service.jobs.stores _PLACE": "names of folders in the service's folder",
}


@dataclass(frozen=True)
class Pattern:
    """A pattern of the package: its module, its name or what the call is given, and how it is used."""

    module: str
    name: str
    flags: str
    uses: tuple[str, ...]

    @property
    def key(self) -> str:
        return f"{self.module} {self.name}"

    @property
    def path(self) -> str:
        return self.module if self.module.startswith("experiments.") else f"domsieve.{self.module}"

    def load(self) -> "re.Pattern[Any]":
        if self.name.isidentifier():
            found = getattr(importlib.import_module(self.path), self.name)
            assert isinstance(found, re.Pattern)
            return found
        return re.compile(eval(self.name, {"re": re, "shortest": 3, "folded": str, "value": "a"}))

    def run(self, text: str) -> None:
        pattern = self.load()
        read: Any = text.encode("latin-1") if isinstance(pattern.pattern, bytes) else text
        for use in self.uses:
            if use in {"fullmatch", "match", "search"}:
                getattr(pattern, use)(read)
            else:
                for _ in pattern.finditer(read):
                    pass


def patterns_of(path: Path) -> Iterator[Pattern]:
    """Yield the patterns of a module: those that get a name, and those that are given to a call."""
    module = ".".join(path.relative_to(ROOT).with_suffix("").parts).removeprefix("domsieve.")
    source = path.read_text(encoding="utf-8")
    if not re.search(r"\bre\s*\.", source):
        return  # before it is parsed, which takes most of the time
    tree = ast.parse(source)
    methods = {
        (node.value.id, node.attr)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in CALLS
    }
    named = {
        id(node.value): node.targets[0].id
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for node in ast.walk(tree):
        call = node.func if isinstance(node, ast.Call) else None
        if not (isinstance(call, ast.Attribute) and ast.unparse(call.value) == "re" and call.attr in CALLS):
            continue
        assert isinstance(node, ast.Call)
        if call.attr == "compile":
            name = named[id(node)]  # a pattern gets a name at the top of its module
            yield Pattern(module, name, "", tuple(sorted(use for owner, use in methods if owner == name)))
        else:
            flags = "".join(ast.unparse(word.value) for word in node.keywords if word.arg == "flags")
            yield Pattern(module, ast.unparse(node.args[0]), flags, (call.attr,))


@functools.cache
def patterns() -> dict[str, Pattern]:
    """Return all patterns. They are read when a test needs them: each worker collects this file, and few run it."""
    return {
        pattern.key: pattern
        for folder in FOLDERS
        for path in sorted(folder.rglob("*.py"))
        for pattern in patterns_of(path)
    }


def text_of(worst: str, size: int = SIZE) -> str:
    """Return the text that an entry of the table stands for."""
    # A bar is the mark between the parts and in no part.
    head, body, tail = worst.split("|")
    return head + body * (size // len(body)) + tail


def test_every_pattern_is_in_one_of_the_lists() -> None:
    lists = [*WORST, *OF_THE_BEGINNING, *OUR_OWN]
    assert sorted(lists) == sorted(patterns())
    assert len(patterns()) > 70


def test_every_pattern_is_used_and_given_no_flags_where_it_is_used() -> None:
    assert [pattern.key for pattern in patterns().values() if not pattern.uses or pattern.flags] == []


def test_what_reads_the_beginning_sees_no_more() -> None:
    used = set(
        re.findall(
            r"(\w+)\.(?:match|finditer|findall)\((\w+)",
            (PACKAGE / "renderer/html_parser/content.py").read_text(),
        )
    )
    # `_TAG` is among the patterns that are tried with long texts.
    assert used - {("_TAG", "head")} == {
        ("_XML_DECLARATION", "head"),
        ("_MARKUP", "head"),
        ("_ATTRIBUTE", "text"),
    }
    assert PRESCAN_BYTES <= 1024


def test_patterns_of_the_web_part_run_in_an_engine_without_backtracking() -> None:
    pytest.importorskip("pydantic")
    from domsieve.service.jobs.job_request import JobRequest
    from domsieve.service.jobs.requests import REQUESTS, CleanHtmlRequest, RecordsHtmlRequest

    models: list[type[JobRequest]] = [*REQUESTS.values(), CleanHtmlRequest, RecordsHtmlRequest]
    for model in models:
        assert model.model_config.get("regex_engine", "rust-regex") == "rust-regex"
    for path in PACKAGE.rglob("*.py"):
        assert "regex_engine" not in path.read_text(encoding="utf-8"), path


def run_limited(tasks: list[tuple[str, str]], *, limit_s: int = LIMIT_S) -> tuple[int, list[str]]:
    """Run patterns, each on a text, in a process that may spend `limit_s` on each.

    Return its exit code and what it began.
    """
    here = str(Path(__file__).parent)
    code = f"import sys; sys.path.insert(0, {here!r}); import test_patterns as t; t.work({limit_s})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        input=json.dumps(tasks),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        timeout=1_800,
    )
    assert done.returncode in {0, -signal.SIGXCPU, -signal.SIGKILL}, done.stderr
    return done.returncode, done.stdout.splitlines()


def work(limit_s: int) -> None:
    """Be the process: run the patterns that standard input names, each with its own limit of CPU time."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    patterns()  # reading them is not what is limited
    for key, text in json.loads(sys.stdin.read()):
        print(f"{key} {text!r}", flush=True)
        spent = resource.getrusage(resource.RUSAGE_SELF)
        limit = int(spent.ru_utime + spent.ru_stime) + 1 + limit_s
        resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
        if key in READERS:
            READERS[key]()
            continue
        pattern = patterns().get(key) or Pattern("", key, "", ("finditer",))
        pattern.run(text_of(text))


def _read_source(source: bytes) -> None:
    parse_html(source, url="")


def _clean(source: bytes) -> None:
    TagPathFilter().transform(parse_html(source, url=""))


_ATTRIBUTES = b" ".join(b"a%x" % number for number in range(150_000))
# What took quadratic time in readers besides, or could for the same reason.
READERS: dict[str, Callable[[], object]] = {
    "blanks in a tag": lambda: _read_source(b"<p a" + b" " * READERS_SIZE + b"=>"),
    "attributes": lambda: _read_source(b"<p " + _ATTRIBUTES + b">"),
    "attributes behind a value with the sign of an end": lambda: _read_source(
        b'<p x=">" ' + _ATTRIBUTES + b">"
    ),
    "attributes of a tag that begins in a value of another": lambda: _read_source(
        b'<!-- <p x=" --><p y=">" ' + _ATTRIBUTES + b">"
    ),
    "tags in values of others": lambda: _read_source(b'<a x="<b c=\'<d" ' * 50_000),
    "tags that never end": lambda: _read_source(b"<a " * 200_000),
    "a style of letters": lambda: _clean(b'<p style="' + b"a" * READERS_SIZE + b'">text</p>'),
    "a style of blanks": lambda: _clean(b'<p style="' + b" " * READERS_SIZE + b'">text</p>'),
    "declarations": lambda: declared_encoding(b"<!" * READERS_SIZE),
    "marks out of order": lambda: fold("a" + "\u0315\u0300" * 400_000),
    "marks out of order, in one character": lambda: fold("a" + "\u0f73" * 400_000),
    "marks of a host": lambda: normalized("http://a" + "\u0315\u0300" * 400_000 + ".example/"),
    "marks of a host, in escapes": lambda: place_of("http://a" + "%CC%95%CC%80" * 400_000 + ".example/"),
    "robots above rules": lambda: Robots.parse(
        "".join(f"User-agent: a{n}\n" for n in range(16_000)) + "Disallow: /a\n" * 20_000
    ),
    "robots without colons": lambda: Robots.parse(
        "".join(f"User agent a{n}\n" for n in range(16_000)) + "Disallow: /a\n" * 20_000
    ),
    "words of a sitemap": lambda: parse_sitemap(b"a " * 10_000_000),
}


class _Bytes:
    """An archive in memory."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self.size = len(data)

    def read_at(self, place: int, count: int) -> bytes:
        return self._data[place : place + count]


def _read_archive(data: bytes) -> None:
    for _ in records(Archive(_Bytes(data), DEFAULT_LIMITS)):
        pass


def _nested(number: int) -> bytes:
    """Return gzip members in stored blocks of each other, which all end with the same bomb."""
    packer = zlib.compressobj(9, wbits=-zlib.MAX_WBITS)
    bomb = packer.compress(bytes(9_000_000)) + packer.flush()
    rest = b""
    for _ in range(number):
        inner = b"WARC/1.0\r\n" + rest
        rest = (
            b"\x1f\x8b\x08" + bytes(7) + b"\0" + struct.pack("<HH", len(inner), len(inner) ^ 65_535) + inner
        )
    return rest + bomb


_LIE = b"WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 99999999999\r\n\r\n"
READERS |= {
    "records that claim all the others": lambda: _read_archive(_LIE * 20_000),
    "signs of records": lambda: _read_archive(b"WARC/1.0\r\n" * 100_000),
    "signs of members": lambda: _read_archive(b"\x1f\x8b\x08\0" * 30_000),
    "members in each other": lambda: _read_archive(_nested(2_000) * 3),
    "chunks": lambda: dechunked(b"1\na\n" * 300_000),
    "lines of a head": lambda: head_of(b"HTTP/1.1 200 OK\r\n" + b" a\r\n" * 300_000),
    "pages of one name": lambda: numbered([Page("", "a", "", lambda: parse_html(b"", url=""))] * 50_000),
}

TASKS = [(key, text) for key, texts in sorted(WORST.items()) for text in texts]


@pytest.mark.parametrize("part", range(PROCESSES))
def test_no_pattern_takes_quadratic_time(part: int) -> None:
    code, begun = run_limited(TASKS[part::PROCESSES])
    assert code == 0, f"it ran into the limit: {begun[-1]}"
    assert len(begun) == len(TASKS[part::PROCESSES])


def test_no_reader_takes_quadratic_time_or_memory() -> None:
    code, begun = run_limited([(key, "") for key in READERS], limit_s=READERS_LIMIT_S)
    assert code == 0, f"it ran into the limit: {begun[-1]}"
    assert len(begun) == len(READERS)


@pytest.mark.parametrize("pattern", [r"r'[\s/]+[^\s/=]+'", r"r'[\s;]*([\w-]+)\s*:\s*([^;]*)'"])
def test_a_quadratic_pattern_is_caught(pattern: str) -> None:
    code, _ = run_limited([(pattern, "| |=")], limit_s=0)
    assert code == -signal.SIGXCPU
