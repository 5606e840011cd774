import { writeFileSync } from 'node:fs'
import { readOptions } from '../../scripts/read-options.ts'
import { DOCS, readFigures } from './figures.ts'
import { measureRequests } from './measure.ts'
import { drawPage } from './page.ts'
import { simulate } from './simulate.ts'

/**
 * Writes docs/capacity.md from the comparison with tusd, the CPU time of tokens and webhooks, and a simulation of large
 * databases; with `--measure` or `--simulate`, these are measured again first.
 */
const { values } = readOptions('npm run bench -- capacity [--measure] [--simulate]', {
  options: { measure: { type: 'boolean', default: false }, simulate: { type: 'boolean', default: false } },
})
if (values.measure) await measureRequests(new URL('capacity-measured.json', DOCS))
if (values.simulate) await simulate(new URL('capacity-simulated.json', DOCS))
writeFileSync(new URL('capacity.md', DOCS), drawPage(readFigures()))
