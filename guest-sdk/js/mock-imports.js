// Lets tests run without a host: `node --import ./sdk/mock-imports.js --test` takes every import from
// `openprogram:agentic/…` out of `mocks/host.js` of the project.
import { register } from 'node:module';

const mocks = new URL('../mocks/host.js', import.meta.url).href;
const hooks = `
  export function resolve(specifier, context, next) {
    return specifier.startsWith('openprogram:')
      ? { url: ${JSON.stringify(mocks)}, shortCircuit: true }
      : next(specifier, context);
  }
`;
register(`data:text/javascript,${encodeURIComponent(hooks)}`);
