"""Compare two versions of a page by their passages, without what changes by itself."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import msgspec

from domsieve.analysis.changes.matching import NOT_MATCHED, match_passages, moved
from domsieve.analysis.changes.passages import Passage, PassageChange, change_of, new_id
from domsieve.analysis.changes.volatile import Mask, NumberEdit, Rotation, key_of, number_edit, rotation
from domsieve.analysis.changes.words import Edit, line_edits, lines_in, words_in
from domsieve.analysis.columns.words import fold
from domsieve.budget import check, spending

_UNCUT = ("```", "~~~", "|")
"""What lines begin with that cannot be left out alone: those of code and of tables."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two versions of a page, compared.

    Parameters
    ----------
    passages : the passages to keep: those of the new version without what rotates if anything changed; otherwise
        those of the old one. All have ids, and know what rotates in them.
    changes : what changed, in the order of the new version, removed passages last.
    numbers : the changes among them that only change numbers, dates or times.
    rotating : hashes of passages that only one of two loads had.
    """

    passages: tuple[Passage, ...]
    changes: tuple[PassageChange, ...] = ()
    numbers: tuple[NumberEdit, ...] = ()
    rotating: frozenset[str] = frozenset()


def first_version(passages: Sequence[Passage], *, address: str) -> tuple[Passage, ...]:
    """Return the passages of a page that is seen for the first time, with ids.

    Parameters
    ----------
    passages : the passages.
    address : address of the page.
    """
    return _with_ids(passages, (), [NOT_MATCHED] * len(passages), address)


def compare_versions(
    old: Sequence[Passage],
    new: Sequence[Passage],
    second: Sequence[Passage] | None = None,
    *,
    address: str,
    known: Collection[str] = (),
) -> Compared:
    """Return what changed between two versions of a page.

    Parameters
    ----------
    old : the passages as they were kept, with ids.
    new : the passages now.
    second : those of another load at the same time; what differs between the two loads is no change. None if the
        page was loaded once.
    address : address of the page, for the ids of new passages.
    known : hashes of texts that change by themselves: `NumberEdit.on_page`, `NumberEdit.on_site`, and those that
        `Compared.rotating` had.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("changes", address):
        return _Comparing(old, new, second, address, known).compared()


