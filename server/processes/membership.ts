import cluster from 'node:cluster'
import { type Config, MEMBERSHIP_VARIABLE, membershipGiven } from '../../lib/platform/settings/config.ts'
import type { Role } from '../../lib/platform/settings/settings.ts'

/** One of several processes behind one port: its name, and its share of the settings. */
export type Membership = {
  name: string
  roles: Role[]
  /** The socket on which the page process listens, if there is one. */
  pagesSocket: string | undefined
  shares: Pick<
    Config,
    | ('port' | 'baseUrl' | 'uploadUrl' | 'allowedPrivateHosts')
    | ('uploadMemoryBytes' | 'uploadMemoryShares' | 'databaseConnections')
  >
}

/**
 * The total number of database connections of all processes. This is enough, because a statement takes a few
 * milliseconds.
 */
const DATABASE_CONNECTIONS = 40
const MIN_DATABASE_CONNECTIONS = 5

/**
 * Returns a membership for each upload process and one for each other role. Together, they have the resources that a
 * single process would have.
 */
export function membershipsOf(config: Config, pagesSocket: string): Membership[] {
  const { roles, processes, port, baseUrl, uploadUrl, allowedPrivateHosts } = config
  const named: [string, Role][] = Array.from({ length: processes }, (_, at) => [`upload-${at + 1}`, 'upload'])
  for (const role of ['web', 'worker'] as const) if (roles.has(role)) named.push([role, role])
  const connections = Math.floor(DATABASE_CONNECTIONS / named.length)
  const shares = {
    port,
    baseUrl,
    uploadUrl,
    allowedPrivateHosts,
    // Divided among the upload processes only: a worker has at most one part in memory at a time.
    uploadMemoryBytes: Math.floor(config.uploadMemoryBytes / processes),
    uploadMemoryShares: processes,
    databaseConnections: Math.max(connections, MIN_DATABASE_CONNECTIONS),
  }
  return named.map(([name, role]) => ({
    name,
    roles: [role],
    shares,
    pagesSocket: roles.has('web') ? pagesSocket : undefined,
  }))
}

export function writeMembership(membership: Membership): Record<string, string> {
  return { [MEMBERSHIP_VARIABLE]: JSON.stringify(membership) }
}

/** Undefined in a standalone process, and in the supervisor. */
export function readMembership(): Membership | undefined {
  const given = cluster.isWorker ? membershipGiven() : undefined
  return given === undefined ? undefined : (JSON.parse(given) as Membership)
}

/** The settings for one of the processes. */
export function configOfMember(config: Config, { roles, shares }: Membership): Config {
  return { ...config, ...shares, roles: new Set(roles), processes: 1 }
}

/** The supervisor prepares the database, and then no longer queries it. */
export function configOfSupervisor(config: Config): Config {
  return { ...config, roles: new Set(), databaseConnections: 2 }
}
