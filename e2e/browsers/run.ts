import { buildIfNeeded } from '../../scripts/build.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'
import { readDemo } from '../../test/support/target.ts'
import { openFirefox } from './firefox.ts'
import { travel } from './journey.ts'
import { openWebKit } from './webkit.ts'

/**
 * `npm run drill -- browsers`: runs a new user's journey in this machine's Firefox and WebKitGTK. `npm test` covers
 * Chromium.
 */
const BROWSERS = [
  { name: 'Firefox', open: openFirefox, packages: 'firefox-esr' },
  { name: 'WebKitGTK', open: openWebKit, packages: 'webkit2gtk-driver and xvfb' },
]

const usage = 'npm run drill -- browsers [--only <name>]'
const { only } = readOptions(usage, { options: { only: { type: 'string' } } }).values
await buildIfNeeded()
for (const { name, open, packages } of BROWSERS.filter(({ name }) => !only || name === only)) {
  const visitor = await open()
  if (!visitor) {
    console.log(`${name}: skipped, since it is not installed (on Debian: ${packages}).`)
    continue
  }
  using folder = temporaryFolder()
  const sluice = await startSluice({ DATA_DIR: folder.path, LOG_LEVEL: 'warn' })
  try {
    const faults = await travel(visitor, readDemo(folder.path))
    console.log(faults.length === 0 ? `${name}: no problems` : `${name}:\n  ${faults.join('\n  ')}`)
    if (faults.length > 0) process.exitCode = 1
  } finally {
    await visitor.close()
    await sluice.stop()
  }
}