class _Comparing:
    def __init__(
        self,
        old: Sequence[Passage],
        new: Sequence[Passage],
        second: Sequence[Passage] | None,
        address: str,
        known: Collection[str],
    ) -> None:
        self._old_of = match_passages(old, new)
        self._old, self._new, self._second = old, _with_ids(new, old, self._old_of, address), second
        self._known = known
        self._rotation: Rotation = rotation(new, second)
        self._old_masks = [Mask.of(passage) for passage in old]
        self._changes: list[PassageChange] = []
        self._numbers: list[NumberEdit] = []
        self._texts_differ = False
        self._rotating: set[str] = set()

    def compared(self) -> Compared:
        moving = moved(self._old_of) - self._rotation.moving
        for number, place in enumerate(self._old_of):
            check()
            passage = self._new[number]
            if place == NOT_MATCHED:
                self._added(number)
            elif self._is_edited(place, number):
                self._changes.append(change_of("edited", old=self._old[place], new=passage))
            elif number in moving:
                self._changes.append(change_of("moved", old=self._old[place], new=passage))
        self._removed()
        result = (tuple(self._changes), tuple(self._numbers), frozenset(self._rotating))
        if not self._changes:
            return Compared(self._as_before(), *result)
        return Compared(self._as_now(), *result)

    def _added(self, number: int) -> None:
        passage, mask = self._new[number], self._rotation.masks[number]
        key = key_of("passage", " ".join(words_in(passage.text)))
        if mask.is_whole or key in self._known:
            mask.is_whole = True
            self._rotating.add(key)
        elif mask.words:
            self._changes.append(change_of("added", old=None, new=passage))

    def _is_edited(self, place: int, number: int) -> bool:
        """Return whether a passage changed in anything but what rotates; notes what rotated."""
        old, new = self._old[place], self._new[number]
        old_mask, mask = self._old_masks[place], self._rotation.masks[number]
        is_edited = False
        old_lines = lines_in(old.text)
        found = line_edits(old_lines, lines_in(new.text))
        self._texts_differ |= bool(found)
        of_rotating = _words_of_rotating_lines(old_lines, found, mask) if any(mask.words) else None
        for edit in found:
            numbers = number_edit(old, new, edit)
            rotates = (
                mask.has_all(edit.new_start, edit.new_end)
                or old_mask.has_all(edit.old_start, edit.old_end)
                or (
                    (of_rotating is not None and edit.old_end > edit.old_start)
                    and all(of_rotating[edit.old_start : edit.old_end])
                )
                or (numbers is not None and not {numbers.on_page, numbers.on_site}.isdisjoint(self._known))
            )
            if rotates:
                old_mask.add(edit.old_start, edit.old_end)
                mask.add(edit.new_start, edit.new_end)
                continue
            is_edited = True
            if numbers:
                self._numbers.append(numbers)
        _carry(old_mask, mask, found)
        return is_edited

    def _removed(self) -> None:
        matched = {*self._old_of}
        missing = [place for place in range(len(self._old)) if place not in matched]
        if not missing:
            return
        elsewhere = {*match_passages(self._old, self._second)} if self._second is not None else set()
        # A passage that rotates is replaced by another one under the same headings.
        rotating = [p.headings for p, m in zip(self._new, self._rotation.masks, strict=True) if m.is_whole]
        rotating += [passage.headings for passage in self._rotation.others]
        for place in missing:
            passage, mask = self._old[place], self._old_masks[place]
            if place in elsewhere or 2 * sum(mask.words) >= len(mask.words):
                mask.add(0, len(mask.words))
            elif passage.headings in rotating:
                rotating.remove(passage.headings)
                mask.add(0, len(mask.words))
            else:
                self._changes.append(change_of("removed", old=passage, new=None))

    def _as_before(self) -> tuple[Passage, ...]:
        """Return the old passages with what is known about them now."""
        text_of = {place: self._new[number].text for number, place in enumerate(self._old_of)}
        # Where no word differs, addresses of links and pictures may.
        fresh = {} if self._texts_differ else text_of
        return tuple(
            msgspec.structs.replace(
                passage,
                text=fresh.get(place, passage.text),
                volatile=mask.ranges(),
                gaps=tuple(sorted(mask.gaps)),
            )
            for place, (passage, mask) in enumerate(zip(self._old, self._old_masks, strict=True))
        )

    def _as_now(self) -> tuple[Passage, ...]:
        """Return the new passages with their ids, without lines that rotate."""
        kept: list[Passage] = []
        for passage, place, mask in zip(self._new, self._old_of, self._rotation.masks, strict=True):
            if mask.is_whole and place == NOT_MATCHED:
                continue
            left = _without_rotating(passage, mask)
            if left is not None:
                kept.append(left)
        return tuple(kept)


def compare_texts(
    old: Sequence[Passage],
    new: Sequence[Passage],
    *,
    old_text: str,
    new_text: str,
    second_text: str | None = None,
    address: str,
) -> Compared:
    """Return what changed between two versions of a page with different layouts.

    Only texts count that the other version does not have anywhere, because the two were cleaned in different ways.

    Parameters
    ----------
    old, new : the passages of both versions; the old ones have ids.
    old_text, new_text : all visible text of both pages.
    second_text : that of another load of the new page; what differs between the loads is no change. None if the page
        was loaded once.
    address : address of the page.

    Raises
    ------
    BudgetError : the page exceeded its budget.
    """
    with spending("changes", address):
        before_all, now_all = _bare(old_text), _bare(new_text)
        now_again = now_all if second_text is None else _bare(second_text)
        now_any = [now_all, now_again]
        old_of = match_passages(old, new)
        kept = _with_ids(new, old, old_of, address)
        changes: list[PassageChange] = []
        for number, place in enumerate(old_of):
            check()
            passage, before = kept[number], old[place] if place != NOT_MATCHED else None
            if before is not None and words_in(before.text) == words_in(passage.text):
                continue
            gone = before is not None and _has_unknown(before, now_any)
            if gone or _has_unknown(passage, [before_all], among=now_again):
                changes.append(change_of("edited" if before else "added", old=before, new=passage))
        matched = {*old_of}
        for place, passage in enumerate(old):
            if place not in matched and _has_unknown(passage, now_any):
                changes.append(change_of("removed", old=passage, new=None))
        return Compared(kept, tuple(changes))


