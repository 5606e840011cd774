'use server'

import { redirect } from 'next/navigation'
import { act } from '#app/actions/act.ts'
import { textOf } from '#app/actions/form-fields.ts'
import { createImportsByHand } from '#lib/imports/create-imports.ts'
import { parsePastedUrls } from '#lib/imports/import.ts'

export async function importFiles(id: string, _previous: unknown, data: FormData) {
  return act('operate', data, async (runtime, actor) => {
    await createImportsByHand(runtime, actor, {
      pipeId: id,
      subject: `dashboard:${actor.id}`,
      files: parsePastedUrls(textOf(data, 'urls') ?? ''),
    })
    redirect(`/dashboard/pipes/${id}/files`)
  })
}
