"""What is said of a challenge, and kept as a file."""

from pathlib import Path

from cardlab.agents.policies import policy_digest
from cardlab.promotion.champions import as_text
from cardlab.promotion.promote import Challenge, Outcome


def tell_outcome(challenge: Challenge, outcome: Outcome) -> str:
    """The decision with its figures, in a few lines."""
    game, version = challenge.game.spec.name, outcome.registered
    if outcome.decision is None:
        return f"{challenge.name} is the champion of {game} already: {version.name} version {version.version}"
    apart, opponent = outcome.decision.difference, outcome.decision.opponent
    against = f"the champion {opponent.name}" if opponent.digest else f"{opponent.name}, as there is no champion yet"
    verdict = f"promoted: {outcome.folder}" if outcome.folder else "not promoted: the interval is not above zero"
    return "\n".join(
        [
            f"{challenge.name} against {against}: {apart.mean:+.3f} points a game, "
            f"95 % interval {apart.low:+.3f} to {apart.high:+.3f}, {apart.deals:,} deals",
            verdict,
            f"registered: {version.name} version {version.version}",
        ]
    )


def write_decision(challenge: Challenge, outcome: Outcome, path: Path) -> None:
    """The decision as JSON; the same for the same match. What is champion already has none to be written."""
    decision = outcome.decision
    figures = decision.figures() if decision else {"champion": policy_digest(challenge.policy)}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(as_text(figures), encoding="utf-8")
