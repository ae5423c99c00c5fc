"""How much memory `cardlab play` takes: `python benchmarks/play_memory.py`, on Linux.

It starts the server in a process of its own, opens a table of each game, plays a practice game of each to its end with
advice at every move, and opens the leaderboards. After each step it prints the memory of the process in MB: RSS
(resident), PSS (the same, with pages that other processes use too divided among them) and the highest RSS so far.
`--warm` lets the server finish its warm-up first.
"""

import argparse
import random
import re
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

import requests

CARDLAB = str(Path(sys.executable).with_name("cardlab"))
GAMES = ("big2", "thirty_one", "five_o", "open_face", "poker_squares")
IDLE_SECONDS = 5.0  # without use of the processor: the warm-up is over
TICKS = 100  # of the kernel in a second


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--warm", action="store_true", help="with the warm-up, which loads every game and agent")
    parser.add_argument("overrides", nargs="*", help="of cardlab play, e.g. play.models=models")
    parser.add_argument("--parts", action="store_true", help="print the largest mappings of memory at the end")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="cardlab-memory-") as folder:
        settings = [f"play.folder={folder}", f"play.warm={str(options.warm).lower()}", "play.limits.address_rate=1000"]
        process = subprocess.Popen(
            [CARDLAB, "play", "play.port=0", *settings, *options.overrides], stdout=subprocess.PIPE, text=True
        )
        try:
            assert process.stdout is not None
            base = re.search(r"http://\S+", process.stdout.readline())
            assert base is not None
            measure(base[0], process.pid, options)
        finally:
            process.terminate()
            process.wait(timeout=60)


def measure(base: str, pid: int, options: argparse.Namespace) -> None:
    """Take the steps and print the memory after each."""
    http = requests.Session()
    http.get(f"{base}/api/games", timeout=300).raise_for_status()
    print_memory("start page", pid)
    if options.warm:
        wait_until_idle(pid)
        print_memory("warm-up", pid)
    tables = {game: post(http, f"{base}/api/tables", {"game": game, "practice": True}) for game in GAMES}
    print_memory("five tables", pid)
    for game, table in tables.items():
        play_out(http, f"{base}/api/tables/{table['id']}", table)
        print_memory(f"game of {game}", pid)
    for game in GAMES:
        http.get(f"{base}/api/leaderboard", params={"game": game}, timeout=60).raise_for_status()
    time.sleep(2)
    print_memory("leaderboards", pid)
    if options.parts:
        print_parts(pid)


def play_out(http: requests.Session, table_address: str, table: Any) -> None:
    """Random legal moves, with advice before each."""
    rng = random.Random(0)
    while table["status"] == "your_turn":
        http.get(f"{table_address}/advice", timeout=300).raise_for_status()
        action = rng.choice(table["legal"])["action"]
        table = post(http, f"{table_address}/moves", {"action": action, "number": table["number"]})


def post(http: requests.Session, address: str, body: Any) -> Any:
    reply = http.post(address, json=body, timeout=300)
    reply.raise_for_status()
    return reply.json()


def wait_until_idle(pid: int) -> None:
    """Wait until the process has used no processor for IDLE_SECONDS."""
    before = -TICKS
    while (now := cpu_ticks(pid)) - before > TICKS // 20:
        before = now
        time.sleep(IDLE_SECONDS)


def cpu_ticks(pid: int) -> int:
    """Processor time of the process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def print_memory(step: str, pid: int) -> None:
    """RSS, PSS and highest RSS of the process."""
    status = dict(re.findall(r"(\w+):\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text()))
    shared = dict(re.findall(r"(\w+):\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text()))
    rss, pss, peak = (int(value) // 1024 for value in (shared["Rss"], shared["Pss"], status["VmHWM"]))
    print(f"{step:22s} RSS {rss:5d}  PSS {pss:5d}  highest {peak:5d}", flush=True)


def print_parts(pid: int) -> None:
    """The mappings with most resident memory, by file."""
    parts: Counter[str] = Counter()
    name = ""
    for line in Path(f"/proc/{pid}/smaps").read_text().splitlines():
        if found := re.match(r"[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \S+\s*(.*)", line):
            name = Path(found[1]).name or "anonymous"
        elif line.startswith("Rss:"):
            parts[name] += int(line.split()[1])
    for name, size in parts.most_common(15):
        print(f"  {size // 1024:5d}  {name}")


if __name__ == "__main__":
    main()
