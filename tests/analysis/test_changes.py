"""What changed between two versions of a page: passages matched, and what changes by itself left out."""

import random
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domsieve.analysis.changes.comparison import compare_texts, compare_versions, first_version
from domsieve.analysis.changes.matching import NOT_MATCHED, _increasing, match_passages, moved
from domsieve.analysis.changes.passages import Passage
from domsieve.analysis.changes.recutting import cut_as_before
from domsieve.analysis.changes.words import edits, is_number, line_edits, lines_in, skeleton, words_in

ADDRESS = "https://example.org/page"
WORDS = [
    f"{a}{b}"
    for a in ("bar", "lin", "mos", "rel", "tov", "kes")
    for b in ("a", "en", "ik", "or", "ush", "yt")
]


def text_of(seed: int, words: int = 40) -> str:
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def passages(*texts: str, heading: str = "") -> tuple[Passage, ...]:
    return tuple(Passage(headings=(heading,) if heading else (), text=text) for text in texts)


def kept(*texts: str) -> tuple[Passage, ...]:
    return first_version(passages(*texts), address=ADDRESS)


def kinds(
    old: Sequence[Passage], new: Sequence[Passage], second: Sequence[Passage] | None = None
) -> list[str]:
    return [change.kind for change in compare_versions(old, new, second, address=ADDRESS).changes]


some_texts = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=30).map(" ".join), max_size=12)


@given(some_texts)
def test_a_version_is_equal_to_itself(texts: list[str]) -> None:
    old = kept(*texts)
    compared = compare_versions(old, passages(*texts), address=ADDRESS)
    assert compared.changes == ()
    assert compared.passages == old
    assert len({one.id for one in old}) == len(old)


@given(some_texts, some_texts)
def test_passages_are_matched_one_to_one(old: list[str], new: list[str]) -> None:
    old_of = match_passages(passages(*old), passages(*new))
    matched = [one for one in old_of if one != NOT_MATCHED]
    assert len(old_of) == len(new)
    assert len(matched) == len({*matched})
    assert all(0 <= one < len(old) for one in matched)
    shared = {*old} & {*new}
    assert all(
        old_of[number] != NOT_MATCHED
        for number, text in enumerate(new)
        if text in shared and new.count(text) == 1
    )


@given(some_texts, some_texts)
def test_changes_lead_from_one_version_to_the_other(old: list[str], new: list[str]) -> None:
    before = kept(*old)
    compared = compare_versions(before, passages(*new), address=ADDRESS)
    if compared.changes:
        assert [one.text for one in compared.passages] == new
    else:
        assert [words_in(one.text) for one in compared.passages] == [text.split() for text in new]
    ids = {one.id for one in compared.passages}
    assert len(ids) == len(compared.passages)
    removed = {change.id for change in compared.changes if change.kind == "removed"}
    added = {change.id for change in compared.changes if change.kind == "added"}
    assert ids - added == {one.id for one in before} - removed or not compared.changes


@given(st.lists(st.sampled_from(WORDS), max_size=40), st.lists(st.sampled_from(WORDS), max_size=40))
def test_edits_lead_from_one_text_to_the_other(old: list[str], new: list[str]) -> None:
    result, last = [], 0
    for edit in edits(old, new):
        result += old[last : edit.old_start] + new[edit.new_start : edit.new_end]
        last = edit.old_end
    assert result + old[last:] == new


@given(st.lists(st.integers(0, 50), unique=True, max_size=30))
def test_the_increasing_subsequence_is_one_of_the_longest(numbers: list[int]) -> None:
    chosen = [numbers[place] for place in sorted(_increasing(numbers))]
    assert chosen == sorted(chosen)
    longest = [1] * len(numbers)
    for i, number in enumerate(numbers):
        longest[i] += max((longest[j] for j in range(i) if numbers[j] < number), default=0)
    assert len(chosen) == max(longest, default=0)


