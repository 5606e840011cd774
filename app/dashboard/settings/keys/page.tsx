import { KeyRound } from 'lucide-react'
import { Pager } from '#components/shell/pager.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { Status } from '#components/ui/status.tsx'
import { ACTIONS, LONG, NAME, SOFT, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import {
  type AccountKey,
  type KeyScope,
  listAccountKeys,
  scopesFor,
} from '#lib/identity/accounts/account-keys.ts'
import { may } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { requireSession } from '../../../session.ts'
import { orNotFound } from '../../or-not-found.ts'
import { pageOf, readSearch, type Search } from '../../page-query.ts'
import { CreateKey, RevokeKey } from './forms.tsx'

export const metadata = { title: 'Account keys' }

const SCOPES: Record<KeyScope, string> = {
  read: 'Read: see everything except secrets',
  write: 'Write: also change Pipes, outputs, Senders and uploads',
  admin: 'Admin: also manage Data Stores and erase records',
}

export default async function Keys({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const session = await requireSession('see')
  const { data, nextCursor } = await orNotFound(listAccountKeys(getRuntime(), session.actor, pageOf(query)))
  const mayMake = may(session.actor, 'build')
  const now = getRuntime().clock.now()
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <p className="text-ink-soft text-sm">
          Keys for the management API. A key never has more rights than its creator currently has.
        </p>
        {mayMake && (
          <CreateKey
            hasPassword={session.hasPassword}
            asked={query.new === '1'}
            scopes={scopesFor(session.actor).map((value) => ({ value, label: SCOPES[value] }))}
          />
        )}
      </div>
      {data.length === 0 ? (
        <EmptyState icon={KeyRound} title="No account keys">
          Create one to manage Data Stores, Pipes and Senders from a program. Uploads don't need one; they use
          Senders.
        </EmptyState>
      ) : (
        <Table
          caption="Account keys"
          rows={data}
          columns={[
            ['Name', ({ name }) => name, NAME],
            ['Status', (key) => <Status state={stateOf(key, now)} />],
            ['Key', ({ last4 }) => `ak_…${last4}`, { className: 'font-mono text-ink-soft text-xs' }],
            ['Scope', (key) => <Scope accountKey={key} />, SOFT],
            ['Created by', ({ createdBy }) => createdBy ?? '–', LONG],
            ['Last used', ({ lastUsedAt }) => (lastUsedAt ? <Time at={lastUsedAt} /> : 'never'), SOFT],
            [
              'Actions',
              ({ id, name, revokedAt }) => mayMake && !revokedAt && <RevokeKey id={id} name={name} />,
              ACTIONS,
            ],
          ]}
        />
      )}
      <Pager path="/dashboard/settings/keys" query={query} nextCursor={nextCursor} />
    </>
  )
}

function Scope({ accountKey: { scope, expiresAt, revokedAt } }: { accountKey: AccountKey }) {
  if (!expiresAt || revokedAt) return scope
  return (
    <>
      {scope}, until <Time at={expiresAt} />
    </>
  )
}

function stateOf({ revokedAt, expiresAt }: AccountKey, nowMs: number) {
  if (revokedAt) return 'revoked'
  return expiresAt && Date.parse(expiresAt) <= nowMs ? 'expired' : 'active'
}
