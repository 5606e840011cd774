import { freePort } from '../../test/support/postgres.ts'
import { type Sluice, startSluice } from '../../test/support/sluice.ts'
import type { Balancer } from './balancer.ts'
import type { Log } from './log.ts'

export type Role = 'upload' | 'web' | 'worker'

export type Parts = {
  balancer: Balancer
  log: Log
  /** Returns the source of the version to run, at each start. */
  sourceOf?: () => string
}

/** A server process that can be killed, frozen and restarted on its own port. */
export type Node = Awaited<ReturnType<typeof startNode>>

export async function startNode(
  roles: Role[],
  name: string,
  env: Record<string, string>,
  { balancer, log, sourceOf }: Parts,
) {
  const port = await freePort()
  const start = async () => {
    const source = sourceOf?.()
    const launch = () => startSluice({ ...env, ROLES: roles.join(), PORT: String(port) }, source)
    // If the database goes down during startup, the process exits. Starts it again, as a supervisor would.
    const sluice = await launch().catch((error) => {
      log.note(`${name} did not start: ${error.message}`)
      return launch()
    })
    sluice.child.once('exit', (code, signal) => {
      if (running === sluice) log.violation(`${name} exited unexpectedly with ${code ?? signal}`)
    })
    return sluice
  }
  let running: Sluice | undefined
  running = await start()
  let upSinceMs = Date.now()
  let frozen = false
  let said = ''
  for (const role of roles) if (role !== 'worker') balancer.pools[role].push(port)
  const node = {
    roles,
    name,
    get running() {
      return running !== undefined && !frozen
    },
    get upForMs() {
      return node.running ? Date.now() - upSinceMs : 0
    },
    freeze() {
      frozen = true
      running?.child.kill('SIGSTOP')
    },
    thaw() {
      frozen = false
      upSinceMs = Date.now()
      running?.child.kill('SIGCONT')
    },
    /** Kills the process without notice, like a machine crash. */
    async kill() {
      await end((sluice) => sluice.kill())
    },
    /** Stops the process with SIGTERM, as an upgrade does; returns the exit code. */
    async stop(): Promise<number | null> {
      return end((sluice) => sluice.stop())
    },
    async start() {
      running ??= await start()
      upSinceMs = Date.now()
    },
    get pid() {
      return running?.pid
    },
    output: () => said + (running?.output() ?? ''),
  }
  async function end<Result>(how: (sluice: Sluice) => Promise<Result>): Promise<Result> {
    const ending = running!
    running = undefined
    frozen = false
    const result = await how(ending)
    said += ending.output()
    return result
  }
  return node
}