def test_a_word_is_an_edit_of_its_passage_and_of_no_other() -> None:
    texts = [text_of(seed) for seed in range(6)]
    old = kept(*texts)
    new = list(texts)
    new[3] = new[3].replace(new[3].split()[10], "different", 1)
    compared = compare_versions(old, passages(*new), address=ADDRESS)
    assert [(change.kind, change.id) for change in compared.changes] == [("edited", old[3].id)]
    assert [one.id for one in compared.passages] == [one.id for one in old]


def test_a_passage_that_moves_keeps_its_id() -> None:
    texts = [text_of(seed) for seed in range(6)]
    old = kept(*texts)
    compared = compare_versions(old, passages(*texts[1:], texts[0]), address=ADDRESS)
    assert [(change.kind, change.id) for change in compared.changes] == [("moved", old[0].id)]


def test_a_passage_that_moves_and_is_edited_keeps_its_id() -> None:
    texts = [text_of(seed) for seed in range(6)]
    old = kept(*texts)
    compared = compare_versions(old, passages(*texts[1:], f"{texts[0]} and more"), address=ADDRESS)
    assert [(change.kind, change.id) for change in compared.changes] == [("edited", old[0].id)]


def test_passages_are_added_and_removed() -> None:
    texts = [text_of(seed) for seed in range(4)]
    assert kinds(kept(*texts), passages(*texts, text_of(9))) == ["added"]
    assert kinds(kept(*texts), passages(*texts[:2], *texts[3:])) == ["removed"]


def test_a_short_passage_is_edited_in_its_place() -> None:
    assert kinds(kept("Yes", text_of(1)), passages("No", text_of(1))) == ["edited"]


def test_what_differs_between_two_loads_is_no_change() -> None:
    def page(advert: str, time: str, *, edited: str = "") -> tuple[Passage, ...]:
        lines = f"{text_of(1)} Seen at {time}\n\n{advert}\n\n{text_of(2)}{edited}"
        return passages(text_of(0), lines, text_of(3))

    old = first_version(page("Boots: light, from 30 francs.", "10:00:01"), address=ADDRESS)
    now = page("Tents: warm, from 90 francs.", "11:30:20")
    again = page("Ropes: silent, from 12 francs.", "11:30:59")
    assert kinds(old, now, again) == []
    without = passages(text_of(0), f"{text_of(1)} Seen at 11:31:00\n\n{text_of(2)}", text_of(3))
    assert kinds(old, without, now) == []
    assert kinds(old, now, without) == []
    edited = page("Tents: warm, from 90 francs.", "11:30:20", edited=" A new sentence.")
    edited_again = page("Ropes: silent, from 12 francs.", "11:30:59", edited=" A new sentence.")
    compared = compare_versions(old, edited, edited_again, address=ADDRESS)
    assert [change.kind for change in compared.changes] == ["edited"]
    assert "Tents" not in "".join(one.text for one in compared.passages)


def test_what_rotated_once_is_remembered() -> None:
    def page(advert: str) -> tuple[Passage, ...]:
        return passages(f"{text_of(1)}\n\n{advert}\n\n{text_of(2)}")

    old = first_version(page("Boots: light, from 30 francs."), address=ADDRESS)
    seen = compare_versions(old, page("Tents: warm, cheap!"), page("Ropes: silent, sturdy!"), address=ADDRESS)
    assert seen.changes == ()
    assert compare_versions(seen.passages, page("Maps: folding, new!"), address=ADDRESS).changes == ()


def test_a_passage_that_rotates_is_no_change() -> None:
    def page(advert: str) -> tuple[Passage, ...]:
        return (*passages(text_of(1)), *passages(advert, heading="Advert"), *passages(text_of(2)))

    old = first_version(page(text_of(11, 9)), address=ADDRESS)
    assert kinds(old, page(text_of(12, 9)), page(text_of(13, 9))) == []


