import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { sql } from 'drizzle-orm'
import { decideOnFile } from '#lib/dashboard/files/act-on-files.ts'
import { saveHook } from '#lib/hooks/pipe-hooks.ts'
import { rows } from '#lib/platform/db/database.ts'
import { migrate } from '#lib/platform/db/migrate.ts'
import { openPostgres } from '#lib/platform/db/open-postgres.ts'
import { readOptions } from '../../scripts/read-options.ts'
import { type Decider, openDecider } from '../../test/support/decider.ts'
import { createDatabase, freePort, startPostgres } from '../../test/support/postgres.ts'
import { type Random, randomOf } from '../../test/support/random.ts'
import { fileIdOf, metadata, type TusClient, tusClient } from '../../test/support/tus-client.ts'
import { createSite, type Site } from '../../test/support/upload-site.ts'

/**
 * `npm run drill -- decisions`: uploads small files to two nodes, one of which is killed every few seconds, while the
 * receiver of both hooks fails, hangs, or gives contradictory answers, and while decisions arrive through the API
 * before its own. One decision must be stored for each file and hook. Clients must get exactly that decision, and an
 * object may only exist if it was allowed.
 */
const REASON = 'Not this one.'
const LEASES = { leaseMs: 1500, renewMs: 300, marginMs: 300, turnMs: 300 }
const AGAIN_MS = 100

