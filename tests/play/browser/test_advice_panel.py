"""The advice panel shows the server's analysis of a decision, and the table shows its probabilities."""

import re

from browser_user import TABLE_REQUESTS


def _advice(table):
    """Advice for the first decision of Five-O: the second column with probability 0.9."""
    actions = [move["action"] for move in table["legal"]]
    shares = [0.9 if action == actions[1] else 0.1 / (len(actions) - 1) for action in actions]
    options = [
        {"action": move["action"], "text": move["text"], "probability": share, "value": share - 0.5}
        for move, share in zip(table["legal"], shares, strict=True)
    ]
    return {
        "agent": {"agent": "champion", "search": None, "title": "Champion"},
        "number": table["number"],
        "action": actions[1],
        "text": options[1]["text"],
        "value": 0.25,
        "win_probability": 0.6,
        "deals": 64,
        "value_source": "agent",
        "options": options,
        "belief": {"source": "network", "cards": [{"card": "As", "probabilities": [0.0, 0.25], "elsewhere": 0.75}]},
        "observation": [
            {"name": "own_columns", "shape": [2, 3], "values": [0.0, 1.0, -0.5, 0.0, 0.0, 0.25]},
            {"name": "turn", "shape": [1], "values": [1.0]},
        ],
    }


def test_advice_is_shown_on_demand(new_user):
    user = new_user("phone")
    table = user.open(TABLE_REQUESTS["five_o"])
    advice = _advice(table)
    asked = []

    def answer(route):
        asked.append(route.request.url)
        route.fulfill(json=advice)

    user.page.route("**/advice**", answer)
    user.choices()
    assert asked == []  # advice is computed on demand only
    user.page.get_by_text("What would the agent do?").tap()
    panel = user.page.locator(".advice")
    panel.locator(".options").wait_for()
    for part in panel.locator("summary").all():
        part.tap()
    assert panel.locator(".options .best .number").first.inner_text().endswith("90 %")
    assert panel.locator(".options li").count() == len(advice["options"])
    broken = (
        "(all) => all.filter((one) => one.getClientRects().length && one.offsetHeight > 30).map((one) => one.innerText)"
    )
    assert panel.locator(".options .number").evaluate_all(broken) == []  # numbers do not wrap
    assert panel.locator(".win-probability b").inner_text() == "60 %"
    assert panel.locator(".belief td[title]").get_attribute("title") == "ace of spades: Reflex 1 25 %, the deck 75 %"
    assert panel.locator(".observation dt").count() == panel.locator(".observation svg").count() == 2
    assert panel.locator(".observation rect").count() == 7
    assert "[object" not in panel.inner_text()
    assert user.page.locator('.felt [data-key="column 1"]').get_attribute("data-share") == "90 %"


def with_signs(text):
    """`take Td` as the page shows it: take 10♦."""
    signs = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
    return re.sub(r"\b([2-9TJQKA])([cdhs])\b", lambda card: card[1].replace("T", "10") + signs[card[2]], text)


def test_playout_values_are_shown_with_their_margin(new_user):
    user = new_user("phone")
    user.open({**TABLE_REQUESTS["thirty_one"], "options": {"num_players": 2, "lives": 1}})
    user.choices()
    with user.page.expect_response(lambda reply: "/advice" in reply.url) as answer:
        user.page.get_by_text("What would the agent do?").tap()
    advice = answer.value.json()
    assert advice["value_source"] == "playouts"
    assert advice["playouts"] >= 16
    assert all(option["margin"] >= 0 for option in advice["options"])
    panel = user.page.locator(".advice")
    panel.get_by_text(f"mean of {advice['playouts']} playouts per action").wait_for()
    guesses = panel.locator(".options .estimate").all_inner_texts()
    assert len(guesses) == len(advice["options"])
    assert all("±" in guess for guess in guesses)
    assert with_signs(advice["text"]) in panel.locator(".options li").first.inner_text()
