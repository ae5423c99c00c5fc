"""Train sb3-contrib's MaskablePPO on one of the games, then measure it in the arena.

    python examples/sb3_maskable_ppo.py --game open_face --decisions 200000

The environment is 64 parallel games; the opponents move within its steps. The arena reports the score and interval
that it reports for cardlab's own agents. Needs `pip install 'cardlab[integrations]'`.
"""

import argparse
from collections.abc import Sequence

from sb3_contrib import MaskablePPO

import cardlab
from cardlab.integrations import make_sb3, sb3_agent


def train(game: cardlab.Game, opponent: str, decisions: int, tables: int, seed: int) -> MaskablePPO:
    """MaskablePPO after `decisions` of its own against `opponent` at every other seat."""
    envs = make_sb3(game, tables, opponent, seed=seed, ask_forced=True)
    model = MaskablePPO(
        "MlpPolicy",
        envs,
        n_steps=64,  # × tables: decisions in a round
        batch_size=1024,
        n_epochs=4,
        gamma=1.0,  # games are short and pay at their end
        ent_coef=0.01,
        seed=seed,
        device="cpu",
    )
    return model.learn(decisions)


def main(arguments: Sequence[str] | None = None) -> cardlab.Match:
    """Train, save, play; gives the match against the opponent."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--game", default="open_face", choices=cardlab.game_names())
    parser.add_argument("--opponent", default="random", help="an agent's name, a policy's folder, or champion")
    parser.add_argument("--decisions", type=int, default=200_000)
    parser.add_argument("--tables", type=int, default=64)
    parser.add_argument("--deals", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args(arguments)

    game = cardlab.make_game(given.game)
    model = train(game, given.opponent, given.decisions, given.tables, given.seed)
    field = [given.opponent] * (game.spec.num_players - 1)
    match = cardlab.play_match(game, [sb3_agent(game, model), *field], num_deals=given.deals, seed=given.seed)
    low, high = match.interval
    wins = "" if match.win_rate is None else f", wins {100 * match.win_rate:.1f} %"
    print(f"{given.game}: {match.mean:.3f} points a game, 95 % interval {low:.3f} to {high:.3f}{wins}")
    return match


if __name__ == "__main__":
    main()
