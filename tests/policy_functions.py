"""Policy functions as PettingZoo's users write them, in a module that other processes can import."""

import numpy as np


def lowest(observation: dict[str, np.ndarray]) -> int:
    return int(np.argmax(observation["action_mask"]))


def lowest_of_all(observations: dict[str, np.ndarray]) -> np.ndarray:
    return np.argmax(observations["action_mask"], axis=1)