def _has_unknown(passage: Passage, texts: Sequence[str], *, among: str | None = None) -> bool:
    """Return whether a passage has a line that is in none of the texts, but in the text `among` if there is one."""
    for line in lines_in(passage.text):
        check()
        bare = _bare(" ".join(line[1:] if line and _is_list_number(line[0]) else line))
        if not any(bare in text for text in texts) and (among is None or bare in among):
            return True
    return False


def _is_list_number(word: str) -> bool:
    """Return whether a line that begins with a word is an item of a numbered list, whose numbers are no text."""
    return word.endswith((".", ")")) and word[:-1].isdecimal()


def _bare(text: str) -> str:
    """Return the letters and digits of a text, for comparison with texts in other markup."""
    return "".join(filter(str.isalnum, fold(text)))


def _words_of_rotating_lines(lines: Sequence[Sequence[str]], found: Sequence[Edit], mask: Mask) -> bytearray:
    """Mark the words of old lines of which all that is left in the new version rotates there."""
    new_of: list[int] = []
    last_new = 0
    for edit in found:
        new_of += range(last_new, last_new + edit.old_start - len(new_of))
        new_of += [NOT_MATCHED] * (edit.old_end - edit.old_start)
        last_new = edit.new_end
    new_of += range(last_new, last_new + sum(map(len, lines)) - len(new_of))
    marked = bytearray()
    for line in lines:
        left = [place for place in new_of[len(marked) : len(marked) + len(line)] if place != NOT_MATCHED]
        rotates = bool(left) and all(mask.words[place] for place in left)
        marked += bytes([rotates]) * len(line)
    return marked


def _carry(old: Mask, new: Mask, found: Sequence[Edit]) -> None:
    """Mark in the new version what was known to rotate in the old one and did not change now."""
    last_old = last_new = 0
    end = len(old.words)
    for edit in [*found, Edit(end, end, len(new.words), len(new.words))]:
        for place in range(last_old, edit.old_start):
            new.words[last_new + place - last_old] |= old.words[place]
        new.gaps |= {last_new + gap - last_old for gap in old.gaps if last_old <= gap <= edit.old_start}
        last_old, last_new = edit.old_end, edit.new_end


def _without_rotating(passage: Passage, mask: Mask) -> Passage | None:
    """Return a passage without the lines that rotate as a whole; None if nothing is left."""
    lines, words = passage.text.split("\n"), lines_in(passage.text)
    is_cut = not any(line.lstrip().startswith(_UNCUT) for line in lines)
    kept: list[str] = []
    marked, gaps = bytearray(), set[int]()
    place = 0
    for line, own in zip(lines, words, strict=True):
        end = place + len(own)
        gaps |= {len(marked) + gap - place for gap in mask.gaps if place <= gap <= end}
        if own and is_cut and all(mask.words[place:end]):
            gaps.add(len(marked))
            if kept and not kept[-1].strip():
                kept.pop()
        else:
            kept.append(line)
            marked += mask.words[place:end]
        place = end
    text = "\n".join(kept).strip("\n")
    if not text.strip():
        return None
    left = Mask(marked, gaps)
    fixed = tuple(sorted(gap for gap in gaps if gap <= len(marked)))
    return msgspec.structs.replace(passage, text=text, volatile=left.ranges(), gaps=fixed)


def _with_ids(
    passages: Sequence[Passage], old: Sequence[Passage], old_of: Sequence[int], address: str
) -> tuple[Passage, ...]:
    """Return passages with the ids of the old ones that they match, and new ids."""
    taken = {one.id for one in old}
    found: list[Passage] = []
    for passage, place in zip(passages, old_of, strict=True):
        own = new_id(address, passage.text, taken) if place == NOT_MATCHED else old[place].id
        taken.add(own)
        found.append(msgspec.structs.replace(passage, id=own))
    return tuple(found)
