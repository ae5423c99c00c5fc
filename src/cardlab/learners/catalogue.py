"""The learners by registry key, as in conf/agent/; imported on use, since they need Lightning."""

from importlib import import_module
from typing import Any

LEARNERS = {
    "ppo": "cardlab.learners.ppo:PPOLearner",
    "dqn": "cardlab.learners.dqn:DQNLearner",
    "td": "cardlab.learners.td:TDLearner",
    "policy_iteration": "cardlab.learners.policy_iteration:PolicyIterationLearner",
}


def learner_class(name: str) -> Any:
    """The class of the learner `name`."""
    module, _, class_name = LEARNERS[name].partition(":")
    return getattr(import_module(module), class_name)
