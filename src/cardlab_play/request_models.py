"""What may be asked, as the OpenAPI schema tells it; unknown keys and wrong types are refused."""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

Name = Annotated[StrictStr, Field(min_length=1, max_length=64)]
AgentName = Annotated[StrictStr, Field(min_length=1, max_length=200)]
Number = Annotated[StrictInt, Field(ge=0, le=1_000_000)]


class Message(BaseModel):
    """A body without surprises."""

    model_config = ConfigDict(extra="forbid")


class PlayerMessage(Message):
    """An agent of the list, with a search of the list or without."""

    agent: AgentName
    search: Name | None = None


class NewTable(Message):
    """A table to open; what is left out is chosen by the server."""

    game: Name
    options: Annotated[dict[Name, StrictInt | Name], Field(max_length=16)] | None = None
    seat: Annotated[StrictInt, Field(ge=0, le=8)] | None = None
    opponents: Annotated[list[PlayerMessage], Field(max_length=8)] | None = None
    par: PlayerMessage | None = None
    deal: Name | None = None


class Move(Message):
    """An action of the person, after `number` actions of all."""

    action: Annotated[StrictInt, Field(ge=0, le=32_767)]
    number: Number


class Resignation(Message):
    """The end of a game by its person, after `number` actions."""

    number: Number


class Renaming(Message):
    """A name for the session."""

    name: Annotated[StrictStr, Field(max_length=200)]


class Problem(BaseModel):
    """Why something was refused."""

    error: str
    key: str | None


class TableMessage(BaseModel):
    """A table as its person sees it; `view`, `legal` and `events` are of the game's own form (docs/play.md)."""

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
