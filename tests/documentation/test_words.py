"""Pages, help, messages, comments, docstrings, templates, the web table: plain words, short sentences and paragraphs.

Words of the field stay where they are a term: a full house, house rules, page faults, a translation on a page.
"""

import re

import pytest

from documentation.texts import ROOT, Text, all_texts

MAX_WORDS = 25  # between two of . ! ? : ;
MAX_LINES = 6
WORDS = {
    r"told|tell|tells|tellings?": "reported, prints, shows, returns, raises",
    r"(go|goes|going|went) on": "resumes, continues",
    r"cut off|(gives?|given|gave) up": "interrupted, ends, pruned",
    r"(?<!page )faults?": "error, failure, crash",
    r"anew": "again",
    r"nobody|whoever|whosoever|everybody|anybody|somebody": "no one, any caller, all players",
    r"what is left|that there (is|are)": "the rest",
    r"worths": "action values",
    r"translated whole|translates? (the|a) (network|loss|pass)": "compile",
    r"side by side": "in parallel",
    r"forced decisions?": "forced move",
    r"signs? of life": "heartbeat",
    r"the person": "the player",
    r"past selves": "checkpoints",
    r"desks?|sightings?|lends?|sits?|dethrones?": "the field's own word; processes send, write, wait, exit",
    r"(?<!full )house(?! rules)": "the field's own word",
    r"seed's (network|author|recipe|agents?)": "the paper's",
    r"by the clock|as it happens|be it": "leave it out",
    r"whom": "the opponent, the reference",
}
"""Pattern → what is written instead."""
BANNED = {re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE): instead for pattern, instead in WORDS.items()}


def complaints(text: Text) -> list[str]:
    """What is wrong with a text, with its place; empty if nothing is."""
    found = [
        f"{text.place}: {word[0]!r}: write {new}" for old, new in BANNED.items() if (word := old.search(text.text))
    ]
    for sentence in re.split(r"(?<=[.!?:;])\s+", text.text):
        length = len(re.findall(r"[A-Za-z][\w'-]*", sentence))
        if length > MAX_WORDS:
            found.append(f"{text.place}: {length} words, at most {MAX_WORDS}: {sentence[:80]}…")
    if text.lines > MAX_LINES:
        found.append(f"{text.place}: a paragraph of {text.lines} lines, at most {MAX_LINES}: {text.text[:80]}…")
    return found


def test_texts_are_plain_and_short() -> None:
    texts = all_texts()
    assert len(texts) > 9000
    assert not (found := [line for text in texts for line in complaints(text)]), "\n".join(found)


@pytest.mark.parametrize(
    ("text", "lines", "complaint"),
    [
        ("A run that was killed goes on.", 1, "'goes on': write resumes, continues"),
        ("A fault ends it.", 1, "'fault': write error"),
        (" ".join(["word"] * 26), 1, "26 words, at most 25"),
        ("Short.", 7, "a paragraph of 7 lines"),
        ("A full house by house rules causes page faults; one sentence more.", 6, ""),
    ],
)
def test_the_check_finds_what_it_should(text: str, lines: int, complaint: str) -> None:
    found = complaints(Text("page.md:1", text, lines))
    assert bool(found) == bool(complaint)
    assert all(complaint in line for line in found)


def test_no_page_is_long() -> None:
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    lengths = {str(page.relative_to(ROOT)): len(page.read_text(encoding="utf-8").splitlines()) for page in pages}
    assert not {page: length for page, length in lengths.items() if length > 200}
    assert lengths["README.md"] <= 110
