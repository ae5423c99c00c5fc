"""Registry of opponents, as in conf/opponents/; modules are imported on use."""

OPPONENTS = {
    "self_play": "cardlab.learners.rollouts.opponents.fixed:FixedOpponents",
    "scripted": "cardlab.learners.rollouts.opponents.fixed:FixedOpponents",
    "pool": "cardlab.learners.rollouts.opponents.pool:OpponentPool",
}
