// What the host is in tests: everything that the source imports from `openprogram:agentic`.
// A test sets what the model would do, and looks at what it was asked.

/** What was asked since `start`, in order. */
export const asked = [];
let picks;

/** Forgets what was asked; `pick` is called with the menu of each decision and gives its result. */
export function start(pick) {
  asked.length = 0;
  picks = pick;
}

/** Lent to the functions that declare a runtime. */
export const runtime = {
  exec(request) {
    asked.push(request);
    return { text: () => 'A tyre is 15 euros.' };
  },
};

export class Request {
  text = '';
  addText(text) {
    this.text += text;
  }
  setTools(tools) {
    this.tools = tools;
  }
}

export class Menu {
  options = {};
  addFunction(name, run) {
    this.options[name] = run;
  }
  addSchema(name, schema) {
    this.options[name] = JSON.parse(schema);
  }
  addValue(name, value) {
    this.options[name] = JSON.parse(value);
  }
  setContext(context) {
    this.context = JSON.parse(context);
  }
}

export function make(prompt, menu) {
  asked.push({ prompt, menu });
  return JSON.stringify(picks(menu));
}
