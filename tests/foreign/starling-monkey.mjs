// Makes a component with StarlingMonkey inside, without WASI: node THIS TOOLCHAIN OUT
import { readFileSync, writeFileSync } from 'node:fs';

const [, , toolchain, out] = process.argv;
const { componentize } = await import(toolchain);
const { component } = await componentize(readFileSync('planner.js', 'utf8'), {
  witPath: 'planner.wit',
  worldName: 'planner',
  disableFeatures: ['stdio', 'random', 'clocks', 'http', 'fetch-event'],
});
writeFileSync(out, component);
