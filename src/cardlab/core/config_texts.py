"""The texts of a configuration that say which code it uses: classes, agents, and what the policies in it need."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from cardlab.core.parts import TARGET

NOT_IN_DIGEST = "reads configurations"

Config = Mapping[str, Any]
"""A configuration with the groups `game`, `agent`, `network` and `opponents`, as in params.yaml."""
Texts = list[tuple[str, str]]
"""Pairs of a text and the key above it."""

CHAMPION = "champion"
_POLICY, _BELIEF = "policy.json", "belief.json"


def config_texts(configs: Sequence[Config], experiments: Mapping[str, Config], roots: Sequence[Path]) -> Texts:
    """All texts of configurations and, with `roots`, of the policies that they name: folders of champions/ and conf/.

    `experiments`: those of the same params.yaml, whose policies are in models/NAME.
    """
    games = sorted({str(config["game"].get("name", "")) for config in configs if "game" in config})
    texts, done = [text for config in configs for text in _texts(config)], set[str]()
    for text, _ in texts:  # which grows
        if roots and text not in done and (text == CHAMPION or "/" in text):
            done.add(text)
            texts += _policy_texts(text, games, experiments, roots)
    return texts


def _policy_texts(text: str, games: Sequence[str], experiments: Mapping[str, Config], roots: Sequence[Path]) -> Texts:
    """The texts of the experiment, or of the description, of a policy; where none is known, of all networks."""
    path = Path(text)
    if len(path.parts) > 1 and path.parts[0] == "models" and path.parts[1] in experiments:
        return [*_texts(experiments[path.parts[1]])]
    if (path / "training.ckpt").is_file():
        return []  # of the network of the configuration
    folders = [path]
    if text == CHAMPION:
        inner = [*games, *(f"beliefs/{game}" for game in games)]
        folders = [root / "champions" / name for name in inner for root in roots]
    found = [texts for folder in folders if (texts := _described(folder, roots))]
    return [each for texts in found for each in texts] or _networks(roots)


def _described(folder: Path, roots: Sequence[Path]) -> Texts:
    """The texts of the description of a policy or belief network; empty without one."""
    file = next((file for name in (_POLICY, _BELIEF) if (file := folder / name).is_file()), None)
    if file is None:
        return []
    try:
        texts = [*_texts(json.loads(file.read_text(encoding="utf-8")))]
    except (ValueError, OSError):
        return []
    if file.name == _BELIEF or any(key == TARGET for _, key in texts):
        return texts
    names = {text for text, key in texts if key == "network"}  # of format 2
    return texts + (_networks(roots, names) or _networks(roots))


def _networks(roots: Sequence[Path], names: set[str] | None = None) -> Texts:
    """The classes of the networks of these names in conf/network, or of all."""
    files = [file for root in roots for file in sorted((root / "conf" / "network").rglob("*.yaml"))]
    chosen = [file for file in files if names is None or file.stem in names]
    return [(text, TARGET) for file in chosen for text in re.findall(rf"(?m)^{TARGET}: *(\S+)", file.read_text())]


def _texts(value: object, key: str = "") -> Iterator[tuple[str, str]]:
    """All keys and strings of a configuration, split into the parts of agents' names, with the key above them."""
    if isinstance(value, Mapping):
        for inner, entry in cast(Mapping[object, object], value).items():
            yield from _texts(inner)
            yield from _texts(entry, str(inner))
    elif isinstance(value, list | tuple):
        for entry in cast(Sequence[object], value):
            yield from _texts(entry, key)
    elif isinstance(value, str):
        yield from ((text, key) for text in re.split(r"[:\[\]]", value))
