"""What a training needs, imported once, in the order in which the program does it: MLflow after its environment."""

from cardlab.tracking.connection import quiet_environment

quiet_environment()

import mlflow  # noqa: E402
import mlflow.store.tracking.sqlalchemy_store  # noqa: E402
import mlflow.tracking  # noqa: E402, F401
import optuna  # noqa: E402, F401
import torch  # noqa: E402, F401

import cardlab.cli.program  # noqa: E402
import cardlab.cli.train  # noqa: E402
import cardlab.experiments.config.build_experiment  # noqa: E402
import cardlab.games.make_game  # noqa: E402
import cardlab.training.recorded_training  # noqa: E402, F401
