'use server'

import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import {
  type Explanation,
  explainSignature,
  receivedInput,
} from '#lib/webhooks/signature/explain-signature.ts'
import { act } from '../../../actions/act.ts'
import { textOf } from '../../../actions/form-fields.ts'

export async function explain(_previous: unknown, data: FormData) {
  return act<Explanation>('operate', data, async (runtime, actor) => {
    const given = {
      outputId: textOf(data, 'outputId') ?? '',
      headers: textOf(data, 'headers') ?? '',
      // The signature covers every byte, but forms submit line endings as CRLF.
      body: String(data.get('body') ?? '').replaceAll('\r\n', '\n'),
      secret: textOf(data, 'secret'),
    }
    return { data: await explainSignature(runtime, actor, parseInput(receivedInput, given)) }
  })
}
