"""The end of a round: lost lives, payments, and the end of the match."""

from cardlab.core.kernels import kernel
from cardlab.games.protocol import NO_PLAYER
from cardlab.games.thirty_one.record import BEST_SCORE, HAND_SIZE, MAX_PLAYERS, Record, RuleOptions, hand_score


@kernel
def score_of(state: Record, player: int) -> int:
    """Score of the hand of `player`."""
    hand = state["hands"][player]
    return hand_score(hand[0], hand[1], hand[2])


@kernel
def _extreme_scores(state: Record) -> tuple[int, int]:
    """The lowest and the highest score of the living players."""
    lowest, highest = BEST_SCORE, 0
    for player in range(MAX_PLAYERS):
        if state["lives"][player] > 0:
            score = score_of(state, player)
            lowest = min(lowest, score)
            highest = max(highest, score)
    return lowest, highest


@kernel
def _lives_after(state: Record, player: int, lowest: int, highest: int) -> int:
    """Lives of the living `player` after the round."""
    score = score_of(state, player)
    loses = score != BEST_SCORE if highest == BEST_SCORE else score == lowest
    lost = 0
    if loses:
        lost = 2 if state["caller"] == player else 1
    return max(state["lives"][player] - lost, 0)


@kernel
def match_ends(state: Record, options: RuleOptions) -> bool:
    """Whether the match ends with this round; False if any living player has a hidden card."""
    lowest, highest = _extreme_scores(state)
    survivors = 0
    for player in range(MAX_PLAYERS):
        if state["lives"][player] > 0:
            survivors += _lives_after(state, player, lowest, highest) > 0
            for i in range(HAND_SIZE):
                if state["hands"][player, i] < 0:
                    return False
    return survivors <= 1 or state["round"] >= options.max_rounds


@kernel
def settle_round(state: Record, options: RuleOptions) -> None:
    """Subtract the lost lives and, with `reward: shaped`, pay the shaped rewards."""
    lowest, highest = _extreme_scores(state)
    if state["caller"] != NO_PLAYER:
        state["call_scores"][state["caller"]] += score_of(state, state["caller"])
    for player in range(MAX_PLAYERS):
        if state["lives"][player] > 0:
            lives = _lives_after(state, player, lowest, highest)
            if options.shaped:
                calls = state["caller"] == player
                state["paid"][player] += _shaped_reward(score_of(state, player), lowest, calls, lives, options.lives)
            state["lives"][player] = lives


@kernel
def _shaped_reward(score: int, lowest: int, calls: bool, lives: int, full_lives: int) -> float:
    """The paper's reward for one round; `lives` are those after the round."""
    margin = score - lowest
    reward = 0.5 * margin
    if score == lowest:
        reward -= 5.0 if calls else 2.0
    elif score == BEST_SCORE:
        reward += 10.0
    elif calls:
        reward += 0.3 * margin
    reward -= 0.3 * (full_lives - lives)
    return reward + (0.5 if lives > 0 else -2.0)


@kernel
def pay_match(state: Record, num_players: int) -> None:
    """Pay (P·w − 1)/(P − 1): w = 1/k for the k winners, who have the most lives after the last round, else 0."""
    most = 0
    for player in range(num_players):
        most = max(most, state["lives"][player])
    winners = 0
    for player in range(num_players):
        winners += _is_winner(state, player, most)
    for player in range(num_players):
        share = 1.0 / winners if _is_winner(state, player, most) else 0.0
        state["paid"][player] = (num_players * share - 1.0) / (num_players - 1.0)


@kernel
def _is_winner(state: Record, player: int, most: int) -> bool:
    """Whether `player` was in the last round, shown by a hand, and has `most` lives."""
    return state["hands"][player, 0] >= 0 and state["lives"][player] == most
