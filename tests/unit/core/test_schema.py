from typing import Annotated, Any, Literal

import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, Field, TypeAdapter

from outrider.core.schema import build_input_schema, build_output_schema


class Author(BaseModel):
    title: str
    born: int | None = None


AUTHOR = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "born": {"type": "integer"}},
    "required": ["title"],
}


class Paper(BaseModel, extra="forbid"):
    title: Annotated[str, Field(description="Its title")]
    year: Annotated[int | None, Field(ge=1900, description="When")] = None
    kind: Literal["book", "article"] | int | None = None
    author: Author | None = None
    pages: int | None
    language: str | None = "en"
    properties: dict[str, Author] = {}
    extra: dict[str, Any] = {"title": "kept", "anyOf": [{"type": "null"}]}
    editors: list[Author | None] = []


@pytest.fixture
def schema() -> dict[str, Any]:
    return build_input_schema(TypeAdapter(Paper))


def iter_titles(node: Any) -> list[str]:
    """Yield every generated title, wherever a schema may be."""
    if isinstance(node, list):
        return [title for each in node for title in iter_titles(each)]
    if not isinstance(node, dict):
        return []
    here = [node["title"]] if isinstance(node.get("title"), str) else []
    return here + [
        title for key, each in node.items() if key not in {"default", "const"} for title in iter_titles(each)
    ]


def test_no_title_is_left_at_any_depth(schema: dict[str, Any]):
    assert iter_titles(schema) == []
    assert iter_titles(build_output_schema(TypeAdapter(Paper))) == []


def test_a_property_named_title_is_kept_even_in_a_definition(schema: dict[str, Any]):
    assert schema["properties"]["title"] == {"type": "string", "description": "Its title"}
    assert schema["properties"]["author"]["properties"]["title"] == {"type": "string"}


def test_a_property_named_properties_is_kept_as_a_property(schema: dict[str, Any]):
    assert schema["properties"]["properties"]["additionalProperties"] == AUTHOR


def test_an_optional_field_is_not_nullable_and_keeps_its_limits(schema: dict[str, Any]):
    assert schema["properties"]["year"] == {"type": "integer", "minimum": 1900, "description": "When"}
    assert schema["properties"]["author"]["properties"]["born"] == {"type": "integer"}


def test_an_optional_union_loses_only_its_null(schema: dict[str, Any]):
    assert schema["properties"]["kind"] == {
        "anyOf": [{"enum": ["book", "article"], "type": "string"}, {"type": "integer"}]
    }


def test_an_object_is_inlined_because_hosts_do_not_follow_references(schema: dict[str, Any]):
    assert schema["properties"]["author"] == AUTHOR
    assert "$ref" not in str(schema) + str(build_output_schema(TypeAdapter(Paper)))


def test_a_recursive_object_ends_as_any_object():
    class Folder(BaseModel):
        name: str
        folders: list["Folder"] = []

    schema = build_input_schema(TypeAdapter(Folder))
    assert "$ref" not in str(schema)
    assert schema["properties"]["folders"]["items"] == {"type": "object"}


def test_a_null_that_differs_from_omission_is_kept(schema: dict[str, Any]):
    null = {"type": "null"}
    assert null in schema["properties"]["pages"]["anyOf"]
    assert null in schema["properties"]["language"]["anyOf"]
    assert null in schema["properties"]["editors"]["items"]["anyOf"]


def test_a_default_value_is_data_and_stays_as_it_is(schema: dict[str, Any]):
    assert schema["properties"]["extra"]["default"] == {"title": "kept", "anyOf": [{"type": "null"}]}


def test_required_fields_stay_required(schema: dict[str, Any]):
    assert schema["required"] == ["title", "pages"]
    assert schema["additionalProperties"] is False


def test_a_tool_without_parameters_has_an_empty_object():
    class Nothing(BaseModel, extra="forbid"): ...

    assert build_input_schema(TypeAdapter(Nothing)) == {
        "additionalProperties": False,
        "properties": {},
        "type": "object",
    }


def test_a_result_schema_has_no_description_of_its_own():
    class Found(BaseModel):
        """A search result."""

        count: int = Field(description="Of all")

    assert build_output_schema(TypeAdapter(Found)) == {
        "properties": {"count": {"type": "integer", "description": "Of all"}},
        "required": ["count"],
        "type": "object",
    }


def test_the_result_schema_accepts_nulls():
    result = Paper(title="A", year=None, pages=None, author=None).model_dump(mode="json", exclude_unset=True)
    assert list(Draft202012Validator(build_output_schema(TypeAdapter(Paper))).iter_errors(result)) == []
