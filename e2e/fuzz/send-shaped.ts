import { open, requestHead } from '../../test/support/raw-http.ts'
import { actionIds, sessionCookie } from '../../test/support/session.ts'
import type { Target } from '../../test/support/target.ts'
import { newTus } from '../../test/support/tus.ts'
import type { Known, Shaped } from './shape-requests.ts'

/** Server actions that would end the run's own session, or change the account that it depends on. */
const LEFT_OUT = ['signOut', 'endOtherSessions', 'removeAccount', 'savePassword']

export async function knowTarget(target: Target): Promise<Known> {
  const tus = await newTus(target)
  const actions = [...actionIds()].filter(([name]) => !LEFT_OUT.includes(name)).map(([, id]) => id)
  return {
    cookie: await sessionCookie(target),
    accountKey: target.accountKey,
    senderToken: target.senderToken,
    uploadPath: tus.at(await tus.create(1000)).pathname,
    uploadToken: tus.token!,
    pipeId: target.pipeId,
    actions,
  }
}

/** Returns the status. An endless stream is closed once its headers have arrived. */
export async function sendShaped(
  baseUrl: string,
  { method, path, fields, body = '' }: Shaped,
): Promise<number> {
  const url = new URL(baseUrl)
  await using connection = open(url)
  const length = Buffer.byteLength(body)
  const all = { ...(length > 0 && { 'Content-Length': length }), Connection: 'close', ...fields }
  const to = { host: url.host, pathname: path, search: '' } as URL
  connection.write(requestHead(method, to, all) + body)
  return (await connection.answer('HEAD')).status
}
