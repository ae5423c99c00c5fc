"""Pydantic models of requests and responses. Unknown keys and wrong types are rejected."""

import json
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr, model_validator

from cardlab_play.agent_catalog import AgentChoice

Name = Annotated[StrictStr, Field(min_length=1, max_length=64)]
ActionCount = Annotated[StrictInt, Field(ge=0, le=1_000_000)]


class RequestModel(BaseModel):
    """Base of request bodies: no extra keys."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def refuse_half_characters(cls, data: Any) -> Any:
        """Refuse a lone surrogate, which JSON can write and UTF-8 cannot, in any text."""
        try:
            json.dumps(data, ensure_ascii=False).encode()
        except UnicodeEncodeError as error:
            raise ValueError("a text has half of a character") from error
        return data


class TableRequest(RequestModel):
    """A table to open. The server chooses what is None. `deal`: null, `daily` or the id of a deal.

    `practice`: with advice and undo; the result does not count. For fresh deals only.
    """

    game: Name
    options: Annotated[dict[Name, StrictInt | Name], Field(max_length=16)] | None = None
    seat: Annotated[StrictInt, Field(ge=0, le=8)] | None = None
    opponents: Annotated[list[AgentChoice], Field(max_length=8)] | None = None
    par: AgentChoice | None = None
    deal: Name | None = None
    practice: StrictBool = False


class NumberRequest(RequestModel):
    """A resignation, or a move to take back. `number`: actions of all players before it."""

    number: ActionCount


class MoveRequest(NumberRequest):
    """An action of the player. `number`: actions of all players before it."""

    action: Annotated[StrictInt, Field(ge=0, le=32_767)]


class RenameRequest(RequestModel):
    """A new user name."""

    name: Annotated[StrictStr, Field(max_length=200)]


class ErrorResponse(BaseModel):
    """Why a request failed: one sentence, and the invalid key if there is one."""

    error: str
    key: str | None


class TableResponse(BaseModel):
    """A table as the player sees it. `view`, `legal` and `events` depend on the game (docs/play_api.md)."""

    id: str
    game: str
    title: str
    options: dict[str, Any]
    seat: int
    seats: list[dict[str, Any]]
    number: int
    status: str
    view: dict[str, Any]
    legal: list[dict[str, Any]]
    events: list[dict[str, Any]]
    deal: dict[str, Any]
    result: dict[str, Any] | None
