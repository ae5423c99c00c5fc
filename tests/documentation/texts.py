"""The texts that users and developers read: where they are, and how they are cut into paragraphs."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
PAGES = [
    *(ROOT / name for name in ("README.md", "examples/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "champions").rglob("*.md")),
    *sorted((ROOT / "studies").rglob("*.md")),
]
CODE = sorted((ROOT / "src").rglob("*.py"))
YAML = [*sorted((ROOT / "conf").rglob("*.yaml")), ROOT / "dvc.yaml", ROOT / "champions" / "dvc.yaml"]
TEMPLATES = sorted((ROOT / "src").rglob("*.j2"))
WEB = [*sorted((ROOT / "src").rglob("*.html")), *sorted((ROOT / "src").rglob("*.js"))]
NO_TEXT = re.compile(r"<(script|style).*?</\1>|\{%.*?%\}|\{#.*?#\}", re.DOTALL)
SCRIPT_STRING = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`((?:[^`\\]|\\.)*)`')


class Text(NamedTuple):
    """One paragraph, cell, comment, docstring or message."""

    place: str  # file and line
    text: str
    lines: int = 1


def place(path: Path, line: int) -> str:
    return f"{path.relative_to(ROOT)}:{line}"


def paragraphs(path: Path) -> Iterator[Text]:
    """Paragraphs, list items and table cells of a page of Markdown, without code, pictures and equations."""
    text = re.sub(r"^```.*?^```", lambda block: "\n" * block[0].count("\n"), path.read_text("utf-8"), flags=re.S | re.M)
    lines: list[str] = []
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        begins = re.match(r"\s*([-*] |\d+\. |\||#|!\[|:::)", line)
        if lines and (begins or not line.strip()):
            yield Text(place(path, number - len(lines)), plain(" ".join(lines)), len(lines))
            lines = []
        if line.startswith("|"):
            yield from (Text(place(path, number), plain(cell)) for cell in line.strip("| ").split(" | "))
        elif line.strip() and not re.match(r"!\[|:::|#", line):
            lines.append(re.sub(r"^\s*([-*] |\d+\. )", "", line).strip())


def plain(markdown: str) -> str:
    """`markdown` with one word in the place of code and links without their targets."""
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", markdown)
    return re.sub(r"[*_]{2}", "", re.sub(r"``.+?``|`[^`]*`", "CODE", text))


def code_texts(path: Path) -> Iterator[Text]:
    """Docstrings and messages of a module: string literals of several words; placeholders are one word."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in ast.walk(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "CODE" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in parts:
            text = node.value
        else:
            continue
        for paragraph in re.split(r"\n\s*\n|\n\s*- |\n {4,}", text):
            if len(paragraph.split()) > 2:
                yield Text(place(path, node.lineno), plain(" ".join(paragraph.split())))


def comments(path: Path) -> Iterator[Text]:
    """Comments of a YAML file."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        found = re.search(r"(?:^|\s)# (.*)", line)
        if found:
            yield Text(place(path, number), plain(found[1]))


def web_texts(path: Path) -> Iterator[Text]:
    """Texts of templates and of the strings of scripts."""
    text = path.read_text(encoding="utf-8")
    if path.suffix in (".html", ".j2"):
        text = NO_TEXT.sub(lambda found: "\n" * found[0].count("\n"), text)
        text = re.sub(r"\{\{.*?\}\}", "CODE", text)
        between = r"[^<>|\n]+" if path.name.endswith(".md.j2") else r"[^<>]+"
        found = [(text[: match.start()].count("\n") + 1, match[0]) for match in re.finditer(between, text)]
    else:
        found = [
            (text[: match.start()].count("\n") + 1, re.sub(r"\$\{[^}]*\}", "CODE", match[1] or match[2] or ""))
            for match in SCRIPT_STRING.finditer(text)
        ]
    for number, words in found:
        if len(words.split()) > 2:
            yield Text(place(path, number), " ".join(re.sub(r"<[^>]*>", " ", words).split()))


def all_texts() -> list[Text]:
    """Every text, in the order of the files."""
    kinds = ((PAGES, paragraphs), (CODE, code_texts), (YAML, comments), ([*TEMPLATES, *WEB], web_texts))
    return [text for paths, read in kinds for path in paths for text in read(path)]
