"""The networks by registry key, as in conf/network/ and policy files; imported on use, since they need torch."""

from importlib import import_module
from typing import Any

NETWORKS = {
    "mlp": "cardlab.networks.mlp:MLP",
    "lines": "cardlab.networks.lines:LinesNetwork",
    "sparse_lines": "cardlab.networks.sparse_lines:SparseLinesNetwork",
    "actions": "cardlab.networks.actions:ActionsNetwork",
    "trunks": "cardlab.networks.trunks:Trunks",
    "belief": "cardlab.networks.belief:BeliefNetwork",
}


def network_class(name: str) -> Any:
    """The class of the network `name`."""
    module, _, class_name = NETWORKS[name].partition(":")
    return getattr(import_module(module), class_name)
