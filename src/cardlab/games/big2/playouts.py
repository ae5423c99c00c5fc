"""Playouts by the greedy agent at every seat, in one kernel, for Monte Carlo search."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cardlab.core.kernels import kernel
from cardlab.games.array_checks import checked_function
from cardlab.games.big2.combinations import NO_KIND, STRAIGHT_FLUSH
from cardlab.games.big2.game import Big2
from cardlab.games.big2.greedy_kernel import greedy_play
from cardlab.games.big2.rules import OVER, PLAYING, hand_bits, payoffs
from cardlab.games.cards.bits import count_bits
from cardlab.games.protocol import Floats, States
from cardlab.games.record_arrays import copied


@checked_function(Big2)
def play_out(
    states: States,
    rng: np.random.Generator,  # noqa: ARG001  one signature for all games
    options: Mapping[str, Any] | None = None,
) -> Floats:
    """[G, 4] payoffs of greedy play from `states`, which are not changed.

    `options` are `GameSpec.options`; the default game's if None. Greedy play uses no random numbers.
    """
    options = options or {}
    ended = copied(states)
    play_out_greedily(ended, options.get("straight_flush") == "unbeatable")
    return payoffs(ended, options.get("penalty") == "doubled")


@kernel
def play_out_greedily(states: States, unbeatable: bool) -> None:
    """Set the final counts and phase of greedy play in `states` [G]; `place` is not updated."""
    hands = np.empty(4, dtype=np.int64)
    for g in range(states.shape[0]):
        state = states[g]
        if state["phase"] != PLAYING:
            continue
        for seat in range(4):
            hands[seat] = hand_bits(state["place"], seat)
        player = (int(state["opener"]) + int(state["moves"])) % 4
        _play_greedily(hands, player, int(state["kind"]), int(state["key"]), int(state["passes"]), unbeatable)
        for seat in range(4):
            state["counts"][seat] = count_bits(hands[seat])
        state["phase"] = OVER


@kernel
def _play_greedily(hands: NDArray[np.int64], player: int, kind: int, key: int, passes: int, unbeatable: bool) -> None:
    """Play `hands` [4] in place until one is empty."""
    while True:
        if unbeatable and kind == STRAIGHT_FLUSH:
            cards, new_kind, new_key = 0, NO_KIND, -1
        else:
            cards, new_kind, new_key = greedy_play(int(hands[player]), kind, key)
        if cards != 0:
            hands[player] ^= cards
            if hands[player] == 0:
                return
            kind, key, passes = new_kind, new_key, 0
        else:
            passes += 1
            if passes == 3:
                kind, key, passes = NO_KIND, -1, 0
        player = (player + 1) % 4
