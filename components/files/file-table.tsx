import Link from 'next/link'
import { type File, isWaiting } from '#lib/dashboard/files/file.ts'
import { formatBytes } from '../format.ts'
import { SelectAll, Selection, SelectRow } from '../lists/selection.tsx'
import { SortHead } from '../lists/sort-head.tsx'
import { RowId } from '../ui/row-id.tsx'
import { Status } from '../ui/status.tsx'
import { Row, Table, Td, Th } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { PROTOCOL_NAMES } from './protocol-names.ts'
import { SelectedFiles } from './selected-files.tsx'
import { UploadProgress } from './upload-progress.tsx'

type Props = {
  files: File[]
  pipeNames: Map<string, string>
  now: number
  path: string
  query: Record<string, string | undefined>
}

export function FileTable({ files, pipeNames, now, path, query }: Props) {
  const head = (
    <>
      <Th className="w-8 pr-0">
        <SelectAll />
      </Th>
      <Th>File</Th>
      <Th>Status</Th>
      <SortHead title="Size" path={path} query={query} down="largest" up="smallest" />
      <Th>Pipe</Th>
      <Th>Sender</Th>
      <SortHead title="Created" path={path} query={query} down="newest" up="oldest" usual="newest" />
    </>
  )
  return (
    <Selection ids={files.map(({ id }) => id)}>
      <Table caption="Files" head={head}>
        {files.map((file) => (
          <Row key={file.id}>
            <Td className="select-cell pr-0">
              <SelectRow id={file.id} name={file.filename} />
            </Td>
            <Td long className="font-medium">
              <RowId id={file.id} what={`the id of ${file.filename}`}>
                <Link href={`/dashboard/files/${file.id}`} className="row-link" title={file.filename}>
                  {file.filename}
                </Link>
                {file.protocol !== 'tus' && (
                  <span className="ml-2 text-ink-faint text-xs">{PROTOCOL_NAMES[file.protocol]}</span>
                )}
              </RowId>
            </Td>
            <Td label="Status">
              {file.status === 'uploading' ? (
                <UploadProgress
                  id={file.id}
                  offset={file.offset}
                  size={file.size}
                  waiting={isWaiting(file, now)}
                />
              ) : (
                <Status state={file.status} />
              )}
            </Td>
            <Td label="Size" number>
              {file.size === null ? '–' : formatBytes(file.size)}
            </Td>
            <Td long label="Pipe" className="text-ink-soft">
              {pipeNames.get(file.pipeId) ?? <span className="font-mono text-xs">{file.pipeId}</span>}
            </Td>
            <Td long label="Sender" className="text-ink-soft">
              {file.sender}
            </Td>
            <Td label="Created" number className="text-ink-soft">
              <Time at={file.createdAt} />
            </Td>
          </Row>
        ))}
      </Table>
      <SelectedFiles
        open={files
          .filter(({ status }) => status === 'uploading' || status === 'transferring')
          .map(({ id }) => id)}
      />
    </Selection>
  )
}
