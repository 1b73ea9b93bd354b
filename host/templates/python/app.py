"""Functions of a bicycle workshop, to be replaced by your own.

`wit/world.wit` says which functions there are, with the types of their parameters. Each of them is a
method here, in snake case: the model sees its name, the first paragraph of its docstring, and its
parameters with their types and descriptions.
"""

import json

from openprogram_guest import function, metadata_of
from wit_world import exports
from wit_world.exports.workshop import Booking, Price, Repair
from wit_world.imports.decision import Menu, make
from wit_world.imports.runtime import Request, Runtime

EUROS = {Repair.TYRE: 15, Repair.BRAKES: 30, Repair.GEARS: 45}


class Workshop(exports.Workshop):
    @function(
        input={
            "message": {
                "description": "What the customer wrote.",
                "placeholder": "My front tyre is flat. When can I come?",
                "multiline": True,
            }
        }
    )
    def handle_message(self, message: str, runtime: Runtime) -> str:
        """Handle a message of a customer: look up a price where one is needed, then book or reply."""
        # The model works with the tool first and answers in words.
        request = Request()
        request.add_text(f"A customer of the workshop wrote:\n\n{message}")
        request.set_tools(["tell-price"])
        reply = runtime.exec(request)

        # Then it picks an option of the menu, and the result of that option is the result of the
        # function: the pick is the branch.
        menu = Menu()
        menu.add_function("book", "book-repair", None)
        menu.add_schema("reply", json.dumps({"text": "The answer."}), "Answer a question.")
        menu.add_value("ignore", json.dumps("IGNORED"), "Not meant for a workshop.")
        menu.set_context(json.dumps({"message": message}))
        found = f"This was found out:\n\n{reply.text()}\n\nWhat is to be done?"
        return make(found, menu)

    @function(
        input={
            "repair": {"description": "What is broken."},
            "days": {"description": "Within how many days it is needed, if that was said."},
        }
    )
    def tell_price(self, repair: Repair, days: int | None) -> Price:
        """Tell what a repair costs."""
        is_express = days is not None and days < 2
        return Price(EUROS[repair] + (10 if is_express else 0), is_express)

    @function(
        input={
            "repair": {"description": "What is broken."},
            # Filled by `handle_message` and never by a model.
            "message": {"description": "The message itself.", "hidden": True},
        }
    )
    def book_repair(self, repair: Repair, message: str) -> Booking:
        """Book a repair. Pick this when the customer wants to come."""
        return Booking(repair, message)


Metadata = metadata_of(Workshop)
