import { formatBytes, formatCount } from '#components/format.ts'
import { PageHeader } from '#components/shell/page-header.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { CopyableId } from '#components/ui/copyable.tsx'
import { Facts } from '#components/ui/facts.tsx'
import { TextField } from '#components/ui/field.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { Panel } from '#components/ui/panel.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import { getRuntime } from '#lib/platform/runtime.ts'
import { listSenderKeys } from '#lib/sftp/sender-keys.ts'
import { listPipes } from '#lib/workspace/pipes/read-pipes.ts'
import { showSender } from '#lib/workspace/senders/read-senders.ts'
import { listGroups } from '#lib/workspace/senders/sender-groups.ts'
import { listTokens } from '#lib/workspace/tokens/given-tokens.ts'
import { currentActor } from '../../../session.ts'
import { orNotFound } from '../../or-not-found.ts'
import { pageOf, readSearch, type Search } from '../../page-query.ts'
import { titledBy } from '../../title-of.ts'
import { change, revoke } from '../actions.ts'
import { RotateSender } from '../forms.tsx'
import { GroupField } from '../groups/forms.tsx'
import { IssuedTokens } from '../issued-tokens.tsx'
import { LimitsForm } from '../limits-form.tsx'
import { SenderKeys } from '../sender-keys.tsx'
import { LastSeen, SenderState } from '../sender-table.tsx'
import { WaysIn } from '../ways-in.tsx'

type Props = { params: Promise<{ id: string }>; searchParams: Search }

export const generateMetadata = titledBy('Senders', showSender)

export default async function SenderPage({ params, searchParams }: Props) {
  const { id } = await params
  const query = await readSearch(searchParams)
  const actor = await currentActor('see')
  const sender = await orNotFound(showSender(getRuntime(), actor, id))
  const keys = await listSenderKeys(getRuntime(), actor, id)
  const groups = await listGroups(getRuntime(), actor)
  const group = groups.find(({ id }) => id === sender.groupId)
  const { data: pipes } = await listPipes(getRuntime(), actor, { limit: 100 })
  const previousUntil = sender.previousTokenUntil
  const tokens = await orNotFound(listTokens(getRuntime(), actor, { ...pageOf(query, 20), senderId: id }))
  return (
    <>
      <PageHeader
        back={{ href: '/dashboard/senders', label: 'Senders' }}
        title={sender.name}
        description={<CopyableId id={id} what="Sender id" />}
        beside={<SenderState sender={sender} />}
      />
      <div className="space-y-5">
        {sender.exposedAt && !sender.revokedAt && (
          <Notice tone="bad" title="This token was exposed in a browser">
            It was sent to the upload endpoint <Time at={sender.exposedAt} />
            {sender.exposedOrigin && <> from a page on {sender.exposedOrigin}</>}. Anyone who has seen it can
            issue tokens in your name. Rotate it without an overlap, and give browsers only temporary tokens.
          </Notice>
        )}
        <Panel
          title="Token"
          aside={
            !sender.revokedAt && (
              <IfMay right="build">
                <RotateSender id={id} />
              </IfMay>
            )
          }
        >
          <Facts
            facts={{
              Token: <code className="font-mono text-xs">sk_…{sender.tokenLast4}</code>,
              Requests: formatCount(sender.requestCount),
              'Last seen': <LastSeen sender={sender} />,
              'Last address': sender.lastAddress ?? undefined,
              Transferred: formatBytes(sender.transferredBytes),
              Files: <TextLink href={`/dashboard/files?senderId=${id}`}>Show them</TextLink>,
              'Refused sign-ins': sender.refusedAt ? (
                <span>
                  {formatCount(sender.refusedCount)}, the last one <Time at={sender.refusedAt} />
                </span>
              ) : undefined,
              Created: <Time at={sender.createdAt} />,
              'Old token':
                previousUntil && new Date(previousUntil) > new Date() ? (
                  <span>
                    still valid, expires <Time at={previousUntil} />
                  </span>
                ) : undefined,
              Revoked: sender.revokedAt ? <Time at={sender.revokedAt} /> : undefined,
            }}
          />
        </Panel>
        {!sender.revokedAt && (
          <WaysIn
            limits={{
              pipeIds: sender.pipeIds ?? group?.pipeIds ?? null,
              sources: sender.sources ?? group?.sources ?? null,
            }}
            pipes={pipes}
          />
        )}
        <SenderKeys sender={sender} keys={keys} takesSftp={getRuntime().config.sftpPort !== undefined} />
        <IssuedTokens page={tokens} pipes={pipes} path={`/dashboard/senders/${id}`} query={query} />
        {!sender.revokedAt && (
          <>
            <Panel
              title="What it may use"
              description="Its own limits replace those of its group. They apply from the next request, also to open sessions."
            >
              <LimitsForm
                action={change.bind(null, id)}
                limits={sender}
                pipes={pipes.map(({ id, name }) => ({ id, name }))}
                otherwise={sender.groupId ? 'None chosen: as in its group.' : 'None chosen: all of them.'}
              >
                <div className="grid gap-5 sm:grid-cols-2">
                  <TextField name="name" label="Name" defaultValue={sender.name} maxLength={100} />
                  <GroupField
                    groups={groups.map(({ id, name }) => ({ id, name }))}
                    label="Group"
                    defaultValue={sender.groupId ?? ''}
                  />
                </div>
              </LimitsForm>
            </Panel>
            <IfMay right="build">
              <Panel
                tone="danger"
                title="Revoke"
                description="Immediate and permanent. Every temporary token that this Sender requested is also revoked, even for uploads in progress."
                aside={
                  <ConfirmDialog
                    trigger="Revoke…"
                    look={{ tone: 'danger' }}
                    title={`Revoke ${sender.name}`}
                    name={sender.name}
                    confirm="Revoke this Sender"
                    action={revoke.bind(null, id)}
                  >
                    <p>
                      Backends that use this Sender's token will get 401. Uploads in progress that use its
                      temporary tokens stop.
                    </p>
                  </ConfirmDialog>
                }
              />
            </IfMay>
          </>
        )}
      </div>
    </>
  )
}
