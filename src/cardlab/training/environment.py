"""How Lightning learns which of the processes of a training this one is."""

from lightning.fabric.plugins.environments.cluster_environment import ClusterEnvironment

from cardlab.learners.ranks import Ranks


class RankEnvironment(ClusterEnvironment):
    """One machine, with processes that were started and are connected already: Lightning starts and connects none."""

    def __init__(self, ranks: Ranks) -> None:
        self._ranks = ranks

    @property
    def creates_processes_externally(self) -> bool:
        """Lightning's own start runs the program's command line once more: no good for a notebook, or a sweep."""
        return True

    @property
    def main_address(self) -> str:
        """Not asked for: the group is formed."""
        return "127.0.0.1"

    @property
    def main_port(self) -> int:
        """Not asked for: the group is formed."""
        return 0

    @staticmethod
    def detect() -> bool:
        """Never found by itself."""
        return False

    def world_size(self) -> int:
        """Number of processes."""
        return self._ranks.size

    def set_world_size(self, size: int) -> None:
        """Known already."""

    def global_rank(self) -> int:
        """Of this process."""
        return self._ranks.rank

    def set_global_rank(self, rank: int) -> None:
        """Known already."""

    def local_rank(self) -> int:
        """The same on one machine."""
        return self._ranks.rank

    def node_rank(self) -> int:
        """One machine."""
        return 0
