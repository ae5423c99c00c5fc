"""Checks of a game, agent, network or learner of your own. Each failure is one sentence that says what to change.

check_game(game)                                      # all of them; or one test for each:

@pytest.mark.parametrize("check", GAME_CHECKS)
def test_game(check):
    check(game, seed=0)
"""

import pickle
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from cardlab.agents.exploration import RandomAgent
from cardlab.games.agent_protocol import ActionValues, Agent, Policy
from cardlab.games.base import determinizes
from cardlab.games.loop import IllegalAction, Moves, play, play_out
from cardlab.games.protocol import (
    NO_PLAYER,
    ChecksStates,
    Game,
    HasActionFeatures,
    HasHistory,
    HasPrivilegedFeatures,
    HasSymmetries,
    InfoStates,
    Players,
    States,
    lists_legal_actions,
)

if TYPE_CHECKING:
    from cardlab.learners.base import LearnerOptions
    from cardlab.networks.protocol import NetworkOptions

_GAMES = 12
_PAYOFF_TOLERANCE = 1e-4  # payoffs are float32
_LARGEST_INPUT = 60  # networks learn badly from larger numbers
_OUTPUT_TOLERANCE = 1e-4  # a row alone and in a batch: sums in another order
_LAST = 4  # iterations of a short training
_STEPS = 8  # positions of a game that a check looks at, at least, where a game is that long
_NO_ACTION = "legal_actions must have an action for the current player; current_player is NO_PLAYER if no one decides"


class CheckFailed(AssertionError):
    """A part breaks a rule of its protocol; the message says which, and what to change."""


def check_game(game: Game, seed: int = 0) -> tuple[str, ...]:
    """Make all GAME_CHECKS; returns a line for each ability that the game leaves out. Raises CheckFailed.

    Without `determinize` no check finds a leak; a line then names the fields that `information` blanks.
    """
    for check in GAME_CHECKS:
        check(game, seed)
    return (*missing_abilities(game), *(() if determinizes(game) else (_blanked_fields(game, seed),)))


def missing_abilities(game: Game) -> tuple[str, ...]:
    """What the game leaves out, and which learners and searches it cannot have for that: a line for each."""
    return tuple(
        f"{name} is left out: no {without}"
        for name, without, found in (
            ("determinize", "search, and no agent.successors", determinizes(game)),
            ("action_features", "network=actions", isinstance(game, HasActionFeatures)),
            ("privileged", "agent.critic=all_cards", isinstance(game, HasPrivilegedFeatures)),
            ("augment", "agent.symmetries", isinstance(game, HasSymmetries)),
        )
        if not found
    )


def _blanked_fields(game: Game, seed: int) -> str:
    """Which fields of the record `information` blanks for the player to move, as far as random play shows."""
    names = game.state_dtype.names or ()
    blanked = {
        name
        for states, movers in sample(game, seed)
        for name, known in ((name, game.information(states, movers)[name]) for name in names)
        if known.tobytes() != states[name].tobytes()
    }
    hidden, shown = ([name for name in names if (name in blanked) == wanted] for wanted in (True, False))
    return (
        f"determinize is left out: no check finds a leak; information blanks {', '.join(hidden) or 'nothing'}, "
        f"and shows all of {', '.join(shown) or 'nothing'}"
    )


