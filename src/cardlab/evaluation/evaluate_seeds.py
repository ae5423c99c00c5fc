"""Evaluation of the policies of one method, one for each seed, against fixed references on the same deals."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from cardlab.agents.policy_descriptions import policy_digest
from cardlab.evaluation.evaluate import FORMAT, match_figures
from cardlab.evaluation.main_score import SELF, Evaluation
from cardlab.evaluation.match import Match, paired, play_matches
from cardlab.evaluation.options import DEFAULT_REFERENCES, ArenaOptions
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.seed_statistics import mean_over_seeds
from cardlab.games.protocol import Game

Figures = dict[str, float | int]


def evaluate_seeds(
    game: Game,
    policies: Mapping[int, Path],
    options: ArenaOptions,
    *,
    experiment: str,
    progress: ProgressCallback = no_progress,
) -> Evaluation:
    """Measure the policy of each seed as `evaluate` does; the figures of `references` are means over seeds.

    Their intervals hold for seeds and deals (`seed_statistics`); those of one seed are over deals. `by_seed`: seed →
    `policy_digest` and `references` as `evaluate` gives them. `policy_digest` is that of the first seed.
    """
    references = tuple(dict.fromkeys(options.references)) or DEFAULT_REFERENCES
    digests = {seed: policy_digest(folder) for seed, folder in policies.items()}
    matches = _play(game, policies, references, options, progress)
    rows = (SELF, *references) if game.spec.num_players == 1 else references
    own = [matches[seed, SELF] for seed in policies] if SELF in rows else []
    return {
        "format": FORMAT,
        "experiment": experiment,
        "game": game.spec.name,
        "num_players": game.spec.num_players,
        "policy_digest": next(iter(digests.values())),
        "deals": options.deals,
        "seed": options.seed,
        "seeds": list(policies),
        "references": {name: _mean_figures([matches[seed, name] for seed in policies], own) for name in rows},
        "by_seed": {
            str(seed): {
                "policy_digest": digest,
                "references": {name: match_figures(matches[seed, name], matches.get((seed, SELF))) for name in rows},
            }
            for seed, digest in digests.items()
        },
    }


def _play(
    game: Game,
    policies: Mapping[int, Path],
    references: Sequence[str],
    options: ArenaOptions,
    progress: ProgressCallback,
) -> dict[tuple[int, str], Match]:
    """(seed, reference) → match. References of a game for one player play once: their games are those of every seed."""
    others = game.spec.num_players - 1
    agents = {seed: str(folder) for seed, folder in policies.items()}
    first = next(iter(agents))
    if others:
        entries = {(seed, name): [agent, *[name] * others] for name in references for seed, agent in agents.items()}
    else:
        entries = {(seed, SELF): [agent] for seed, agent in agents.items()}
        entries |= {(first, name): [name] for name in references}
    played = play_matches(game, entries, options, lambda key: f"{key[1]}, seed {key[0]}", progress)
    if others:
        return played
    return played | {(seed, name): played[first, name] for seed in agents for name in references}


def _mean_figures(matches: Sequence[Match], own: Sequence[Match]) -> Figures:
    """One entry of `references`; `own` are the matches of SELF, empty for several players."""
    if len(matches) == 1:
        return match_figures(matches[0], own[0] if own else None)
    fewest = min(match.num_deals for match in matches)
    if own and matches[0] is not own[0]:
        figures: Figures = {**match_figures(matches[0], None)}  # a reference, which has no seeds
        differences = [paired(mine.per_deal(), match.per_deal()) for mine, match in zip(own, matches, strict=True)]
        return figures | mean_over_seeds(differences).named("difference", "difference_") | {"deals": fewest}
    figures = {**mean_over_seeds([match.per_deal() for match in matches]).named("mean")}
    if matches[0].wins is not None:
        rates = mean_over_seeds([match.tally.shares[:, match.lineup.groups[0]] for match in matches]).clipped(0.0, 1.0)
        figures |= rates.named("win_rate", "win_rate_")
    return figures | {"deals": fewest}
