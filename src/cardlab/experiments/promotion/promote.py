"""A challenge from end to end: match, MLflow run, registration, new champion."""

import json
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from filelock import FileLock, Timeout

from cardlab.agents.policy_descriptions import game_for, policy_digest
from cardlab.agents.registry import load_agent
from cardlab.agents.specs import CHAMPION, CHAMPIONS, policy_folder
from cardlab.core.options import check_whole, invalid
from cardlab.evaluation.evaluate import evaluate
from cardlab.evaluation.intervals import MIN_DEALS_TO_STOP
from cardlab.evaluation.options import ArenaOptions
from cardlab.evaluation.played_deals import played_scores
from cardlab.evaluation.progress import ProgressCallback, no_progress
from cardlab.evaluation.scores import without_part
from cardlab.experiments.config.build_parts import check_agents
from cardlab.experiments.exploitability import EXPLOITABILITY
from cardlab.experiments.policy_groups import PolicyGroup
from cardlab.experiments.promotion.champions import (
    as_text,
    champion_name,
    composed_game,
    model_card,
    write_champion,
)
from cardlab.experiments.promotion.gate import (
    Contender,
    PromotionDecision,
    PromotionOptions,
    SeedChoice,
    choose_seed,
    decide,
)
from cardlab.games.protocol import Game
from cardlab.tracking import Store
from cardlab.tracking.champion_runs import CARD, DECISION, EVALUATION, LINEAGE
from cardlab.tracking.lineage import CODE, DIGEST, FOLDER, LINKS
from cardlab.tracking.policy_lookup import Origin, find_origin
from cardlab.tracking.registry import Registry

if TYPE_CHECKING:
    from mlflow.entities.model_registry import ModelVersion

_LINEAGE_TAGS = (
    "git.commit", "git.dirty", FOLDER, "dvc.stage", "dvc.experiment", "dvc.baseline", "python", "versions", CODE, LINKS,
)  # fmt: skip
"""Tags of a run that go into git with a champion; no machine names."""


class ChallengeUnderway(RuntimeError):
    """Another process is challenging the champion of this game."""


@dataclass(frozen=True)
class Challenge:
    """A policy that challenges the champion of its game."""

    policy: Path
    name: str
    game: Game  # with the features of the policy
    arena: ArenaOptions
    options: PromotionOptions
    champions: Path = CHAMPIONS  # folder of the winner
    choice: SeedChoice | None = None  # of the policy from several seeds


@dataclass(frozen=True)
class ChallengeOutcome:
    """The outcome of a challenge."""

    decision: PromotionDecision | None  # None if the policy is already champion
    registered: "ModelVersion"
    folder: Path | None  # of the new champion
    exploited: bool = False  # the former champion had an exploitability.json, which went with it

    def figures(self) -> dict[str, Any]:
        """The decision as data; for a policy that is already champion only its digest."""
        return self.decision.figures() if self.decision else {"champion": self.registered.tags[DIGEST]}


def challenge_by_group(
    group: PolicyGroup,
    game: Game,
    arena: ArenaOptions,
    options: PromotionOptions,
    *,
    name: str | None = None,
    progress: ProgressCallback = no_progress,
    played: Path | None = None,
) -> Challenge:
    """The challenge of a group's best seed, chosen against the opponents of the challenge on deals of its own.

    Raises PolicyError or InvalidOption.
    """
    name = name or group.name
    challenge = make_challenge(group.policies[0], name, game, arena, options)
    opponent = _opponent(challenge, policy_folder(CHAMPION, game.spec.name))
    choice = choose_seed(group, game, options.ladder or (opponent.agent,), arena, progress, played)
    return challenge if choice is None else replace(challenge, policy=choice.policy, choice=choice)


def make_challenge(policy: Path, name: str, game: Game, arena: ArenaOptions, options: PromotionOptions) -> Challenge:
    """Check a challenge before anything is played or written. Raises PolicyError or InvalidOption."""
    check_whole("arena.deals", arena.deals, MIN_DEALS_TO_STOP)  # the variance of fewer is unreliable
    policy_digest(policy)  # raises for a folder without a policy
    check_agents(game, "reference", [options.reference])
    check_agents(game, "ladder", options.ladder)
    if options.ladder and game.spec.num_players == 1:
        raise invalid(options, "ladder", f"left out: {game.spec.name} has one player")
    check_agents(game, "policy", [str(policy)])  # last: it imports torch
    return Challenge(policy, name, game_for(policy, game), arena, options)


