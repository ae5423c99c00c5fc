"""Widen the network of Big 2's champion without a change of what it plays: its training continues with more capacity.

Usage: grow.py OUTPUT_FOLDER
Old units keep their weights and do not read new ones; new units have random weights that read everything. The new
last joint layer starts as the identity (Chen et al. 2016, arXiv 1511.05641).
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import torch

import cardlab
from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.agents.policy_descriptions import read_description
from cardlab.agents.policy_files import describe, load_network, save_policy
from cardlab.networks.actions_options import ActionsOptions

CHAMPION = Path("champions/big2")


def main(arguments: Sequence[str]) -> None:
    """Write the grown policy."""
    (output,) = arguments
    torch.manual_seed(1)
    description = read_description(CHAMPION)
    game = cardlab.make_game("big2", **description.game_options)
    old = load_network(game, CHAMPION).state_dict()
    options = ActionsOptions(**description.network_options)
    wider = replace(options, state_widths=(768, 384), joint_widths=(256, *options.joint_widths))
    network = wider.build(game.spec)
    size = options.joint_widths[-1]
    with torch.no_grad():
        for name, weights in network.named_parameters():
            kept = old.get(name, torch.eye(size) if weights.dim() == 2 else torch.zeros(size))
            weights[: len(kept)] = 0
            weights[tuple(slice(length) for length in kept.shape)] = kept
    save_policy(Path(output), describe(game, wider, SoftmaxAgent, description.policy_options), network)


if __name__ == "__main__":
    main(sys.argv[1:])
