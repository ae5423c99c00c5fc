"""Draws the pictures of docs/strength/*.md.

Usage: draw.py [NAME …]. curves/NAME.csv holds what `cardlab evaluate` said of the policies kept on the way of a
training; what a champion does is asked of the champion itself.
"""

import csv
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.colors import CenteredNorm
from matplotlib.figure import Figure
from numpy.typing import NDArray

import cardlab
from cardlab.experiments.report.drawing import COLOURS, GREY, house_style, inline_svg, new_figure, new_grid
from cardlab.games.loop import play
from cardlab.games.protocol import Game
from cardlab.games.rows import take
from cardlab.games.thirty_one.actions import CALL
from cardlab.games.thirty_one.hand_scores import BEST_SCORE, hand_score

HERE = Path(__file__).parent
MATCHES = 4000  # that the champion plays against itself to show when it calls
TURNS = 8  # of a player in a round, that are shown apart
BELOW = 123.5  # whose label stands under its line: the next line is close above
LEAST_SHOWN = 76  # points: lower ones would press the lines above together
COLUMNS = ("minutes", "mean", "low", "high")
SEED_LEVEL = 13.4  # points a game that the Big 2 seed reports against three random players at its end
FEWEST = 30  # decisions behind a share that is drawn
FOUL_SHOWN, ROYALTIES_SHOWN, POINTS_SHOWN = 0.5, 5.0, 4.0  # where the axes of Open-face's risks end
PARTS = 12  # of equally many positions, by what the risk is worth
# What others reach one step ahead: the seed's network, the best hand-written rules, the tables of Neller, Messinger and
# Yang (2013), and the probe that this project began with.
MARKS = {84.6: "seed's network", 118.2: "best hand-written", 123.5: "best published", 125.4: "first probe"}


