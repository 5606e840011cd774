import { FileName, FileStatus } from '#app/dashboard/files/file-table.tsx'
import { LONG, NAME, SOFT_NUMBER, Table } from '#components/ui/table.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import { explainFailure, type File } from '#lib/dashboard/files/file.ts'

type Props = { files: File[]; path: string; now: number }

/** A Pipe's newest files, and why those that failed did. */
export function LatestFiles({ files, path, now }: Props) {
  return (
    <section aria-labelledby="latest">
      <div className="mb-2 flex items-baseline justify-between">
        <h2 id="latest" className="font-semibold text-base">
          Latest files
        </h2>
        <TextLink href={path} className="text-sm">
          All files
        </TextLink>
      </div>
      <Table
        caption="Latest files"
        rows={files}
        rowKey={({ id }) => id}
        columns={[
          ['File', (file) => <FileName file={file} />, NAME],
          ['Status', (file) => <FileStatus file={file} now={now} />],
          ['Reason', reasonOf, { ...LONG, hint: reasonOf }],
          ['Created', ({ createdAt }) => <Time at={createdAt} />, SOFT_NUMBER],
        ]}
      />
    </section>
  )
}

const reasonOf = ({ failureReason, decision }: File) =>
  decision?.reason ?? (failureReason ? explainFailure(failureReason) : undefined)
