"""The kinds of network by registry key: policy files name them by it, never by a class path."""

from cardlab.networks.actions import ActionsOptions
from cardlab.networks.lines import LinesOptions
from cardlab.networks.mlp import MLPOptions
from cardlab.networks.trunks import TrunksOptions

NETWORKS = {options.name: options for options in (MLPOptions, LinesOptions, ActionsOptions, TrunksOptions)}
