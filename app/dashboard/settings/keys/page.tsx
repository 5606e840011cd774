import { KeyRound } from 'lucide-react'
import { CreateKey } from '#components/settings/create-key.tsx'
import { RevokeKey } from '#components/settings/revoke-key.tsx'
import { Pager } from '#components/shell/pager.tsx'
import { EmptyState } from '#components/ui/empty-state.tsx'
import { Status } from '#components/ui/status.tsx'
import { Row, Table, Td, Th } from '#components/ui/table.tsx'
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

export const metadata = { title: 'Account keys' }

const SCOPES: Record<KeyScope, string> = {
  read: 'Read: see everything except secrets',
  write: 'Write: also Pipes, outputs, Senders and uploads',
  admin: 'Admin: also Data Stores, and erasing records',
}

export default async function Keys({ searchParams }: { searchParams: Search }) {
  const query = await readSearch(searchParams)
  const session = await requireSession('see')
  const { data, nextCursor } = await orNotFound(listAccountKeys(getRuntime(), session.actor, pageOf(query)))
  const mayMake = may(session.actor, 'build')
  const now = getRuntime().clock.now()
  const head = (
    <>
      <Th>Name</Th>
      <Th>Status</Th>
      <Th>Key</Th>
      <Th>Scope</Th>
      <Th>Made by</Th>
      <Th>Last used</Th>
      <Th>
        <span className="sr-only">Actions</span>
      </Th>
    </>
  )
  return (
    <>
      <div className="mb-3 flex flex-wrap items-center justify-between gap-3">
        <p className="text-ink-soft text-sm">
          Keys for the management API. A key never has more rights than whoever made it has now.
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
        <EmptyState icon={KeyRound} title="No account key">
          Create one to manage Data Stores, Pipes and Senders by program. To upload you need none: that is
          what Senders are for.
        </EmptyState>
      ) : (
        <Table caption="Account keys" head={head}>
          {data.map((key) => (
            <Row key={key.id}>
              <Td long className="font-medium">
                {key.name}
              </Td>
              <Td label="Status">
                <Status state={stateOf(key, now)} />
              </Td>
              <Td label="Key" className="font-mono text-ink-soft text-xs">
                ak_…{key.last4}
              </Td>
              <Td label="Scope" className="text-ink-soft">
                {key.scope}
                {key.expiresAt && !key.revokedAt && (
                  <>
                    , until <Time at={key.expiresAt} />
                  </>
                )}
              </Td>
              <Td long label="Made by" className="text-ink-soft">
                {key.createdBy ?? '–'}
              </Td>
              <Td label="Last used" className="text-ink-soft">
                {key.lastUsedAt ? <Time at={key.lastUsedAt} /> : 'never'}
              </Td>
              <Td className="text-right">
                {mayMake && !key.revokedAt && <RevokeKey id={key.id} name={key.name} />}
              </Td>
            </Row>
          ))}
        </Table>
      )}
      <Pager path="/dashboard/settings/keys" query={query} nextCursor={nextCursor} />
    </>
  )
}

function stateOf({ revokedAt, expiresAt }: AccountKey, nowMs: number) {
  if (revokedAt) return 'revoked'
  return expiresAt && Date.parse(expiresAt) <= nowMs ? 'expired' : 'active'
}
