"""Who sits beside the learner while it gathers experience.

Agent 0 is always the learner as it is now; only its decisions become samples.
"""

OPPONENTS = {
    "self_play": "cardlab.learners.rollouts.opponents.fixed:SelfPlayOptions",
    "scripted": "cardlab.learners.rollouts.opponents.fixed:ScriptedOptions",
    "pool": "cardlab.learners.rollouts.opponents.pool:PoolOptions",
}
"""The kinds of opponents by registry key, as in conf/opponents/; imported when asked for."""
