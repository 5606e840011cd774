import Link from 'next/link'
import type { Page } from '#lib/platform/db/page.ts'
import type { Token } from '#lib/workspace/tokens/token.ts'
import { formatBytes } from '../format.ts'
import { Pager } from '../shell/pager.tsx'
import { Panel } from '../ui/panel.tsx'
import { IfMay } from '../ui/rights.tsx'
import { Status } from '../ui/status.tsx'
import { Row, Table, Td, Th } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { RevokeToken } from './revoke-token.tsx'

type Props = { page: Page<Token>; path: string; query: Record<string, string | undefined> }

export function IssuedTokens({ page, path, query }: Props) {
  const head = (
    <>
      <Th>Issued</Th>
      <Th>Status</Th>
      <Th>Pipe</Th>
      <Th>Subject</Th>
      <Th className="text-right">Files</Th>
      <Th>
        <span className="sr-only">Actions</span>
      </Th>
    </>
  )
  return (
    <section aria-labelledby="issued">
      <h2 id="issued" className="mb-2 font-semibold text-base">
        Temporary tokens
      </h2>
      {page.data.length === 0 ? (
        <Panel
          title="None yet"
          description="Each token that your backend asks for is listed here, with what it may do."
        >
          {null}
        </Panel>
      ) : (
        <Table caption="Temporary tokens" head={head}>
          {page.data.map((token) => (
            <Row key={token.id}>
              <Td label="Issued">
                <Time at={token.createdAt} />
              </Td>
              <Td label="Status">
                <TokenState token={token} />
              </Td>
              <Td label="Pipe" className="font-mono text-xs">
                <Link href={`/dashboard/pipes/${token.pipeId}`} className="hover:underline">
                  {token.pipeId}
                </Link>
              </Td>
              <Td long label="Subject" className="text-ink-soft">
                {token.subject ?? '–'}
              </Td>
              <Td label="Files" number>
                {token.filesCreated}
                {token.maxFiles !== null && ` of ${token.maxFiles}`}
                {token.maxBytes !== null && (
                  <span className="text-ink-faint"> · {formatBytes(token.maxBytes)}</span>
                )}
              </Td>
              <Td className="text-right">
                {isGood(token) && (
                  <IfMay right="build">
                    <RevokeToken id={token.id} />
                  </IfMay>
                )}
              </Td>
            </Row>
          ))}
        </Table>
      )}
      <Pager path={path} query={query} nextCursor={page.nextCursor} />
    </section>
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
        ends <Time at={token.expiresAt} />
      </span>
    </span>
  )
}
