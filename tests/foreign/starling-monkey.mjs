// Makes a component with StarlingMonkey inside, without WASI: node THIS TOOLCHAIN WORLD OUT
import { readFileSync, writeFileSync } from 'node:fs';

const [, , toolchain, world, out] = process.argv;
const { componentize } = await import(toolchain);
const { component } = await componentize(readFileSync(`${world}.js`, 'utf8'), {
  witPath: 'wit',
  worldName: world,
  disableFeatures: ['stdio', 'random', 'clocks', 'http', 'fetch-event'],
});
writeFileSync(out, component);
