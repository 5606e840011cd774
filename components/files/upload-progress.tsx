import { formatPercent } from '../format.ts'
import { Progress } from '../ui/progress.tsx'
import { Status } from '../ui/status.tsx'

type Props = { id: string; offset: number; size: number | null; waiting: boolean }

export function UploadProgress({ id, offset, size, waiting }: Props) {
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
