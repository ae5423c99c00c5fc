"""The agents that play a network, by a word."""

from cardlab.agents.network_agents import ActionValueAgent, AfterstateAgent, SoftmaxAgent

PLAYS = {"softmax": SoftmaxAgent, "action_value": ActionValueAgent, "afterstate": AfterstateAgent}
