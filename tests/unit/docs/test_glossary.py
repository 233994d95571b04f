"""docs/GLOSSARY.md gives each word one meaning, and is in order."""

import re

from documents import ROOT, Page

SECTIONS = Page(ROOT / "docs" / "GLOSSARY.md").text.split("\n## Words we do not use")[0].split("\n## ")[1:]
WORDS = {
    section.splitlines()[0]: re.findall(r"^\| ([^|`-][^|]*) \| ", section, re.MULTILINE)[1:]
    for section in SECTIONS
}


def test_a_word_is_explained_once() -> None:
    words = [word for section in WORDS.values() for word in section]
    assert len(words) >= 60
    assert [word for word in set(words) if words.count(word) > 1] == []


def test_words_are_in_order() -> None:
    for words in WORDS.values():
        assert words == sorted(words, key=str.lower)
