"""Texts and files of the outcome of a challenge."""

from pathlib import Path

from cardlab.agents.policies import policy_digest
from cardlab.core.files import write_atomically
from cardlab.experiments.promotion.champions import as_text
from cardlab.experiments.promotion.promote import Challenge, ChallengeOutcome


def format_outcome(challenge: Challenge, outcome: ChallengeOutcome) -> str:
    """The decision and its figures in a few lines."""
    game, version = challenge.game.spec.name, outcome.registered
    if outcome.decision is None:
        return f"{challenge.name} is already the champion of {game}: {version.name} version {version.version}"
    apart, opponent = outcome.decision.difference, outcome.decision.opponent
    against = f"the champion {opponent.name}" if opponent.digest else f"{opponent.name}, as there is no champion yet"
    lines = [
        f"{challenge.name} against {against}: {apart.mean:+.3f} points per game, "
        f"95 % interval {apart.low:+.3f} to {apart.high:+.3f}, {apart.deals:,} deals"
    ]
    if (ladder := outcome.decision.ladder) is not None:
        gain = ladder.difference
        lines.append(
            f"against {', '.join(ladder.agents)}: {gain.mean:+.3f} points per game more than {opponent.name}, "
            f"95 % interval {gain.low:+.3f} to {gain.high:+.3f}"
        )
    return "\n".join([*lines, _verdict(outcome), f"registered: {version.name} version {version.version}"])


def _verdict(outcome: ChallengeOutcome) -> str:
    decision = outcome.decision
    if decision is None or outcome.folder:
        return f"promoted: {outcome.folder}"
    if decision.ladder is None:
        return "not promoted: the interval is not above zero"
    if decision.difference.high <= 0:
        return "not promoted: it loses to the champion"
    return "not promoted: the interval of the ladder is not above zero"


def write_decision(challenge: Challenge, outcome: ChallengeOutcome, path: Path) -> None:
    """Write the decision as JSON; for a policy that is already champion only its digest."""
    decision = outcome.decision
    figures = decision.figures() if decision else {"champion": policy_digest(challenge.policy)}
    write_atomically(path, as_text(figures))
