"""The best games of Poker Squares: the highest score, and the share of games with 200 points or more."""

import json
from pathlib import Path

import cardlab

DEALS = 40_000
SEED = 60_000_001  # no training and no choice of a policy meets it
POLICIES = {
    "champion": "champion",
    **{f"paper, seed {seed}": f"papers/models/poker_squares_paper/seed_{seed}" for seed in (7, 8, 9)},
    **{
        f"paper_bootstrap, seed {seed}": f"papers/models/poker_squares_paper_bootstrap/seed_{seed}"
        for seed in (7, 8, 9)
    },
}


def main() -> None:
    found: dict[str, dict[str, float]] = {}
    for name, policy in POLICIES.items():
        features = {} if name == "champion" else {"features": "paper"}
        game = cardlab.make_game("poker_squares", **features)
        points = cardlab.play_match(game, [policy], DEALS, seed=SEED).per_deal()
        best = {"highest": float(points.max()), "share_200": float((points >= 200).mean())}
        found[name] = {"deals": DEALS, "mean": round(float(points.mean()), 2), **best}
        chance = 1 - (1 - float((points >= 280).mean())) ** 350
        found[name] |= {"share_280": float((points >= 280).mean()), "chance_280_in_350": round(chance, 4)}
        print(name, found[name])
    Path(__file__).with_name("best_games.json").write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
