// What authors of functions in JavaScript use beside the bindings of the WIT: it tells the host what
// a signature cannot say. Functions are described where they are written, once.

/** What was said of each function. */
const said = new WeakMap();

/**
 * Describes a function of the component and gives it back.
 *
 * @param {object} about `description` (the first paragraph is what models read) and `parameters`, an
 *   object from the name of a parameter to its attributes, for example `{ description, hidden: true }`.
 *   Everything else is an attribute of the function, for example `readOnly: true`. Which attributes
 *   there are stands in `metadata.wit`; `renderRange` is `render_range` there.
 * @param {Function} run the function
 * @returns {Function} the same function
 */
export function describe(about, run) {
  if (typeof run !== 'function') {
    throw new TypeError('describe(about, run): `run` must be a function');
  }
  said.set(run, about);
  return run;
}

/**
 * Makes the export `metadata` of a component.
 *
 * @param {object} interfaces the exported interfaces by their names, as in `metadataOf({ workshop })`;
 *   functions that the world itself exports stand under the name ''.
 * @returns {{ describe: Function }} the interface `metadata`
 */
export function metadataOf(interfaces) {
  const functions = Object.entries(interfaces).flatMap(([owner, exported]) =>
    Object.entries(exported)
      .filter(([, run]) => said.has(run))
      .map(([name, run]) => functionOf(owner, name, said.get(run))),
  );
  // Types are described in the WIT, whose doc comments `openprogram build` adds to the component.
  return { describe: () => ({ functions, types: [] }) };
}

function functionOf(owner, name, about) {
  const { description = '', parameters = {}, ...rest } = about;
  return {
    interface: kebab(owner),
    name: kebab(name),
    description,
    parameters: Object.entries(parameters).map(([parameter, attributes]) => ({
      name: kebab(parameter),
      attributes: attributesOf(attributes),
    })),
    attributes: attributesOf(rest),
  };
}

/** Each attribute is a key and a JSON text; what is undefined is not said. */
function attributesOf(said) {
  return Object.entries(said)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ({
      key: kebab(key).replaceAll('-', '_'),
      value: JSON.stringify(value),
    }));
}

/** The name in WIT of what is written in camel case here. */
function kebab(name) {
  return name.replace(/[A-Z]/g, (letter, at) => (at > 0 ? '-' : '') + letter.toLowerCase());
}
