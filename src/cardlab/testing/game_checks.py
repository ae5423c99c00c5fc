"""The properties of a game that learners, searches and matches rely on."""

import pickle
from collections import Counter, defaultdict
from typing import cast

import numpy as np

from cardlab.agents.exploration import RandomAgent
from cardlab.games.base import determinizes
from cardlab.games.loop import play_out
from cardlab.games.protocol import (
    NO_PLAYER,
    ChecksStates,
    Game,
    HasActionFeatures,
    HasHistory,
    HasPrivilegedFeatures,
    InfoStates,
    States,
    lists_legal_actions,
)
from cardlab.testing.positions import GAMES, NO_ACTION, positions, require, require_array, sample

NOT_IN_DIGEST = "refuses, and decides nothing else"
_PAYOFF_TOLERANCE = 1e-4  # payoffs are float32
_LARGEST_INPUT = 60  # networks learn badly from larger numbers
_MANY_DEALS, _SEEN_OFTEN = 4000, 8  # a deal that is possible is missed with a probability below 1 in 1,000


def check_random_play_ends(game: Game, seed: int = 0) -> None:
    """Random games end within the decisions and payoffs of the spec."""
    spec = game.spec
    _check_apply_in_place(game, seed)
    decisions, final = np.zeros(GAMES, dtype=np.int64), None
    for _, after, moves in positions(game, seed):
        decisions[moves.rows] += 1
        many = f"a game has {decisions.max()} decisions: end it, or raise spec.max_decisions={spec.max_decisions}"
        require(decisions.max() <= spec.max_decisions, many)
        seats = ((moves.players >= 0) & (moves.players < spec.num_players)).all()
        require(seats, "current_player must be a seat from 0 to spec.num_players - 1, or NO_PLAYER")
        agrees = np.array_equal(game.is_over(after)[moves.rows], moves.over)
        require(agrees, "is_over gives two answers for the same state")
        final = after
    require(final is not None, "no game has a decision: current_player of a fresh deal must be a seat")
    assert final is not None
    require(game.is_over(final).all(), "current_player is NO_PLAYER before is_over is true: no player can play on")
    require((game.current_player(final) == NO_PLAYER).all(), "current_player must be NO_PLAYER when the game is over")
    require(not game.legal_actions(final).any(), "legal_actions must be all False when the game is over")
    payoffs, (low, high) = game.payoffs(final), spec.payoff_range
    require_array("payoffs", payoffs, (GAMES, spec.num_players), np.float32)
    seen = f"{payoffs.min():g} to {payoffs.max():g}"
    within = (payoffs >= low - _PAYOFF_TOLERANCE).all() and (payoffs <= high + _PAYOFF_TOLERANCE).all()
    require(within, f"payoffs go from {seen}; spec.payoff_range is {low:g} to {high:g}: widen it")
    balanced = not spec.zero_sum or np.allclose(payoffs.sum(axis=1), 0, atol=_PAYOFF_TOLERANCE)
    require(balanced, "payoffs of a game do not add up to 0: set spec.zero_sum=False or mend payoffs")


def _check_apply_in_place(game: Game, seed: int) -> None:
    states = game.deal(GAMES, np.random.default_rng(seed))
    states = States(states[game.current_player(states) != NO_PLAYER])
    before = states.copy()
    result: object = game.apply(states, game.legal_actions(states).argmax(axis=1).astype(np.int16))
    require(result is None, "apply must change the records in place and return nothing")
    same = [old.tobytes() == new.tobytes() for old, new in zip(before, states, strict=True)]
    require(not any(same), "apply left a record as it was: change it in place")


def check_legal_actions(game: Game, seed: int = 0) -> None:
    """The current player has an action, of the kind of the decision; lists say what masks say."""
    spec = game.spec
    count = f"spec.action_kinds must have {spec.num_actions} entries, one for each action"
    require(len(spec.action_kinds) == spec.num_actions, count)
    for states, _ in sample(game, seed):
        legal, kinds = game.legal_actions(states), game.decision_kind(states)
        require_array("legal_actions", legal, (len(states), spec.num_actions), np.bool_)
        require(legal.any(axis=1).all(), NO_ACTION)
        known = ((kinds >= 0) & (kinds < len(spec.decision_kinds))).all()
        require(known, "decision_kind must be an index into spec.decision_kinds")
        rows, actions = np.nonzero(legal)
        fits = np.array_equal(np.array(spec.action_kinds)[actions], kinds[rows])
        require(fits, "legal_actions has an action whose spec.action_kinds is not the decision_kind of the state")
    if not lists_legal_actions(game):
        return
    whole = cast(Game, game)
    for _, after, _ in positions(whole, seed, num_games=40):
        rows, marked = np.nonzero(whole.legal_actions(after))
        actions, starts = game.list_legal_actions(after)
        same = np.array_equal(actions, marked) and np.array_equal(starts, np.searchsorted(rows, np.arange(41)))
        require(same and actions.dtype == np.int16, "list_legal_actions must list what legal_actions marks, as int16")


