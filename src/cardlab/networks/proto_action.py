"""A network that proposes a proto-action and plays one of the legal actions nearest to it.

Dulac-Arnold et al. 2015 (arXiv 1512.07679), for PPO. p(x) is the proto-action, e(a) the embedding of an action's
features. The candidates C(x) are the k legal actions of least |p(x) − e(a)|². The policy is the softmax over C(x) of
q(x, a) − |p(x) − e(a)|². All other actions have probability 0, so log-probabilities are exact. The distance is part of
the score because the choice of candidates has no gradient: PPO moves p towards actions that turn out well.
"""

import torch
from torch import Tensor

from cardlab.games.protocol import GameSpec
from cardlab.networks.compiled import compilable
from cardlab.networks.inputs import LegalPairs, described
from cardlab.networks.layers import ACTIVATIONS, LEFT_OUT, head, perceptron
from cardlab.networks.proto_action_options import ProtoActionOptions
from cardlab.networks.protocol import ActionInputNetwork


def nearest(distances: Tensor, pairs: LegalPairs, count: int) -> Tensor:
    """Places, ascending, of the `count` pairs of least `distances` [K] in each decision; the first of equals."""
    by_distance = distances.argsort(stable=True)
    by_decision = by_distance[pairs.rows[by_distance].argsort(stable=True)]  # nearest first in each decision
    ranks = torch.arange(len(distances), device=distances.device) - pairs.starts[pairs.rows]
    return by_decision[ranks < count].sort().values


class ProtoActionNetwork(ActionInputNetwork):
    """State encoder → proto-action, value, and scores of the legal actions nearest to the proto-action."""

    leaves_actions_out = True

    def __init__(self, spec: GameSpec, options: ProtoActionOptions) -> None:
        super().__init__()
        activation, width = options.activation, options.state_widths[-1]
        self.neighbors = options.neighbors
        self.state = perceptron((spec.num_features, *options.state_widths), activation=activation)
        self.proto_action = head(width, options.dimensions, 0.1)
        self.embedding = head(spec.num_action_features, options.dimensions, 0.1)
        self.value_head = head(width, 1, 0.1)
        self.scores_candidates = bool(options.joint_widths)
        if self.scores_candidates:
            first, *others = options.joint_widths
            self.action = perceptron((spec.num_action_features, *options.action_widths), activation=activation)
            self.state_to_joint = torch.nn.Linear(width, first)
            self.action_to_joint = torch.nn.Linear(options.action_widths[-1], first, bias=False)
            self.activate = ACTIVATIONS[activation]()
            self.joint = perceptron((first, *others), activation=activation)
            self.score_head = head(options.joint_widths[-1], 1, 0.1)

    def score_legal(self, observations: Tensor, pairs: LegalPairs) -> tuple[Tensor, Tensor]:
        """Scores [K], LEFT_OUT for all but the nearest, and values [N]; ValueError if the pairs have no features."""
        _, features = described(pairs)
        state, values = self._encode(observations)
        distances = self._distances(features, pairs.rows, state)
        if self.neighbors is None:
            return self._score(-distances, features, pairs.rows, state), values
        places = nearest(distances.detach(), pairs, self.neighbors)
        near = self._score(-distances[places], features[places], pairs.rows[places], state)
        return torch.full_like(distances, LEFT_OUT).index_copy(0, places, near), values

    @compilable
    def value(self, observations: Tensor) -> Tensor:
        """Values [N]."""
        return self.value_head(self.state(observations)).squeeze(-1)

    def _score(self, nearness: Tensor, features: Tensor, rows: Tensor, state: Tensor) -> Tensor:
        return nearness + self._joint_scores(features, rows, state).float() if self.scores_candidates else nearness

    @compilable
    def _encode(self, observations: Tensor) -> tuple[Tensor, Tensor]:
        """Encoded states [N, H] and values [N]."""
        state = self.state(observations)
        return state, self.value_head(state).squeeze(-1)

    @compilable
    def _distances(self, features: Tensor, rows: Tensor, state: Tensor) -> Tensor:
        """[K] squared distances of embedded actions from the proto-actions of their decisions, in float32."""
        proto_actions = self.proto_action(state).index_select(0, rows)
        return (proto_actions - self.embedding(features)).float().square().sum(dim=-1)

    @compilable
    def _joint_scores(self, features: Tensor, rows: Tensor, state: Tensor) -> Tensor:
        """[K] scores of actions with the states of their decisions."""
        joint = self.state_to_joint(state).index_select(0, rows) + self.action_to_joint(self.action(features))
        return self.score_head(self.joint(self.activate(joint))).squeeze(-1)
