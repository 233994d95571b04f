"""The project's Markdown pages, taken apart for the tests that hold them to what is there."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GUIDES = ROOT / "docs" / "guides"
FOLDERS = ("bench", "docs", "examples", "src", "tests")

_FENCED = re.compile(r"^( *)```(\w*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_DEFINITION = re.compile(r"^\[([^\]]+)\]: (\S+)$", re.MULTILINE)
_CODE = re.compile(r"`([^`\n]+)`")
_MARKUP = re.compile(r"[^\w\- ]")


@dataclass(frozen=True)
class Block:
    """A fenced block. `heading` is the one it stands under, `line` the number of its first line."""

    language: str
    text: str
    heading: str
    line: int


class Page:
    """One Markdown file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")
        self.prose = _FENCED.sub(lambda block: "\n" * block[0].count("\n"), self.text)

    def __str__(self) -> str:
        return str(self.path.relative_to(ROOT))

    def blocks(self, *languages: str) -> list[Block]:
        """Fenced blocks in these languages; without any, all of them."""
        headings = [(found.start(), found[2]) for found in _HEADING.finditer(self.prose_at_same_offsets())]
        found = []
        for block in _FENCED.finditer(self.text):
            heading = next((text for start, text in reversed(headings) if start < block.start()), "")
            first = self.text.count("\n", 0, block.start(3)) + 1
            found.append(Block(block[2], block[3], heading, first))
        return [block for block in found if not languages or block.language in languages]

    def prose_at_same_offsets(self) -> str:
        """The text with every fenced block blanked, so that offsets still match `text`."""
        return _FENCED.sub(lambda block: re.sub(r"[^\n]", " ", block[0]), self.text)

    def links(self) -> list[str]:
        """The targets of links, of `[text](target)` and `[label]: target` both."""
        return [*_LINK.findall(_CODE.sub("", self.prose)), *self.definitions().values()]

    def definitions(self) -> dict[str, str]:
        """Targets by label, of links that are defined apart from where they are used."""
        return dict(_DEFINITION.findall(self.prose))

    def code_spans(self) -> list[str]:
        return _CODE.findall(self.prose)

    def anchors(self) -> set[str]:
        """The fragments under which GitHub finds the headings."""
        anchors: set[str] = set()
        for _, heading in _HEADING.findall(self.prose):
            text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
            anchor = _MARKUP.sub("", text.lower()).replace(" ", "-")
            repeats = sum(1 for known in anchors if re.fullmatch(re.escape(anchor) + r"(-\d+)?", known))
            anchors.add(f"{anchor}-{repeats}" if repeats else anchor)
        return anchors


def pages() -> list[Page]:
    """Every Markdown file of the repository."""
    found = [*ROOT.glob("*.md")]
    for folder in FOLDERS:
        found += (ROOT / folder).rglob("*.md")
    return [Page(path) for path in sorted(found) if "node_modules" not in path.parts]


def guide_examples() -> dict[str, str]:
    """The Python of the testing guide, which consists of test files, each by a name made from its heading."""
    examples: dict[str, str] = {}
    for block in Page(GUIDES / "testing.md").blocks("python"):
        section = re.sub(r"\W+", "_", block.heading.lower())
        examples[f"{section}_{len(examples) + 1}"] = block.text
    return examples