def check_determinism(game: Game, seed: int = 0) -> None:
    """The same seed makes the same games, in another process too, and rows of a batch do not touch each other."""
    travelled = pickle.loads(pickle.dumps(game))  # noqa: S301  its own bytes
    require(travelled == game and travelled.spec == game.spec, "a pickled game must equal it: use a frozen dataclass")
    ends: list[bytes] = []
    for one in (game, travelled):
        rng = np.random.default_rng(seed)
        states = one.deal(GAMES, rng)
        play_out(one, states, [RandomAgent(one)], rng)
        ends.append(states.tobytes())
    require(ends[0] == ends[1], "two games from one seed differ: take all chance from the `rng` of deal")
    for before, after, moves in positions(game, seed, num_games=5, every=7):
        for place, row in enumerate(moves.rows):
            alone = States(before[row : row + 1].copy())
            game.apply(alone, moves.actions[place : place + 1])
            same = alone.tobytes() == after[row : row + 1].tobytes()
            require(same, "apply of one game alone differs from apply of many: rows must not depend on each other")


def check_hidden_information(game: Game, seed: int = 0) -> None:
    """States that differ only in what a player cannot know look the same to that player, byte for byte."""
    rng = np.random.default_rng(seed)
    for states, movers in sample(game, seed):
        others = rng.integers(game.spec.num_players, size=len(states)).astype(np.int8)
        for players in (movers, others):
            given = states.tobytes()
            known = game.information(states, players)
            require(states.tobytes() == given, "information changes the states that it is given: copy them first")
            again = game.information(States(known), players)
            require(again.tobytes() == known.tobytes(), "information of an InfoState must be that InfoState")
            if determinizes(game):
                again = game.information(game.determinize(known, players, rng), players)
                leak = (
                    "information depends on what the player cannot know, or determinize changes what the player knows"
                )
                require(again.tobytes() == known.tobytes(), leak)
        known = game.information(states, movers)
        same = np.array_equal(game.legal_actions(known), game.legal_actions(states))
        require(same, "legal_actions of the current player must be the same for State and InfoState")


def check_public_facts(game: Game, seed: int = 0) -> None:
    """An InfoState has the record's type, and shows who decides, what kind of decision it is and what was paid."""
    for states, movers in sample(game, seed):
        known = game.information(states, movers)
        require(known.dtype == game.state_dtype, "information must return records of state_dtype")
        require(
            np.array_equal(game.current_player(known), movers), "current_player must be known to the current player"
        )
        for name in ("decision_kind", "is_over", "payoffs"):
            same = np.array_equal(getattr(game, name)(known), getattr(game, name)(states))
            require(same, f"{name} must be the same for State and InfoState of the current player")


def check_determinize(game: Game, seed: int = 0) -> None:
    """Determinized games can be played to their ends; where deals are few, each is one that is dealt."""
    rng = np.random.default_rng(seed)
    if determinizes(game):
        _check_possible_deals(game, rng)
    for states, movers in sample(game, seed, count=3) if determinizes(game) else ():
        whole = game.determinize(game.information(states, movers), movers, rng)
        play_out(game, whole, [RandomAgent(game)], rng)
        require(game.is_over(whole).all(), "a determinized game does not end: determinize must make full states")


