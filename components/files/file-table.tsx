import Link from 'next/link'
import { type File, isWaiting } from '#lib/dashboard/files/file.ts'
import { formatBytes } from '../format.ts'
import { Status } from '../ui/status.tsx'
import { Row, Table, Td, Th } from '../ui/table.tsx'
import { Time } from '../ui/time.tsx'
import { UploadProgress } from './upload-progress.tsx'

type Props = { files: File[]; pipeNames: Map<string, string>; now: number }

export function FileTable({ files, pipeNames, now }: Props) {
  const head = (
    <>
      <Th>File</Th>
      <Th>Status</Th>
      <Th className="text-right">Size</Th>
      <Th>Pipe</Th>
      <Th>Sender</Th>
      <Th className="text-right">Created</Th>
    </>
  )
  return (
    <Table caption="Files" head={head}>
      {files.map((file) => (
        <Row key={file.id}>
          <Td long className="font-medium">
            <Link href={`/dashboard/files/${file.id}`} className="row-link" title={file.filename}>
              {file.filename}
            </Link>
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
  )
}
