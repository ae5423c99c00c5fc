"""Every block of Python in the documentation runs as it stands, block after block of a page."""

import re
from pathlib import Path

import pytest

import cardlab
from cardlab.agents.policy_files import describe, save_policy
from cardlab.networks.mlp_options import MLPOptions
from plays import PLAYS

ROOT = Path(__file__).parents[2]
PAGES = {
    str(path.relative_to(ROOT)): blocks
    for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if (blocks := re.findall(r"^```python\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE))
}
FRAGMENTS = {
    "docs/compare.md": "need trained policies: tests/experiments/test_comparison.py",
    "docs/champions.md": "need a registered champion: tests/experiments/promotion/ runs them",
    "docs/sweeps.md": "need a study of the reader: tests/experiments/sweep/test_study.py",
}
"""Pages whose blocks are no programs, and where what they say is tested."""
POLICIES = {"docs/search.md": ("five_o", "models/five_o_td/seed_7")}
"""Page → the game and folder of the policy that its blocks load; any policy will do."""


def test_there_are_blocks() -> None:
    assert {*FRAGMENTS, *POLICIES} <= set(PAGES)
    assert len(PAGES) >= 5


@pytest.mark.parametrize("page", [page for page in PAGES if page not in FRAGMENTS])
@pytest.mark.slow
def test_the_blocks_of_a_page_run(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    if page in POLICIES:
        game, folder = cardlab.make_game(POLICIES[page][0]), Path(POLICIES[page][1])
        options = MLPOptions(widths=(8,))
        save_policy(folder, describe(game, options, PLAYS["softmax"], {}), options.build(game.spec))
    names: dict[str, object] = {"__name__": "page"}
    for number, block in enumerate(PAGES[page], start=1):
        exec(compile(block, f"{page}, block {number}", "exec"), names)