def _check_possible_deals(game: Game, rng: np.random.Generator) -> None:
    """Compare with the deals that have been seen, for what a player knows if each of them has been seen often."""
    states = game.deal(_MANY_DEALS, rng)
    states = States(states[game.current_player(states) != NO_PLAYER])  # some deals may end at once
    movers = game.current_player(states)
    known = game.information(states, movers)
    rows, seen = defaultdict[bytes, list[int]](list), defaultdict[bytes, Counter[bytes]](Counter)
    for row, (record, knows) in enumerate(zip(states, known, strict=True)):
        rows[knows.tobytes()].append(row)
        seen[knows.tobytes()][record.tobytes()] += 1
    for knows, deals in seen.items():
        if min(deals.values()) >= _SEEN_OFTEN:
            whole = game.determinize(InfoStates(known[rows[knows]]), movers[rows[knows]], rng)
            possible = all(record.tobytes() in deals for record in whole)
            require(possible, "determinize makes a state that deal never makes: hide only cards that are not seen")


def check_afterstates(game: Game, seed: int = 0) -> None:
    """Applied to an InfoState, an action never says more than what is so: at most, it waits for a hidden card."""
    for before, after, moves in positions(game, seed, every=3):
        known = InfoStates(game.information(States(before[moves.rows]), moves.players).copy())
        game.apply(known, moves.actions)
        there = States(after[moves.rows])
        over = game.is_over(known)
        waits = ~over & (game.current_player(known) == NO_PLAYER)
        for name in ("is_over", "current_player", "payoffs"):
            found = getattr(game, name)
            same = np.array_equal(found(known)[~waits], found(there)[~waits])
            wrong = f"after apply on an InfoState, {name} differs from the true one: where a hidden card decides, "
            require(same, f"{wrong}the row must have no current player and not be over")
        require(not game.legal_actions(known)[waits].any(), "a row that waits for a hidden card has no legal action")
        require(np.isfinite(game.observe(known, moves.players)).all(), "observe of an afterstate must be finite")


def check_observations(game: Game, seed: int = 0) -> None:
    """Observations are finite float32 numbers that fill the blocks of the spec."""
    spec = game.spec
    starts = [block.start for block in spec.blocks]
    require(
        starts == [0, *(block.stop for block in spec.blocks[:-1])], "spec.blocks must follow each other: use layout"
    )
    require(len({block.name for block in spec.blocks}) == len(spec.blocks), "two of spec.blocks have one name")
    hidden = isinstance(game, HasPrivilegedFeatures)
    require(hidden == bool(spec.num_privileged), "privileged and spec.privileged_blocks belong together")
    for states, movers in sample(game, seed):
        seen = game.observe(game.information(states, movers), movers)
        require_array("observe", seen, (len(states), spec.num_features), np.float32)
        if isinstance(game, HasPrivilegedFeatures):
            require_array("privileged", game.privileged(states, movers), (len(states), spec.num_privileged), np.float32)


def check_sizes_of_observations(game: Game, seed: int = 0) -> None:
    """Observations are numbers of order one."""
    for states, movers in sample(game, seed):
        largest = np.abs(game.observe(game.information(states, movers), movers)).max()
        require(largest <= _LARGEST_INPUT, f"observe has {largest:g}: divide, so that numbers are of order one")


def check_action_features(game: Game, seed: int = 0) -> None:
    """Action features describe the legal actions, in their order; games without them pass."""
    both = isinstance(game, HasActionFeatures) == bool(game.spec.num_action_features)
    require(both, "action_features and spec.action_blocks belong together")
    if not isinstance(game, HasActionFeatures):
        return
    for states, movers in sample(game, seed):
        known = game.information(states, movers)
        rows, actions, features = game.action_features(known, movers)
        wanted_rows, wanted_actions = np.nonzero(game.legal_actions(known))
        same = np.array_equal(rows, wanted_rows) and np.array_equal(actions, wanted_actions)
        require(same, "action_features must have the rows and actions of np.nonzero(legal_actions)")
        require_array("features of actions", features, (len(rows), game.spec.num_action_features), np.float32)


def check_history(game: Game, seed: int = 0) -> None:
    """Histories lead to the states; games without them pass."""
    if not isinstance(game, HasHistory):
        return
    for _, after, _ in positions(game, seed, every=9):
        decks, actions = game.history(after)
        replayed = game.deal(len(after), np.random.default_rng(0), decks)
        for step in range(actions.shape[1]):
            rows = np.flatnonzero(actions[:, step] >= 0)
            now = States(replayed[rows])
            legal = game.legal_actions(now)[np.arange(len(rows)), actions[rows, step]].all()
            require(legal, "history has an action that is not legal where it was played")
            game.apply(now, actions[rows, step])
            replayed[rows] = now
        require(replayed.tobytes() == after.tobytes(), "deal and apply of a history do not make the state")


