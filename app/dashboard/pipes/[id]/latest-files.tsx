import { FileName, FileStatus } from '#app/dashboard/files/file-table.tsx'
import { type Column, LONG, NAME, SOFT_NUMBER, Table } from '#components/ui/table.tsx'
import { TextLink } from '#components/ui/text-link.tsx'
import { Time } from '#components/ui/time.tsx'
import { explainFailure, type File } from '#lib/dashboard/files/file.ts'

type Props = { files: File[]; failing: ReadonlyMap<string, string>; path: string; now: number }

/** A Pipe's newest files, and why those that failed did. */
export function LatestFiles({ files, failing, path, now }: Props) {
  const reason = (file: File) => failing.get(file.id) ?? reasonOf(file)
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
        terse
        rows={files}
        columns={[
          ['File', (file) => <FileName file={file} />, NAME],
          ['Status', (file) => <FileStatus file={file} retrying={failing.has(file.id)} now={now} />],
          ...(files.some(reason)
            ? [['Reason', reason, { ...LONG, hint: reason }] satisfies Column<File>]
            : []),
          ['Created', ({ createdAt }) => <Time at={createdAt} />, SOFT_NUMBER],
        ]}
      />
    </section>
  )
}

const reasonOf = ({ failureReason, decision }: File) =>
  decision?.reason ?? (failureReason ? explainFailure(failureReason) : undefined)
