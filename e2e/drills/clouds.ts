import { createHash, randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { openBucket } from '#lib/buckets/open-bucket.ts'
import { capabilitiesOf } from '#lib/buckets/providers.ts'
import { rows } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { createGuardedAgents } from '#lib/platform/net/guarded-agents.ts'
import { requestRepair } from '#lib/repairs/request-repair.ts'
import { checkDataStore } from '#lib/workspace/data-stores/check-data-store.ts'
import { createDataStore } from '#lib/workspace/data-stores/create-data-store.ts'
import { dataStoreInput } from '#lib/workspace/data-stores/data-store.ts'
import { saveDestinations } from '#lib/workspace/pipes/destinations.ts'
import { sendWithCli } from '../../bench/lanes/command-line-tool.ts'
import { makeSas } from '../../test/support/azure-signatures.ts'
import { startGoogleCloud } from '../../test/support/google-cloud.ts'
import { type GivenAzure, type GivenS3, namedAzure, namedS3 } from '../../test/support/named-clouds.ts'
import { createDatabase, startPostgres } from '../../test/support/postgres.ts'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { createSite } from '../../test/support/upload-site.ts'
import { type Moment, openCloudLine } from './cloud-line.ts'
import { openNodes } from './nodes.ts'
import { makeSources } from './stage.ts'
import { uploadByTusJs } from './upload-by.ts'

/**
 * `npm run drill -- clouds`: files that go to S3, Azure and Google at once, on the servers named in
 * test/support/named-clouds.ts; Google's is the tests' own. Connections to two nodes and to each cloud are cut, nodes are
 * killed at each step of an upload to each cloud, and a cloud that was unreachable gets its copy from another one. What
 * each cloud returns must equal the source, and no object may be made twice with different bytes. Credentials may only
 * put objects, unless copies are read with them. The named servers must be reachable by plain HTTP.
 */
const MiB = 1024 * 1024
const SIZES = [0, 1, 5 * MiB, 8 * MiB + 1, 64 * MiB]
const ODD_CHUNK_BYTES = 3_333_333
const CONNECTIONS = 5
const CUTS = 4
const MOST_SENT = 1.1
const DONE_MS = 180_000
const KILLS = [
  ['in the middle of a part', 'part', 'half'],
  ['before the object is made of its parts', 'end', 'before'],
  ['after the object was made of its parts', 'end', 'after'],
  ['after the object was stored at once', 'put', 'after'],
] as const
const REPAIRS = [
  ['S3', 'Azure'],
  ['Azure', 'S3'],
  ['Google', 'Azure'],
] as const
type Sources = ReadonlyMap<string, Buffer>
type Cloud = Awaited<ReturnType<typeof openCloud>>

using folder = temporaryFolder()
const postgres = await startPostgres()
const { url, drop } = await createDatabase(postgres.url)
const database = openPostgres({ address: url, maxConnections: 4 })
await migrate(database.db)
/** Its bucket is Google's. */
const site = await createSite(database, {
  bucket: { actions: ['s3:PutObject', 's3:GetObject'], rules: ['no-overwrite'] },
})
const { runtime, actor, clock, bucket } = site
let isOk = true

function say(isWell: boolean, text: string): void {
  isOk &&= isWell
  console.log(`${isWell ? 'ok  ' : 'FAIL'}  ${text}`)
}

/** Connects a Data Store that may only put objects, and one that may read them, through a line. */
async function openCloud(
  name: string,
  endpoint: string,
  place: object,
  keys: object[],
  read: (key: string, bytes: number) => Promise<Buffer>,
) {
  const line = await openCloudLine(endpoint)
  const connect = async (credentials: object) => {
    const path = new URL(endpoint).pathname
    const fields = { ...place, ...credentials, name, endpoint: line.url + path, forcePathStyle: true }
    const { id } = await createDataStore(runtime, actor, parseInput(dataStoreInput, fields))
    const { ok, operations } = (await checkDataStore(runtime, actor, id)).check!
    const names = (are: boolean) => operations.filter((one) => one.ok === are).map((one) => one.name)
    say(ok, `${name} allows ${names(true).join(', ')}; not allowed: ${names(false).join(', ') || 'nothing'}`)
    return id
  }
  const [put, readable] = await Promise.all(keys.map(connect))
  return { name, line, put: put!, readable: readable!, read }
}

/** Reads objects past the line. */
function readerOf({ provider, endpoint, region, bucket: name, keys }: GivenS3 | GivenAzure) {
  const place = { endpoint, region, bucket: name, capabilities: capabilitiesOf(provider, null) }
  const rest = { forcePathStyle: true, storageClass: null, encryption: null, mayRead: true }
  const deps = { clock, agents: createGuardedAgents(['*']), retryDelaysMs: [] }
  const opened = openBucket({ ...place, ...rest }, keys, deps)
  return async (key: string, bytes: number) => {
    const head = await opened.headObject(key)
    if (head?.bytes !== bytes) throw new Error(`${key} has ${head?.bytes} bytes instead of ${bytes}`)
    return bytes ? opened.readRange(key, 0, bytes) : Buffer.of()
  }
}

function openS3(named: GivenS3): Promise<Cloud> {
  const { provider, endpoint, region, bucket, keys, putOnlyKeys } = named
  return openCloud('S3', endpoint, { provider, region, bucket }, [putOnlyKeys, keys], readerOf(named))
}

function openAzure(named: GivenAzure): Promise<Cloud> {
  const { provider, endpoint, bucket, keys } = named
  const account = new URL(endpoint).pathname.slice(1)
  const where = { account, container: bucket, key: keys.storageAccountKey }
  const sas = ['cw', 'rcw'].map((permissions) => ({ sasToken: makeSas({ permissions, ...where }) }))
  return openCloud('Azure', endpoint, { provider, bucket }, sas, readerOf(named))
}

async function openGoogle(): Promise<Cloud> {
  const { endpoint, keyFile } = await startGoogleCloud(clock, bucket)
  const key = { serviceAccountKey: keyFile }
  const place = { provider: 'gcs', bucket: bucket.name }
  return openCloud('Google', endpoint, place, [key, key], (name) => bucket.object(name))
}

const sendTo = (...destinations: { dataStoreId: string; required: boolean }[]) =>
  database.db.transaction((tx) => saveDestinations(tx, actor, site.pipe.id, destinations))

/** Waits until the files are transferred, and compares what the clouds have of them. */
async function expectEqual(what: string, sources: Sources, at: Cloud[], isWell = true): Promise<void> {
  let equal = 0
  const made = at.map(() => 0)
  for (const [name, source] of sources) {
    const destinations = await ended(name, 'transferred')
    for (const [position, { id, key }] of destinations.entries()) {
      const { read, line } = at[position]!
      equal += digest(await read(key, source.length)) === digest(source) ? 1 : 0
      made[position]! += [...line.made].filter((object) => object.includes(id)).length
    }
  }
  const isOnce = made.every((times) => times === sources.size)
  say(isWell && isOnce && equal === sources.size * at.length, `${what}: ${equal} equal, made ${made}`)
}

const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

async function ended(name: string, status: string) {
  for (const deadline = Date.now() + DONE_MS; ; await sleep(100)) {
    const found = await rows<{ id: string; status: string; key: string }>(
      database.db,
      sql`select f.id, f.status, d.key from files f join file_destinations d on d.file_id = f.id
        where f.filename = ${name} order by d.position`,
    )
    if (found.length > 0 && found.every((one) => one.status === status)) return found
    if (Date.now() > deadline) throw new Error(`${name} is ${found[0]?.status}, not ${status}`)
  }
}

const s3 = namedS3 && (await openS3(namedS3))
if (!s3) console.log('skipped: S3, because S3_TEST_ENDPOINT is not set')
const azure = namedAzure?.keys.storageAccountKey ? await openAzure(namedAzure) : undefined
if (!azure) console.log('skipped: Azure, because AZURE_TEST_ENDPOINT or AZURE_TEST_KEY is not set')
const clouds = [s3, azure, await openGoogle()].filter((cloud) => cloud !== undefined)
const nodes = await openNodes(url, { ROLES: 'upload,worker', DATA_DIR: folder.path })
const stage = { site, uploadUrl: `${nodes.line.url}/pipes/${site.pipe.id}/files/` }

async function exactness(): Promise<void> {
  const sized = () => new Map(SIZES.flatMap((bytes) => [...makeSources(1, bytes)]))
  for (const [way, chunkBytes] of [['one request'], ['odd chunks', ODD_CHUNK_BYTES]] as const) {
    const sources = sized()
    await uploadByTusJs(stage, sources, chunkBytes)
    await expectEqual(way, sources, clouds)
  }
  const sources = sized()
  for (const [name, bytes] of sources) await sendByLanes(name, bytes)
  await expectEqual(`${CONNECTIONS} lanes`, sources, clouds)
  const small = new Map(Array.from({ length: 20 }, () => [...makeSources(1, randomInt(65_536))][0]!))
  await uploadByTusJs(stage, small)
  await expectEqual('20 small files at once', small, clouds)
}

async function sendByLanes(name: string, bytes: Buffer): Promise<void> {
  const path = join(folder.path, name)
  writeFileSync(path, bytes)
  const token = { token: await site.token(), uploadUrl: stage.uploadUrl, expiresAt: '2100-01-01T00:00:00Z' }
  const sending = { pipeId: site.pipe.id, senderToken: site.sender.token, configFolder: folder.path }
  await sendWithCli({ ...sending, token, path }, CONNECTIONS)
}

/** Every second part is cut on its way to each cloud, and clients' connections are cut meanwhile. */
async function cuts(): Promise<void> {
  const bytes = SIZES.at(-1)!
  const sources = makeSources(1, bytes)
  const storedBefore = clouds.map(({ line }) => line.storedBytes)
  for (const { line } of clouds) line.moments = Array.from({ length: CUTS }, () => [PASS, CUT]).flat()
  nodes.line.passedBytes = 0
  const uploading = uploadByTusJs(stage, sources)
  for (let cut = 1; cut <= CUTS; cut++) {
    while (nodes.line.passedBytes < (bytes * cut) / (CUTS + 1)) await sleep(20)
    nodes.line.cut()
  }
  await uploading
  const sent = nodes.line.passedBytes / bytes
  const stored = clouds.map(({ line }, at) => (line.storedBytes - storedBefore[at]!) / bytes)
  const isWell = sent <= MOST_SENT && stored.every((share) => share === 1)
  const left = clouds.map(({ line }) => line.moments.length)
  const shares = `${percent(sent)} sent by the client, ${stored.map(percent).join(', ')} to the clouds`
  await expectEqual(`${CUTS} cuts on each side, ${left} left: ${shares}`, sources, clouds, isWell)
}

const PASS: Moment = { operation: 'part', at: 'half', act() {} }
const CUT: Moment = { ...PASS, act: ({ socket }) => socket.resetAndDestroy() }
const percent = (share: number) => `${(share * 100).toFixed(1)} %`

async function kill(cloud: Cloud, [when, operation, at]: (typeof KILLS)[number]): Promise<void> {
  const bytes = operation === 'put' ? MiB : 25 * MiB
  const sources = makeSources(1, bytes)
  cloud.line.moments = [...(operation === 'part' ? [PASS] : []), { operation, at, act: nodes.kill }]
  nodes.line.passedBytes = 0
  await uploadByTusJs(stage, sources)
  const isKilled = cloud.line.moments.length === 0
  const what = `killed ${when} at ${cloud.name}: ${percent(nodes.line.passedBytes / bytes)} sent`
  await expectEqual(what, sources, clouds, isKilled)
}

async function repair(from: Cloud, to: Cloud): Promise<void> {
  await sendTo({ dataStoreId: from.readable, required: true }, { dataStoreId: to.readable, required: false })
  const sources = makeSources(1, 25 * MiB)
  to.line.isAway = true
  await uploadByTusJs(stage, sources)
  const [file] = await ended([...sources.keys()][0]!, 'partially_transferred')
  to.line.isAway = false
  await requestRepair(runtime, actor, { fileId: file!.id, dataStoreId: to.readable })
  await expectEqual(`repaired from ${from.name} to ${to.name}`, sources, [from, to])
}

await sendTo(...clouds.map(({ put }) => ({ dataStoreId: put, required: true })))
await exactness()
await cuts()
for (const cloud of clouds) for (const moment of KILLS) await kill(cloud, moment)
for (const names of REPAIRS) {
  const [from, to] = names.map((name) => clouds.find((cloud) => cloud.name === name))
  if (from && to) await repair(from, to)
}
await nodes.close()
await site.close()
await database.close()
await drop()
await postgres.stop()
process.exit(isOk ? 0 : 1)
