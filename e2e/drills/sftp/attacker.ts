import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { connectSftp } from '../../../test/support/sftp-site.ts'

/**
 * An attack, which runs in its own process so that it does not slow down the measurements. It ends when it is done, or
 * when the parent sends a message.
 */
export type Attack =
  | { kind: 'flood'; connections: number; atOnce: number; networks: number; holdMs: number }
  | { kind: 'guess'; attempts: number; atOnce: number; networks: number }
  | { kind: 'crowd'; clients: number; bytesPerSecond: number; networks: number; password: string }
export type Target = { port: number; pipe: { id: string } }
export type Outcome = Record<string, number>

const [target, attack] = JSON.parse(process.argv[2]!) as [Target, Attack]
let isStopped = false
process.once('message', () => {
  isStopped = true
})

/** The loopback network has 16 million addresses, and the limits treat each as a separate network. */
const addressOf = (n: number, networks: number) =>
  `127.1.${((n % networks) >> 8) & 255}.${(n % networks) & 255}`

async function inParallel(count: number, atOnce: number, work: (n: number) => Promise<void>) {
  let next = 0
  const worker = async () => {
    while (next < count && !isStopped) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

/** What an attacker sends before signing in. */
const SAID = [
  () => Buffer.alloc(0),
  () => randomBytes(64 * 1024),
  () => Buffer.from('SSH-2.0-flood\r\n'),
  () => Buffer.concat([Buffer.from('SSH-2.0-flood\r\n'), randomBytes(32 * 1024)]),
  () => Buffer.from(`SSH-2.0-${'x'.repeat(100_000)}`),
]

async function flood({
  connections,
  atOnce,
  networks,
  holdMs,
}: Attack & { kind: 'flood' }): Promise<Outcome> {
  const outcome = {
    opened: 0,
    'closed immediately': 0,
    'closed after a greeting': 0,
    'still open at the end': 0,
  }
  await inParallel(connections, atOnce, async (n) => {
    const socket: Socket = connect({
      port: target.port,
      host: '127.0.0.1',
      localAddress: addressOf(n, networks),
    })
    socket.on('error', () => {})
    let heardBytes = 0
    socket.on('data', (data) => {
      heardBytes += data.length
    })
    const closed = new Promise<'closed'>((resolve) => socket.once('close', () => resolve('closed')))
    const opened = new Promise<'opened'>((resolve) => socket.once('connect', () => resolve('opened')))
    if ((await Promise.race([opened, closed])) === 'opened') outcome.opened += 1
    if (!socket.destroyed) socket.write(SAID[n % SAID.length]!())
    const held = await Promise.race([closed, sleep(holdMs, 'held')])
    if (held === 'held') outcome['still open at the end'] += 1
    else outcome[heardBytes > 0 ? 'closed after a greeting' : 'closed immediately'] += 1
    socket.destroy()
  })
  return outcome
}

async function guess({ attempts, atOnce, networks }: Attack & { kind: 'guess' }): Promise<Outcome> {
  const outcome = { 'let in': 0, refused: 0 }
  await inParallel(attempts, atOnce, async (n) => {
    const password = `tmp_${String(n).padStart(43, '0')}`
    try {
      await (await connectSftp(target, password, { localAddress: addressOf(n, networks) })).kill()
      outcome['let in'] += 1
    } catch {
      outcome.refused += 1
    }
  })
  return outcome
}

/** Reports when all clients are writing and, once the attack is stopped, how many writes succeeded. */
async function crowd(asked: Attack & { kind: 'crowd' }): Promise<Outcome> {
  const { clients, bytesPerSecond, networks, password } = asked
  const outcome = { open: 0, 'sign-in attempts': 0, 'writes accepted': 0, 'writes refused': 0 }
  const open: { client: Awaited<ReturnType<typeof connectSftp>>; handle: Buffer; bytes: number }[] = []
  await inParallel(clients, 10, async (n) => {
    for (;;) {
      outcome['sign-in attempts'] += 1
      try {
        const client = await connectSftp(target, password, { localAddress: addressOf(n, networks) })
        open.push({ client, handle: await client.open(`slow-${n}.bin`, 'w'), bytes: 0 })
        return
      } catch {
        // The node limits key exchanges per second.
        await sleep(200)
      }
    }
  })
  process.send!('open')
  const piece = randomBytes(bytesPerSecond)
  for (let turn = 0; !isStopped; turn = (turn + 1) % 100) {
    const nextMs = performance.now() + 10
    for (let n = turn; n < open.length; n += 100) {
      const one = open[n]!
      const at = one.bytes
      one.bytes += piece.length
      one.client.write(one.handle, piece, at).then(
        () => (outcome['writes accepted'] += 1),
        () => (outcome['writes refused'] += 1),
      )
    }
    await sleep(Math.max(0, nextMs - performance.now()))
  }
  const isGone = await Promise.all(
    open.map(({ client }) => Promise.race([client.gone.then(() => true), sleep(0, false)])),
  )
  outcome.open = isGone.filter((gone) => !gone).length
  return outcome
}

async function perform(): Promise<Outcome> {
  if (attack.kind === 'flood') return flood(attack)
  return attack.kind === 'guess' ? guess(attack) : crowd(attack)
}

process.send!(await perform(), () => process.exit(0))
