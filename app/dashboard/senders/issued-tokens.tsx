import Link from 'next/link'
import { formatBytes } from '#components/format.ts'
import { Pager } from '#components/shell/pager.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { Status } from '#components/ui/status.tsx'
import { ACTIONS, LONG, NUMBER, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import type { Page } from '#lib/platform/db/page.ts'
import type { Token } from '#lib/workspace/tokens/token.ts'
import { revokeIssued } from './actions.ts'

type Props = {
  page: Page<Token>
  pipes: { id: string; name: string }[]
  path: string
  query: Record<string, string | undefined>
}

export function IssuedTokens({ page, pipes, path, query }: Props) {
  const names = new Map(pipes.map(({ id, name }) => [id, name]))
  return (
    <section aria-labelledby="issued">
      <h2 id="issued" className="mb-2 font-semibold text-base">
        Temporary tokens
      </h2>
      {page.data.length === 0 ? (
        <Panel
          title="No tokens yet"
          description="Each token your backend requests is listed here, with its limits."
        />
      ) : (
        <Table
          caption="Temporary tokens"
          rows={page.data}
          columns={[
            ['Issued', ({ createdAt }) => <Time at={createdAt} />],
            ['Status', (token) => <TokenState token={token} />],
            ['Pipe', ({ pipeId }) => <PipeLink id={pipeId} name={names.get(pipeId)} />, LONG],
            ['Subject', ({ subject }) => subject ?? '–', LONG],
            ['Files', (token) => <Allowance token={token} />, NUMBER],
            ['Actions', (token) => isGood(token) && <Revoke id={token.id} />, ACTIONS],
          ]}
        />
      )}
      <Pager path={path} query={query} nextCursor={page.nextCursor} />
    </section>
  )
}

function PipeLink({ id, name = id }: { id: string; name: string | undefined }) {
  return (
    <Link href={`/dashboard/pipes/${id}`} className="hover:underline">
      {name}
    </Link>
  )
}

function Allowance({ token: { filesCreated, maxFiles, maxBytes } }: { token: Token }) {
  return (
    <>
      {filesCreated}
      {maxFiles !== null && ` of ${maxFiles}`}
      {maxBytes !== null && <span className="text-ink-faint">, up to {formatBytes(maxBytes)} each</span>}
    </>
  )
}

function Revoke({ id }: { id: string }) {
  return (
    <IfMay right="build">
      <ConfirmDialog
        trigger="Revoke"
        title="Revoke this token"
        confirm="Revoke"
        action={revokeIssued.bind(null, id)}
      >
        <p>
          The token stops working immediately, even for uploads in progress. They can continue with a new
          token from the same Sender with the same subject.
        </p>
      </ConfirmDialog>
    </IfMay>
  )
}

const isGood = (token: Token) => !token.revokedAt && new Date(token.expiresAt) > new Date()

function TokenState({ token }: { token: Token }) {
  if (token.revokedAt) return <Status state="revoked" />
  if (!isGood(token)) return <Status state="expired" />
  return (
    <span className="flex items-center gap-2">
      <Status state="active" />
      <span className="text-ink-faint text-xs">
        expires <Time at={token.expiresAt} />
      </span>
    </span>
  )
}
