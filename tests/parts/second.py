"""Calls functions of components by wasmtime's Python package, a second implementation beside ours.

Reads one JSON object from standard input and writes one to standard output:

    {"components": [{"file", "interface", "calls": [{"function", "arguments": […]}]}],
     "schemas": [{"schema", "valid": […], "invalid": […]}]}

    {"results": [[value or {"error"}]], "schemas": [reason or null]}

Values are written as JSON by rules of its own, told here once more and driven by what the package
says of the types: nothing is shared with the program under test. Types that the package does not
know (maps, lists of fixed length) are not given to it. A schema is checked against its metaschema
(draft 2020-12) and must take all values of `valid` and none of `invalid`.
"""

import base64
import json
import math
import sys

from wasmtime import Config, Engine, Store, WasiConfig
from wasmtime import component as wc
from wasmtime.component import _types as t

WORDS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}

# A case is always told by its tag: the package would else tell it by the class of its payload.
t.VariantLikeType._tagged = lambda self: True


def shown(name):
    return name.replace("-", "_")


def given(ty, value):
    """The value of the package that a JSON value stands for."""
    if isinstance(ty, (t.F32, t.F64)):
        return WORDS[value] if isinstance(value, str) else float(value)
    if isinstance(ty, t.ListType):
        if isinstance(ty.element, t.U8):
            return base64.b64decode(value, validate=True)
        element = ty.element
        return [given(element, item) for item in value]
    if isinstance(ty, t.TupleType):
        return tuple(given(item, part) for item, part in zip(ty.elements, value, strict=True))
    if isinstance(ty, t.RecordType):
        record = t.Record()
        for name, field in ty.fields:
            # A field that is not there is none.
            setattr(record, name, given(field, value.get(shown(name))))
        return record
    if isinstance(ty, t.OptionType):
        if value is None:
            return t.Variant("none")
        inside = ty.payload
        if isinstance(inside, t.OptionType):
            value = value["some"]
        return t.Variant("some", given(inside, value))
    if isinstance(ty, t.ResultType):
        ((side, value),) = value.items()
        inside = ty.ok if side == "ok" else ty.err
        return t.Variant(side, None if inside is None else given(inside, value))
    if isinstance(ty, t.VariantType):
        tag, payload = (value, None) if isinstance(value, str) else next(iter(value.items()))
        for name, inside in ty.cases:
            if shown(name) == tag:
                return t.Variant(name, None if inside is None else given(inside, payload))
        raise ValueError(f"no case {tag}")
    if isinstance(ty, t.EnumType):
        return next(name for name in ty.names if shown(name) == value)
    if isinstance(ty, t.FlagsType):
        return {name for name in ty.names if shown(name) in value}
    return value


def told(ty, value):
    """A value of the package as JSON."""
    if isinstance(ty, (t.F32, t.F64)):
        if math.isnan(value):
            return "NaN"
        if math.isinf(value):
            return "Infinity" if value > 0 else "-Infinity"
        return value
    if isinstance(ty, t.ListType):
        if isinstance(ty.element, t.U8):
            return base64.b64encode(value).decode()
        element = ty.element
        return [told(element, item) for item in value]
    if isinstance(ty, t.TupleType):
        return [told(item, part) for item, part in zip(ty.elements, value, strict=True)]
    if isinstance(ty, t.RecordType):
        fields = {}
        for name, field in ty.fields:
            part = getattr(value, name)
            if not (isinstance(field, t.OptionType) and part.tag == "none"):
                fields[shown(name)] = told(field, part)
        return fields
    if isinstance(ty, t.OptionType):
        if value.tag == "none":
            return None
        inside = ty.payload
        inner = told(inside, value.payload)
        return {"some": inner} if isinstance(inside, t.OptionType) else inner
    if isinstance(ty, t.ResultType):
        inside = ty.ok if value.tag == "ok" else ty.err
        return {value.tag: None if inside is None else told(inside, value.payload)}
    if isinstance(ty, t.VariantType):
        inside = dict(ty.cases)[value.tag]
        name = shown(value.tag)
        return name if inside is None else {name: told(inside, value.payload)}
    if isinstance(ty, t.EnumType):
        return shown(value)
    if isinstance(ty, t.FlagsType):
        return [shown(name) for name in ty.names if name in value]
    return value


def called(store, function, arguments):
    ty = function.type(store)
    pairs = zip(ty.params, arguments, strict=True)
    result = function(store, *[given(of, value) for (_, of), value in pairs])
    function.post_return(store)
    return None if ty.result is None else told(ty.result, result)


def results(engine, component):
    store = Store(engine)
    # Toolchains import WASI for what these functions never do; nothing is granted.
    store.set_wasi(WasiConfig())
    linker = wc.Linker(engine)
    linker.add_wasip2()
    loaded = wc.Component.from_file(engine, component["file"])
    instance = linker.instantiate(store, loaded)
    interface = instance.get_export_index(store, component["interface"])
    answers = []
    for call in component["calls"]:
        index = instance.get_export_index(store, call["function"], interface)
        answers.append(called(store, instance.get_func(store, index), call["arguments"]))
    return answers


def judged(entry):
    """What is wrong with a schema, or nothing."""
    from jsonschema import Draft202012Validator, SchemaError

    schema = entry["schema"]
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        return f"no schema: {error.message}"
    validator = Draft202012Validator(schema)
    for value in entry["valid"]:
        for error in validator.iter_errors(value):
            return f"refuses {json.dumps(value)[:300]}: {error.message[:300]}"
    for value in entry["invalid"]:
        if validator.is_valid(value):
            return f"takes {json.dumps(value)[:300]}"
    return None


def main():
    asked = json.load(sys.stdin)
    config = Config()
    config.wasm_component_model = True
    engine = Engine(config)
    answer = {
        "results": [results(engine, component) for component in asked.get("components", [])],
        "schemas": [judged(entry) for entry in asked.get("schemas", [])],
    }
    json.dump(answer, sys.stdout, allow_nan=False)


main()