def check_random_play_ends(game: Game, seed: int = 0) -> None:
    """Random games end within the decisions and payoffs of the spec."""
    spec = game.spec
    decisions, final = np.zeros(_GAMES, dtype=np.int64), None
    for _, after, moves in positions(game, seed):
        decisions[moves.rows] += 1
        many = f"a game has {decisions.max()} decisions; spec.max_decisions={spec.max_decisions}: raise it"
        _require(decisions.max() <= spec.max_decisions, many)
        seats = ((moves.players >= 0) & (moves.players < spec.num_players)).all()
        _require(seats, "current_player must be a seat from 0 to spec.num_players - 1, or NO_PLAYER")
        agrees = np.array_equal(game.is_over(after)[moves.rows], moves.over)
        _require(agrees, "is_over gives two answers for the same state")
        final = after
    _require(final is not None, "no game has a decision: current_player of a fresh deal must be a seat")
    assert final is not None
    _require(game.is_over(final).all(), "current_player is NO_PLAYER before is_over is true: no player can play on")
    _require((game.current_player(final) == NO_PLAYER).all(), "current_player must be NO_PLAYER when the game is over")
    _require(not game.legal_actions(final).any(), "legal_actions must be all False when the game is over")
    payoffs, (low, high) = game.payoffs(final), spec.payoff_range
    _require_array("payoffs", payoffs, (_GAMES, spec.num_players), np.float32)
    seen = f"{payoffs.min():g} to {payoffs.max():g}"
    within = (payoffs >= low - _PAYOFF_TOLERANCE).all() and (payoffs <= high + _PAYOFF_TOLERANCE).all()
    _require(within, f"payoffs go from {seen}; spec.payoff_range is {low:g} to {high:g}: widen it")
    balanced = not spec.zero_sum or np.allclose(payoffs.sum(axis=1), 0, atol=_PAYOFF_TOLERANCE)
    _require(balanced, "payoffs of a game do not add up to 0: set spec.zero_sum=False or mend payoffs")


def check_legal_actions(game: Game, seed: int = 0) -> None:
    """The current player has an action, of the kind of the decision; lists say what masks say."""
    spec = game.spec
    count = f"spec.action_kinds must have {spec.num_actions} entries, one for each action"
    _require(len(spec.action_kinds) == spec.num_actions, count)
    for states, _ in sample(game, seed):
        legal, kinds = game.legal_actions(states), game.decision_kind(states)
        _require_array("legal_actions", legal, (len(states), spec.num_actions), np.bool_)
        _require(legal.any(axis=1).all(), _NO_ACTION)
        known = ((kinds >= 0) & (kinds < len(spec.decision_kinds))).all()
        _require(known, "decision_kind must be an index into spec.decision_kinds")
        rows, actions = np.nonzero(legal)
        fits = np.array_equal(np.array(spec.action_kinds)[actions], kinds[rows])
        _require(fits, "legal_actions has an action whose spec.action_kinds is not the decision_kind of the state")
    if not lists_legal_actions(game):
        return
    whole = cast(Game, game)
    for _, after, _ in positions(whole, seed, num_games=40):
        rows, marked = np.nonzero(whole.legal_actions(after))
        actions, starts = game.list_legal_actions(after)
        same = np.array_equal(actions, marked) and np.array_equal(starts, np.searchsorted(rows, np.arange(41)))
        _require(same and actions.dtype == np.int16, "list_legal_actions must list what legal_actions marks, as int16")


def check_determinism(game: Game, seed: int = 0) -> None:
    """The same seed makes the same games, in another process too, and rows of a batch do not touch each other."""
    travelled = pickle.loads(pickle.dumps(game))  # noqa: S301  its own bytes
    _require(travelled == game and travelled.spec == game.spec, "a pickled game must equal it: use a frozen dataclass")
    ends: list[bytes] = []
    for one in (game, travelled):
        rng = np.random.default_rng(seed)
        states = one.deal(_GAMES, rng)
        play_out(one, states, [RandomAgent(one)], rng)
        ends.append(states.tobytes())
    _require(ends[0] == ends[1], "two games from one seed differ: take all chance from the `rng` of deal")
    for before, after, moves in positions(game, seed, num_games=5, every=7):
        for place, row in enumerate(moves.rows):
            alone = States(before[row : row + 1].copy())
            game.apply(alone, moves.actions[place : place + 1])
            same = alone.tobytes() == after[row : row + 1].tobytes()
            _require(same, "apply of one game alone differs from apply of many: rows must not depend on each other")


