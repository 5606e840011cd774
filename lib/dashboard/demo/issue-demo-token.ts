import { and, eq, isNull } from 'drizzle-orm'
import { pipes, workspaces } from '#drizzle/schema/index.ts'
import { SluiceError } from '../../platform/kernel/errors.ts'
import { takeForAddress } from '../../platform/rate-limits.ts'
import type { ConfiguredRuntime } from '../../platform/runtime.ts'
import { uploadUrlOf } from '../../workspace/pipes/pipe.ts'
import { issueTrialToken, type TrialToken } from '../../workspace/tokens/issue-trial-token.ts'

const PER_ADDRESS = { burst: 10, refillMs: 60_000 }
const LIMITS = { maxBytes: 50_000_000, maxFiles: 3 }

/** The demo Pipe; undefined if there is no demo, or the owner has closed the Pipe. */
export async function findDemoPipe({
  db,
  config,
}: ConfiguredRuntime): Promise<{ id: string; uploadUrl: string; workspaceId: string } | undefined> {
  if (!config.demo) return undefined
  const [found] = await db
    .select({ id: pipes.id, workspaceId: workspaces.id })
    .from(workspaces)
    .innerJoin(pipes, eq(pipes.workspaceId, workspaces.id))
    .where(and(eq(workspaces.demo, true), eq(pipes.sourceHttp, true), isNull(pipes.deletedAt)))
    .orderBy(pipes.createdAt)
    .limit(1)
  return found && { ...found, uploadUrl: uploadUrlOf(config, found.id) }
}

/** Issues a token with which a landing page visitor can upload a few small files to the demo Pipe. */
export async function issueDemoToken(runtime: ConfiguredRuntime, address: string): Promise<TrialToken> {
  await takeForAddress(runtime, 'demo', address, PER_ADDRESS)
  const pipe = await findDemoPipe(runtime)
  if (!pipe) throw new SluiceError('not_found', 'There is no demo on this server.')
  const actor = {
    workspaceId: pipe.workspaceId,
    kind: 'system',
    id: null,
    label: 'Sluice',
    role: 'owner',
  } as const
  return issueTrialToken(runtime, actor, pipe.id, { ...LIMITS, subject: `visitor:${address}` })
}
