import type { ProviderName } from '#drizzle/schema/index.ts'
import type { Credentials } from '../../buckets/open-bucket.ts'
import type { Federation, Identity } from '../../buckets/temporary/federation.ts'
import { readServerKeys } from '../../buckets/temporary/server-identity.ts'
import { mayAssumeAt } from '../../buckets/temporary/sts.ts'
import { issueStatement, subjectOf } from '../../identity/issuer/statements.ts'
import { type FieldError, invalidRequest } from '../../platform/kernel/errors.ts'
import { isOnInternet } from '../../platform/net/judge-connection.ts'
import type { Runtime } from '../../platform/runtime.ts'
import type { Config } from '../../platform/settings/config.ts'
import type { GivenFederation } from './credentials-fields.ts'

/** Data Stores without a secret, which prove who they are to a cloud that trusts this server's statements. */

type Fields = { required: string[]; optional?: string[] }
const FIELDS: Partial<Record<ProviderName, Fields>> = {
  gcs: { required: ['identityProvider'], optional: ['serviceAccount'] },
  azure: { required: ['tenantId', 'clientId'] },
}
const OF_AWS: Fields = { required: ['role'] }

export function assertFits(provider: ProviderName, given: GivenFederation): void {
  const faults = faultsOf(provider, given)
  if (faults.length > 0) throw invalidRequest(faults)
}

function faultsOf(provider: ProviderName, given: GivenFederation): FieldError[] {
  const { required, optional = [] } = FIELDS[provider] ?? OF_AWS
  const missing = required.filter((name) => !(name in given))
  const odd = Object.keys(given).filter((name) => ![...required, ...optional].includes(name))
  const fault = (name: string, message: string) => ({ field: `federation.${name}`, message })
  return [
    ...missing.map((name) => fault(name, 'is required')),
    ...odd.map((name) => fault(name, `is not possible with the provider ${provider}`)),
  ]
}

export const fitsProvider = (provider: ProviderName, credentials: Credentials): boolean =>
  !('federation' in credentials) || faultsOf(provider, credentials.federation).length === 0

/** Stands in for the id of an access key. */
export function nameOf(federation: Federation): string {
  if ('role' in federation) return federation.role
  return 'clientId' in federation ? federation.clientId : federation.identityProvider
}

export function identityOf(
  runtime: Pick<Runtime, 'db' | 'clock' | 'vault' | 'config'>,
  row: { id: string; workspaceId: string },
): Identity {
  const subject = subjectOf(row)
  return {
    subject,
    issueStatement: (audience) => issueStatement(runtime, { subject, audience }),
    serverKeys: runtime.config.assumeRoles ? readServerKeys : undefined,
  }
}

/** Why clouds cannot read this server's keys. Undefined if its address looks public. */
export function whyUnreachable(baseUrl: string): string | undefined {
  const { protocol, port } = new URL(baseUrl)
  if (!isOnInternet(baseUrl)) return `${baseUrl} is not on the public internet`
  if (protocol !== 'https:') return `${baseUrl} does not start with https://`
  return port ? `${baseUrl} has a port, which AWS does not support` : undefined
}

/** What the form for a Data Store says about the server. */
export const readServerFacts = ({ baseUrl, assumeRoles }: Pick<Config, 'baseUrl' | 'assumeRoles'>) => ({
  unreachable: whyUnreachable(baseUrl),
  assumesRoles: assumeRoles,
})

/** What is possible depends on the server: clouds have to read its keys, and its own identity is its operator's. */
export function assertPossible(
  { baseUrl, assumeRoles }: Pick<Config, 'baseUrl' | 'assumeRoles'>,
  credentials: Credentials,
  place: { endpoint: string; region: string },
): void {
  const { endpoint } = place
  if ('assumedRole' in credentials && !assumeRoles)
    throw fault('assumedRole', 'is not allowed on this server. Its operator can allow it with ASSUME_ROLES=1')
  if ('assumedRole' in credentials && !mayAssumeAt(place))
    throw fault('assumedRole', 'is only possible at AWS')
  // A service at a private address may be able to read the keys where clouds are not.
  const why = 'federation' in credentials && isOnInternet(endpoint) ? whyUnreachable(baseUrl) : undefined
  if (why)
    throw fault(
      'federation',
      `is not possible on this server: clouds have to read its keys, but ${why}. Use keys${assumeRoles ? ' or assumedRole' : ''} instead`,
    )
}

const fault = (field: string, message: string) => invalidRequest([{ field, message }])
