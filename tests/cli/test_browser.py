"""`cardlab ui` as people see it: the real command on a real store, its pages drawn by a real browser."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cardlab.agents.policy_files import describe, save_policy
from cardlab.games.make_game import game_data, make_game
from cardlab.networks.mlp_options import MLPOptions
from cardlab.tracking import Store
from cardlab.tracking.registry import Registry
from plays import PLAYS
from services import free_port

if TYPE_CHECKING:
    from playwright.sync_api import Page

COMMAND = [sys.executable, "-u", "-c", "import sys; from cardlab.cli import main; sys.exit(main())", "ui"]
RATES = {"slow learner": 0.001, "quick learner": 0.01}
STEPS = 20
PLOT = ".js-plotly-plot"


@pytest.fixture
def recorded(store: Store) -> Store:
    """Two trainings of one experiment; the policy of the second is the champion."""
    game, network = make_game("poker_squares"), MLPOptions(widths=(8,))
    policy = store.root / "policy"
    save_policy(policy, describe(game, network, PLAYS["action_value"], {}), network.build(game.spec))
    run_id = ""
    for name, rate in RATES.items():
        params = {"agent": {"name": "td", "learning_rate": rate}, "seed": 7}
        with store.start_run("poker_squares", name, tags={"kind": "training"}, params=params) as run:
            for step in range(1, STEPS + 1):
                run.log_metrics({"score/mean": 1000 * rate * step, "train/value_loss": 1 / step}, step)
        run_id = run.id
    registry = Registry(store)
    card = "Gets **50** points."
    registry.set_champion(registry.register(policy, game_data(game), run_id=run_id, card=card, tags={}))
    return store


@pytest.fixture
def served(recorded: Store) -> Iterator[tuple[str, str]]:
    """The address of the pages, and the link to the compare view of the runs that the command tells."""
    environment = os.environ | {"DVC_ROOT": str(recorded.root)}
    server = subprocess.Popen(
        [*COMMAND, f"port={free_port()}"],
        cwd=recorded.root,
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert server.stdout is not None
        base = server.stdout.readline().split()[3]
        compare = next(line for line in server.stdout if line.startswith("compare the trainings of poker_squares"))
        yield base, compare.split()[-1]
    finally:
        os.killpg(server.pid, signal.SIGINT)
        server.communicate(timeout=30)


@pytest.mark.slow
def test_what_the_pages_show(served: tuple[str, str], page: "Page", tmp_path: Path) -> None:
    base, compare = served
    try:
        check_charts(page, compare)
        check_comparison(page, compare.replace("&compareRunsMode=CHART", ""))
        check_model(page, f"{base}/#/models/cardlab-poker_squares")
    except Exception:
        page.screenshot(path=tmp_path / "page.png")
        raise


def check_charts(page: "Page", link: str) -> None:
    """Each metric has a chart with a curve of every run, over all its steps."""
    page.goto(link)
    for name in RATES:
        page.get_by_text(f"{name} (score/mean)").first.wait_for()
    chart = page.locator(PLOT).filter(has=page.locator(".scatterlayer .trace")).first  # the score
    points = chart.locator(".scatterlayer .point")
    points.nth(len(RATES) * STEPS - 1).wait_for(state="attached")
    assert points.count() == len(RATES) * STEPS
    labels = chart.locator(".ytick").all_text_contents()
    assert "200" in labels, "the quick learner's last score"


def check_comparison(page: "Page", link: str) -> None:
    """Two runs that are ticked in the table stand beside each other, and lie in one plot of parallel coordinates."""
    page.goto(link)
    for name in RATES:
        page.get_by_role("link", name=name).first.wait_for()
    rows = page.get_by_label(re.compile("toggle row selection"))
    assert rows.count() == len(RATES)
    for row in rows.all():
        row.click()
    page.get_by_role("button", name="Compare", exact=True).click()
    page.get_by_text("Comparing 2 Runs from 1 Experiment").wait_for()
    plot = page.locator(PLOT).filter(has=page.locator(".parcoords"))
    plot.get_by_text("agent.learning_rate").wait_for()
    axes = plot.locator(".axis-title").all_text_contents()
    assert axes == ["agent.learning_rate", "score/mean"], "what differs, and the metric that is shown first"
    rates = page.get_by_role("row").filter(has_text=re.compile("^agent.learning_rate"))
    assert sorted(rates.first.get_by_role("cell").all_inner_texts()[-2:]) == ["0.001", "0.01"]


def check_model(page: "Page", link: str) -> None:
    """The registered model names its champion, and the champion's page has the card."""
    page.goto(link)
    row = page.get_by_role("row").filter(has_text="Version 1")
    row.get_by_text("@ champion").wait_for()
    row.get_by_role("link", name="Version 1").click()
    page.get_by_text("Gets 50 points.").wait_for()
    assert page.get_by_role("link", name="quick learner").is_visible(), "the run that made it"
    assert page.get_by_text("@ champion").is_visible()
