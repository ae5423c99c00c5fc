"""The seven actions: three for a turn, four for the swap after a draw or a take."""

DRAW, TAKE, CALL = 0, 1, 2
SWAP_FIRST = 3  # 3, 4 and 5 swap the card in hand position 0, 1 and 2
KEEP_HAND = 6  # "don't swap": the drawn card goes to the discard pile
NUM_ACTIONS = 7

DECISION_KINDS = ("turn", "swap")
ACTION_KINDS = (0, 0, 0, 1, 1, 1, 1)  # [A] index into DECISION_KINDS
