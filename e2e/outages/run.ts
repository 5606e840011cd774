import { createHash, randomFillSync } from 'node:crypto'
import { once } from 'node:events'
import { createReadStream, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildIfNeeded } from '../../scripts/build.ts'
import { openCustomer, revokeNewest } from '../../test/support/customer.ts'
import { startSluice, temporaryFolder } from '../../test/support/sluice.ts'

/**
 * Uploads 200 MB through five real-time outages of one minute each, with the Embed page's code in a real browser.
 * Nothing is clicked after the start. `npm test -- --all` does the same with the browser's clock moved forward.
 */
const FILE_BYTES = 200_000_000
const PASS_BYTES = 30_000_000
const OUTAGE_MS = 60_000
const OUTAGES = ['offline', 'server away', 'token endpoint failing', 'asleep for an hour', 'token revoked']

await buildIfNeeded()
using folder = temporaryFolder()
const sluice = await startSluice({ DATA_DIR: folder.path, LOG_LEVEL: 'warn' })
const demo = JSON.parse(readFileSync(join(folder.path, 'demo.json'), 'utf8'))
const customer = await openCustomer(demo)
const { page, line, backend } = customer
const issue = backend.post
const source = join(folder.path, 'two-hundred.bin')
writeFileSync(source, randomFillSync(Buffer.alloc(FILE_BYTES)))

try {
  let held = line.holdAfter(PASS_BYTES)
  await page.locator('.uppy-Dashboard-input').first().setInputFiles(source)
  await page.getByRole('button', { name: 'Upload 1 file' }).click()
  await held
  for (const outage of OUTAGES) {
    held = line.holdAfter(PASS_BYTES)
    await revokeNewest(demo, customer.pipeId)
    await setOut(outage, true)
    line.cut()
    if (outage !== 'token revoked') await sleep(OUTAGE_MS)
    await setOut(outage, false)
    const back = performance.now()
    await held
    say(
      `${outage}: another 30 MB were sent ${((performance.now() - back) / 1000).toFixed(1)} s after it ended`,
    )
  }
  line.flow()
  line.cut()
  await page.getByText('Complete', { exact: true }).waitFor({ timeout: OUTAGE_MS })
  const [object] = globSync(join(demo.bucket.directory, '**/two-hundred.bin'))
  const equal = object !== undefined && (await sha256(object)) === (await sha256(source))
  say(`${FILE_BYTES} bytes: the object is ${equal ? 'equal to' : 'DIFFERENT from'} the file`)
  process.exitCode = equal ? 0 : 1
} finally {
  await customer.close()
  await sluice.stop()
}

async function setOut(outage: string, out: boolean): Promise<void> {
  if (outage === 'offline') await page.context().setOffline(out)
  if (outage === 'server away' || outage === 'asleep for an hour') line.setAway(out)
  if (outage === 'asleep for an hour' && out) await page.clock.fastForward('01:00:00')
  if (outage === 'token endpoint failing')
    backend.post = out ? async () => Response.json({ detail: 'Down.' }, { status: 500 }) : issue
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256')
  const bytes = createReadStream(path).on('data', (chunk) => hash.update(chunk))
  await once(bytes, 'close')
  return hash.digest('hex')
}

function say(line: string): void {
  process.stdout.write(`${line}\n`)
}
