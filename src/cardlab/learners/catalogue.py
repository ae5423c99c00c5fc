"""The learners by registry key, as in conf/agent/. Classes are imported when asked for: they need Lightning."""

LEARNERS = {
    "ppo": "cardlab.learners.ppo:PPOOptions",
    "dqn": "cardlab.learners.dqn:DQNOptions",
    "td": "cardlab.learners.td:TDOptions",
    "policy_iteration": "cardlab.learners.policy_iteration:PolicyIterationOptions",
}
