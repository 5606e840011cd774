import { expect, it } from 'vitest'
import { invalidRequest } from '#lib/platform/kernel/errors.ts'
import { answer } from './act.ts'

it('reports the errors of fields that the form does not have in its message', async () => {
  const form = new FormData()
  for (const name of ['allowedTypes', 'object.tags']) form.set(name, '')
  const refuse = async () => {
    throw invalidRequest([
      { field: 'allowedTypes.0', message: 'must be a type' },
      { field: 'object.tags.kind', message: 'is too long' },
      { field: 'allowedTypesOther', message: 'is not known' },
    ])
  }
  expect(await answer(form, refuse)).toEqual({
    status: 'error',
    message: 'allowedTypesOther: Is not known.',
    fields: { 'allowedTypes.0': 'Must be a type.', 'object.tags.kind': 'Is too long.' },
  })
  expect((await answer(undefined, refuse)).status).toBe('error')
  expect(await answer(undefined, refuse)).toMatchObject({ fields: {} })
})
