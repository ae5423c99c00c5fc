"""The kinds of network by registry key: policy files name them by it, never by a class path."""

from cardlab.networks.actions import ActionsOptions
from cardlab.networks.lines import LinesOptions
from cardlab.networks.mlp import MLPOptions
from cardlab.networks.sparse_lines import CodesOptions
from cardlab.networks.trunks import TrunksOptions

_KINDS = (MLPOptions, LinesOptions, CodesOptions, ActionsOptions, TrunksOptions)
NETWORKS = {options.name: options for options in _KINDS}
