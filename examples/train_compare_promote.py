"""Train two agents, compare them on the same deals, and let the better one challenge the champion.

A script in notebook form (jupytext, percent format): run it as a whole, or cell by cell in an editor. Under a minute of
one core. It writes `runs/` and `mlflow.db` as the command line does.
"""

# %% [markdown]
# # Train, compare, promote
#
# `cardlab_command("train", "seed=1")` does what `cardlab train seed=1` does in a shell.

# %%
import cardlab
from cardlab.cli import main


def cardlab_command(*words: str) -> None:
    """Run `cardlab WORDS`."""
    print("$ cardlab", *words)
    assert main(list(words)) == 0


# %% [markdown]
# ## Train
#
# Two recipes of Thirty-One with a small budget. Each training is a run in MLflow; the same cell resumes it after an
# interruption.

# %%
BUDGET = ("trainer.decisions=50_000", "trainer.evaluations=1", "trainer.snapshots=0")
for learner in ("dqn", "ppo"):
    cardlab_command("train", f"experiment=thirty_one/{learner}", f"name=example_{learner}", *BUDGET)

# %% [markdown]
# ## Compare
#
# Both play `greedy` on the same deals, so the luck of the deals is not part of their difference.

# %%
policies = {learner: f"runs/example_{learner}/latest/policy" for learner in ("dqn", "ppo")}
game = cardlab.make_game("thirty_one")
both = cardlab.compare_methods([*policies.values()], game, references=("greedy",), deals=1000, processes=1)
print(*both.verdicts, sep="\n")

# %% [markdown]
# And against each other:

# %%
duel = cardlab.play_match(game, policies, num_deals=1000, seed=1)
for learner, result in duel.by_name.items():
    print(f"{learner}: wins {result.wins}")
better = max(policies, key=lambda learner: duel.by_name[learner].points.mean)

# %% [markdown]
# ## Promote
#
# The better one challenges the champion of its game. It becomes champion only if the 95 % interval of the difference
# lies above 0; a training of seconds does not beat one of hours. In either case the policy becomes a version of
# `cardlab-thirty_one` in MLflow's registry, and the challenge a run.

# %%
cardlab_command("promote", f"policy={policies[better]}", "arena.deals=200")

# %% [markdown]
# `cardlab ui` shows both trainings and the challenge; `docs/champions.md` has the rules.
