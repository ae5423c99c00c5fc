"""Environments of one game, held to the libraries' own checks, and to the engine."""

import warnings
from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, seed_test
from pettingzoo.utils.wrappers import TerminateIllegalWrapper
from stable_baselines3.common.env_checker import check_env as check_sb3_env

import cardlab
from cardlab.core.messages import InvalidOption
from cardlab.games.loop import IllegalAction
from cardlab.integrations import make_aec, make_env, register_games
from cardlab.integrations.gymnasium_envs import environment_id
from games.variants import VARIANTS

OTHER_OPTIONS = {
    "poker_squares": {"scoring": "british", "features": "paper"},
    "thirty_one": {"num_players": 5, "lives": 1},
    "five_o": {"hidden_round": 4},
    "big2": {"penalty": "doubled", "features": "full"},
    "open_face": {"features": "paper"},
}


@pytest.fixture(autouse=True)
def only_expected_warnings() -> Iterator[None]:
    """Every warning of a checker fails, but for what the games are: numbers without bounds, observations as dicts."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in (
            ".*infinity.*",
            ".*all zeros.*",
            ".*Observation space for each agent probably.*",
            ".*Observation is not a NumPy.*",
        ):
            warnings.filterwarnings("ignore", text)
        warnings.filterwarnings("ignore", ".*not having.*render.*|.*different number of dimensions.*")
        yield


def legal_action(rng: np.random.Generator, mask: np.ndarray) -> int:
    return int(rng.choice(np.flatnonzero(mask)))


@pytest.mark.parametrize("game", VARIANTS)
def test_aec_passes_the_checks_of_pettingzoo(game: str) -> None:
    api_test(make_aec(game), num_cycles=300)
    seed_test(lambda: make_aec(game), num_cycles=100)


@pytest.mark.parametrize("game", VARIANTS)
def test_aec_takes_the_options_of_the_game(game: str) -> None:
    api_test(make_aec(game, **OTHER_OPTIONS[game]), num_cycles=60)
    spec = cardlab.make_game(game, **OTHER_OPTIONS[game]).spec
    env = make_aec(game, **OTHER_OPTIONS[game])
    assert env.possible_agents == [f"player_{player}" for player in range(spec.num_players)]
    assert env.observation_space("player_0")["observation"].shape == (spec.num_features,)


@pytest.mark.parametrize("game", VARIANTS)
def test_aec_pays_what_the_engine_pays(game: str) -> None:
    made = cardlab.make_game(game, **({"play": "round", "reward": "shaped"} if game == "thirty_one" else {}))
    rng = np.random.default_rng(3)
    deck = rng.permutation(52).astype(np.int8)
    env = make_aec(made)
    env.reset(seed=5, options={"deck": deck})
    states = made.deal(1, np.random.default_rng(5), deck[None])
    states[:] = env._states  # the same later chance
    total = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, over, _, _ = env.last()
        total[agent] += reward
        if over:
            env.step(None)
            continue
        player = made.current_player(states)
        assert env.possible_agents[int(player[0])] == agent
        known = made.information(states, player)
        np.testing.assert_array_equal(observation["observation"], made.observe(known, player)[0])
        np.testing.assert_array_equal(observation["action_mask"], made.legal_actions(states)[0])
        action = legal_action(rng, observation["action_mask"])
        env.step(action)
        made.apply(states, np.array([action], dtype=np.int16))
    assert made.is_over(states)[0]
    np.testing.assert_allclose([total[agent] for agent in env.possible_agents], made.payoffs(states)[0], atol=1e-5)


def test_aec_shows_nothing_to_those_who_wait() -> None:
    env = make_aec("big2")
    env.reset(seed=0)
    waiting = [agent for agent in env.agents if agent != env.agent_selection]
    assert len(waiting) == 3
    assert all(not env.observe(agent)["action_mask"].any() for agent in waiting)


def test_illegal_actions_are_refused_or_end_the_game() -> None:
    env = make_aec("open_face")
    env.reset(seed=0)
    with pytest.raises(IllegalAction, match=r"open_face: action 3 is not legal in game 0; choose one of \[0, 1, 2\]"):
        env.step(3)
    with pytest.raises(IllegalAction):
        env.step(-1)
    wrapped = TerminateIllegalWrapper(make_aec("poker_squares"), illegal_reward=-100)
    wrapped.reset(seed=0)
    wrapped.step(7)
    wrapped.step(7)
    assert wrapped.last()[1:3] == (-100, True)


def test_render_shows_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    env = make_aec("big2", render_mode="ansi")
    env.reset(seed=0)
    assert "player_0\n> 0: " in str(env.render())
    assert "to beat: single 3d by 3" in str(env.render())
    make_env("poker_squares", render_mode="human").reset(seed=0)
    assert "turn 0, value 0, place" in capsys.readouterr().out
    with pytest.raises(InvalidOption, match="render_mode=rgb_array: must be one of ansi, human"):
        make_env("poker_squares", render_mode="rgb_array")


@pytest.mark.parametrize("game", VARIANTS)
def test_the_checks_of_gymnasium_and_stable_baselines_pass_where_illegal_actions_are_replaced(game: str) -> None:
    """Both checks sample actions without the mask."""
    check_env(make_env(game, replace_illegal=True), skip_render_check=True)
    check_sb3_env(make_env(game, replace_illegal=True), skip_render_check=True)


def test_a_replaced_action_is_legal_and_a_legal_one_stays() -> None:
    game, rng = cardlab.make_game("big2"), np.random.default_rng(0)
    replacing, refusing = make_env(game, replace_illegal=True), make_env(game)
    replacing.reset(seed=1)
    refusing.reset(seed=1)
    over = False
    while not over:
        legal = legal_action(rng, refusing.action_masks())
        one, other = replacing.step(legal), refusing.step(legal)
        np.testing.assert_array_equal(one[0], other[0])
        over = one[2]
    replacing.reset(seed=1)
    illegal = int(np.flatnonzero(~replacing.action_masks())[0])
    for number in (illegal, -1, -30, 10**6, 10**30, np.int64(-1)):  # one rule for all whole numbers
        replacing.reset(seed=1)
        replacing.step(number)  # pyright: ignore[reportArgumentType]
    with pytest.raises(IllegalAction):
        replacing.step(0.5)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("game", VARIANTS)
def test_a_game_is_played_by_masks(game: str) -> None:
    env = make_env(game, "random", seat=0)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        _, info = env.reset(seed=seed)
        over, total = False, 0.0
        while not over:
            np.testing.assert_array_equal(info["action_mask"], env.action_masks())
            action = (
                env.action_space.sample(mask=info["action_mask"]) if seed else legal_action(rng, env.action_masks())
            )
            observation, reward, over, truncated, info = env.step(action)
            assert env.observation_space.contains(observation)
            assert not truncated
            total += float(reward)
        low, high = env.game.spec.payoff_range
        assert low <= total <= high
        assert not info["action_mask"].any()
        with pytest.raises(RuntimeError, match="reset"):
            env.step(0)


def test_gymnasium_plays_a_given_deck() -> None:
    env = make_env("poker_squares")
    deck = np.arange(52)[::-1]
    first = env.reset(seed=1, options={"deck": deck})[0]
    np.testing.assert_array_equal(first, env.reset(seed=2, options={"deck": deck})[0])
    assert (first != env.reset(seed=2)[0]).any()
    with pytest.raises(InvalidOption, match=r"options.deck=numbers of shape \(51,\): must be the 52 cards"):
        env.reset(options={"deck": deck[:51]})


def test_the_games_are_registered() -> None:
    register_games()
    register_games()
    assert environment_id("poker_squares") == "cardlab/PokerSquares-v0"
    for game in VARIANTS:
        env = gymnasium.make(environment_id(game))
        assert env.reset(seed=0)[0].shape == (cardlab.make_game(game).spec.num_features,)
    envs = gymnasium.make_vec("cardlab/FiveO-v0", num_envs=4, opponents="random", hidden_round=4)
    assert envs.reset(seed=0)[0].shape == (4, cardlab.make_game("five_o").spec.num_features)


def test_unfit_opponents_and_options_are_named() -> None:
    with pytest.raises(InvalidOption, match="opponents=2: must be 3 for big2, one for each other seat"):
        make_env("big2", ["random", "random"])
    with pytest.raises(InvalidOption, match=r"game\.colour=1"):
        make_aec("big2", colour=1)
    with pytest.raises(InvalidOption, match=r"game\.features=full: must be left out with a game object"):
        make_aec(cardlab.make_game("big2"), features="full")
    with pytest.raises(InvalidOption, match="seat=4"):
        make_env("big2", seat=4)
