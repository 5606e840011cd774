import { createHash, randomBytes } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { sendWithCli } from '../../bench/lanes/command-line-tool.ts'
import { openPage } from '../../bench/lanes/page.ts'
import { readOptions } from '../../scripts/read-options.ts'
import type { RuleName } from '../../test/support/bucket-rules.ts'
import { createDatabase, startPostgres } from '../../test/support/postgres.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { createSite } from '../../test/support/upload-site.ts'
import { openNodes } from './nodes.ts'

/**
 * `npm run drill -- lanes`: sends a large file over several connections, once with the command-line tool and once from
 * a page in Chromium. All connections are cut five times, each of the two nodes is killed once, and the page is
 * reloaded. The object must equal the file, at most a tenth of the file may be sent again, and the bucket must refuse no
 * request. Its key may only put objects, and it follows the rules of AWS, of AWS directory buckets and of R2.
 */
const MiB = 1024 * 1024
const CONNECTIONS = 5
const MOST_SENT = 1.1
const RULES: RuleName[] = [
  'well-formed-media-types',
  'consecutive-part-numbers',
  'equal-parts',
  'one-write-a-second',
]
/** What happens, evenly spread over the file. */
const EVENTS = ['cut', 'kill', 'cut', 'cut', 'reload', 'cut', 'kill', 'cut'] as const

const { values } = readOptions('npm run drill -- lanes [--mib 1024]', {
  options: { mib: { type: 'string', default: '1024' } },
})
const fileBytes = Number(values.mib) * MiB

async function writeRandomFile(path: string): Promise<void> {
  const chunks = function* () {
    for (let written = 0; written < fileBytes; written += MiB) yield randomBytes(MiB)
  }
  await pipeline(Readable.from(chunks()), createWriteStream(path))
}

async function digestOf(bytes: Readable): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(bytes, hash)
  return hash.digest('hex')
}

using folder = temporaryFolder()
const path = join(folder.path, 'film.bin')
await writeRandomFile(path)
const digest = await digestOf(createReadStream(path))
const postgres = await startPostgres()
const { url, drop } = await createDatabase(postgres.url)
const database = openPostgres({ address: url, maxConnections: 4 })
await migrate(database.db)
const nodes = await openNodes(url)
const { line } = nodes
const page = await openPage(path)

async function disturb(reload?: () => Promise<void>): Promise<void> {
  const happen = { cut: line.cut, kill: nodes.kill, reload: reload ?? (() => {}) }
  for (const [at, event] of EVENTS.entries()) {
    while (line.passedBytes < (fileBytes * (at + 1)) / (EVENTS.length + 1)) await sleep(20)
    await happen[event]()
  }
}

async function round(way: 'command-line tool' | 'page'): Promise<boolean> {
  const site = await createSite(database, { bucket: { rules: RULES } })
  const refused: string[] = []
  site.bucket.traffic.listen(({ operation, status, code }) => {
    if (status !== undefined && status >= 400) refused.push(`${operation}: ${status} ${code}`)
  })
  const token = {
    token: await site.token({ expiresIn: 86_400 }),
    uploadUrl: `${line.url}/pipes/${site.pipe.id}/files/`,
    expiresAt: '2100-01-01T00:00:00.000Z',
  }
  const sending = {
    token,
    pipeId: site.pipe.id,
    senderToken: site.sender.token,
    path,
    configFolder: folder.path,
  }
  line.passedBytes = 0
  if (way === 'page') await page.send(token, CONNECTIONS, disturb)
  else await sendWithCli(sending, CONNECTIONS, disturb)
  const keys = await site.bucket.objects()
  const isEqual = keys.length === 1 && (await digestOf(site.bucket.readObject(keys[0]!))) === digest
  const share = line.passedBytes / fileBytes
  const isOk = isEqual && share <= MOST_SENT && refused.length === 0
  console.log(
    `${isOk ? 'ok  ' : 'FAIL'}  ${way}: ${isEqual ? 'equal' : 'DIFFERENT'}, ` +
      `${(share * 100).toFixed(1)} % of the bytes sent, ${refused.length} requests refused`,
  )
  for (const request of refused) console.log(`      ${request}`)
  await site.close()
  return isOk
}

const results = [await round('command-line tool'), await round('page')]
await page.close()
await nodes.close()
await database.close()
await drop()
await postgres.stop()
process.exit(results.every(Boolean) ? 0 : 1)
