"""Train two agents, compare them on the same deals, and let the better one challenge the champion.

A script in notebook form (jupytext, percent format): run it as a whole, or cell by cell in an editor. Under a minute of
one core. It writes `runs/` and `mlflow.db` as the command line does.
"""

# %% [markdown]
# # Train, compare, promote
#
# `cardlab.train("thirty_one/dqn", seed=1)` does what `cardlab train experiment=thirty_one/dqn seed=1` does in a shell.

# %%
import cardlab
from cardlab.cli import main

# %% [markdown]
# ## Train
#
# Two recipes of Thirty-One with a small budget. Each training is a run in MLflow; the same cell resumes it after an
# interruption.

# %%
BUDGET = {"decisions": 50_000, "evaluations": 1, "snapshots": 0}
policies = {
    learner: cardlab.train(f"thirty_one/{learner}", name=f"example_{learner}", trainer=BUDGET).policy
    for learner in ("dqn", "ppo")
}

# %% [markdown]
# ## Compare
#
# Both play `greedy` on the same deals, so the luck of the deals is not part of their difference.

# %%
both = cardlab.compare(*policies.values(), references=["greedy"], deals=1000)
print(*both.verdicts, sep="\n")

# %% [markdown]
# And against each other:

# %%
game = cardlab.make_game("thirty_one")
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
assert main(["promote", f"policy={policies[better]}", "arena.deals=200"]) == 0

# %% [markdown]
# `cardlab ui` shows both trainings and the challenge; `docs/champions.md` has the rules.
