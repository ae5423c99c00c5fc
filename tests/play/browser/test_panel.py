"""The panel of advice shows all that the server says of a decision, and the table says it too."""

import re

from browsing import ORDERS


def _advice(table):
    """What a server may say of the first decision of Five-O: the second column, nearly always."""
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
        "win": 0.6,
        "deals": 64,
        "values_from": "agent",
        "options": options,
        "belief": {"from": "network", "cards": [{"card": "As", "chances": [0.0, 0.25], "elsewhere": 0.75}]},
        "input": [
            {"name": "own_columns", "shape": [2, 3], "values": [0.0, 1.0, -0.5, 0.0, 0.0, 0.25]},
            {"name": "turn", "shape": [1], "values": [1.0]},
        ],
    }


def test_advice_is_shown_on_demand(person):
    one = person("phone")
    table = one.open(ORDERS["five_o"])
    advice = _advice(table)
    asked = []

    def answer(route):
        asked.append(route.request.url)
        route.fulfill(json=advice)

    one.page.route("**/advice**", answer)
    one.choices()
    assert asked == []  # thinking costs the server something
    one.page.get_by_text("What would the agent do?").tap()
    panel = one.page.locator(".advice")
    panel.locator(".options").wait_for()
    for part in panel.locator("summary").all():
        part.tap()
    assert panel.locator(".options .best .number").first.inner_text().endswith("90 %")
    assert panel.locator(".options li").count() == len(advice["options"])
    broken = (
        "(all) => all.filter((one) => one.getClientRects().length && one.offsetHeight > 30).map((one) => one.innerText)"
    )
    assert panel.locator(".options .number").evaluate_all(broken) == []  # each figure in one line
    assert panel.locator(".chance b").inner_text() == "60 %"
    assert panel.locator(".belief td[title]").get_attribute("title") == "ace of spades: Reflex 1 25 %, the deck 75 %"
    assert panel.locator(".input dt").count() == panel.locator(".input svg").count() == 2
    assert panel.locator(".input rect").count() == 7
    assert "[object" not in panel.inner_text()
    assert one.page.locator('.felt [data-key="column 1"]').get_attribute("data-share") == "90 %"


def with_signs(text):
    """`take Td` as the page shows it: take 10♦."""
    signs = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
    return re.sub(r"\b([2-9TJQKA])([cdhs])\b", lambda card: card[1].replace("T", "10") + signs[card[2]], text)


def test_values_from_playouts_are_told_with_what_they_are_worth(person):
    one = person("phone")
    one.open({**ORDERS["thirty_one"], "options": {"num_players": 2, "lives": 1}})
    one.choices()
    with one.page.expect_response(lambda reply: "/advice" in reply.url) as answer:
        one.page.get_by_text("What would the agent do?").tap()
    advice = answer.value.json()
    assert advice["values_from"] == "playouts"
    assert advice["playouts"] >= 16
    assert all(option["margin"] >= 0 for option in advice["options"])
    panel = one.page.locator(".advice")
    panel.get_by_text(f"about {advice['playouts']} games each").wait_for()
    guesses = panel.locator(".options .guess").all_inner_texts()
    assert len(guesses) == len(advice["options"])
    assert all("±" in guess for guess in guesses)
    assert with_signs(advice["text"]) in panel.locator(".options li").first.inner_text()
