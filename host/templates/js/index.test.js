// Tests of the functions without a host; run them with `npm test`.

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { asked, runtime, start } from '../mocks/host.js';
import { metadata, workshop } from '../src/index.js';

test('less than two days cost more', () => {
  assert.deepEqual(workshop.tellPrice('tyre', undefined), { euros: 15, isExpress: false });
  assert.deepEqual(workshop.tellPrice('tyre', 1), { euros: 25, isExpress: true });
});

test('a message ends in the option that the model picks', () => {
  start((menu) => menu.options.ignore);
  const result = workshop.handleMessage('My front tyre is flat.', runtime);
  assert.equal(result, '"IGNORED"');

  const [turn, decision] = asked;
  assert.match(turn.text, /My front tyre is flat\./);
  assert.deepEqual(turn.tools, ['tell-price']);
  assert.match(decision.prompt, /15 euros/);
  assert.deepEqual(Object.keys(decision.menu.options), ['book', 'reply', 'ignore']);
  assert.deepEqual(decision.menu.context, { message: 'My front tyre is flat.' });
});

test('every function is described', () => {
  const described = metadata.describe().functions.map((about) => about.name);
  assert.deepEqual(described, ['handle-message', 'tell-price', 'book-repair']);
});