def check_hidden_information(game: Game, seed: int = 0) -> None:
    """States that differ only in what a player cannot know look the same to that player, byte for byte."""
    rng = np.random.default_rng(seed)
    for states, movers in sample(game, seed):
        others = rng.integers(game.spec.num_players, size=len(states)).astype(np.int8)
        for players in (movers, others):
            given = states.tobytes()
            known = game.information(states, players)
            _require(states.tobytes() == given, "information changes the states that it is given: copy them first")
            again = game.information(States(known), players)
            _require(again.tobytes() == known.tobytes(), "information of an InfoState must be that InfoState")
            if determinizes(game):
                again = game.information(game.determinize(known, players, rng), players)
                leak = (
                    "information depends on what the player cannot know, or determinize changes what the player knows"
                )
                _require(again.tobytes() == known.tobytes(), leak)
        known = game.information(states, movers)
        same = np.array_equal(game.legal_actions(known), game.legal_actions(states))
        _require(same, "legal_actions of the current player must be the same for State and InfoState")


def check_public_facts(game: Game, seed: int = 0) -> None:
    """An InfoState has the record's type, and shows who decides, what kind of decision it is and what was paid."""
    for states, movers in sample(game, seed):
        known = game.information(states, movers)
        _require(known.dtype == game.state_dtype, "information must return records of state_dtype")
        _require(
            np.array_equal(game.current_player(known), movers), "current_player must be known to the current player"
        )
        for name in ("decision_kind", "is_over", "payoffs"):
            same = np.array_equal(getattr(game, name)(known), getattr(game, name)(states))
            _require(same, f"{name} must be the same for State and InfoState of the current player")


def check_determinize(game: Game, seed: int = 0) -> None:
    """Determinized games can be played to their ends."""
    rng = np.random.default_rng(seed)
    for states, movers in sample(game, seed, count=3) if determinizes(game) else ():
        whole = game.determinize(game.information(states, movers), movers, rng)
        play_out(game, whole, [RandomAgent(game)], rng)
        _require(game.is_over(whole).all(), "a determinized game does not end: determinize must make full states")


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
            _require(same, f"{wrong}the row must have no current player and not be over")
        _require(not game.legal_actions(known)[waits].any(), "a row that waits for a hidden card has no legal action")
        _require(np.isfinite(game.observe(known, moves.players)).all(), "observe of an afterstate must be finite")


def check_observations(game: Game, seed: int = 0) -> None:
    """Observations are finite float32 numbers of order one that fill the blocks of the spec."""
    spec = game.spec
    starts = [block.start for block in spec.blocks]
    _require(
        starts == [0, *(block.stop for block in spec.blocks[:-1])], "spec.blocks must follow each other: use layout"
    )
    _require(len({block.name for block in spec.blocks}) == len(spec.blocks), "two of spec.blocks have one name")
    hidden = isinstance(game, HasPrivilegedFeatures)
    _require(hidden == bool(spec.num_privileged), "privileged and spec.privileged_blocks belong together")
    for states, movers in sample(game, seed):
        seen = game.observe(game.information(states, movers), movers)
        _require_array("observe", seen, (len(states), spec.num_features), np.float32)
        large = f"observe has {np.abs(seen).max():g}: divide, so that numbers are of order one"
        _require(np.abs(seen).max() <= _LARGEST_INPUT, large)
        if isinstance(game, HasPrivilegedFeatures):
            _require_array(
                "privileged", game.privileged(states, movers), (len(states), spec.num_privileged), np.float32
            )


def check_action_features(game: Game, seed: int = 0) -> None:
    """Action features describe the legal actions, in their order; games without them pass."""
    both = isinstance(game, HasActionFeatures) == bool(game.spec.num_action_features)
    _require(both, "action_features and spec.action_blocks belong together")
    if not isinstance(game, HasActionFeatures):
        return
    for states, movers in sample(game, seed):
        known = game.information(states, movers)
        rows, actions, features = game.action_features(known, movers)
        wanted_rows, wanted_actions = np.nonzero(game.legal_actions(known))
        same = np.array_equal(rows, wanted_rows) and np.array_equal(actions, wanted_actions)
        _require(same, "action_features must have the rows and actions of np.nonzero(legal_actions)")
        _require_array("features of actions", features, (len(rows), game.spec.num_action_features), np.float32)


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
            _require(legal, "history has an action that is not legal where it was played")
            game.apply(now, actions[rows, step])
            replayed[rows] = now
        _require(replayed.tobytes() == after.tobytes(), "deal and apply of a history do not make the state")


