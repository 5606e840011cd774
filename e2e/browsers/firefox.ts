import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { temporaryFolder } from '../../test/support/sluice.ts'
import { endWithThisProcess } from '../../test/support/until-exit.ts'
import type { Visitor } from './journey.ts'

const PLACES = ['/usr/bin/firefox-esr', '/usr/bin/firefox']

type Entry = { method: 'log.entryAdded'; params: { level: string; text: string } }
type Reply = { id: number; result?: unknown; error?: string; message?: string }

/** Opens an unmodified Firefox through WebDriver BiDi. Returns undefined if it is not installed. */
export async function openFirefox(): Promise<Visitor | undefined> {
  const program = PLACES.find((path) => existsSync(path))
  if (!program) return undefined
  const profile = temporaryFolder()
  const args = ['--headless', '--remote-debugging-port=0', '--profile', profile.path, '--no-remote']
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  endWithThisProcess(child)
  const url = await new Promise<string>((resolve) => {
    let said = ''
    child.stderr.on('data', (chunk) => {
      said += chunk
      const address = said.match(/WebDriver BiDi listening on (ws:\S+)/)?.[1]
      if (address) resolve(address)
    })
  })
  let complaints: string[] = []
  const call = await connect(`${url}/session`, ({ params: { level, text } }) => {
    if (level === 'error') complaints.push(text)
  })
  await call('session.new', { capabilities: {} })
  await call('session.subscribe', { events: ['log.entryAdded'] })
  const { context } = await call<{ context: string }>('browsingContext.create', { type: 'tab' })
  await call('browsingContext.setViewport', { context, viewport: { width: 1280, height: 900 } })
  return {
    open: async (address) =>
      void (await call('browsingContext.navigate', { context, url: address, wait: 'complete' })),
    async run(work, argument) {
      // Serializes the result as JSON, so that any result is returned unchanged.
      const expression = `JSON.stringify((${work})(${JSON.stringify(argument)})) ?? 'null'`
      const options = { target: { context }, awaitPromise: false, expression }
      const told = await call<{ result?: { value: string }; exceptionDetails?: { text: string } }>(
        'script.evaluate',
        options,
      )
      if (!told.result) throw new Error(told.exceptionDetails?.text)
      return JSON.parse(told.result.value)
    },
    async complaints() {
      const since = complaints
      complaints = []
      return since
    },
    async close() {
      const ended = new Promise((resolve) => child.once('exit', resolve))
      child.kill()
      await ended
      profile[Symbol.dispose]()
    },
  }
}

type Call = <Result>(method: string, params: object) => Promise<Result>

async function connect(url: string, onEntry: (entry: Entry) => void): Promise<Call> {
  const socket = new WebSocket(url)
  const waiting = new Map<number, (reply: Reply) => void>()
  socket.addEventListener('message', ({ data }) => {
    const message: Entry | Reply = JSON.parse(data)
    if ('method' in message) onEntry(message)
    else waiting.get(message.id)?.(message)
  })
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
  let last = 0
  return async (method, params) => {
    const id = ++last
    const reply = await new Promise<Reply>((resolve) => {
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
    waiting.delete(id)
    if (reply.error) throw new Error(`${method}: ${reply.error}: ${reply.message}`)
    return reply.result as never
  }
}
