import { showFile } from '#lib/dashboard/files/show-file.ts'
import { SluiceError } from '#lib/platform/kernel/errors.ts'
import { showDelivery, showEvent } from '#lib/webhooks/log/show-delivery.ts'
import { exportOrProblem } from '../../../export-or-problem.ts'

const SHOW = { file: showFile, event: showEvent, delivery: showDelivery }

/** A file, event or delivery with all its details, as the API returns it. */
export async function GET(
  _request: Request,
  { params }: { params: Promise<{ kind: string; id: string }> },
): Promise<Response> {
  const { kind, id } = await params
  return exportOrProblem('see', async (runtime, actor) => {
    if (!Object.hasOwn(SHOW, kind)) throw new SluiceError('not_found')
    const shown = await SHOW[kind as keyof typeof SHOW](runtime, actor, id)
    return Response.json(shown, { headers: { 'Cache-Control': 'no-store' } })
  })
}
