"""What authors of functions in Python use beside the bindings of the WIT.

It tells the host what a signature cannot say. Functions are described where they are written, once:
the docstring is the description, and its first paragraph is what models read.
"""

import json
import re
from inspect import cleandoc

from wit_world.exports.metadata import (
    Attribute,
    ComponentMetadata,
    Function,
    Parameter,
)

__all__ = ["function", "metadata_of"]

_ABOUT = "__openprogram_about__"


def function(*, input=None, **attributes):
    """Describes a function of the component beyond its docstring.

    `input` maps the name of a parameter to its attributes, for example
    `{"message": {"description": "What was written.", "multiline": True}}`. Everything else is an
    attribute of the function, for example `read_only=True`. Which attributes there are stands in
    `metadata.wit`.
    """

    def keep(run):
        setattr(run, _ABOUT, (input or {}, attributes))
        return run

    return keep


def metadata_of(*interfaces):
    """Makes the class `Metadata` that the component exports, from its other exported classes."""
    functions = [
        _function_of(owner, name, run)
        for owner in interfaces
        for name, run in vars(owner).items()
        if callable(run) and not name.startswith("_")
    ]

    class Metadata:
        def describe(self):
            # Types are described in the WIT, whose doc comments `openprogram build` adds.
            return ComponentMetadata(functions=functions, types=[])

    return Metadata


def _function_of(owner, name, run):
    parameters, attributes = getattr(run, _ABOUT, ({}, {}))
    # The class of functions that the world itself exports is called like the module of the world.
    interface = "" if owner.__name__ == "WitWorld" else _kebab(owner.__name__)
    return Function(
        interface=interface,
        name=_kebab(name),
        description=cleandoc(run.__doc__ or ""),
        parameters=[
            Parameter(_kebab(parameter), _attributes_of(said))
            for parameter, said in parameters.items()
        ],
        attributes=_attributes_of(attributes),
    )


def _attributes_of(said):
    """Each attribute is a key and a JSON text."""
    return [Attribute(key, json.dumps(value)) for key, value in said.items()]


def _kebab(name):
    """The name in WIT of a name in Python; a word of Python has `_` at its end."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return words.strip("_").replace("_", "-").lower()
