"""Draws calls.svg: when the champion of Thirty-One calls, at tables of two.

Usage: draw.py. Plays 4,000 matches of the champion against itself.
"""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import cardlab
from cardlab.experiments.report.drawing import COLOURS, inline_svg, new_grid, report_style
from cardlab.games.loop import play
from cardlab.games.protocol import Game
from cardlab.games.record_arrays import take
from cardlab.games.thirty_one.record import BEST_SCORE, CALL, hand_score

MATCHES = 4000
TURNS = 8  # turns of a player in a round that have a row of their own
FEWEST = 30  # least number of decisions behind a share that is drawn


def observed_turns(game: Game, num_matches: int) -> dict[str, NDArray[np.int64]]:
    """Score, turn, lives and whether the champion called, at each of its decisions where a call is legal."""
    rng = np.random.default_rng(31)
    agent = cardlab.load_agent(game, "champion")
    seen: dict[str, list[NDArray[np.int64]]] = {"score": [], "turn": [], "lives": [], "called": []}
    for moves in play(game, game.deal(num_matches, rng), [agent], rng):
        free = np.flatnonzero(game.legal_actions(moves.info_states)[:, CALL])
        info_states, players = take(moves.info_states, free), moves.players[free]
        here = np.arange(free.size)
        hands = info_states["hands"][here, players]
        seen["score"].append(np.array([hand_score(*hand) for hand in hands], dtype=np.int64))
        seen["turn"].append(1 + info_states["turns"].astype(np.int64) // game.spec.num_players)
        seen["lives"].append(info_states["lives"][here, players].astype(np.int64))
        seen["called"].append((moves.actions[free] == CALL).astype(np.int64))
    return {key: np.concatenate(parts) for key, parts in seen.items()}


def draw_calls() -> Figure:
    """Share of turns that call, by score and turn, and by score and lives."""
    turns = observed_turns(cardlab.make_game("thirty_one"), MATCHES)
    figure, (by_turn, by_lives) = new_grid([3.2, 2.6])
    shares = np.full((TURNS, BEST_SCORE + 1), np.nan)
    for turn in range(1, TURNS + 1):
        shares[turn - 1] = call_shares(turns, turns["turn"] == turn)
    picture = by_turn.imshow(
        shares, aspect="auto", origin="lower", vmin=0, vmax=1, cmap="cividis", extent=(-0.5, 31.5, 0.5, TURNS + 0.5)
    )
    by_turn.grid(visible=False)
    by_turn.set_xlim(9.5, 31.5)
    by_turn.set_xlabel("score of the hand")
    by_turn.set_ylabel("own turn of the round")
    figure.colorbar(picture, ax=by_turn, label="share of turns that call")
    for colour, lives in zip(COLOURS, (1, 2, 3), strict=False):
        by_lives.plot(
            call_shares(turns, (turns["lives"] == lives) & (turns["turn"] == 1)),
            color=colour,
            label="1 life" if lives == 1 else f"{lives} lives",
        )
    by_lives.set_xlim(9.5, 31.5)
    by_lives.set_xlabel("score of the hand")
    by_lives.set_ylabel("share of first turns that call")
    by_lives.legend(loc="upper left")
    return figure


def call_shares(turns: dict[str, NDArray[np.int64]], rows: NDArray[np.bool_]) -> NDArray[np.float64]:
    """[32] share of the turns in `rows` that call, by score; NaN where there are fewer than FEWEST."""
    counts = np.bincount(turns["score"][rows], minlength=BEST_SCORE + 1)
    called = np.bincount(turns["score"][rows], weights=turns["called"][rows], minlength=BEST_SCORE + 1)
    return np.where(counts >= FEWEST, called / np.maximum(counts, 1), np.nan)


if __name__ == "__main__":
    with report_style():
        svg = inline_svg(draw_calls(), "thirty_one")
        Path(__file__).with_name("calls.svg").write_text(svg + "\n")
