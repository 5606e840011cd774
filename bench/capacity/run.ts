import { writeFileSync } from 'node:fs'
import { readOptions } from '../../scripts/read-options.ts'
import { DOCS, readFigures } from './figures.ts'
import { drawPage } from './page.ts'
import { simulate } from './simulate.ts'

/**
 * Writes docs/capacity.md from the measurements of the benchmarks and the simulation; with `--simulate`, the
 * simulation runs again first.
 */
const { values } = readOptions('npm run bench -- capacity [--simulate]', {
  options: { simulate: { type: 'boolean', default: false } },
})
if (values.simulate) await simulate(new URL('capacity-simulated.json', DOCS))
writeFileSync(new URL('capacity.md', DOCS), drawPage(readFigures()))
