"""The model card of a policy: summary, origin, results, use."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cardlab.agents.policies import POLICY_FILES, read_description
from cardlab.experiments.promotion.gate import PromotionDecision
from cardlab.tracking.policy_lookup import Origin

_PARTS = ("agent", "network", "opponents", "trainer")
_USE = """## Use

```python
import cardlab

game = cardlab.make_game("{game}")
agent = cardlab.load_agent(game, "champion")  # or "models:/cardlab-{game}@champion", from MLflow's registry
```

It sees only what its player knows. It was trained and evaluated with the options above and does not load under other
rules. It is made for research, not for playing for money."""


def model_card(
    policy: Path,
    game: Mapping[str, Any],
    decision: PromotionDecision,
    origin: Origin | None,
    evaluation: Mapping[str, Any] | None = None,
) -> str:
    """The card in Markdown. `game` is composed; `evaluation` as from `evaluate`, if there is one."""
    sections = [
        f"# {decision.challenger.name}: a policy for {game['name']}",
        _summary(policy, game, decision.challenger.digest),
        _origin(origin),
        _results(decision, evaluation),
        _USE.format(game=game["name"]),
    ]
    return "\n\n".join(sections) + "\n"


def _summary(policy: Path, game: Mapping[str, Any], digest: str) -> str:
    description = read_description(policy)
    size = sum((policy / name).stat().st_size for name in POLICY_FILES)
    rows = {
        "game": _options(game),
        "network": f"{description.network}, played as {description.policy_kind}",
        "size": f"{size / 1000:,.0f} kB",
        "digest": f"`{digest}`",
    }
    return _table(rows)


def _origin(origin: Origin | None) -> str:
    heading = "## Training\n\n"
    if origin is None:
        return f"{heading}The tracking store has no run of its training."
    tags, config = origin.tags, origin.config
    changed = ", with uncommitted changes" if tags.get("git.dirty") == "true" else ""
    rows = {
        "experiment": f"{origin.name}, seed {config.get('seed', 'unknown')}",
        **{part: _options(config[part]) for part in _PARTS if part in config},
        "commit": f"`{tags.get('git.commit', 'unknown')}`{changed}",
        "run": f"`{origin.run_id}`",
    }
    return heading + _table(rows)


def _results(decision: PromotionDecision, evaluation: Mapping[str, Any] | None) -> str:
    apart, opponent = decision.difference, decision.opponent
    against = f"the champion, {opponent.name}" if opponent.digest else f"`{opponent.name}`"
    verdict = "became the champion" if decision.accepted else "did not become the champion"
    figures = f"{apart.mean:+.3f} points per game, 95 % interval {apart.low:+.3f} to {apart.high:+.3f}"
    gained = ""
    if decision.ladder is not None:
        gain, agents = decision.ladder.difference, ", ".join(f"`{name}`" for name in decision.ladder.agents)
        gained = (
            f"Against {agents} it gains {gain.mean:+.3f} points per game over {opponent.name}, "
            f"{gain.low:+.3f} to {gain.high:+.3f}, mean over the agents. "
        )
    parts = [
        "## Results",
        f"Against {against}: {figures}, on {apart.deals:,} deals ({decision.games:,} games). {gained}It {verdict}.",
    ]
    if evaluation is not None:
        rows = ["| reference | points | 95 % interval | wins |", "|---|---|---|---|"]
        for name, row in evaluation["references"].items():
            wins = f"{100 * row['win_rate']:.1f} %" if "win_rate" in row else ""
            rows.append(f"| `{name}` | {row['mean']:.3f} | {row['low']:.3f} to {row['high']:.3f} | {wins} |")
        parts.append("\n".join(rows))
    return "\n\n".join(parts)


def _options(config: Mapping[str, Any]) -> str:
    """The options of a group on one line."""
    return ", ".join(str(value) if key == "name" else f"{key} {value}" for key, value in config.items())


def _table(rows: Mapping[str, str]) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {key} | {value} |" for key, value in rows.items())])
