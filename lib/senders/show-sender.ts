import type { Actor } from '../audit/record-audit.ts'
import type { Runtime } from '../runtime.ts'
import { findSender } from './find-sender.ts'
import { type Sender, toSender } from './sender.ts'

export async function showSender({ db }: Pick<Runtime, 'db'>, actor: Actor, id: string): Promise<Sender> {
  return toSender(await findSender(db, actor, id))
}
