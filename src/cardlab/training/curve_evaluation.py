"""Scores at one point of a learning curve: duplicate matches against the references of the experiment."""

from collections.abc import Mapping, Sequence

from cardlab.agents.specs import metric_name
from cardlab.evaluation.deals import Purpose, purpose_seed
from cardlab.evaluation.intervals import interval_metrics
from cardlab.evaluation.options import DEFAULT_REFERENCES, ArenaOptions
from cardlab.evaluation.scores import play_matches
from cardlab.games.abilities import find_exploitability
from cardlab.games.agent_protocol import Agent
from cardlab.games.protocol import Game

MEAN_SCORE = "score/mean"


def score_agent(
    game: Game, agent: Agent, arena: ArenaOptions, deals: int, lineup: Sequence[str] = (), *, exact: bool = False
) -> Mapping[str, float]:
    """Metrics of duplicate matches: `score/mean` over all, and for each reference `score/NAME` and `win_rate/NAME`.

    Scores are points per game; `interval/…_low` and `interval/…_high` are the ends of 95 % intervals. A reference takes
    all other seats; `lineup` names one agent per other seat for one more match. A game for one player has `score/self`.
    With `exact` there is `exploitability`, or `nash_conv`.
    """
    options = ArenaOptions(deals=deals, seed=purpose_seed(arena.seed, Purpose.CURVE), processes=1)
    opponents = {name: [name] * (game.spec.num_players - 1) for name in arena.references or DEFAULT_REFERENCES}
    if game.spec.num_players == 1:
        opponents: dict[str, list[str]] = {"self": []}
    elif lineup:
        opponents[" and ".join(lineup)] = list(lineup)
    scores: dict[str, float] = {}
    bounds: dict[str, float] = {}
    entries = {text: [agent, *others] for text, others in opponents.items()}
    for text, match in play_matches(game, entries, options).items():
        estimates = {"score": match.points} | ({} if match.wins is None else {"win_rate": match.wins})
        for kind, estimate in estimates.items():
            name = f"{kind}/{metric_name(text)}"
            scores[name] = estimate.mean
            bounds |= interval_metrics(name, estimate)
    means = [value for name, value in scores.items() if name.startswith("score/")]
    measured = find_exploitability(game, "trainer.exploitability").measure(game, agent) if exact else {}
    return {MEAN_SCORE: sum(means) / len(means), **scores, **bounds, **measured}
