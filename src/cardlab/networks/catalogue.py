"""Registry of networks, as in conf/network/ and policy folders; modules are imported on use, since they need torch."""

from pkgutil import resolve_name
from typing import Any

NETWORKS = {
    "mlp": "cardlab.networks.mlp:MLP",
    "lines": "cardlab.networks.lines:LinesNetwork",
    "sparse_lines": "cardlab.networks.sparse_lines:SparseLinesNetwork",
    "actions": "cardlab.networks.actions:ActionsNetwork",
    "trunks": "cardlab.networks.trunks:TrunksNetwork",
    "belief": "cardlab.networks.belief:BeliefNetwork",
}


def network_class(name: str) -> Any:
    """The class of the network `name`."""
    return resolve_name(NETWORKS[name])
