"""Who sits beside the learner while it gathers experience.

Agent 0 is always the learner as it is now; only its decisions become samples.
"""

from cardlab.learners.rollouts.opponents.fixed import FixedField, ScriptedOptions, SelfPlayOptions
from cardlab.learners.rollouts.opponents.pool import Pool, PoolOptions
from cardlab.learners.rollouts.opponents.protocol import AgentOf, Opponents, Seats

__all__ = [
    "OPPONENTS",
    "AgentOf",
    "FixedField",
    "Opponents",
    "Pool",
    "PoolOptions",
    "ScriptedOptions",
    "Seats",
    "SelfPlayOptions",
]

OPPONENTS = {options.name: options for options in (SelfPlayOptions, ScriptedOptions, PoolOptions)}
