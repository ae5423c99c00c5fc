"""What a challenge is decided by."""

from cardlab.core.options import Flag, Number, Text, option, options


@options("")
class PromotionOptions:
    """How a promotion decides: opponents, early stopping, maximum size of a champion."""

    reference: Text = option("random", "agent that the first champion of a game must beat")
    ladder: tuple[Text, ...] = option(
        (),
        "agents against which it must score more than the champion, without losing to the champion; "
        "empty: it must beat the champion",
    )
    sequential: Flag = option(
        False, "true: stop as soon as the result is clear, by an interval that holds at every look"
    )
    max_megabytes: Number = option(5.0, "maximum size of the files of a champion in git", gt=0)