def promote(challenge: Challenge, store: Store, progress: ProgressCallback = no_progress) -> ChallengeOutcome:
    """Play the challenge, log it, and make the winner champion: champions/GAME/ and the alias in MLflow.

    The champion is the one in `champions/`, else the alias; the alias follows the folder. Every challenger becomes a
    version of the registered model of its game, and every challenge a run. Raises TrackingUnavailable or
    ChallengeUnderway before anything is played. Ctrl-C during the challenge raises Interrupted with a PromotionDecision
    on the deals so far, of which nothing else is written; they are kept in runs/scores/ of the store's project.
    """
    registry = Registry(store)
    game = challenge.game.spec.name
    registry.champion(game)  # fails early if the store is unavailable
    with only_challenge(store, game):
        return _promote(challenge, store, registry, progress)


@contextmanager
def only_challenge(store: Store, game: str) -> Generator[None]:
    """Inside, no other process can challenge the champion of `game`; may be nested. Raises ChallengeUnderway."""
    path = store.root / "runs" / "promotion" / f"{game}.lock"
    path.parent.mkdir(parents=True, exist_ok=True)
    lock = FileLock(path, timeout=0, is_singleton=True)
    try:
        lock.acquire()
    except Timeout as error:
        raise ChallengeUnderway(f"{path}: another process is challenging the champion of {game}") from error
    try:
        yield
    finally:
        lock.release()


def _promote(challenge: Challenge, store: Store, registry: Registry, progress: ProgressCallback) -> ChallengeOutcome:
    digest = policy_digest(challenge.policy)
    champion = policy_folder(CHAMPION, game := challenge.game.spec.name)
    origin = find_origin(store, digest)
    if champion is not None and policy_digest(champion) == digest:
        registered = registry.find(digest) or registry.register_folder(champion)
        registry.set_champion(registered)  # e.g. after a fresh clone; there is nothing to decide
        return ChallengeOutcome(None, registered, None)
    challenger = Contender(challenge.name, str(challenge.policy), digest)
    opponent = _opponent(challenge, champion)
    played = played_scores(store.root)
    decision = decide(challenge.game, challenger, opponent, challenge.arena, challenge.options, progress, played)
    decision = replace(decision, choice=challenge.choice)
    figures = None
    if decision.accepted:
        measure = partial(evaluate, challenge.game, str(challenge.policy), challenge.arena, policy_digest=digest)
        with without_part():
            figures = measure(experiment=challenge.name, progress=progress, played=played)
    card = model_card(challenge.policy, composed_game(challenge.game), decision, origin, figures)
    run_id = _record(challenge, store, decision, card)
    difference = decision.difference
    tags = {
        "name": challenge.name,
        **_tags(decision),
        "promotion.difference": f"{difference.mean:.6g}",
        "promotion.interval": f"{difference.low:.6g} to {difference.high:.6g}",
        "promotion.deals": difference.deals,
    }
    plays, made_by = composed_game(challenge.game), origin.run_id if origin else run_id
    registered = registry.register(challenge.policy, plays, run_id=made_by, card=card, tags=tags)
    if not decision.accepted:
        return ChallengeOutcome(decision, registered, None)
    lineage = _lineage(store, digest, origin, run_id)
    files = {
        CARD: card,
        DECISION: decision.figures(),
        EVALUATION: figures,
        LINEAGE: lineage,
        **(origin.files if origin else {}),
    }
    exploited = (challenge.champions / game / EXPLOITABILITY).exists()
    folder = write_champion(challenge.champions, challenge.game, challenge.policy, files)
    registry.set_champion(registered)
    return ChallengeOutcome(decision, registered, folder, exploited)


def _opponent(challenge: Challenge, champion: Path | None) -> Contender:
    """The champion, or the reference if there is none. PolicyError for a champion of other rules."""
    if champion is None:
        return Contender(challenge.options.reference, challenge.options.reference, "")
    load_agent(challenge.game, str(champion))
    return Contender(champion_name(champion), str(champion), policy_digest(champion))


