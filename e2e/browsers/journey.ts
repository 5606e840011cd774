import { setTimeout as sleep } from 'node:timers/promises'
import type { DemoDocument } from '#lib/dashboard/demo/ensure-demo.ts'
import { fillIn } from '../../test/support/addresses.ts'
import { DASHBOARD_PAGES, PUBLIC_PAGES } from '../../test/support/pages.ts'

const WITHIN_MS = 60_000
const BETWEEN_MS = 100
const MIB = 1024 * 1024
/** What each browser logs for an intentionally aborted request. */
const OF_A_CUT = /networkerror|network error|cross-origin|cors|failed to load|load failed|abort/i

/**
 * Does what a new user would: tries the landing page demo, signs in, opens every page, and uses Try it with an
 * interruption. Returns the problems found.
 */
export async function travel(visitor: Visitor, demo: DemoDocument): Promise<string[]> {
  const faults: string[] = []
  const step = async (name: string, work: () => Promise<void>, expected?: RegExp) => {
    await visitor.complaints()
    await work().catch((error: Error) => faults.push(`${name}: ${error.message}`))
    const complaints = (await visitor.complaints()).filter((complaint) => !expected?.test(complaint))
    faults.push(...complaints.map((complaint) => `${name}: ${complaint}`))
  }
  await step('the landing page demo', () => tryLanding(visitor, demo), OF_A_CUT)
  await step('the sign-in', () => signIn(visitor, demo))
  for (const path of [...PUBLIC_PAGES, ...DASHBOARD_PAGES]) {
    const filled = await fillIn(path, demo)
    await step(path, async () => {
      await visitor.open(demo.baseUrl + filled)
      await until(visitor, 'a heading', () => document.querySelector('h1') !== null)
    })
  }
  await step('Try it with a cut', () => tryWithACut(visitor, demo), OF_A_CUT)
  return faults
}

async function until(
  visitor: Visitor,
  what: string,
  holds: (given: string) => boolean,
  given = '',
): Promise<void> {
  const before = Date.now() + WITHIN_MS
  while (!(await visitor.run(holds, given))) {
    if (Date.now() > before) throw new Error(`timed out waiting for ${what}`)
    await sleep(BETWEEN_MS)
  }
}

const figureIsThere = (name: string) =>
  Number(document.querySelector(`[data-figure=${name}]`)?.getAttribute('data-value')) > 0
const says = (text: string) => document.body.innerText.includes(text)
const buttonIsThere = (text: string) =>
  [...document.querySelectorAll('button')].some(
    (button) => button.innerText.includes(text) && !button.disabled,
  )

async function press(visitor: Visitor, text: string): Promise<void> {
  await until(visitor, `the button ${text}`, buttonIsThere, text)
  await visitor.run((text) => {
    const buttons = [...document.querySelectorAll('button')]
    buttons.find((button) => button.innerText.includes(text))!.click()
  }, text)
}

/** Presses the button until it works: a page appears before its script has loaded. */
async function pressUntil(visitor: Visitor, text: string, holds: (given: string) => boolean, given: string) {
  const before = Date.now() + WITHIN_MS
  while (!(await visitor.run(holds, given))) {
    if (Date.now() > before) throw new Error(`pressing ${text} had no effect`)
    if (await visitor.run(buttonIsThere, text)) await press(visitor, text)
    await sleep(BETWEEN_MS * 5)
  }
}

async function tryLanding(visitor: Visitor, { baseUrl }: DemoDocument): Promise<void> {
  await visitor.open(`${baseUrl}/`)
  await pressUntil(visitor, 'of random data', figureIsThere, 'confirmed')
  await press(visitor, 'Cut the connection')
  await until(visitor, 'bytes saved', figureIsThere, 'saved')
  await until(visitor, 'the object', says, 'in the bucket')
}

async function signIn(visitor: Visitor, { baseUrl, email, password }: DemoDocument): Promise<void> {
  await visitor.open(`${baseUrl}/login`)
  await visitor.run(
    (values) => {
      for (const [name, value] of Object.entries(values)) {
        const input = document.querySelector<HTMLInputElement>(`input[name=${name}]`)!
        Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')!.set!.call(input, value)
        input.dispatchEvent(new Event('input', { bubbles: true }))
      }
    },
    { email, password },
  )
  await press(visitor, 'Sign in')
  await until(visitor, 'the Overview', (path) => location.pathname === path, '/dashboard')
}

async function tryWithACut(visitor: Visitor, { baseUrl, pipeId }: DemoDocument): Promise<void> {
  await visitor.open(`${baseUrl}/dashboard/pipes/${pipeId}/try`)
  await until(visitor, 'the picker', () => document.querySelector('main input[type=file]') !== null)
  await visitor.run((length) => {
    const input = document.querySelector<HTMLInputElement>('main input[type=file]')!
    const picked = new DataTransfer()
    picked.items.add(new File([new Uint8Array(length)], 'elsewhere.bin'))
    input.files = picked.files
    input.dispatchEvent(new Event('change', { bubbles: true }))
  }, 8 * MIB)
  await until(visitor, 'confirmed bytes', figureIsThere, 'confirmed')
  await press(visitor, 'Cut connection')
  await until(visitor, 'bytes saved', figureIsThere, 'saved')
  await visitor.run(() => {
    const [slow] = document.querySelectorAll<HTMLInputElement>('main input[type=checkbox]')
    slow?.click()
  }, undefined)
  await until(visitor, 'the end of the upload', says, 'Uploaded')
  await until(visitor, 'its webhook', says, 'delivered')
}

/** The browser operations that the journey needs, regardless of how the browser is controlled. */
export type Visitor = {
  open(url: string): Promise<void>
  /** Runs a function in the page. Its argument and result are serialized as JSON. */
  run<Argument, Answer>(work: (argument: Argument) => Answer, argument: Argument): Promise<Answer>
  /** Returns the errors that the page has logged or thrown since the last call. */
  complaints(): Promise<string[]>
  close(): Promise<void>
}
