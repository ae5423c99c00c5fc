"""Registry of networks, as in conf/network/ and policy folders; modules are imported on use, since they need torch."""

NETWORKS = {
    "mlp": "cardlab.networks.mlp:MLP",
    "lines": "cardlab.networks.lines_network:LinesNetwork",
    "sparse_lines": "cardlab.networks.sparse_lines:SparseLinesNetwork",
    "actions": "cardlab.networks.actions_network:ActionsNetwork",
    "proto_action": "cardlab.networks.proto_action:ProtoActionNetwork",
    "abstract_actions": "cardlab.networks.abstract_actions:AbstractActionsNetwork",
    "trunks": "cardlab.networks.trunks:TrunksNetwork",
    "belief": "cardlab.networks.belief:BeliefNetwork",
}
