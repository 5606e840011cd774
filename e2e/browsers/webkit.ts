import { spawn } from 'node:child_process'
import { existsSync, globSync } from 'node:fs'
import { freePort } from '../../test/support/postgres.ts'
import { endWithThisProcess } from '../../test/support/until-exit.ts'
import type { Visitor } from './journey.ts'

const DRIVER = '/usr/bin/WebKitWebDriver'
const SCREEN = '/usr/bin/Xvfb'

/**
 * Opens WebKitGTK as shipped by Debian, through its own WebDriver, on a virtual display. Returns undefined if it is not
 * installed.
 */
export async function openWebKit(): Promise<Visitor | undefined> {
  const [binary] = globSync('/usr/lib/*/webkit2gtk-4.1/MiniBrowser')
  if (!binary || !existsSync(DRIVER) || !existsSync(SCREEN)) return undefined
  const display = await openScreen()
  const port = await freePort()
  const driver = spawn(DRIVER, [`--port=${port}`, '--host=127.0.0.1'], {
    env: { ...process.env, DISPLAY: display.name, WEBKIT_DISABLE_COMPOSITING_MODE: '1' },
    stdio: 'ignore',
  })
  endWithThisProcess(driver)
  const call = await connect(`http://127.0.0.1:${port}`)
  const options = { 'webkitgtk:browserOptions': { binary, args: ['--automation'] } }
  const { sessionId } = await call<{ sessionId: string }>('POST', '/session', {
    capabilities: { alwaysMatch: { ...options, pageLoadStrategy: 'none' } },
  })
  const at = `/session/${sessionId}`
  await call('POST', `${at}/window/rect`, { width: 1280, height: 900 })
  const run: Visitor['run'] = (work, argument) =>
    call('POST', `${at}/execute/sync`, { script: `return (${work})(arguments[0])`, args: [argument] })
  return {
    run,
    async open(url) {
      await run(markLeft, undefined)
      await call('POST', `${at}/url`, { url })
      // The driver does not report the console, and cannot add scripts to future pages.
      while (!(await run(listenOnceThere, undefined).catch(() => false))) await new Promise(setImmediate)
    },
    async complaints() {
      const since = await run(takeComplaints, undefined)
      return since ?? []
    },
    async close() {
      await call('DELETE', at)
      driver.kill()
      display.close()
    },
  }
}

type Marked = { left?: boolean; complaints?: string[] }

function markLeft(): void {
  ;(window as Marked).left = true
}

/** Starts listening as soon as the new page accepts commands. Returns true once the page has loaded. */
function listenOnceThere(): boolean {
  const page = window as Marked
  if (page.left) return false
  if (!page.complaints) {
    const complaints: string[] = []
    page.complaints = complaints
    addEventListener('error', ({ message }) => complaints.push(message), true)
    addEventListener('unhandledrejection', ({ reason }) => complaints.push(String(reason)))
    const write = console.error
    console.error = (...words) => {
      complaints.push(words.join(' '))
      write(...words)
    }
  }
  return document.readyState === 'complete'
}

function takeComplaints(): string[] | undefined {
  return (window as Marked).complaints?.splice(0)
}

async function openScreen(): Promise<{ name: string; close(): void }> {
  const screen = spawn(SCREEN, ['-displayfd', '1', '-screen', '0', '1280x1000x24', '-nolisten', 'tcp'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  endWithThisProcess(screen)
  const number = await new Promise<string>((resolve) =>
    screen.stdout.once('data', (line) => resolve(`${line}`)),
  )
  return { name: `:${number.trim()}`, close: () => screen.kill() }
}

type Call = <Value>(method: string, path: string, body?: object) => Promise<Value>

/** Waits until the driver is listening, and returns a function that sends WebDriver requests. */
async function connect(url: string): Promise<Call> {
  for (;;) {
    const ready = await fetch(`${url}/status`).catch(() => undefined)
    if (ready?.ok) break
    await new Promise(setImmediate)
  }
  return async (method, path, body) => {
    const init = { method, ...(body && { body: JSON.stringify(body) }) }
    const { value } = (await (await fetch(url + path, init)).json()) as { value: never }
    const failure = value as { error?: string; message?: string } | null
    if (failure?.error) throw new Error(`${path}: ${failure.error}: ${failure.message}`)
    return value
  }
}
