"""A Ray cluster of two nodes, both on this machine."""

from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import pytest


@contextmanager
def two_nodes(head_cpus: int) -> Generator[tuple[Any, Any, Any]]:
    """Ray, connected; the cluster; and its second node, which has one core. Workers start when a task needs them."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster  # noqa: PLC0415  of an extra

    settings = {"prestart_worker_first_driver": False, "enable_worker_prestart": False}
    head = {"num_cpus": head_cpus, "include_dashboard": False, "_system_config": settings}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    node = cluster.add_node(num_cpus=1)
    ray.init(address=cluster.address)
    try:
        yield ray, cluster, node
    finally:
        ray.shutdown()
        cluster.shutdown()
