import { clsx } from 'clsx'
import { formatBytes, formatPercent } from '#components/format.ts'
import { createdColumn, SortHead, selectColumn } from '#components/lists/columns.tsx'
import { Selection } from '#components/lists/selection.tsx'
import { RowId } from '#components/ui/copyable.tsx'
import { Progress } from '#components/ui/progress.tsx'
import { Status } from '#components/ui/status.tsx'
import { type Column, LONG, NAME, NUMBER, RowLink, SOFT, Table } from '#components/ui/table.tsx'
import { type File, shownStatus } from '#lib/dashboard/files/file.ts'
import { PROTOCOL_NAMES } from '#lib/dashboard/files/words.ts'
import { SelectedFiles } from './selected-files.tsx'

type Props = {
  files: File[]
  /** Absent in the list of one Pipe. */
  pipeNames: Map<string, string> | undefined
  /** The last errors of imports that will be retried. */
  failing: ReadonlyMap<string, string>
  now: number
  path: string
  query: Record<string, string | undefined>
}

export function FileTable({ files, pipeNames, failing, now, path, query }: Props) {
  const sorted = { path, query }
  const idsOf = (which: (file: File) => boolean) => files.filter(which).map(({ id }) => id)
  return (
    <Selection ids={files.map(({ id }) => id)}>
      <Table
        caption="Files"
        rows={files}
        columns={[
          selectColumn(({ filename }: File) => filename),
          ['File', (file) => <FileName file={file} problem={failing.get(file.id)} />, NAME],
          ['Status', (file) => <FileStatus file={file} retrying={failing.has(file.id)} now={now} />],
          [
            'Size',
            ({ size }) => (size === null ? '–' : formatBytes(size)),
            { ...NUMBER, head: <SortHead title="Size" {...sorted} down="largest" up="smallest" /> },
          ],
          ...(pipeNames ? [pipeColumn(pipeNames)] : []),
          ['Sender', ({ sender }) => sender, { ...REST, spare: pipeNames !== undefined }],
          createdColumn(sorted),
        ]}
      />
      <SelectedFiles
        open={idsOf(({ status }) => status === 'uploading' || status === 'transferring')}
        awaiting={idsOf((file) => shownStatus(file, now) === 'awaiting_decision')}
      />
    </Selection>
  )
}

/** On phones, it gets what the other values leave of their line. */
const REST = { ...LONG, className: clsx(SOFT.className, '@max-[44rem]:flex-1') }

const pipeColumn = (names: Map<string, string>): Column<File> => [
  'Pipe',
  ({ pipeId }) => names.get(pipeId) ?? <span className="font-mono text-xs">{pipeId}</span>,
  REST,
]

type NameProps = { file: File; problem?: string | undefined }

export function FileName({ file: { id, filename, protocol }, problem }: NameProps) {
  return (
    <>
      <RowId id={id} what={`the id of ${filename}`}>
        <RowLink href={`/dashboard/files/${id}`} title={filename}>
          {filename}
        </RowLink>
        {protocol !== 'tus' && (
          <span className="ml-2 font-normal text-ink-faint text-xs">{PROTOCOL_NAMES[protocol]}</span>
        )}
      </RowId>
      {problem && (
        <span className="block whitespace-normal pb-1 font-normal text-ink-soft text-xs">{problem}</span>
      )}
    </>
  )
}

type StatusProps = { file: File; retrying: boolean; now: number }

export function FileStatus({ file, retrying, now }: StatusProps) {
  const { id, offset, size, status } = file
  if (retrying) return <Status state="retrying" />
  const shown = shownStatus(file, now)
  if (status !== 'uploading') return <Status state={shown} />
  return <UploadProgress id={id} offset={offset} size={size} waiting={shown === 'waiting'} />
}

type ProgressProps = { id: string; offset: number; size: number | null; waiting: boolean }

export function UploadProgress({ id, offset, size, waiting }: ProgressProps) {
  return (
    <span className="inline-flex items-center gap-2.5" data-upload={id}>
      {waiting ? (
        <Status state="waiting" />
      ) : (
        <Status state="uploading" label={size ? formatPercent(offset, size) : 'uploading'} />
      )}
      {size !== null && (
        <Progress value={offset} max={size} label="Uploaded" className="w-16 @min-[44rem]:@max-4xl:hidden" />
      )}
    </span>
  )
}
