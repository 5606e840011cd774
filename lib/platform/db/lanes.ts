import type { Sql } from 'postgres'
import { seconds } from '../kernel/clock.ts'
import { currentRequest } from '../kernel/request-context.ts'
import type { Role } from '../settings/settings.ts'

/**
 * Each kind of work has database connections of its own, so that neither a rush on the API nor a slow sweep holds up
 * an upload, and PostgreSQL ends statements that take too long for their kind. Background work has no limit, because it
 * includes the migrations.
 */
const KINDS = {
  /** Uploads, including those by SFTP. */
  upload: { role: 'upload', weight: 3, statementMs: seconds(30) },
  /** Pages and the API, for which someone is waiting. */
  request: { role: 'web', weight: 2, statementMs: seconds(5) },
  background: { role: undefined, weight: 3, statementMs: 0 },
} as const
type Kind = keyof typeof KINDS

export type Lane = { kind: Kind; connections: number }

/** Divides the connections among the kinds of work that a process with these roles does. */
export function lanesOf(roles: ReadonlySet<Role>, connections: number): Lane[] {
  const kinds = (Object.keys(KINDS) as Kind[]).filter((kind) => {
    const { role } = KINDS[kind]
    return role === undefined || roles.has(role)
  })
  let weight = kinds.reduce((sum, kind) => sum + KINDS[kind].weight, 0)
  let left = connections
  return kinds.map((kind) => {
    const own = Math.max(1, Math.round((left * KINDS[kind].weight) / weight))
    weight -= KINDS[kind].weight
    left -= own
    return { kind, connections: own }
  })
}

/** The kind of work that the running code does. */
export function currentKind(): Kind {
  const request = currentRequest()
  if (!request) return 'background'
  return request.failsSoon ? 'request' : 'upload'
}

/** Applies to connections that are opened from now on. */
export function limitStatements({ client, kind }: Pick<Lane, 'kind'> & { client: Sql }): void {
  Object.assign(client.options.connection, { statement_timeout: String(KINDS[kind].statementMs) })
}