def check_valid_states(game: Game, seed: int = 0) -> None:
    """`are_valid` accepts all that play leads to, and no random bytes; games without it pass."""
    if not isinstance(game, ChecksStates):
        return
    for before, after, moves in positions(game, seed, every=3):
        known = InfoStates(game.information(States(before[moves.rows]), moves.players).copy())
        game.apply(known, moves.actions)
        for states in (before, after, game.information(States(after[moves.rows]), moves.players), known):
            _require(game.are_valid(states).all(), "are_valid refuses a record of play")
    rng = np.random.default_rng(seed)
    noise = rng.bytes(_GAMES * game.state_dtype.itemsize)
    _require(not game.are_valid(States(np.frombuffer(noise, game.state_dtype))).any(), "are_valid accepts random bytes")


def check_finished_games(game: Game, seed: int = 0) -> None:
    """Finished games do not change."""
    rng = np.random.default_rng(seed)
    states = game.deal(3, rng)
    play_out(game, states, [RandomAgent(game)], rng)
    kept = states.tobytes()
    for action in range(0, game.spec.num_actions, max(1, game.spec.num_actions // 7)):
        game.apply(states, np.full(3, action, dtype=np.int16))
        _require(states.tobytes() == kept, "apply changes a game that is over: rows without current player must stay")


def check_few_games(game: Game, seed: int = 0) -> None:
    """No game at all and one alone are batches too."""
    for count in (0, 1):
        rng = np.random.default_rng(seed)
        states, players = game.deal(count, rng), np.zeros(count, dtype=np.int8)
        known = game.information(states, players)
        _require_array("observe", game.observe(known, players), (count, game.spec.num_features), np.float32)
        _require_array("legal_actions", game.legal_actions(states), (count, game.spec.num_actions), np.bool_)
        if determinizes(game):
            _require(len(game.determinize(known, players, rng)) == count, f"determinize of {count} must return {count}")
        play_out(game, states, [RandomAgent(game)], rng)


def check_texts(game: Game, seed: int = 0) -> None:
    """Each legal action has a text of its own, and the table has one."""
    for states, movers in sample(game, seed, count=4):
        known = game.information(States(states[:1]), movers[:1])
        legal = np.flatnonzero(game.legal_actions(known)[0])
        texts = [game.action_text(known[0], int(action)) for action in legal]
        _require(len(set(texts)) == len(texts), f"action_text must differ between actions; it gave {texts}")
        _require(bool(game.render(known[0]).strip()), "render must return text")


def check_holders(game: Game, seed: int = 0) -> None:
    """Holders are seats, or -1."""
    for states, _ in sample(game, seed, count=3):
        holders = game.holders(states)
        seats = holders.shape == (len(states), 52) and ((holders >= -1) & (holders < game.spec.num_players)).all()
        _require(seats, "holders must be [G, 52] seats, -1 for a card that no one holds")


GAME_CHECKS = (
    check_random_play_ends,
    check_legal_actions,
    check_determinism,
    check_hidden_information,
    check_public_facts,
    check_determinize,
    check_afterstates,
    check_observations,
    check_action_features,
    check_history,
    check_valid_states,
    check_finished_games,
    check_few_games,
    check_texts,
    check_holders,
)
"""Each takes a game and a seed, and raises CheckFailed."""


def check_agent(game: Game, agent: Agent, seed: int = 0) -> None:
    """Legal actions at every decision, the same for the same seed; probabilities and values where it has them."""
    for states, movers in sample(game, seed, count=20):
        known = game.information(states, movers)
        given, count, name = known.tobytes(), len(known), type(agent).__name__
        legal = game.legal_actions(known)
        actions, again = (agent.act(known, movers, np.random.default_rng(seed)) for _ in range(2))
        _require(known.tobytes() == given, f"{name}.act changes the states that it is given: copy them first")
        _require(np.shape(actions) == (count,), f"{name}.act must return {count} actions, not {np.shape(actions)}")
        _require(np.issubdtype(np.asarray(actions).dtype, np.integer), f"{name}.act must return whole numbers")
        _require(np.array_equal(actions, again), f"{name}.act differs for one seed: take all chance from its `rng`")
        inside = ((actions >= 0) & (actions < game.spec.num_actions)).all()
        _require(inside and legal[np.arange(count), actions].all(), f"{name}.act returns an action that is not legal")
        if isinstance(agent, Policy):
            logs, values = agent.evaluate(known, movers)
            masked = np.array_equal(np.isneginf(logs) | legal, np.ones_like(legal))
            _require(masked, f"{name}.evaluate must be minus infinity where an action is not legal")
            ones = np.allclose(np.exp(logs).sum(axis=1), 1, atol=1e-3)
            _require(ones, f"{name}.evaluate must return logarithms of probabilities that add up to 1")
            _require(np.shape(values) == (count,) and np.isfinite(values).all(), f"{name}.evaluate needs finite values")
        if isinstance(agent, ActionValues):
            scores = agent.action_values(known, movers)
            finite = scores.shape == legal.shape and np.isfinite(scores[legal]).all()
            _require(finite, f"{name}.action_values must be [N, A] and finite where an action is legal")


def check_network(game: Game, options: "NetworkOptions", seed: int = 0) -> None:
    """Scores of legal actions and values of the right shapes; all weights learn; a copy from its weights is equal."""
    import torch  # noqa: PLC0415  checks of games need none

    from cardlab.networks.protocol import encode_for  # noqa: PLC0415

    options.check(game.spec)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network, other = options.build(game.spec), options.build(game.spec)
    states, movers = max(sample(game, seed), key=lambda found: len(found[0]))
    known = game.information(states, movers)
    inputs = encode_for(network, game, known, movers)
    scores, values = network(inputs)
    count, finite = len(states), scores.detach().isfinite()
    _require(scores.shape == (count, game.spec.num_actions), "forward must return scores [N, A] first")
    _require(values.shape == (count,), "forward must return values [N] second: squeeze the last dimension")
    legal = torch.from_numpy(game.legal_actions(known))
    fits = torch.equal(finite, legal) or network.leaves_actions_out
    _require(fits, "scores must be finite where legal and minus infinity elsewhere: use mask_scores")
    shape = network.value(inputs.observations).shape
    _require(shape == (count,), "value must return [N]: squeeze the last dimension")
    (scores[finite].sum() + values.sum()).backward()
    idle = [name for name, weight in network.named_parameters() if weight.requires_grad and weight.grad is None]
    _require(not idle, f"{', '.join(idle)} takes part in neither scores nor value: remove it or use it")
    if not network.depends_on_batch:
        network.eval()
        one = encode_for(network, game, InfoStates(known[:1]), movers[:1])
        same = torch.allclose(network(one)[1], network(inputs)[1][:1], atol=_OUTPUT_TOLERANCE)
        _require(same, "the value of a decision depends on the others of its batch: set depends_on_batch = True")
    other.load_state_dict(network.state_dict())
    same = torch.equal(other.eval()(inputs)[0], network.eval()(inputs)[0])
    _require(same, "two networks with the same weights differ: keep all that forward reads in parameters or buffers")


def check_learner(game: Game, learner: "LearnerOptions", network: "NetworkOptions | None" = None) -> None:
    """A short training changes the weights and ends the same when it is repeated or resumed; its policy plays.

    It takes four iterations: give small `decisions_per_iteration`. Without `network` it trains a small MLP.
    """
    import torch  # noqa: PLC0415

    from cardlab.networks.mlp_options import MLPOptions  # noqa: PLC0415

    network = MLPOptions(widths=(16,)) if network is None else network
    with TemporaryDirectory() as scratch:
        short, whole, again = (
            _train(game, learner, network, Path(scratch, str(end)), end) for end in (1, _LAST, _LAST)
        )
        _require(whole == again, "two trainings with one seed differ: take all chance from self.rng or torch")
        _require(short != whole, "the weights did not change: update must call gradient_step")
        with suppress(_Interrupted):
            _train(game, learner, network, Path(scratch, "resumed"), _LAST, interrupt=2)
        resumed = _train(game, learner, network, Path(scratch, "resumed"), _LAST)
        _require(whole == resumed, "a resumed training ends with other weights: return all state by extra_state")
    with torch.random.fork_rng(devices=[]):
        built = learner.build(game, network.build(game.spec), _LAST, 0)
    check_agent(game, built.trained_agent(game, built.ema_network))


def positions(game: Game, seed: int, num_games: int = _GAMES, every: int = 1) -> Iterator[tuple[States, States, Moves]]:
    """Every so many steps of random play: the states before, the states after, what was played.

    Short games are looked at more often: at each step, if they have fewer than 16 decisions.
    """
    every = min(every, max(1, game.spec.max_decisions // _STEPS))
    rng = np.random.default_rng(seed)
    states = game.deal(num_games, rng)
    before = States(states.copy())
    try:
        for step, moves in enumerate(play(game, states, [RandomAgent(game)], rng, ask_forced=True)):
            if step % every == 0:
                yield before, states, moves
            before = States(states.copy())
    except IllegalAction as error:  # random play takes legal actions only
        decides = game.current_player(states) != NO_PLAYER
        _require(game.legal_actions(states)[decides].any(axis=1).all(), _NO_ACTION)
        raise CheckFailed(f"the lists and masks of legal actions differ ({error})") from error


def sample(game: Game, seed: int, count: int = 6) -> list[tuple[States, Players]]:
    """Positions of random play with a current player, and that player."""
    found = [(States(before[moves.rows]), moves.players) for before, _, moves in positions(game, seed)]
    picks = np.random.default_rng(seed).choice(len(found), size=min(count, len(found)), replace=False)
    return [found[pick] for pick in sorted(picks)]


class _Interrupted(Exception):
    """Stops a training as a user would."""


class _Interrupter:
    """A log that stops the training after an iteration."""

    def __init__(self, after: int | None) -> None:
        self.after = after

    def log_metrics(self, metrics: Mapping[str, float], step: int) -> None:
        """Raise _Interrupted at the iteration."""
        if metrics["train/iteration"] == self.after:
            raise _Interrupted


def _train(
    game: Game,
    learner: "LearnerOptions",
    network: "NetworkOptions",
    folder: Path,
    iterations: int,
    interrupt: int | None = None,
) -> str:
    """Digest of the policy after so many iterations."""
    from cardlab.evaluation.options import ArenaOptions  # noqa: PLC0415
    from cardlab.learners.rollouts.opponents.fixed import SelfPlayOptions  # noqa: PLC0415
    from cardlab.training.experiment import Experiment  # noqa: PLC0415
    from cardlab.training.options import TrainerOptions  # noqa: PLC0415
    from cardlab.training.run import train  # noqa: PLC0415

    size = learner.decisions_per_iteration
    trainer = TrainerOptions(
        decisions=_LAST * size,
        stop_after=iterations * size,
        parallel_games=min(64, max(1, size // (2 * game.spec.num_players))),
        checkpoint_seconds=0.0,
        evaluations=0,
        snapshots=0,
    )
    parts = (game, learner, network, SelfPlayOptions(), trainer, ArenaOptions(references=("random",)))
    experiment = Experiment("check", 0, *parts, config={"name": "check", "seed": 0})
    log = _Interrupter(interrupt)
    return train(experiment, run_dir=folder / "run", model_dir=folder / "model", log=log, report=lambda _: None).digest


def _require(holds: Any, sentence: str) -> None:
    if not holds:
        raise CheckFailed(sentence)


def _require_array(name: str, found: Any, shape: tuple[int, ...], dtype: Any) -> None:
    """Raise CheckFailed unless `found` is a finite array of this shape and type."""
    _require(isinstance(found, np.ndarray), f"{name} must return an array, not {type(found).__name__}")
    _require(found.shape == shape, f"{name} must have the shape {list(shape)}, not {list(found.shape)}")
    _require(found.dtype == dtype, f"{name} must be {np.dtype(dtype).name}, not {found.dtype}")
    _require(np.isfinite(found).all(), f"{name} must be finite")
