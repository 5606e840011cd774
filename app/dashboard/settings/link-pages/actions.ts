'use server'

import { invalidRequest, isSluiceError, SluiceError } from '#lib/platform/kernel/errors.ts'
import { parseInput } from '#lib/platform/kernel/parse-input.ts'
import { checkLinkHost, linkHostInput, saveLinkHost } from '#lib/upload-links/link-host.ts'
import { changeLinkPages, linkPagesChanges, removeLogo, saveLogo } from '#lib/upload-links/link-pages.ts'
import { act } from '../../../actions/act.ts'
import { textOf } from '../../../actions/form-fields.ts'

export async function saveLinkPages(_previous: unknown, data: FormData) {
  return act('administer', data, async (runtime, actor) => {
    const fields = {
      name: textOf(data, 'name') ?? null,
      color: textOf(data, 'color') ?? null,
      text: textOf(data, 'text') ?? '',
    }
    const changes = parseInput(linkPagesChanges, fields)
    const logo = data.get('logo')
    if (data.get('withoutLogo') === 'on') await removeLogo(runtime, actor)
    else if (logo instanceof File && logo.size > 0) {
      const image = Buffer.from(await logo.arrayBuffer()).toString('base64')
      await saveLogo(runtime, actor, { image }).catch(asOfLogo)
    }
    await changeLinkPages(runtime, actor, changes)
    return { message: 'Saved.' }
  })
}

export async function saveHost(_previous: unknown, data: FormData) {
  return act('administer', data, async (runtime, actor) => {
    await saveLinkHost(runtime, actor, parseInput(linkHostInput, { host: textOf(data, 'host') ?? '' }))
    return { message: 'Saved.' }
  })
}

export async function checkHost() {
  return act('administer', async (runtime, actor) => {
    const { host, faults } = await checkLinkHost(runtime, actor)
    if (faults.length > 0) throw new SluiceError('conflict', faults.join(' '))
    return { message: `${host} is verified.` }
  })
}

export async function removeHost() {
  return act('administer', async (runtime, actor) => {
    await saveLinkHost(runtime, actor, { host: null })
    return { message: 'Removed.' }
  })
}

/** Shows the API's error about the image at the form's field. */
function asOfLogo(error: unknown): never {
  const [fault] = isSluiceError(error) ? (error.fields ?? []) : []
  throw fault ? invalidRequest([{ field: 'logo', message: fault.message }]) : error
}
