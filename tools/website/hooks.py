"""What MkDocs calls while it builds the pages: files from outside docs/ join, links find them, tables are made."""

import posixpath
import re
import sys
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[2]
if str(ROOT / "tools") not in sys.path:
    sys.path.insert(0, str(ROOT / "tools"))  # hooks are loaded by their path

from website.configuration import configuration_page  # noqa: E402
from website.games import generated_sections  # noqa: E402

OUTSIDE = {"README.md": "index.md"}
GAME_PAGE = re.compile(r"games/(\w+)\.md$")
_REMOTE_SHIM = "https://unpkg.com/iframe-worker/shim"
_LOCAL_SHIM = "assets/worker_from_disk.js"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)\s]+)\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """The pages that stand outside docs/ in other folders of the repository."""
    for name, page in OUTSIDE.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        files.append(File.generated(config, page, content=moved_links(text, ".", "docs")))
    files.append(File.generated(config, "configuration.md", content=configuration_page()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links from docs/ to files beside it, and what is generated for a game's page."""
    path = page.file.src_uri
    found = GAME_PAGE.search(path)
    if path not in {*OUTSIDE.values(), "configuration.md"}:
        markdown = moved_links(markdown, posixpath.join("docs", posixpath.dirname(path)), "docs")
    if found is not None and found[1] != "README":
        markdown += generated_sections(found[1])
    return markdown


def moved_links(markdown: str, folder: str, root: str) -> str:
    """`markdown` of `folder` with links that fit the site; a file that the site does not have becomes its path.

    Raises PluginError for a link to nothing.
    """
    here = posixpath.relpath(folder, root) if folder != "." else "."
    here = "." if folder in (".", root) else here

    def move(match: re.Match[str]) -> str:
        picture, label, target = match.groups()
        if re.match(r"[a-z]+:|#", target):
            return match[0]
        path, mark, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join(folder, path))
        page = page_of(place)
        if not (ROOT / place).exists():
            raise PluginError(f"{folder}: [{label}]({target}): there is no {place}")
        if page is None:
            return label if place in label else f"{label} (`{place}`)"
        return f"{picture}[{label}]({posixpath.relpath(page, here)}{mark}{anchor})"

    lines = markdown.split("\n")
    fenced = False
    for number, line in enumerate(lines):
        fenced ^= line.startswith("```")
        if not fenced:
            lines[number] = LINK.sub(move, line)
    return "\n".join(lines)


def page_of(place: str) -> str | None:
    """Where the file `place` of the repository is on the site; None when it is not there."""
    if place in OUTSIDE:
        return OUTSIDE[place]
    if place == "docs/decisions":
        return "decisions/0001-dependencies.md"
    if (ROOT / place / "README.md").is_file():
        place += "/README.md"
    inside = place.removeprefix("docs/")
    return inside if inside != place and (ROOT / place).is_file() else None


def on_post_page(output: str, page: Page, config: MkDocsConfig) -> str:
    """The theme fetches a script from the web so that search works from the disk: ours is local."""
    return output.replace(_REMOTE_SHIM, "../" * page.file.dest_uri.count("/") + _LOCAL_SHIM)


def on_post_template(output_content: str, template_name: str, config: MkDocsConfig) -> str:
    """Use the local script also in pages that a template writes, such as the search page."""
    return output_content.replace(_REMOTE_SHIM, _LOCAL_SHIM)