def check_valid_states(game: Game, seed: int = 0) -> None:
    """`are_valid` accepts all that play leads to, and no random bytes; games without it pass."""
    if not isinstance(game, ChecksStates):
        return
    for before, after, moves in positions(game, seed, every=3):
        known = InfoStates(game.information(States(before[moves.rows]), moves.players).copy())
        game.apply(known, moves.actions)
        for states in (before, after, game.information(States(after[moves.rows]), moves.players), known):
            require(game.are_valid(states).all(), "are_valid refuses a record of play")
    rng = np.random.default_rng(seed)
    noise = rng.bytes(GAMES * game.state_dtype.itemsize)
    require(not game.are_valid(States(np.frombuffer(noise, game.state_dtype))).any(), "are_valid accepts random bytes")


def check_finished_games(game: Game, seed: int = 0) -> None:
    """Finished games do not change."""
    rng = np.random.default_rng(seed)
    states = game.deal(3, rng)
    play_out(game, states, [RandomAgent(game)], rng)
    kept = states.tobytes()
    for action in range(0, game.spec.num_actions, max(1, game.spec.num_actions // 7)):
        game.apply(states, np.full(3, action, dtype=np.int16))
        require(states.tobytes() == kept, "apply changes a game that is over: rows without current player must stay")


def check_few_games(game: Game, seed: int = 0) -> None:
    """No game at all and one alone are batches too."""
    for count in (0, 1):
        rng = np.random.default_rng(seed)
        states, players = game.deal(count, rng), np.zeros(count, dtype=np.int8)
        known = game.information(states, players)
        require_array("observe", game.observe(known, players), (count, game.spec.num_features), np.float32)
        require_array("legal_actions", game.legal_actions(states), (count, game.spec.num_actions), np.bool_)
        if determinizes(game):
            require(len(game.determinize(known, players, rng)) == count, f"determinize of {count} must return {count}")
        play_out(game, states, [RandomAgent(game)], rng)


def check_texts(game: Game, seed: int = 0) -> None:
    """Each legal action has a text of its own, and the table has one."""
    for states, movers in sample(game, seed, count=4):
        known = game.information(States(states[:1]), movers[:1])
        legal = np.flatnonzero(game.legal_actions(known)[0])
        texts = [game.action_text(known[0], int(action)) for action in legal]
        require(len(set(texts)) == len(texts), f"action_text must differ between actions; it gave {texts}")
        require(bool(game.render(known[0]).strip()), "render must return text")


def check_holders(game: Game, seed: int = 0) -> None:
    """Holders are seats, or -1."""
    for states, _ in sample(game, seed, count=3):
        holders = game.holders(states)
        seats = (
            holders.shape == (len(states), game.spec.num_cards)
            and ((holders >= -1) & (holders < game.spec.num_players)).all()
        )
        require(seats, "holders must be [G, spec.num_cards] seats, -1 for a card that no one holds")


def check_decks(game: Game, seed: int = 0) -> None:
    """A deal of given decks is that of these decks; games without a deck pass."""
    if not game.spec.num_cards:
        return
    rng = np.random.default_rng(seed)
    decks = rng.permuted(np.tile(np.arange(game.spec.num_cards, dtype=np.int8), (GAMES, 1)), axis=1)
    seeds = np.arange(GAMES, dtype=np.uint64)
    first, again = (game.deal(GAMES, np.random.default_rng(number), decks, seeds) for number in (seed, seed + 1))
    require(first.tobytes() == again.tobytes(), "deal must use `decks`, where they are given: spec.num_cards says so")


FIRST_CHECKS = (check_random_play_ends, check_legal_actions, check_observations, check_action_features)
"""What no training could do without. Commands make them of a user's game before they begin."""

GAME_CHECKS = (
    check_decks,
    check_random_play_ends,
    check_legal_actions,
    check_determinism,
    check_hidden_information,
    check_public_facts,
    check_determinize,
    check_afterstates,
    check_observations,
    check_sizes_of_observations,
    check_action_features,
    check_history,
    check_valid_states,
    check_finished_games,
    check_few_games,
    check_texts,
    check_holders,
)
"""Each takes a game and a seed, and raises CheckFailed."""
