"""Which code counts in a digest, by small packages that are written here."""

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from cardlab.core.code_digest import Sources

OWN: dict[str, str] = {
    "__init__.py": "",
    "run.py": """
        from cardlab.learner import train
        def run(game, agents):
            from . import lazy
            return train(game), lazy, find_ability(game, "playouts"), find_place(__name__, ".placed:Placed")
        """,
    "learner.py": """
        from typing import TYPE_CHECKING
        from .losses import policy_loss
        if TYPE_CHECKING:
            from cardlab.shown import Shown
        LIMIT = 3
        def train(game: int, lot: float = 0.5) -> int:
            '''Train.'''
            reward: float = policy_loss(game)
            if reward < 0:
                allowed = f"at least {reward}"
                raise ValueError("reward", refusal(reward, "is wrong"), f"{allowed} of {lot}")
            assert reward, "no reward"
            return reward
        def refusal(value, text):
            return value
        def unused():
            from cardlab.shown import Shown
        """,
    "losses.py": """
        def policy_loss(x):
            return x
        def other_loss(x):
            return 2 * x
        """,
    "placed.py": "class Placed: ...\nclass Other: ...\n",
    "lazy.py": "LAZY = 1\nprint(LAZY)",
    "shown.py": "NOT_IN_DIGEST = 'draws pictures'\nimport cardlab.drawn\n",
    "drawn.py": "class Shown: ...\n",
    "options.py": """
        @options("agent")
        class TDOptions:
            gamma: Width = option(1.0, "discount", ge=0)
            depth: Annotated[int, Field(ge=1, description="depth of the tree")] = 3
        Width = Annotated[int, 5]
        @options("agent")
        class PPOOptions:
            clip: float = option(0.2, "clip range")
        """,
    "games/__init__.py": "",
    "games/cards.npy": "data",
    "games/game.py": """
        class Game:
            agents: ClassVar[Mapping[str, str]] = {"greedy": ".agents:Greedy", "planner": ".agents:Planner"}
            abilities = {"playouts": ".playouts", "endgame": ".endgame"}
        """,
    "games/agents.py": """
        def Greedy(game, depth: int = 3):
            ...
        def Planner(game):
            ...
        """,
    "games/playouts.py": "PLAYED = print()",
    "games/searches.py": """
        def Search(game, policy="champion"):
            return agent_text("tree", {"policy": policy})
        """,
    "games/endgame.py": "SOLVED = print()",
    "networks/mlp.py": "class MLP:\n    width = 3\n",
    "networks/lines.py": "class Lines:\n    width = 3\n",
    "conf/network/mlp.yaml": "_target_: cardlab.networks.mlp.MLP\nwidth: 3\n",
    "conf/network/lines.yaml": "_target_: cardlab.networks.lines.Lines\n",
}
CONFIG: dict[str, Any] = {
    "game": {"_target_": "cardlab.games.game.Game", "name": "mine"},
    "agent": {"_target_": "cardlab.options.TDOptions", "gamma": 1.0},
    "arena": {"references": ["greedy:depth:2"]},
}