async function startNode(databaseUrl: string, port: number): Promise<ChildProcess> {
  const options = JSON.stringify({ databaseUrl, port, terms: LEASES })
  const child = spawn(process.execPath, ['test/support/upload-node.ts', options], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  for await (const line of createInterface({ input: child.stdout! })) if (line.startsWith('ready ')) break
  child.stdout!.resume()
  return child
}

/** Kills one node after another, and restarts it on its port, until stopped. */
async function killInTurn(databaseUrl: string, ports: number[], nodes: ChildProcess[], everyMs: number) {
  const state = { kills: 0, isOver: false }
  const killing = (async () => {
    for (let at = 0; !state.isOver; at = 1 - at) {
      await sleep(everyMs)
      nodes[at]!.kill('SIGKILL')
      await once(nodes[at]!, 'exit')
      state.kills += 1
      nodes[at] = await startNode(databaseUrl, ports[at]!)
    }
  })()
  return async () => {
    state.isOver = true
    await killing
    return state.kills
  }
}

/** Decides at random, even for the same file: nothing may rely on getting the same answer twice. */
function misbehave(decider: Decider, site: Site, random: Random): void {
  decider.answer = async ({ hook, data }, res) => {
    const decision = random.chance(0.15) ? { allow: false, reason: REASON } : { allow: true, result: 1 }
    if (random.chance(0.08)) return void res.writeHead(500).end()
    if (random.chance(0.03)) return void res.end('{"allow":')
    if (random.chance(0.03)) return undefined
    if (hook === 'before_create') return { allow: decision.allow }
    if (random.chance(0.04)) {
      const opposite = { allow: !decision.allow, ...(decision.allow && { reason: REASON }) }
      await decideOnFile(site.runtime, site.actor, data.file_id as string, opposite).catch(() => {})
    }
    return decision
  }
}

type Told = { url: string | undefined; outcome: 'allowed' | 'rejected' | 'refused' }

/** Acts like common clients: continues at the reported offset, on whichever node responds. */
async function send(clients: TusClient[], name: string, whole: Buffer): Promise<Told> {
  let path: string | undefined
  for (let turn = 0; ; turn += 1) {
    const client = clients[turn % clients.length]!
    try {
      if (!path) {
        const made = await client.create(whole.length, { 'Upload-Metadata': metadata({ filename: name }) })
        if (made.status === 403) return { url: undefined, outcome: 'refused' }
        if (made.status === 201) path = fileIdOf(made.headers.location!)
      }
      const outcome = path && (await goOn(client, client.collection + path, whole))
      if (outcome) return { url: path, outcome }
    } catch {
      // The node was killed.
    }
    await sleep(AGAIN_MS)
  }
}

async function goOn(client: TusClient, url: string, whole: Buffer): Promise<Told['outcome'] | undefined> {
  const head = await client.head(url)
  if (head.status !== 200) return undefined
  const offset = Number(head.headers['upload-offset'])
  if (offset === whole.length) return 'allowed'
  const last = await client.patch(url, offset, whole.subarray(offset))
  if (last.status === 403) return 'rejected'
  const isWhole = last.headers['upload-offset'] === String(whole.length)
  return last.status === 204 && isWhole ? 'allowed' : undefined
}

type Found = {
  id: string
  name: string
  status: string
  created: string[]
  completed: string[]
  events: number
}

const readFiles = (site: Site) =>
  rows<Found>(
    site.runtime.db,
    sql`select f.id, f.filename as name, f.status,
      (select coalesce(json_agg(state), '[]') from file_decisions d where d.file_id = f.id and hook = 'before_create') as created,
      (select coalesce(json_agg(state), '[]') from file_decisions d where d.file_id = f.id and hook = 'before_complete') as completed,
      (select count(*)::int from events e where e.file_id = f.id) as events from files f`,
  )

/** Returns the files whose reported outcome, stored decisions and object do not match. */
async function judge(site: Site, told: readonly Told[]): Promise<string[]> {
  const files = new Map((await readFiles(site)).map((file) => [file.id, file]))
  const objects = new Set(await site.bucket.objects())
  return told.flatMap(({ url: id, outcome }) => {
    if (!id) return []
    const file = files.get(id)
    const expected = outcome === 'allowed' ? 'transferred' : 'failed'
    const isRight =
      file?.status === expected &&
      file.created.join() === 'allowed' &&
      file.completed.join() === outcome &&
      file.events === 1 &&
      objects.has(`${id}/${file.name}`) === (outcome === 'allowed')
    return isRight ? [] : [`${id} was reported as ${outcome}: ${JSON.stringify(file)}`]
  })
}

async function main(): Promise<boolean> {
  const { values } = readOptions(
    'npm run drill -- decisions [--files 5000] [--seed <name>] [--kill-every <seconds>]',
    {
      options: {
        files: { type: 'string', default: '5000' },
        seed: { type: 'string', default: 'decisions' },
        'kill-every': { type: 'string', default: '5' },
      },
    },
  )
  const random = randomOf(values.seed)
  const postgres = await startPostgres()
  const { url: databaseUrl, drop } = await createDatabase(postgres.url)
  const database = openPostgres({ address: databaseUrl, maxConnections: 8 })
  await migrate(database.db)
  const site = await createSite(database)
  const decider = await openDecider()
  misbehave(decider, site, random)
  for (const hook of ['before_create', 'before_complete'] as const)
    await saveHook(
      site.runtime,
      site.actor,
      { pipeId: site.pipe.id, hook },
      { url: decider.url, enabled: true, timeoutSeconds: 1, withoutAnswer: 'refuse' },
    )
  const ports = [await freePort(), await freePort()]
  const nodes = await Promise.all(ports.map((port) => startNode(databaseUrl, port)))
  const token = await site.token()
  const clients = ports.map((port) =>
    tusClient({ url: `http://127.0.0.1:${port}`, pipeId: site.pipe.id, token }),
  )
  const stopKilling = await killInTurn(databaseUrl, ports, nodes, Number(values['kill-every']) * 1000)
  const left = Array.from({ length: Number(values.files) }, (_, n) => `file-${n}`)
  const told: Told[] = []
  const worker = async () => {
    for (let name = left.pop(); name; name = left.pop()) {
      told.push(await send(clients, name, random.fork(name).bytes(1 + random.whole(0, 4095))))
      if (told.length % 500 === 0) console.log(`${told.length} files have an outcome`)
    }
  }
  await Promise.all(Array.from({ length: 32 }, worker))
  const kills = await stopKilling()
  // An object that was reported to its client may still be in flight.
  const faultsBy = Date.now() + 60_000
  let faults = await judge(site, told)
  while (faults.length > 0 && Date.now() < faultsBy) {
    await sleep(1000)
    faults = await judge(site, told)
  }
  const count = (outcome: Told['outcome']) => told.filter((one) => one.outcome === outcome).length
  for (const fault of faults.slice(0, 20)) console.log(`FAIL  ${fault}`)
  console.log(
    `${faults.length === 0 ? 'ok  ' : 'FAIL'}  ${told.length} files, ${kills} kills, ${decider.asked.length} hook requests: ${count('allowed')} allowed, ${count('rejected')} rejected, ${count('refused')} refused before they started; ${faults.length} faults`,
  )
  for (const node of nodes) node.kill('SIGKILL')
  await decider.close()
  await site.close()
  await database.close()
  await drop()
  await postgres.stop()
  return faults.length === 0
}

process.exit((await main()) ? 0 : 1)
