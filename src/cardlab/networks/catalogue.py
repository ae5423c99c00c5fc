"""The kinds of network by registry key: policy files name them by it, never by a class path."""

from importlib import import_module
from typing import cast

from cardlab.networks.protocol import NetworkOptions

NETWORKS = {
    "mlp": "cardlab.networks.mlp:MLPOptions",
    "lines": "cardlab.networks.lines:LinesOptions",
    "codes": "cardlab.networks.sparse_lines:CodesOptions",
    "actions": "cardlab.networks.actions:ActionsOptions",
    "trunks": "cardlab.networks.trunks:TrunksOptions",
}


def network_options(name: str) -> type[NetworkOptions]:
    """The options class of the network `name`; KeyError when there is none."""
    module, _, class_name = NETWORKS[name].partition(":")
    return cast(type[NetworkOptions], getattr(import_module(module), class_name))
