import { spawnSync } from 'node:child_process'
import { readOptions } from './read-options.ts'

/**
 * `npm run drill -- axe`: checks every page in each of its states against every rule, in both color modes, at widths of
 * 1280 and 360 pixels.
 */
readOptions('npm run drill -- axe', {})
const SPECS = ['pages', 'missing-pages', 'states', 'dialogs', 'resume', 'database-outage']
const { status } = spawnSync('playwright', ['test', ...SPECS.map((name) => `${name}.spec`)], {
  stdio: 'inherit',
  env: { ...process.env, AXE_THOROUGH: '1' },
})
process.exit(status ?? 1)
