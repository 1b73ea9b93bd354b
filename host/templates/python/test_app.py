"""Tests of the functions without a host; run them with `python3 -m unittest`."""

import unittest
from unittest.mock import create_autospec, patch

import app
from wit_world.exports.workshop import Price, Repair
from wit_world.imports import decision, runtime


class WorkshopTest(unittest.TestCase):
    def setUp(self):
        self.workshop = app.Workshop()

    def test_less_than_two_days_cost_more(self):
        self.assertEqual(self.workshop.tell_price(Repair.TYRE, None), Price(15, False))
        self.assertEqual(self.workshop.tell_price(Repair.TYRE, 1), Price(25, True))

    # What the host would do, with the signatures of the WIT.
    @patch("app.make", autospec=True, return_value='"IGNORED"')
    @patch("app.Menu", return_value=create_autospec(decision.Menu, instance=True))
    @patch("app.Request", return_value=create_autospec(runtime.Request, instance=True))
    def test_a_message_ends_in_the_option_that_the_model_picks(self, request, menu, make):
        lent = create_autospec(runtime.Runtime, instance=True)
        lent.exec.return_value.text.return_value = "A tyre is 15 euros."
        result = self.workshop.handle_message("My front tyre is flat.", lent)
        self.assertEqual(result, '"IGNORED"')

        (said,) = request.return_value.add_text.call_args.args
        self.assertIn("My front tyre is flat.", said)
        request.return_value.set_tools.assert_called_once_with(["tell-price"])
        lent.exec.assert_called_once_with(request.return_value)
        menu.return_value.add_function.assert_called_once_with("book", "book-repair", None)
        (prompt, used) = make.call_args.args
        self.assertIn("15 euros", prompt)
        self.assertIs(used, menu.return_value)

    def test_every_function_is_described(self):
        described = app.Metadata().describe().functions
        names = [about.name for about in described]
        self.assertEqual(names, ["handle-message", "tell-price", "book-repair"])


if __name__ == "__main__":
    unittest.main()
