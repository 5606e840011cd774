import { Socket } from 'node:net'
import { drizzle } from 'drizzle-orm/postgres-js'
import type postgres from 'postgres'
import * as schema from '#drizzle/schema/index.ts'
import type { DatabaseHandle } from '#lib/platform/db/database.ts'
import type { Gate } from './gate.ts'
import type { Host } from './scheduler.ts'
import { currentHost } from './simulated-time.ts'
import { statementOf, transactionOf } from './statements.ts'
import type { Transaction } from './transaction.ts'

/** What a node's PostgreSQL client is connected to. */
export type Line = {
  host: Host
  gate: Gate
  listen(channel: string, onMessage: (payload: string | null) => void): Promise<() => Promise<void>>
}

const ADDRESS = 'postgres://simulated'
type Body = (client: unknown) => Promise<unknown>

/** The database as a node has it: a postgres.js client whose statements wait at the gate. */
export function simulatedDatabase({ host, gate, listen }: Line): DatabaseHandle {
  const client = { options: { parsers: {}, serializers: {} }, ...clientOf({ host, gate }, undefined) }
  return {
    kind: 'postgres',
    address: ADDRESS,
    db: drizzle(client as unknown as postgres.Sql, { schema, casing: 'snake_case' }),
    direct: {
      address: ADDRESS,
      socket: () => new Socket(),
      isBesidePooler: false,
    },
    reach: async () => {},
    usePooler: async () => undefined,
    listen,
    close: async () => {},
  }
}

function clientOf(line: Pick<Line, 'host' | 'gate'>, transaction: Transaction | undefined) {
  const { host, gate } = line
  const unsafe = (text: string, parameters?: unknown[], options?: { prepare?: boolean }) => {
    const label = statementOf(callerInProduct())
    const run = (values: boolean) =>
      gate.run({ text, parameters, prepare: options?.prepare ?? false, values, host, label, transaction })
    return lazily(run)
  }
  return {
    unsafe,
    async begin(body: Body): Promise<unknown> {
      const label = transactionOf(callerInProduct())
      const begun = gate.begin(host)
      const work = async () => body(clientOf(line, begun))
      const result = await work().catch(async (error: unknown) => {
        await gate.end(begun, 'rollback', label)
        throw error
      })
      await gate.end(begun, 'commit', label)
      return result
    },
    async savepoint(body: Body): Promise<unknown> {
      await unsafe('savepoint here')
      try {
        return await body(clientOf(line, transaction))
      } catch (error) {
        await unsafe('rollback to savepoint here')
        throw error
      }
    },
  }
}

/** A postgres.js query starts when it is awaited. */
function lazily(run: (values: boolean) => Promise<unknown>) {
  let running: Promise<unknown> | undefined
  const begun = () => {
    running ??= run(false)
    return running
  }
  return {
    values: () => run(true),
    // biome-ignore lint/suspicious/noThenProperty: it stands in for a postgres.js query, which can be awaited
    then: (...on: Parameters<Promise<unknown>['then']>) => begun().then(...on),
    catch: (on: (error: unknown) => unknown) => begun().catch(on),
  }
}

Error.stackTraceLimit = 30
const PRODUCT = /\/lib\/(?!platform\/(?:db|tracing)\/)([\w/-]+)\.ts$/

/** The product function that runs the query: its name says what happens. */
function callerInProduct(): string {
  const original = Error.prepareStackTrace
  // Formatting the stack trace as text would take longer than the statement itself.
  Error.prepareStackTrace = (_, sites) => nameOf(sites)
  const name = new Error().stack as unknown as string
  Error.prepareStackTrace = original
  return name
}

function nameOf(sites: NodeJS.CallSite[]): string {
  for (const site of sites) {
    const [, file] = PRODUCT.exec(site.getFileName() ?? '') ?? []
    if (file === undefined) continue
    return site.getFunctionName()?.split('.').at(-1) || file.split('/').at(-1)!
  }
  return 'statement'
}

/** Runs on a node: with its clock and timers. */
export function onHost<Result>(host: Host, work: () => Result): Result {
  return currentHost.run(host, work)
}

/** Runs an action of the simulation itself, outside of any node. */
export function offHost<Result>(work: () => Result): Result {
  return currentHost.exit(work)
}
