"""The learners by registry key, as in conf/agent/; imported on use, since they need Lightning."""

LEARNERS = {
    "ppo": "cardlab.learners.ppo:PPOLearner",
    "dqn": "cardlab.learners.dqn:DQNLearner",
    "td": "cardlab.learners.td:TDLearner",
    "policy_iteration": "cardlab.learners.policy_iteration:PolicyIterationLearner",
}
