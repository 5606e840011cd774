'use server'

import { isDeepStrictEqual } from 'node:util'
import { act } from '#app/actions/act.ts'
import { textOf } from '#app/actions/form-fields.ts'
import { invalidRequest, isSluiceError } from '#lib/platform/kernel/errors.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { OBJECT_SETTINGS } from '#lib/workspace/pipes/object-settings.ts'
import { pipeChanges } from '#lib/workspace/pipes/pipe.ts'
import { showPipe } from '#lib/workspace/pipes/read-pipes.ts'
import { tryObject, updatePipe } from '#lib/workspace/pipes/update-pipe.ts'

/** Saves the object settings and tests them on each bucket. */
export async function setObject(id: string, _previous: unknown, data: FormData) {
  return act<{ refusals: string[] }>('build', data, async (runtime, actor) => {
    const before = await showPipe(runtime, actor, id)
    const pipe = await updatePipe(runtime, actor, id, changesIn(data))
    const isNew = pipe.object !== null && !isDeepStrictEqual(pipe.object, before.object)
    const refusals = isNew ? await tryObject(runtime, actor, pipe) : []
    return { message: 'Saved. Uploads in progress keep their settings.', data: { refusals } }
  })
}

/** Errors in individual entries are reported on the field that contains all the entries. */
function changesIn(data: FormData) {
  try {
    return parseInput(pipeChanges, { object: objectIn(data) })
  } catch (error) {
    if (!isSluiceError(error)) throw error
    throw invalidRequest(
      (error.fields ?? []).map(({ field, message }) => {
        const [, of = '', entry] = field.split(/\.(.*?)(?:\.(.*))?$/s)
        return { field: `object.${of}`, message: entry ? `${entry} ${message}` : message }
      }),
    )
  }
}

function objectIn(data: FormData): object | null {
  const keyId = textOf(data, 'object.encryption')
  const encryption = textOf(data, 'encryption')
  const tokensMaySet = OBJECT_SETTINGS.filter((name) => data.getAll('tokensMaySet').includes(name))
  const given = {
    cacheControl: textOf(data, 'object.cacheControl'),
    contentDisposition: textOf(data, 'object.contentDisposition'),
    storageClass: textOf(data, 'object.storageClass'),
    encryption: encryption && { type: encryption, ...(encryption === 'SSE-KMS' && { keyId: keyId ?? '' }) },
    metadata: pairsIn(data, 'object.metadata'),
    tags: pairsIn(data, 'object.tags'),
    tokensMaySet: tokensMaySet.length > 0 ? tokensMaySet : undefined,
  }
  const set = Object.entries(given).filter(([, value]) => value !== undefined)
  return set.length > 0 ? Object.fromEntries(set) : null
}

/** One entry per line: `name: value`. */
function pairsIn(data: FormData, name: string): Record<string, string> | undefined {
  const lines = (textOf(data, name) ?? '').split('\n').filter((line) => line.trim() !== '')
  if (lines.length === 0) return undefined
  const pairs = lines.map((line) => {
    const at = line.indexOf(':')
    return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()]
  })
  return Object.fromEntries(pairs)
}
