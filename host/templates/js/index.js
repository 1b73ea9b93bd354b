// Functions of a bicycle workshop, to be replaced by your own.
//
// `wit/world.wit` says which functions there are, with the types of their parameters. Each of them is
// one here, in camel case: the model sees its name, the first paragraph of its description, and its
// parameters with their types and descriptions.

import { Menu, make } from 'openprogram:agentic/decision@0.1.0';
import { Request } from 'openprogram:agentic/runtime@0.1.0';
import { describe, metadataOf } from '../sdk/openprogram-guest.js';

const EUROS = { tyre: 15, brakes: 30, gears: 45 };

export const workshop = {
  handleMessage: describe(
    {
      description:
        'Handle a message of a customer: look up a price where one is needed, then book or reply.',
      parameters: {
        message: {
          description: 'What the customer wrote.',
          placeholder: 'My front tyre is flat. When can I come?',
          multiline: true,
        },
      },
    },
    (message, runtime) => {
      // The model works with the tool first and answers in words.
      const request = new Request();
      request.addText(`A customer of the workshop wrote:\n\n${message}`);
      request.setTools(['tell-price']);
      const reply = runtime.exec(request);

      // Then it picks an option of the menu, and the result of that option is the result of the
      // function: the pick is the branch.
      const menu = new Menu();
      menu.addFunction('book', 'book-repair', undefined);
      menu.addSchema('reply', JSON.stringify({ text: 'The answer.' }), 'Answer a question.');
      menu.addValue('ignore', JSON.stringify('IGNORED'), 'Not meant for a workshop.');
      menu.setContext(JSON.stringify({ message }));
      return make(`This was found out:\n\n${reply.text()}\n\nWhat is to be done?`, menu);
    },
  ),

  tellPrice: describe(
    {
      description: 'Tell what a repair costs.',
      parameters: {
        repair: { description: 'What is broken.' },
        days: { description: 'Within how many days it is needed, if that was said.' },
      },
    },
    (repair, days) => {
      const isExpress = days !== undefined && days < 2;
      return { euros: EUROS[repair] + (isExpress ? 10 : 0), isExpress };
    },
  ),

  bookRepair: describe(
    {
      description: 'Book a repair. Pick this when the customer wants to come.',
      parameters: {
        repair: { description: 'What is broken.' },
        // Filled by `handleMessage` and never by a model.
        message: { description: 'The message itself.', hidden: true },
      },
    },
    (repair, message) => ({ repair, message }),
  ),
};

export const metadata = metadataOf({ workshop });