def draw_poker_squares() -> Figure:
    """Mean score one step ahead against minutes of one core."""
    with (HERE / "curves" / "poker_squares.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    figure, axes = new_figure(3.4)
    for height, name in MARKS.items():
        axes.axhline(height, color=GREY, linewidth=1, linestyle=":")
        below = "top" if height == BELOW else "bottom"
        axes.annotate(f"{name} {height}", (0.01, height), xycoords=("axes fraction", "data"), va=below, size=8)
    for colour, experiment in zip(COLOURS, dict.fromkeys(row["experiment"] for row in rows), strict=False):
        own = [row for row in rows if row["experiment"] == experiment]
        minutes, mean, low, high = (np.array([float(row[key]) for row in own]) for key in COLUMNS)
        axes.fill_between(minutes, low, high, color=colour, alpha=0.2, linewidth=0)
        axes.plot(minutes, mean, color=colour, marker="o", label=experiment)
    axes.legend(loc="center right")
    axes.set_xscale("log")
    axes.set_ylim(bottom=LEAST_SHOWN)
    axes.set_xlabel("minutes of one core")
    axes.set_ylabel("points a game")
    return figure


def observed_turns(game: Game, num_matches: int) -> dict[str, NDArray[np.int64]]:
    """What the champion had before it, and whether it called, at each turn of matches against itself that may call."""
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


def draw_thirty_one() -> Figure:
    """How often the champion calls, by its score and the turn, and by its lives: two players."""
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


def draw_big2() -> Figure:
    """Points a game of the policies kept on the way, against references and against older ones of the same training."""
    with (HERE / "curves" / "big2.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    figure, (outer, inner) = new_grid([3.4, 2.8])
    outer.axhline(SEED_LEVEL, color=GREY, linewidth=1, linestyle=":")
    told = f"seed against random {SEED_LEVEL}"
    outer.annotate(told, (0.99, SEED_LEVEL), xycoords=("axes fraction", "data"), ha="right", va="top", size=8)
    inner.axhline(0, color=GREY, linewidth=1, linestyle=":")
    for colour, against in zip(COLOURS, dict.fromkeys(row["against"] for row in rows), strict=False):
        own = [row for row in rows if row["against"] == against]
        axes = inner if against.startswith("itself") else outer
        decisions, mean, low, high = (np.array([float(row[key]) for row in own]) for key in ("decisions", *COLUMNS[1:]))
        axes.errorbar(decisions / 1e6, mean, yerr=(mean - low, high - mean), color=colour, marker="o", label=against)
    outer.set_ylim(bottom=0)
    for axes in (outer, inner):
        axes.set_xlabel("million decisions")
        axes.set_ylabel("points a game")
        axes.set_xlim(0, 1.05 * int(rows[-1]["decisions"]) / 1e6)
        axes.legend(loc="lower center", ncols=3)
    return figure


def draw_open_face() -> Figure:
    """What bolder placements are worth by what they risk and promise, and how often the champion takes them."""
    risks = read_columns("open_face_risks")
    bolder = (risks["foul_more"] > 0) & (risks["royalties_more"] > 0)
    risks = {column: figures[bolder] for column, figures in risks.items()}
    tell_prices("all", risks)
    for fewest in (1, 3, 5, 7):
        rows = np.isin(risks["cards_left"], (fewest, fewest + 1))
        tell_prices(f"{fewest} or {fewest + 1} left", {column: figures[rows] for column, figures in risks.items()})
    foul, royalties, points, taken = (risks[key] for key in ("foul_more", "royalties_more", "points_more", "taken"))
    (a_foul, a_royalty), _ = prices(risks)
    figure, (by_risk, by_worth) = new_grid([3.4, 2.4])
    picture = by_risk.scatter(
        100 * foul, royalties, c=points, s=9, cmap="RdBu", norm=CenteredNorm(0, POINTS_SHOWN), linewidths=0
    )
    even = np.array([0.0, foul.max()])
    by_risk.plot(100 * even, -a_foul / a_royalty * even, color="black", linewidth=1.2, label="worth as much")
    by_risk.set_ylim(0, ROYALTIES_SHOWN)
    by_risk.set_xlim(0, 100 * FOUL_SHOWN)
    by_risk.set_xlabel("more risk of a foul, percentage points")
    by_risk.set_ylabel("more royalties promised")
    by_risk.legend(loc="upper right")
    figure.colorbar(picture, ax=by_risk, label="more points")
    worth = a_foul * foul + a_royalty * royalties
    edges = np.quantile(worth, np.linspace(0, 1, PARTS + 1))
    part = np.clip(np.searchsorted(edges, worth, side="right") - 1, 0, PARTS - 1)
    counts = np.bincount(part, minlength=PARTS)
    share = np.bincount(part, weights=taken == 1, minlength=PARTS) / counts
    error = 1.96 * np.sqrt(share * (1 - share) / counts)
    middle = np.bincount(part, weights=worth, minlength=PARTS) / counts
    by_worth.errorbar(middle, 100 * share, yerr=100 * error, color=COLOURS[0], marker="o", linewidth=1.4)
    by_worth.axvline(0, color=GREY, linewidth=1, linestyle=":")
    by_worth.set_ylim(0, 100)
    by_worth.set_xlabel("points that the bolder placement is worth")
    by_worth.set_ylabel("taken, %")
    return figure


def prices(risks: dict[str, NDArray[np.float64]]) -> tuple[NDArray[np.floating[Any]], NDArray[np.floating[Any]]]:
    """Points for a foul more and for a royalty promised more, by least squares, and half their 95 % intervals."""
    given = np.stack([risks["foul_more"], risks["royalties_more"]], axis=1)
    found, *_ = np.linalg.lstsq(given, risks["points_more"], rcond=None)
    left = risks["points_more"] - given @ found
    return found, 1.96 * np.sqrt(left.var() * np.diag(np.linalg.inv(given.T @ given)))


def tell_prices(name: str, risks: dict[str, NDArray[np.float64]]) -> None:
    """Print what docs/strength/open_face.md says of these positions."""
    (foul, royalty), (foul_error, royalty_error) = prices(risks)
    print(
        f"{name}: {risks['taken'].size} positions, a foul {foul:.2f} ± {foul_error:.2f}, "
        f"a royalty {royalty:.2f} ± {royalty_error:.2f}, "
        f"worth {risks['points_more'].mean():+.2f}, taken {(risks['taken'] == 1).mean():.0%}"
    )


def read_columns(name: str) -> dict[str, NDArray[np.float64]]:
    """Column → its figures in curves/NAME.csv."""
    with (HERE / "curves" / f"{name}.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    return {column: np.array([float(row[column]) for row in rows]) for column in rows[0]}


PICTURES: dict[str, Callable[[], Figure]] = {
    "poker_squares": draw_poker_squares,
    "thirty_one": draw_thirty_one,
    "big2": draw_big2,
    "open_face": draw_open_face,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        with house_style():
            (HERE / f"{name}.svg").write_text(inline_svg(PICTURES[name](), name) + "\n")