class Tree:
    """Files of cardlab and of a project, which are edited."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name, text in OWN.items():
            self.write(f"cardlab/{name}", text)

    def write(self, name: str, text: str) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dedent(text), encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        path = self.root / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))

    def sources(self, experiments: Any = None) -> Sources:
        return Sources(self.root, self.root / "project", experiments)

    def digest(self, **changes: Any) -> str:
        return self.sources().digest(["cardlab.run"], [CONFIG | changes])

    def modules(self, **changes: Any) -> set[str]:
        found = self.sources().modules(["cardlab.run"], [CONFIG | changes])
        return {name.removeprefix("cardlab.") for name in found}


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    monkeypatch.chdir(tmp_path)
    return Tree(tmp_path)


def test_imports_and_what_the_configuration_names_are_followed(tree: Tree) -> None:
    found = {
        "run",
        "learner",
        "losses",
        "lazy",
        "placed",
        "options",
        "games",
        "games.game",
        "games.agents",
        "games.playouts",
    }
    assert tree.modules() == found | {"cardlab"}


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("learner.py", "'''Train.'''", "'''Train it.'''\n    # for long"),
        ("learner.py", "game: int, lot: float = 0.5) -> int", "game: 'Game', lot=0.5) -> 'float'"),
        ("learner.py", "reward: float =", "reward ="),
        ("learner.py", '"is wrong"', '"must be less"'),
        ("learner.py", 'f"{allowed} of {lot}"', 'f"{allowed} among {lot}"'),
        ("learner.py", 'f"at least {reward}"', '"more"'),
        ("learner.py", '"no reward"', '"none"'),
        ("learner.py", "LIMIT = 3", "LIMIT = 4\ndef added(): ...\nclass Added: ..."),
        ("learner.py", "def unused():\n    from cardlab.shown import Shown", "def unused():\n    import cardlab.drawn"),
        ("losses.py", "2 * x", "3 * x"),
        ("placed.py", "class Other: ...", "class Other: placed = 1"),
        ("options.py", '"discount"', '"discount factor"'),
        ("options.py", '"depth of the tree"', '"depth"'),
        ("options.py", "0.2", "0.3"),
        ("shown.py", "import", "import sys,"),
        ("games/game.py", '"planner": ".agents:Planner"', '"strong": ".strong:Strong"'),
        ("games/agents.py", "def Planner(game):\n    ...", "def Planner(game):\n    return game"),
        ("games/endgame.py", "SOLVED", "print()\nSOLVED"),
        ("networks/mlp.py", "3", "4"),
    ],
)
def test_what_cannot_change_a_result_does_not_count(name: str, old: str, new: str, tree: Tree) -> None:
    before = tree.digest()
    tree.edit(f"cardlab/{name}", old, new)
    assert tree.digest() == before


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("learner.py", "lot: float = 0.5", "lot: float = 0.6"),
        ("learner.py", "ValueError", "TypeError"),
        ("learner.py", "refusal(reward,", "refusal(lot,"),
        ("losses.py", "return x", "return -x"),
        ("placed.py", "class Placed: ...", "class Placed: placed = 1"),
        ("lazy.py", "LAZY = 1", "LAZY = 2"),
        ("options.py", "1.0", "0.9"),
        ("options.py", "ge=0", "ge=1"),
        ("options.py", "Annotated[int, 5]", "Annotated[int, 6]"),
        ("options.py", "gamma: Width", "gamma: int"),
        ("games/game.py", ".agents:Greedy", ".agents:Planner"),
        ("games/agents.py", "depth: int", "depth: float"),
        ("games/cards.npy", "data", "other"),
        ("games/playouts.py", "print()", "print(1)"),
    ],
)
def test_what_can_change_a_result_counts(name: str, old: str, new: str, tree: Tree) -> None:
    before = tree.digest()
    tree.edit(f"cardlab/{name}", old, new)
    assert tree.digest() != before


def test_agents_and_abilities_count_when_they_are_named(tree: Tree) -> None:
    plain, arena = tree.digest(), {"references": ["planner"]}
    planner = tree.digest(arena=arena)
    tree.edit("cardlab/games/agents.py", "def Planner(game):", "def Planner(game, depth):")
    assert tree.digest() == plain
    assert tree.digest(arena=arena) != planner
    tree.write("cardlab/tree.py", "class Tree: ...")
    tree.edit(
        "cardlab/games/game.py",
        "agents: ",
        "others = {'search': '.searches:Search', 'tree': '..tree:Tree'}\n    agents: ",
    )
    assert "tree" not in tree.modules()
    tree.write("champions/mine/policy.json", json.dumps({"network": {"_target_": "cardlab.networks.lines.Lines"}}))
    found = tree.modules(arena={"references": ["search:raw:true"]})
    assert {"tree", "networks.lines"} <= found
    assert "networks.mlp" not in found
    assert "games.endgame" in tree.modules(arena={"references": ["monte_carlo:ending:endgame"]})


def test_the_project_is_followed_too(tree: Tree) -> None:
    tree.write("project/mycards/agents.py", "from .rules import order\nfrom . import cards\ndef BackFirst(game): ...")
    tree.write("project/mycards/rules.py", "import mymath\ndef order(): ...")
    tree.write("project/mycards/cards/__init__.py", "")
    tree.write("project/mycards/tables/plans.csv", "1,2")
    tree.write("project/mymath.py", "import pydantic, json, torch")
    tree.write("project/json.py", "never imported")
    arena = {"references": ["mycards.agents.BackFirst:back:false"]}
    found = tree.modules(arena=arena) - tree.modules(arena={})
    assert found == {"mycards", "mycards.agents", "mycards.rules", "mycards.cards", "mymath"}
    for name in ("mycards/rules.py", "mycards/tables/plans.csv", "mymath.py"):
        before = tree.digest(arena=arena)
        with (tree.root / "project" / name).open("a") as file:
            file.write("\nEDITED = 1\n")
        assert tree.digest(arena=arena) != before, name


def test_another_package_counts_by_version(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    tree.write("project/mine.py", "import pydantic, json, torch")
    agent, asked = {"_target_": "mine.Options"}, list[str]()

    def version(name: str) -> str:
        asked.append(name)
        return f"{len(asked)}"

    monkeypatch.setattr("cardlab.core.code_digest._version", version)
    assert tree.digest(agent=agent) != tree.digest(agent=agent)
    assert asked == ["pydantic", "pydantic"]


def test_a_policy_adds_what_its_network_needs(tree: Tree) -> None:
    tree.write("champions/mine/policy.json", json.dumps({"format": 2, "network": "mlp"}))
    tree.write("policies/lines/policy.json", json.dumps({"network": {"_target_": "cardlab.networks.lines.Lines"}}))
    networks = {"networks.mlp", "networks.lines"}
    named = {
        "champion": {"networks.mlp"},
        "policies/lines": {"networks.lines"},
        "policies/missing": networks,
        "models:/other@champion": networks,
        "models/sibling/seed_7": {"networks.mlp"},
    }
    sibling = {"network": {"_target_": "cardlab.networks.mlp.MLP"}}
    for text, expected in named.items():
        config = CONFIG | {"arena": {"references": [f"monte_carlo:policy:{text}"]}}
        found = tree.sources({"sibling": sibling}).modules(["cardlab.run"], [config])
        assert {name.removeprefix("cardlab.") for name in found} & networks == expected, text
    without = tree.sources().modules(["cardlab.run"], [CONFIG | {"arena": ["champion"]}], policies=False)
    assert "cardlab.networks.mlp" not in without


def test_a_missing_root_is_an_error(tree: Tree) -> None:
    with pytest.raises(ValueError, match=r"cardlab\.walk: no such module in"):
        tree.sources().digest(["cardlab.walk"], [])


def test_versions_of_python_agree_on_texts_in_f_strings(tree: Tree) -> None:
    """The digest that Python 3.11, 3.12.1 and 3.13 give; 3.12.1 alone has an empty text after the width."""
    tree.write("cardlab/text.py", 'def show(a, width):\n    return f"{a:<{width}}|{a!r} é {{}}" "joined" f"{a=}"')
    assert tree.sources().digest(["cardlab.text"], []) == "9b6e5526908f9800"
