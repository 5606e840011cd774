import type { Actor } from '../../identity/audit/record-audit.ts'
import type { Runtime } from '../../platform/runtime.ts'
import { findSender } from './find-sender.ts'
import { type Sender, toSender } from './sender.ts'

export async function showSender({ db }: Pick<Runtime, 'db'>, actor: Actor, id: string): Promise<Sender> {
  return toSender(await findSender(db, actor, id))
}
