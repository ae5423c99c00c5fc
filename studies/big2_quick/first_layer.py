"""Time of the first layer of big2/quick, as a product and as sums of the rows whose input is not 0.

Usage: first_layer.py. Prints microseconds a decision, of one thread, the best of five repeats.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

import cardlab
from cardlab.games.loop import play

DECISIONS = 4096
WIDTH = 384


def main() -> None:
    """Measure forward alone and forward with gradients."""
    torch.set_num_threads(1)
    inputs = observations()
    rows, columns = torch.nonzero(inputs, as_tuple=True)
    starts = torch.searchsorted(rows, torch.arange(len(inputs)))
    print(f"inputs: {inputs.shape[1]}, not 0: {len(rows) / len(inputs):.1f}")
    for kind in (torch.float32, torch.bfloat16):
        layer, batch = torch.nn.Linear(inputs.shape[1], WIDTH).to(kind), inputs.to(kind)
        report(str(kind), lambda layer=layer, batch=batch: layer(batch))
    sums, weights = torch.nn.EmbeddingBag(inputs.shape[1], WIDTH, mode="sum"), inputs[rows, columns]
    report("sums of rows", lambda: sums(columns, starts, per_sample_weights=weights))


def observations() -> Tensor:
    """[DECISIONS, F] observations of random play."""
    game, rng = cardlab.make_game("big2", features="plans"), np.random.default_rng(0)
    steps = play(game, game.deal(512, rng), [cardlab.load_agent(game, "random")], rng)
    found = [game.observe(moves.info_states, moves.players) for moves, _ in zip(steps, range(24), strict=False)]
    return torch.from_numpy(np.concatenate(found)[:DECISIONS])


def report(name: str, forward: Callable[[], Tensor]) -> None:
    """Print both times."""

    def with_gradients() -> None:
        output = forward()
        output.backward(torch.ones_like(output))

    with torch.no_grad():
        alone = microseconds(forward)
    print(f"{name}: forward {alone:.2f}, with gradients {microseconds(with_gradients):.2f}")


def microseconds(work: Callable[[], Any], times: int = 20) -> float:
    """CPU microseconds a decision of one call, the best of five repeats."""
    work()
    repeats: list[float] = []
    for _ in range(5):
        begin = time.process_time()
        for _ in range(times):
            work()
        repeats.append((time.process_time() - begin) / times)
    return min(repeats) * 1e6 / DECISIONS


if __name__ == "__main__":
    main()
