import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mailFolder } from '#lib/platform/mail/deliver-mail.ts'
import { type Answer, ask } from './raw-http.ts'
import type { Target } from './target.ts'

/** A signed-in user without a browser, who sends plain requests to pages and server actions. */
export type Visit = {
  cookie: string
  get(path: string): Promise<Answer>
  /** Calls a server action as a page's script would. */
  act(name: string, ...args: unknown[]): Promise<Answer>
}

type Login = Pick<Target, 'baseUrl' | 'email' | 'password'>

export async function signedIn(login: Login): Promise<Visit> {
  return visitWith(login.baseUrl, await sessionCookie(login))
}

export async function sessionCookie({ baseUrl, email, password }: Login): Promise<string> {
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const at = (path: string) => new URL(path, baseUrl)
  const csrf = await ask('GET', at('/api/auth/csrf'))
  const { csrfToken } = JSON.parse(csrf.body)
  const body = new URLSearchParams({ csrfToken, email, password }).toString()
  const Cookie = cookiesOf(csrf)
  const entered = await ask('POST', at('/api/auth/callback/credentials'), { ...form, Cookie }, body)
  return cookiesOf(entered)
}

export function visitWith(baseUrl: string, Cookie: string): Visit {
  const at = (path: string) => new URL(path, baseUrl)
  return {
    cookie: Cookie,
    get: (path) => ask('GET', at(path), { Cookie }),
    act(name, ...args) {
      const fields = { Cookie, 'Next-Action': actionId(name), 'Content-Type': 'text/plain;charset=UTF-8' }
      return ask('POST', at('/dashboard'), { ...fields, Origin: baseUrl }, JSON.stringify(args))
    },
  }
}

/** The cookies that a response sets, as `a=b; c=d`. */
export function cookiesOf({ headers }: Answer): string {
  const set = headers['set-cookie'] ?? ''
  return set
    .split(/, (?=[\w.-]+=)/)
    .map((cookie) => cookie.split(';', 1)[0]!)
    .join('; ')
}

type Manifest = { node: Record<string, { exportedName: string }> }

/** The ids of the build's server actions, by name. The built pages only accept these ids. */
export function actionIds(): Map<string, string> {
  const { node } = JSON.parse(readFileSync('.next/server/server-reference-manifest.json', 'utf8')) as Manifest
  return new Map(Object.entries(node).map(([id, { exportedName }]) => [exportedName, id]))
}

function actionId(name: string): string {
  const id = actionIds().get(name)
  if (!id) throw new Error(`No server action is called ${name}.`)
  return id
}

/** The link to a page in the latest email to an address, if the server stores emails as files. */
export function keptLink(email: string, path: string): string | undefined {
  const folder = mailFolder(process.env.SLUICE_DATA!)
  const mails = readdirSync(folder)
    .sort()
    .map((name) => readFileSync(join(folder, name), 'utf8'))
  const mail = mails.findLast((text) => text.includes(`To: ${email}`) && text.includes(`${path}#`))
  return mail?.match(/\S+#\S+/)?.[0]
}
