# SPDX-License-Identifier: Apache-2.0
"""Holds JSON against docs/schema, by the keywords of JSON Schema (2020-12) that are used there and no others."""
import collections
import functools
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent.parent.parent / "docs" / "schema"

TYPES = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "null": lambda v: v is None,
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}

KEYWORDS = {"$comment", "$schema", "title", "description", "$defs", "$ref", "type", "enum", "const", "anyOf", "properties", "required",
            "additionalProperties",
            "allOf", "unevaluatedProperties", "items", "minItems", "maxItems", "minimum", "maximum", "pattern"}


def strictly(pairs):
    keys = [key for key, _ in pairs]
    assert len(keys) == len(set(keys)), f"a field is there twice: {keys}"
    return dict(pairs)


def no_number(text):
    raise ValueError(f"{text} is no JSON")


def parse(text):
    """A document, without what Python takes beyond JSON, and each field once."""
    return json.loads(text, object_pairs_hook=strictly, parse_constant=no_number)


@functools.lru_cache(maxsize=None)
def load(name):
    return parse((FOLDER / name).read_text())


def resolve(file, reference):
    """The schema that a $ref names, and the file it is in."""
    path, _, pointer = reference.partition("#")
    file = path or file
    schema = load(file)
    for part in pointer.split("/")[1:]:
        schema = schema[part]
    return file, schema


class Mismatch(Exception):
    pass


def hold(value, schema, file, at="$"):
    """Raises Mismatch with the place in the value."""
    def refuse(found, expected):
        raise Mismatch(f"{at}: found {found}, expected {expected} ({file})")

    if "$ref" in schema:
        there, target = resolve(file, schema["$ref"])
        hold(value, target, there, at)
    if "type" in schema:
        types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        if not any(TYPES[name](value) for name in types):
            refuse(f"{value!r:.60}", " or ".join(types))
    if "enum" in schema and value not in schema["enum"]:
        refuse(f"{value!r:.60}", schema["enum"])
    if "const" in schema and value != schema["const"]:
        refuse(f"{value!r:.60}", schema["const"])
    if "anyOf" in schema:
        hold_any(value, schema["anyOf"], file, at)
    for part in schema.get("allOf", []):
        hold(value, part, file, at)
    if isinstance(value, dict):
        hold_fields(value, schema, file, at, refuse)
    elif isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            refuse(f"{len(value)} items", f"{schema.get('minItems', 0)} to {schema.get('maxItems', 'any')}")
        for number, item in enumerate(value if "items" in schema else []):
            hold(item, schema["items"], file, f"{at}[{number}]")
    elif isinstance(value, str):
        if "pattern" in schema and not re.search(schema["pattern"], value):
            refuse(repr(value), schema["pattern"])
    elif TYPES["number"](value):
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            refuse(value, f"{schema.get('minimum', 'any')} to {schema.get('maximum', 'any')}")


def hold_any(value, schemas, file, at):
    reasons = []
    for schema in schemas:
        try:
            return hold(value, schema, file, at)
        except Mismatch as reason:
            reasons.append(str(reason))
    raise Mismatch("; or ".join(reasons))


def hold_fields(value, schema, file, at, refuse):
    properties, others = schema.get("properties", {}), schema.get("additionalProperties", True)
    if schema.get("unevaluatedProperties") is False:
        extra = set(value) - fields_of(schema, file)
        if extra:
            refuse(f"a field {min(extra)!r}", "none but those of the schema")
    for key in schema.get("required", []):
        if key not in value:
            refuse(f"no field {key!r}", "it, or null where it is not known")
    for key, item in value.items():
        if key in properties:
            hold(item, properties[key], file, f"{at}.{key}")
        elif others is False:
            refuse(f"a field {key!r}", "none but those of the schema")
        elif isinstance(others, dict):
            hold(item, others, file, f"{at}.{key}")


def fields_of(schema, file):
    """The fields that it names, by itself and by way of others."""
    fields = set(schema.get("properties", {}))
    for part in schema.get("allOf", []):
        fields |= fields_of(part, file)
    if "$ref" in schema:
        there, target = resolve(file, schema["$ref"])
        fields |= fields_of(target, there)
    return fields


def schema_of(document):
    """The name of the schema of a command's result; None of any other JSON."""
    aliases = {"reach": "bfs", "motif": "match", "record": "run"}
    if isinstance(document, list):
        return "bench" if document and "bench" in document[0] else None
    if not isinstance(document, dict):
        return None
    answers = {"aggregate", "state"} & set(document)
    if document.get("ok") is True and answers:
        return f"control-{answers.pop()}"
    if "provenance" not in document:
        return None
    if isinstance(document.get("error"), dict):
        return "refusal"
    command = document["provenance"]["command"].split()[1]
    if command == "info" and document.get("format", "").startswith("synfire occurrences"):
        return "occurrences"
    if command in ("match", "motif") and "triads" in document:
        return "census"
    if command == "graph" and "network" in document:
        return "network"
    return aliases.get(command, command)


def held(document):
    """The same document; where a command printed it, it is as its schema says."""
    name = schema_of(document)
    if name is not None:
        hold(document, load(f"{name}.json"), f"{name}.json")
    return document


def read(path):
    """A document of a file, held so."""
    return held(parse(pathlib.Path(path).read_text()))


def read_lines(path):
    """How many messages of each topic there are, all as their schemas say."""
    topics = collections.Counter()
    for line in pathlib.Path(path).read_text().splitlines():
        message = parse(line)
        name = f"message-{message['topic']}.json"
        hold(message, load(name), name)
        topics[message["topic"]] += 1
    return topics


# ---- the schemas themselves ----

def check_schema(schema, file, at, is_field):
    unknown = set(schema) - KEYWORDS
    assert not unknown, f"{file}: {at}: {unknown} is not among the keywords that this program knows"
    described = "description" in schema or "$ref" in schema and "description" in resolve(file, schema["$ref"])[1]
    assert described or not is_field, f"{file}: {at} says not what it is"
    if "$ref" in schema:
        resolve(file, schema["$ref"])
    if "properties" in schema:
        closed = {"additionalProperties", "unevaluatedProperties"} & set(schema) or file == "tables.json"
        assert closed, f"{file}: {at}: any field would do"
        extra = set(schema["properties"]) ^ set(schema["required"])
        assert not extra, f"{file}: {at}: {extra} may be missing: a field is always there, or null"
    for key, part in schema.get("properties", {}).items():
        check_schema(part, file, f"{at}.{key}", True)
    for key, part in schema.get("$defs", {}).items():
        check_schema(part, file, f"{at}/{key}", False)
    for part in schema.get("anyOf", []) + schema.get("allOf", []):
        check_schema(part, file, at, False)
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            check_schema(schema[key], file, f"{at}[]", False)


def check_all():
    files = sorted(path.name for path in FOLDER.glob("*.json"))
    assert files, f"no schemas in {FOLDER}"
    for file in files:
        assert load(file)["$schema"] == "https://json-schema.org/draft/2020-12/schema", file
        check_schema(load(file), file, "$", False)
    try:
        from jsonschema import Draft202012Validator
    except ImportError:
        return
    for file in files:
        Draft202012Validator.check_schema(load(file))
