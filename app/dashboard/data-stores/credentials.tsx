import { useState } from 'react'
import { SelectField, TextArea, TextField } from '#components/ui/field.tsx'
import type { DataStore } from '#lib/workspace/data-stores/data-store.ts'
import type { FormPreset } from './provider-presets.ts'

type Provider = FormPreset['provider']
export type ServerFacts = {
  /** Why clouds cannot trust this server. */
  unreachable: string | undefined
  /** Roles may trust this server's own identity. */
  assumesRoles: boolean
}

type CredentialsProps = {
  provider: Provider
  store: DataStore | undefined
  server: ServerFacts
}

const FEDERATION: [string, string] = ['federation', 'No secret: the cloud trusts this server (federation)']
const SERVER: [string, string] = ['server', 'No secret: a role trusts this server’s identity at AWS']
const ACCESS_KEY_OR_ROLE: [string, string][] = [['hmac', 'Access key'], FEDERATION, SERVER]

/** The kinds of credentials of providers that have several. */
const KINDS: Partial<Record<Provider, [string, string][]>> = {
  aws: ACCESS_KEY_OR_ROLE,
  minio: ACCESS_KEY_OR_ROLE,
  other: ACCESS_KEY_OR_ROLE,
  gcs: [['file', 'Service account key file'], ['hmac', 'HMAC key'], FEDERATION],
  azure: [['sas', 'Shared access signature (SAS)'], ['account', 'Storage account key'], FEDERATION],
}

function kindOf({ provider, serviceAccount, sas, federation, assumedRole }: DataStore): string {
  if (assumedRole) return 'server'
  if (federation) return 'federation'
  if (provider === 'azure') return sas ? 'sas' : 'account'
  return serviceAccount ? 'file' : 'hmac'
}

/** The fields for a Data Store's credentials. */
export function Credentials({ provider, store, server }: CredentialsProps) {
  const kinds = KINDS[provider]?.filter(
    (kind) => kind !== SERVER || server.assumesRoles || store?.assumedRole,
  )
  const [kind, setKind] = useState(store ? kindOf(store) : kinds?.[0]?.[0])
  if (!kinds) return <AccessKey store={store} />
  const kept = store && kindOf(store) === kind ? store : undefined
  return (
    <>
      <SelectField
        name="credentials"
        label="Credentials"
        value={kind}
        onChange={(event) => setKind(event.target.value)}
        options={kinds}
        className="sm:col-span-2"
      />
      {kind === 'file' && <KeyFile account={kept?.serviceAccount ?? undefined} />}
      {kind === 'hmac' && <AccessKey store={kept} />}
      {kind === 'sas' && <Secret name="sasToken" label="SAS token" isKept={kept !== undefined} />}
      {kind === 'account' && <Secret name="storageAccountKey" label="Key" isKept={kept !== undefined} />}
      {kind === 'federation' && (
        <Federation provider={provider} given={kept?.federation ?? undefined} server={server} />
      )}
      {kind === 'server' && (
        <>
          <TextField
            mono
            className="sm:col-span-2"
            name="assumedRole"
            label="Role (ARN)"
            defaultValue={kept?.assumedRole ?? undefined}
          />
          <AfterSaving />
        </>
      )}
    </>
  )
}

function AccessKey({ store }: { store: DataStore | undefined }) {
  return (
    <>
      <TextField name="accessKeyId" label="Access key id" defaultValue={store?.accessKeyId} mono />
      <Secret name="secretAccessKey" label="Secret access key" isKept={store !== undefined} />
    </>
  )
}

/** `isKept`: the Data Store has a secret of this kind, which stays if none is entered. */
function Secret({ name, label, isKept }: { name: string; label: string; isKept: boolean }) {
  return (
    <TextField
      name={name}
      label={label}
      type="password"
      mono
      placeholder={isKept ? 'unchanged' : undefined}
      hint={isKept ? 'Leave empty to keep the current one.' : STORED}
    />
  )
}

const FEDERATION_FIELDS: Partial<Record<Provider, [name: FederationField, label: string][]>> = {
  azure: [
    ['tenantId', 'Tenant id'],
    ['clientId', 'Client id of the application'],
  ],
  gcs: [
    ['identityProvider', 'Provider in the workload identity pool'],
    ['serviceAccount', 'Service account to impersonate'],
  ],
}
const ROLE_FIELD: [name: FederationField, label: string][] = [['role', 'Role (ARN)']]
type FederationField = keyof NonNullable<DataStore['federation']>

type FederationProps = Omit<CredentialsProps, 'store'> & { given: DataStore['federation'] | undefined }

function Federation({ provider, given, server: { unreachable } }: FederationProps) {
  return (
    <>
      {unreachable && (
        <p className="text-bad text-sm sm:col-span-2">
          Clouds on the internet cannot read this server's keys, because {unreachable}. Use keys instead.
        </p>
      )}
      {(FEDERATION_FIELDS[provider] ?? ROLE_FIELD).map(([name, label]) => (
        <TextField
          mono
          className="sm:col-span-2"
          key={name}
          name={`federation.${name}`}
          label={label}
          optional={name === 'serviceAccount'}
          defaultValue={given?.[name]}
        />
      ))}
      <AfterSaving />
    </>
  )
}

function AfterSaving() {
  return (
    <p className="text-ink-soft text-sm sm:col-span-2">
      The Data Store's page shows what to paste in your cloud, after it is saved.
    </p>
  )
}

const STORED = 'Stored encrypted. It is never shown again.'

/** `account` is the service account whose key the Data Store has. */
function KeyFile({ account }: { account: string | undefined }) {
  return (
    <>
      <TextField name="keyFile" label="Key file (JSON)" type="file" accept="application/json,.json" />
      <TextArea
        name="serviceAccountKey"
        label="Or its content"
        mono
        placeholder={account ? 'unchanged' : '{ "type": "service_account", … }'}
        hint={account ? `Leave both empty to keep the current key of ${account}.` : STORED}
      />
    </>
  )
}
