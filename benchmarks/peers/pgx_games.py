"""Random play of card games in Pgx on the CPU: decisions per second of processor time, in one compiled loop.

Run by hand, in an environment of its own: `pip install pgx`, then `python pgx_games.py [GAME …]`.
"""

import sys
from importlib.metadata import version
from time import perf_counter, process_time

import jax
import jax.numpy as jnp
import pgx
from pgx.experimental.wrappers import auto_reset

GAMES = ("kuhn_poker", "leduc_holdem", "sparrow_mahjong")
TABLES = 1024
STEPS = 200
SECONDS = 4.0


def play(name: str, seconds: float) -> tuple[int, int, float, float]:
    """(players, actions, decisions a CPU-second, seconds of compilation) of random legal play, dealt anew for ever."""
    env = pgx.make(name)
    step = jax.vmap(auto_reset(env.step, env.init))

    def move(carry: tuple[pgx.State, jax.Array], _: None) -> tuple[tuple[pgx.State, jax.Array], None]:
        state, key = carry
        key, choice, chance = jax.random.split(key, 3)
        logits = jnp.where(state.legal_action_mask, 0.0, -jnp.inf)
        actions = jax.random.categorical(choice, logits, axis=-1)
        return (step(state, actions, jax.random.split(chance, TABLES)), key), None

    run = jax.jit(lambda carry: jax.lax.scan(move, carry, None, length=STEPS)[0])
    key = jax.random.PRNGKey(0)
    carry = (jax.vmap(env.init)(jax.random.split(key, TABLES)), key)
    compiling = perf_counter()
    carry = jax.block_until_ready(run(carry))
    compiled = perf_counter() - compiling
    calls, began = 0, process_time()
    while process_time() - began < seconds:
        carry = jax.block_until_ready(run(carry))
        calls += 1
    return env.num_players, env.num_actions, calls * TABLES * STEPS / (process_time() - began), compiled


def main(names: tuple[str, ...]) -> None:
    print(f"Pgx {version('pgx')}, JAX {jax.__version__} on {jax.default_backend()}, {TABLES} tables, random play")
    for name in names:
        players, actions, speed, compiled = play(name, SECONDS)
        print(f"{name}: {players} players, {actions} actions; {speed:,.0f} decisions/s; first call {compiled:.0f} s")


if __name__ == "__main__":
    main(tuple(sys.argv[1:]) or GAMES)
