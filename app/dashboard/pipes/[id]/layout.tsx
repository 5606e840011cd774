import type { ReactNode } from 'react'
import { RejectingBanner } from '#components/data-stores/rejecting-banner.tsx'
import { PageHeader } from '#components/shell/page-header.tsx'
import { PageTabs } from '#components/shell/page-tabs.tsx'
import { CopyableId } from '#components/ui/copyable.tsx'
import { may } from '#lib/identity/rights.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { readStates } from '#lib/workspace/data-stores/read-data-stores.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { currentActor } from '../../../session.ts'
import { orNotFound } from '../../or-not-found.ts'
import { BlockedNotice, PipeState } from '../pipe-state.tsx'

type Props = { params: Promise<{ id: string }>; children: ReactNode }

export default async function PipeLayout({ params, children }: Props) {
  const { id } = await params
  const actor = await currentActor('see')
  const pipe = await orNotFound(showPipe(getRuntime(), actor, id))
  const dataStoreIds = pipe.destinations.map(({ dataStoreId }) => dataStoreId)
  const states = await readStates(getRuntime().db, dataStoreIds)
  const at = `/dashboard/pipes/${id}`
  return (
    <>
      <PageHeader
        back={{ href: '/dashboard/pipes', label: 'Pipes' }}
        title={pipe.name}
        description={<CopyableId id={pipe.id} what="Pipe id" />}
        beside={<PipeState pipe={pipe} states={states} />}
      />
      <PageTabs label="Pipe" tabs={tabsOf(at, may(actor, 'operate'))}>
        <BlockedNotice pipe={pipe} states={states} />
        <RejectingBanner actor={actor} only={dataStoreIds} />
        {children}
      </PageTabs>
    </>
  )
}

const tabsOf = (at: string, mayUpload: boolean) => [
  { href: at, title: 'Overview' },
  { href: `${at}/files`, title: 'Files' },
  {
    href: `${at}/sources`,
    title: 'Connect',
    sections: [
      { href: `${at}/sources`, title: 'Sources' },
      { href: `${at}/embed`, title: 'Embed' },
      { href: `${at}/links`, title: 'Upload links' },
      ...(mayUpload
        ? [
            { href: `${at}/try`, title: 'Try it' },
            { href: `${at}/import`, title: 'Import' },
          ]
        : []),
    ],
  },
  {
    href: `${at}/settings`,
    title: 'Settings',
    sections: [
      { href: `${at}/settings`, title: 'General' },
      { href: `${at}/destinations`, title: 'Destinations' },
      { href: `${at}/webhooks`, title: 'Webhooks' },
      { href: `${at}/restrictions`, title: 'Restrictions' },
      { href: `${at}/objects`, title: 'Objects' },
      { href: `${at}/decisions`, title: 'Decisions' },
    ],
  },
]
