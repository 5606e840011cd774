import { sql } from 'drizzle-orm'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { decideOnFile } from '#lib/dashboard/files/act-on-files.ts'
import { showFile } from '#lib/dashboard/files/show-file.ts'
import { saveHook } from '#lib/hooks/pipe-hooks.ts'
import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { rows } from '#lib/platform/db/database.ts'
import { createOutput } from '#lib/webhooks/outputs/save-output.ts'
import { outputInput } from '#lib/webhooks/outputs/webhook-output.ts'
import { describeWithDatabase } from './databases.ts'
import { type Decider, openDecider } from './decider.ts'
import type { Reply } from './http-call.ts'
import { fileIdOf, metadata, type TusClient } from './tus-client.ts'
import { createSite, type Site, serveUploads } from './upload-site.ts'

type Node = Awaited<ReturnType<typeof serveUploads>>
type Decision = { allow: boolean; reason?: string; result?: unknown }

/** A Pipe whose hook decides about each file. */
export type Decided = {
  database: Parameters<Parameters<typeof describeWithDatabase>[1]>[0]
  site: Site
  /** Waits for a decision for as long as a busy machine may need. */
  patient: Node
  /** Lets clients wait for only half a second. For tests in which no decision is made. */
  node: Node
  decider: Decider
  client: TusClient
  /** The hook's signing secret. */
  secret: string
}

export function describeDecided(name: string, tests: (given: Decided) => void): void {
  describeWithDatabase(name, (database) => {
    const given = { database } as Decided
    beforeAll(async () => {
      given.site = await createSite(database(), {
        bucket: { actions: ['s3:PutObject', 's3:AbortMultipartUpload'] },
      })
      const { site } = given
      given.patient = await serveUploads(site.runtime, { terms: { pollMs: 20 } })
      given.node = await serveUploads(site.runtime, { terms: { decideMs: 500, pollMs: 20 } })
      given.decider = await openDecider()
      given.secret = (await saveHookOf(given)).secret!
      const asked = { url: 'http://127.0.0.1:1/hook', statuses: ['failed'] as 'failed'[] }
      await createOutput(site.runtime, site.actor, {}, outputInput.parse(asked))
    })
    beforeEach(async () => {
      given.client = await given.site.client(given.patient)
    })
    afterEach(() => given.decider.reset())
    afterAll(async () => {
      await given.patient?.close()
      await given.node?.close()
      await given.decider?.close()
      await given.site?.close()
    })
    tests(given)
  })
}

export const saveHookOf = ({ site, decider }: Decided, more = {}) =>
  saveHook(
    site.runtime,
    site.actor,
    { pipeId: site.pipe.id, hook: 'before_complete' },
    { url: decider.url, enabled: true, timeoutSeconds: 10, withoutAnswer: 'refuse', ...more },
  )

export const problem = ({ status, body }: Reply) => [status, JSON.parse(body).code, JSON.parse(body).detail]

/** What tests do with a file, and read about it. */
export const actsOn = (given: Decided) => ({
  save: (more = {}) => saveHookOf(given, more),
  async upload(body: Buffer) {
    const named = { 'Upload-Metadata': metadata({ filename: 'a.txt' }) }
    const url = await given.client.begin(body.length, named)
    return { url, last: await given.client.patch(url, 0, body) }
  },
  file: (url: string) => showFile(given.site.runtime, given.site.actor, fileIdOf(url)),
  hasObject: async (url: string) => (await given.site.bucket.objects()).includes(`${fileIdOf(url)}/a.txt`),
  decisions: (url: string) =>
    rows<{ state: string; by: string }>(
      given.database().db,
      sql`select state, decided_by as by from file_decisions where file_id = ${fileIdOf(url)}::uuid`,
    ),
  events: (url: string) =>
    rows<{ payload: string }>(
      given.database().db,
      sql`select payload from events where file_id = ${fileIdOf(url)}::uuid order by id`,
    ),
  decide: (url: string, decision: Decision, kind: Actor['kind'] = 'account_key') =>
    decideOnFile(given.site.runtime, { ...given.site.actor, kind }, fileIdOf(url), decision),
})
