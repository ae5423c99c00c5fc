"""How soon agents answer when many tables play at once: `python benchmarks/play_load.py`, on loopback only.

It starts `cardlab play` in a process of its own and lets people sit at so many tables of Big 2 against one policy in
three seats, for a bounded time. Each plays random legal actions, after a pause for thought drawn from an exponential
distribution; measured is the time from sending a move to having read the reply, in which up to three agents moved. The
people are threads of this process, so that they share the cores with the server. Without `--policy` the network is that
of `experiment=big2/ppo` with untrained weights, which answer as soon as trained ones.
"""

import argparse
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import requests

from cardlab.agents.network_agents import SoftmaxAgent
from cardlab.agents.policy_files import describe, save_policy
from cardlab.games.make_game import make_game
from cardlab.networks.actions_options import ActionsOptions

CARDLAB = str(Path(sys.executable).with_name("cardlab"))
LIMITS = [
    "play.limits.address_rate=100000",
    "play.limits.tables=10000",
    "play.limits.tables_per_address=10000",
    "play.limits.sessions_per_address=10000",
    "play.limits.connections_per_address=1000",
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0, help="after all tables are open; at most 600")
    parser.add_argument("--pause", type=float, default=2.0, help="mean time for thought before a move, in seconds")
    parser.add_argument("--policy", help="a trained policy of Big 2; none: untrained weights")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cardlab-load-") as name:
        folder = Path(name)
        policy = prepare(folder, options.policy)
        with_server(folder, policy, options)


def prepare(folder: Path, given: str | None) -> str:
    """The name of the policy, which is put into `folder`."""
    target = folder / "models" / "big2_load"
    if given is None:
        game, network = make_game("big2"), ActionsOptions()
        save_policy(target, describe(game, network, SoftmaxAgent, {}), network.build(game.spec))
    else:
        shutil.copytree(given, target)
    return "models/big2_load"


def with_server(folder: Path, policy: str, options: argparse.Namespace) -> None:
    command = [CARDLAB, "play", "play.port=0", *LIMITS]
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base = re.search(r"http://\S+", process.stdout.readline())
        try:
            assert base is not None
            measure(base[0], policy, options)
        finally:
            process.terminate()
            process.wait(timeout=60)


def measure(base: str, policy: str, options: argparse.Namespace) -> None:
    players = [Player(base, policy, options.pause, seed) for seed in range(options.tables)]
    began = time.monotonic()
    for player in players:
        player.sit_down()
    print(f"{len(players)} tables open after {time.monotonic() - began:.1f} s")
    stop = time.monotonic() + min(options.seconds, 600.0)
    threads = [threading.Thread(target=player.play, args=(stop,)) for player in players]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = sorted(taken for player in players for taken in player.times)
    games = sum(player.games for player in players)
    failed = sum(player.failed for player in players)
    at = {share: 1000 * times[min(int(share * len(times)), len(times) - 1)] for share in (0.5, 0.95, 0.99, 1.0)}
    print(f"{len(times)} moves ({len(times) / options.seconds:.0f} a second), {games} games over, {failed} failed")
    print(f"load of the machine {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(" ".join(f"p{100 * share:g} {value:.0f} ms" for share, value in at.items()))


class Player:
    """One person at one table after the other."""

    def __init__(self, base: str, policy: str, pause: float, seed: int) -> None:
        self.base, self.pause = base, pause
        self.order = {"game": "big2", "opponents": [{"agent": policy}], "par": {"agent": policy}}
        self.rng = random.Random(seed)
        self.http = requests.Session()
        self.times: list[float] = []
        self.games = self.failed = 0

    def sit_down(self) -> None:
        """Open a new table."""
        reply = self.http.post(f"{self.base}/api/tables", json=self.order, timeout=120)
        reply.raise_for_status()
        self.table = reply.json()

    def play(self, stop: float) -> None:
        """Think and move until `stop`."""
        while time.monotonic() < stop:
            time.sleep(self.rng.expovariate(1 / self.pause) if self.pause else 0)
            if self.table["status"] == "over":
                self.games += 1
                self.sit_down()
                continue
            body = {"action": self.rng.choice(self.table["legal"])["action"], "number": self.table["number"]}
            began = time.monotonic()
            reply = self.http.post(f"{self.base}/api/tables/{self.table['id']}/moves", json=body, timeout=120)
            self.times.append(time.monotonic() - began)
            if reply.ok:
                self.table = reply.json()
            else:
                self.failed += 1


if __name__ == "__main__":
    main()
