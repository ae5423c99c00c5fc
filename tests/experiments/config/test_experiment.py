"""Configurations become experiments; what does not fit is refused in one line that names the key."""

import pytest
import torch

from cardlab.core.messages import InvalidOption
from cardlab.experiments.config.build_experiment import build_experiment
from cardlab.experiments.config.composition import compose_experiment
from recipes import recipes

FIRST_GAMES = ("poker_squares", "thirty_one")


def refusal(*overrides: str) -> str:
    with pytest.raises(InvalidOption) as caught:
        build_experiment(compose_experiment(overrides))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("experiment", recipes("experiment"))
def test_every_experiment_can_be_built(experiment: str) -> None:
    config = compose_experiment([f"experiment={experiment}"])
    built = build_experiment(config)
    assert built.name == config["name"]
    assert built.config == config
    assert built.total_iterations > 0


@pytest.mark.parametrize("game", FIRST_GAMES)
@pytest.mark.parametrize("agent", ["ppo", "dqn", "td", "policy_iteration"])
def test_every_learner_composes_with_every_game(game: str, agent: str) -> None:
    built = build_experiment(compose_experiment([f"game={game}", f"agent={agent}"]))
    assert built.game.spec.name == game
    assert built.agent_name == agent
    assert type(built.agent).__module__ == f"cardlab.learners.{agent}.options"


@pytest.mark.parametrize(
    ("overrides", "said"),
    [
        (["agent.gamma=2"], "agent.gamma=2: must be a number in [0, 1]"),
        (["agent=dqn", "agent.epsilon=-1"], "agent.epsilon=-1: must be a number in [0, 1]"),
        (["agent=dqn", "agent.buffer_size=1e18"], "agent.buffer_size=1e+18: must be a whole number in [1, 1e+09]"),
        (["agent.critic=mine"], "agent.critic=mine: must be one of own, all_cards"),
        (["agent.critic_widths=[]"], "agent.critic_widths=[]: must be a list of 1 to 16 entries"),
        (["agent=td", "agent.successors=-1"], "agent.successors=-1: must be a whole number in [0, 1024]"),
        (
            ["agent=td", "agent.successors=4", "agent.td_lambda=1"],
            "agent.td_lambda=1: must be below 1 with agent.successors",
        ),
        (["game.num_players=1"], "game.num_players=1: must be a whole number in [2, 9]"),
        (["agent.gamma=high"], "agent.gamma=high: must be a number"),
        (["network=mlp", "network.widths=256"], "network.widths=256: must be a list of 1 to 16 entries"),
        (
            ["network.widths=[64]"],
            "network.widths=[64]: no such key; network takes _target_, name; network=abstract_actions",
        ),
        (["trainer.decisions=0"], "trainer.decisions=0: must be a whole number in [1, 1e+12]"),
        (["agent._target_=a2c.A2C"], "agent._target_=a2c.A2C: must be a class that can be imported"),
        (["trainer.decisions=1e300"], "trainer.decisions=1e+300: must be a whole number in [1, 1e+12]"),
        ([f"trainer.decisions={400 * '9'}"], f"trainer.decisions={100 * '9'}… (400 characters): must be a "),
        (["trainer.decisions=inf"], "trainer.decisions=inf: must be a whole number"),
        (["trainer.decisions=nan"], "trainer.decisions=nan: must be a whole number"),
        (["trainer.evaluation_deals=2000000000"], "trainer.evaluation_deals=2000000000: must be a whole number in [2"),
        (["arena.deals=2000000000"], "arena.deals=2000000000: must be a whole number in [2, 1e+09]"),
        (["arena.pairing_deals=1e10"], "arena.pairing_deals=10000000000.0: must be a whole number in [2, 1e+09]"),
        ([f"arena.seed={400 * '9'}"], f"arena.seed={100 * '9'}… (400 characters): must be a whole number in [0, 9"),
        ([f"agent.gamma={400 * '9'}"], f"agent.gamma={100 * '9'}… (400 characters): must be a number"),
        (["name=''"], "name=: must be text"),
        (["name=a/b"], "name=a/b: must be text for the name of a folder: no / "),
        (["name='a\\b'"], "name=a\\b: must be text for the name of a folder"),
        (["name=.."], "name=..: must be text for the name of a folder"),
        ([f"name={201 * 'x'}"], f"name={201 * 'x'}: must be text for the name of a folder"),
        ([f"name='{101 * 'é'}'"], f"name={101 * 'é'}: must be text for the name of a folder"),
        (["seed=-1"], "seed=-1: must be a whole number in [0"),
        (["network=lines"], "network=lines: must be mlp or trunks"),
        (["opponents=scripted", "+opponents.agents.shark=1"], "opponents.agents=shark: must be a policy's folder"),
        (["arena.references=[shark]"], "arena.references=shark: must be a policy's folder or address"),
        (
            ["game=poker_squares", "arena.references=[tables:games:abc]"],
            "arena.references=tables:games:abc: must be an agent with valid options; games=abc: must be a whole number",
        ),
        (
            ["game=poker_squares", "arena.references=[tables:foo:1]"],
            "arena.references=tables:foo:1: must be tables with options games, seed, transposed",
        ),
        (
            ["arena.references=[tree:seconds:0]"],
            "arena.references=tree:seconds:0: must be an agent with valid options; seconds=0: must be a number",
        ),
        (["arena.references=[random:foo:1]"], "arena.references=random:foo:1: must be random with no options"),
        (
            ["trainer.evaluation_lineup=[shark]"],
            "trainer.evaluation_lineup=shark: must be a policy's folder or address",
        ),
        (
            ["trainer.evaluation_lineup=[random,random]"],
            "trainer.evaluation_lineup=[random,random]: must be empty, or 1",
        ),
        (["game=poker_squares", "arena.references=[greedy_stock_only]"], "arena.references=greedy_stock_only: must be"),
        (["+agent.epsilon=0.1"], "agent.epsilon=0.1: no such key; did you mean agent.adam_epsilon? agent takes gamma"),
        (["+rounds=3"], "rounds=3: no such key; an experiment takes game"),
        (["agent.symmetries=true"], "agent.symmetries=true: must be false: thirty_one has none"),
        (["agent=dqn", "agent.same_turn_kinds=[nap]"], "agent.same_turn_kinds=nap: must be one of turn, swap"),
    ],
)
def test_what_does_not_fit_is_named(overrides: list[str], said: str) -> None:
    assert refusal(*overrides).startswith(said)


def test_a_missing_part_is_named() -> None:
    config = compose_experiment()
    del config["trainer"]
    with pytest.raises(InvalidOption, match=r"trainer=\(left out\): must be given"):
        build_experiment(config)
    with pytest.raises(InvalidOption, match=r"trainer=quick: must be an option of conf/trainer/"):
        build_experiment({**config, "trainer": "quick"})


def test_an_option_of_an_opponent_is_named_with_its_text() -> None:
    config = compose_experiment(["opponents=scripted"])
    config["opponents"]["agents"] = {"threshold:level:99": 1.0}
    said = (
        r"^opponents\.agents=threshold:level:99: must be an agent with valid options; level=99: must be a whole number"
    )
    with pytest.raises(InvalidOption, match=said):
        build_experiment(config)


def test_checking_leaves_the_random_numbers_alone() -> None:
    torch.manual_seed(1)
    before = torch.random.get_rng_state()
    build_experiment(compose_experiment())
    assert torch.equal(torch.random.get_rng_state(), before)