def test_numbers_that_change_are_told_apart_by_their_places() -> None:
    old = kept(text_of(1), "Today is Monday, 24 November.")
    compared = compare_versions(old, passages(text_of(1), "Today is Tuesday, 25 November."), address=ADDRESS)
    assert [change.kind for change in compared.changes] == ["edited"]
    [first, *_] = compared.numbers
    later = passages(text_of(1), "Today is Friday, 28 November.")
    again = compare_versions(compared.passages, later, address=ADDRESS)
    assert first.on_page in {edit.on_page for edit in again.numbers}
    known = {edit.on_page for edit in again.numbers}
    assert compare_versions(compared.passages, later, address=ADDRESS, known=known).changes == ()
    # A word in the same passage is still an edit.
    other = passages(text_of(1), "Today was Friday, 28 November.")
    assert len(compare_versions(compared.passages, other, address=ADDRESS, known=known).changes) == 1


def test_a_number_in_the_content_is_an_edit() -> None:
    old = kept("The tower is 38 metres high and stands on a hill.")
    assert kinds(old, passages("The tower is 83 metres high and stands on a hill.")) == ["edited"]


@pytest.mark.parametrize("word", ["1,204", "10:30", "Monday,", "(März)", "3rd"])
def test_parts_of_dates_are_numbers(word: str) -> None:
    assert is_number(word)
    assert skeleton(["about", word, "12", "readers"]) == "about # readers"


def test_addresses_of_links_are_no_words() -> None:
    old = kept("See [the manual](https://example.org/a?session=1) for more.")
    new = passages("See [the manual](https://example.org/a?session=2) for more.")
    compared = compare_versions(old, new, address=ADDRESS)
    assert compared.changes == ()
    assert compared.passages[0].text == new[0].text


def test_long_texts_are_compared_by_their_lines() -> None:
    lines = [f"| {number} | {text_of(number, 6)} |" for number in range(900)]
    other = [*lines]
    other[450] = "| 450 | something else |"
    [edit] = line_edits(lines_in("\n".join(lines)), lines_in("\n".join(other)))
    assert (edit.old_start // 10, edit.new_start // 10) == (450, 450)


def test_a_new_layout_is_no_new_content() -> None:
    old = kept(f"# Title\n\n{text_of(1)}", f"## Part\n\n{text_of(2)}", text_of(3))
    new = passages(f"# Title\n\n{text_of(1)}\n\n{text_of(2)}", text_of(3), "Share this page")
    whole = ["\n".join(one.text for one in version) for version in (old, new)]
    compared = compare_texts(
        old, new, old_text=f"{whole[0]}\nShare this page", new_text=f"{whole[1]}\nPart", address=ADDRESS
    )
    assert compared.changes == ()
    assert compared.passages[0].id == old[0].id
    changed = passages(f"# Title\n\n{text_of(1)} More.\n\n{text_of(2)}", text_of(3))
    text = "\n".join(one.text for one in changed)
    compared = compare_texts(old, changed, old_text=whole[0], new_text=f"{text}\nPart", address=ADDRESS)
    assert [change.kind for change in compared.changes] == ["edited"]


def test_passages_are_cut_where_they_were_cut() -> None:
    parts = [text_of(seed, 70) for seed in range(12)]

    def cut(parts: list[str]) -> list[Passage]:
        return [
            Passage(headings=("A",), text="\n\n".join(parts[at : at + 4])) for at in range(0, len(parts), 4)
        ]

    before = cut(parts)
    shifted = cut([text_of(99, 30), *parts])
    assert len(shifted) == 4
    now = cut_as_before(shifted, before)
    assert [one.text for one in now[1:]] == [one.text for one in before[1:]]
    assert kinds(first_version(before, address=ADDRESS), now) == ["edited"]


def test_code_is_one_part() -> None:
    code = "```\na = 1\n\nb = 2\n```"
    [one] = cut_as_before([Passage(text=code)], [Passage(text=code)])
    assert one.text == code


def test_only_what_changed_its_order_has_moved() -> None:
    assert moved([0, 1, 2, 3]) == set()
    assert moved([3, 0, 1, 2]) == {0}
    assert moved([NOT_MATCHED, 0, 2, 1]) in ({2}, {3})
