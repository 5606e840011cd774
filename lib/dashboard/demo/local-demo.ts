import { and, asc, eq } from 'drizzle-orm'
import { members, workspaces } from '#drizzle/schema/index.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Config } from '../../platform/settings/config.ts'
import { isForThisMachineAlone } from '../../platform/settings/reach.ts'
import { type DemoDocument, demoVaultContext } from './ensure-demo.ts'

/** Whether the demo and its bucket may be used without their password and keys, because only this machine can. */
export const isDemoLocal = (config: Config): boolean =>
  config.demo && !config.databaseUrl && isForThisMachineAlone(config)

/** The demo and its owner. */
export async function readLocalDemo({
  db,
  config,
  vault,
}: Pick<Runtime, 'db' | 'config' | 'vault'>): Promise<DemoDocument & { ownerId: string }> {
  const [found] = isDemoLocal(config)
    ? await db
        .select({ id: workspaces.id, sealed: workspaces.demoSealed, ownerId: members.userId })
        .from(workspaces)
        .innerJoin(members, and(eq(members.workspaceId, workspaces.id), eq(members.role, 'owner')))
        .where(eq(workspaces.demo, true))
        .orderBy(asc(members.createdAt))
        .limit(1)
    : []
  if (!found?.sealed) throw new SluiceError('not_found', 'There is no demo on this server.')
  const document = JSON.parse(vault.open(found.sealed, demoVaultContext(found.id))) as DemoDocument
  return { ...document, ownerId: found.ownerId }
}