def _record(challenge: Challenge, store: Store, decision: PromotionDecision, card: str) -> str:
    """Log the challenge as a run of its game; returns the run id."""
    tags = {"kind": "promotion", "experiment": challenge.name, DIGEST: decision.challenger.digest, **_tags(decision)}
    arena = {"deals": challenge.arena.deals, "seed": decision.seed, "until": challenge.arena.until}
    params = {"game": composed_game(challenge.game), "arena": arena, "sequential": decision.sequential}
    figures = decision.difference.named("difference", "difference_")
    if decision.ladder is not None:
        figures |= decision.ladder.difference.named("ladder", "ladder_")
    figures["deals"] = decision.difference.deals
    name = f"{challenge.name} · promotion"
    with store.start_run(challenge.game.spec.name, name, tags=tags, params=params) as run:
        run.log_metrics({f"promotion/{key}": value for key, value in figures.items()}, step=0)
        run.log_text(as_text(decision.figures()), DECISION)
        run.log_text(card, CARD)
    return run.id


def _tags(decision: PromotionDecision) -> dict[str, str]:
    return {
        "promotion.accepted": str(decision.accepted).lower(),
        "promotion.opponent": decision.opponent.digest or decision.opponent.agent,
    }


def _lineage(store: Store, digest: str, origin: Origin | None, promoted_by: str) -> dict[str, Any]:
    """References from the champion to the runs that trained and judged it, and all that it started from or met."""
    tags = origin.tags if origin else {}
    return {
        "policy_digest": digest,
        "run": origin.run_id if origin else None,
        "promotion_run": promoted_by,
        "experiment": origin.name if origin else None,
        "tags": {key: tags[key] for key in _LINEAGE_TAGS if key in tags},
        "config": dict(origin.config) if origin else {},
        "chain": list(_chain(store, json.loads(tags.get(LINKS, "{}")), {digest})),
    }


def _chain(store: Store, links: Mapping[str, str], seen: set[str]) -> Iterator[dict[str, Any]]:
    """What the store knows of the policies that a training started from or met, and of those before them."""
    for name, digest in links.items():
        if digest not in seen:
            seen.add(digest)
            origin = find_origin(store, digest)
            tags = origin.tags if origin else {}
            known = {key: tags[key] for key in _LINEAGE_TAGS if key in tags}
            yield {"policy": name, "digest": digest, "tags": known, "config": dict(origin.config) if origin else {}}
            yield from _chain(store, json.loads(tags.get(LINKS, "{}")), seen)


def format_outcome(challenge: Challenge, outcome: ChallengeOutcome) -> str:
    """The decision and its figures in a few lines."""
    game, version, decision = challenge.game.spec.name, outcome.registered, outcome.decision
    if decision is None:
        return f"{challenge.name} is already the champion of {game}: {version.name} version {version.version}"
    difference, opponent = decision.difference, decision.opponent
    against = f"the champion {opponent.name}" if opponent.digest else f"{opponent.name}, as there is no champion yet"
    lines = _choice_lines(decision.choice)
    lines.append(
        f"{challenge.name} against {against}: difference {difference.mean:+.3f} points per game, "
        f"95 % interval {difference.low:+.3f} to {difference.high:+.3f}, {difference.deals:,} deals"
    )
    verdict = "it is weaker" if decision.accept_equal else "the interval is not above zero"
    if decision.ladder is not None:
        gain = decision.ladder.difference
        lines.append(
            f"against {', '.join(decision.ladder.agents)}: {gain.mean:+.3f} points per game more than {opponent.name}, "
            f"95 % interval {gain.low:+.3f} to {gain.high:+.3f}"
        )
        if difference.high <= 0:
            verdict = "it loses to the champion"
        elif not decision.accept_equal:
            verdict = "the interval of the ladder is not above zero"
    lines.append(f"promoted: {outcome.folder}" if outcome.folder else f"not promoted: {verdict}")
    if outcome.exploited:
        measure = f"cardlab exploit policy={outcome.folder} measures this one"
        lines.append(f"removed: {EXPLOITABILITY} of the former champion; {measure}")
    use = "as champion" if outcome.folder else "as a challenger only"
    return "\n".join([*lines, f"registered: {version.name} version {version.version}, {use}"])


def _choice_lines(choice: SeedChoice | None) -> list[str]:
    if choice is None:
        return []
    points = ", ".join(f"seed {seed}: {value:.3f}" for seed, value in choice.points.items())
    against = f" against {', '.join(choice.against)}" if choice.against else ""
    return [f"chosen: seed {choice.seed} (points per game{against} on {choice.deals:,} other deals: {points})"]
