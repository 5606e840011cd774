import Link from 'next/link'
import { formatBytes, formatCount } from '#components/format.ts'
import { ActionForm } from '#components/ui/action-form.tsx'
import { ConfirmDialog } from '#components/ui/confirm-dialog.tsx'
import { IfMay } from '#components/ui/rights.tsx'
import { Status } from '#components/ui/status.tsx'
import { ACTIONS, NAME, NUMBER, SOFT, Table } from '#components/ui/table.tsx'
import { Time } from '#components/ui/time.tsx'
import type { UploadLink } from '#lib/upload-links/upload-link.ts'
import { deleteLink, switchLink } from './actions.ts'
import { EditLink } from './forms.tsx'

type Props = { links: UploadLink[]; addresses: string[] }

export function LinkTable({ links, addresses }: Props) {
  return (
    <Table
      caption="Upload links"
      rows={links}
      columns={[
        ['Title', ({ title, senderId }) => <FilesOf senderId={senderId}>{title}</FilesOf>, NAME],
        ['Status', ({ state }) => <Status state={state} />],
        ['Password', ({ hasPassword }) => (hasPassword ? 'yes' : 'no'), { ...SOFT, spare: true }],
        ['Files', ({ filesCreated, maxFiles }) => used(filesCreated, maxFiles, formatCount), NUMBER],
        ['Size', ({ bytesCreated, maxBytes }) => used(bytesCreated, maxBytes, formatBytes), NUMBER],
        ['Expires', ({ expiresAt }) => (expiresAt ? <Time at={expiresAt} /> : 'never'), SOFT],
        ['Actions', (link) => <Actions link={link} addresses={addresses} />, ACTIONS],
      ]}
    />
  )
}

const used = (count: number, most: number | null, format: (count: number) => string) =>
  most === null ? format(count) : `${format(count)} of ${format(most)}`

function FilesOf({ senderId, children }: { senderId: string; children: string }) {
  return (
    <Link href={`/dashboard/files?senderId=${senderId}`} className="hover:underline">
      {children}
    </Link>
  )
}

function Actions({ link, addresses }: Omit<Props, 'links'> & { link: UploadLink }) {
  const { id, title, state } = link
  const isClosed = state === 'closed'
  return (
    <IfMay right="build">
      <span className="inline-flex items-center gap-1">
        <ActionForm
          action={switchLink.bind(null, id, !isClosed)}
          submit={isClosed ? 'Reopen' : 'Close'}
          about={` ${title}`}
          submitSize="sm"
          submitTone="quiet"
          className="relative inline-flex"
        />
        <EditLink link={link} addresses={addresses} />
        <ConfirmDialog
          trigger="Delete"
          title={`Delete ${title}`}
          name={title}
          confirm="Delete this link"
          action={deleteLink.bind(null, id)}
        >
          <p>
            The link stops working, and its uploads in progress stop. Files that have arrived are kept. To let
            uploads finish, close the link instead.
          </p>
        </ConfirmDialog>
      </span>
    </IfMay>
  )
}
