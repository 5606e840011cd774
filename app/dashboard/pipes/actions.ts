'use server'

import { redirect } from 'next/navigation'
import { createImportsByHand } from '#lib/imports/create-imports.ts'
import { parsePastedUrls } from '#lib/imports/import.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { cancelUploadsOfPipe } from '#lib/uploads/endings/end-upload.ts'
import { createPipe } from '#lib/workspace/pipes/create-pipe.ts'
import { deletePipe } from '#lib/workspace/pipes/delete-pipe.ts'
import { pipeChanges, pipeInput } from '#lib/workspace/pipes/pipe.ts'
import { updatePipe } from '#lib/workspace/pipes/update-pipe.ts'
import { act } from '../../actions/act.ts'
import { assertConfirmed, bytesOf, listOf, textOf } from '../../actions/form-fields.ts'

/** The form suggests switching on the HTTP source, because the creator usually wants to use the Pipe right away. */
export async function create(_previous: unknown, data: FormData) {
  return act('build', async (runtime, actor) => {
    const given = {
      name: textOf(data, 'name'),
      dataStoreId: textOf(data, 'dataStoreId'),
      source: { http: data.get('sourceHttp') === 'on' },
    }
    const pipe = await createPipe(runtime, actor, parseInput(pipeInput, given))
    redirect(`/dashboard/pipes/${pipe.id}`)
  })
}

export async function switchSource(id: string, _previous: unknown, data: FormData) {
  const http = data.get('on') === 'on'
  return act('build', async (runtime, actor) => {
    await updatePipe(runtime, actor, id, parseInput(pipeChanges, { source: { http } }))
    return { message: http ? 'The source is on.' : 'The source is off. Uploads in progress continue.' }
  })
}

export async function switchUrlSource(id: string, _previous: unknown, data: FormData) {
  const url = data.get('on') === 'on'
  return act('build', async (runtime, actor) => {
    await updatePipe(runtime, actor, id, parseInput(pipeChanges, { source: { url } }))
    return { message: url ? 'The source is on.' : 'The source is off. Imports in progress continue.' }
  })
}

export async function switchSftpSource(id: string, _previous: unknown, data: FormData) {
  const sftp = data.get('on') === 'on'
  return act('build', async (runtime, actor) => {
    await updatePipe(runtime, actor, id, parseInput(pipeChanges, { source: { sftp } }))
    return {
      message: sftp ? 'The source is on.' : 'The source is off. Open sessions can finish their files.',
    }
  })
}

export async function importFiles(id: string, _previous: unknown, data: FormData) {
  const urls = (textOf(data, 'urls') ?? '').split(/\s+/).filter(Boolean)
  return act('operate', async (runtime, actor) => {
    await createImportsByHand(runtime, actor, {
      pipeId: id,
      subject: `dashboard:${actor.id}`,
      files: parsePastedUrls(urls),
    })
    redirect(`/dashboard/pipes/${id}/files`)
  })
}

export async function save(id: string, _previous: unknown, data: FormData) {
  return act('build', async (runtime, actor) => {
    const given = { name: textOf(data, 'name') ?? '' }
    await updatePipe(runtime, actor, id, parseInput(pipeChanges, given))
    return { message: 'Saved.' }
  })
}

export async function restrict(id: string, _previous: unknown, data: FormData) {
  return act('build', async (runtime, actor) => {
    const changes = {
      keyTemplate: textOf(data, 'keyTemplate') ?? '',
      maxFileBytes: bytesOf(data, 'maxFileBytes'),
      allowedTypes: listOf(data, 'allowedTypes'),
      allowedOrigins: listOf(data, 'allowedOrigins'),
      uploadExpirySeconds:
        Number(textOf(data, 'uploadExpirySeconds')) * Number(textOf(data, 'uploadExpiryUnit')),
      requireSubject: data.get('requireSubject') === 'on',
      verifyContent: data.get('verifyContent') === 'on',
    }
    await updatePipe(runtime, actor, id, parseInput(pipeChanges, changes))
    return { message: 'Saved. Uploads in progress keep their settings.' }
  })
}

export async function remove(id: string, _previous: unknown, data: FormData) {
  return act('build', async (runtime, actor) => {
    assertConfirmed(data)
    await deletePipe(runtime, actor, id, cancelUploadsOfPipe(runtime))
    redirect('/dashboard/pipes')
  })
}
